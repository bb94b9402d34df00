"""Spellings of a product with a bf16 or f16 weight: bodies that take x [s, k] f32 and w [n, k], and define %r [s, n] f32.

A spelling is a function of s, n, k and the weight's element type; None where it does not apply.
"""

from __future__ import annotations

from collections.abc import Callable

Spelling = Callable[[int, int, int, str], "str | None"]


def t(*dims: int, of: str = "f32") -> str:
    """A tensor type."""
    return f"tensor<{''.join(f'{d}x' for d in dims)}{of}>"


def dot(s: int, n: int, k: int, of: str) -> str:
    """linear_dot_2d: the weight converted, then a dot of f32."""
    wide = f"%v = stablehlo.convert %w : ({t(n, k, of=of)}) -> {t(n, k)}" if of != "f32" else ""
    return f"""
    {wide}
    %r = stablehlo.dot_general %x, {'%v' if wide else '%w'}, contracting_dims = [1] x [1] : ({t(s, k)}, {t(n, k)}) -> {t(s, n)}"""


def dot_apart(s: int, n: int, k: int, of: str) -> str:
    """linear_dot_apart: what computes x is kept out of the product."""
    return f"""
    %xb = stablehlo.optimization_barrier %x : {t(s, k)}
    %v = stablehlo.convert %w : ({t(n, k, of=of)}) -> {t(n, k)}
    %r = stablehlo.dot_general %xb, %v, contracting_dims = [1] x [1] : ({t(s, k)}, {t(n, k)}) -> {t(s, n)}"""


def _bits(n: int, k: int) -> str:
    return f"""
    %u = stablehlo.bitcast_convert %w : ({t(n, k, of='bf16')}) -> {t(n, k, of='ui16')}
    %ub = stablehlo.convert %u : ({t(n, k, of='ui16')}) -> {t(n, k, of='ui32')}
    %c16 = stablehlo.constant dense<16> : {t(n, k, of='ui32')}
    %us = stablehlo.shift_left %ub, %c16 : {t(n, k, of='ui32')}
    %v = stablehlo.bitcast_convert %us : ({t(n, k, of='ui32')}) -> {t(n, k)}"""


def dot_bits(s: int, n: int, k: int, of: str) -> str | None:
    """The conversion as a shift of bits."""
    if of != "bf16":
        return None
    return _bits(n, k) + f"""
    %r = stablehlo.dot_general %x, %v, contracting_dims = [1] x [1] : ({t(s, k)}, {t(n, k)}) -> {t(s, n)}"""


def reduce(s: int, n: int, k: int, of: str) -> str | None:
    """linear_reduce: one row."""
    if s != 1:
        return None
    return f"""
    %xr = stablehlo.reshape %x : ({t(1, k)}) -> {t(k)}
    %xb = stablehlo.optimization_barrier %xr : {t(k)}
    %v = stablehlo.convert %w : ({t(n, k, of=of)}) -> {t(n, k)}
    %b = stablehlo.broadcast_in_dim %xb, dims = [1] : ({t(k)}) -> {t(n, k)}
    %m = stablehlo.multiply %v, %b : {t(n, k)}
    %z = stablehlo.constant dense<0.0> : {t()}
    %y = stablehlo.reduce(%m init: %z) applies stablehlo.add across dimensions = [1] : ({t(n, k)}, {t()}) -> {t(n)}
    %r = stablehlo.reshape %y : ({t(n)}) -> {t(1, n)}"""


def _lanes(lanes: int, bits: bool) -> Spelling:
    def spelling(s: int, n: int, k: int, of: str) -> str | None:
        if s != 1 or k % lanes or (bits and of != "bf16"):
            return None
        j = k // lanes
        whole = _bits(n, k) if bits else f"""
    %v = stablehlo.convert %w : ({t(n, k, of=of)}) -> {t(n, k)}"""
        return whole + f"""
    %xr = stablehlo.reshape %x : ({t(1, k)}) -> {t(j, lanes)}
    %xb = stablehlo.optimization_barrier %xr : {t(j, lanes)}
    %v3 = stablehlo.reshape %v : ({t(n, k)}) -> {t(n, j, lanes)}
    %b = stablehlo.broadcast_in_dim %xb, dims = [1, 2] : ({t(j, lanes)}) -> {t(n, j, lanes)}
    %m = stablehlo.multiply %v3, %b : {t(n, j, lanes)}
    %z = stablehlo.constant dense<0.0> : {t()}
    %y1 = stablehlo.reduce(%m init: %z) applies stablehlo.add across dimensions = [1] : ({t(n, j, lanes)}, {t()}) -> {t(n, lanes)}
    %y = stablehlo.reduce(%y1 init: %z) applies stablehlo.add across dimensions = [1] : ({t(n, lanes)}, {t()}) -> {t(n)}
    %r = stablehlo.reshape %y : ({t(n)}) -> {t(1, n)}"""
    return spelling


