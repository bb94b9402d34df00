"""Malformed Hugging Face directories: each is refused in one line that names the file, with exit code 1 and its error code, by
`inspect` as by `export`; nothing is left behind. Ids are entries of the collection of reports (see test_bug_reports.py)."""

import dataclasses
import json
import os

import pytest
from conftest import export_meeting_a_change, headrace, tree
from fixkit import llama, safetensors, safetensors_raw

ONE = safetensors({"a": ("F32", [1])})
TWO = safetensors({"b": ("F32", [1])})
FIRST, SECOND = "model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"
INDEX = "model.safetensors.index.json"
LFS = b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 98\n"


def entry(dtype="F32", shape=(1,), offsets=(0, 4)):
    return {"dtype": dtype, "shape": list(shape), "data_offsets": list(offsets)}


def whole(header, data=bytes(4), config="{}"):
    raw = header if isinstance(header, (str, bytes)) else json.dumps(header)
    return {"config.json": config, "model.safetensors": safetensors_raw(raw, data)}


def sharded(weight_map, **files):
    text = weight_map if isinstance(weight_map, str) else json.dumps({"weight_map": weight_map})
    return {"config.json": "{}", INDEX: text, FIRST: ONE, SECOND: TWO, **files}


@dataclasses.dataclass
class Bad:
    name: str
    files: dict
    code: str
    says: str | list[str]
    path: str = ""  # what is given to headrace, below the directory


BAD = [
    Bad("nothing", {}, "not-a-checkpoint", ["neither model.safetensors nor", INDEX]),
    Bad("no-config", {"model.safetensors": ONE}, "not-a-checkpoint", "there is no config.json in the directory"),
    Bad("gguf-only", {"m.gguf": llama().bytes()}, "not-a-checkpoint", "it holds GGUF files, name one: m.gguf"),
    Bad("torch-only", {"config.json": "{}", "pytorch_model.bin": b"x"}, "not-a-checkpoint", "convert the model to safetensors"),
    Bad("both", {**sharded({"a": FIRST}), "model.safetensors": ONE}, "not-a-checkpoint", "name the one meant"),
    Bad("config-named", whole({"a": entry()}), "not-a-checkpoint", "give the directory", "config.json"),
    Bad("config-is-no-json", whole({"a": entry()}, config="{'a': 1}"), "config-file", ["config.json", "not JSON, byte 2"]),
    Bad("config-key-twice", whole({"a": entry()}, config='{"vocab_size":1,"vocab_size":2}'), "config-file", "'vocab_size' is repeated"),
    Bad("config-key-with-a-dot", whole({"a": entry()}, config='{"x":{"a.b":1}}'), "config-file", ['x: key "a.b"', "dot"]),
    Bad("config-nan", whole({"a": entry()}, config='{"rms_norm_eps":NaN}'), "config-file", "not JSON"),
    Bad("config-deep", whole({"a": entry()}, config='{"a":' * 100_000), "config-file", "nested deeper"),
    Bad("lfs-pointer", {"config.json": "{}", "model.safetensors": LFS}, "not-a-checkpoint", ["model.safetensors", "LFS"]),
    Bad("C01-header-too-long", {"config.json": "{}", "model.safetensors": (2**63).to_bytes(8, "little") + b"{}"}, "safetensors",
        "9223372036854775808"),
    Bad("C01-cut", {"config.json": "{}", "model.safetensors": ONE[:30]}, "safetensors", "truncated"),
    Bad("C02-tensor-twice", whole(f'{{"a":{json.dumps(entry())},"a":{json.dumps(entry())}}}'), "safetensors", "'a' occurs twice"),
    Bad("C03-offsets", whole({"a": entry(shape=[1000, 1000])}), "safetensors", ["'a'", "4000000", "give 4"]),
    Bad("C03-list", whole("[]"), "safetensors", "does not start with '{'"),
    Bad("C04-overlap", whole({"a": entry(), "b": entry()}), "safetensors", ["'a' and 'b' overlap"]),
    Bad("C04-tail", whole({"a": entry()}, bytes(68)), "safetensors", "64 bytes follow"),
    Bad("C05-dtype", whole({"a": entry("F7")}), "block-type", ["'a'", "F7"]),
    Bad("name", whole({"a\x1b[2J": entry()}), "safetensors", "control characters"),
    Bad("index-no-map", sharded("{}"), "safetensors-set", [INDEX, "weight_map"]),
    Bad("index-named-no-map", sharded("{}"), "safetensors-set", [INDEX, "weight_map"], INDEX),
    Bad("C10-shards-missing", sharded({"a": "x.safetensors", "b": "y.safetensors", "c": FIRST}), "safetensors-set",
        ["2 of 3 shards", "x.safetensors, y.safetensors"]),
    Bad("C10-omitted", sharded({"a": FIRST, "c": SECOND}), "safetensors-set", [SECOND, "does not name its tensor 'b'"]),
    Bad("C10-elsewhere", sharded({"a": FIRST, "b": FIRST, "c": SECOND}), "safetensors-set", [SECOND, "'b'", f"gives to {FIRST}"]),
    Bad("C10-not-held", sharded({"a": FIRST, "b": SECOND, "c": SECOND}), "safetensors-set", ["'c'", "does not hold it"]),
    Bad("C12-up", sharded({"a": "../x.safetensors"}, **{"../x.safetensors": ONE}), "safetensors-set", "../x.safetensors"),
    Bad("C12-below", sharded({"a": "sub/x.safetensors"}, **{"sub/x.safetensors": ONE}), "safetensors-set", "sub/x.safetensors"),
    Bad("C12-number", sharded({"a": 5}), "safetensors-set", "its shard is a number"),
    Bad("shard-without-index", {"config.json": "{}", FIRST: ONE}, "safetensors-set", ["there is no index", INDEX], FIRST),
]


