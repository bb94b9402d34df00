"""cos and sin of RoPE's angles on each engine, against f64 of the same f32 angle, far beyond what engines reduce by themselves.
They are computed, so that there is no table whose end could be read past (report G06).

testdata/nn/rope.hir is what src/nn/rope.cpp traces (nn_test.cpp keeps it so).
"""

import shutil
from pathlib import Path

import numpy as np
import pytest
from engines import compile_iree, lower, run_xla

SOURCE = Path(__file__).resolve().parents[2] / "testdata/nn/rope.hir"
POSITIONS = np.array([[0, 663, 8191, 131071]], np.int32)
# Rotated width and base of the functions in the file: SmolLM2's, Gemma 3's two.
FUNCTIONS = {"rope_64_100000": (64, 1e5), "rope_256_10000": (256, 1e4), "rope_256_1000000": (256, 1e6)}
TOLERANCE = 5e-7


@pytest.fixture(scope="module")
def lowered(tests_bin, tmp_path_factory):
    folder = tmp_path_factory.mktemp("rope")
    shutil.copy(SOURCE, folder)
    lower(tests_bin, folder)
    return folder


@pytest.fixture(scope="module")
def iree_module(lowered):
    return compile_iree((lowered / "rope.iree.mlir").read_text())


@pytest.mark.parametrize("engine", ["xla", "iree"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_far_positions(request, lowered, table, engine, name):
    width, base = FUNCTIONS[name]
    if engine == "xla":
        cosine, sine = run_xla((lowered / f"rope.{name}.xla.mlir").read_text(), [POSITIONS])
    else:
        cosine, sine = request.getfixturevalue("iree_module")(name, [POSITIONS])
    frequencies = (base ** (-2.0 * np.arange(width // 2) / width)).astype(np.float32)
    angles = POSITIONS.astype(np.float32)[..., None] * frequencies
    assert angles.dtype == np.float32 and cosine.shape == angles.shape == (1, 4, width // 2)
    for part, (got, exact) in {"cos": (cosine, np.cos), "sin": (sine, np.sin)}.items():
        apart = np.abs(got.astype(np.float64) - exact(angles.astype(np.float64))).max(axis=(0, 2))
        table("RoPE: engine, function, largest error at positions 0, 663, 8191, 131071",
              f"{engine:5} {name:17} {part} " + " ".join(f"{a:.1e}" for a in apart))
        assert apart.max() <= TOLERANCE
