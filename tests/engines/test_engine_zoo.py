"""Tiny models (testdata/zoo/README.md) on three engines, at every position."""

import functools
import json
import subprocess
from pathlib import Path

import numpy as np
import pytest

import headrace

ZOO = Path(__file__).resolve().parents[2] / "testdata/zoo"
MODELS = ["llama", "llama_tied", "mistral_nosw"]
BOUND = 40
# The goldens' own noise is up to 1.1e-5; a wrong rms_norm_eps would show at 1.4e-4.
TOLERANCE = {"interp": 3e-5, "xla": 3e-5, "iree": 5e-5}


def prompts(model):
    return json.loads((ZOO / model / "golden.json").read_text())["prompts"]


@pytest.fixture(scope="module")
def scorer(make_export, headrace_bin, compiled_cache, tmp_path_factory):
    @functools.cache
    def make(engine, model, form, seq):
        folder = make_export(ZOO / model / f"{model}.{form}.gguf", seq)
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


@pytest.mark.parametrize("form", ["f32", "q8_0"])
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("engine", TOLERANCE)
def test_every_position(scorer, table, engine, model, form):
    worst = 0.0
    for i, prompt in enumerate(prompts(model)):
        golden = np.load(ZOO / model / (f"golden_{i}_full.npy" if form == "f32" else f"golden_{i}_q8w.npy"))
        tokens = prompt["ids"] + (prompt["greedy"] if form == "f32" else [])
        logits = scorer(engine, model, form, BOUND)(tokens)[0]
        assert logits.shape == golden.shape
        worst = max(worst, float(np.abs(logits - golden).max()))
    table("Tiny models: engine, model, weights, largest distance from the golden at any position",
          f"{engine:7} {model:13} {form:5} {worst:.2e}")
    assert worst <= TOLERANCE[engine]


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("engine", ["xla", "iree"])
def test_padding_is_exact(scorer, engine, model):
    """A short prompt in a long program: bit-equal whatever the padding, and equal to a program of its own length."""
    prompt = prompts(model)[0]["ids"]
    alone = scorer(engine, model, "f32", BOUND)(prompt)
    padded = scorer(engine, model, "f32", BOUND)(prompt + [319] * (BOUND - len(prompt)))
    assert np.array_equal(padded[:, : len(prompt)], alone)
    exact = scorer(engine, model, "f32", len(prompt))(prompt)
    assert np.abs(exact - alone).max() <= 1e-5  # other shapes, other order of sums
