"""`headrace generate` with caches on the three engines: the golden continuation under every policy that an engine takes, prompts that
run as chunks, caches that fill up."""

import json
from pathlib import Path

import numpy as np
import pytest

ZOO = Path(__file__).resolve().parents[2] / "testdata/zoo"
ENGINES = ["interp", "xla", "iree"]
FUNCTIONS = ["--functions", "prefill,chunk,decode"]
POLICIES = {
    "static": (("interp", "xla", "iree"), ["--kv", "static:40"]),
    "ring": (("interp", "xla", "iree"), ["--kv", "static:40", "--kv-local", "ring"]),
    "token": (("interp", "xla", "iree"), ["--kv", "static:40", "--result", "token"]),
    "logits": (("interp", "xla", "iree"), ["--kv", "static:40", "--result", "logits"]),
    "concat": (("interp", "iree"), ["--kv", "concat"]),
    "globals": (("interp", "iree"), ["--kv", "static:40", "--kv-storage", "globals"]),
}
CASES = [(policy, engine) for policy, (engines, _) in POLICIES.items() for engine in engines]


def prompts(model):
    return json.loads((ZOO / model / "golden.json").read_text())["prompts"]


def ids(tokens):
    return ",".join(map(str, tokens))


def exported(make_export, model, policy):
    _, options = POLICIES[policy]
    target = "iree,xla" if "xla" in POLICIES[policy][0] else "iree"
    return make_export(ZOO / model / f"{model}.f32.gguf", "4,16", target, *FUNCTIONS, *options)


@pytest.mark.parametrize("model", ["llama", "gemma3"])
@pytest.mark.parametrize("policy, engine", CASES)
def test_continuations(make_export, headrace, model, policy, engine):
    """Prompts of 7 and more tokens in programs of 4 and 16."""
    export = exported(make_export, model, policy)
    for prompt in prompts(model):
        done = headrace("generate", export, "--tokens", ids(prompt["ids"]), "--max-tokens", len(prompt["greedy"]), "--ignore-eos",
                        "--engine", engine, "--json")
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["tokens"] == prompt["greedy"]


@pytest.mark.parametrize("model", ["llama", "gemma3"])
@pytest.mark.parametrize("engine", ["interp", "xla", "iree"])
def test_long_prompts_and_full_caches(make_export, headrace, engine, model):
    """Of a text of 40 tokens each beginning predicts what `score` predicts; the cache of 40 takes no token more."""
    score = make_export(ZOO / model / f"{model}.f32.gguf", 40)
    cached = exported(make_export, model, "static")
    text = [t for p in prompts(model) for t in p["ids"] + p["greedy"]]
    text = (text * 4)[:40]
    for count in (1, 4, 5, 16, 17, 20, 33, 39, 40):
        made = [json.loads(headrace("generate", export, "--tokens", ids(text[:count]), "--max-tokens", 1, "--ignore-eos",
                                    "--engine", which, "--json").stdout)["tokens"]
                for export, which in ((score, "interp"), (cached, engine))]
        assert made[0] == made[1], count
    done = headrace("generate", cached, "--tokens", ids(text[:38]), "--max-tokens", 9, "--ignore-eos", "--engine", engine, "--json")
    assert done.returncode == 1 and json.loads(done.stdout)["error"]["code"] == "cache-full"
    assert done.stderr == ("error: the cache is full: it holds 40 of 40 tokens, 1 more do not fit (headrace export --kv)\n")
    done = headrace("generate", cached, "--tokens", ids([1] * 41), "--engine", engine)
    assert done.stderr == "error: 41 tokens, more than the cache's capacity of 40 (headrace export --kv)\n"


