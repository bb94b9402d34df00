"""Tiny models (testdata/zoo/README.md) on three engines, at every position."""

import functools
import json
import subprocess
from pathlib import Path

import numpy as np
import pytest

import headrace

ZOO = Path(__file__).resolve().parents[2] / "testdata/zoo"
MODELS = ["llama", "llama_tied", "llama_bias", "mistral_nosw", "gemma3", "gemma3_linear", "qwen2", "qwen3"]
# From their Hugging Face directories: shards, a wrapper with foreign tensors, biases, norms of q and k.
HUGGING_FACE = ["llama_sharded", "gemma3_wrapped", "qwen2", "qwen3"]
CASES = [(model, form) for model in MODELS for form in ("f32", "q8_0")] + [(model, "hf") for model in HUGGING_FACE]
BOUND = 40
# The goldens' own noise is up to 1.1e-5; a wrong rms_norm_eps would show at 1.4e-4.
TOLERANCE = {"interp": 3e-5, "xla": 3e-5, "iree": 5e-5, "iree-dynamic": 5e-5}
# testdata/zoo/README.md: these goldens come from a GELU that is a table over f16.
Q8W_OF_GELU = 1e-2


def checkpoint(model, form):
    return ZOO / model if form == "hf" else ZOO / model / f"{model}.{form}.gguf"


def prompts(model):
    return json.loads((ZOO / model / "golden.json").read_text())["prompts"]


@pytest.fixture(scope="module")
def scorer(make_export, headrace_bin, compiled_cache, tmp_path_factory):
    @functools.cache
    def make(engine, model, form, seq):
        if engine == "iree-dynamic":
            folder = make_export(checkpoint(model, form), "dynamic", "iree")
            return headrace.load(folder).to_iree("score", cache=compiled_cache)
        folder = make_export(checkpoint(model, form), seq)
        if engine == "xla":
            score = headrace.load(folder).to_jax("score")
            return lambda tokens: np.asarray(score(tokens))
        if engine == "iree":
            return headrace.load(folder).to_iree("score", cache=compiled_cache)

        def interpret(tokens):
            path = tmp_path_factory.mktemp("interp") / "logits.npy"
            subprocess.run([headrace_bin, "run", folder, "score", "--tokens", ",".join(map(str, tokens)), "-o", path,
                            "--quiet"], check=True, capture_output=True)
            return np.load(path)

        return interpret

    return make


@pytest.mark.parametrize("model, form", CASES)
@pytest.mark.parametrize("engine", TOLERANCE)
def test_every_position(scorer, table, engine, model, form):
    worst = 0.0
    for i, prompt in enumerate(prompts(model)):
        golden = np.load(ZOO / model / (f"golden_{i}_q8w.npy" if form == "q8_0" else f"golden_{i}_full.npy"))
        tokens = prompt["ids"] + ([] if form == "q8_0" else prompt["greedy"])
        logits = scorer(engine, model, form, BOUND)(tokens)[0]
        assert logits.shape == golden.shape
        worst = max(worst, float(np.abs(logits - golden).max()))
    table("Tiny models: engine, model, weights, largest distance from the golden at any position",
          f"{engine:12} {model:14} {form:5} {worst:.2e}")
    assert worst <= (Q8W_OF_GELU if model.startswith("gemma3") and form == "q8_0" else TOLERANCE[engine])


@pytest.mark.parametrize("model", ["llama", "llama_bias", "gemma3"])
@pytest.mark.parametrize("engine", ["xla", "iree", "iree-dynamic"])
def test_lengths(scorer, engine, model):
    """1, 2, bound - 1 and bound tokens, as the interpreter has them (report G11 for iree-dynamic)."""
    text = [*prompts(model)[0]["ids"], *prompts(model)[1]["ids"], *prompts(model)[1]["greedy"]][:BOUND]
    assert len(text) == BOUND
    for length in (1, 2, BOUND - 1, BOUND):
        wanted = scorer("interp", model, "f32", BOUND)(text[:length])
        assert np.abs(scorer(engine, model, "f32", BOUND)(text[:length]) - wanted).max() <= TOLERANCE[engine]


@pytest.mark.parametrize("target", ["xla", "iree"])
def test_several_lengths(make_export, compiled_cache, target):
    """One program per length over one archive; the smallest that fits is taken, and gives what an export of its own does."""
    model = ZOO / "llama/llama.f32.gguf"
    several = headrace.load(make_export(model, "8,3,16"))
    programs = getattr(several.function("score").targets, target)
    assert [p.symbols for p in programs] == [{"seq": 3}, {"seq": 8}, {"seq": 16}]
    assert len(several.manifest.archives) == 1
    load = lambda export: export.to_jax("score") if target == "xla" else export.to_iree("score", cache=compiled_cache)  # noqa: E731
    score = load(several)
    assert score.bounds == {"seq": 16}
    for length, program in ((1, 3), (3, 3), (4, 8), (9, 16), (16, 16)):
        alone = load(headrace.load(make_export(model, program)))
        assert np.array_equal(np.asarray(score(list(range(length)))), np.asarray(alone(list(range(length)))))
    with pytest.raises(ValueError, match="seq is 17, expected 1 to 16"):
        score(list(range(17)))


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("engine", ["xla", "iree"])
def test_padding_is_exact(scorer, engine, model):  # report G08
    """A short prompt in a long program: bit-equal whatever the padding, and equal to a program of its own length."""
    prompt = prompts(model)[0]["ids"]
    alone = scorer(engine, model, "f32", BOUND)(prompt)
    padded = scorer(engine, model, "f32", BOUND)(prompt + [319] * (BOUND - len(prompt)))
    assert np.array_equal(padded[:, : len(prompt)], alone)
    exact = scorer(engine, model, "f32", len(prompt))(prompt)
    assert np.abs(exact - alone).max() <= 1e-5  # other shapes, other order of sums
