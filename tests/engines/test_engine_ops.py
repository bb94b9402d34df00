"""Every op on both engines: the text that is emitted for testdata/ops/goldens.json gives numpy's and JAX's results (report H01).

One program for each op and width of floats, lowered by the pipeline of each target (structured ops are expanded). Exact ops must
be exact. What an engine is known to do otherwise is a row of KNOWN, with the reason; only the elements it names are passed over.
"""

from __future__ import annotations

import collections
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import headrace
import hir
import numpy as np
import pytest
from engines import compile_iree, lower, run_xla

INTEGERS_TO_BF16 = "integers-to-bf16"
TINY = {"float16": 2.0**-14, "bfloat16": 2.0**-126, "float32": 2.0**-126, "float64": 2.0**-1022}
DIGITS = {"float16": 11, "bfloat16": 8, "float32": 24, "float64": 53}
LEAST_ULP = 4  # what an approximation of an engine may be off by


def is_float(x: np.ndarray) -> bool:
    return x.dtype.name in TINY


def dtypes(case: dict[str, Any]) -> set[str]:
    return {hir.goldens()["tensors"][i]["dtype"] for i in case["operands"] + case["expected"]}


def makes_bf16_of_integers(case: dict[str, Any]) -> bool:
    tensors = hir.goldens()["tensors"]
    if tensors[case["expected"][0]]["dtype"] != "bf16":
        return False
    return case["op"] == "iota" or (case["op"] == "convert" and tensors[case["operands"][0]]["dtype"][0] in "iu")


def group_of(case: dict[str, Any]) -> str:
    kinds = dtypes(case)
    if makes_bf16_of_integers(case):
        return INTEGERS_TO_BF16
    return case["op"] + ("-f64" if "f64" in kinds else "-half" if kinds & {"f16", "bf16"} else "")


GROUPS: dict[str, list[dict[str, Any]]] = collections.defaultdict(list)
for _case in hir.goldens()["cases"]:
    if _case["op"] in ("linear", "attend") and "bf16" in dtypes(_case):
        continue  # no spelling yet: weights and activations are f32
    GROUPS[group_of(_case)].append(_case)


@dataclass(frozen=True)
class Known:
    engines: str
    op: str
    why: str
    where: Callable[..., Any]  # of the case and its operands: True, or a mask of elements


def _integer(x: np.ndarray) -> bool:
    return x.dtype.kind in "iu"


def _out_of_range(case: dict[str, Any], x: np.ndarray) -> Any:
    to = hir.tensor(case["expected"][0]).dtype
    if not is_float(x) or to.kind not in "iu":
        return False
    wide, info = x.astype(np.float64), np.iinfo(to)
    return ~((wide > info.min - 1.0) & (wide < float(info.max) + 1.0))


KNOWN = [
    Known("xla iree", "power", "exponents of integers are taken modulo 64",
          lambda c, x, y: _integer(y) and (y.astype(np.float64) > 63)),
    Known("xla iree", "reduce", "over no dims: the initial value is left out", lambda c, *_: c["attrs"]["dims"] == []),
    Known("iree", "power", "is exp(y log x): NaN for bases that are not positive, and 1 to an infinite power",
          lambda c, x, y: is_float(x) and ((x.astype(np.float64) <= 0) | ~np.isfinite(x.astype(np.float64))
                                           | ~np.isfinite(y.astype(np.float64)))),
    Known("iree", "convert", "floats that do not fit the integer type", _out_of_range),
    Known("iree", "sine", "the error grows with the angle", lambda c, x: np.abs(x.astype(np.float64)) > 8),
    Known("iree", "cosine", "the error grows with the angle", lambda c, x: np.abs(x.astype(np.float64)) > 8),
    Known("iree", "add", "of booleans is exclusive", lambda c, x, y: x.dtype == bool),
    Known("iree", "dynamic_slice", "an unsigned start is read as signed", lambda c, *_: c["name"].startswith("u64")),
]
# Approximations whose error is not relative to the result, or grows with it: units in the last place, and absolute.
LOOSER = {("iree", "power"): (128, 0.0), ("iree", "sine"): (4, 4e-7), ("iree", "cosine"): (4, 4e-7)}


