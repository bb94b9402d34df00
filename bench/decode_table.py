"""One run, one table: every block type's decoding rates by decode_bench and by gguf-py, and whether the results are equal.

    .venv/bin/python bench/decode_table.py [--bench build/bench/decode_bench] [--rounds 5] [--repeats 2] [TYPE...]

For each type, 2^25 elements in random blocks with finite scales are decoded by gguf-py and by decode_bench, one after the
other, --repeats times; the best rate of each counts, in G elements/s of one core's own time. The results must be equal bit for bit:
f32 to gguf-py's, bf16 and f16 to those rounded by ml_dtypes and numpy. Types that gguf-py does not decode have no rate and
are compared with nothing here (their goldens: testdata/quants); plain numbers are numpy's own conversions.
The goal is what decode_f32 should reach: the lesser of 10 times gguf-py and 0.9 times memcpy of the output.
"""
import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import gguf
import ml_dtypes
import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "testdata/quants"))

from make_random import LAYOUTS, LONG_LAYOUTS, TYPES, as_bytes, finite_halves, set_iq1_m_scale  # noqa: E402

ELEMENTS = 1 << 25
ROW = 4096
SCALES = LAYOUTS | LONG_LAYOUTS | {TYPES.Q4_0: (0,), TYPES.Q4_1: (0, 2), TYPES.IQ4_NL: (0,)}
PLAIN = {"F32": np.float32, "F16": np.float16, "F64": np.float64, "I8": np.int8, "I16": np.int16, "I32": np.int32, "I64": np.int64}
NOT_IN_GGUF_PY = {"Q8_1": (32, 36), "Q8_K": (256, 292), "Q1_0": (128, 18), "Q2_0": (64, 18)}


def geometry(name):
    return NOT_IN_GGUF_PY.get(name) or gguf.GGML_QUANT_SIZES[TYPES[name]]


def random_blocks(rng, name):
    elements, size = geometry(name)
    raw = np.frombuffer(rng.bytes(ELEMENTS // elements * size), np.uint8).reshape(-1, size).copy()
    if name in PLAIN and PLAIN[name](0).dtype.kind == "f":
        return rng.standard_normal(ELEMENTS).astype(PLAIN[name]).view(np.uint8)
    if name == "BF16":
        return rng.standard_normal(ELEMENTS).astype(np.float32).astype(ml_dtypes.bfloat16).view(np.uint8)
    if name in NOT_IN_GGUF_PY:
        return raw & 0xBF  # no scale is infinite or NaN
    if name in PLAIN:
        return raw
    for at in SCALES.get(TYPES[name], ()):
        raw[:, at:at + 2] = as_bytes(finite_halves(rng, len(raw)))
    if name == "IQ1_M":
        set_iq1_m_scale(raw, finite_halves(rng, len(raw)))
    return raw


def decode_by_python(name, raw):
    """Values as f32 and the seconds it took; None where there is no oracle here."""
    if name in NOT_IN_GGUF_PY:
        return None, None
    elements, size = geometry(name)
    rows = raw.reshape(-1, ROW // elements * size)
    begin = time.thread_time()
    if name in PLAIN:
        values = rows.view(PLAIN[name]).astype(np.float32)
    else:
        values = gguf.quants.dequantize(rows, TYPES[name])
    return values.ravel(), time.thread_time() - begin


def run_bench(bench, name, folder, rounds):
    command = [bench, "--raw", folder, "--write", "--rounds", str(rounds), name]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return [float(x) for x in text.splitlines()[1].split()[1:7]]


def is_equal(name, values, folder):
    ok = np.array_equal(np.fromfile(folder / f"{name}.f32", np.uint32), values.view(np.uint32))
    bf16 = values.astype(ml_dtypes.bfloat16).view(np.uint16)
    f16 = values.astype(np.float16).view(np.uint16)
    return (ok and np.array_equal(np.fromfile(folder / f"{name}.bf16", np.uint16), bf16)
            and np.array_equal(np.fromfile(folder / f"{name}.f16", np.uint16), f16))


def measure(args, name, folder, rng):
    raw = random_blocks(rng, name)
    raw.tofile(folder / f"{name}.raw")
    best, python = np.zeros(6), 0.0
    for _ in range(args.repeats):
        values, seconds = decode_by_python(name, raw)
        python = max(python, ELEMENTS / seconds / 1e9) if seconds else python
        best = np.maximum(best, run_bench(args.bench, name, folder, args.rounds))
    equal = "no oracle" if values is None else "equal" if is_equal(name, values, folder) else "DIFFERENT"
    for path in folder.iterdir():
        path.unlink()
    return best, python, equal, ELEMENTS // geometry(name)[0]


def line(name, best, python, equal, blocks):
    scalar, f32, bf16, f16, copy_f32, copy_half = best
    goal = min(0.9 * copy_f32, 10 * python) if python else 0.9 * copy_f32
    times = f"{f32 / python:6.1f}" if python else "     -"
    return (f"| {name:7} | {blocks:8} | {equal:9} | {scalar:6.3f} | {f32:6.3f} | {bf16:6.3f} | {f16:6.3f} | {python:6.3f} "
            f"| {times} | {f32 / copy_f32:4.0%} | {bf16 / copy_half:4.0%} | {f16 / copy_half:4.0%} | {'yes' if f32 >= goal else 'no':3} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bench", default=str(ROOT / "build/bench/decode_bench"))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("types", nargs="*", default=None)
    args = parser.parse_args()
    rng = np.random.default_rng(1)
    print("| type    | blocks   | result    | scalar | f32    | bf16   | f16    | gguf-py | ratio | f32/copy | bf16/copy | f16/copy | goal |")
    print("|---------|---------:|-----------|-------:|-------:|-------:|-------:|--------:|------:|---------:|----------:|---------:|------|")
    failed = False
    with tempfile.TemporaryDirectory() as folder, np.errstate(over="ignore"):
        for name in args.types or [kind.name for kind in TYPES if kind.name != "Q2_0"] + ["Q2_0"]:
            best, python, equal, blocks = measure(args, name, Path(folder), rng)
            failed |= equal == "DIFFERENT"
            print(line(name, best, python, equal, blocks), flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
