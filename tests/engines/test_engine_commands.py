"""The lines of manifest.json work when they are pasted into a shell in the export's directory."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import headrace

ZOO = Path(__file__).resolve().parents[2] / "testdata/zoo"


def paste(folder, line):
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    return subprocess.run(["bash", "-c", line], cwd=folder, env={**os.environ, "PATH": path}, capture_output=True,
                          text=True, check=False)


@pytest.mark.parametrize("model", ["llama", "smollm2"])
def test_paste(make_export, request, tmp_path, model):
    seq = 72 if model == "smollm2" else 40
    source = request.getfixturevalue("smollm2") if model == "smollm2" else ZOO / "llama/llama.f32.gguf"
    folder = tmp_path / "export"
    shutil.copytree(make_export(source, seq), folder, symlinks=True, copy_function=os.link)
    manifest = headrace.load(folder).manifest
    assert len(manifest.commands) >= 2
    for command in manifest.commands:
        done = paste(folder, command.line)
        assert done.returncode == 0, f"{command.line}\n{done.stderr}"
    vocabulary = manifest.functions[0].results[0].shape[-1].constant
    assert f"1x{seq}x{vocabulary}xf32=" in done.stdout
    headrace.load(folder)  # the compiled file does not get in the way
