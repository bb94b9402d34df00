"""What engine tests share: the built binaries and exports made by them."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]


def _newest(name: str) -> Path | None:
    found = [p for p in ROOT.glob(f"build/*/{name}") if p.is_file() and os.access(p, os.X_OK)]
    return max(found, key=lambda p: p.stat().st_mtime, default=None)


@pytest.fixture(scope="session")
def headrace_bin() -> Path:
    """The command: HEADRACE_BIN, or the newest under build/."""
    given = os.environ.get("HEADRACE_BIN")
    path = Path(given) if given else _newest("headrace")
    if path is None:
        pytest.skip("no headrace binary under build/, and HEADRACE_BIN is not set")
    assert path.is_file(), f"HEADRACE_BIN: no file {path}"
    return path


@pytest.fixture(scope="session")
def tests_bin() -> Path:
    """The unit tests, one of which lowers HIR text: beside the command."""
    given = os.environ.get("HEADRACE_BIN")
    path = Path(given).parent / "headrace_tests" if given else _newest("headrace_tests")
    if path is None or not path.is_file():
        pytest.skip("no headrace_tests beside the headrace binary")
    return path


def _model(variable: str, name: str) -> Path:
    """A real checkpoint, as scripts/get_model.sh leaves it."""
    path = Path(os.environ.get(variable) or ROOT / ".cache/models" / name)
    if not path.is_file():
        pytest.skip(f"no {name}: scripts/get_model.sh gets it")
    return path


@pytest.fixture(scope="session")
def smollm2() -> Path:
    return _model("HEADRACE_SMOLLM2", "SmolLM2-135M-Instruct.Q4_1.gguf")


@pytest.fixture(scope="session")
def gemma3() -> Path:
    return _model("HEADRACE_GEMMA3", "gemma-3-270m.Q4_K_M.gguf")


@pytest.fixture(scope="session")
def make_export(headrace_bin, tmp_path_factory):
    """make_export(model, seq, target, *options): the export's directory, made once for each combination."""
    made: dict[tuple[Any, ...], Path] = {}

    def make(model: Path, seq: int | str, target: str = "iree,xla", *options: str) -> Path:
        key = (model, str(seq), target, *options)
        if key not in made:
            folder = tmp_path_factory.mktemp("export") / f"{model.stem}-{seq}"
            done = subprocess.run([headrace_bin, "export", model, "-o", folder, "--seq", str(seq), "--target", target,
                                   *options, "--quiet"], capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stderr
            made[key] = folder
        return made[key]

    return make


@pytest.fixture(scope="session")
def compiled_cache(tmp_path_factory) -> Path:
    """Compiled IREE code of this run."""
    return tmp_path_factory.mktemp("vmfb")


@pytest.fixture(scope="session")
def environment(compiled_cache) -> dict[str, str]:
    """Both engines come from the environment that runs the tests."""
    return {**os.environ, "VIRTUAL_ENV": sys.prefix, "HEADRACE_PYTHON": sys.executable,
            "XDG_CACHE_HOME": str(compiled_cache)}


@pytest.fixture(scope="session")
def headrace(headrace_bin, environment):
    """headrace(ARGUMENTS...): the program, run to its end."""
    def run(*arguments):
        return subprocess.run([headrace_bin, *map(str, arguments)], env=environment, capture_output=True, text=True,
                              check=False, timeout=600)

    return run


_TABLES: dict[str, list[str]] = {}


@pytest.fixture(scope="session")
def table():
    """table(title, line): a line of a table that is printed at the end of the run."""
    return lambda title, line: _TABLES.setdefault(title, []).append(line)


def pytest_terminal_summary(terminalreporter):
    for title, lines in _TABLES.items():
        terminalreporter.section(title)
        for line in lines:
            terminalreporter.write_line(line)