def pairs(s: int, n: int, k: int, of: str) -> str | None:
    """One row: two weights in 32 bits, the even one shifted up, the odd one masked; x's even and odd elements apart."""
    if s != 1 or of != "bf16" or k % 2:
        return None
    h = k // 2
    u, f = t(n, h, of="ui32"), t(n, h)
    return f"""
    %w2 = stablehlo.reshape %w : ({t(n, k, of=of)}) -> {t(n, h, 2, of=of)}
    %u = stablehlo.bitcast_convert %w2 : ({t(n, h, 2, of=of)}) -> {u}
    %c16 = stablehlo.constant dense<16> : {u}
    %mask = stablehlo.constant dense<4294901760> : {u}
    %ue = stablehlo.shift_left %u, %c16 : {u}
    %uo = stablehlo.and %u, %mask : {u}
    %ve = stablehlo.bitcast_convert %ue : ({u}) -> {f}
    %vo = stablehlo.bitcast_convert %uo : ({u}) -> {f}
    %x2 = stablehlo.reshape %x : ({t(1, k)}) -> {t(h, 2)}
    %xe2 = stablehlo.slice %x2 [0:{h}, 0:1] : ({t(h, 2)}) -> {t(h, 1)}
    %xo2 = stablehlo.slice %x2 [0:{h}, 1:2] : ({t(h, 2)}) -> {t(h, 1)}
    %xe1 = stablehlo.reshape %xe2 : ({t(h, 1)}) -> {t(h)}
    %xo1 = stablehlo.reshape %xo2 : ({t(h, 1)}) -> {t(h)}
    %xe, %xo = stablehlo.optimization_barrier %xe1, %xo1 : {t(h)}, {t(h)}
    %be = stablehlo.broadcast_in_dim %xe, dims = [1] : ({t(h)}) -> {f}
    %bo = stablehlo.broadcast_in_dim %xo, dims = [1] : ({t(h)}) -> {f}
    %me = stablehlo.multiply %ve, %be : {f}
    %mo = stablehlo.multiply %vo, %bo : {f}
    %m = stablehlo.add %me, %mo : {f}
    %z = stablehlo.constant dense<0.0> : {t()}
    %y = stablehlo.reduce(%m init: %z) applies stablehlo.add across dimensions = [1] : ({f}, {t()}) -> {t(n)}
    %r = stablehlo.reshape %y : ({t(n)}) -> {t(1, n)}"""


def _split(parts: int, weight_first: bool = False, padded: int = 0) -> Spelling:
    """x as a sum of bf16 numbers (three hold all 24 bits of f32), their rows in one dot of bf16 summed in f32."""
    def spelling(s: int, n: int, k: int, of: str) -> str | None:
        if of != "bf16":
            return None
        x, u, b = t(s, k), t(s, k, of="ui32"), t(s, k, of="bf16")
        text = f"\n    %mask = stablehlo.constant dense<4294901760> : {u}\n"
        rest = "%x"
        for i in range(parts):
            text += f"""
    %u{i} = stablehlo.bitcast_convert {rest} : ({x}) -> {u}
    %m{i} = stablehlo.and %u{i}, %mask : {u}
    %h{i} = stablehlo.bitcast_convert %m{i} : ({u}) -> {x}
    %b{i} = stablehlo.convert %h{i} : ({x}) -> {b}
    %s{i} = stablehlo.subtract {rest}, %h{i} : {x}"""
            rest = f"%s{i}"
        rows = max(parts * s, padded)
        if rows > parts * s and s > 1:
            return None
        all_x, w = t(rows, k, of="bf16"), t(n, k, of="bf16")
        text += f"""
    %all = stablehlo.concatenate {", ".join(f"%b{i}" for i in range(parts))}, dim = 0 : ({", ".join([b] * parts)}) -> {t(parts * s, k, of="bf16")}"""
        if rows > parts * s:
            text = text.replace("%all =", "%few =") + f"""
    %zero = stablehlo.constant dense<0.0> : {t(of="bf16")}
    %all = stablehlo.pad %few, %zero, low = [0, 0], high = [{rows - parts * s}, 0], interior = [0, 0] : ({t(parts * s, k, of="bf16")}, {t(of="bf16")}) -> {all_x}"""
        if weight_first:
            text += f"""
    %p = stablehlo.dot_general %w, %all, contracting_dims = [1] x [1] : ({w}, {all_x}) -> {t(n, rows)}"""
        else:
            text += f"""
    %p = stablehlo.dot_general %all, %w, contracting_dims = [1] x [1] : ({all_x}, {w}) -> {t(rows, n)}"""
        whole, part = (t(n, rows), t(n, s)) if weight_first else (t(rows, n), t(s, n))
        for i in range(parts):
            ends = f"0:{n}, {i * s}:{i * s + s}" if weight_first else f"{i * s}:{i * s + s}, 0:{n}"
            text += f"\n    %p{i} = stablehlo.slice %p [{ends}] : ({whole}) -> {part}"
        total = f"%p{parts - 1}"
        for i in reversed(range(parts - 1)):
            text += f"\n    %t{i} = stablehlo.add %p{i}, {total} : {part}"
            total = f"%t{i}"
        if weight_first:
            return text + f"\n    %r = stablehlo.transpose {total}, dims = [1, 0] : ({part}) -> {t(s, n)}"
        return text + f"\n    %r = stablehlo.reshape {total} : ({part}) -> {t(s, n)}"
    return spelling


