"""Measures the spellings of src/passes/expansions.def (and some that are not there) on both engines.

    .venv/bin/python bench/forms.py [--weights f32|bf16|f16] [--sizes smollm2|gemma3|large] [--only NAME,..] [--rows 1,16,128]
                                    [--seconds 1.0] [--engines xla,iree] [--spellings NAME,..] [--xla-defaults]

For each op, size and number of rows all spellings take turns in one run, so that noise of the machine hits them alike; the
least time of each counts. Printed: microseconds, GFLOP/s and the ratio to the fastest, which is what the table's `ratio`
holds. With narrow weights, the first line is the same product with f32 weights, and the last column the ratio to it, by the
process's own time on all cores, which other processes disturb less than the clock. XLA compiles bf16 forms with the Python
package's compiler options, or with none (--xla-defaults). The first line of all is what memory gives two threads that copy.

A program multiplies several weights of one size, so many that they do not fit the caches together, one after the other: as in
a model, what is made of one weight can be put where it was made of the one before.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "python"), str(ROOT / "tests/engines")]

import narrow_spellings as narrow  # noqa: E402
from engines import compile_iree  # noqa: E402

from headrace.xla import BF16_CPU_OPTIONS  # noqa: E402

# out, in
SIZES = {
    "smollm2": {"q": (576, 576), "k": (192, 576), "gate": (1536, 576), "down": (576, 1536), "head": (49152, 576)},
    "gemma3": {"q": (1024, 640), "k": (256, 640), "gate": (2048, 640), "down": (640, 2048), "head": (262144, 640)},
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


F32_SPELLINGS: dict[str, Callable[[int, int, int], str]] = {
    "dot-2d": dot_2d, "dot-3d": dot_3d, "weight-first": dot_weight_first, "batched": dot_batched}
NOT_ASKED_FOR = ("f32", "rounded", "split2")  # another product, or one that rounds x
APART_BYTES = 96 << 20  # more than the caches hold


class Case:
    """One product of one size in all its spellings."""

    def __init__(self, weights: str, s: int, n: int, k: int) -> None:
        import ml_dtypes

        self.s, self.n, self.k = s, n, k
        self.copies = max(1, min(64, APART_BYTES // (n * k * 4)))
        rng = np.random.default_rng(1)
        x = rng.standard_normal((s, k), dtype=np.float32)
        wide = [rng.standard_normal((n, k), dtype=np.float32) for _ in range(self.copies)]
        self.texts: dict[str, str] = {}
        self.arguments: dict[str, list[np.ndarray]] = {}
        if weights == "f32":
            self.wanted = x.astype(np.float64) @ wide[-1].T.astype(np.float64)
            for name, spelling in F32_SPELLINGS.items():
                self._add(name, spelling(s, n, k), tensor(1, s, k), "f32", tensor(1, s, n), [x[None], *wide])
            return
        dtype = np.dtype(ml_dtypes.bfloat16 if weights == "bf16" else np.float16)
        thin = [w.astype(dtype) for w in wide]
        self.wanted = x.astype(np.float64) @ thin[-1].T.astype(np.float64)
        self._add("f32", narrow.dot(s, n, k, "f32"), tensor(s, k), "f32", tensor(s, n), [x, *wide])
        for name, spelling in narrow.SPELLINGS.items():
            body = spelling(s, n, k, weights)
            if body is not None:
                self._add(name, body, tensor(s, k), weights, tensor(s, n), [x, *thin])

    def _add(self, name: str, body: str, x: str, element: str, result: str, arguments: list[np.ndarray]) -> None:
        weight = narrow.t(self.n, self.k, of=element)
        rank3 = result.count("x") == 3
        column = result.replace(f"x{self.n}xf32", "x1xf32")
        ends = ", ".join(f"0:{d}" for d in ([1] if rank3 else []) + [self.s, 1])
        last = 2 if rank3 else 1
        chain = ""
        for i in range(self.copies):
            chain += f"    %r{i} = func.call @one(%x{i}, %w{i}) : ({x}, {weight}) -> {result}\n"
            if i + 1 < self.copies:
                chain += f"    %x{i + 1} = func.call @after(%x{i}, %r{i}) : ({x}, {result}) -> {x}\n"
        self.texts[name] = f"""
  func.func private @one(%x: {x}, %w: {weight}) -> {result} {{{body}
    return %r : {result}
  }}
  // x again, to f32's precision; the barrier lest only the columns that are read are computed.
  func.func private @after(%x: {x}, %y: {result}) -> {x} {{
    %tiny = stablehlo.constant dense<1.0e-30> : {narrow.t()}
    %whole = stablehlo.optimization_barrier %y : {result}
    %a = stablehlo.slice %whole [{ends}] : ({result}) -> {column}
    %b = stablehlo.broadcast_in_dim %a, dims = {list(range(last + 1))} : ({column}) -> {x}
    %c = stablehlo.broadcast_in_dim %tiny, dims = [] : ({narrow.t()}) -> {x}
    %d = stablehlo.multiply %b, %c : {x}
    %e = stablehlo.add %x, %d : {x}
    return %e : {x}
  }}
  func.func public @main(%x0: {x}, {", ".join(f"%w{i}: {weight}" for i in range(self.copies))}) -> {result} {{
{chain}    return %r{self.copies - 1} : {result}
  }}
