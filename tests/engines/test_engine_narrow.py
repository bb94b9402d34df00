"""bf16 and f16 weights on the engines, against the interpreter in f64 on the same archive (which test_engine_narrow_archives.py
holds to numpy's and ml_dtypes' rounding): activations are not rounded anywhere, or they would be 1e-2 apart."""

import functools
import gc
import itertools
import json
import subprocess
from pathlib import Path

import jax
import numpy as np
import pytest

import headrace
from headrace.dtypes import numpy_dtype

ROOT = Path(__file__).resolve().parents[2]
ZOO = ROOT / "testdata/zoo"
REAL = ROOT / "testdata/real"
TOLERANCE = 1e-3
ENGINES = ("interp", "xla", "iree", "iree-dynamic")
VOCABULARY = {"smollm2": 49152, "gemma3": 262144}
LENGTH = 72


def prompts(model):
    names = {"smollm2": ("smollm2.f32.json", "smollm2.extra_handed.json"), "gemma3": ("gemma3.json",)}[model]
    rows = [p for name in names for p in json.loads((REAL / name).read_text())["prompts"]]
    return {p["name"]: p for p in rows if len(p["ids"]) + len(p["greedy"]) <= LENGTH}


@pytest.fixture(scope="module")
def run(headrace_bin, tmp_path_factory):
    """run(folder, tokens, precision): logits by the interpreter."""

    def interpret(folder, tokens, precision="f32"):
        path = tmp_path_factory.mktemp("interp") / "logits.npy"
        subprocess.run([headrace_bin, "run", folder, "score", "--tokens", ",".join(map(str, tokens)), "-o", path, "--quiet",
                        "--precision", precision], check=True, capture_output=True)
        logits = np.load(path)[0]
        path.unlink()
        return logits

    return interpret


@pytest.fixture(scope="module")
def scorer(make_export, run, compiled_cache):
    """scorer(engine, path, dtype, seq): tokens -> logits [n, vocabulary]. Keeps one program in memory."""

    @functools.lru_cache(maxsize=1)
    def make(engine, path, dtype, seq):
        gc.collect()
        if engine == "iree-dynamic":
            folder = make_export(path, "dynamic", "iree", "--dtype", dtype)
        else:
            folder = make_export(path, seq, "iree,xla", "--dtype", dtype)
        if engine == "interp":
            return lambda tokens: run(folder, tokens)
        export = headrace.load(folder)
        score = export.to_jax("score") if engine == "xla" else export.to_iree("score", cache=compiled_cache)
        return lambda tokens: np.asarray(score(tokens))[0]

    return make


@pytest.mark.parametrize("model, dtype, engine", list(itertools.product(["llama", "llama_bias", "gemma3"], ["bf16", "f16"], ENGINES)))
def test_tiny_models(make_export, run, scorer, table, model, dtype, engine):
    """One, few and many rows of activations: each has its spelling."""
    path = ZOO / model / f"{model}.f32.gguf"
    prompt = json.loads((ZOO / model / "golden.json").read_text())["prompts"][1]
    worst = 0.0
    for length in (1, 7, 23):
        exact = run(make_export(path, "1,7,23", "iree,xla", "--dtype", dtype), prompt["ids"][:length], "f64")
        worst = max(worst, float(np.abs(scorer(engine, path, dtype, "1,7,23")(prompt["ids"][:length]) - exact).max()))
    table("Tiny models, narrow weights: model, type, engine, largest distance from f64", f"{model:10} {dtype:5} {engine:12} {worst:.2e}")
    assert worst <= 3e-5


@functools.cache
def exact_logits(run, folder, tokens):
    return run(folder, list(tokens), "f64")


@pytest.mark.parametrize("model, engine", list(itertools.product(VOCABULARY, ENGINES)))
def test_real_models_in_bf16(request, make_export, run, scorer, table, model, engine):
    """Golden ids are fed; how many of the golden tokens bf16 weights no longer choose is reported, not judged."""
    path = request.getfixturevalue(model)
    folder = make_export(path, LENGTH, "iree,xla", "--dtype", "bf16")
    score = scorer(engine, path, "bf16", LENGTH)
    worst, steps, left = 0.0, 0, []
    for prompt in prompts(model).values():
        tokens = prompt["ids"] + prompt["greedy"]
        exact, logits = exact_logits(run, folder, tuple(tokens)), score(tokens)
        worst = max(worst, float(np.abs(logits - exact).max()))
        for j, golden in enumerate(prompt["greedy"]):
            steps += 1
            if int(logits[len(prompt["ids"]) - 1 + j].argmax()) != golden:
                left.append(prompt["greedy_margins"][j])
    table("Real models in bf16: model, engine, largest distance from f64, tokens that leave the f32 golden (their f32 margins)",
          f"{model:8} {engine:12} {worst:.2e}  {len(left)}/{steps} ({', '.join(f'{m:.2g}' for m in sorted(left))})")
    assert worst <= TOLERANCE


def test_xla_lays_out_no_converted_weight(make_export, smollm2):
    """Under the package's compiler options the bf16 program needs no more memory beside arguments and results than the f32
    one; by default XLA would make f32 weights in memory on every call (540 MB here)."""
    temporary = {}
    for dtype in ("f32", "bf16"):
        export = headrace.load(make_export(smollm2, LENGTH, "iree,xla", "--dtype", dtype))
        specs = [jax.ShapeDtypeStruct(shape, numpy_dtype(of)) for _, shape, of in export.arguments("score")]
        lowered = jax.jit(export.exported("score").call).lower(*specs)
        compiled = lowered.compile(compiler_options=export.compiler_options("score") or None)
        temporary[dtype] = compiled.memory_analysis().temp_size_in_bytes
    assert temporary["bf16"] <= temporary["f32"] + (8 << 20)


def test_one_position_is_compiled_plainly(make_export):
    """Spelt as sums, which the option makes slower: by a symbol of 1, or because the function takes one token."""
    export = headrace.load(make_export(ZOO / "llama/llama.f32.gguf", "1,8", "xla", "--dtype", "bf16", "--functions", "score,prefill,decode",
                                       "--kv", "static:16"))
    assert export.compiler_options("decode") == {}
    assert export.compiler_options("score", symbols={"seq": 1}) == {}
    assert export.compiler_options("score", symbols={"seq": 8}) != {}


@pytest.mark.parametrize("model, dtype, engine", list(itertools.product(VOCABULARY, ["f32", "bf16"], ["iree", "iree-dynamic"])))
def test_the_top_of_the_vocabulary_is_fed_back(request, make_export, run, scorer, model, dtype, engine):
    """Ids that a model generates are fed back; the last sixteen, which added tokens have, must be looked up like all others."""
    path = request.getfixturevalue(model)
    tokens = prompts(model)["english"]["ids"] + list(range(VOCABULARY[model] - 16, VOCABULARY[model]))
    exact = run(make_export(path, LENGTH, "iree,xla", "--dtype", dtype), tokens, "f64")
    score = scorer(engine, path, dtype, LENGTH)
    for length in range(len(tokens) - 16, len(tokens) + 1):  # one more id at a time, as decoding does
        apart = np.abs(score(tokens[:length])[-1] - exact[length - 1]).max()
        assert apart <= 5e-4 if dtype == "f32" else apart <= TOLERANCE, length
