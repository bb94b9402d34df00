#!/usr/bin/env python3
"""Writes the seeds that fuzzing starts from: testdata/fuzz/<target>/seed-*. What fuzzing found lies beside them and stays.

    PYTHONPATH=python .venv/bin/python testdata/fuzz/make_seeds.py --headrace build/dev/headrace

Small files that reach far: toy models of every architecture, every kind of metadata value, one function for each op, the modules
of the unit tests, and what an export of a toy writes.
"""

import argparse
import json
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path += [str(ROOT / "tests/cli"), str(ROOT / "tests/engines")]
import fixkit  # noqa: E402
import hir  # noqa: E402
from fixkit import ARRAY, BOOL, F32, F64, I8, I16, I32, I64, STRING, U8, U16, U32, U64  # noqa: E402

MARK = b"=NEXTPART="
SMALL = dict(layers=1, width=4, ffn=4, heads=2, kv_heads=1, head_dim=2, vocab=6)


def seed(target, name, data):
    path = HERE / target / f"seed-{name}"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(data if isinstance(data, bytes) else data.encode())


def rich_llama():
    """Biases, RoPE divisors, scaling, an untied head, a second layer."""
    model = fixkit.llama(**{**SMALL, "layers": 2})
    for layer in range(2):
        for part, size in (("attn_q", 4), ("attn_k", 2), ("attn_v", 2), ("attn_output", 4), ("ffn_gate", 4), ("ffn_down", 4)):
            model.add(f"blk.{layer}.{part}.bias", [size])
    model.add("rope_freqs.weight", [1], struct.pack("<f", 1.5))
    model.set("llama.rope.scaling.type", STRING, "linear").set("llama.rope.scaling.factor", F32, 2.0)
    model.set("llama.attention.head_count_kv", ARRAY, (U32, [1, 1]))
    model.set("tokenizer.ggml.add_bos_token", BOOL, 1).set("tokenizer.ggml.scores", ARRAY, (F32, [0.5] * 6))
    return model


def gemma3():
    model = fixkit.llama(**SMALL, tied=True)
    model.kvs = [(k.replace("llama.", "gemma3."), t, v) for k, t, v in model.kvs]
    model.set("general.architecture", STRING, "gemma3").set("tokenizer.ggml.model", STRING, "llama")
    for key, kind, value in (("attention.sliding_window", U32, 2), ("attention.sliding_window_pattern", ARRAY, (BOOL, [1])),
                             ("final_logit_softcapping", F32, 30.0), ("attn_logit_softcapping", F32, 50.0),
                             ("rope.freq_base_swa", F32, 1e4)):
        model.set(f"gemma3.{key}", kind, value)
    for name, size in (("attn_q_norm", 2), ("attn_k_norm", 2), ("post_attention_norm", 4), ("post_ffw_norm", 4)):
        model.add(f"blk.0.{name}.weight", [size])
    return model


def quantised():
    """One tensor of every block type that ids 0 to 42 may name; no model."""
    blocks = {0: (1, 4), 1: (1, 2), 2: (32, 18), 3: (32, 20), 6: (32, 22), 7: (32, 24), 8: (32, 34), 9: (32, 36), 10: (256, 84),
              11: (256, 110), 12: (256, 144), 13: (256, 176), 14: (256, 210), 20: (32, 18), 24: (1, 1), 28: (1, 8), 30: (1, 2),
              39: (32, 17)}
    model = fixkit.Gguf(alignment=8)
    model.set("general.alignment", U32, 8)
    for number, (elements, size) in blocks.items():
        model.add(f"t{number}", [elements], bytes(size), type=number)
    return model


def values():
    model = fixkit.Gguf()
    samples = {U8: 255, I8: -1, U16: 65535, I16: -2, U32: 7, I32: -3, F32: 0.5, BOOL: 1, STRING: "s", U64: 2**63, I64: -4, F64: 0.25}
    for kind, value in samples.items():
        model.set(f"one.{kind}", kind, value).set(f"many.{kind}", ARRAY, (kind, [value] * 3)).set(f"none.{kind}", ARRAY, (kind, []))
    return model


