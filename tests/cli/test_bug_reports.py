"""Faults that users of other exporters and runtimes reported in public, made again as GGUF files: what must be refused is refused
by name, what is legal is read, and two spellings of one model give one model. A row or a test is named after the entry of the
collection of reports; docs/bug-reports.md says where the others are tested, and which are not and why.
"""

import re
import resource
import struct
import subprocess
import time

import pytest
from conftest import PROGRAM, headrace, tree
from fixkit import ARRAY, BOOL, F32, F64, I8, I32, STRING, U8, U16, U32, U64, Gguf, encode, llama, text
from test_bad_models import Bad, check_refused

NAN = float("nan")
HEADS_KV = "llama.attention.head_count_kv"
HIDDEN = "llama.feed_forward_length"
ROTATED = "llama.rope.dimension_count"
BASE = "llama.rope.freq_base"
EPS = "llama.attention.layer_norm_rms_epsilon"
SCORES = "tokenizer.ggml.scores"
KINDS = "tokenizer.ggml.token_type"


def changed(change):
    return lambda: (lambda model: (change(model) or model).bytes())(llama())


def key(name, kind, value):
    return changed(lambda m: m.set(name, kind, value))


def tensor(name, dims):
    return changed(lambda m: m.add(name, dims))


def factors(*values):
    return changed(lambda m: m.add("rope_freqs.weight", [4], struct.pack("<4f", *values)))


def scaled(kind, factor=None):
    def change(model):
        model.set("llama.rope.scaling.type", STRING, kind)
        return model if factor is None else model.set("llama.rope.scaling.factor", F32, factor)

    return changed(change)


