"""Engines that are missing or not what they should be, and inputs that do not fit: one line each, with what to do. No engine but
the interpreter is needed here."""

import os
import shutil
import subprocess
import sys

import numpy as np
import pytest
from conftest import ROOT, headrace

FAKE_PLUGIN = """
#include <stddef.h>
struct Version { size_t size; void* extensions; int major, minor; };
struct Api { size_t size; void* extensions; struct Version version; };
static struct Api api = {SIZE, NULL, {sizeof(struct Version), NULL, MAJOR, MINOR}};
const struct Api* GetPjrtApi(void) { return &api; }
"""


def run_on(engine, exported, *options, environment=None, cwd=None):
    """An environment in which nothing is found by itself."""
    bare = {k: v for k, v in os.environ.items() if not k.startswith("HEADRACE_") and k not in ("VIRTUAL_ENV", "PYTHONPATH")}
    return headrace("run", exported, "score", "--tokens", "5", "--engine", engine, *options, "--json",
                    env={**bare, **(environment or {})}, cwd=cwd)


def error_of(done, code):
    assert done.code == 1, done.out
    assert len(done.err.splitlines()) == 1, done.err
    assert done.json["error"]["code"] == code
    return done.json["error"]["message"]


@pytest.fixture(scope="module")
def fake_plugin(tmp_path_factory):
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("no C compiler")
    folder = tmp_path_factory.mktemp("plugin")

    def make(major, minor, size=4096, source=FAKE_PLUGIN):
        path = folder / f"plugin_{major}_{minor}_{size}_{len(source)}.so"
        (folder / "plugin.c").write_text(source)
        subprocess.run([compiler, "-shared", "-fPIC", f"-DMAJOR={major}", f"-DMINOR={minor}", f"-DSIZE={size}", "-o", path,
                        folder / "plugin.c"], check=True)
        return path

    return make


def test_no_plugin(exported, tmp_path):
    message = error_of(run_on("xla", exported, cwd=tmp_path), "engine-missing")
    assert message.startswith("xla: no PJRT plugin: pip install xla-cpu-pjrt==0.0.1")


@pytest.mark.parametrize("by", ["option", "environment", "virtual environment"])
def test_files_that_are_no_plugins(by, exported, tmp_path):
    venv = tmp_path / "venv"
    path = venv / "lib/python3.11/site-packages/xla_plugins/xla_cpu_pjrt/xla_cpu_pjrt.so"
    path.parent.mkdir(parents=True)
    path.write_text("not a library")
    options = ["--pjrt-plugin", path] if by == "option" else []
    variables = {"option": {}, "environment": {"HEADRACE_PJRT_PLUGIN": str(path)},
                 "virtual environment": {"VIRTUAL_ENV": str(venv)}}[by]
    assert str(path) in error_of(run_on("xla", exported, *options, environment=variables, cwd=tmp_path), "engine-missing")


def test_a_library_that_is_no_plugin(exported, fake_plugin):
    path = fake_plugin(0, 0, source="int nothing;")
    assert error_of(run_on("xla", exported, "--pjrt-plugin", path), "engine-missing") == \
        f"{path}: no PJRT plugin: it exports no GetPjrtApi"


@pytest.mark.parametrize("major, minor, size, part", [(1, 90, 4096, "PJRT API 1.90, expected 0.70 or newer"),
                                                      (0, 3, 4096, "PJRT API 0.3, expected 0.70 or newer"),
                                                      (0, 90, 48, "a table of 48 bytes, expected at least")])
def test_plugins_of_other_versions(major, minor, size, part, exported, fake_plugin):
    assert part in error_of(run_on("xla", exported, "--pjrt-plugin", fake_plugin(major, minor, size)), "engine-missing")


def test_a_missing_file_is_named(exported):
    assert "none/plugin.so" in error_of(run_on("xla", exported, "--pjrt-plugin", "none/plugin.so"), "engine-missing")
    message = error_of(run_on("iree", exported, "--python", "none/python"), "engine-missing")
    assert message.startswith("iree: none/python: cannot be started: No such file or directory; to install it: pip install")


