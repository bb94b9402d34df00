"""Writes goldens.json: small inputs of every op with the results of numpy and JAX (CPU), for src/ops/golden_test.cpp.

Run from the project's virtual environment: python testdata/ops/make_goldens.py
Tensors are {dtype, shape, hex of little-endian bytes}, each once; cases name them by number. A case allows `ulp` units in the last place of the result type
and `atol`; `expected64` (where present) is what evaluation in f64 must give within `rtol64`/`atol64`.
"""

import json
import math
import pathlib

import jax

jax.config.update("jax_enable_x64", True)
import ml_dtypes
import numpy as np
from jax import lax

NUMPY = {
    "i1": np.bool_, "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64,
    "u8": np.uint8, "u16": np.uint16, "u32": np.uint32, "u64": np.uint64,
    "f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "f64": np.float64,
}
NAME = {np.dtype(v): k for k, v in NUMPY.items()}
FLOATS = ["f16", "bf16", "f32", "f64"]
SIGNED = ["i8", "i16", "i32", "i64"]
UNSIGNED = ["u8", "u16", "u32", "u64"]
CASES = []
TENSORS = {}
RNG = np.random.default_rng(20)
np.seterr(all="ignore")


def tensor(x):
    x = np.asarray(x)
    row = {"dtype": NAME[x.dtype], "shape": list(x.shape), "hex": np.ascontiguousarray(x).tobytes().hex()}
    return TENSORS.setdefault(json.dumps(row, separators=(",", ":")), len(TENSORS))


def case(op, operands, expected, attrs=None, name="", expected64=None, ulp=0, atol=0.0, rtol64=0.0, atol64=0.0, body=None):
    if not isinstance(expected, (list, tuple)):
        expected = [expected]
    row = {"op": op, "name": name, "attrs": attrs or {}, "operands": [tensor(x) for x in operands],
           "expected": [tensor(x) for x in expected], "ulp": ulp, "atol": atol}
    if expected64 is not None:
        row |= {"expected64": [tensor(np.asarray(expected64, np.float64))], "rtol64": rtol64, "atol64": atol64}
    if body:
        row["body"] = body
    CASES.append(row)


def narrow(x64, dtype):
    """One rounding to nearest even (ml_dtypes goes through f32, which rounds twice)."""
    if dtype != "bf16":
        return np.asarray(x64, np.float64).astype(NUMPY[dtype])
    x64 = np.asarray(x64, np.float64)
    near = x64.astype(np.float32)
    bits = near.view(np.uint32)
    fix = np.isfinite(x64) & np.isfinite(near) & (near.astype(np.float64) != x64) & (bits & 1 == 0)
    away = np.where(np.abs(near.astype(np.float64)) < np.abs(x64), 1, -1)
    odd = np.where(fix, bits + away, bits).astype(np.uint32).view(np.float32)
    return odd.astype(ml_dtypes.bfloat16)


SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 3.5, 0.1, -7.25, 88.0, -100.0, 1e-3, 3e4, -3e4,
           math.inf, -math.inf, math.nan]


def special(dtype):
    tiny = {"f16": 6e-8, "bf16": 1e-40, "f32": 1e-45, "f64": 5e-324}[dtype]
    sub = {"f16": 3e-5, "bf16": 5e-39, "f32": 5e-39, "f64": 1e-310}[dtype]
    return np.array(SPECIAL + [tiny, -tiny, sub, -sub], np.float64).astype(NUMPY[dtype])


def unary_floats():
    exact = {"abs": np.abs, "ceil": np.ceil, "floor": np.floor, "negate": np.negative, "round_nearest_even": np.rint,
             "sign": lambda x: np.where(x == 0, x, np.sign(x)), "sqrt": np.sqrt}
    close = {"cosine": (np.cos, 1), "exponential": (np.exp, 1), "log": (np.log, 1), "sine": (np.sin, 1),
             "tanh": (np.tanh, 2), "rsqrt": (lambda x: 1 / np.sqrt(x), 1), "logistic": (lambda x: 1 / (1 + np.exp(-x)), 2)}
    for dtype in FLOATS:
        x = np.concatenate([special(dtype), RNG.normal(0, 4, 40).astype(NUMPY[dtype])])
        for op, f in exact.items():
            case(op, [x], narrow(f(x.astype(np.float64)), dtype), name=dtype)
        for op, (f, ulp) in close.items():
            want = f(x.astype(np.float64))
            extra = {"expected64": want, "rtol64": 1e-15} if dtype == "f32" else {}
            case(op, [x], narrow(want, dtype), name=dtype, ulp=ulp, **extra)


