"""Goldens of real models by independent implementations (testdata/real/README.md)."""

import functools
import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np

REAL = Path(__file__).resolve().parents[2] / "testdata/real"
MARGIN = 0.01  # steps whose two highest logits are closer are not decided by f32


@dataclass(frozen=True)
class Golden:
    """Where a model's goldens are."""

    prompts: tuple[str, ...]
    last: tuple[str, ...]
    vocabulary: int
    decided: int  # steps whose margin is at least MARGIN


GOLDENS = {
    "smollm2": Golden(("smollm2.f32.json", "smollm2.extra_handed.json"),
                      ("smollm2.hf.last.npz", "smollm2.extra_handed.last.npz"), 49152, 287),
    "gemma3": Golden(("gemma3.json",), ("gemma3.last.npz",), 262144, 286),
}
NAMES = ("english", "code", "chinese", "numbers", "long300", "chat", "topvocab", "past_window", "one")


@functools.cache
def prompts(model):
    return {p["name"]: p for name in GOLDENS[model].prompts for p in json.loads((REAL / name).read_text())["prompts"]}


@functools.cache
def last_logits(model, prompt):
    """Ids and their logits at the prompt's last position."""
    for file in GOLDENS[model].last:
        arrays = np.load(REAL / file)
        if prompt in arrays:
            ids = arrays[f"{prompt}.ids"] if f"{prompt}.ids" in arrays else np.arange(GOLDENS[model].vocabulary)
            return ids, arrays[prompt]
    raise KeyError(prompt)


def decided_steps(prompt):
    return [j for j, margin in enumerate(prompt["greedy_margins"]) if margin >= MARGIN]
