"""Faults that users of other exporters reported in the program, its precision and its contract (sections E to H of the collection;
docs/bug-reports.md says which test covers which)."""

import json
import re
import shutil
import struct

import numpy as np
import pytest
from conftest import headrace
from fixkit import F32, llama

FAR = 1004  # positions enough for bf16 to take two for one: it has eight bits


def export(model, folder, name, *options):
    path = model if not hasattr(model, "bytes") else model.write(folder / f"{name}.gguf")
    done = headrace("export", path, "-o", folder / name, "--progress", "none", *options)
    assert done.code == 0, done.err
    return folder / name


def manifest(directory):
    return json.loads((directory / "manifest.json").read_text())


def texts(directory):
    return {p.name: p.read_text() for p in sorted(directory.rglob("*")) if p.suffix in (".mlir", ".hir") and not p.is_symlink()}


def logits(directory, tokens, *options):
    path = directory.parent / "logits.npy"
    done = headrace("run", directory, "score", "--tokens", ",".join(map(str, tokens)), "-o", path, "--quiet", *options)
    assert done.code == 0, done.err
    return np.load(path)[0]


def floats(tensor):
    return np.frombuffer(tensor.data, np.float32)


def as_bf16(values):
    """Values that bf16 holds exactly: the lower half of the bits cut off."""
    return (np.asarray(values, np.float32).view(np.uint32) & 0xFFFF0000).view(np.float32)


def narrow(model, scale=None):
    """All matrices of values that bf16 holds; the embedding scaled."""
    for tensor in model.tensors:
        if len(tensor.dims) == 2:
            factor = scale if scale is not None and tensor.name == "token_embd.weight" else 1
            tensor.data = as_bf16(floats(tensor) * np.float32(factor)).tobytes()
    return model


def test_weights_of_quantised_blocks_are_their_values_e08(tmp_path):
    """What leaves a Q8_0 file is what an F32 file of the decoded values has: no placeholders, no raw bytes."""
    blocks, plain = llama(), llama()
    for name in ("blk.0.ffn_gate.weight", "blk.1.attn_q.weight"):
        count = 32 * (64 if "ffn" in name else 32)
        codes = (np.arange(count) * 37 % 255 - 127).astype(np.int8).reshape(-1, 32)
        scales = np.float16(0.001) * (1 + np.arange(len(codes), dtype=np.float16) % 7)
        blocks.tensor(name).data = b"".join(s.tobytes() + c.tobytes() for s, c in zip(scales, codes, strict=True))
        blocks.tensor(name).type = 8
        plain.tensor(name).data = (scales.astype(np.float32)[:, None] * codes.astype(np.float32)).tobytes()
    made = [export(model, tmp_path, name, "--seq", "16") for name, model in (("blocks", blocks), ("plain", plain))]
    (a,), (b,) = ([p.name for p in d.glob("weights-*")] for d in made)
    assert a == b  # named by content
    assert logits(made[0], [5, 6, 7]).tolist() == logits(made[1], [5, 6, 7]).tolist()


def test_a_tied_matrix_is_stored_once_in_a_narrow_type_f02(tmp_path):
    tied, untied = (export(llama(tied=t), tmp_path, f"tied{t}", "--seq", "16", "--dtype", "bf16") for t in (True, False))
    names = [p["name"] for p in manifest(tied)["parameters"]]
    assert names.count("token_embd.weight") == 1 and "output.weight" not in names
    (small,), (large,) = ([p.stat().st_size for p in d.glob("weights-*")] for d in (tied, untied))
    assert 32 * 48 * 2 <= large - small < 32 * 48 * 2 + 300  # one more matrix, and its line in the header
    hir = next(text for name, text in texts(tied).items() if name.endswith(".hir"))
    # Both uses are of the one parameter.
    (embedded,) = re.findall(r'(%\d+) = parameter\(\) \{name = "token_embd.weight"', hir)
    assert len(re.findall(rf"= (?:embedding|linear)\([^)]*{embedded}\b", hir)) == 2


@pytest.mark.parametrize("scale", [1, 300])
def test_positions_and_norms_stay_f32_f03_f04(scale, tmp_path):
    """Weights that bf16 holds: the bf16 export computes what the f32 export does, at positions that bf16 cannot tell apart
    and with activations of hundreds."""
    model = narrow(llama(layers=1, context=1024), scale)
    path = model.write(tmp_path / "m.gguf")
    rng = np.random.default_rng(3)
    tokens = rng.integers(3, 48, FAR).tolist()
    wide, small = (logits(export(path, tmp_path, d, "--seq", str(FAR), "--dtype", d), tokens) for d in ("f32", "bf16"))
    for at in (*range(255, 261), *range(1000, FAR)):
        assert np.abs(wide[at] - small[at]).max() <= 1e-6 * np.abs(wide[at]).max(), at
    # Neighbouring positions are told apart: the same token at both has other logits.
    same = logits(tmp_path / "bf16", [5] * 7 + tokens[:249] + [5, 5, 5])
    assert len({row.tobytes() for row in same[-3:]}) == 3


