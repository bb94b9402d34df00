"""Writes special.<type>.{raw,f32}.npy: random and adversarial blocks and what gguf-py makes of them.

    python make_random.py        (needs numpy and gguf; written with gguf 0.19.0)

Every scale of SPECIAL meets every code: zeros of both signs, subnormals, the largest finite half, infinities, NaNs.
"""
from pathlib import Path

import gguf
import numpy as np

HERE = Path(__file__).parent
SPECIAL = np.array(
    [0x0000, 0x8000, 0x0001, 0x8001, 0x03FF, 0x0400, 0x3C00, 0xBC00, 0x3555, 0x7BFF, 0xFBFF, 0x7C00, 0xFC00, 0x7E00,
     0xFE01, 0x7C01],
    dtype="<u2",
)
TYPES = gguf.GGMLQuantizationType


def as_bytes(halves):
    return np.ascontiguousarray(halves, dtype="<u2").view(np.uint8).reshape(len(halves), -1)


def finite_halves(rng, count):
    return rng.standard_normal(count).astype(np.float16).view(np.uint16)


def blocks(rng, scales, code_bytes, ramp):
    """Random blocks with finite scales, then every special (pair of) scale(s) over a ramp that holds every code."""
    usual = np.hstack([as_bytes(finite_halves(rng, 96)) for _ in range(scales)]
                      + [rng.integers(0, 256, (96, code_bytes), dtype=np.uint8)])
    grid = np.stack(np.meshgrid(*[SPECIAL] * scales, indexing="ij"), axis=-1).reshape(-1, scales)
    rare = np.hstack([as_bytes(grid), np.tile(ramp, (len(grid), 1))])
    return np.vstack([usual, rare])


def save(name, raw, values):
    np.save(HERE / f"special.{name}.raw.npy", raw)
    np.save(HERE / f"special.{name}.f32.npy", values.astype("<f4", copy=False))


def main():
    rng = np.random.default_rng(20)
    nibbles = np.array([i | (15 - i) << 4 for i in range(16)], dtype=np.uint8)
    bytes_ramp = np.array([0, 1, 2, 126, 127, 128, 129, 255] * 4, dtype=np.uint8)
    with np.errstate(invalid="ignore"):
        for kind, scales, code_bytes, ramp in (
            (TYPES.Q4_0, 1, 16, nibbles),
            (TYPES.Q4_1, 2, 16, nibbles),
            (TYPES.Q8_0, 1, 32, bytes_ramp),
        ):
            raw = blocks(rng, scales, code_bytes, ramp)
            save(kind.name, raw, gguf.quants.dequantize(raw, kind))
        for kind in (TYPES.F16, TYPES.BF16):
            raw = np.concatenate([SPECIAL, rng.integers(0, 1 << 16, 240).astype("<u2")]).view(np.uint8)
            save(kind.name, raw, gguf.quants.dequantize(raw, kind))


if __name__ == "__main__":
    main()
