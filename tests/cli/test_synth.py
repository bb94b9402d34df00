"""`headrace synth`: what it makes is what the other commands take."""

import json
import signal

import gguf
import numpy as np
import pytest
from conftest import HalfWay, headrace


def test_random_checkpoint_runs(tmp_path):
    model = tmp_path / "m.gguf"
    done = headrace("synth", "llama-tiny", "-o", model, "--types", "Q8_0", "--fill", "random", "--set", "layers=3,tied=1",
                    "--json")
    assert done.code == 0 and done.json["files"] == [str(model)] and done.json["tensors"] == 3 * 9 + 2
    assert model.stat().st_size == done.json["bytes"]
    assert headrace("export", model, "-o", tmp_path / "out", "--seq", "8").code == 0
    ran = headrace("run", tmp_path / "out", "score", "--tokens", "1,2,1023")
    assert ran.code == 0, ran.err


def test_gguf_py_reads_it(tmp_path):
    """Another reader sees the tensors, and weights that are even between the bounds they are drawn from."""
    assert headrace("synth", "llama-tiny", "-o", tmp_path / "m.gguf", "--types", "Q4_K_M", "--fill", "random").code == 0
    reader = gguf.GGUFReader(tmp_path / "m.gguf")
    types = {t.name: t.tensor_type.name for t in reader.tensors}
    assert types["output.weight"] == "Q6_K" and types["blk.0.attn_q.weight"] == "Q4_K" and types["output_norm.weight"] == "F32"
    for t in reader.tensors:
        values = gguf.quants.dequantize(t.data, t.tensor_type)
        assert np.isfinite(values).all() and abs(values.std() - (0.0577 if values.ndim == 1 else 0.02)) < 0.02, t.name


def test_holes_take_no_space_and_splitting_makes_parts(tmp_path):
    done = headrace("synth", "llama-3-8b", "-o", tmp_path / "m.gguf", "--split", "1GB")
    assert done.code == 0 and "holes" in done.out and done.err == ""
    parts = sorted(tmp_path.iterdir())
    assert len(parts) > 3 and sum(p.stat().st_size for p in parts) > 4_000_000_000
    assert sum(512 * p.stat().st_blocks for p in parts) < 1_000_000
    assert headrace("inspect", parts[2]).code == 0


def tensors_of(path):
    """Of one safetensors file, by its published format: u64 length, JSON, data."""
    raw = path.read_bytes()
    data = 8 + int.from_bytes(raw[:8], "little")
    header = json.loads(raw[8:data])
    assert header.pop("__metadata__") == {"format": "pt"}
    assert max(t["data_offsets"][1] for t in header.values()) == len(raw) - data
    out = {}
    for name, t in header.items():
        begin, end = t["data_offsets"]
        kind = {"F32": "<f4", "F16": "<f2", "BF16": "<u2"}[t["dtype"]]
        out[name] = np.frombuffer(raw[data + begin:data + end], kind).reshape(t["shape"])
    return out


TINY = "layers=2,width=64,hidden=96,heads=4,kv_heads=2,head_width=32,vocabulary=300,context=64"
HF = [("llama-tiny", "llama", "LlamaForCausalLM", "silu"), ("mistral-nemo-12b", "mistral", "MistralForCausalLM", "silu"),
      ("gemma-3-27b", "gemma3_text", "Gemma3ForCausalLM", None), ("qwen2.5-7b", "qwen2", "Qwen2ForCausalLM", "silu"),
      ("qwen3-8b", "qwen3", "Qwen3ForCausalLM", "silu")]


