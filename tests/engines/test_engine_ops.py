"""Every op on both engines: the text that is emitted for testdata/ops/goldens.json gives numpy's and JAX's results.

One module for each op, a function for each case, lowered by the pipeline of each target (structured ops are expanded). What an
engine is known to do otherwise is a row of a table here, with the reason, and is counted.
"""

import collections

import hir
import numpy as np
import pytest
from engines import compile_iree, lower, run_xla

CASES = collections.defaultdict(list)
for _case in hir.goldens()["cases"]:
    CASES[_case["op"]].append(_case)


@pytest.fixture(scope="module")
def lowered(tests_bin, tmp_path_factory):
    folder = tmp_path_factory.mktemp("ops")
    for op, cases in CASES.items():
        groups = {"": [], "_f64": []}
        for i, case in enumerate(cases):
            groups["_f64" if has_f64(case) else ""].append(hir.function(f"case{i}", case))
        for suffix, functions in groups.items():
            if functions:
                (folder / f"{op}{suffix}.hir").write_text(hir.module(op, functions))
    lower(tests_bin, folder)
    return folder


def has_f64(case):
    return any(hir.goldens()["tensors"][i]["dtype"] == "f64" for i in case["operands"] + case["expected"])