def parts(model, sizes):
    out, start = [], 0
    for number, size in enumerate(sizes):
        part = fixkit.Gguf(kvs=list(model.kvs) if number == 0 else [])
        part.set("split.no", U16, number).set("split.count", U16, len(sizes))
        part.set("split.tensors.count", I32, len(model.tensors))
        part.tensors = model.tensors[start : start + size]
        start += size
        out.append(part.bytes())
    return MARK.join(out)


def gguf_seeds():
    for name, model in (("llama", fixkit.llama(**SMALL)), ("rich-llama", rich_llama()), ("gemma3", gemma3()),
                        ("types", quantised()), ("values", values()), ("empty", fixkit.Gguf())):
        seed("gguf", name, model.bytes())
    model = fixkit.llama(**SMALL)
    seed("gguf_split", "three", parts(model, (0, 5, 7)))
    seed("gguf_split", "one", parts(model, (12,)))
    seed("gguf_split", "alone", model.bytes())


def hir_seeds():
    cases = {}
    for case in hir.goldens()["cases"]:
        kinds = {hir.goldens()["tensors"][i]["dtype"] for i in case["operands"] + case["expected"]}
        cases.setdefault((case["op"], "body" in case, len(kinds)), case)
    for (op, body, _), case in cases.items():
        seed("hir", f"{op}{'-body' if body else ''}-{len({*case['operands']})}", hir.module("m", [hir.function("f", [case])]))
    texts = set()
    for path in sorted(ROOT.glob("src/*/*_test.cpp")):
        for text in re.findall(r'R"\((.*?)\)"', path.read_text(), re.DOTALL):
            if re.match(r"\n(symbol|recipe|parameter|func)\b", text):
                texts.add('headrace.module 1 "m"' + text)
            elif text.startswith("headrace.module"):
                texts.add(text)
    for number, text in enumerate(sorted(texts)):
        seed("hir", f"test-{number:02}", text)


def export_seeds(headrace):
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        fixkit.llama(**SMALL).write(folder / "toy.gguf")
        subprocess.run([headrace, "export", folder / "toy.gguf", "-o", folder / "out", "--seq", "4"], check=True,
                       stdout=subprocess.DEVNULL)
        seed("hir", "llama", (folder / "out/module.hir").read_bytes())
        seed("manifest", "llama", (folder / "out/manifest.json").read_bytes())
        seed("vocabulary", "gpt2", (folder / "out/vocabulary.json").read_bytes())
        subprocess.run([headrace, "export", folder / "toy.gguf", "-o", folder / "irpa", "--seq", "4", "--weights", "irpa"],
                       check=True, stdout=subprocess.DEVNULL)
        seed("archive", "irpa", next((folder / "irpa").glob("*.irpa")).read_bytes())
    page = (ROOT / "docs/manifest.md").read_text()
    seed("manifest", "documented", page.split("```json\n")[1].split("```")[0])
    seed("manifest", "least", '{"format": "headrace.manifest", "version": 1, "requires": []}')
    seed("vocabulary", "llama", '''{
"format": "headrace.tokenizer", "version": 1, "model": "llama", "bos": 0, "add_bos": true, "add_space_prefix": true,
"pieces": ["\\u2581a", [255, 0], "<0x0A>"], "types": [1, 4, 6], "scores": [0, -1.5, 2]}''')
    steps = {"version": "1.0", "added_tokens": [{"id": 3, "content": "<s>", "special": True, "lstrip": True}],
             "normalizer": {"type": "Sequence", "normalizers": [{"type": "NFC"}, {"type": "Replace", "pattern": {"Regex": "[0-9]+"}, "content": "b"}]},
             "pre_tokenizer": {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "first", "split": True},
             "post_processor": {"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
                                "special_tokens": {"<s>": {"id": "<s>", "ids": [3], "tokens": ["<s>"]}}},
             "decoder": {"type": "Sequence", "decoders": [{"type": "Replace", "pattern": {"String": "\u2581"}, "content": " "}, {"type": "Fuse"}, {"type": "Strip", "content": " ", "start": 1, "stop": 0}]}}
    bpe = {"type": "BPE", "unk_token": "a", "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": [["a", "b"]]}
    unigram = {"type": "Unigram", "unk_id": 0, "vocab": [["a", 0], ["b", -1.5], ["ab", -2]]}
    byte_level = {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True}
    seed("vocabulary", "hf_bpe", json.dumps({**steps, "model": bpe}))
    seed("vocabulary", "hf_unigram", json.dumps({**steps, "model": unigram}))
    seed("vocabulary", "hf_bytes", json.dumps({**steps, "pre_tokenizer": byte_level, "decoder": byte_level, "model": bpe}))


