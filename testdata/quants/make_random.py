"""Writes special.<type>.{raw,f32}.npy: random and adversarial blocks and what gguf-py makes of them.
Writes walk.<type>.{raw,i16}.npy: a block of random codes with f16 scales of 1, and what each of its other bits does.

    python make_random.py        (needs numpy and gguf; written with gguf 0.19.0)

Every scale of SPECIAL meets every code: zeros of both signs, subnormals, the largest finite half, infinities, NaNs.
For K-quants, whose blocks are long, it meets codes and small scales of all ones, all zeros and at random.
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
ONE = 0x3C00
# type -> where its f16 scales are, in bytes
LAYOUTS = {
    TYPES.Q5_0: (0,),
    TYPES.Q5_1: (0, 2),
    TYPES.Q8_0: (0,),
    TYPES.Q2_K: (80, 82),
    TYPES.Q3_K: (108,),
    TYPES.Q4_K: (0, 2),
    TYPES.Q5_K: (0, 2),
    TYPES.Q6_K: (208,),
}


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


def k_blocks(rng, kind):
    block_bytes = gguf.GGML_QUANT_SIZES[kind][1]
    count = len(SPECIAL)
    raw = np.vstack([np.full((count, block_bytes), 0xFF, np.uint8), np.zeros((count, block_bytes), np.uint8),
                     rng.integers(0, 256, (count, block_bytes), dtype=np.uint8)])
    for scale, at in enumerate(LAYOUTS[kind]):
        # The second scale is turned against the first, by another amount in each group of blocks.
        halves = np.concatenate([np.roll(SPECIAL, scale * turn) for turn in (1, 5, 11)])
        raw[:, at:at + 2] = as_bytes(halves)
    return raw


def walk(rng, kind):
    """Rows (bit, element, value): with this bit of the block flipped, the element has this value instead."""
    block_bytes = gguf.GGML_QUANT_SIZES[kind][1]
    base = rng.integers(0, 256, (1, block_bytes), dtype=np.uint8)
    in_scales = np.zeros(block_bytes, dtype=bool)
    for at in LAYOUTS[kind]:
        base[:, at:at + 2] = as_bytes([ONE])
        in_scales[at:at + 2] = True
    bits = np.flatnonzero(~np.repeat(in_scales, 8))
    flipped = np.repeat(base, len(bits), axis=0)
    flipped[np.arange(len(bits)), bits // 8] ^= (1 << (bits % 8)).astype(np.uint8)
    before = gguf.quants.dequantize(base, kind)
    after = gguf.quants.dequantize(flipped, kind)
    row, element = np.nonzero(after != before)
    values = after[row, element]
    assert len(np.unique(row)) == len(bits) and np.all(values == values.astype(np.int16))
    np.save(HERE / f"walk.{kind.name}.raw.npy", base)
    np.save(HERE / f"walk.{kind.name}.i16.npy", np.stack([bits[row], element, values], axis=1).astype("<i2"))


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
        # The fifth bits of element j and of element 31 - j, which has the same nibble, differ.
        five_bits = np.concatenate([np.array([0x0F, 0x33, 0x33, 0x0F], dtype=np.uint8), nibbles])
        codes = gguf.quants.dequantize(np.concatenate([as_bytes([ONE]).ravel(), five_bits]), TYPES.Q5_0)
        assert len(set(codes)) == 32
        for kind in (TYPES.Q5_0, TYPES.Q5_1):
            raw = blocks(rng, len(LAYOUTS[kind]), 20, five_bits)
            save(kind.name, raw, gguf.quants.dequantize(raw, kind))
        for kind in (TYPES.Q2_K, TYPES.Q3_K, TYPES.Q4_K, TYPES.Q5_K, TYPES.Q6_K):
            raw = k_blocks(rng, kind)
            save(kind.name, raw, gguf.quants.dequantize(raw, kind))
    for kind in LAYOUTS:
        walk(rng, kind)


if __name__ == "__main__":
    main()
