"""Calls, loops, branches and reductions with bodies (testdata/stablehlo/control.hir) on both engines, against Python."""

import shutil
from pathlib import Path

import numpy as np
import pytest
from engines import compile_iree, lower, parse, run_xla

SOURCE = Path(__file__).resolve().parents[2] / "testdata/stablehlo/control.hir"
X = np.array([1.5, -2.0, 0.25, 3.0], np.float32)
ROWS = np.array([[1, 5, 2, 5, 0], [-7, -8, -9, -7, -7.5], [0, 0, 0, 0, 1]], np.float32)


def scalar(value, dtype):
    return np.array(value, dtype)


def collatz(n):
    steps = 0
    while n > 1:
        n, steps = (3 * n + 1 if n & 1 else n >> 1), steps + 1
    return scalar(steps, np.int32)


CASES = [
    ("call_twice", [X, scalar(3, np.float32)], [(X * 3 + 3) * 3 + 3]),
    ("while_power", [X, scalar(3, np.int32)], [X**4, scalar(3, np.int32)]),
    ("while_power", [X, scalar(0, np.int32)], [X, scalar(0, np.int32)]),
    ("if_else", [scalar(True, bool), X], [-X]),
    ("if_else", [scalar(False, bool), X], [X * X]),
    ("if_captures_nothing", [scalar(True, bool)], [np.array([1, 2], np.float32)]),
    ("if_captures_nothing", [scalar(False, bool)], [np.array([3, 4], np.float32)]),
    ("argmax", [ROWS], [ROWS.max(1), ROWS.argmax(1).astype(np.int32)]),
    ("collatz", [scalar(27, np.int32)], [collatz(27)]),
    ("collatz", [scalar(1, np.int32)], [collatz(1)]),
    ("barrier", [X], [X + X]),
]
IDS = [f"{name}-{i}" for i, (name, _, _) in enumerate(CASES)]


@pytest.fixture(scope="module")
def lowered(tests_bin, tmp_path_factory):
    folder = tmp_path_factory.mktemp("control")
    shutil.copy(SOURCE, folder)
    lower(tests_bin, folder)
    return folder


@pytest.fixture(scope="module")
def iree_module(lowered):
    return compile_iree((lowered / "control.iree.mlir").read_text())


@pytest.mark.parametrize("name, arguments, wanted", CASES, ids=IDS)
def test_xla(lowered, name, arguments, wanted):
    text = (lowered / f"control.{name}.xla.mlir").read_text()
    parse(text)
    for got, want in zip(run_xla(text, arguments), wanted, strict=True):
        assert got.dtype == want.dtype and np.allclose(got, want, rtol=1e-6)


@pytest.mark.parametrize("name, arguments, wanted", CASES, ids=IDS)
def test_iree(iree_module, name, arguments, wanted):
    for got, want in zip(iree_module(name, arguments), wanted, strict=True):
        assert got.dtype == want.dtype and np.allclose(got, want, rtol=1e-6)
