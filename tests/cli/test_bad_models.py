"""Malformed and contradictory checkpoints: each is refused in one line that names the place, with exit code 1 and its error
code; nothing is left behind, and an earlier export in the same directory stays as it was."""

import dataclasses
import struct
from collections.abc import Callable

import pytest
from conftest import headrace, tree
from fixkit import ARRAY, BOOL, F32, I32, STRING, U32, U64, Gguf, Tensor, llama, text


@dataclasses.dataclass
class Bad:
    name: str
    build: Callable[[], bytes]
    code: str
    says: str | list[str]  # parts of the error's lines


def bytes_of(change):
    """The toy model after a change; the change may return a model or bytes of its own."""

    def build():
        model = llama()
        made = change(model)
        return made if isinstance(made, bytes) else (made or model).bytes()

    return build


def key(name, kind, value):
    return bytes_of(lambda m: m.set(name, kind, value))


def drop(*names):
    return bytes_of(lambda m: m.drop(*names))


def with_tensor(name, **fields):
    def change(model):
        for field, value in fields.items():
            setattr(model.tensor(name), field, value)

    return bytes_of(change)


def with_model(**fields):
    def change(model):
        for field, value in fields.items():
            setattr(model, field, value)

    return bytes_of(change)


def raw(data):
    return lambda: data


def twice(model):
    model.tensors.append(Tensor("output_norm.weight", [32], bytes(128)))


def raw_value(kind, payload):
    return lambda: Gguf(kvs=[("general.architecture", STRING, "llama"), ("x", kind, payload)]).bytes()


LFS = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"0" * 64 + b"\nsize 98000000\n"
NAN = float("nan")
HEADS = "llama.attention.head_count"
EPS = "llama.attention.layer_norm_rms_epsilon"

CONTAINER = [
    Bad("empty", raw(b""), "not-a-checkpoint", "empty"),
    Bad("three-bytes", raw(b"GGU"), "not-a-checkpoint", ""),
    Bad("bad-magic", with_model(magic=b"GGJT"), "not-a-checkpoint", ""),
    Bad("lfs-pointer", raw(LFS), "not-a-checkpoint", "LFS"),
    Bad("html", raw(b"<!DOCTYPE html><html><body>404</body></html>"), "not-a-checkpoint", "HTML"),
    Bad("zip", raw(b"PK\x03\x04" + bytes(60)), "not-a-checkpoint", "zip"),
    Bad("big-endian", raw(b"GGUF" + struct.pack(">IQQ", 3, 0, 0) + bytes(64)), "gguf-header", "big-endian"),
    Bad("version-4", with_model(version=4), "gguf-header", "4"),
    Bad("version-1", with_model(version=1), "gguf-header", "1"),
    Bad("cut-in-counts", bytes_of(lambda m: m.bytes()[:12]), "gguf-header", ""),
    Bad("cut-in-keys", bytes_of(lambda m: m.bytes()[:800]), "gguf-metadata", "truncated"),
    Bad("cut-in-table", bytes_of(lambda m: m.bytes()[: len(m.header()) - 20]), "gguf-tensor", ""),
    Bad("cut-in-data", bytes_of(lambda m: m.bytes()[:-4096]), "gguf-tensor", ["output.weight", "truncated"]),
    Bad("huge-tensor-count", with_model(tensor_count=2**60), "gguf-tensor", ""),
    Bad("huge-key-count", with_model(kv_count=2**60), "gguf-header", "truncated"),
    Bad("key-twice", bytes_of(lambda m: m.kvs.append((HEADS, U32, 8))), "gguf-metadata", [HEADS, "twice"]),
    Bad("tensor-twice", bytes_of(twice), "gguf-tensor", ["'output_norm.weight'", "twice"]),
    Bad("unknown-value-kind", raw_value(13, b""), "gguf-metadata", ["x", "13"]),
    Bad("bool-of-two", raw_value(BOOL, 2), "gguf-metadata", ["x", "2"]),
    Bad("array-of-arrays", raw_value(ARRAY, (ARRAY, [(U32, [1])])), "gguf-metadata", "x"),
    Bad("string-past-the-end", lambda: Gguf(kv_count=1).bytes()[:24] + text("x") + struct.pack("<IQ", STRING, 2**40),
        "gguf-metadata", ""),
    Bad("alignment-0", key("general.alignment", U32, 0), "gguf-header", ["general.alignment", "0"]),
    Bad("alignment-text", key("general.alignment", STRING, "32"), "gguf-header", ["general.alignment"]),
    Bad("five-dims", with_tensor("output.weight", dims=[32, 48, 1, 1, 1]), "gguf-tensor", ["'output.weight'", "5"]),
    Bad("dims-overflow", with_tensor("output.weight", dims=[2**32, 2**32]), "gguf-tensor", ["'output.weight'", "overflow"]),
    Bad("rows-not-whole-blocks", with_tensor("output.weight", type=12), "gguf-tensor", ["'output.weight'", "256"]),
    Bad("overlap", with_tensor("blk.0.attn_q.weight", offset=0), "gguf-tensor", ["'token_embd.weight'", "overlap"]),
    Bad("misaligned", with_tensor("blk.0.attn_norm.weight", offset=8), "gguf-tensor", ["'blk.0.attn_norm.weight'", "8"]),
    Bad("offset-wraps", with_tensor("output.weight", offset=2**64 - 32), "gguf-tensor", "'output.weight'"),
    Bad("unknown-type", with_tensor("output.weight", type=99), "block-type", ["'output.weight'", "99"]),
    Bad("retired-type", with_tensor("output.weight", type=4), "block-type", ["'output.weight'", "4", "retired"]),
]

