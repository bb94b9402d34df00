"""Gemma's Q8_0 weights against an independent f64 program: the goldens for them come from a GELU that is a table over f16."""

import json
import subprocess
from pathlib import Path

import gemma3_f64
import numpy as np
import pytest

ZOO = Path(__file__).resolve().parents[2] / "testdata/zoo"
MODELS = ["gemma3", "gemma3_linear"]


def prompts(model):
    return json.loads((ZOO / model / "golden.json").read_text())["prompts"]


def interpreted(headrace_bin, folder, ids, precision, path):
    done = subprocess.run([headrace_bin, "run", folder, "score", "--tokens", ",".join(map(str, ids)), "-o", path, "--quiet",
                           "--precision", precision], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return np.load(path)[0]


@pytest.mark.parametrize("model", MODELS)
def test_the_oracle_agrees_with_transformers(model):
    for i, prompt in enumerate(prompts(model)):
        golden = np.load(ZOO / model / f"golden_{i}_full.npy")
        logits = gemma3_f64.Gemma3(ZOO / model / f"{model}.f32.gguf").logits(prompt["ids"] + prompt["greedy"])
        assert np.abs(logits - golden).max() <= 3e-5


@pytest.mark.parametrize("model", MODELS)
def test_q8_0(make_export, headrace_bin, table, tmp_path, model):
    path = ZOO / model / f"{model}.q8_0.gguf"
    oracle, folder = gemma3_f64.Gemma3(path), make_export(path, 40)
    for i, prompt in enumerate(prompts(model)):
        wanted = oracle.logits(prompt["ids"])
        apart = {precision: float(np.abs(interpreted(headrace_bin, folder, prompt["ids"], precision, tmp_path / "l.npy")
                                         - wanted).max()) for precision in ("f32", "f64")}
        golden = float(np.abs(np.load(ZOO / model / f"golden_{i}_q8w.npy") - wanted).max())
        table("Gemma 3, Q8_0: model, prompt, distance from numpy f64 in f32 and f64, the golden's own distance",
              f"{model:14} {i} {apart['f32']:.2e} {apart['f64']:.2e} {golden:.2e}")
        assert apart["f32"] <= 3e-5 and apart["f64"] <= 5e-6
        assert golden > 1e-3  # were it nearer, the tests on goldens could be as strict as for the other models
