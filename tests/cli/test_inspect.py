"""`headrace inspect --tensor` against gguf-py and numpy in f64."""

import struct

import fixkit
import gguf
import numpy as np
import pytest
from conftest import ROOT, headrace

ZOO = ROOT / "testdata/zoo"


@pytest.mark.parametrize("model", ["llama/llama.f32.gguf", "llama/llama.q8_0.gguf", "gemma3/gemma3.q8_0.gguf"])
def test_statistics(model):
    for tensor in gguf.GGUFReader(ZOO / model).tensors:
        done = headrace("inspect", ZOO / model, "--tensor", tensor.name, "--json")
        assert done.code == 0, done.err
        got = done.json
        values = gguf.quants.dequantize(tensor.data, tensor.tensor_type).astype(np.float64).ravel()
        assert got["type"] == tensor.tensor_type.name and got["shape"] == [int(n) for n in reversed(tensor.shape)]
        assert (got["offset_bytes"], got["bytes"]) == (tensor.data_offset, tensor.n_bytes)
        assert (got["min"], got["max"]) == (values.min(), values.max())
        assert got["mean"] == pytest.approx(values.mean(), rel=1e-9, abs=1e-12)
        assert got["rms"] == pytest.approx(np.sqrt((values * values).mean()), rel=1e-12)
        assert (got["zeros"], got["nans"], got["infinities"]) == ((values == 0).sum(), 0, 0)
        histogram, _ = np.histogram(values, bins=len(got["histogram"]))
        assert np.abs(np.array(got["histogram"]) - histogram).sum() <= 2  # a value on an edge may fall to either side
        assert sum(got["histogram"]) == got["elements"] == values.size


@pytest.mark.parametrize("values, wanted", [
    ([float("nan")] * 32, {"nans": 32, "infinities": 0, "min": 0, "max": 0, "mean": 0, "zeros": 0}),
    ([float("inf"), float("-inf")] + [2.0] * 30, {"nans": 0, "infinities": 2, "min": 2, "max": 2, "mean": 2, "zeros": 0}),
    ([0.0, -0.0] + [1.0, -1.0] * 15, {"zeros": 2, "min": -1, "max": 1, "mean": 0, "nans": 0, "infinities": 0}),
])
def test_special_values(tmp_path, values, wanted):
    model = fixkit.llama()
    tensor = model.tensor("output_norm.weight")
    tensor.data = struct.pack("<32f", *values)
    done = headrace("inspect", model.write(tmp_path / "m.gguf"), "--tensor", "output_norm.weight", "--json")
    assert done.code == 0, done.err
    assert {key: done.json[key] for key in wanted} == wanted
    assert sum(done.json["histogram"]) == 32 - wanted["nans"] - wanted["infinities"]
    plain = headrace("inspect", tmp_path / "m.gguf", "--tensor", "output_norm.weight")
    assert plain.code == 0 and "NaN" in plain.out
