"""Runs the real program: HEADRACE_BIN, or one of the usual build folders."""

import hashlib
import json
import os
import pathlib
import signal
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import fixkit  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]


def find_program():
    usual = [ROOT / "build" / name / "headrace" for name in ("dev", "release")]
    for path in [pathlib.Path(p) for p in [os.environ.get("HEADRACE_BIN")] if p] or usual:
        if path.is_file():
            return path.resolve()
    return None


PROGRAM = find_program()


class Done:
    def __init__(self, process):
        self.code = process.returncode
        self.out = process.stdout
        self.err = process.stderr

    @property
    def json(self):
        return json.loads(self.out)


def export_meeting_a_change(arguments, path, change):
    """Runs an export, stops it when it has begun to write weights, changes its source and lets it go on: it is refused with one
    line that names the file."""
    process = subprocess.Popen([PROGRAM, "export", *arguments, "--seq", "16", "--jobs", "1", "--progress", "plain"],
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    said = b""
    while b"weights" not in said:
        byte = process.stderr.read(1)
        assert byte, said
        said += byte
    process.send_signal(signal.SIGSTOP)
    change()
    process.send_signal(signal.SIGCONT)
    said += process.communicate(timeout=120)[1]
    errors = [line for line in said.decode().replace("\r", "\n").splitlines() if "error: " in line]
    assert process.returncode == 1, said
    assert len(errors) == 1 and str(path) in errors[0], said


def headrace(*arguments, **options):
    process = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, errors="backslashreplace",
                             timeout=120, stdin=subprocess.DEVNULL, **options)
    return Done(process)


def tree(directory):
    """Every file below a directory with a digest of its bytes."""
    return {str(p.relative_to(directory)): hashlib.sha256(p.read_bytes()).hexdigest() if p.is_file() else "directory"
            for p in sorted(pathlib.Path(directory).rglob("*"))}


def pytest_collection_modifyitems(items):
    if PROGRAM is None:
        for item in items:
            if pathlib.Path(__file__).parent in item.path.parents:
                item.add_marker(pytest.mark.skip(reason="no headrace program; build it or set HEADRACE_BIN"))


@pytest.fixture(scope="session")
def toy(tmp_path_factory):
    return fixkit.llama().write(tmp_path_factory.mktemp("toy") / "toy.gguf")


@pytest.fixture(scope="session")
def exported(toy, tmp_path_factory):
    """An export of the toy model for 16 tokens. Not to be changed by tests."""
    directory = tmp_path_factory.mktemp("exported") / "out"
    done = headrace("export", toy, "-o", directory, "--seq", "16")
    assert done.code == 0, done.err
    return directory


@pytest.fixture(scope="session")
def real_model():
    path = pathlib.Path(os.environ.get("HEADRACE_SMOLLM2") or ROOT / ".cache/models/SmolLM2-135M-Instruct.Q4_1.gguf")
    if not path.is_file():
        pytest.skip("the SmolLM2 GGUF is not here; scripts/get_model.sh fetches it")
    return path
