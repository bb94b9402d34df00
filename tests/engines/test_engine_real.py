"""Real models on three engines against goldens of independent implementations (testdata/real/README.md).

Each prompt is scored together with its golden greedy ids in one pass: by causality, row len(ids) - 1 + j are the logits that
greedy id j was taken from.
"""

import functools
import gc
import itertools
import subprocess

import numpy as np
import pytest
from real_goldens import GOLDENS, MARGIN, NAMES, decided_steps, last_logits, prompts

import headrace

SHORT, LONG = 72, 672  # what static programs take; each prompt uses the first that fits
TOLERANCE = {"interp": 2e-4, "xla": 2e-4, "iree": 5e-4, "iree-dynamic": 5e-4}


@pytest.fixture(scope="module")
def scorer(request, make_export, headrace_bin, compiled_cache, tmp_path_factory):
    """scorer(engine, model): tokens -> logits [1, n, vocabulary]. Keeps one model of one engine in memory."""

    @functools.lru_cache(maxsize=1)
    def make(engine, model):
        gc.collect()
        path = request.getfixturevalue(model)
        if engine == "iree-dynamic":
            return headrace.load(make_export(path, "dynamic", "iree")).to_iree("score", cache=compiled_cache)
        folder = make_export(path, f"{SHORT},{LONG}")
        if engine == "xla":
            score = headrace.load(folder).to_jax("score")
            return lambda tokens: np.asarray(score(tokens))
        if engine == "iree":
            return headrace.load(folder).to_iree("score", cache=compiled_cache)

        def interpret(tokens):
            path = tmp_path_factory.mktemp("interp") / "logits.npy"
            subprocess.run([headrace_bin, "run", folder, "score", "--tokens", ",".join(map(str, tokens)), "-o", path,
                            "--quiet"], check=True, capture_output=True)
            logits = np.load(path)
            path.unlink()
            return logits

        return interpret

    return make


def test_every_prompt_is_there():
    for model in GOLDENS:
        assert tuple(prompts(model)) == NAMES


# In an order that loads each model once into each engine.
@pytest.mark.parametrize("model, engine, name", list(itertools.product(GOLDENS, TOLERANCE, NAMES)))
def test_tokens_and_logits(scorer, table, model, engine, name):
    prompt = prompts(model)[name]
    ids, greedy = prompt["ids"], prompt["greedy"]
    tokens = ids + greedy
    logits = scorer(engine, model)(tokens)[0]
    assert logits.shape == (len(tokens), GOLDENS[model].vocabulary)
    rows = logits[len(ids) - 1 : len(tokens) - 1]
    decided = decided_steps(prompt)
    wrong = [(j, int(rows[j].argmax()), greedy[j]) for j in decided if rows[j].argmax() != greedy[j]]
    at, golden = last_logits(model, name)
    distance = float(np.abs(rows[0][at] - golden).max())
    table("Real models against goldens: model, engine, prompt, tokens, steps right, largest distance of last-position logits",
          f"{model:8} {engine:12} {name:12} {len(ids):4} {len(decided) - len(wrong):3}/{len(decided)}  {distance:.2e}")
    assert not wrong, f"(step, got, golden): {wrong}"
    assert distance <= TOLERANCE[engine]


@pytest.mark.parametrize("model", GOLDENS)
def test_enough_steps_are_checked(model):
    margins = [m for p in prompts(model).values() for m in p["greedy_margins"]]
    assert len(margins) == 9 * 32 and sum(m >= MARGIN for m in margins) == GOLDENS[model].decided


@pytest.mark.parametrize("engine", ["xla", "iree"])
def test_padding_has_no_effect(scorer, engine):
    """What stands right of a prompt does not change one bit of its logits."""
    score, ids = scorer(engine, "smollm2"), prompts("smollm2")["english"]["ids"]
    alone = score(ids)
    for other in ([49151] * 3, [0], list(range(100, 100 + SHORT - len(ids)))):
        assert np.array_equal(score(ids + other)[:, : len(ids)], alone)


@pytest.mark.parametrize("engine", ["xla", "iree"])
@pytest.mark.parametrize("tokens, message", [([49152], "token 49152 at position 0"), ([1, -5], "token -5 at position 1"),
                                             ([], "no tokens"), ([1] * (LONG + 1), f"expected 1 to {LONG}")])
def test_refuses(scorer, engine, tokens, message):
    with pytest.raises(ValueError, match=message):
        scorer(engine, "smollm2")(tokens)
