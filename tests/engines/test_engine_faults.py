"""Faults of an engine that the emitted programs must stay clear of. A test here fails when a new version is free of the fault:
then its rule can go."""

import re
from pathlib import Path

import numpy as np
import pytest

import headrace
from engines import compile_iree

ZOO = Path(__file__).resolve().parents[2] / "testdata/zoo"

CONVERT_INTO_DOT = """
module @fault {{
  func.func public @f(%a: tensor<4x4x{0}>, %x: tensor<4x4xf32>) -> tensor<4x4xf32> {{
    %m = stablehlo.convert %a : (tensor<4x4x{0}>) -> tensor<4x4xf32>
    %s = stablehlo.dot_general %m, %x, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    return %s : tensor<4x4xf32>
  }}
}}
"""


@pytest.fixture(scope="module")
def text(make_export):
    export = headrace.load(make_export(ZOO / "llama/llama.f32.gguf", 40))
    return (export.directory / export.function("score").targets.iree[0].file).read_text()


def test_unsigned_is_read_as_signed_in_dots(text):
    """A convert of an unsigned integer that a dot takes in is folded into it as a signed one: 255 counts as -1. Booleans too,
    from optimisation level 2 on."""
    ones = np.ones((4, 4), np.float32)
    (got,) = compile_iree(CONVERT_INTO_DOT.format("ui8"))("f", [np.full((4, 4), 255, np.uint8), ones])
    assert got[0, 0] == -4
    assert not re.search(r"stablehlo\.convert [^\n]*: \(tensor<[^>]*\b(?:\d+x)*(?:i1|ui\d+)>\) -> tensor<[^>]*f\d+>", text)


def test_power_is_inexact(text):
    """power is exp(y log x): 3e-6 off for ordinary values, NaN for (-1)^2."""
    module = compile_iree("module @fault {\n  func.func public @f(%x: tensor<2xf32>, %y: tensor<2xf32>) -> tensor<2xf32> {\n"
                          "    %p = stablehlo.power %x, %y : tensor<2xf32>\n    return %p : tensor<2xf32>\n  }\n}\n")
    (got,) = module("f", [np.array([-1, 0.5], np.float32), np.array([2, -100], np.float32)])
    assert np.isnan(got[0]) and abs(got[1] / 2.0**100 - 1) > 1e-6
    assert "stablehlo.power" not in text
