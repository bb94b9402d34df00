"""Writes special.<type>.{raw,f32}.npy: random and adversarial blocks and what gguf-py makes of them.
Writes grid.<type>.{raw,f32}.npy: blocks that between them use every row of the type's codebook.
Writes walk.<type>.{raw,i16}.npy: a block of random codes with f16 scales of 1, and what each of its other bits does.

    python make_random.py        (needs numpy and gguf; written with gguf 0.19.0)

Every scale of SPECIAL meets every code: zeros of both signs, subnormals, the largest finite half, infinities, NaNs.
In blocks of 256, which are long, it meets codes and small scales of all ones, all zeros and at random. Types with
scales of eight bits meet all 256. Of plain numbers other than halves, which gguf-py does not convert, numpy's astype is
what they must become.
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
# The same for blocks of 256 that have no walk: their values are no small integers, or a byte is no bit pattern.
LONG_LAYOUTS = {
    TYPES.IQ2_XXS: (0,),
    TYPES.IQ2_XS: (0,),
    TYPES.IQ2_S: (0,),
    TYPES.IQ3_XXS: (0,),
    TYPES.IQ3_S: (0,),
    TYPES.IQ1_S: (0,),
    TYPES.IQ1_M: (),  # its scale is scattered: set_iq1_m_scale
    TYPES.IQ4_XS: (0,),
    TYPES.TQ1_0: (52,),
    TYPES.TQ2_0: (64,),
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
    for scale, at in enumerate((LAYOUTS | LONG_LAYOUTS)[kind]):
        # The second scale is turned against the first, by another amount in each group of blocks.
        halves = np.concatenate([np.roll(SPECIAL, scale * turn) for turn in (1, 5, 11)])
        raw[:, at:at + 2] = as_bytes(halves)
    if kind == TYPES.IQ1_M:
        set_iq1_m_scale(raw, np.tile(SPECIAL, 3))
    return raw


def set_iq1_m_scale(raw, halves):
    """The four nibbles of the scale, low to high, go to the upper nibbles of the block's last four u16."""
    for nibble in range(4):
        high = raw[:, 49 + 2 * nibble]
        high[:] = (high & 15) | (halves >> (4 * nibble) & 15) << 4


def grid_blocks(rng, kind):
    """Random blocks, as many as it takes for the rows of the codebook to appear one after the other."""
    rows, columns = getattr(gguf.quants, kind.name).grid_shape
    per_block = 256 // columns
    count = rows // per_block
    raw = rng.integers(0, 256, (count, gguf.GGML_QUANT_SIZES[kind][1]), dtype=np.uint8)
    row = np.arange(rows).reshape(count, per_block)
    halves = rng.uniform(0.5, 2, count).astype(np.float16).view(np.uint16)
    if kind == TYPES.IQ1_M:
        set_iq1_m_scale(raw, halves)
        raw[:, :32] = row
        pairs = (row >> 8).reshape(count, 16, 2)
        raw[:, 32:48] = (raw[:, 32:48] & 0x88) | pairs[:, :, 0] | pairs[:, :, 1] << 4
        return raw
    raw[:, :2] = as_bytes(halves)
    if kind == TYPES.IQ2_XXS:
        raw[:, 2:].reshape(count, 8, 8)[:, :, :4] = row.reshape(count, 8, 4)
    elif kind == TYPES.IQ2_XS:
        signs = rng.integers(0, 128, row.shape)
        raw[:, 2:66] = as_bytes(row | signs << 9)
    elif kind == TYPES.IQ1_S:
        rest = rng.integers(0, 16, (count, 8)) << 12
        high = (row >> 8).reshape(count, 8, 4) << np.array([0, 3, 6, 9])
        raw[:, 2:34] = row
        raw[:, 34:] = as_bytes(rest | high.sum(axis=2))
    else:
        high_bits, high_at = {TYPES.IQ2_S: (2, 66), TYPES.IQ3_S: (1, 66), TYPES.IQ3_XXS: (0, 66)}[kind]
        raw[:, 2:2 + per_block] = row
        if high_bits:
            digits = (row >> 8).reshape(count, 8, -1) << np.arange(0, 8, high_bits)
            raw[:, high_at:high_at + 8] = digits.sum(axis=2)
    return raw


