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


def check_statistics(model, tensor, values):
    done = headrace("inspect", model, "--tensor", tensor, "--json")
    assert done.code == 0, done.err
    got, finite = done.json, values[np.isfinite(values)]
    assert (got["nans"], got["infinities"]) == (np.isnan(values).sum(), np.isinf(values).sum())
    assert (got["min"], got["max"]) == (finite.min(), finite.max())
    wide = finite.astype(np.longdouble)
    assert got["mean"] == pytest.approx(float(wide.mean()), rel=1e-9, abs=1e-12 * float(np.abs(wide).max()))
    assert got["rms"] == pytest.approx(float(np.sqrt((wide * wide).mean())), rel=1e-9)
    assert sum(got["histogram"]) == finite.size and got["elements"] == values.size


PLAIN = {
    "F64": (28, np.array([1e300, -1e300, 5e-324, 0.1, float("nan"), float("inf")] + [2.0**-1000] * 26)),
    "I8": (24, np.arange(-128, 128, 8, dtype=np.int8)),
    "I16": (25, np.arange(-32768, 32768, 2048, dtype=np.int16)),
    "I32": (26, np.array([2**31 - 1, -(2**31), 16777217] + [0] * 29, np.int32)),
    "I64": (27, np.array([2**53 - 1, -(2**60), 16777217] + [7] * 29, np.int64)),
    "F16": (1, np.array([65504, -65504, 2.0**-24, float("-inf")] + [1] * 28, np.float16)),
}


@pytest.mark.parametrize("name", PLAIN)
def test_plain_types_are_read_as_they_are(name, tmp_path):
    """Not by way of f32, in which large f64 are infinite and large integers another number."""
    id, values = PLAIN[name]
    model = fixkit.llama().add("v.x", [32], values.tobytes(), id).write(tmp_path / "m.gguf")
    check_statistics(model, "v.x", values.astype(np.float64))
    assert headrace("inspect", model, "--tensor", "v.x", "--json").json["type"] == name


BLOCKS = [kind.name for kind in gguf.GGMLQuantizationType if kind.name not in ("Q8_1", "Q8_K", "Q1_0", "I8", "I16", "I32", "I64", "F64")]


@pytest.mark.parametrize("name", BLOCKS)
def test_block_types(name, tmp_path):
    """Random blocks, in which some scales are infinite or NaN, of every type that gguf-py decodes."""
    kind = gguf.GGMLQuantizationType[name]
    elements, size = gguf.GGML_QUANT_SIZES[kind]
    rows, width = 64, 512
    raw = np.random.default_rng(int(kind)).integers(0, 256, (rows, width // elements * size), np.uint8)
    path = fixkit.llama().add("v.x", [width, rows], raw.tobytes(), int(kind)).write(tmp_path / "m.gguf")
    with np.errstate(all="ignore"):
        values = gguf.quants.dequantize(raw, kind).astype(np.float64).ravel()
    check_statistics(path, "v.x", values)
    row = next(use for use in headrace("inspect", path, "--json").json["types"] if use["type"] == name)
    if name != "F32":  # which the other tensors are of, too
        assert (row["elements"], row["bytes"]) == (rows * width, raw.size)
        assert row["bits_per_weight"] == pytest.approx(8 * size / elements)


def test_a_split_set(tmp_path):
    """Any part shows the whole set: files, totals, and tensors and keys of other parts."""
    made = headrace("synth", "llama-tiny", "-o", tmp_path / "m.gguf", "--split", "300kB", "--fill", "random", "--json")
    assert made.code == 0, made.err
    paths = sorted(tmp_path.glob("m-*.gguf"))
    assert len(paths) > 2
    readers = [gguf.GGUFReader(p) for p in paths]
    shown = [headrace("inspect", p, "--json").json for p in (paths[0], paths[-1])]
    assert shown[0] == shown[1]
    assert shown[0]["files"] == [{"name": p.name, "bytes": p.stat().st_size, "tensors": len(r.tensors)}
                                 for p, r in zip(paths, readers, strict=True)]
    tensors = [t for r in readers for t in r.tensors]
    assert shown[0]["tensors"] == len(tensors) == made.json["tensors"]
    assert shown[0]["data_bytes"] == sum(int(t.n_bytes) for t in tensors)
    elements = sum(int(t.n_elements) for t in tensors)
    assert shown[0]["parameters"] == elements
    assert shown[0]["bits_per_weight"] == pytest.approx(8 * shown[0]["data_bytes"] / elements)
    last = readers[-1].tensors[-1]
    got = headrace("inspect", paths[0], "--tensor", last.name, "--json").json
    assert (got["file"], got["offset_bytes"]) == (paths[-1].name, last.data_offset)
    values = gguf.quants.dequantize(last.data, last.tensor_type).astype(np.float64).ravel()
    check_statistics(paths[1], last.name, values)
    assert headrace("inspect", paths[-1], "--key", "llama.block_count", "--json").json == {"llama.block_count": 2}
    plain = headrace("inspect", paths[1]).out
    assert all(p.name in plain for p in paths)


def test_keys_of_every_kind(tmp_path):
    wanted = {"x.flag": (fixkit.BOOL, 1, True), "x.small": (fixkit.I8, -5, -5), "x.large": (fixkit.U64, 2**64 - 1, 2**64 - 1),
              "x.real": (fixkit.F64, 0.1, 0.1), "x.text": (fixkit.STRING, "a\"b", "a\"b"), "x.none": (fixkit.ARRAY, (fixkit.I32, []), []),
              "x.list": (fixkit.ARRAY, (fixkit.I16, [1, -2]), [1, -2]), "x.texts": (fixkit.ARRAY, (fixkit.STRING, ["p", ""]), ["p", ""]),
              "x.flags": (fixkit.ARRAY, (fixkit.BOOL, [1, 0]), [True, False])}
    model = fixkit.llama()
    for key, (kind, value, _) in wanted.items():
        model.set(key, kind, value)
    path = model.write(tmp_path / "m.gguf")
    assert headrace("inspect", path, "--key", "x.", "--json").json == {key: shown for key, (_, _, shown) in wanted.items()}
    for key, (_, _, shown) in wanted.items():
        assert headrace("inspect", path, "--key", key, "--json").json == {key: shown}
        assert headrace("inspect", path, "--key", key).out.startswith(key)
    done = headrace("inspect", path, "--key", "x.nothing", "--json")
    assert done.code == 1 and done.json["error"]["code"] == "input" and "'x.nothing'" in done.err
    done = headrace("inspect", path, "--tensor", "nothing", "--json")
    assert done.code == 1 and done.json["error"]["code"] == "input" and "'nothing'" in done.err


def test_the_histogram_is_drawn(tmp_path):
    """One row a bin, the longest bar where most values are."""
    model = fixkit.llama()
    model.tensor("output_norm.weight").data = struct.pack("<32f", *([0.0] * 20 + [1.0] * 11 + [24.0]))
    out = headrace("inspect", model.write(tmp_path / "m.gguf"), "--tensor", "output_norm.weight").out
    rows = [line.split() for line in out.split("values from\n")[1].splitlines()]
    assert len(rows) == 24 and [row[1] for row in rows[:2]] == ["20", "11"] and rows[-1][1] == "1"
    bars = [len(row[2]) if len(row) > 2 else 0 for row in rows]
    assert bars[0] == max(bars) == 40 and 21 <= bars[1] <= 22 and bars[2:-1] == [0] * 21 and bars[-1] >= 1