REFUSED = [
    Bad("A15-heads-as-texts", key(HEADS_KV, ARRAY, (STRING, ["2", "2"])), "config-value", [HEADS_KV, "strings"]),
    Bad("A15-types-out-of-range", key(KINDS, ARRAY, (I8, [-1] * 48)), "config-value", [KINDS, "-1"]),
    Bad("A17-one-of-two-layers", key(HEADS_KV, ARRAY, (U32, [2])), "config-value", HEADS_KV),
    Bad("A17-zero-in-a-layer", key(HEADS_KV, ARRAY, (U32, [0, 2])), "config-value", [HEADS_KV, "0"]),
    Bad("A17-hidden-as-texts", key(HIDDEN, ARRAY, (STRING, ["64", "64"])), "config-value", HIDDEN),
    Bad("A17-hidden-differs", key(HIDDEN, ARRAY, (U32, [64, 32])), "config-unsupported", [HIDDEN, "differs between layers"]),
    Bad("A17-hidden-of-one-layer", key(HIDDEN, ARRAY, (U32, [64])), "config-value", [HIDDEN, "array of 1", "expected 2"]),
    Bad("A17-hidden-of-three-layers", key(HIDDEN, ARRAY, (I32, [64, 64, 64])), "config-value", [HIDDEN, "array of 3"]),
    Bad("A17-hidden-0-in-a-layer", key(HIDDEN, ARRAY, (U32, [0, 64])), "config-value", [HIDDEN, "0"]),
    Bad("A17-hidden-negative", key(HIDDEN, I32, -64), "config-value", [HIDDEN, "-64"]),
    Bad("A17-hidden-negative-in-a-layer", key(HIDDEN, ARRAY, (I32, [64, -64])), "config-value", [HIDDEN, "-64"]),
    Bad("A18-512-layers", key("llama.block_count", U32, 512), "tensor-link", ["512", "blk.2.attn_norm.weight"]),
    Bad("A18-513-layers", key("llama.block_count", U32, 513), "config-value", ["llama.block_count", "513", "at most 512"]),
    Bad("A18-all-ones", key("llama.block_count", U32, 2**32 - 1), "config-value", ["llama.block_count", str(2**32 - 1)]),
    Bad("A23-moe", key("general.architecture", STRING, "qwen3moe"), "architecture", ["'qwen3moe'", "supported: "]),
    Bad("D04-fused-qkv", tensor("blk.0.attn_qkv.weight", [32, 64]), "tensor-link", "'blk.0.attn_qkv.weight'"),
    Bad("D04-fused-qkv-bias", tensor("blk.0.attn_qkv.bias", [64]), "tensor-link", "'blk.0.attn_qkv.bias'"),
    Bad("D05-30-over-4", changed(lambda m: m.drop("llama.attention.key_length", "llama.attention.value_length",
                                                  "llama.rope.dimension_count").set("llama.embedding_length", U32, 30)),
        "config-value", ["30", "4 heads"]),
    Bad("D07-base-0", key(BASE, F32, 0.0), "config-value", BASE),
    Bad("D07-base-negative", key(BASE, F32, -1.0), "config-value", [BASE, "-1"]),
    Bad("D07-base-text", key(BASE, STRING, "10000"), "config-value", BASE),
    Bad("D08-three-factors", tensor("rope_freqs.weight", [3]), "tensor-link", ["'rope_freqs.weight'", "[3]", "[4]"]),
    Bad("D08-zero", factors(1, 0, 8, 8), "config-value", ["'rope_freqs.weight' is 0 at index 1", "above 0"]),
    Bad("D08-negative", factors(1, 1, 1, -2), "config-value", ["'rope_freqs.weight' is -2 at index 3"]),
    Bad("D08-nan", factors(NAN, 1, 1, 1), "config-value", ["'rope_freqs.weight' is nan at index 0"]),
    Bad("D08-infinite", factors(1, 1, float("inf"), 1), "config-value", ["'rope_freqs.weight' is inf at index 2"]),
    Bad("D09-foo", scaled("foo", 4.0), "config-unsupported", "'foo'"),
    Bad("D09-factor-0", scaled("linear", 0.0), "config-value", "llama.rope.scaling.factor"),
    Bad("D09-factor-nan", scaled("linear", NAN), "config-value", "llama.rope.scaling.factor"),
    Bad("D10-yarn", scaled("yarn", 4.0), "config-unsupported", "'yarn'"),
    Bad("D10-attention-factor", key("llama.rope.scaling.attn_factor", F32, 1.1), "config-unsupported", "attn_factor"),
    Bad("D11-longrope", scaled("longrope"), "config-unsupported", "'longrope'"),
    Bad("D11-longrope-tensors", tensor("rope_factors_long.weight", [4]), "tensor-link", "'rope_factors_long.weight'"),
    Bad("D15-gemma2", key("general.architecture", STRING, "gemma2"), "architecture", "'gemma2'"),
    Bad("D24-a-quarter-of-20", lambda: llama(head_dim=20).set(ROTATED, U32, 5).bytes(), "config-value", [ROTATED, "5", "even"]),
    Bad("D24-wider-than-the-head", key(ROTATED, U32, 10), "config-value", [ROTATED, "10", "8"]),
    Bad("D26-experts", tensor("blk.0.ffn_gate_exps.weight", [32, 64, 4]), "tensor-link", "'blk.0.ffn_gate_exps.weight'"),
    Bad("D26-expert-scale", key("llama.expert_weights_scale", F32, 2.5), "config-unsupported", "expert_weights_scale"),
    Bad("D27-phi3", key("general.architecture", STRING, "phi3"), "architecture", "'phi3'"),
    Bad("D28-embedding-scale", key("llama.embedding_scale", F32, 12.0), "config-unsupported", "llama.embedding_scale"),
    Bad("D28-residual-scale", key("llama.residual_scale", F32, 0.22), "config-unsupported", "llama.residual_scale"),
    Bad("D28-attention-scale", key("llama.attention.scale", F32, 0.0156), "config-unsupported", "llama.attention.scale"),
    Bad("D28-logit-scale", key("llama.logit_scale", F32, 8.0), "config-unsupported", "llama.logit_scale"),
    Bad("D30-clamp", key("llama.attention.clamp_kqv", F32, 2.0), "config-unsupported", "clamp_kqv"),
    Bad("D30-swiglu", key("llama.swiglu_limit", F32, 7.0), "config-unsupported", "swiglu_limit"),
    Bad("D30-parallel", key("llama.use_parallel_residual", BOOL, 1), "config-unsupported", "use_parallel_residual"),
    Bad("H03-alibi", key("llama.attention.max_alibi_bias", F32, 8.0), "config-unsupported", "max_alibi_bias"),
]


@pytest.mark.parametrize("bad", REFUSED, ids=lambda bad: bad.name)
def test_is_refused_by_name(bad, tmp_path):
    model = tmp_path / "bad.gguf"
    model.write_bytes(bad.build())
    check_refused(headrace("export", model, "-o", tmp_path / "out", "--seq", "16", "--json", "--progress", "none"), bad)
    assert {p.name for p in tmp_path.iterdir()} == {"bad.gguf"}


def programs_and_weights(model, directory, *options):
    """What an export of the model holds, but for what names the source's files and places in them; and its warnings."""
    done = headrace("export", model, "-o", directory, "--seq", "16", "--progress", "none", *options)
    assert done.code == 0, done.err
    module = (directory / "module.hir").read_text()
    files = {name: digest for name, digest in tree(directory).items() if not name.startswith(("manifest.json", "module"))}
    # Recipes tell where a tensor lies in the source.
    return files | {"module": re.sub(r'source "([^"]*)" ("\w+") \d+ \d+ ', r"source \1 \2 ", module)}, done.err


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    folder = tmp_path_factory.mktemp("plain")
    return programs_and_weights(llama().write(folder / "toy.gguf"), folder / "out")[0]


