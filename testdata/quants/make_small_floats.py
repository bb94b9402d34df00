"""Writes special.<type>.{raw,f32}.npy for the element types that safetensors has and ggml lacks.

    python make_small_floats.py        (needs numpy and ml_dtypes; written with 2.4.6 and 0.6.0)

Of types of eight bits and of F4 (two in a byte) every byte there is; values from ml_dtypes, whose float4 takes a byte for
each, so that the nibbles are parted here: the low one first, as PyTorch's float4_e2m1fn_x2 has them. Of integers the ends
of their ranges, ties of f32, and random ones; values from numpy's astype.
"""
from pathlib import Path

import ml_dtypes
import numpy as np

HERE = Path(__file__).parent
ALL_BYTES = np.arange(256, dtype=np.uint8)


def write(name, raw, values):
    np.save(HERE / f"special.{name}.raw.npy", raw.view(np.uint8))
    np.save(HERE / f"special.{name}.f32.npy", values.astype(np.float32))


def integers(dtype):
    bits = np.dtype(dtype).itemsize * 8
    top = 2**bits - 1
    ties = [2**24 + 1, 2**24 + 3, 2**25 + 2, 2**40 + 2**16, 2**63 + 2**39, 2**63 + 3 * 2**39]
    fixed = [v for v in [0, 1, 2, 127, 128, 255, top // 2, top // 2 + 1, top - 1, top, *ties] if v <= top]
    return np.concatenate([np.array(fixed, dtype), np.random.default_rng(8).integers(0, top, 64, dtype, endpoint=True)])


def main():
    for name, dtype in {
        "F8_E4M3": ml_dtypes.float8_e4m3fn,
        "F8_E5M2": ml_dtypes.float8_e5m2,
        "F8_E8M0": ml_dtypes.float8_e8m0fnu,
        "F8_E4M3FNUZ": ml_dtypes.float8_e4m3fnuz,
        "F8_E5M2FNUZ": ml_dtypes.float8_e5m2fnuz,
    }.items():
        write(name, ALL_BYTES, ALL_BYTES.view(dtype))
    nibbles = np.stack([ALL_BYTES & 15, ALL_BYTES >> 4], axis=1).reshape(-1)
    write("F4", ALL_BYTES, nibbles.view(ml_dtypes.float4_e2m1fn))
    write("U8", ALL_BYTES, ALL_BYTES)
    write("BOOL", ALL_BYTES, ALL_BYTES != 0)
    for name, dtype in {"U16": np.uint16, "U32": np.uint32, "U64": np.uint64}.items():
        values = integers(dtype)
        write(name, values, values)


main()
