"""`headrace synth`: what it makes is what the other commands take."""

import gguf
import numpy as np
import pytest
from conftest import headrace


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


@pytest.mark.parametrize("arguments, message", [
    (["llama-4", "-o", "m.gguf"], "no preset 'llama-4' (presets: llama-tiny, "),
    (["llama-tiny", "-o", "m.bin"], "-o: 'm.bin': expected a name that ends in .gguf"),
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