def edges(dtype):
    i = np.iinfo(NUMPY[dtype])
    picks = [0, 1, 2, 3, 7, 8, 16, 31, 32, 63, 64, 100, i.max, i.max - 1, i.min, i.min + 1, -1, -2, -7]
    return np.array([p for p in picks if i.min <= p <= i.max], NUMPY[dtype])


def unary_ints():
    for dtype in SIGNED + UNSIGNED:
        x = edges(dtype)
        if dtype in SIGNED:
            case("abs", [x], np.abs(x), name=dtype)
            case("sign", [x], np.sign(x), name=dtype)
        case("negate", [x], np.negative(x), name=dtype)
        case("not", [x], np.invert(x), name=dtype)
    case("not", [np.array([False, True])], np.array([True, False]), name="i1")


def pairs(x):
    return np.repeat(x, len(x)), np.tile(x, len(x))


def ieee_extreme(a, b, larger):
    pick = np.maximum(a, b) if larger else np.minimum(a, b)
    zero = (a == 0) & (b == 0)
    negative = (np.signbit(a) & np.signbit(b)) if larger else (np.signbit(a) | np.signbit(b))
    return np.where(zero, np.where(negative, np.array(-0.0, a.dtype), np.array(0.0, a.dtype)), pick).astype(a.dtype)


def binary_floats():
    for dtype in FLOATS:
        a, b = pairs(special(dtype))
        wide = dtype != "f64"
        ops = {"add": np.add, "subtract": np.subtract, "multiply": np.multiply, "divide": np.divide}
        for op, f in ops.items():
            want = narrow(f(a.astype(np.float64), b.astype(np.float64)), dtype) if wide else f(a, b)
            case(op, [a, b], want, name=dtype)
        case("maximum", [a, b], ieee_extreme(a, b, True), name=dtype)
        case("minimum", [a, b], ieee_extreme(a, b, False), name=dtype)
        case("remainder", [a, b], narrow(np.fmod(a.astype(np.float64), b.astype(np.float64)), dtype), name=dtype)
        case("power", [a, b], narrow(np.power(a.astype(np.float64), b.astype(np.float64)), dtype), name=dtype, ulp=1)


def binary_ints():
    xla = {"add": lax.add, "subtract": lax.sub, "multiply": lax.mul, "divide": lax.div, "remainder": lax.rem,
           "maximum": lax.max, "minimum": lax.min, "and": lax.bitwise_and, "or": lax.bitwise_or, "xor": lax.bitwise_xor,
           "shift_left": lax.shift_left, "shift_right_arithmetic": lax.shift_right_arithmetic,
           "shift_right_logical": lax.shift_right_logical}
    for dtype in SIGNED + UNSIGNED:
        a, b = pairs(edges(dtype))
        for op, f in xla.items():
            case(op, [a, b], np.asarray(f(a, b)), name=dtype)
        # pow by Python's integers; negative exponents as docs/ops.md pins them.
        bits = np.iinfo(NUMPY[dtype]).bits

        def power(x, y):
            if y < 0:
                return 1 if x == 1 else (-1 if y % 2 else 1) if x == -1 else 0
            return pow(x, y, 1 << bits)

        want = [power(int(x), int(y)) & ((1 << bits) - 1) for x, y in zip(a, b)]
        case("power", [a, b], np.array(want, f"u{bits // 8}").view(NUMPY[dtype]), name=dtype)
    a, b = pairs(np.array([False, True]))
    for op, f in {"add": np.logical_or, "maximum": np.logical_or, "or": np.logical_or, "multiply": np.logical_and,
                  "minimum": np.logical_and, "and": np.logical_and, "xor": np.logical_xor}.items():
        case(op, [a, b], f(a, b), name="i1")


