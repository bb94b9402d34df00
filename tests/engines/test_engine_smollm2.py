"""The real model on three engines against goldens of independent implementations (testdata/real/README.md).

Each prompt is scored together with its golden greedy ids in one pass: by causality, row len(ids) - 1 + j are the logits that
greedy id j was taken from.
"""

import functools
import json
import subprocess
from pathlib import Path

import numpy as np
import pytest

import headrace

REAL = Path(__file__).resolve().parents[2] / "testdata/real"
SHORT, LONG = 72, 672  # what the programs take; each prompt uses the first that fits
MARGIN = 0.01  # steps whose two highest logits are closer are not decided by f32
TOLERANCE = {"interp": 2e-4, "xla": 2e-4, "iree": 5e-4}


@functools.cache
def prompts():
    return {p["name"]: p for name in ("smollm2.f32.json", "smollm2.extra_handed.json")
            for p in json.loads((REAL / name).read_text())["prompts"]}


@functools.cache
def last_logits():
    return {name: values for file in ("smollm2.hf.last.npz", "smollm2.extra_handed.last.npz")
            for name, values in np.load(REAL / file).items()}


@pytest.fixture(scope="module")
def scorer(make_export, smollm2, headrace_bin, compiled_cache, tmp_path_factory):
    """scorer(engine, seq): tokens -> logits [1, n, vocabulary]."""

    @functools.cache
    def make(engine, seq):
        folder = make_export(smollm2, seq)
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


@pytest.mark.parametrize("name", prompts())
@pytest.mark.parametrize("engine", TOLERANCE)
def test_tokens_and_logits(scorer, table, engine, name):
    prompt = prompts()[name]
    ids, greedy = prompt["ids"], prompt["greedy"]
    tokens = ids + greedy
    logits = scorer(engine, SHORT if len(tokens) <= SHORT else LONG)(tokens)[0]
    assert logits.shape == (len(tokens), 49152)
    rows = logits[len(ids) - 1 : len(tokens) - 1]
    decided = [j for j, margin in enumerate(prompt["greedy_margins"]) if margin >= MARGIN]
    wrong = [(j, int(rows[j].argmax()), greedy[j]) for j in decided if rows[j].argmax() != greedy[j]]
    distance = float(np.abs(rows[0] - last_logits()[name]).max())
    table("SmolLM2 against goldens: engine, prompt, tokens, steps right, largest distance of last-position logits",
          f"{engine:7} {name:12} {len(ids):4} {len(decided) - len(wrong):3}/{len(decided)}  {distance:.2e}")
    assert not wrong, f"(step, got, golden): {wrong}"
    assert distance <= TOLERANCE[engine]


def test_enough_steps_are_checked():
    margins = [m for p in prompts().values() for m in p["greedy_margins"]]
    assert len(margins) == 9 * 32 and sum(m >= MARGIN for m in margins) >= 285


@pytest.mark.parametrize("engine", ["xla", "iree"])
def test_padding_has_no_effect(scorer, engine):
    """What stands right of a prompt does not change one bit of its logits."""
    score, ids = scorer(engine, SHORT), prompts()["english"]["ids"]
    alone = score(ids)
    for other in ([49151] * 3, [0], list(range(100, 100 + SHORT - len(ids)))):
        assert np.array_equal(score(ids + other)[:, : len(ids)], alone)


@pytest.mark.parametrize("engine", ["xla", "iree"])
@pytest.mark.parametrize("tokens, message", [([49152], "token 49152 at position 0"), ([1, -5], "token -5 at position 1"),
                                             ([], "no tokens"), ([1] * (SHORT + 1), f"expected 1 to {SHORT}")])
def test_refuses(scorer, engine, tokens, message):
    with pytest.raises(ValueError, match=message):
        scorer(engine, SHORT)(tokens)