def make(directory, files):
    directory.mkdir()
    for name, content in files.items():
        path = directory / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())


@pytest.mark.parametrize("bad", BAD, ids=lambda bad: bad.name)
def test_refused(bad, tmp_path):
    model = tmp_path / "model"
    make(model, bad.files)
    before = tree(tmp_path)
    for command in (["inspect"], ["inspect", "--key", "vocab_size"], ["inspect", "--tensor", "a"],
                    ["export", "-o", tmp_path / "out", "--seq", "4", "--progress", "none"]):
        done = headrace(command[0], model / bad.path, *command[1:], "--json")
        assert done.code == 1, done.out + done.err
        error = done.json["error"]
        assert error["code"] == bad.code, error
        for part in [bad.says] if isinstance(bad.says, str) else bad.says:
            assert part in error["message"]
        assert str(model) in error["message"]
        assert error["more"] == [] and done.err == f"error: {error['message']}\n"
        assert "\x1b" not in done.err
    assert tree(tmp_path) == before


def test_inspect_reads_tensors_and_keys(tmp_path):
    config = '{"text_config":{"hidden_size":8,"layer_types":["full_attention"]},"eos_token_id":[1,2],"x":null}'
    make(tmp_path / "model", {**sharded({"a": FIRST, "b": SECOND}), "config.json": config,
                              "generation_config.json": '{"eos_token_id":7}',
                              SECOND: safetensors({"b": ("F8_E4M3", [2, 2], bytes([0x7E, 0xFE, 0x7F, 0x00]))})})
    done = headrace("inspect", tmp_path / "model", "--tensor", "b", "--json")
    assert done.code == 0, done.err
    found = done.json
    assert (found["type"], found["shape"], found["file"], found["bytes"]) == ("F8_E4M3", [2, 2], SECOND, 4)
    assert (found["min"], found["max"], found["nans"], found["zeros"]) == (-448, 448, 1, 1)
    keys = headrace("inspect", tmp_path / "model", "--key", "text_config.", "--json").json
    assert keys["text_config.hidden_size"] == 8 and keys["text_config.layer_types"] == ["full_attention"]
    for key, value in (("generation_config.eos_token_id", 7), ("eos_token_id", [1, 2]), ("x", None)):
        assert headrace("inspect", tmp_path / "model", "--key", key, "--json").json[key] == value
    types = headrace("inspect", tmp_path / "model", "--json").json["types"]
    assert {t["type"]: t["bytes"] for t in types} == {"F32": 4, "F8_E4M3": 4}