def others():
    for dtype in ["f32", "bf16", "i8", "u64"]:
        x = special(dtype) if dtype in FLOATS else edges(dtype)
        n = len(x)
        low, high = np.array(1, x.dtype), np.array(3, x.dtype)
        wide = x.astype(np.float32) if dtype == "bf16" else x
        want = np.minimum(np.maximum(wide, low.astype(wide.dtype)), high.astype(wide.dtype)).astype(x.dtype)
        case("clamp", [low, x, high], want, name=f"{dtype} scalars")
        lows, highs = np.full(n, low), np.full(n, high)
        case("clamp", [lows, x, highs], want, name=f"{dtype} tensors")
        a, b = pairs(x)
        for direction, f in {"EQ": np.equal, "NE": np.not_equal, "LT": np.less, "LE": np.less_equal,
                             "GT": np.greater, "GE": np.greater_equal}.items():
            case("compare", [a, b], f(a, b), {"direction": direction}, name=dtype)
        pred = RNG.integers(0, 2, n).astype(bool)
        case("select", [pred, x, x[::-1]], np.where(pred, x, x[::-1]), name=f"{dtype} tensor")
        case("select", [np.array(False), x, x[::-1]], x[::-1], name=f"{dtype} scalar")
    a, b = pairs(np.array([False, True]))
    case("compare", [a, b], np.less(a, b), {"direction": "LT"}, name="i1")


def conversions():
    floats = SPECIAL + [2.0**31, -(2.0**31), 2.0**63, 255.5, 256.0, 127.9, -128.9, -129.0, 65504.0, 65520.0, 1.00390625]
    for source in FLOATS:
        x = np.array(floats, np.float64).astype(NUMPY[source])
        for target in FLOATS:
            case("convert", [x], narrow(x.astype(np.float64), target), {"dtype": target}, name=source)
        for target in SIGNED + UNSIGNED:
            i = np.iinfo(NUMPY[target])

            def whole(v):
                if math.isnan(v):
                    return 0
                return i.max if v >= i.max else i.min if v <= i.min else int(v)

            case("convert", [x], np.array([whole(float(v)) for v in x], NUMPY[target]), {"dtype": target}, name=source)
        case("convert", [x], x.astype(np.float64) != 0, {"dtype": "i1"}, name=source)
    for source in SIGNED + UNSIGNED:
        x = edges(source)
        for target in SIGNED + UNSIGNED:
            case("convert", [x], x.astype(NUMPY[target]), {"dtype": target}, name=source)
        x = np.concatenate([x, np.array([16777217, 33554433, 4097, 2049, 257], np.int64).astype(NUMPY[source])])
        for target in ["f32", "f64"]:
            case("convert", [x], x.astype(NUMPY[target]), {"dtype": target}, name=source)
        if np.iinfo(NUMPY[source]).bits <= 32:
            for target in ["f16", "bf16"]:
                case("convert", [x], narrow(x.astype(np.float64), target), {"dtype": target}, name=source)
        case("convert", [x], x != 0, {"dtype": "i1"}, name=source)
    b = np.array([False, True])
    for target in FLOATS + SIGNED + UNSIGNED:
        case("convert", [b], b.astype(NUMPY[target]), {"dtype": target}, name="i1")
    for source, target in [("f32", "i32"), ("i32", "f32"), ("bf16", "u16"), ("f16", "i16"), ("i16", "f16"), ("f64", "u64"),
                           ("u64", "i64"), ("i8", "u8")]:
        x = special(source) if source in FLOATS else edges(source)
        x = x[~np.isnan(x.astype(np.float64))]
        case("bitcast_convert", [x], x.view(NUMPY[target]), {"dtype": target}, name=source)
    bytes8 = RNG.integers(-128, 128, (3, 8)).astype(np.int8)
    case("bitcast_convert", [bytes8], bytes8.view(np.int64)[:, 0], {"dtype": "i64"}, name="narrow to wide")
    pairs8 = np.array([[0, 60], [1, -68], [-1, 123]], np.int8)
    case("bitcast_convert", [pairs8], pairs8.view(np.float16)[:, 0], {"dtype": "f16"}, name="i8 pairs")
    wide = np.array([1, -2, 2**30], np.int32)
    case("bitcast_convert", [wide], wide.view(np.uint8).reshape(3, 4), {"dtype": "u8"}, name="wide to narrow")


