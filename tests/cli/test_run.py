"""`headrace run` and `headrace generate` on the toy model, and on the real one where it is there."""

import json
import pathlib
import shutil

import numpy as np
import pytest
from conftest import ROOT, headrace

# G06: ids and lengths that an engine would clamp.
BAD_TOKENS = [
    ("48", "48"),  # one past the vocabulary
    ("5,2147483648", "2147483648"),
    ("5,4294967301", "4294967301"),  # 5 modulo 2^32
    ("-1", "-1"),
    ("", "no tokens"),
    (",".join(["5"] * 17), "17"),  # one past the bound
]


@pytest.mark.parametrize("tokens,part", BAD_TOKENS)
@pytest.mark.parametrize("command", ["run", "generate"])
def test_tokens_that_do_not_fit(command, tokens, part, exported):
    function = ["score"] if command == "run" else []
    done = headrace(command, exported, *function, "--tokens", tokens, "--json")
    assert done.code == 1
    assert done.json["error"]["code"] == "input"
    assert part in done.err and len(done.err.splitlines()) == 1


@pytest.mark.parametrize("tokens", ["5,,6", "5,six", "5 6", "0x5", "1.5", "99999999999999999999"])
def test_tokens_that_are_no_ids(tokens, exported):
    done = headrace("run", exported, "score", "--tokens", tokens)
    assert done.code == 2
    assert done.err.startswith("error: --tokens: ") and done.out == ""


def test_unknown_function(exported):
    done = headrace("run", exported, "decode", "--tokens", "5")
    assert (done.code, done.err) == (1, "error: no function 'decode' (functions: score)\n")


def test_no_export(tmp_path):
    for directory in (tmp_path, tmp_path / "none"):
        done = headrace("run", directory, "score", "--tokens", "5")
        assert done.code == 1 and "manifest.json" in done.err and len(done.err.splitlines()) == 1
    # generate takes checkpoints too: what is there is exported first (test_chat.py).
    none = tmp_path / "none"
    assert headrace("generate", none, "--tokens", "5").err == f"error: {none}: No such file or directory\n"


@pytest.mark.parametrize("pattern", ["weights-*", "module-*", "vocabulary-*"])
@pytest.mark.parametrize("damage", ["remove", "cut"])
def test_missing_or_cut_files(pattern, damage, exported, tmp_path):
    copy = shutil.copytree(exported, tmp_path / "copy", symlinks=True)
    (victim,) = copy.glob(pattern)
    if damage == "remove":
        victim.unlink()
    else:
        victim.write_bytes(victim.read_bytes()[:-10])
    done = headrace("run", copy, "score", "--tokens", "5")
    assert done.code == 1, done.out
    assert victim.name in done.err and len(done.err.splitlines()) == 1


def test_weights_none_cannot_run(toy, tmp_path):
    assert headrace("export", toy, "-o", tmp_path / "out", "--seq", "16", "--weights", "none").code == 0
    done = headrace("run", tmp_path / "out", "score", "--tokens", "5", "--json")
    assert done.code == 1 and done.json["error"]["code"] == "archive"


def test_npy_and_precision(exported, tmp_path):
    logits = {}
    for precision, dtype in (("f32", np.float32), ("f64", np.float64)):
        path = tmp_path / f"{precision}.npy"
        done = headrace("run", exported, "score", "--tokens", "5,6,7", "-o", path, "--precision", precision, "--json")
        assert done.code == 0, done.err
        logits[precision] = np.load(path)
        assert logits[precision].dtype == dtype and logits[precision].shape == (1, 3, 48)
        assert done.json["results"] == [{"name": "logits", "dtype": "f32", "shape": [1, 3, 48]}]
        best = logits[precision][0, -1].argsort()[::-1][:5]
        assert [row["id"] for row in done.json["top"]] == best.tolist()
    assert 0 < np.abs(logits["f32"] - logits["f64"]).max() < 1e-4


def test_unwritable_result(exported, tmp_path):
    done = headrace("run", exported, "score", "--tokens", "5", "-o", tmp_path / "none" / "x.npy")
    assert done.code == 1 and "x.npy" in done.err and len(done.err.splitlines()) == 1