SAME = {
    "A14-empty-arrays": lambda m: m.set("x.list", ARRAY, (I32, [])).set("x.names", ARRAY, (STRING, [])).set("x.text", STRING, ""),
    "A15-scores-as-u8": lambda m: m.set(SCORES, ARRAY, (U8, [1] * 48)),
    "A15-types-as-i8": lambda m: m.set(KINDS, ARRAY, (I8, [3] * 3 + [1] * 45)),
    "A15-types-as-u8": lambda m: m.set(KINDS, ARRAY, (U8, [3] * 3 + [1] * 45)),
    "A17-i32": lambda m: m.set(HEADS_KV, I32, 2),
    "A17-u64": lambda m: m.set(HEADS_KV, U64, 2),
    "A17-array-u32": lambda m: m.set(HEADS_KV, ARRAY, (U32, [2, 2])),
    "A17-array-i32": lambda m: m.set(HEADS_KV, ARRAY, (I32, [2, 2])),
    "A17-array-u8": lambda m: m.set(HEADS_KV, ARRAY, (U8, [2, 2])),
    "A17-hidden-i32": lambda m: m.set(HIDDEN, I32, 64),
    "A17-hidden-u64": lambda m: m.set(HIDDEN, U64, 64),
    "A17-hidden-array-u32": lambda m: m.set(HIDDEN, ARRAY, (U32, [64, 64])),
    "A17-hidden-array-i32": lambda m: m.set(HIDDEN, ARRAY, (I32, [64, 64])),
    "A20-version-2": lambda m: setattr(m, "version", 2),
    "A23-vision": lambda m: m.add("v.blk.0.attn_q.weight", [8]).add("mm.0.weight", [8]),
    "D05-derived-width": lambda m: m.drop("llama.attention.key_length", "llama.attention.value_length", "llama.rope.dimension_count"),
    "D07-base-absent": lambda m: m.drop(BASE),
    "D07-base-f64": lambda m: m.set(BASE, F64, 10000.0),
    "D07-base-u32": lambda m: m.set(BASE, U32, 10000),
    "D09-linear-without-factor": lambda m: m.set("llama.rope.scaling.type", STRING, "linear"),
    "D09-none": lambda m: m.set("llama.rope.scaling.type", STRING, "none"),
    "D21-vocab-size-45": lambda m: m.set("llama.vocab_size", U32, 45),
    "D21-vocab-size-absent": lambda m: m.drop("llama.vocab_size"),
    "D24-the-whole-head": lambda m: m.drop(ROTATED),
    "D29-eps-as-f64": lambda m: m.set(EPS, F64, struct.unpack("<f", struct.pack("<f", 1e-5))[0]),
    "H14-odd-names": lambda m: m.add('a"b', [1]).add("a\\b", [1]).add("a b", [1]).add("0abc", [1]).add("main", [1]),
}
WARNED = {"A23-vision": "v.blk.0.attn_q.weight", "D07-base-absent": BASE, "D09-linear-without-factor": "scaling.factor",
          "H14-odd-names": "5 tensors"}


@pytest.mark.parametrize("name", sorted(SAME))
def test_another_spelling_is_the_same_model(name, plain, tmp_path):
    model = llama()
    SAME[name](model)
    files, warnings = programs_and_weights(model.write(tmp_path / "other.gguf"), tmp_path / "out")
    assert files == plain
    assert WARNED.get(name, "") in warnings


def test_a_wider_head_than_width_over_heads_d05(tmp_path):
    model = llama(head_dim=16).write(tmp_path / "wide.gguf")
    done = headrace("inspect", model, "--json")
    assert done.json["export"]["accepted"], done.out
    assert {"name": "head_width", "value": "16", "origin": "key llama.attention.key_length"} in done.json["configuration"]


def in_parts(model, sizes, folder):
    """m-0000i-of-0000n.gguf with the metadata in part 1; returns their paths."""
    paths, start = [], 0
    for number, size in enumerate(sizes):
        part = Gguf(kvs=list(model.kvs) if number == 0 else [])
        part.set("split.no", U16, number).set("split.count", U16, len(sizes))
        part.set("split.tensors.count", I32, len(model.tensors))
        part.tensors = model.tensors[start : start + size]
        start += size
        paths.append(part.write(folder / f"m-{number + 1:05}-of-{len(sizes):05}.gguf"))
    return paths


def test_a_model_in_parts_is_the_same_model_b01_b03(plain, tmp_path):
    """Part 1 holds no tensor; any part may be given."""
    paths = in_parts(llama(), (0, 7, 7, 7), tmp_path)
    for number in (0, 1, 3):
        assert programs_and_weights(paths[number], tmp_path / f"out{number}")[0] == plain