def shapes():
    for dtype, shape, dim in [("i32", [4], 0), ("f32", [2, 3, 4], 1), ("u8", [300], 0), ("bf16", [2, 300], 1), ("i64", [0, 3], 1)]:
        want = narrow(lax.broadcasted_iota(np.int64, shape, dim), dtype) if dtype in FLOATS else np.asarray(
            lax.broadcasted_iota(np.int64, shape, dim)).astype(NUMPY[dtype])
        case("iota", [], want, {"dtype": dtype, "shape": shape, "dim": dim}, name=dtype)
    x = RNG.normal(size=(3, 1, 5)).astype(np.float32)
    for shape, dims in [([3, 4, 5], [0, 1, 2]), ([2, 3, 7, 5], [1, 2, 3]), ([5, 4, 3], [2, 1, 0]), ([3, 1, 5], [0, 1, 2])]:
        case("broadcast_in_dim", [x], np.asarray(lax.broadcast_in_dim(x, shape, sorted(dims))) if dims == sorted(dims)
             else np.broadcast_to(x.transpose(2, 1, 0), shape), {"shape": shape, "dims": dims})
    case("broadcast_in_dim", [np.int32(7)], np.full((2, 3), 7, np.int32), {"shape": [2, 3], "dims": []}, name="scalar")
    x = np.arange(24, dtype=np.int16).reshape(2, 3, 4)
    case("reshape", [x], x.reshape(4, 6), {"shape": [4, 6]})
    case("reshape", [x[:1, :1, :1]], x[0, 0, 0], {"shape": []}, name="to scalar")
    for p in [[2, 0, 1], [0, 1, 2], [1, 0, 2], [2, 1, 0], [0, 2, 1]]:
        case("transpose", [x], x.transpose(p), {"permutation": p})
    x = RNG.normal(size=(6, 7, 8)).astype(np.float32)
    for start, limit, stride in [([0, 0, 0], [6, 7, 8], [1, 1, 1]), ([1, 2, 3], [5, 7, 8], [2, 3, 1]),
                                 ([0, 3, 7], [6, 3, 8], [1, 1, 1]), ([5, 6, 0], [6, 7, 8], [3, 9, 5])]:
        case("slice", [x], np.asarray(lax.slice(x, start, limit, stride)), {"start": start, "limit": limit, "stride": stride})
    parts = [RNG.normal(size=(2, n, 3)).astype(np.float32) for n in (1, 4, 0, 2)]
    case("concatenate", parts, np.concatenate(parts, 1), {"dim": 1})
    flat = [np.arange(n, dtype=np.int32) for n in (3, 2)]
    case("concatenate", flat, np.concatenate(flat), {"dim": 0}, name="i32")
    x = RNG.normal(size=(3, 4)).astype(np.float32)
    for config in [[(1, 2, 0), (0, 0, 0)], [(0, 0, 2), (1, 1, 1)], [(-1, 0, 0), (0, -2, 0)], [(-2, 3, 2), (5, -1, 3)],
                   [(-3, 5, 0), (0, 0, 0)], [(0, -3, 0), (2, 2, 0)], [(-1, -1, 4), (-2, -1, 1)], [(4, -6, 0), (0, 0, 0)]]:
        attrs = dict(zip(["low", "high", "interior"], [list(v) for v in zip(*config)]))
        case("pad", [x, np.float32(-9)], np.asarray(lax.pad(x, np.float32(-9), config)), attrs)
    empty = np.zeros((0,), np.int32)
    case("pad", [empty, np.int32(3)], np.asarray(lax.pad(empty, np.int32(3), [(1, 2, 5)])),
         {"low": [1], "high": [2], "interior": [5]}, name="empty")
    case("get_dimension_size", [x], np.int32(4), {"dim": 1})


def windows():
    x = RNG.normal(size=(5, 6, 7)).astype(np.float32)
    for starts in [(0, 0, 0), (1, 2, 3), (-4, 5, 100), (4, -1, 6), (2**31 - 1, -(2**31), 1)]:
        s = [np.int32(v) for v in starts]
        clamped = [min(max(v, 0), n - w) for v, n, w in zip(starts, x.shape, (2, 6, 3))]
        case("dynamic_slice", [x, *s], np.asarray(lax.slice(x, clamped, [c + w for c, w in zip(clamped, (2, 6, 3))])),
             {"sizes": [2, 6, 3]})
        u = RNG.normal(size=(2, 1, 3)).astype(np.float32)
        clamped = [min(max(v, 0), n - w) for v, n, w in zip(starts, x.shape, u.shape)]
        case("dynamic_update_slice", [x, u, *s], np.asarray(lax.dynamic_update_slice(x, u, clamped)))
    case("dynamic_slice", [np.arange(5, dtype=np.int8), np.uint64(2**63 + 5)], np.array([3, 4], np.int8), {"sizes": [2]}, name="u64 start")