@pytest.mark.parametrize("preset, model_type, architecture, act", HF)
def test_hugging_face_directory_runs(tmp_path, preset, model_type, architecture, act):
    model = tmp_path / "m"
    done = headrace("synth", preset, "-o", model, "--format", "safetensors", "--fill", "random", "--set", TINY, "--split",
                    "60kB", "--json")
    assert done.code == 0, done.err
    assert sorted(done.json["files"]) == sorted(map(str, model.iterdir()))
    assert sum(p.stat().st_size for p in model.iterdir()) == done.json["bytes"]
    config = json.loads((model / "config.json").read_text())
    wanted = {"model_type": model_type, "architectures": [architecture], "hidden_act": act, "torch_dtype": "bfloat16",
              "num_hidden_layers": 2, "hidden_size": 64, "intermediate_size": 96, "num_attention_heads": 4,
              "num_key_value_heads": 2, "head_dim": 32, "vocab_size": 300, "max_position_embeddings": 64}
    assert {k: config.get(k) for k in wanted} == wanted
    index = json.loads((model / "model.safetensors.index.json").read_text())
    shards = sorted(model.glob("*.safetensors"))
    assert [p.name for p in shards] == [f"model-{i + 1:05}-of-{len(shards):05}.safetensors" for i in range(len(shards))]
    assert len(shards) > 2
    held = {name: (p.name, t) for p in shards for name, t in tensors_of(p).items()}
    assert index["weight_map"] == {name: shard for name, (shard, _) in held.items()}
    assert index["metadata"]["total_size"] == sum(t.nbytes for _, t in held.values())
    shown = headrace("inspect", model, "--json")
    assert shown.code == 0 and shown.json["tensors"] == len(held) == done.json["tensors"]
    assert headrace("export", model, "-o", tmp_path / "out", "--seq", "8").code == 0
    ran = headrace("run", tmp_path / "out", "score", "--tokens", "1,2,299")
    assert ran.code == 0, ran.err


