"""`headrace eval`: on the toy model against numpy, on SmolLM2 against llama.cpp (testdata/eval/smollm2.json)."""

import json

import numpy as np
import pytest
from conftest import ROOT, headrace

DATA = ROOT / "testdata" / "eval"
GOLDEN = json.loads((DATA / "smollm2.json").read_text())


def run(*arguments):
    done = headrace("eval", *arguments, "--json")
    assert done.code == 0, done.err
    return done.json


def test_the_toy_model_by_numpy(exported, tmp_path):
    tokens = [5, 9, 7, 5, 30, 31, 9, 9, 12, 40, 6, 3]
    (tmp_path / "ids").write_text(",".join(map(str, tokens)) + "\n")
    assert headrace("run", exported, "score", "--tokens", ",".join(map(str, tokens[:-1])), "-o", tmp_path / "logits.npy").code == 0
    rows = np.load(tmp_path / "logits.npy")[0].astype(np.float64)
    chosen = rows[np.arange(len(rows)), tokens[1:]]
    nll = np.log(np.exp(rows - rows.max(1, keepdims=True)).sum(1)) + rows.max(1) - chosen
    got = run(exported, "--ids", tmp_path / "ids", "--context", "16")
    assert got["predicted"] == 11 and got["top1"] == int((rows.argmax(1) == tokens[1:]).sum())
    assert got["nll"] == pytest.approx(nll.sum(), rel=1e-6)
    assert got["perplexity"] == pytest.approx(np.exp(nll.mean()), rel=1e-6)


@pytest.fixture(scope="module")
def smollm2(real_model, tmp_path_factory):
    directory = tmp_path_factory.mktemp("eval") / "out"
    done = headrace("export", real_model, "-o", directory, "--seq", "128", "--target", "xla")
    assert done.code == 0, done.err
    return directory


def test_prompts_have_llama_cpps_nll(smollm2, tmp_path):
    got, wanted, count = 0, 0, 0
    for prompt in GOLDEN["prompts"]:
        (tmp_path / "ids").write_text(",".join(map(str, prompt["ids"])))
        result = run(smollm2, "--ids", tmp_path / "ids", "--context", "128")
        got, wanted, count = got + result["nll"], wanted + sum(prompt["nll"]), count + len(prompt["nll"])
        assert result["mean_nll"] == pytest.approx(np.mean(prompt["nll"]), abs=1e-4), prompt["name"]
    assert got / count == pytest.approx(wanted / count, abs=1e-4)


def test_a_texts_tokens_are_those_of_the_golden(smollm2, tmp_path):
    """The whole text takes minutes (`text` in smollm2.json, by llama.cpp); its first windows are compared here."""
    text = (DATA / "text.txt").read_text()
    (tmp_path / "text").write_text(text[:GOLDEN["start"]["characters"]])
    got = run(smollm2, "--text", tmp_path / "text", "--context", "128", "--stride", "64")
    assert got["predicted"] == GOLDEN["start"]["predicted"] and got["top1"] == GOLDEN["start"]["top1"]
    assert got["perplexity"] == pytest.approx(GOLDEN["start"]["perplexity"], rel=1e-3)


@pytest.mark.parametrize("arguments,code,part", [
    (["--context", "17", "--ids", "{ids}"], 1, "at most 16"),
    (["--stride", "20", "--context", "16", "--ids", "{ids}"], 2, "--stride"),
    (["--ids", "{one}"], 1, "at least 2"),
    ([], 2, "one of them"),
])
def test_what_is_refused(exported, tmp_path, arguments, code, part):
    (tmp_path / "ids").write_text("5,6,7")
    (tmp_path / "one").write_text("5")
    done = headrace("eval", exported, *[a.format(ids=tmp_path / "ids", one=tmp_path / "one") for a in arguments])
    assert done.code == code and part in done.err