def gathers():
    def one(x, indices, offset, collapsed, index_map, vector_dim, sizes, name):
        # lax wants the index vectors in the last dim.
        moved = indices[..., None] if vector_dim == indices.ndim else np.moveaxis(indices, vector_dim, -1)
        dims = lax.GatherDimensionNumbers(tuple(offset), tuple(collapsed), tuple(index_map))
        want = np.asarray(lax.gather(x, moved, dims, tuple(sizes), mode=lax.GatherScatterMode.CLIP))
        case("gather", [x, indices], want, {"offset_dims": offset, "collapsed_slice_dims": collapsed, "start_index_map": index_map,
                                            "index_vector_dim": vector_dim, "slice_sizes": sizes}, name=name)

    x = RNG.normal(size=(6, 4, 5)).astype(np.float32)
    ids = np.array([[0, 5, 3], [9, -2, 1]], np.int32)
    one(x, ids, [2, 3], [0], [0], 2, [1, 4, 5], "rows, clamped")
    one(x, ids, [0, 2], [0], [0], 2, [1, 4, 5], "offset dims around batch dims")
    one(x, ids, [2], [0, 2], [0], 2, [1, 3, 1], "two collapsed")
    one(x, ids, [1, 2, 3], [], [2, 0], 0, [2, 2, 2], "vectors along dim 0, permuted map")
    one(x, np.array([[1, 2, 3], [5, 3, 4], [-1, 0, 9]], np.int64), [], [0, 1, 2], [0, 1, 2], 1, [1, 1, 1], "elements")
    one(np.arange(10, dtype=np.int16), np.array(7, np.uint8), [0], [], [0], 0, [3], "scalar index")
    one(x, np.zeros((0, 1), np.int32), [1, 2, 3], [], [0], 1, [1, 4, 5], "no index")


def reductions():
    x = RNG.normal(size=(3, 4, 5)).astype(np.float32)
    big = RNG.normal(size=(3, 4, 5)).astype(np.float64)
    fold = {"add": np.sum, "maximum": np.max, "minimum": np.min, "multiply": np.prod}
    for dims in [[0], [1], [2], [0, 2], [2, 0, 1], [], [1, 2]]:
        for op, f in fold.items():
            init = np.float32({"add": 0.5, "maximum": -math.inf, "minimum": 0.25, "multiply": 2}[op])
            want = {"add": lambda a, b: a + b, "multiply": lambda a, b: a * b, "maximum": np.maximum, "minimum": np.minimum}[op](
                f(x.astype(np.float64), axis=tuple(dims)) if dims else x.astype(np.float64), np.float64(init))
            case("reduce", [x, init], want.astype(np.float32), {"inputs": 1, "dims": dims}, name=f"{op} {dims}", body=op, ulp=4,
                 atol=2e-6, expected64=want, rtol64=1e-14, atol64=1e-14)
    case("reduce", [big, np.float64(1)], big.sum(axis=1) + 1, {"inputs": 1, "dims": [1]}, name="f64", body="add", ulp=8)
    i = RNG.integers(-100, 100, (4, 6)).astype(np.int8)
    case("reduce", [i, np.int8(3)], (i.sum(axis=1, dtype=np.int64) + 3).astype(np.int8), {"inputs": 1, "dims": [1]}, name="i8 wraps", body="add")
    flags = RNG.integers(0, 2, (4, 3)).astype(bool)
    case("reduce", [flags, np.array(True)], flags.all(axis=0), {"inputs": 1, "dims": [0]}, name="all", body="and")
    case("reduce", [flags, np.array(False)], flags.any(axis=1), {"inputs": 1, "dims": [1]}, name="any", body="or")
    nans = np.array([[1, math.nan, 2], [3, 1, -math.inf]], np.float32)
    case("reduce", [nans, np.float32(-math.inf)], np.array([math.nan, 3], np.float32), {"inputs": 1, "dims": [1]}, name="NaN", body="maximum")
    case("reduce", [np.zeros((2, 0), np.float32), np.float32(4)], np.array([4, 4], np.float32), {"inputs": 1, "dims": [1]}, name="empty", body="add")