def hf_rows(values, heads):
    """Rows of q or k of a llama GGUF in Hugging Face's order: pairs in halves of a head, not side by side."""
    rows = values.shape[0]
    return values.reshape(heads, rows // heads // 2, 2, -1).swapaxes(1, 2).reshape(values.shape)


@pytest.mark.parametrize("preset", ["llama-tiny", "gemma-3-27b", "qwen2.5-7b", "qwen3-8b"])
def test_one_seed_is_one_model_in_both_formats(tmp_path, preset):
    same = (preset, "--types", "F32", "--fill", "random", "--seed", "7", "--set", TINY, "--quiet", "-o")
    assert headrace("synth", *same, tmp_path / "m.gguf").code == 0
    assert headrace("synth", *same, tmp_path / "m", "--format", "safetensors").code == 0
    hf = tensors_of(tmp_path / "m/model.safetensors")
    reader = gguf.GGUFReader(tmp_path / "m.gguf")
    arch = {"llama-tiny": "LLAMA", "gemma-3-27b": "GEMMA3", "qwen2.5-7b": "QWEN2", "qwen3-8b": "QWEN3"}[preset]
    names = gguf.get_tensor_name_map(getattr(gguf.MODEL_ARCH, arch), 2)
    ours = {t.name: t.data for t in reader.tensors}
    assert len(ours) == len(hf)
    for name, values in hf.items():
        stem, kind = name.rsplit(".", 1)
        wanted = ours[f"{names.get_name(stem)}.{kind}"]
        if arch == "LLAMA" and (".q_proj" in name or ".k_proj" in name):
            assert not np.array_equal(values, wanted)
            wanted = hf_rows(wanted, 4 if ".q_proj" in name else 2)
        if arch == "GEMMA3" and "norm" in name:
            assert np.abs(values - (wanted - 1)).max() < 1e-6 and np.abs(values).max() > 0.05, name
        else:
            assert np.array_equal(values, wanted), name


def test_bf16_and_f16_are_the_f32_weights_rounded(tmp_path):
    read = {}
    for kind in ("F32", "F16", "BF16"):
        assert headrace("synth", "qwen2.5-7b", "--format", "safetensors", "--types", kind, "--fill", "random", "--set", TINY,
                        "-o", tmp_path / kind).code == 0
        read[kind] = tensors_of(tmp_path / kind / "model.safetensors")
    for name, values in read["F32"].items():
        assert np.array_equal(read["F16"][name], values.astype("<f2")), name
        bits = values.view("<u4").astype(np.uint64)
        assert np.array_equal(read["BF16"][name], ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype("<u2")), name
        assert abs(values.mean() - ("norm" in name)) < 0.03, name  # biases lie about 0, as matrices do


@pytest.mark.parametrize("form", ["gguf", "safetensors"])
def test_a_stopped_one_leaves_nothing(tmp_path, form):
    """SIGINT and SIGTERM while it writes: nothing is left, and what was there is as it was."""
    target = tmp_path / ("m.gguf" if form == "gguf" else "m")
    command = ["synth", "llama-tiny", "-o", target, "--format", form, "--fill", "random", "--types", "F32"]
    for before in (False, True):
        if before:
            assert headrace(*command).code == 0
        found = {p: p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()}
        for kind in (signal.SIGINT, signal.SIGTERM):
            writing = HalfWay(*command, "--set", "vocabulary=150000")
            assert list(tmp_path.rglob(".headrace-tmp-*"))
            writing.process.send_signal(kind)
            code, lines = writing.go_on()
            assert code == 1 and len(lines) == 1 and lines[0].startswith("error: interrupted"), lines
            assert {p: p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()} == found
            assert before or not list(tmp_path.iterdir())


def test_weights_that_would_stay_beside_the_new_are_refused(tmp_path):
    model = tmp_path / "m"
    assert headrace("synth", "llama-tiny", "-o", model, "--format", "safetensors", "--split", "1MB").code == 0
    names = sorted(p.name for p in model.iterdir())
    done = headrace("synth", "llama-tiny", "-o", model, "--format", "safetensors", "--json")
    assert done.code == 1 and done.json["error"]["code"] == "foreign-files"
    assert sorted(p.name for p in model.iterdir()) == names
    (tmp_path / "file").write_text("")
    done = headrace("synth", "llama-tiny", "-o", tmp_path / "file", "--format", "safetensors", "--json")
    assert done.code == 1 and done.json["error"]["code"] == "file-open"


@pytest.mark.parametrize("arguments, message", [
    (["llama-4", "-o", "m.gguf"], "no preset 'llama-4' (presets: llama-tiny, "),
    (["llama-tiny", "-o", "m.bin"], "-o: 'm.bin': expected a name that ends in .gguf (or --format safetensors and a"),
    (["llama-tiny", "-o", "m.gguf", "--format", "safetensors"], "-o: 'm.gguf': expected the name of a directory"),
    (["llama-tiny", "-o", "m", "--format", "onnx"], "--format: 'onnx' is none of gguf, safetensors"),
    (["llama-tiny", "-o", "m", "--format", "safetensors", "--types", "Q8_0"], "--types: 'Q8_0' is none of BF16, F16, F32"),
    (["llama-tiny", "-o", "m.gguf", "--types", "Q9"], "--types: 'Q9' is none of Q4_K_M, "),
    (["llama-tiny", "-o", "m.gguf", "--set", "colour=3"], "--set: 'colour=3': expected FIELD=N with one of layers, "),
    (["llama-tiny", "-o", "m.gguf", "--set", "layers"], "--set: 'layers': expected FIELD=N"),
    (["llama-tiny", "-o", "m.gguf", "--fill", "ones"], "--fill: 'ones' is none of zeros, random"),
])
def test_wrong_usage(tmp_path, arguments, message):
    done = headrace("synth", *arguments, cwd=tmp_path)
    assert done.code == 2 and message in done.err, done.err
    assert not list(tmp_path.iterdir())


def test_a_shape_that_makes_no_model_is_refused(tmp_path):
    done = headrace("synth", "llama-tiny", "-o", tmp_path / "m.gguf", "--set", "heads=3", "--json")
    assert done.code == 1 and done.json["error"]["code"] == "config-value"
    assert not list(tmp_path.iterdir())
