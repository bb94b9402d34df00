"""`export --dtype`: what is said about rounding, and that overflow is refused without a trace."""

import json
import struct

import pytest
from conftest import headrace, tree
from fixkit import llama

BROKEN = {"blk.1.ffn_down.weight": {3: 1e5, 7: -66000.0}, "output.weight": {0: 7e4}}


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """The toy model with three finite weights beyond f16."""
    model = llama()
    for name, changes in BROKEN.items():
        tensor = model.tensor(name)
        data = bytearray(tensor.data)
        for at, value in changes.items():
            struct.pack_into("<f", data, 4 * at, value)
        tensor.data = bytes(data)
    return model.write(tmp_path_factory.mktemp("large") / "large.gguf")


def parameters(directory):
    return {p["name"]: p for p in json.loads((directory / "manifest.json").read_text())["parameters"]}


@pytest.mark.parametrize("dtype", ["bf16", "f16"])
def test_narrows_by_role_and_says_what_it_cost(dtype, toy, tmp_path):
    done = headrace("export", toy, "-o", tmp_path / "out", "--dtype", dtype, "--json", "--progress", "none")
    assert done.code == 0 and done.err == ""
    rows = parameters(tmp_path / "out")
    narrow = {n for n, p in rows.items() if p["dtype"] == dtype}
    assert narrow == {n for n, p in rows.items() if p["role"] in ("matmul", "embedding")} and len(narrow) == 16
    assert all(p["dtype"] == "f32" and p["rounding"] is None for n, p in rows.items() if n not in narrow)
    summary = done.json["rounding"]
    assert summary["inexact"] == sum(rows[n]["rounding"]["inexact"] for n in narrow) > 0.9 * summary["values"]
    assert summary["largest_error"] == rows[summary["parameter"]]["rounding"]["largest_error"]
    assert 0 < summary["largest_error"] <= {"bf16": 2.0**-10, "f16": 2.0**-13}[dtype]  # half an ulp below 0.5
    assert json.loads((tmp_path / "out" / "manifest.json").read_text())["options"]["dtype"] == dtype


def test_the_summary_says_that_it_is_lossy(toy, tmp_path):
    done = headrace("export", toy, "-o", tmp_path / "out", "--dtype", "bf16")
    assert "\nweights in bf16: 100.0 % of 21504 were rounded, by at most 0.00098 ('" in done.out
    assert "rounded" not in headrace("export", toy, "-o", tmp_path / "out").out


# Report E07.
def test_overflow_is_refused(large, toy, tmp_path):
    out = tmp_path / "out"
    done = headrace("export", large, "-o", out, "--dtype", "f16", "--json", "--progress", "none")
    assert done.code == 1 and done.json["error"]["code"] == "overflow" and done.json["error"]["more"] == []
    assert done.err == ("error: finite weights are beyond f16, which ends at 65504, in 2 parameters: 'blk.1.ffn_down.weight' "
                        "(2 of 2048 values), 'output.weight' (1 of 1536 values); --allow-overflow writes infinities\n")
    assert not out.exists()
    # An earlier export stays as it was.
    assert headrace("export", toy, "-o", out).code == 0
    before = tree(out)
    assert headrace("export", large, "-o", out, "--dtype", "f16").code == 1
    assert tree(out) == before


def test_overflow_is_allowed_on_request(large, tmp_path):
    done = headrace("export", large, "-o", tmp_path / "out", "--dtype", "f16", "--allow-overflow", "--progress", "none")
    assert done.code == 0
    assert done.err == ("warning: parameter 'blk.1.ffn_down.weight': 2 of 2048 values are beyond f16 and became infinite\n"
                        "warning: parameter 'output.weight': 1 of 1536 values are beyond f16 and became infinite\n")
    rows = parameters(tmp_path / "out")
    assert {n: p["rounding"]["overflowed"] for n, p in rows.items() if (p["rounding"] or {}).get("overflowed")} == {
        n: len(changes) for n, changes in BROKEN.items()}


def test_bf16_holds_what_f16_does_not(large, tmp_path):
    done = headrace("export", large, "-o", tmp_path / "out", "--dtype", "bf16", "--progress", "none")
    assert (done.code, done.err) == (0, "")


def test_without_weights_nothing_is_rounded(large, tmp_path):
    done = headrace("export", large, "-o", tmp_path / "out", "--dtype", "f16", "--weights", "none", "--json")
    assert done.code == 0 and done.json["rounding"] is None
    rows = parameters(tmp_path / "out")
    assert rows["output.weight"]["dtype"] == "f16" and rows["output.weight"]["rounding"] is None
