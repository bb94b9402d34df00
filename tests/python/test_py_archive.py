"""Opening an export: files and archive against the manifest."""

import json
import struct

import numpy as np
import pytest
import toy

import headrace
from headrace.safetensors import read_header


def test_views_of_the_file(export):
    for name, values in toy.weights().items():
        array = export.parameter(name)
        assert np.array_equal(array, values)
        assert not array.flags.writeable and not array.flags.owndata
        assert array.ctypes.data % 64 == 0


def test_unknown_names(export):
    with pytest.raises(KeyError):
        export.parameter("ghost")
    with pytest.raises(KeyError, match="there are: score"):
        export.to_jax("ghost")


def test_no_directory(tmp_path):
    with pytest.raises(FileNotFoundError):
        headrace.load(tmp_path / "nowhere")


@pytest.mark.parametrize("name", ["weights.safetensors", "module.hir", "xla/score.4.mlir"])
def test_missing_or_resized_file(folder, name):  # report H13
    path = folder / name
    path.write_bytes(path.read_bytes() + b"x")
    with pytest.raises(headrace.ArchiveError, match="the manifest says"):
        headrace.load(folder)
    path.unlink()
    with pytest.raises(headrace.ArchiveError, match="No such file"):
        headrace.load(folder)


def rewrite(folder, change):
    """Applies `change` to the archive's JSON header without changing the file's size."""
    path = folder / "weights.safetensors"
    data = path.read_bytes()
    length = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8 : 8 + length])
    change(header)
    text = json.dumps(header).encode().ljust(length)
    assert len(text) == length
    path.write_bytes(data[:8] + text + data[8 + length :])


def set_entry(name, key, value):
    return lambda header: header[name].__setitem__(key, value)


E, H = toy.NAMES
SIZE = toy.V * toy.D * 4


@pytest.mark.parametrize("change, message", [
    (set_entry(E, "dtype", "I32"), "the manifest says"),
    (set_entry(E, "shape", [toy.D, toy.V]), "the manifest says"),
    (set_entry(E, "dtype", "F99"), "is not known"),
    (set_entry(E, "shape", [1]), "its shape takes"),
    (set_entry(E, "shape", [-1]), "make no sense"),
    (set_entry(E, "data_offsets", [0]), "make no sense"),
    (set_entry(E, "data_offsets", [8, SIZE + 8]), "starts at"),
    (lambda h: h.pop(H), "its header describes"),
    (lambda h: h.update({"x": h.pop(E)}), "no tensor"),
    (lambda h: (h[E].update(data_offsets=[SIZE, 2 * SIZE]), h[H].update(data_offsets=[0, SIZE])), "the manifest says"),
    (lambda h: h.update({E: []}), "not dtype, shape and data_offsets"),
])
def test_archive_disagrees(folder, change, message):
    rewrite(folder, change)
    with pytest.raises(headrace.ArchiveError) as error:
        headrace.load(folder)
    assert message in str(error.value)


@pytest.mark.parametrize("data", [b"", b"1234567", struct.pack("<Q", 2**63) + b"{}", struct.pack("<Q", 2) + b"[]",
                                  struct.pack("<Q", 2) + b"{x", struct.pack("<Q", 22) + b'{"a": 1, "a": 2}      ',
                                  struct.pack("<Q", 100_000) + b"[" * 100_000])
def test_broken_header(tmp_path, data):
    path = tmp_path / "x.safetensors"
    path.write_bytes(data)
    with pytest.raises(headrace.ArchiveError, match="x.safetensors"):
        read_header(path)


def test_without_weights(folder):
    path = folder / "manifest.json"
    root = json.loads(path.read_text())
    root["archives"] = []
    for parameter in root["parameters"]:
        parameter.update(file=None, offset_bytes=None, length_bytes=None, xxh3=None)
    path.write_text(json.dumps(root))
    export = headrace.load(folder)
    for use in (lambda: export.to_jax("score"), lambda: export.to_iree("score"), lambda: export.parameter(E)):
        with pytest.raises(headrace.ArchiveError, match="--weights none"):
            use()
    assert export.exported("score").in_avals[1].shape == (toy.V, toy.D)  # needs no weights
