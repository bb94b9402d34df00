"""`--layers k`: the logits of a model cut after k layers are head(norm(hidden[k])) of the goldens' hidden states
(report H10)."""

import json
import subprocess
from pathlib import Path

import gguf
import numpy as np
import pytest

ZOO = Path(__file__).resolve().parents[2] / "testdata/zoo"


def weights_of(path):
    """The final norm, its epsilon and the head, read by gguf-py."""
    reader = gguf.GGUFReader(path)
    tensors = {t.name: np.array(t.data, np.float64).reshape([int(n) for n in reversed(t.shape)]) for t in reader.tensors}
    architecture = reader.get_field("general.architecture").contents()
    epsilon = reader.get_field(f"{architecture}.attention.layer_norm_rms_epsilon").contents()
    return tensors["output_norm.weight"], epsilon, tensors.get("output.weight", tensors["token_embd.weight"])


@pytest.mark.parametrize("model", ["llama", "gemma3"])
def test_cut_models(make_export, headrace_bin, tmp_path, table, model):
    path = ZOO / model / f"{model}.f32.gguf"
    norm, epsilon, head = weights_of(path)
    prompts = json.loads((ZOO / model / "golden.json").read_text())["prompts"]
    hidden = [np.load(ZOO / model / f"hidden_{i}.npy").astype(np.float64) for i in range(len(prompts))]
    layers = len(hidden[0]) - 1
    assert layers >= 2
    for k in range(1, layers):  # hidden[layers] is past the final norm already: the whole model, tested elsewhere
        folder = make_export(path, 40, "iree,xla", "--layers", str(k))
        worst = 0.0
        for prompt, states in zip(prompts, hidden, strict=True):
            x = states[k]
            wanted = x / np.sqrt((x * x).mean(-1, keepdims=True) + epsilon) * norm @ head.T
            done = subprocess.run([headrace_bin, "run", folder, "score", "--tokens", ",".join(map(str, prompt["ids"])),
                                   "-o", tmp_path / "logits.npy", "--quiet"], capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stderr
            worst = max(worst, float(np.abs(np.load(tmp_path / "logits.npy")[0] - wanted).max()))
        table("Models cut after k layers: model, k, largest distance from head(norm(hidden[k]))", f"{model:7} {k} {worst:.2e}")
        assert worst <= 3e-5
