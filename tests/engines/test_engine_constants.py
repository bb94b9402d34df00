"""Every value of every constant reads back bit-equal through a parser that is not ours (reports F05, H09, H11)."""

import hir
import numpy as np
import pytest
from engines import lower, parse

from headrace.dtypes import TABLE, numpy_dtype

RNG = np.random.default_rng(5)


def interesting(dtype: str) -> bytes:
    """All values of 8 and 16 bits; of wider types the edges and random bits (NaNs with payloads among them)."""
    size = TABLE[dtype][0]
    if dtype == "i1":
        return bytes([0, 1, 1, 0, 1])
    if size <= 2:
        return np.arange(2 ** (8 * size), dtype=f"u{size}").tobytes()
    word = f"u{size}"
    bits, mantissa = 8 * size, 23 if size == 4 else 52
    ones = 2**bits - 1
    top = 1 << (bits - 1)
    exponent = ((1 << (bits - 1 - mantissa)) - 1) << mantissa  # infinity
    edges = [0, 1, ones, top, top - 1, top + 1, exponent, exponent | top, exponent + 1, exponent | top | 1,
             exponent | (1 << (mantissa - 1)) | 0x1234, 1 << mantissa, (1 << mantissa) - 1, exponent - 1]
    return np.array([*edges, *RNG.integers(0, ones, 2000, dtype=word, endpoint=True)], word).tobytes()


def cases():
    for dtype, (size, _, _) in TABLE.items():
        data = interesting(dtype)
        count = len(data) // size
        yield f"{dtype}-all", dtype, [count], data, False
        yield f"{dtype}-grid", dtype, [2, 2, 1], data[: 4 * size], False
        yield f"{dtype}-scalar", dtype, [], data[-size:], False
        yield f"{dtype}-one", dtype, [1], data[-size:], False
        yield f"{dtype}-empty", dtype, [2, 0, 3], b"", False
        for i in range(min(count, 16)):
            yield f"{dtype}-splat{i}", dtype, [3, 2], data[i * size : (i + 1) * size], True


CASES = {name: rest for name, *rest in cases()}


@pytest.fixture(scope="module")
def lowered(tests_bin, tmp_path_factory):
    folder = tmp_path_factory.mktemp("constants")
    for name, (dtype, shape, data, splat) in CASES.items():
        (folder / f"{name}.hir").write_text(hir.module("constants", [hir.constant("f", dtype, shape, data, splat)]))
    lower(tests_bin, folder)
    return folder


def constant_of(text):
    """The only constant of the only function."""
    module = parse(text)  # owns what is taken from it
    (function,) = list(module.body.operations)
    (value,) = [op.attributes["value"] for op in function.regions[0].blocks[0].operations
                if op.operation.name == "stablehlo.constant"]
    return np.array(value)


@pytest.mark.parametrize("name", CASES)
def test_bits(lowered, name):
    dtype, shape, data, splat = CASES[name]
    wanted = data * 6 if splat else data
    for path in (lowered / f"{name}.f.xla.mlir", lowered / f"{name}.iree.mlir"):
        text = path.read_text()
        parse(text)
        # The bindings hand out no bf16. It is spelt in bits, and so reads as f16 just as well.
        values = constant_of(text.replace("bf16", "f16"))
        assert values.dtype == numpy_dtype("f16" if dtype == "bf16" else dtype)
        # Equal elements may be spelt as a scalar that is broadcast.
        assert np.broadcast_to(values, shape).tobytes() == wanted


def test_size_of_text(lowered):
    """A splat is spelt once, whatever its size."""
    assert (lowered / "f32-splat3.f.xla.mlir").stat().st_size < 300