MODEL = [
    Bad("no-architecture", drop("general.architecture"), "architecture", "general.architecture"),
    Bad("unknown-architecture", key("general.architecture", STRING, "nosuch"), "architecture", ["'nosuch'", "llama"]),
    Bad("no-eps", drop(EPS), "config-missing", EPS),
    Bad("eps-zero", key(EPS, F32, 0.0), "config-value", EPS),
    Bad("eps-nan", key(EPS, F32, NAN), "config-value", EPS),
    Bad("no-block-count", drop("llama.block_count"), "config-missing", "llama.block_count"),
    Bad("block-count-text", key("llama.block_count", STRING, "2"), "config-value", "llama.block_count"),
    Bad("block-count-0", key("llama.block_count", U32, 0), "config-value", "llama.block_count"),
    Bad("block-count-3", key("llama.block_count", U32, 3), "tensor-link", ["llama.block_count", "blk.2.attn_norm.weight"]),
    Bad("block-count-wraps", key("llama.block_count", U64, 2**32 + 2), "config-value", ["llama.block_count", str(2**32 + 2)]),
    Bad("heads-0", key(HEADS, U32, 0), "config-value", HEADS),
    Bad("heads-do-not-divide", key(HEADS + "_kv", U32, 3), "config-value", ["4 query heads", "3"]),
    Bad("kv-heads-negative", key(HEADS + "_kv", I32, -1), "config-value", HEADS + "_kv"),
    Bad("kv-heads-for-three", key(HEADS + "_kv", ARRAY, (U32, [2, 2, 2])), "config-value", HEADS + "_kv"),
    Bad("kv-heads-differ", key(HEADS + "_kv", ARRAY, (U32, [2, 4])), "config-unsupported", HEADS + "_kv"),
    Bad("value-width", key("llama.attention.value_length", U32, 16), "config-unsupported", "16"),
    Bad("rope-odd", key("llama.rope.dimension_count", U32, 7), "config-value", "llama.rope.dimension_count"),
    Bad("rope-base-nan", key("llama.rope.freq_base", F32, NAN), "config-value", "llama.rope.freq_base"),
    Bad("rope-yarn", key("llama.rope.scaling.type", STRING, "yarn"), "config-unsupported", "yarn"),
    Bad("rope-old-scale", key("llama.rope.scale_linear", F32, -2.0), "config-value", "llama.rope.scale_linear"),
    Bad("softcap", key("llama.final_logit_softcapping", F32, 30.0), "config-unsupported", "llama.final_logit_softcapping"),
    Bad("window", key("llama.attention.sliding_window", U32, 16), "config-unsupported", "llama.attention.sliding_window"),
    Bad("experts", key("llama.expert_count", U32, 8), "config-unsupported", "llama.expert_count"),
    Bad("misshapen", with_tensor("blk.1.ffn_up.weight", dims=[64, 32]), "tensor-link", ["'blk.1.ffn_up.weight'", "[32, 64]", "[64, 32]"]),
    Bad("missing-several", drop("blk.0.ffn_up.weight", "blk.1.attn_v.weight", "output_norm.weight"), "tensor-link",
        ["'blk.0.ffn_up.weight'", "'blk.1.attn_v.weight'", "'output_norm.weight'"]),
    Bad("sibling-bias", bytes_of(lambda m: m.add("blk.0.attn_q.bias", [32])), "tensor-link", "'blk.0.attn_k.bias'"),
    Bad("sibling-norm", bytes_of(lambda m: m.add("blk.1.attn_q_norm.weight", [8])), "tensor-link", "'blk.1.attn_q_norm.weight'"),
    Bad("eos-outside", key("tokenizer.ggml.eos_token_id", U32, 48), "config-value", "tokenizer.ggml.eos_token_id"),
    Bad("token-types-short", key("tokenizer.ggml.token_type", ARRAY, (I32, [1])), "config-value", "tokenizer.ggml.token_type"),
]