def contractions():
    shapes = [((3, 4), (4, 5), [], [], [1], [0]), ((3, 4), (5, 4), [], [], [1], [1]), ((4, 3), (4, 5), [], [], [0], [0]),
              ((2, 3, 4), (2, 4, 5), [0], [0], [2], [1]), ((2, 3, 4), (5, 2, 4), [0], [1], [2], [2]),
              ((2, 3, 4, 5), (4, 6, 2, 3), [0], [2], [1, 2], [3, 0]), ((3, 2, 4), (2, 3, 5, 4), [1, 0], [0, 1], [2], [3]),
              ((4,), (4,), [], [], [0], [0]), ((3,), (5,), [], [], [], []), ((2, 3), (2, 3), [0, 1], [0, 1], [], []),
              ((3, 0), (0, 2), [], [], [1], [0]), ((2, 5, 3, 4), (4, 7), [], [], [3], [0]), ((2, 3, 4), (6, 4, 2), [], [], [0, 2], [2, 1])]
    for a_shape, b_shape, lb, rb, lc, rc in shapes:
        a, b = (RNG.normal(size=s).astype(np.float32) for s in (a_shape, b_shape))
        attrs = {"lhs_batch": lb, "rhs_batch": rb, "lhs_contract": lc, "rhs_contract": rc, "dtype": "f32"}
        want = np.asarray(lax.dot_general(a.astype(np.float64), b.astype(np.float64), ((lc, rc), (lb, rb)), precision="highest"))
        case("dot_general", [a, b], want.astype(np.float32), attrs, name=f"{a_shape} {b_shape}", ulp=2, atol=3e-6,
             expected64=want, rtol64=1e-13, atol64=1e-13)
    a, b = RNG.integers(-128, 128, (3, 40)).astype(np.int8), RNG.integers(-128, 128, (40, 2)).astype(np.int8)
    wide = a.astype(np.int32) @ b.astype(np.int32)
    plain = {"lhs_batch": [], "rhs_batch": [], "lhs_contract": [1], "rhs_contract": [0]}
    case("dot_general", [a, b], wide, plain | {"dtype": "i32"}, name="i8 to i32")
    case("dot_general", [a, b], wide.astype(np.int8), plain | {"dtype": "i8"}, name="i8 wraps")
    for dtype in ["bf16", "f16"]:
        a, b = RNG.normal(size=(3, 20)).astype(NUMPY[dtype]), RNG.normal(size=(20, 2)).astype(NUMPY[dtype])
        want = a.astype(np.float64) @ b.astype(np.float64)
        case("dot_general", [a, b], narrow(want, dtype), plain | {"dtype": dtype}, name=dtype, ulp=1)
        case("dot_general", [a, b], want.astype(np.float32), plain | {"dtype": "f32"}, name=f"{dtype} to f32", ulp=4, atol=3e-6)


def structured():
    table = RNG.normal(size=(7, 3)).astype(np.float32)
    ids = np.array([[0, 6, 3], [3, 1, 5]], np.int32)
    case("embedding", [table, ids], table[ids])
    b, s, inner, out = 2, 4, 6, 9
    w = RNG.normal(size=(out, inner)).astype(np.float32)
    bias = RNG.normal(size=(out,)).astype(np.float32)
    x = RNG.normal(size=(b, s, inner)).astype(np.float32)

    def to_heads(rows, factors):
        """[b, s, n] as [b, factors.., s, n / product of factors]."""
        if not factors:
            return rows
        axes = list(range(2, 2 + len(factors)))
        return rows.reshape(b, s, *factors, -1).transpose(0, *axes, 1, 2 + len(factors)).copy()

    for merge in ([], [3], [3, 2]):
        for split in ([], [3], [3, 3]):
            for with_bias in (False, True):
                want = x.astype(np.float64) @ w.astype(np.float64).T + (bias.astype(np.float64) if with_bias else 0)
                want = to_heads(want, split)
                case("linear", [to_heads(x, merge), w] + ([bias] if with_bias else []), want.astype(np.float32),
                     {"split_heads": split, "merge_heads": merge}, ulp=2, atol=3e-6, expected64=want, rtol64=1e-13, atol64=1e-13,
                     name=f"merge {merge} split {split} bias {with_bias}")
    want = x[0].astype(np.float64) @ w.astype(np.float64).T
    case("linear", [x[0], w], want.astype(np.float32), {"split_heads": [], "merge_heads": []}, name="rank 2", ulp=2, atol=3e-6)
    xb, wb = x.astype(ml_dtypes.bfloat16), w.astype(ml_dtypes.bfloat16)
    case("linear", [xb, wb, bias], narrow(xb.astype(np.float64) @ wb.astype(np.float64).T + bias, "bf16"),
         {"split_heads": [], "merge_heads": []}, name="bf16, f32 bias", ulp=1)


