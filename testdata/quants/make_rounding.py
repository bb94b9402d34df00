"""Writes rounding.{f32,bf16,f16}.npy: f32 values, and their bits as bf16 by ml_dtypes and as f16 by numpy.

    python make_rounding.py        (needs numpy and ml_dtypes; written with numpy 2.4.6 and ml_dtypes 0.6.0)
"""
from pathlib import Path

import ml_dtypes
import numpy as np

HERE = Path(__file__).parent


def around_ties(low, dtype):
    """The middle between each value, given by its bits, and the next one, and the f32 on each side of it."""
    value, above = (bits.astype(np.uint16).view(dtype).astype(np.float64) for bits in (low, low + 1))
    middle = ((value + above) / 2).astype(np.float32)  # one bit more than the narrow type has: exact
    return np.concatenate([middle, np.nextafter(middle, np.float32(0)), np.nextafter(middle, np.float32(np.inf))])


def main():
    rng = np.random.default_rng(4)
    bits = rng.integers(0, 2**32, 2000, dtype=np.uint64).astype(np.uint32)  # all exponents alike
    with np.errstate(over="ignore", invalid="ignore"):
        usual = (rng.standard_normal(1000) * 0.05).astype(np.float32)
        f16 = around_ties(rng.integers(0, 0x7BFF, 400), np.float16)
        bf16 = around_ties(rng.integers(0, 0x7F7F, 400), ml_dtypes.bfloat16)
        special = np.array([0, 1, 0x007FFFFF, 0x00800000, 0x33000000, 0x33000001, 0x387FE000, 0x387FF000, 0x38800000,
                            0x477FE000, 0x477FEFFF, 0x477FF000, 0x7F7F7FFF, 0x7F7F8000, 0x7F7FFFFF, 0x7F800000,
                            0x7F800001, 0x7FC00000, 0x7FFFFFFF], np.uint32)
        values = np.concatenate([bits.view(np.float32), usual, f16, bf16, special.view(np.float32)])
        values = np.concatenate([values, -values[-len(special) - len(f16) - len(bf16):]])
        np.save(HERE / "rounding.f32.npy", values)
        np.save(HERE / "rounding.bf16.npy", values.astype(ml_dtypes.bfloat16).view(np.uint16))
        np.save(HERE / "rounding.f16.npy", values.astype(np.float16).view(np.uint16))
    print(len(values))


if __name__ == "__main__":
    main()
