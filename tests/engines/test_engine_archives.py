"""Every form of the weights: the engines compute the same from each, and IREE's own tools read them (report H13)."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import headrace

ZOO = Path(__file__).resolve().parents[2] / "testdata/zoo"
MODEL = ZOO / "llama/llama.f32.gguf"
FORMS = {"safetensors": (), "irpa": ("--weights", "irpa"), "shards": ("--max-shard-size", "100kB"),
         "irpa-shards": ("--weights", "irpa", "--max-shard-size", "100kB")}
TOKENS = [1, 300, 7, 319]


@pytest.fixture(scope="module", params=FORMS)
def form(request):
    return request.param


@pytest.fixture(scope="module")
def export(form, make_export):
    return headrace.load(make_export(MODEL, 8, "iree,xla", *FORMS[form]))


def test_archives(export, form):
    archives = export.manifest.archives
    assert {a.format for a in archives} == {form.split("-")[0] if form.startswith("irpa") else "safetensors"}
    assert (len(archives) > 3) == ("shards" in form)
    for archive in archives:
        assert (export.directory / archive.file).stat().st_size == archive.size_bytes
        held = sum(p.length_bytes for p in export.manifest.parameters if p.file == archive.file)
        assert "shards" not in form or held <= 100_000


def test_engines_agree(export, make_export, compiled_cache, headrace_bin, tmp_path):
    plain = headrace.load(make_export(MODEL, 8))
    wanted = np.asarray(plain.to_jax("score")(TOKENS))
    assert np.array_equal(np.asarray(export.to_jax("score")(TOKENS)), wanted)
    iree = export.to_iree("score", cache=compiled_cache)(TOKENS)
    assert np.array_equal(iree, plain.to_iree("score", cache=compiled_cache)(TOKENS))
    for name, parameter in ((p.name, export.parameter(p.name)) for p in plain.manifest.parameters):
        assert np.array_equal(parameter, plain.parameter(name))
    done = subprocess.run([headrace_bin, "run", export.directory, "score", "--tokens", ",".join(map(str, TOKENS)), "-o",
                           tmp_path / "logits.npy", "--quiet"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert np.abs(np.load(tmp_path / "logits.npy") - wanted).max() < 3e-5


def test_iree_tools_take_them(export, tmp_path):
    """iree-dump-parameters lists every parameter, and the manifest's own command lines work as they are."""
    tools = Path(sys.executable).parent
    folder = tmp_path / "out"
    shutil.copytree(export.directory, folder, symlinks=True, copy_function=os.link)
    run = lambda line: subprocess.run(line, cwd=folder, capture_output=True, text=True, check=False, shell=True,  # noqa: E731
                                      env={**os.environ, "PATH": f"{tools}:{os.environ['PATH']}"})
    dumped = run("iree-dump-parameters " + " ".join(f"--parameters={a.scope}={a.file}" for a in export.manifest.archives))
    assert dumped.returncode == 0, dumped.stderr
    assert all(f"`{p.name}`" in dumped.stdout for p in export.manifest.parameters), dumped.stdout
    for command in export.manifest.commands:
        done = run(command.line)
        assert done.returncode == 0, done.stderr
    assert "1x8x320xf32=" in done.stdout
