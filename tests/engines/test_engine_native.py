"""`headrace run` and `headrace generate` on the three engines: tiny models, the worker's life, what engines say."""

import json
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest
from full_pipe import FullPipe

ZOO = Path(__file__).resolve().parents[2] / "testdata/zoo"
ENGINES = ["interp", "xla", "iree"]
TOLERANCE = {"interp": 3e-5, "xla": 3e-5, "iree": 5e-5}
BOUND = 40


def prompts(model):
    return json.loads((ZOO / model / "golden.json").read_text())["prompts"]


def ids(tokens):
    return ",".join(map(str, tokens))


@pytest.mark.parametrize("model", ["llama", "gemma3"])
@pytest.mark.parametrize("engine", ENGINES)
def test_score(make_export, headrace, tmp_path, engine, model):
    """Every position, from programs of several lengths; and the greedy continuation."""
    export = make_export(ZOO / model / f"{model}.f32.gguf", f"8,{BOUND}")
    for i, prompt in enumerate(prompts(model)):
        golden = np.load(ZOO / model / f"golden_{i}_full.npy")
        tokens = prompt["ids"] + prompt["greedy"]
        done = headrace("run", export, "score", "--tokens", ids(tokens), "--engine", engine, "-o", tmp_path / "logits.npy")
        assert done.returncode == 0, done.stderr
        logits = np.load(tmp_path / "logits.npy")[0]
        assert logits.shape == golden.shape and np.abs(logits - golden).max() <= TOLERANCE[engine]
        done = headrace("generate", export, "--tokens", ids(prompt["ids"]), "--max-tokens", len(prompt["greedy"]), "--ignore-eos",
                        "--engine", engine, "--json")
        assert done.returncode == 0, done.stderr
        made = json.loads(done.stdout)
        assert made["tokens"] == prompt["greedy"] and made["engine"] == engine
        assert 0 < made["engine_seconds"] <= made["seconds"] and made["first_token_seconds"] <= made["seconds"]


@pytest.mark.parametrize("engine", ["xla", "iree"])
def test_narrow_weights(make_export, headrace, tmp_path, engine):
    """bf16 weights through the native path, against the interpreter on the same."""
    export = make_export(ZOO / "llama/llama.f32.gguf", 8, "iree,xla", "--dtype", "bf16")
    logits = {}
    for which in ("interp", engine):
        done = headrace("run", export, "score", "--tokens", "1,2,3", "--engine", which, "-o", tmp_path / f"{which}.npy")
        assert done.returncode == 0, done.stderr
        logits[which] = np.load(tmp_path / f"{which}.npy")
    assert np.abs(logits[engine] - logits["interp"]).max() <= TOLERANCE[engine]


@pytest.mark.parametrize("engine", ENGINES)
def test_what_does_not_fit(make_export, headrace, engine):
    export = make_export(ZOO / "llama/llama.f32.gguf", 8)
    for tokens, part in (("1,320", "token 320 at position 1 is outside the vocabulary, expected 0 to 319"), ("-1", "token -1"),
                         ("", "no tokens, expected 1 to 8"), (ids([1] * 9), "9 tokens, expected at most 8")):
        for command in (["run", export, "score"], ["generate", export]):
            given = [f"--tokens={tokens}"] if tokens else ["--tokens", ""]
            done = headrace(*command, *given, "--engine", engine)
            assert done.returncode == 1 and part in done.stderr and len(done.stderr.splitlines()) == 1, done.stderr


@pytest.mark.parametrize("engine, part", [("xla", "XXH3"), ("iree", "iree: iree-compile model-")])
def test_a_damaged_program(make_export, headrace, tmp_path, engine, part):
    """One line: the hash that differs, or what the compiler says."""
    export = shutil.copytree(make_export(ZOO / "llama/llama.f32.gguf", 8), tmp_path / "copy", symlinks=True)
    (program,) = [p for p in (export / engine).iterdir() if not p.is_symlink()]
    program.write_text(program.read_text().replace("stablehlo.add", "stablehlo.bad", 1))
    done = headrace("run", export, "score", "--tokens", "1", "--engine", engine)
    assert done.returncode == 1 and len(done.stderr.splitlines()) == 1, done.stderr
    assert part in done.stderr and program.name in done.stderr


def test_a_path_that_is_no_text(make_export, headrace_bin, environment, tmp_path):
    """Messages to the worker are JSON."""
    copy = os.fsencode(tmp_path) + b"/caf\xe9"
    shutil.copytree(os.fsencode(make_export(ZOO / "llama/llama.f32.gguf", 8)), copy, symlinks=True)
    done = subprocess.run([headrace_bin, "run", copy, "score", "--tokens", "1", "--engine", "iree"], env=environment, capture_output=True,
                          check=False)
    assert done.returncode == 1 and b"is not UTF-8" in done.stderr and len(done.stderr.splitlines()) == 1, done.stderr


