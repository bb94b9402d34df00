"""Milliseconds per token and prefill of a real model in f32, by everything that can run it, in one run.

    .venv/bin/python bench/decode_speed.py MODEL.gguf [--build build/bench] [--prompt 512] [--tokens 64] [--rounds 3]
                                           [--llama-python PYTHON] [--only NAME,..]

It needs the preset `bench` built: headrace and engine_bench. Contenders take turns, each in a process of its own. The median of a
contender's rounds is told, and the least: a step waits for memory, whose rate changes from second to second on a shared machine,
so that the least is a matter of luck.

    jax-loop    a decode loop written by hand in JAX, jitted, caches donated (bench/jax_decode.py)
    jaxlib      the export's programs on XLA by jaxlib, called from Python (caches donated)
    xla         the export on the PJRT plugin, by the library (bench/engine_bench.cpp)
    iree        the export on IREE, likewise
    interp      the export on the interpreter, likewise
    llama.cpp   by the package llama-cpp-python (in PYTHON), on a GGUF of the same weights in F32

Every contender takes two threads on this kind of machine: XLA, IREE and the interpreter one for each processor, llama.cpp as told.
All must give the same tokens. Everyone has run a text before the clock starts. Also printed: what a token takes in `headrace generate`,
which decodes text, chooses and prints, in the same round.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "python"), str(ROOT / "bench")]


def f32_gguf(source: Path, target: Path) -> None:
    """The same checkpoint with every tensor in F32."""
    import gguf

    reader = gguf.GGUFReader(source)
    architecture = reader.fields["general.architecture"].contents()
    writer = gguf.GGUFWriter(target, architecture)
    for field in reader.fields.values():
        if field.name.startswith("GGUF.") or field.name in ("general.architecture", "general.file_type"):
            continue
        sub_type = field.types[-1] if field.types[0] == gguf.GGUFValueType.ARRAY else None
        writer.add_key_value(field.name, field.contents(), field.types[0], sub_type)
    for tensor in reader.tensors:
        values = gguf.quants.dequantize(tensor.data, tensor.tensor_type).astype(np.float32)
        writer.add_tensor(tensor.name, values.reshape(tuple(reversed([int(n) for n in tensor.shape]))))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def run_jax_loop(export: str, prompt: list[int], count: int, capacity: int) -> dict:
    import jax_decode

    return jax_decode.generate(export, prompt, count, capacity)


def run_jaxlib(export: str, prompt: list[int], count: int, capacity: int) -> dict:
    import jax.numpy as jnp

    import headrace

    opened = headrace.load(export)
    prefill, decode = opened.to_jax("prefill"), opened.to_jax("decode")

    def run(steps: int) -> tuple[list[int], float, float]:
        start = time.perf_counter()
        logits, *caches = prefill(np.array([prompt], np.int32), np.array([len(prompt)], np.int32))
        tokens = [int(np.asarray(logits).reshape(-1).argmax())]
        first = time.perf_counter() - start
        while len(tokens) < steps:
            position = np.array([len(prompt) + len(tokens) - 1], np.int32)
            logits, *caches = decode(jnp.array([tokens[-1:]], jnp.int32), position, *caches)
            tokens.append(int(np.asarray(logits).reshape(-1).argmax()))
        return tokens, first, time.perf_counter() - start

    run(3)
    tokens, first, whole = run(count)
    return {"tokens": tokens, "first": first, "step": (whole - first) / (count - 1)}


def run_llama_cpp(model: str, prompt: list[int], count: int, capacity: int) -> dict:
    import llama_cpp as lib

    silent = lib.llama_log_callback(lambda *_: None)  # kept: it is called as long as the library lives
    lib.llama_log_set(silent, None)
    lib.llama_backend_init()
    loaded = lib.llama_model_load_from_file(model.encode(), lib.llama_model_default_params())
    options = lib.llama_context_default_params()
    options.n_ctx, options.n_batch, options.n_ubatch = capacity, capacity, capacity
    options.n_threads = options.n_threads_batch = 2
    options.type_k = options.type_v = 0  # F32, as the others have it
    context = lib.llama_init_from_model(loaded, options)
    vocabulary = lib.llama_vocab_n_tokens(lib.llama_model_get_vocab(loaded))

    def feed(ids: list[int]) -> int:
        held = (lib.llama_token * len(ids))(*ids)
        if lib.llama_decode(context, lib.llama_batch_get_one(held, len(ids))) != 0:
            raise SystemExit("llama_decode failed")
        return int(np.ctypeslib.as_array(lib.llama_get_logits_ith(context, -1), (vocabulary,)).argmax())

    def run(steps: int) -> tuple[list[int], float, float]:
        lib.llama_memory_clear(lib.llama_get_memory(context), True)
        start = time.perf_counter()
        tokens = [feed(prompt)]
        first = time.perf_counter() - start
        while len(tokens) < steps:
            tokens.append(feed(tokens[-1:]))
        return tokens, first, time.perf_counter() - start

    run(3)
    tokens, first, whole = run(count)
    return {"tokens": tokens, "first": first, "step": (whole - first) / (count - 1)}


IN_PYTHON = {"jax-loop": run_jax_loop, "jaxlib": run_jaxlib, "llama.cpp": run_llama_cpp}
ENGINES = ["xla", "iree", "interp"]


def plugin() -> str:
    """Where pip puts the plugin that docs/engines.md names."""
    return next((str(path) for path in Path(sys.prefix).glob("lib/python3*/site-packages/xla_plugins/xla_cpu_pjrt/*.so")), "")


def run_json(command: list[str], cache: str) -> dict:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "python"), "XDG_CACHE_HOME": cache}
    environment.setdefault("HEADRACE_PYTHON", sys.executable)
    environment.setdefault("HEADRACE_PJRT_PLUGIN", plugin())
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(done.stderr)
    return json.loads(done.stdout)


def run_headrace(build: Path, export: str, engine: str, prompt: list[int], count: int, cache: str) -> dict:
    ids = ",".join(map(str, prompt))
    made = run_json([str(build / "engine_bench"), export, engine, ids, str(count), "1"], cache)
    shown = run_json([str(build / "headrace"), "generate", export, "--tokens", ids, "--max-tokens", str(count), "--ignore-eos",
                      "--engine", engine, "--json"], cache)
    return {**made, "generate": 1 / shown["tokens_per_second"]}


def run_in_process(python: str, name: str, where: str, prompt: list[int], count: int, capacity: int) -> dict:
    done = subprocess.run([python, __file__, "--contender", name, where, json.dumps(prompt), str(count), str(capacity)],
                          capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{name}: {done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


def prompt_of(count: int) -> list[int]:
    """Ids of a text that means nothing; what a token is does not change its time."""
    return [504, 3575, 282, 4649, 314] + np.random.default_rng(1).integers(1000, 40000, count - 5).tolist()


def measure(options: argparse.Namespace, folder: Path) -> None:
    prompt, capacity = prompt_of(options.prompt), options.prompt + options.tokens
    export, plain = str(folder / "export"), str(folder / "f32.gguf")
    subprocess.run([options.build / "headrace", "export", options.model, "-o", export, "--functions", "prefill,decode", "--seq",
                    str(options.prompt), "--kv", f"static:{capacity}", "--quiet"], check=True)
    names = options.only.split(",") if options.only else ["jax-loop", "jaxlib", "xla", "iree", "interp", "llama.cpp"]
    if "llama.cpp" in names:
        f32_gguf(options.model, Path(plain))
    made: dict[str, list[dict]] = {name: [] for name in names}
    for _ in range(options.rounds):
        for name in names:
            if name in ENGINES:
                one = run_headrace(options.build, export, name, prompt, options.tokens, str(folder / "cache"))
            else:
                python = options.llama_python if name == "llama.cpp" else sys.executable
                where = plain if name == "llama.cpp" else export
                one = run_in_process(python, name, where, prompt, options.tokens, capacity)
            made[name].append(one)
            print(f"{name:10} {one['step'] * 1e3:7.2f} ms/token, prompt {one['first'] * 1e3:7.0f} ms", flush=True)
    summary(options, made)
    reference = made[names[0]][0]["tokens"]
    different = [name for name in names if any(one["tokens"] != reference for one in made[name])]
    if different:
        raise SystemExit(f"other tokens: {', '.join(different)}")


def summary(options: argparse.Namespace, made: dict[str, list[dict]]) -> None:
    print(f"\n{options.model.name}, f32, prompt of {options.prompt}, {options.tokens} tokens, {options.rounds} rounds")

    def median(name: str, key: str) -> float:
        return statistics.median(one[key] for one in made[name])

    for name, rounds in made.items():
        line = (f"{name:10} {median(name, 'step') * 1e3:6.2f} ms/token (least {min(r['step'] for r in rounds) * 1e3:.2f})"
                f"  prompt {options.prompt / median(name, 'first'):5.0f} tokens/s")
        if "generate" in rounds[0]:
            line += f"  in generate {median(name, 'generate') * 1e3:.2f} ms/token"
        for other in ("jax-loop", "llama.cpp"):
            if other in made and other != name:
                line += (f"  {median(other, 'step') / median(name, 'step'):.2f} of {other}'s rate, "
                         f"prompt {median(other, 'first') / median(name, 'first'):.2f}")
        print(line)


def main() -> None:
    if sys.argv[1:2] == ["--contender"]:
        name, where, prompt, count, capacity = sys.argv[2:]
        print(json.dumps(IN_PYTHON[name](where, json.loads(prompt), int(count), int(capacity))))
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path)
    parser.add_argument("--build", type=Path, default=ROOT / "build/bench")
    parser.add_argument("--prompt", type=int, default=512)
    parser.add_argument("--tokens", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--llama-python", default=sys.executable)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    if options.tokens < 2 or options.prompt < 6:
        parser.error("at least 2 tokens after a prompt of 6")
    with tempfile.TemporaryDirectory(prefix="headrace-bench-") as folder:
        measure(options, Path(folder))


if __name__ == "__main__":
    main()
