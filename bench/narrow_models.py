"""Milliseconds of `score` with f32 and with narrow weights, whole models, in one run.

    .venv/bin/python bench/narrow_models.py MODEL.gguf [..] [--dtypes f32,bf16] [--seq 1,16,128] [--engines xla,iree]
                                            [--rounds 15] [--headrace build/dev/headrace]

Exports each model once for each type of weight, compiles through the Python package, and calls the programs in turn, so that
noise of the machine hits them alike. For each length: the median and the least time of each type, their ratios to the first
type's, and the process's own time on all cores, which other processes disturb less.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "python"))

import headrace  # noqa: E402


def exported(binary: str, model: Path, dtype: str, lengths: str, folder: Path) -> Path:
    directory = folder / f"{model.stem}-{dtype}"
    subprocess.run([binary, "export", model, "-o", directory, "--seq", lengths, "--dtype", dtype, "--quiet"], check=True)
    return directory


def seconds(calls: dict[str, Callable[[], object]], rounds: int) -> tuple[dict[str, list[float]], dict[str, list[float]]]:
    """By the clock, and of the process's own on all cores."""
    clock: dict[str, list[float]] = {name: [] for name in calls}
    own: dict[str, list[float]] = {name: [] for name in calls}
    for i in range(rounds + 1):
        for name, call in calls.items():
            start, start_own = time.perf_counter(), time.process_time()
            call()
            if i:  # the first round warms up
                clock[name].append(time.perf_counter() - start)
                own[name].append(time.process_time() - start_own)
    return clock, own


def measure(engine: str, model: Path, directories: dict[str, Path], lengths: list[int], rounds: int) -> None:
    load = {"xla": lambda d: headrace.load(d).to_jax("score"), "iree": lambda d: headrace.load(d).to_iree("score")}[engine]
    scores = {dtype: load(directory) for dtype, directory in directories.items()}
    for length in lengths:
        tokens = [int(t) for t in np.random.default_rng(1).integers(0, 40000, length)]
        clock, own = seconds({d: (lambda s=s: np.asarray(s(tokens))) for d, s in scores.items()}, rounds)
        first = next(iter(scores))
        for dtype in scores:
            median, least, least_own = statistics.median(clock[dtype]), min(clock[dtype]), min(own[dtype])
            print(f"{engine:5} {model.stem:28} seq {length:4} {dtype:5} median {median * 1e3:8.1f} ms "
                  f"({median / statistics.median(clock[first]):4.2f})  least {least * 1e3:8.1f} ms ({least / min(clock[first]):4.2f})  "
                  f"own {least_own * 1e3:8.1f} ms ({least_own / min(own[first]):4.2f})", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+", type=Path)
    parser.add_argument("--dtypes", default="f32,bf16")
    parser.add_argument("--seq", default="1,16,128")
    parser.add_argument("--engines", default="xla,iree")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--headrace", default=str(ROOT / "build/dev/headrace"))
    options = parser.parse_args()
    lengths = [int(s) for s in options.seq.split(",")]
    for model in options.models:
        with tempfile.TemporaryDirectory() as folder:
            directories = {d: exported(options.headrace, model, d, options.seq, Path(folder)) for d in options.dtypes.split(",")}
            for engine in options.engines.split(","):
                measure(engine, model, directories, lengths, options.rounds)


if __name__ == "__main__":
    main()