def attention(q, k, v, query_positions, key_positions, scale, softcap, window):
    """One query at a time, in f64, as docs/structured-ops.md#attend puts it."""
    q, k, v = (t.astype(np.float64) for t in (q, k, v))
    out = np.zeros(q.shape[:4] + v.shape[3:])
    for b, kv, g, i in np.ndindex(*q.shape[:4]):
        visible = [j for j, p in enumerate(key_positions[b])
                   if 0 <= p <= query_positions[b, i] and (window == 0 or query_positions[b, i] - p < window)]
        if not visible:
            continue
        score = scale * (k[b, kv, visible] @ q[b, kv, g, i])
        if softcap:
            score = softcap * np.tanh(score / softcap)
        weight = np.exp(score - score.max())
        out[b, kv, g, i] = weight @ v[b, kv, visible] / weight.sum()
    return out


def attend():
    def one(name, b, heads, key_heads, s, t, d, dv, query_positions, key_positions, scale=0.5, softcap=0.0, window=0, spread=1.0):
        q = RNG.normal(0, spread, (b, key_heads, heads // key_heads, s, d)).astype(np.float32)
        k = RNG.normal(0, spread, (b, key_heads, t, d)).astype(np.float32)
        v = RNG.normal(size=(b, key_heads, t, dv)).astype(np.float32)
        qp, kp = np.array(query_positions, np.int32), np.array(key_positions, np.int32)
        want = attention(q, k, v, qp, kp, scale, softcap, window)
        case("attend", [q, k, v, qp, kp], want.astype(np.float32), {"scale": scale, "softcap": softcap, "window": window}, name=name,
             atol=2e-6 * spread * spread, expected64=want, rtol64=1e-12, atol64=1e-12)

    line = list(range(5))
    one("causal", 1, 2, 2, 5, 5, 4, 4, [line], [line])
    one("grouped heads, wider values", 2, 6, 2, 5, 5, 4, 3, [line, line], [line, line])
    one("multi-query", 1, 4, 1, 5, 5, 4, 4, [line], [line])
    one("window 2", 1, 2, 1, 5, 5, 4, 4, [line], [line], window=2)
    one("softcap", 1, 2, 1, 5, 5, 4, 4, [line], [line], softcap=3.0, spread=3.0)
    one("large scores", 1, 1, 1, 5, 5, 4, 4, [line], [line], scale=50.0)
    one("decode with empty slots", 2, 4, 2, 1, 6, 4, 4, [[3], [5]], [[0, 1, 2, 3, -1, -1], [0, 1, 2, 3, 4, 5]])
    one("ring order, window", 1, 2, 2, 2, 4, 4, 4, [[6, 7]], [[4, 5, 6, 7]], window=3)
    one("ring rotated", 1, 2, 2, 1, 4, 4, 4, [[6]], [[4, 5, 6, 3]], window=4)
    one("rows that see nothing", 1, 2, 1, 3, 3, 4, 4, [[-1, 0, 1]], [[1, 2, -1]])
    one("no keys", 1, 2, 1, 2, 0, 4, 4, [[0, 1]], [[]])
    many = list(range(300))
    one("more rows than a block", 1, 1, 1, 300, 300, 2, 1, [many], [many], window=0)


if __name__ == "__main__":
    for part in (unary_floats, unary_ints, binary_floats, binary_ints, others, conversions, shapes, windows, gathers, reductions,
                 contractions, structured, attend):
        part()
    path = pathlib.Path(__file__).with_name("goldens.json")
    cases = [json.dumps(c, separators=(",", ":")) for c in CASES]
    path.write_text('{"tensors":[\n' + ",\n".join(TENSORS) + '\n],"cases":[\n' + ",\n".join(cases) + "\n]}\n")
    print(f"{len(CASES)} cases, {path.stat().st_size} bytes")
