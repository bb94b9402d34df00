"""Writes special.<type>.{raw,f32}.npy for the types that gguf-py 0.19.0 does not decode, from llama.cpp's own library.
For the others, says where gguf-py and llama.cpp differ.

    python make_ggml.py LIBRARY_DIR        (needs numpy and gguf; written with llama-cpp-py-sync 0.11739)

LIBRARY_DIR holds libggml-base.so.0 and libggml-cpu.so.0 of llama.cpp, as PyPI's llama-cpp-py-sync installs them (they
need glibc 2.38). The library has dequantize_row_* for all block types but Q8_1, of which it takes dot products only:
those of each code with one are its values.
"""
import ctypes
import sys
from pathlib import Path

import gguf
import numpy as np
from make_random import LAYOUTS, LONG_LAYOUTS, ONE, SPECIAL, TYPES, as_bytes, blocks, eight_bit_scales, finite_halves
from make_random import grid_blocks, k_blocks, save

NOT_IN_GGUF_PY = {"Q1_0": (128, 18), "Q2_0": (64, 18), "Q8_K": (256, 292)}
# Whether a NaN is written is all that counts of it.
NIBBLES = np.array([i | (15 - i) << 4 for i in range(16)], dtype=np.uint8)


def same(a, b):
    return np.array_equal(a.view(np.uint32)[~np.isnan(a)], b.view(np.uint32)[~np.isnan(b)]) and np.array_equal(
        np.isnan(a), np.isnan(b))


def pointer(array):
    return array.ctypes.data_as(ctypes.c_void_p)


class Ggml:
    def __init__(self, folder):
        self.base = ctypes.CDLL(str(folder / "libggml-base.so.0"), mode=ctypes.RTLD_GLOBAL)
        self.cpu = ctypes.CDLL(str(folder / "libggml-cpu.so.0"))
        self.cpu.ggml_cpu_init()

    def dequantize(self, name, raw, elements):
        raw = np.ascontiguousarray(raw)
        out = np.empty(elements, np.float32)
        function = getattr(self.base, "dequantize_row_" + (name[:-1].lower() + "K" if name.endswith("_K") else name.lower()))
        function(pointer(raw), pointer(out), ctypes.c_int64(elements))
        return out

    def q8_1_element(self, block, j):
        """The dot product of the block with a Q4_1 block that is one at j and zero elsewhere."""
        one_hot = np.zeros(20, np.uint8)
        one_hot[:2] = as_bytes([ONE]).ravel()
        one_hot[4 + j % 16] = 1 << (4 * (j // 16))
        out = np.zeros(1, np.float32)
        self.cpu.ggml_vec_dot_q4_1_q8_1(32, pointer(out), ctypes.c_size_t(0), pointer(one_hot), ctypes.c_size_t(0),
                                        pointer(np.ascontiguousarray(block)), ctypes.c_size_t(0), 1)
        return out[0]


def q8_1(rng, ggml):
    ramp = np.array([0, 1, 2, 126, 127, 128, 129, 255] * 4, dtype=np.uint8)
    raw = blocks(rng, 1, 32, ramp)
    raw = np.insert(raw, [2], as_bytes(finite_halves(rng, len(raw))), axis=1)
    d = raw[:, :2].copy().view(np.float16).astype(np.float32)
    values = d * raw[:, 4:].view(np.int8).astype(np.float32)
    for block, want in zip(raw, values):
        if not np.isfinite(want).all():
            continue  # infinite or NaN times the zeros of a one-hot block says nothing of the one
        got = np.array([ggml.q8_1_element(block, j) for j in range(32)])
        assert np.array_equal(got, want)  # by value: a sum of zeros has lost their signs
    save("Q8_1", raw, values)


def made_from_ggml(rng, ggml):
    ramp = np.array([0, 1, 2, 127, 128, 129, 254, 255] * 2, dtype=np.uint8)
    for name in ("Q1_0", "Q2_0"):
        raw = blocks(rng, 1, 16, ramp)
        save(name, raw, ggml.dequantize(name, raw, len(raw) * NOT_IN_GGUF_PY[name][0]))
    # An f32 scale: the special halves as f32, and what only an f32 can be.
    scales = np.concatenate([SPECIAL.view(np.float16).astype(np.float32),
                             np.array([1e-45, -1e-38, 3e38, -3e38, 1.1754944e-38, 1.3], np.float32),
                             rng.standard_normal(10).astype(np.float32)])
    raw = rng.integers(0, 256, (len(scales), 292), dtype=np.uint8)
    raw[:, :4] = scales.view(np.uint8).reshape(-1, 4)
    save("Q8_K", raw, ggml.dequantize("Q8_K", raw, len(raw) * 256))


def compare(rng, ggml):
    """Random blocks, 4096 of each type, and all the special ones."""
    for kind in list(LAYOUTS) + list(LONG_LAYOUTS) + [TYPES.Q4_0, TYPES.Q4_1, TYPES.IQ4_NL, TYPES.MXFP4, TYPES.NVFP4]:
        elements, size = gguf.GGML_QUANT_SIZES[kind]
        rows = [rng.integers(0, 256, (4096, size), dtype=np.uint8)]
        if elements == 256:
            rows.append(k_blocks(rng, kind))
        elif kind in (TYPES.MXFP4, TYPES.NVFP4):
            rows.append(eight_bit_scales(kind, NIBBLES))
        else:
            scales = 2 if kind in (TYPES.Q4_1, TYPES.Q5_1) else 1
            rows.append(blocks(rng, scales, size - 2 * scales, np.resize(NIBBLES, size - 2 * scales)))
        if kind in LONG_LAYOUTS and getattr(gguf.quants, kind.name).grid_shape[0]:
            rows.append(grid_blocks(rng, kind))
        raw = np.vstack(rows)
        ours = gguf.quants.dequantize(raw, kind).ravel()
        theirs = ggml.dequantize(kind.name, raw, len(raw) * elements)
        verdict = "equal" if same(ours, theirs) else f"{np.count_nonzero(ours.view(np.uint32) != theirs.view(np.uint32))} differ"
        print(f"{kind.name:8} {len(raw)} blocks: {verdict}")


def main():
    ggml = Ggml(Path(sys.argv[1]))
    rng = np.random.default_rng(5)
    with np.errstate(invalid="ignore", over="ignore"):
        made_from_ggml(rng, ggml)
        q8_1(rng, ggml)
        compare(rng, ggml)


if __name__ == "__main__":
    main()