@pytest.mark.parametrize("dtype", ["bf16", "f16"])
def test_only_weights_are_narrow_f04_f08(dtype, tmp_path):
    """No activation, norm, angle or softmax is of the narrow type; no quantised types, no types below a byte."""
    for name, text in texts(export(llama(), tmp_path, "out", "--seq", "16", "--dtype", dtype)).items():
        for line in text.splitlines():
            if dtype in line and re.search(r"rsqrt|exponential|cosine|sine|divide|multiply|add|reduce|tanh|logistic|power", line):
                pytest.fail(f"{name}: {line}")
        assert "!quant" not in text and not re.search(r"x?u?i[24]\b", text), name


def test_narrowing_leaves_the_contract_alone_g12(tmp_path):
    """Functions, arguments and results, with their names and order, survive the passes; parameters keep theirs."""
    made = {d: manifest(export(llama(), tmp_path, d, "--seq", "8,16", "--dtype", d)) for d in ("f32", "bf16", "f16")}
    def shape(m):
        functions = [(f["name"], f["arguments"], f["results"]) for f in m["functions"]]
        return functions, [(p["name"], p["shape"], p["role"]) for p in m["parameters"]]
    assert shape(made["bf16"]) == shape(made["f32"]) == shape(made["f16"])


def test_caches_are_donated_as_the_contract_says_g12(tmp_path):
    """Every cache argument is the same place's result: in the manifest by its pairs, in XLA's text by aliases."""
    for dtype in ("f32", "bf16"):
        out = export(llama(), tmp_path, f"cached-{dtype}", "--functions", "prefill,chunk,decode", "--seq", "8", "--dtype", dtype)
        for function in manifest(out)["functions"]:
            arguments, results = function["arguments"], function["results"]
            kept = [i for i, a in enumerate(arguments) if a["kind"] == "cache"]
            assert [r["name"] for r in results if r["kind"] == "cache"] == [
                f"cache.{layer}.{of}" for layer in range(2) for of in "kv"], function["name"]
            if function["name"] == "prefill":
                assert not kept
                continue
            text = (out / "xla" / f"{function['name']}.mlir").read_text()
            aliases = {int(i): int(r) for i, r in re.findall(r"%arg(\d+): [^,]*tf.aliasing_output = (\d+)", text)}
            assert aliases == {i: [r["name"] for r in results].index(arguments[i]["name"]) for i in kept}
            assert len(kept) == 4


def test_nothing_in_the_text_is_of_the_length_or_the_weights_size_h05(tmp_path):
    """Masks and RoPE tables are computed: no constant grows with the sequence, none holds weights."""
    path = llama(context=4096).write(tmp_path / "m.gguf")
    short, long = (texts(export(path, tmp_path, f"s{n}", "--seq", str(n), "--weights", "none")) for n in (16, 4096))
    for of_length in (short, long):
        for name, text in of_length.items():
            assert max((len(m) for m in re.findall(r"dense<([^>]*)>", text)), default=0) < 200, name
    sizes = [sum(map(len, of_length.values())) for of_length in (short, long)]
    assert sizes[1] < sizes[0] * 1.1


def test_equal_logits_go_to_the_lower_id_h07(tmp_path):
    model = llama()
    head = floats(model.tensor("output.weight")).reshape(48, 32).copy()
    head[:] = head[20]
    model.tensor("output.weight").data = head.tobytes()
    out = export(model, tmp_path, "ties", "--seq", "16")
    done = headrace("run", out, "score", "--tokens", "5,6", "--top", "48", "--json")
    assert [row["id"] for row in done.json["top"]] == list(range(48))
    done = headrace("generate", out, "--tokens", "5,6", "--max-tokens", "2", "--ignore-eos", "--json")
    assert done.json["tokens"] == [0, 0]
    assert {a["dtype"] for f in manifest(out)["functions"] for a in f["arguments"]} == {"i32"}


def test_parameters_are_bound_by_name_h15(tmp_path):
    out = export(llama(), tmp_path, "out", "--seq", "16")
    wanted = logits(out, [5, 6, 7])
    for order in ("reversed", "swapped"):
        copy = shutil.copytree(out, tmp_path / order, symlinks=True)
        m = manifest(copy)
        if order == "reversed":
            m["parameters"].reverse()
        else:  # two of one shape exchange their places in the archive
            q = {p["name"]: p for p in m["parameters"]}
            a, b = q["blk.0.attn_q.weight"], q["blk.1.attn_q.weight"]
            a["offset_bytes"], b["offset_bytes"] = b["offset_bytes"], a["offset_bytes"]
        (copy / "manifest.json").write_text(json.dumps(m))
        if order == "reversed":
            assert logits(copy, [5, 6, 7]).tolist() == wanted.tolist()
        else:
            done = headrace("run", copy, "score", "--tokens", "5")
            assert done.code == 1 and "blk." in done.err and len(done.err.splitlines()) == 1, done.err


def test_small_and_large_numbers_arrive_exactly_h11(tmp_path):
    """eps and base as they are, not as six decimals: nothing but the exact value gives these bits."""
    model = llama().set("llama.attention.layer_norm_rms_epsilon", F32, 1e-12).set("llama.rope.freq_base", F32, 1000000.5)
    wanted = struct.unpack("<f", struct.pack("<f", 1e-12))[0]
    found = texts(export(model, tmp_path, "out", "--seq", "16"))
    for name, text in found.items():
        values = [float(v) for v in re.findall(r"-?\d+(?:\.\d+)?e[-+]\d+", text)]
        assert any(np.float32(v) == np.float32(wanted) for v in values), name