def eight_bit_scales(kind, nibbles):
    """Every scale over every code."""
    scales = np.arange(256, dtype=np.uint8)
    if kind == TYPES.MXFP4:
        return np.hstack([scales.reshape(256, 1), np.tile(nibbles, (256, 1))])
    return np.hstack([scales.reshape(64, 4), np.tile(nibbles[:8], (64, 4))])


def plain_numbers(rng, dtype):
    """Ends of the range, neighbours of powers of two, and ties between two f32, then numbers at random."""
    bits = dtype.itemsize * 8
    if dtype.kind == "i":
        near = [sign * (1 << power) + step for power in range(bits - 1) for sign in (1, -1) for step in (-1, 0, 1)]
        ties = [(1 << 24) * i + (1 << top) for top in range(bits) for i in (1, 2, 3)]
        limits = np.iinfo(dtype)
        listed = [v for v in near + ties + [limits.min, limits.max] if limits.min <= v <= limits.max]
        return np.concatenate([np.array(listed, dtype), rng.integers(limits.min, limits.max, 256, dtype)])
    f32 = rng.integers(0, 1 << 32, 64, dtype=np.uint32).view(np.float32)
    f32 = f32[np.isfinite(f32)].astype(dtype)
    ulp = np.spacing(f32.astype(np.float32)).astype(dtype)
    listed = [0.0, -0.0, np.inf, -np.inf, np.nan, 2.0**-149, 2.0**-150, -(2.0**-150), 1.5 * 2.0**-150, 2.0**-1074, 2.0**128,
              float(np.finfo(np.float32).max) * (1 + 2.0**-25), float(np.finfo(np.float32).max) * (1 + 2.0**-26), -1e300]
    return np.concatenate([np.array(listed, dtype), f32, f32 + ulp / 2, f32 + ulp * 1.5, rng.standard_normal(64)])


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


def save(name, raw, values, stem="special"):
    np.save(HERE / f"{stem}.{name}.raw.npy", raw)
    np.save(HERE / f"{stem}.{name}.f32.npy", values.astype("<f4", copy=False))


def codebooks_and_plain(rng, nibbles):
    raw = blocks(rng, 1, 16, nibbles)
    save("IQ4_NL", raw, gguf.quants.dequantize(raw, TYPES.IQ4_NL))
    for kind in (TYPES.MXFP4, TYPES.NVFP4):
        raw = eight_bit_scales(kind, nibbles)
        save(kind.name, raw, gguf.quants.dequantize(raw, kind))
    for kind in LONG_LAYOUTS:
        raw = k_blocks(rng, kind)
        save(kind.name, raw, gguf.quants.dequantize(raw, kind))
    for kind in LONG_LAYOUTS:
        if getattr(gguf.quants, kind.name).grid_shape[0]:
            raw = grid_blocks(rng, kind)
            save(kind.name, raw, gguf.quants.dequantize(raw, kind), "grid")
    for name, dtype in (("F64", "<f8"), ("I8", "<i1"), ("I16", "<i2"), ("I32", "<i4"), ("I64", "<i8")):
        numbers = plain_numbers(rng, np.dtype(dtype))
        save(name, numbers.view(np.uint8), numbers.astype(np.float32))


def main():
    rng = np.random.default_rng(20)
    nibbles = np.array([i | (15 - i) << 4 for i in range(16)], dtype=np.uint8)
    bytes_ramp = np.array([0, 1, 2, 126, 127, 128, 129, 255] * 4, dtype=np.uint8)
    with np.errstate(invalid="ignore", over="ignore"):
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
        codebooks_and_plain(rng, nibbles)


if __name__ == "__main__":
    main()