@pytest.mark.parametrize("engine", ["interp", "xla", "iree"])
def test_run_with_caches(make_export, headrace, tmp_path, engine):
    """prefill, then decode, by `run`: caches go through files."""
    export = exported(make_export, "llama", "static")
    (prompt, *_) = prompts("llama")
    done = headrace("run", export, "prefill", "--tokens", ids(prompt["ids"]), "--engine", engine, "-o", f"{tmp_path}/one/", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["top"][0]["id"] == prompt["greedy"][0]
    caches = [f"--input={p.stem}={p}" for p in (tmp_path / "one").glob("cache.*.npy")]
    assert len(caches) == 4
    done = headrace("run", export, "decode", "--tokens", prompt["greedy"][0], "--input", f"position={len(prompt['ids'])}", *caches,
                    "--engine", engine, "--json", "-o", tmp_path / "logits.npy")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["top"][0]["id"] == prompt["greedy"][1]
    assert np.load(tmp_path / "logits.npy").shape == (1, 320)
    # From nothing, and beyond what there is.
    common = ["run", export, "decode", "--tokens", "5", "--input", "caches=zeros", "--engine", engine]
    assert headrace(*common, "--input", "position=0").returncode == 0
    for position, part in ((40, "the cache is full: 1 tokens at position 40 of 40"), (-1, "position -1, expected 0 or more")):
        done = headrace(*common, "--input", f"position={position}")
        assert done.returncode == 1 and part in done.stderr and len(done.stderr.splitlines()) == 1, done.stderr


@pytest.mark.parametrize("engine", ENGINES)
def test_a_batch_runs_call_by_call(make_export, headrace, tmp_path, engine):
    """Two texts of different lengths; each row is checked against the caches' room."""
    export = make_export(ZOO / "llama/llama.f32.gguf", 16, "iree,xla", "--functions", "prefill,decode", "--kv", "static:16", "--batch",
                         "2", "--result", "token")
    prompt = prompts("llama")[0]
    lengths = [len(prompt["ids"]), len(prompt["ids"]) + 2]
    tokens = np.zeros((2, 16), np.int32)
    for row, length in zip(tokens, lengths):
        row[:length] = [*prompt["ids"], *prompt["greedy"]][:length]
    np.save(tmp_path / "tokens.npy", tokens)
    done = headrace("run", export, "prefill", "--input", f"tokens={tmp_path}/tokens.npy", "--input", f"length={ids(lengths)}",
                    "--engine", engine, "-o", f"{tmp_path}/one/")
    assert done.returncode == 0, done.stderr
    assert np.load(tmp_path / "one/token.npy").tolist() == [prompt["greedy"][0], prompt["greedy"][2]]
    step = ["run", export, "decode", "--input", f"tokens={prompt['greedy'][0]},{prompt['greedy'][2]}", "--engine", engine,
            *(f"--input={p.stem}={p}" for p in (tmp_path / "one").glob("cache.*.npy"))]
    done = headrace(*step, "--input", f"position={ids(lengths)}", "-o", tmp_path / "next.npy")
    assert done.returncode == 0, done.stderr
    assert np.load(tmp_path / "next.npy").tolist() == [prompt["greedy"][1], prompt["greedy"][3]]
    done = headrace(*step, "--input", f"position={lengths[0]},16")
    assert done.returncode == 1 and "1 tokens at position 16 of 16" in done.stderr and len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("engine", ["interp", "iree"])
@pytest.mark.parametrize("functions", ["decode", "chunk,decode"])
def test_growing_caches_from_nothing(make_export, headrace, engine, functions):
    export = make_export(ZOO / "llama/llama.f32.gguf", 4, "iree", "--functions", functions, "--kv", "concat")
    prompt = prompts("llama")[0]
    done = headrace("generate", export, "--tokens", ids(prompt["ids"]), "--max-tokens", len(prompt["greedy"]), "--ignore-eos", "--engine",
                    engine, "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["tokens"] == prompt["greedy"]


@pytest.mark.parametrize("count, given", [(0, 0), (-3, 0), (1, 1), (3, 3)])
def test_generate_gives_as_many_as_it_is_asked_for(make_export, headrace, tmp_path, count, given):
    export = make_export(ZOO / "llama/llama.f32.gguf", 16, "xla", "--functions", "generate", "--kv", "static:24")
    prompt = prompts("llama")[0]
    tokens = np.zeros((1, 16), np.int32)
    tokens[0, :len(prompt["ids"])] = prompt["ids"]
    np.save(tmp_path / "tokens.npy", tokens)
    done = headrace("run", export, "generate", "--input", f"tokens={tmp_path}/tokens.npy", "--input", f"length={len(prompt['ids'])}", "--input",
                    f"count={count}", "-o", tmp_path / "out.npy")
    assert done.returncode == 0, done.stderr
    out = np.load(tmp_path / "out.npy")[0].tolist()
    assert out == prompt["greedy"][:given] + [-1] * (24 - given)


def test_a_batch_is_refused(make_export, headrace):
    export = make_export(ZOO / "llama/llama.f32.gguf", 4, "iree,xla", *FUNCTIONS, "--kv", "static:8", "--batch", "2")
    done = headrace("generate", export, "--tokens", "1,2")
    assert done.returncode == 1 and "only a batch of 1 can be continued" in done.stderr and len(done.stderr.splitlines()) == 1
