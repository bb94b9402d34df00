#!/usr/bin/env python3
"""Writes testdata/sampling/goldens.json: distributions and draws of src/engine/sampler.h by its definition, in numpy f64, with
nothing of the program's; and scores of src/engine/eval.h. Needs numpy."""

import json
import pathlib

import numpy as np

OUT = pathlib.Path(__file__).resolve().parents[2] / "testdata" / "sampling" / "goldens.json"
MASK = 2**64 - 1
DRAWS = 12


def splitmix64(seed):
    """The reference generator of Steele, Lea and Flood: a state that grows, and a mixer."""
    state = seed
    while True:
        state = (state + 0x9E3779B97F4A7C15) & MASK
        z = state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        yield z ^ (z >> 31)


def softmax(x):
    e = np.exp(x - x.max())
    return e / e.sum()


def distribution(logits, history, o):
    x = np.array(logits, dtype=np.float32).astype(np.float64)
    window = o.get("repetition_window", 64)
    for token in set(history[-window:] if window else []):
        penalty = o.get("repetition_penalty", 1)
        x[token] = x[token] / penalty if x[token] > 0 else x[token] * penalty
    if o["temperature"] == 0:
        return {int(np.argmax(x)): 1.0}
    order = [i for i in np.lexsort((np.arange(x.size), -x)) if np.isfinite(x[i])]
    if o.get("top_k", 0):
        order = order[:o["top_k"]]
    if o.get("top_p", 1) < 1:
        mass = np.cumsum(softmax(x[order]))
        order = order[:int(np.argmax(mass >= o["top_p"])) + 1] if (mass >= o["top_p"]).any() else order
    if o.get("min_p", 0):
        p = softmax(x[order])
        order = [i for i, each in zip(order, p) if each >= o["min_p"] * p.max()]
    ids = sorted(order)
    return {int(i): float(p) for i, p in zip(ids, softmax(x[ids] / o["temperature"]))}


def draw(probabilities, fraction):
    ids = list(probabilities)
    return ids[int(np.argmax(np.cumsum(list(probabilities.values())) > fraction))]


def cases():
    rng = np.random.default_rng(7)
    plain = rng.normal(0, 2, 50).astype(np.float32)
    ties = np.round(rng.normal(0, 1, 40)).astype(np.float32)
    masked = plain.copy()
    masked[::3] = -np.inf
    flat = np.zeros(307, dtype=np.float32)
    peaked = np.full(30, -40, dtype=np.float32)
    peaked[11] = 40
    rows = {"plain": plain, "ties": ties, "masked": masked, "flat": flat, "peaked": peaked}
    options = [{"temperature": 0}, {"temperature": 1}, {"temperature": 0.3}, {"temperature": 2.5, "top_k": 7},
               {"temperature": 0.8, "top_p": 0.9}, {"temperature": 1, "top_p": 0.05}, {"temperature": 1.2, "min_p": 0.1},
               {"temperature": 0.7, "top_k": 20, "top_p": 0.8, "min_p": 0.05, "repetition_penalty": 1.3},
               {"temperature": 0, "repetition_penalty": 1.9, "repetition_window": 2},
               {"temperature": 1, "repetition_penalty": 0.8, "repetition_window": 0}, {"temperature": 1, "min_p": 1},
               {"temperature": 1, "top_k": 1}, {"temperature": 1, "top_k": 100000}]
    for name, row in rows.items():
        for number, o in enumerate(options):
            history = [int(t) for t in rng.integers(0, row.size, 6)] + [int(np.argmax(row))]
            yield name, row, history, {**o, "seed": 1000 * number + 3}


def scores():
    rng = np.random.default_rng(11)
    out = []
    for vocabulary, scale in [(5, 1), (1000, 4), (97, 30)]:
        logits = rng.normal(0, scale, (6, vocabulary)).astype(np.float32)
        targets = [int(t) for t in rng.integers(0, vocabulary, 5)] + [int(np.argmax(logits[5]))]
        wide = logits.astype(np.longdouble)
        nll = [float(np.log(np.exp(row - row.max()).sum()) + row.max() - row[t]) for row, t in zip(wide, targets)]
        out.append({"logits": logits.tolist(), "targets": targets, "nll": nll,
                    "top1": sum(int(np.argmax(row) == t) for row, t in zip(logits, targets))})
    return out


def goldens():
    out, rows = [], {}
    for name, row, history, options in cases():
        probabilities = distribution(row, history, options)
        numbers = splitmix64(options["seed"])
        rows[name] = [None if np.isinf(v) else float(v) for v in row]
        out.append({"row": name, "history": history,
                    "options": options, "ids": list(probabilities), "probabilities": list(probabilities.values()),
                    "draws": [draw(probabilities, (next(numbers) >> 11) * 2.0**-53) for _ in range(DRAWS)]})
    first = splitmix64(0)
    return {"splitmix64_of_0": [str(next(first)) for _ in range(4)], "rows": rows, "sampling": out, "scores": scores()}


if __name__ == "__main__":
    OUT.write_text(json.dumps(goldens()) + "\n")