def test_parts_joined_and_parts_lost_b04(tmp_path):
    paths = in_parts(llama(), (10, 11), tmp_path)
    joined = tmp_path / "joined.gguf"
    joined.write_bytes(paths[0].read_bytes() + paths[1].read_bytes())
    for model, part in ((joined, "split.count is 2"), (paths[0], "m-00002-of-00002.gguf")):
        if model == paths[0]:
            paths[1].unlink()
        done = headrace("export", model, "-o", tmp_path / "out", "--json")
        assert done.code == 1 and done.json["error"]["code"] == "gguf-split" and part in done.err
        assert not (tmp_path / "out").exists()


GREEDY = [
    ("key", text(b"")[:-8] + struct.pack("<Q", 2**63)),
    ("string", text("k") + struct.pack("<IQ", STRING, 2**40)),
    ("f64s", text("k") + struct.pack("<IIQ", ARRAY, F64, 2**61)),
    ("strings", text("k") + struct.pack("<IIQ", ARRAY, STRING, 2**32)),
    ("nested", text("k") + struct.pack("<I", ARRAY) + struct.pack("<IQ", ARRAY, 1) * 3000 + encode(ARRAY, (U8, [1]))),
]


@pytest.mark.parametrize("name,claim", GREEDY, ids=[name for name, _ in GREEDY])
def test_a_length_is_not_believed_a03_a13(name, claim, tmp_path):
    """50 bytes that ask for terabytes: an error at once, in a process that may not have more than 50 MB over what it starts with."""
    model = tmp_path / "greedy.gguf"
    model.write_bytes(b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + claim)

    def bounded():
        resource.setrlimit(resource.RLIMIT_DATA, (64 << 20, 64 << 20))

    began = time.monotonic()
    done = subprocess.run([PROGRAM, "inspect", model], capture_output=True, text=True, preexec_fn=bounded, timeout=60)
    assert done.returncode == 1 and len(done.stderr.splitlines()) == 1 and str(model) in done.stderr, done.stderr
    assert time.monotonic() - began < 5


@pytest.fixture(scope="module")
def top(tmp_path_factory):
    """Logits of a few tokens at the last position, of an export of the model."""
    folder = tmp_path_factory.mktemp("top")

    def logits(model):
        out = folder / str(len(list(folder.iterdir())))
        done = headrace("export", model.write(folder / "m.gguf"), "-o", out, "--seq", "16")
        assert done.code == 0, done.err
        done = headrace("run", out, "score", "--tokens", "5,6,7,5,9", "--top", "48", "--json")
        assert done.code == 0, done.err
        return {row["id"]: row["logit"] for row in done.json["top"]}

    return logits


def test_rope_factors_of_one_change_nothing_and_others_do_d08(top):
    with_factors = [top(llama().add("rope_freqs.weight", [4], struct.pack("<4f", *factors)))
                    for factors in ((1, 1, 1, 1), (1, 7.667385, 8, 8))]
    assert with_factors[0] == top(llama())
    assert with_factors[1] != with_factors[0]


def test_an_output_matrix_in_the_file_is_used_d20(top):
    assert top(llama()) != top(llama(tied=True))


def with_head(change=lambda data: data, type=0):
    """The tied toy model with a copy of the embedding as its output matrix."""
    model = llama(tied=True)
    return model.add("output.weight", [32, 48], change(model.tensor("token_embd.weight").data), type)


def test_a_copy_of_the_embedding_is_stored_once_d20(tmp_path):
    tied, _ = programs_and_weights(llama(tied=True).write(tmp_path / "tied.gguf"), tmp_path / "tied")
    copied, warned = programs_and_weights(with_head().write(tmp_path / "copied.gguf"), tmp_path / "copied")
    assert copied == tied
    assert "'output.weight' is a copy of 'token_embd.weight'" in warned
    done = headrace("inspect", tmp_path / "copied.gguf", "--json")
    assert done.json["tied_head"] is True and done.json["tensors"] == len(with_head().tensors)
    assert headrace("inspect", tmp_path / "copied.gguf", "--tensor", "output.weight").code == 0


@pytest.mark.parametrize("name, change", [
    ("last-byte", lambda data: data[:-1] + bytes([data[-1] ^ 1])),
    ("between-probes", lambda data: data[:3000] + bytes([data[3000] ^ 1]) + data[3001:]),
])
def test_a_head_that_differs_is_its_own_d20(name, change, tmp_path):
    done = headrace("inspect", with_head(change).write(tmp_path / "m.gguf"), "--json")
    assert done.json["tied_head"] is False and done.json["warnings"] == []


def test_holes_are_no_copies_d20(tmp_path):
    """A sparse checkpoint of zeros has equal matrices by accident."""
    model = llama()
    for name in ("token_embd.weight", "output.weight"):
        model.tensor(name).data = bytes(4 * 32 * 48)
    assert headrace("inspect", model.write(tmp_path / "m.gguf"), "--json").json["tied_head"] is False