def test_pythons_without_the_packages(exported, tmp_path):
    bare = tmp_path / "python"
    bare.write_text(f'#!/bin/sh\nexec {sys.executable} -S -E "$@"\n')
    bare.chmod(0o755)
    assert "No module named 'headrace'" in error_of(run_on("iree", exported, "--python", bare, cwd=tmp_path), "engine-missing")
    # The package is there, and iree.runtime cannot be imported.
    (tmp_path / "iree").mkdir()
    (tmp_path / "iree/__init__.py").write_text("")
    message = error_of(run_on("iree", exported, "--python", sys.executable, cwd=tmp_path,
                              environment={"PYTHONPATH": f"{tmp_path}:{ROOT / 'python'}"}), "engine-missing")
    assert message.startswith("iree: iree.runtime is not installed: pip install headrace[iree]"), message


def test_a_python_that_is_none(exported):
    assert error_of(run_on("iree", exported, "--python", "/bin/false"), "engine-missing").startswith(
        "iree: /bin/false: the worker died (exit code 1); to install it: ")


def test_unknown_engine(exported):
    done = headrace("generate", exported, "--tokens", "5", "--engine", "cuda")
    assert (done.code, done.err.splitlines()[0]) == (2, "error: --engine: 'cuda' is none of interp, xla, iree")
    done = headrace("run", exported, "score", "--tokens", "5", "--engine", "xla", "--precision", "f64")
    assert (done.code, done.err.splitlines()[0]) == (2, "error: --precision: f64 is the interpreter's alone")


@pytest.mark.parametrize("engine, target", [("xla", "iree"), ("iree", "xla")])
def test_a_target_that_was_not_exported(engine, target, toy, tmp_path):
    assert headrace("export", toy, "-o", tmp_path / "out", "--seq", "8", "--target", target).code == 0
    assert error_of(run_on(engine, tmp_path / "out"), "input").endswith(
        f"not exported for {engine} (headrace export --target {engine})")


def test_inputs_by_name(exported, tmp_path):
    by_tokens = headrace("run", exported, "score", "--tokens", "5,6,7", "--json").json
    np.save(tmp_path / "tokens.npy", np.array([[5, 6, 7]], dtype=np.int32))
    for value in ("5,6,7", tmp_path / "tokens.npy"):
        done = headrace("run", exported, "score", "--input", f"tokens={value}", "--json")
        assert done.code == 0, done.err
        assert done.json["top"] == by_tokens["top"]
    done = headrace("run", exported, "score", "--tokens", "5,6,7", "-o", f"{tmp_path}/all/", "--quiet")
    assert done.code == 0 and np.load(tmp_path / "all/logits.npy").shape == (1, 3, 48)


@pytest.mark.parametrize("options, part", [
    ([], "function 'score' takes tokens; 'tokens' has no value (--input tokens=...)"),
    (["--input", "ids=5"], "function 'score' has no argument 'ids' (arguments: tokens)"),
    (["--input", "tokens=zeros"], "'tokens' is [1, seq]: its sizes are not known, give a .npy file"),
    (["--input", "tokens=none.npy"], "none.npy"),
    (["--input", "tokens=5,3000000000"], "'tokens': 3000000000 does not fit i32"),
])
def test_inputs_that_do_not_fit(options, part, exported):
    done = headrace("run", exported, "score", *options)
    assert done.code == 1 and part in done.err and len(done.err.splitlines()) == 1, done.err


@pytest.mark.parametrize("dtype, shape", [("float32", (1, 3)), ("int64", (1, 3)), ("int32", (3,)), ("int32", (2, 3))])
def test_arrays_of_other_types(dtype, shape, exported, tmp_path):
    np.save(tmp_path / "tokens.npy", np.zeros(shape, dtype=dtype))
    done = headrace("run", exported, "score", "--input", f"tokens={tmp_path / 'tokens.npy'}")
    assert done.code == 1 and "score: input 'tokens' is" in done.err and len(done.err.splitlines()) == 1, done.err


@pytest.mark.parametrize("text", ["tokens", "=5", "tokens="])
def test_inputs_that_are_none(text, exported):
    done = headrace("run", exported, "score", "--input", text)
    assert done.code == 2 and done.err.startswith("error: --input: ")