def test_what_cannot_be_decoded_is_indexed_and_refused_by_name(tmp_path):
    make(tmp_path / "model", {"config.json": "{}", "model.safetensors": safetensors({"a": ("F6_E2M3", [4]), "c": ("C64", [2])})})
    types = headrace("inspect", tmp_path / "model", "--json").json["types"]
    assert {t["type"]: (t["elements"], t["bytes"]) for t in types} == {"F6_E2M3": (4, 3), "C64": (2, 16)}
    for name, dtype in (("a", "F6_E2M3"), ("c", "C64")):
        done = headrace("inspect", tmp_path / "model", "--tensor", name, "--json")
        assert done.code == 1 and done.json["error"]["code"] == "block-type"
        assert f"'{name}' has type {dtype}, which cannot be decoded" in done.json["error"]["message"]


LAYER = {"input_layernorm": (1,), "post_attention_layernorm": (1,), "self_attn.q_proj": (1, 1), "self_attn.k_proj": (1, 1),
         "self_attn.v_proj": (1, 1), "self_attn.o_proj": (1, 1)}


def large_llama(directory):
    """400 MB of zeros in two shards, sparse; the second holds nearly all."""
    width, hidden = 64, 2**19
    config = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": width, "intermediate_size": hidden,
              "num_hidden_layers": 1, "num_attention_heads": 4, "num_key_value_heads": 4, "head_dim": 16, "rms_norm_eps": 1e-5,
              "max_position_embeddings": 64, "hidden_act": "silu", "tie_word_embeddings": True, "vocab_size": 48,
              "rope_theta": 10000.0, "torch_dtype": "float32"}
    layer = "model.layers.0."
    shapes = {FIRST: {"model.embed_tokens.weight": [48, width], "model.norm.weight": [width],
                      **{f"{layer}{n}.weight": [width] * len(s) for n, s in LAYER.items()}},
              SECOND: {layer + "mlp.gate_proj.weight": [hidden, width], layer + "mlp.up_proj.weight": [hidden, width],
                       layer + "mlp.down_proj.weight": [width, hidden]}}
    directory.mkdir()
    (directory / "config.json").write_text(json.dumps(config))
    (directory / INDEX).write_text(json.dumps({"weight_map": {n: f for f, part in shapes.items() for n in part}}))
    for name, part in shapes.items():
        header, end = {}, 0
        for tensor, shape in part.items():
            size = 4
            for dim in shape:
                size *= dim
            header[tensor] = {"dtype": "F32", "shape": shape, "data_offsets": [end, end + size]}
            end += size
        raw = safetensors_raw(json.dumps(header))
        with open(directory / name, "wb") as file:
            file.write(raw)
            file.truncate(len(raw) + end)


@pytest.mark.parametrize("change", ["cut", "replaced", "removed"])
def test_a_shard_changes_while_it_is_exported(change, tmp_path):
    """Changed when the export has written a part of the weights; it stands still meanwhile."""
    large_llama(tmp_path / "model")
    path = tmp_path / "model" / SECOND
    assert headrace("inspect", tmp_path / "model", "--json").json["export"]["accepted"]

    def alter():
        if change == "cut":
            os.truncate(path, path.stat().st_size // 2)
        elif change == "replaced":
            (tmp_path / "other").write_bytes(ONE)
            (tmp_path / "other").replace(path)
        else:
            path.unlink()

    export_meeting_a_change([tmp_path / "model", "-o", tmp_path / "out"], path, alter)
    assert not (tmp_path / "out").exists()
