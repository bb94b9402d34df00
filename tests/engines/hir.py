"""HIR text of modules whose functions hold one op each, from testdata/ops/goldens.json."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

import numpy as np

from headrace.dtypes import numpy_dtype

ROOT = Path(__file__).resolve().parents[2]


@functools.cache
def goldens() -> dict[str, Any]:
    return json.loads((ROOT / "testdata/ops/goldens.json").read_text())


def tensor(number: int) -> np.ndarray:
    row = goldens()["tensors"][number]
    return np.frombuffer(bytes.fromhex(row["hex"]), numpy_dtype(row["dtype"])).reshape(row["shape"])


def type_of(row: dict[str, Any]) -> str:
    return f"{row['dtype']}{row['shape']}"


# Attributes that are element types, and so bare words.
_WORDS = {"dtype"}


def _attribute(key: str, value: Any) -> str:
    if key in _WORDS:
        return f"{key} = {value}"
    return f"{key} = {json.dumps(value)}"


def function(name: str, cases: list[dict[str, Any]]) -> str:
    """One public function of all operands of the cases, in order, that gives all their results."""
    tensors = goldens()["tensors"]
    inputs = [tensors[i] for case in cases for i in case["operands"]]
    outputs = [tensors[i] for case in cases for i in case["expected"]]
    lines, values, first, number = [], [], 0, len(inputs)
    for case in cases:
        operands = range(first, first + len(case["operands"]))
        first += len(operands)
        lines.append(_statement(number, case, operands))
        count = len(case["expected"])
        values += [f"%{number}"] if count == 1 else [f"%{number}#{i}" for i in range(count)]
        number += 1
    return (f'func public "{name}"(' + ", ".join(f'%{i} "a{i}": {type_of(t)}' for i, t in enumerate(inputs)) + ") -> ("
            + ", ".join(f'"r{i}": {type_of(t)}' for i, t in enumerate(outputs)) + ") {\n"
            + "".join(lines) + f"  return {', '.join(values)}\n}}\n")


def _statement(number: int, case: dict[str, Any], operands: range) -> str:
    tensors = goldens()["tensors"]
    attributes = ", ".join(_attribute(k, v) for k, v in case["attrs"].items())
    region = ""
    if "body" in case:
        scalar = f"{tensors[case['operands'][0]]['dtype']}[]"
        region = (f" region (%0: {scalar}, %1: {scalar}) {{\n    %2 = {case['body']}(%0, %1) : {scalar}\n"
                  "    return %2\n  }")
    return (f"  %{number} = {case['op']}(" + ", ".join(f"%{i}" for i in operands) + ")"
            + (f" {{{attributes}}}" if attributes else "") + region + " : "
            + ", ".join(type_of(tensors[i]) for i in case["expected"]) + "\n")


def module(name: str, functions: list[str]) -> str:
    return f'headrace.module 1 "{name}"\n' + "".join(functions)


def constant(name: str, dtype: str, shape: list[int], data: bytes, splat: bool = False) -> str:
    """A function that returns a literal of exactly these bytes (little-endian elements)."""
    literal = f"{'splat' if splat else 'dense'} {dtype}{shape} #{data.hex()}"
    return (f'func public "{name}"() -> ("r": {dtype}{shape}) {{\n'
            f"  %0 = constant() {{value = {literal}}} : {dtype}{shape}\n  return %0\n}}\n")