@pytest.mark.parametrize("k", [0, 1, 48, 1000])
def test_top(k, exported):
    done = headrace("run", exported, "score", "--tokens", "5", "--top", k, "--json")
    assert len(done.json["top"]) == min(k, 48)


def test_generate_is_repeated_scoring(exported):
    tokens = [5, 6, 7]
    done = headrace("generate", exported, "--tokens", "5,6,7", "--max-tokens", "6", "--ignore-eos", "--json")
    assert done.code == 0, done.err
    for id in done.json["tokens"]:
        best = headrace("run", exported, "score", "--tokens", ",".join(map(str, tokens)), "--top", "1", "--json").json["top"][0]["id"]
        assert best == id
        tokens.append(id)
    assert done.json["stop"] == "max-tokens"


def test_generate_ends_at_the_bound(exported):
    done = headrace("generate", exported, "--tokens", "5,6,7", "--max-tokens", "1000", "--ignore-eos", "--json")
    assert done.code == 0, done.err
    assert len(done.json["tokens"]) == 16 - 3 + 1 and done.json["stop"] == "bound"


def test_generate_prints_the_text(exported):
    arguments = ["generate", exported, "--tokens", "5,6,7", "--max-tokens", "4", "--ignore-eos"]
    whole, rest, data = headrace(*arguments), headrace(*arguments, "--quiet"), headrace(*arguments, "--json").json
    # Ids from 3 on spell ASCII from '!' on.
    assert data["prompt_text"] == "#$%"
    assert whole.out == "#$%" + data["text"] + "\n"
    assert rest.out == data["text"] + "\n" and rest.err == ""
    assert "4 tokens in " in whole.err


def test_real_tokens_of_a_known_prompt(real_model, tmp_path):
    """llama.cpp and transformers agree on these ids, whose margins are far above rounding."""
    golden = pathlib.Path(ROOT / "testdata" / "cli" / "smollm2_greedy.json")
    golden = json.loads(golden.read_text())
    assert headrace("export", real_model, "-o", tmp_path / "out", "--seq", "32").code == 0
    done = headrace("generate", tmp_path / "out", "--tokens", ",".join(map(str, golden["prompt"])), "--max-tokens",
                    len(golden["greedy"]), "--ignore-eos", "--json")
    assert done.json["tokens"] == golden["greedy"]
    assert done.json["prompt_text"] == golden["text"]


def test_a_manifest_that_tells_other_caches_than_the_module_has(toy, tmp_path):
    """Contracts that would load, run and give other tokens."""
    out = tmp_path / "out"
    assert headrace("export", toy, "-o", out, "--functions", "prefill,decode", "--seq", "8", "--kv", "static:16", "--quiet").code == 0
    manifest = json.loads((out / "manifest.json").read_text())
    decode = next(i for i, f in enumerate(manifest["functions"]) if f["name"] == "decode")

    def spoilt(change, part):
        copy = json.loads(json.dumps(manifest))
        change(copy)
        (out / "manifest.json").write_text(json.dumps(copy))
        done = headrace("generate", out, "--tokens", "5", "--max-tokens", "2")
        assert done.code == 1 and part in done.err and len(done.err.splitlines()) == 1, done.err

    def swap(copy):
        pairs = copy["functions"][decode]["state"]
        pairs[0]["result"], pairs[1]["result"] = pairs[1]["result"], pairs[0]["result"]

    spoilt(swap, "function 'decode': state: not the pairs of the module")
    spoilt(lambda copy: copy["kv"].update(capacity=12), "the capacity is 12")


def test_a_small_cache_needs_no_length(toy, tmp_path):
    """The default length is what the caches hold, if that is less than usual."""
    for functions in ("decode", "prefill,decode"):
        out = tmp_path / functions
        assert headrace("export", toy, "-o", out, "--functions", functions, "--kv", "static:8", "--quiet").code == 0
        assert headrace("generate", out, "--tokens", "5,6", "--max-tokens", "3").code == 0
