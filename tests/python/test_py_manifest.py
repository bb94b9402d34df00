"""The manifest is read strictly, all faults at once."""

import copy
import json

import pytest
import toy

import headrace
from headrace.dims import Dim, parse_dim
from headrace.manifest import parse


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    return toy.write_export(tmp_path_factory.mktemp("manifest") / "toy")


def test_reads(good):
    manifest = parse(json.dumps(good))
    score = manifest.functions[0]
    assert [a.name for a in score.arguments] == ["tokens"]
    assert score.arguments[0].shape == (Dim(1), Dim(0, (("seq", 1),)))
    assert score.targets.iree[0].symbols == {"seq": 8}
    assert manifest.tokenizer.bos is None


def test_unknown_fields_are_skipped(good):
    more = copy.deepcopy(good)
    more["colour"] = "red"
    more["functions"][0]["weather"] = [1, 2]
    assert parse(json.dumps(more)) == parse(json.dumps(good))


def at(*path, value=None, drop=False):
    def change(root):
        for key in path[:-1]:
            root = root[key]
        if drop:
            del root[path[-1]]
        else:
            root[path[-1]] = value
    return change


F = ("functions", 0)
XLA = (*F, "targets", "xla", 0)
P = ("parameters", 0)
BAD = {
    "format": (at("format", value="x"), "format is not"),
    "version": (at("version", value=2), "version 2, this package reads version 1"),
    "version_bool": (at("version", value=True), "version is missing or not"),
    "no_version": (at("version", drop=True), "version is missing"),
    "requires": (at("requires", value=["paged-kv"]), "requires 'paged-kv'"),
    "requires_type": (at("requires", value="x"), "requires is missing or not"),
    "missing": (at("module", drop=True), "module: missing"),
    "missing_deep": (at(*F, "arguments", 0, "dtype", drop=True), "functions[0].arguments[0].dtype: missing"),
    "string": (at("model", "name", value=3), "model.name: not a string"),
    "number": (at("archives", 0, "size_bytes", value="3"), "archives[0].size_bytes: not a whole number"),
    "fraction": (at("archives", 0, "size_bytes", value=3.5), "not a whole number"),
    "bool_for_number": (at(*P, "offset_bytes", value=True), "not a whole number"),
    "array": (at("parameters", value={}), "parameters: not an array"),
    "object": (at("tool", value=[]), "tool: not an object"),
    "dim": (at(*F, "arguments", 0, "shape", value=[1, "seq +"]), "'seq +' is not a dimension"),
    "dtype": (at(*P, "dtype", value="f31"), "'f31' is not a dtype"),
    "kind": (at(*F, "arguments", 0, "kind", value="secret"), "is not data or cache"),
    "symbol": (at(*F, "arguments", 0, "shape", value=[1, "time"]), "uses unknown symbol 'time'"),
    "escape": (at("archives", 0, "file", value="../weights.safetensors"), "is not a path inside the export"),
    "absolute": (at("texts", 0, "file", value="/etc/passwd"), "is not a path inside the export"),
    "module_text": (at("module", value="other.hir"), "'other.hir' is not one of texts"),
    "half_null": (at(*P, "file", value=None), "must all be set or all be null"),
    "archive": (at(*P, "file", value="other"), "'other' is not one of archives"),
    "past_end": (at(*P, "offset_bytes", value=10**6), "does not lie in"),
    "length": (at(*P, "length_bytes", value=4), "elements of f32 are"),
    "hash": (at(*P, "xxh3", value="zz"), "32 lower-case hex"),
    "xla_arguments": (at(*XLA, "arguments", value=[]), "not the function's arguments"),
    "xla_parameter": (at(*XLA, "parameters", value=["ghost"]), "'ghost' is not one of parameters"),
    "xla_file": (at(*XLA, "file", value="ghost.mlir"), "is not one of texts"),
    "pair": (at(*XLA, "donations", value=[{"argument": 1, "result": 0}]), "pair (1, 0) is out of range"),
}


@pytest.mark.parametrize("name", BAD)
def test_refuses(good, name):
    change, message = BAD[name]
    root = copy.deepcopy(good)
    change(root)
    with pytest.raises(headrace.ManifestError) as error:
        parse(json.dumps(root))
    assert message in str(error.value)


def test_reports_all_faults(good):
    root = copy.deepcopy(good)
    del root["module"]
    root["tool"]["name"] = 1
    with pytest.raises(headrace.ManifestError) as error:
        parse(json.dumps(root))
    assert "module: missing" in str(error.value) and "tool.name" in str(error.value)


@pytest.mark.parametrize("text, message", [
    ("", "not JSON"),
    ("[]", "format is not"),
    ('{"format": 1, "format": 2}', "key 'format' is repeated"),
    ('{"x": NaN}', "NaN is not JSON"),
    ("[" * 100_000, "nested deeper"),
    ('{"format": "headrace.manifest", "version": 1' + "0" * 10_000 + "}", "not JSON"),
])
def test_refuses_text(text, message):
    with pytest.raises(headrace.ManifestError, match=message):
        parse(text)


@pytest.mark.parametrize("text", ["past + seq", "2*seq - 1", "-seq + 4", "seq", "7", "a - 2*b + 3"])
def test_dims_round_trip(text):
    dim = parse_dim(text)
    assert parse_dim(str(dim)) == dim


def test_dims():
    assert parse_dim("past + 2*seq - 3").at({"past": 10, "seq": 4}) == 15
    assert parse_dim("seq - seq") == Dim(0)
    assert parse_dim(5) == Dim(5)
    for bad in ("", "+", "seq seq", "2 seq", "seq *2", "1.5", True, None, "9" * 30):
        with pytest.raises(ValueError):
            parse_dim(bad)