"""
        self.arguments[name] = arguments


def xla_runs(case: Case, options: dict[str, str]) -> dict[str, Callable[[], np.ndarray]]:
    import jax
    import jax.extend
    from jaxlib import _jax, xla_client

    client = jax.extend.backend.get_backend("cpu")
    devices = _jax.DeviceList(tuple(client.devices()[:1]))
    placed: dict[int, object] = {}
    runs = {}
    for name, text in case.texts.items():
        arguments = [placed.setdefault(id(a), jax.device_put(a)) for a in case.arguments[name]]
        compile_options = xla_client.CompileOptions()
        compile_options.env_option_overrides = [] if name == "f32" else list(options.items())
        program = client.compile_and_load("module {" + text + "}\n", devices, compile_options)

        def run(program=program, arguments=arguments) -> np.ndarray:
            return program.execute(arguments)[0].block_until_ready()

        runs[name] = run
    return runs


def iree_runs(case: Case) -> dict[str, Callable[[], np.ndarray]]:
    runs = {}
    for name, text in case.texts.items():
        module = compile_iree("module @forms {" + text + "}\n", device="local-task")
        arguments = [module.place(a) for a in case.arguments[name]]

        def run(call=module.function("main"), arguments=arguments) -> np.ndarray:
            return call(*arguments)

        runs[name] = run
    return runs


def least_seconds(runs: dict[str, Callable[[], object]], seconds: float) -> tuple[dict[str, float], dict[str, float]]:
    """By the clock, and of the process's own time on all cores."""
    least = dict.fromkeys(runs, float("inf"))
    own = dict(least)
    end = time.perf_counter() + seconds
    rounds = 0
    while rounds < 5 or time.perf_counter() < end:
        for name, run in runs.items():
            start, start_own = time.perf_counter(), time.process_time()
            run()
            least[name] = min(least[name], time.perf_counter() - start)
            own[name] = min(own[name], time.process_time() - start_own)
        rounds += 1
    return least, own


def copy_gb_per_second() -> float:
    """Bytes read and written by two threads that each copy 256 MB."""
    def copy(pair: tuple[np.ndarray, np.ndarray]) -> None:
        np.copyto(*pair)

    pairs = [(np.ones(1 << 26, np.float32), np.ones(1 << 26, np.float32)) for _ in range(2)]
    best = float("inf")
    with ThreadPoolExecutor(2) as pool:
        for _ in range(5):
            start = time.perf_counter()
            list(pool.map(copy, pairs))
            best = min(best, time.perf_counter() - start)
    return 4 * pairs[0][0].nbytes / best / 1e9


def measure(engine: str, title: str, case: Case, seconds: float, options: dict[str, str]) -> None:
    runs = xla_runs(case, options) if engine == "xla" else iree_runs(case)
    scale = np.abs(case.wanted).max()
    errors = {}
    for name, run in runs.items():
        errors[name] = float(np.abs(np.asarray(run()).reshape(case.wanted.shape) - case.wanted).max() / scale)
        assert errors[name] < 1e-5 or name in NOT_ASKED_FOR, (engine, name, errors[name])
    least, own = least_seconds(runs, seconds)
    base = own.get("f32", min(own.values()))
    best = min(t for name, t in least.items() if name not in NOT_ASKED_FOR)
    work = 2e-9 * case.s * case.n * case.k * case.copies
    for name, t in least.items():
        print(f"{engine:5} {title:18} {case.s:4} {name:14} {t / case.copies * 1e6:10.1f} us {work / t:7.1f} GFLOP/s "
              f"{t / best:7.2f}  own {own[name] / case.copies * 1e6:10.1f} us {own[name] / base:6.2f}  error {errors[name]:.1e}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--weights", default="f32", choices=["f32", "bf16", "f16"])
    parser.add_argument("--sizes", default=",".join(SIZES))
    parser.add_argument("--only", default="", help="names of products, such as gate,head")
    parser.add_argument("--rows", default="1,16,128")
    parser.add_argument("--seconds", type=float, default=1.0, help="for each op, size, number of rows and engine")
    parser.add_argument("--engines", default="xla,iree")
    parser.add_argument("--spellings", default="", help="of narrow weights; all without it")
    parser.add_argument("--xla-defaults", action="store_true")
    options = parser.parse_args()
    if options.spellings:
        for name in set(narrow.SPELLINGS) - set(options.spellings.split(",")):
            del narrow.SPELLINGS[name]
    xla_options = BF16_CPU_OPTIONS if options.weights == "bf16" and not options.xla_defaults else {}
    print(f"copy {copy_gb_per_second():.1f} GB/s read and written, {xla_options or 'default options'}", flush=True)
    for group in options.sizes.split(","):
        for name, (n, k) in SIZES[group].items():
            if options.only and name not in options.only.split(","):
                continue
            for s in map(int, options.rows.split(",")):
                case = Case(options.weights, s, n, k)
                for engine in options.engines.split(","):
                    measure(engine, f"{group} {name}", case, options.seconds, xla_options)


if __name__ == "__main__":
    main()
