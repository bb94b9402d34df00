"""Real models token by token: each prompt in calls of up to 64 tokens, then its golden greedy ids one at a time, whatever the
engine would have chosen, caches carried along. Gemma 3's window is 512 tokens; its prompt `past_window` has 631.

Everyday runs take one policy of each engine; HEADRACE_ALL_POLICIES=1 takes all (an hour of two cores).
"""

import functools
import gc
import os

import numpy as np
import pytest
from pieces import InterpretedText, Text
from real_goldens import GOLDENS, NAMES, decided_steps, last_logits, prompts

CAPACITY = 672
WIDTH = 64
TOLERANCE = {"interp": 2e-4, "xla": 2e-4, "iree": 5e-4}
STATIC = ("--kv", f"static:{CAPACITY}")
RING, GLOBALS, CONCAT = ("--kv-local", "ring"), ("--kv-storage", "globals"), ("--kv", "concat")

POLICIES = {
    "interp same": STATIC,
    "interp ring": (*STATIC, *RING),
    "xla same": STATIC,
    "xla ring": (*STATIC, *RING),
    "iree same": STATIC,
    "iree ring": (*STATIC, *RING),
    "iree globals same": (*STATIC, *GLOBALS),
    "iree globals ring": (*STATIC, *GLOBALS, *RING),
    "iree concat same": CONCAT,
    "iree concat ring": (*CONCAT, *RING),
}
EVERYDAY = [("smollm2", "xla same"), ("gemma3", "xla ring"), ("gemma3", "iree globals ring")]
# Without local layers a ring is no other program.
ALL = [(m, p) for m in GOLDENS for p in POLICIES if m == "gemma3" or "ring" not in p]
CASES = ALL if os.environ.get("HEADRACE_ALL_POLICIES") else EVERYDAY


@pytest.fixture(scope="module")
def text_of(request, make_export, headrace_bin, compiled_cache):
    """text_of(model, policy): keeps one in memory."""

    @functools.lru_cache(maxsize=1)
    def make(model, policy):
        gc.collect()
        engine = policy.split()[0]
        folder = make_export(request.getfixturevalue(model), WIDTH, "xla" if engine == "xla" else "iree", "--functions",
                             "prefill,chunk,decode", *POLICIES[policy])
        return InterpretedText(folder, headrace_bin) if engine == "interp" else Text(folder, engine, compiled_cache)

    return make


@pytest.mark.parametrize("model, policy, name", [(m, p, n) for m, p in CASES for n in NAMES])
def test_steps(text_of, table, model, policy, name):
    text, prompt = text_of(model, policy), prompts(model)[name]
    text.restart()
    ids, greedy = prompt["ids"], prompt["greedy"]
    while text.at < len(ids):
        rows = [text.feed(ids[text.at:text.at + WIDTH], WIDTH)]
    for token in greedy[:-1]:
        rows.append(text.feed([token]))
    wrong = [(j, int(rows[j].argmax()), greedy[j]) for j in decided_steps(prompt) if rows[j].argmax() != greedy[j]]
    at, golden = last_logits(model, name)
    distance = float(np.abs(rows[0][at] - golden).max())
    decided = len(decided_steps(prompt))
    table("Real models in pieces: model, policy, prompt, tokens, steps right, largest distance of last-position logits",
          f"{model:8} {policy:18} {name:12} {len(ids):4} {decided - len(wrong):3}/{decided}  {distance:.2e}")
    assert not wrong, f"(step, got, golden): {wrong}"
    assert distance <= TOLERANCE[policy.split()[0]]
