"""Measures the spellings of src/passes/expansions.def (and some that are not there) on both engines.

    .venv/bin/python bench/forms.py [--sizes smollm2|large|all] [--rows 1,16,128] [--seconds 1.0] [--engines xla,iree]

For each op, size and number of rows all spellings take turns in one run, so that noise of the machine hits them alike; the
least time of each counts. Printed: microseconds, GFLOP/s and the ratio to the fastest, which is what the table's `ratio` holds.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "python"), str(ROOT / "tests/engines")]

from engines import compile_iree  # noqa: E402

# out, in
SIZES = {
    "smollm2": {"q": (576, 576), "k": (192, 576), "gate": (1536, 576), "down": (576, 1536), "head": (49152, 576)},
    "large": {"q 4096": (4096, 4096), "gate 4096": (11008, 4096)},
}


def tensor(*dims: int) -> str:
    return f"tensor<{'x'.join(map(str, dims))}xf32>"


def dot_2d(s: int, n: int, k: int) -> str:
    """linear_dot_2d"""
    return f"""
    %a = stablehlo.reshape %x : ({tensor(1, s, k)}) -> {tensor(s, k)}
    %b = stablehlo.dot_general %a, %w, contracting_dims = [1] x [1] : ({tensor(s, k)}, {tensor(n, k)}) -> {tensor(s, n)}
    %r = stablehlo.reshape %b : ({tensor(s, n)}) -> {tensor(1, s, n)}"""


def dot_3d(s: int, n: int, k: int) -> str:
    """linear_dot_3d"""
    return f"""
    %r = stablehlo.dot_general %x, %w, contracting_dims = [2] x [1] : ({tensor(1, s, k)}, {tensor(n, k)}) -> {tensor(1, s, n)}"""


def dot_weight_first(s: int, n: int, k: int) -> str:
    """Weight on the left, the product turned afterwards."""
    return f"""
    %a = stablehlo.reshape %x : ({tensor(1, s, k)}) -> {tensor(s, k)}
    %b = stablehlo.dot_general %w, %a, contracting_dims = [1] x [1] : ({tensor(n, k)}, {tensor(s, k)}) -> {tensor(n, s)}
    %c = stablehlo.transpose %b, dims = [1, 0] : ({tensor(n, s)}) -> {tensor(s, n)}
    %r = stablehlo.reshape %c : ({tensor(s, n)}) -> {tensor(1, s, n)}"""


def dot_batched(s: int, n: int, k: int) -> str:
    """A batch dim of 1 on both sides."""
    return f"""
    %a = stablehlo.reshape %w : ({tensor(n, k)}) -> {tensor(1, n, k)}
    %r = stablehlo.dot_general %x, %a, batching_dims = [0] x [0], contracting_dims = [2] x [2] : ({tensor(1, s, k)}, {tensor(1, n, k)}) -> {tensor(1, s, n)}"""


SPELLINGS: dict[str, Callable[[int, int, int], str]] = {
    "dot-2d": dot_2d, "dot-3d": dot_3d, "weight-first": dot_weight_first, "batched": dot_batched}


def function(name: str, spelling: Callable[[int, int, int], str], s: int, n: int, k: int) -> str:
    return (f"  func.func public @{name}(%x: {tensor(1, s, k)}, %w: {tensor(n, k)}) -> {tensor(1, s, n)} {{"
            f"{spelling(s, n, k)}\n    return %r : {tensor(1, s, n)}\n  }}\n")


def xla_runs(s: int, n: int, k: int, x: np.ndarray, w: np.ndarray) -> dict[str, Callable[[], np.ndarray]]:
    import jax
    from jaxlib import _jax, xla_client

    client = jax.extend.backend.get_backend("cpu")
    devices = _jax.DeviceList(tuple(client.devices()[:1]))
    placed = [jax.device_put(x), jax.device_put(w)]
    runs = {}
    for name, spelling in SPELLINGS.items():
        text = "module {\n" + function("main", spelling, s, n, k) + "}\n"
        program = client.compile_and_load(text, devices, xla_client.CompileOptions())
        runs[name] = lambda program=program: program.execute(placed)[0].block_until_ready()
    return runs


def iree_runs(s: int, n: int, k: int, x: np.ndarray, w: np.ndarray) -> dict[str, Callable[[], np.ndarray]]:
    text = "module @forms {\n" + "".join(
        function(name.replace("-", "_"), spelling, s, n, k) for name, spelling in SPELLINGS.items()) + "}\n"
    module = compile_iree(text, device="local-task")
    placed = [module.place(x), module.place(w)]
    return {name: lambda call=module.function(name.replace("-", "_")): call(*placed) for name in SPELLINGS}


def least_seconds(runs: dict[str, Callable[[], object]], seconds: float) -> dict[str, float]:
    least = dict.fromkeys(runs, float("inf"))
    end = time.perf_counter() + seconds
    rounds = 0
    while rounds < 5 or time.perf_counter() < end:
        for name, run in runs.items():
            start = time.perf_counter()
            run()
            least[name] = min(least[name], time.perf_counter() - start)
        rounds += 1
    return least


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="all", choices=["all", *SIZES])
    parser.add_argument("--rows", default="1,16,128")
    parser.add_argument("--seconds", type=float, default=1.0, help="for each op, size, number of rows and engine")
    parser.add_argument("--engines", default="xla,iree")
    options = parser.parse_args()
    sizes = {name: size for group, members in SIZES.items() if options.sizes in ("all", group)
             for name, size in members.items()}
    makers = {"xla": xla_runs, "iree": iree_runs}
    rng = np.random.default_rng(1)
    print(f"{'engine':6} {'linear':10} {'rows':>4}  " + "".join(f"{name:>26}" for name in SPELLINGS))
    for name, (n, k) in sizes.items():
        w = rng.standard_normal((n, k), dtype=np.float32)
        for s in map(int, options.rows.split(",")):
            x = rng.standard_normal((1, s, k), dtype=np.float32)
            wanted = x[0] @ w.T
            for engine in options.engines.split(","):
                runs = makers[engine](s, n, k, x, w)
                for spelling, run in runs.items():
                    error = np.abs(np.asarray(run())[0] - wanted).max()
                    assert error < 1e-3, (engine, spelling, error)
                least = least_seconds(runs, options.seconds)
                best = min(least.values())
                cells = "".join(f"{t * 1e6:10.1f} us {2e-9 * s * n * k / t:5.0f} {t / best:6.2f}" for t in least.values())
                print(f"{engine:6} {name:10} {s:4}  {cells}", flush=True)


if __name__ == "__main__":
    main()
