"""The emitted text compiles for devices that are not here: phones' CPUs and Vulkan. Compiled only, not run."""

import subprocess
from pathlib import Path

import pytest
from iree.compiler.tools.binaries import find_tool

import headrace

ZOO = Path(__file__).resolve().parents[2] / "testdata/zoo"
DEVICES = {
    "aarch64-linux-android": ("--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=llvm-cpu",
                              "--iree-llvmcpu-target-triple=aarch64-linux-android", "--iree-opt-level=O2"),
    # IREE 3.13's own target for Vulkan, the baseline of Android. At O2 it fuses norms into dispatches that want more shared
    # memory than that target has.
    "vulkan-spirv": ("--iree-hal-target-device=vulkan",),
}
LENGTHS = {"static": ("16,40", "iree,xla"), "dynamic": ("dynamic", "iree")}


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("lengths", LENGTHS)
@pytest.mark.parametrize("model", ["llama", "gemma3", "smollm2"])
def test_compiles(request, make_export, tmp_path, model, lengths, device):
    path = request.getfixturevalue(model) if model == "smollm2" else ZOO / model / f"{model}.f32.gguf"
    export = headrace.load(make_export(path, *LENGTHS[lengths]))
    source = export.directory / export.function("score").targets.iree[0].file
    target = tmp_path / "model.vmfb"
    done = subprocess.run([find_tool("iree-compile"), *DEVICES[device], source, "-o", target], capture_output=True,
                          text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stderr[:2000]
    assert target.stat().st_size > 10_000