def check_refused(done, bad):
    assert done.code == 1, done.out + done.err
    error = done.json["error"]
    assert error["code"] == bad.code, error
    everything = "\n".join([error["message"], *error["more"]])
    for part in [bad.says] if isinstance(bad.says, str) else bad.says:
        assert part in everything, everything
    # One line a fault, the same on both streams, and nothing else.
    assert done.err.splitlines() == [f"error: {line}" for line in everything.split("\n")]
    assert "internal" not in everything


@pytest.mark.parametrize("bad", CONTAINER + MODEL, ids=lambda bad: bad.name)
def test_export_refuses(bad, exported, tmp_path):
    model = tmp_path / "bad.gguf"
    model.write_bytes(bad.build())
    done = headrace("export", model, "-o", tmp_path / "new", "--seq", "16", "--json", "--progress", "none")
    check_refused(done, bad)
    assert {p.name for p in tmp_path.iterdir()} == {"bad.gguf"}

    before = tree(exported)
    check_refused(headrace("export", model, "-o", exported, "--seq", "16", "--json", "--progress", "none"), bad)
    assert tree(exported) == before


@pytest.mark.parametrize("bad", CONTAINER, ids=lambda bad: bad.name)
def test_inspect_fails_on_what_has_no_index(bad, tmp_path):
    model = tmp_path / "bad.gguf"
    model.write_bytes(bad.build())
    check_refused(headrace("inspect", model, "--json"), bad)


@pytest.mark.parametrize("bad", MODEL, ids=lambda bad: bad.name)
def test_inspect_says_what_export_would_refuse(bad, tmp_path):
    model = tmp_path / "bad.gguf"
    model.write_bytes(bad.build())
    done = headrace("inspect", model, "--json")
    assert done.code == 0, done.err
    verdict = done.json["export"]
    assert verdict["accepted"] is False
    for part in [bad.says] if isinstance(bad.says, str) else bad.says:
        assert part in "\n".join(verdict["faults"])


def test_faults_are_reported_together(tmp_path):
    model = llama().drop(EPS).set("llama.expert_count", U32, 8).set(HEADS, U32, 0).write(tmp_path / "bad.gguf")
    done = headrace("export", model, "-o", tmp_path / "out")
    assert done.code == 1
    for part in (EPS, "llama.expert_count", HEADS):
        assert part in done.err
    assert all(line.startswith("error: ") for line in done.err.splitlines())


def split_part(number, count):
    model = llama()
    for name, value in (("split.no", number), ("split.count", count), ("split.tensors.count", len(model.tensors))):
        model.set(name, U32, value)
    return model


def test_missing_part_of_a_split_model(tmp_path):
    split_part(0, 2).write(tmp_path / "m-00001-of-00002.gguf")
    done = headrace("export", tmp_path / "m-00001-of-00002.gguf", "-o", tmp_path / "out", "--json")
    assert done.code == 1
    assert "m-00002-of-00002.gguf" in done.err
    assert not (tmp_path / "out").exists()


def test_names_cannot_steer_the_terminal(tmp_path):
    model = llama().set("general.architecture", STRING, "x\x1b[2Jy\nz").write(tmp_path / "bad.gguf")
    for command in (["inspect", model], ["export", model, "-o", tmp_path / "out"]):
        done = headrace(*command)
        assert "\x1b" not in done.out + done.err
        assert len(done.err.splitlines()) <= 1