def rounded(s: int, n: int, k: int, of: str) -> str:
    """x rounded to the weight's type: not what is asked for; the speed of the engine's own narrow dot."""
    return f"""
    %xn = stablehlo.convert %x : ({t(s, k)}) -> {t(s, k, of=of)}
    %r = stablehlo.dot_general %xn, %w, contracting_dims = [1] x [1] : ({t(s, k, of=of)}, {t(n, k, of=of)}) -> {t(s, n)}"""


def _blocks(block: int, after: bool = False) -> Spelling:
    """The weight in blocks of rows, each converted and multiplied by itself."""
    def spelling(s: int, n: int, k: int, of: str) -> str | None:
        if n % block or n == block or n // block > 64:
            return None
        text, parts = "", []
        for i in range(n // block):
            text += f"""
    %w{i} = stablehlo.slice %w [{i * block}:{i * block + block}, 0:{k}] : ({t(n, k, of=of)}) -> {t(block, k, of=of)}
    %v{i} = stablehlo.convert %w{i} : ({t(block, k, of=of)}) -> {t(block, k)}
    %r{i} = stablehlo.dot_general %x, %v{i}, contracting_dims = [1] x [1] : ({t(s, k)}, {t(block, k)}) -> {t(s, block)}"""
            parts.append(f"%r{i}")
        return text + f"""
    %r = stablehlo.concatenate {", ".join(parts)}, dim = 1 : ({", ".join([t(s, block)] * len(parts))}) -> {t(s, n)}"""
    return spelling


def first(s: int, n: int, k: int, of: str) -> str:
    """The converted weight on the left, the product turned."""
    return f"""
    %v = stablehlo.convert %w : ({t(n, k, of=of)}) -> {t(n, k)}
    %p = stablehlo.dot_general %v, %x, contracting_dims = [1] x [1] : ({t(n, k)}, {t(s, k)}) -> {t(n, s)}
    %r = stablehlo.transpose %p, dims = [1, 0] : ({t(n, s)}) -> {t(s, n)}"""


def twice(s: int, n: int, k: int, of: str) -> str | None:
    """One row as two equal ones, since XLA leaves products of matrices, but not those of a vector, to YNNPACK."""
    if s != 1:
        return None
    return f"""
    %v = stablehlo.convert %w : ({t(n, k, of=of)}) -> {t(n, k)}
    %xx = stablehlo.broadcast_in_dim %x, dims = [0, 1] : ({t(1, k)}) -> {t(2, k)}
    %p = stablehlo.dot_general %xx, %v, contracting_dims = [1] x [1] : ({t(2, k)}, {t(n, k)}) -> {t(2, n)}
    %r = stablehlo.slice %p [0:1, 0:{n}] : ({t(2, n)}) -> {t(1, n)}"""


SPELLINGS: dict[str, Spelling] = {
    "dot": dot, "dot-apart": dot_apart, "dot-bits": dot_bits, "first": first, "reduce": reduce, "lanes16": _lanes(16, False),
    "lanes16-bits": _lanes(16, True), "pairs": pairs, "twice": twice, "split3": _split(3), "first-split3": _split(3, True),
    "first-pad16": _split(3, True, 16), "split2": _split(2), "rounded": rounded, "blocks": _blocks(192),
}