def archive_seeds():
    def archive(entries, data):
        header = json.dumps(entries, separators=(",", ":")).encode()
        header += b" " * (256 - len(header))
        return struct.pack("<Q", len(header)) + header + data

    good = {"a": {"dtype": "F32", "shape": [2, 4], "data_offsets": [0, 32]}, "b": {"dtype": "I8", "shape": [], "data_offsets": [32, 33]}}
    seed("archive", "good", archive(good, bytes(33)))
    seed("archive", "metadata", archive({"__metadata__": {"format": "pt"}, **good}, bytes(33)))
    seed("archive", "less", archive({"a": good["a"]}, bytes(33)))


LLAMA_CONFIG = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 4, "intermediate_size": 4,
                "num_hidden_layers": 1, "num_attention_heads": 2, "num_key_value_heads": 1, "head_dim": 2,
                "max_position_embeddings": 8, "rms_norm_eps": 1e-5, "hidden_act": "silu", "tie_word_embeddings": True,
                "vocab_size": 6, "rope_parameters": {"rope_theta": 10000.0, "rope_type": "default"}}


# Tiny models of every dialect: members of config.json beyond those of LLAMA_CONFIG, and tensors of a layer beyond Llama's.
NORMS = {"self_attn.q_norm.weight": [2], "self_attn.k_norm.weight": [2]}
DIALECTS = {
    "llama": ({}, {}),
    "mistral": ({"sliding_window": 3, "tie_word_embeddings": False}, {}),
    "qwen2": ({"use_sliding_window": False, "max_window_layers": 1, "layer_types": ["full_attention"]},
              {f"self_attn.{part}_proj.bias": [size] for part, size in (("q", 4), ("k", 2), ("v", 2))}),
    "qwen3": ({"attention_bias": False, "rope_scaling": None}, NORMS),
    "gemma3_text": ({"hidden_activation": "gelu_pytorch_tanh", "query_pre_attn_scalar": 2, "sliding_window": 2,
                     "layer_types": ["sliding_attention"], "final_logit_softcapping": None, "rope_parameters": {
                         "full_attention": {"rope_theta": 1e6, "rope_type": "linear", "factor": 8.0},
                         "sliding_attention": {"rope_theta": 1e4, "rope_type": "default"}}},
                    {**NORMS, "pre_feedforward_layernorm.weight": [4], "post_feedforward_layernorm.weight": [4]}),
}


def hf_config(model_type):
    config = {**LLAMA_CONFIG, "model_type": model_type, **DIALECTS[model_type][0]}
    if model_type == "gemma3_text":
        del config["hidden_act"]
    return config


def hf_tensors(model_type, prefix="model.", head="lm_head"):
    parts = {"input_layernorm.weight": [4], "post_attention_layernorm.weight": [4], "self_attn.q_proj.weight": [4, 4],
             "self_attn.k_proj.weight": [2, 4], "self_attn.v_proj.weight": [2, 4], "self_attn.o_proj.weight": [4, 4],
             "mlp.gate_proj.weight": [4, 4], "mlp.up_proj.weight": [4, 4], "mlp.down_proj.weight": [4, 4],
             **DIALECTS[model_type][1]}
    tensors = {prefix + "embed_tokens.weight": [6, 4], prefix + "norm.weight": [4],
               **{f"{prefix}layers.0.{name}": shape for name, shape in parts.items()}}
    if not hf_config(model_type)["tie_word_embeddings"]:
        tensors[head + ".weight"] = [6, 4]
    return {name: ("F32", shape) for name, shape in tensors.items()}


def wrap(config):
    return {"architectures": ["Gemma3ForConditionalGeneration"], "model_type": "gemma3", "text_config": config,
            "vision_config": {"hidden_size": 8}, "eos_token_id": [1, 106], "sliding_window": None}


def pack(*texts):
    return MARK.join(t if isinstance(t, bytes) else json.dumps(t, separators=(",", ":")).encode() for t in texts)