def test_the_worker_imports_nothing_from_the_current_directory(make_export, headrace_bin, environment, tmp_path):
    for name in ("numpy.py", "iree.py", "socket.py", "headrace.py"):
        (tmp_path / name).write_text("raise SystemExit('imported from here')\n")
    done = subprocess.run([headrace_bin, "run", make_export(ZOO / "llama/llama.f32.gguf", 8), "score", "--tokens", "1", "--engine", "iree"],
                          env=environment, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def children(process):
    return [int(p) for p in Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()]


def start_generating(headrace_bin, environment, export):
    """A `headrace generate` that has begun, and its worker."""
    pipe = FullPipe(16)
    process = subprocess.Popen([headrace_bin, "generate", export, "--tokens", "1,2,3", "--max-tokens", "250", "--ignore-eos",
                                "--engine", "iree"], env=environment, stdout=pipe.writer, stderr=subprocess.PIPE)
    pipe.wait_until_used(process)
    (worker,) = children(process)
    process.stdout = open(pipe.reader, "rb")
    return process, worker


def is_alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().split(")")[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def wait_until_gone(pid, seconds=20):
    end = time.monotonic() + seconds
    while is_alive(pid) and time.monotonic() < end:
        time.sleep(0.05)
    return not is_alive(pid)


@pytest.fixture(scope="module")
def long_export(make_export, headrace):
    """An export on which `generate` is busy for a while, compiled already."""
    export = make_export(ZOO / "llama/llama.f32.gguf", 256, "iree")
    assert headrace("run", export, "score", "--tokens", "1", "--engine", "iree").returncode == 0
    return export


def test_the_worker_dies(headrace_bin, environment, long_export):
    process, worker = start_generating(headrace_bin, environment, long_export)
    os.kill(worker, signal.SIGKILL)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 1
    assert said.decode().splitlines() == ["error: iree: the worker died (killed by signal 9)"]


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_the_worker_ends_with_its_owner(headrace_bin, environment, long_export, how):
    process, worker = start_generating(headrace_bin, environment, long_export)
    process.send_signal(how)
    process.communicate(timeout=60)
    assert wait_until_gone(worker)


def test_an_interrupt_ends_a_compilation(headrace_bin, environment, make_export, tmp_path):
    """One line, nothing left, long before the compiler would be done."""
    export = make_export(ZOO / "gemma3/gemma3.f32.gguf", 24, "iree")
    process = subprocess.Popen([headrace_bin, "generate", export, "--tokens", "1", "--engine", "iree", "--quiet"],
                               env={**environment, "XDG_CACHE_HOME": str(tmp_path)}, stderr=subprocess.PIPE, text=True)
    end = time.monotonic() + 60
    while not list(tmp_path.rglob(".partial-*")) and time.monotonic() < end:
        time.sleep(0.01)
    (worker,) = children(process)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 1 and said.startswith("error: ") and "interrupted" in said and len(said.splitlines()) == 1, said
    assert wait_until_gone(worker)
    assert [p for p in tmp_path.rglob("*") if p.is_file()] == []


def test_nothing_is_left_of_a_compilation_that_is_stopped(headrace_bin, environment, make_export, tmp_path):
    export = make_export(ZOO / "gemma3/gemma3.f32.gguf", 24, "iree")
    process = subprocess.Popen([headrace_bin, "run", export, "score", "--tokens", "1", "--engine", "iree"],
                               env={**environment, "XDG_CACHE_HOME": str(tmp_path)}, stderr=subprocess.PIPE)
    end = time.monotonic() + 60
    while not list(tmp_path.rglob(".partial-*")) and time.monotonic() < end:
        time.sleep(0.01)
    (worker,) = children(process)
    process.kill()
    process.communicate(timeout=60)
    assert wait_until_gone(worker)
    assert [p for p in tmp_path.rglob("*") if p.is_file()] == []


def test_compiled_code_is_kept(headrace_bin, environment, make_export, tmp_path):
    export = make_export(ZOO / "llama/llama.f32.gguf", 8, "iree")
    for _ in range(2):
        subprocess.run([headrace_bin, "run", export, "score", "--tokens", "1", "--engine", "iree", "--quiet"], check=True,
                       env={**environment, "XDG_CACHE_HOME": str(tmp_path)}, capture_output=True)
        files = [p.relative_to(tmp_path).parts[0] for p in tmp_path.rglob("*.vmfb")]
        assert files == ["headrace"]