def passed_over(engine: str, case: dict[str, Any], want: np.ndarray) -> np.ndarray:
    operands = [hir.tensor(i) for i in case["operands"]]
    mask = np.zeros(want.shape, bool)
    for x in (*operands, want):  # both engines take subnormal numbers for zero
        if is_float(x) and x.shape == want.shape:
            wide = np.abs(x.astype(np.float64))
            mask |= (wide > 0) & (wide < TINY[x.dtype.name])
    for row in KNOWN:
        if engine in row.engines.split() and row.op == case["op"]:
            mask |= row.where(case, *operands)
    return mask


def agrees(got: np.ndarray, want: np.ndarray, ulp: float, atol: float) -> np.ndarray:
    if not is_float(want):
        return got == want
    g, w = got.astype(np.float64), want.astype(np.float64)
    same = ((g == w) & ((np.signbit(g) == np.signbit(w)) | (ulp + atol > 0))) | (np.isnan(g) & np.isnan(w))
    if ulp + atol == 0:
        return same
    with np.errstate(all="ignore"):
        _, exponent = np.frexp(np.maximum(np.abs(w), TINY[want.dtype.name]))
        close = np.abs(g - w) <= ulp * np.ldexp(1.0, exponent - DIGITS[want.dtype.name]) + atol
    return same | (close & np.isfinite(w))


@pytest.fixture(scope="module")
def lowered(tests_bin, tmp_path_factory):
    folder = tmp_path_factory.mktemp("ops")
    for name, cases in GROUPS.items():
        (folder / f"{name}.hir").write_text(hir.module("ops", [hir.function("all", cases)]))
    lower(tests_bin, folder)
    return folder


def check(engine: str, group: str, results: list[np.ndarray]) -> None:
    wanted = [(case, hir.tensor(i)) for case in GROUPS[group] for i in case["expected"]]
    assert len(results) == len(wanted)
    wrong = []
    for got, (case, want) in zip(results, wanted):
        assert (got.dtype, got.shape) == (want.dtype, want.shape)
        exact = case["ulp"] == 0 and case["atol"] == 0
        least_ulp, least_atol = (0, 0.0) if exact else LOOSER.get((engine, case["op"]), (LEAST_ULP, 0.0))
        agree = agrees(got, want, max(case["ulp"], least_ulp), max(case["atol"], least_atol))
        bad = np.argwhere(~agree & ~passed_over(engine, case, want))
        if len(bad):
            at = tuple(bad[0])
            wrong.append(f"{case['op']} {case['name']} {case['attrs']}: {len(bad)} elements, first at {list(map(int, at))}: "
                         f"got {got[at]}, wanted {want[at]}")
    assert not wrong, "\n".join(wrong)


def operands(group: str) -> list[np.ndarray]:
    return [hir.tensor(i) for case in GROUPS[group] for i in case["operands"]]


@pytest.mark.parametrize("group", GROUPS)
def test_xla(lowered, group):
    check("xla", group, run_xla((lowered / f"{group}.all.xla.mlir").read_text(), operands(group)))


@pytest.mark.parametrize("group", [g for g in GROUPS if not g.endswith("-f64")])  # IREE's flags turn f64 into f32
def test_iree(lowered, group):
    try:
        module = compile_iree((lowered / f"{group}.iree.mlir").read_text())
    except headrace.CompileError as error:
        # IREE 3.13 calls a library function here that it does not bring, unless the CPU has AVX512-BF16.
        if group != INTEGERS_TO_BF16 or "undefined symbol: __truncsfbf2" not in str(error):
            raise
        pytest.skip("IREE cannot turn integers into bf16 on this CPU")
    check("iree", group, module("all", operands(group)))


def test_known_rows_are_needed():
    ops = {case["op"] for cases in GROUPS.values() for case in cases}
    assert {row.op for row in KNOWN} <= ops