def dialect_seeds():
    make = fixkit.safetensors
    models = {name: (hf_config(name), hf_tensors(name)) for name in DIALECTS}
    foreign = {"vision_tower.patch.weight": ("F16", [2, 2])}
    models["wrapped"] = (wrap(hf_config("gemma3_text")),
                         {**hf_tensors("gemma3_text", "language_model.model.", "language_model.lm_head"), **foreign})
    for name, (config, tensors) in models.items():
        seed("config", name, pack(config))
        seed("safetensors", name, make(tensors, metadata={"format": "pt"}))
        index = {"metadata": {"total_size": 0}, "weight_map": {tensor: "s1.safetensors" for tensor in tensors}}
        seed("safetensors_index", name, pack(config, index, make(tensors)))
    scaled = {"rope_type": "llama3", "rope_theta": 5e5, "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
              "original_max_position_embeddings": 4}
    seed("config", "llama3", pack({**LLAMA_CONFIG, "rope_parameters": scaled, "head_dim": 2}))
    old = {k: v for k, v in LLAMA_CONFIG.items() if k != "rope_parameters"}
    seed("config", "old-linear", pack({**old, "rope_theta": 1e4, "rope_scaling": {"type": "linear", "factor": 2.0}}))
    two = {"num_hidden_layers": 2, "layer_types": ["sliding_attention", "full_attention"], "sliding_window_pattern": 2}
    seed("config", "gemma3-two", pack({**hf_config("gemma3_text"), **two}))


def safetensors_seeds():
    make = fixkit.safetensors
    llama = hf_tensors("llama")
    seed("safetensors", "types", make({name: (name, [4, 2]) for name in fixkit.SAFETENSORS_BITS}))
    seed("safetensors", "odd", make({"scalar": ("F32", []), "none": ("F32", [0, 4]), "one": ("I8", [1, 1, 1, 1])}))
    seed("safetensors", "nothing", make({}))

    names = list(llama)
    shards = [{n: llama[n] for n in part} for part in (names[:4], names[4:])]
    weight_map = {n: f"s{i + 1}.safetensors" for i, part in enumerate(shards) for n in part}
    index = {"metadata": {"total_size": 464}, "weight_map": weight_map}
    seed("safetensors_index", "two", pack(LLAMA_CONFIG, index, *map(make, shards)))
    seed("safetensors_index", "one", pack({}, {"weight_map": {"a": "s1.safetensors"}}, make({"a": ("F32", [1])})))
    seed("safetensors_index", "missing", pack({}, {"weight_map": {"a": "s3.safetensors"}}))

    generation = {"_from_model_config": True, "bos_token_id": 1, "eos_token_id": [2, 3], "temperature": 0.6}
    tokenizer = {"add_bos_token": True, "bos_token": {"content": "<s>", "lstrip": False}, "tokenizer_class": "LlamaTokenizer",
                 "added_tokens_decoder": {"0": {"content": "<unk>"}}, "model_max_length": 1e30, "chat_template": "{{ x }}"}
    lists = {"bools": [True, False], "ints": [1, -2], "floats": [1, 2.5], "strings": ["a"], "none": [], "nested": [[1], {}],
             "large": [2**64 - 1], "number": 2**63, "object": {}}
    seed("config", "three", pack(LLAMA_CONFIG, generation, tokenizer))
    seed("config", "lists", pack(lists))


def npy_seeds():
    for name, version, text, data in (("v1", 1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }", bytes(24)),
                                      ("v2", 2, "{'descr': '<i8', 'fortran_order': False, 'shape': (), }", bytes(8)),
                                      ("bool", 1, "{'shape': (3,), 'fortran_order': True, 'descr': '|b1'}", bytes(3))):
        length = struct.pack("<H" if version == 1 else "<I", len(text) + 1)
        seed("npy", name, b"\x93NUMPY" + bytes([version, 0]) + length + text.encode() + b"\n" + data)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--headrace", default=ROOT / "build/dev/headrace", type=pathlib.Path)
    headrace = parser.parse_args().headrace
    for old in HERE.glob("*/seed-*"):
        old.unlink()
    gguf_seeds()
    hir_seeds()
    export_seeds(headrace.resolve())
    archive_seeds()
    safetensors_seeds()
    dialect_seeds()
    npy_seeds()


if __name__ == "__main__":
    main()
