"""Faults that users of other exporters and runtimes reported in public, made again as GGUF files: what must be refused is refused
by name, what is legal is read, and two spellings of one model give one model. `reports` on a row or a test names the entry of the
collection of reports; where another file tests an entry, this table says where.

    A01 A02 A03 A04 A06 A09 A11 A12 A13 A19 A20 A22   src/formats/gguf_bad_test.cpp (a name starts with its id), and CONTAINER in
                                                      test_bad_models.py; A03 with bounded memory here
    A07 A09 A11 A12 A14 A20 A21 A22 A23 C09           src/formats/gguf_test.cpp (a name ends with its id)
    A10 B01 B02 B03 B04                               src/formats/gguf_split_test.cpp; B01, B03 as whole exports here
    A15 A16 A17 A18 D07 D29                           src/formats/meta_test.cpp, src/models/llama_test.cpp; more of each here
    A16 D12 D14 D19                                   src/models/gemma3_test.cpp; D19's logits: src/exporter/zoo_test.cpp
    C01 C02 C03 C04 C05 C06 C08 C09                   src/formats/safetensors_test.cpp, src/quant/decode_test.cpp (C08's values), and
                                                      test_bad_directories.py; C05: an unknown dtype is refused, wanted or not
    C10 C12                                           src/formats/hf_directory_test.cpp, test_bad_directories.py; C10: a second copy
                                                      of a tensor is refused, whichever the index names
    D01 D04 D05 D08 D09 D21 D30                       src/models/llama_test.cpp, src/exporter/perturbation_test.cpp (every key and
                                                      every tensor moves the logits); more here
    E01 E03 E05 E06 E07                               src/quant/decode_test.cpp, src/weights/executor_test.cpp (E07)
    H03                                               all that is refused here, for want of an op: MoE, ALiBi, clamps, norms
    H04                                               tests/cli/test_environment.py (a sparse model of terabytes)

Not here: a factor of 0 in rope_freqs.weight (D08) and an output matrix that equals the embedding (D20: it is stored twice)
need weight bytes, which are not read before the export writes them; feed_forward_length as an array (A17) is refused, not
read. D03, D06, D16 to D18, D20's flags, D22 and C08's siblings (`weight_scale_inv`) are about models in safetensors and
config.json. D10, D11, D15, D24, D26 to D28 are architectures or scalings that are refused by name (rows below). E04 and E08
are block types and modes that do not exist here. F, G and the rest of H are about passes, caches and engines.
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
    Bad("A17-hidden-as-texts", key("llama.feed_forward_length", ARRAY, (STRING, ["64"])), "config-value", "feed_forward_length"),
    Bad("A18-513-layers", key("llama.block_count", U32, 513), "tensor-link", ["513", "blk.2.attn_norm.weight"]),
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
    Bad("D09-foo", scaled("foo", 4.0), "config-unsupported", "'foo'"),
    Bad("D09-factor-0", scaled("linear", 0.0), "config-value", "llama.rope.scaling.factor"),
    Bad("D09-factor-nan", scaled("linear", NAN), "config-value", "llama.rope.scaling.factor"),
    Bad("D10-yarn", scaled("yarn", 4.0), "config-unsupported", "'yarn'"),
    Bad("D10-attention-factor", key("llama.rope.scaling.attn_factor", F32, 1.1), "config-unsupported", "attn_factor"),
    Bad("D11-longrope", scaled("longrope"), "config-unsupported", "'longrope'"),
    Bad("D11-longrope-tensors", tensor("rope_factors_long.weight", [4]), "tensor-link", "'rope_factors_long.weight'"),
    Bad("D15-gemma2", key("general.architecture", STRING, "gemma2"), "architecture", "'gemma2'"),
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
    tied, untied = llama(tied=True), llama()
    equal = llama(tied=True)
    equal.add("output.weight", [32, 48], equal.tensor("token_embd.weight").data)
    assert top(equal) == top(tied)
    assert top(untied) != top(tied)
