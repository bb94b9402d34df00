"""Dimensions: whole numbers, or affine expressions of symbols such as ``past + seq`` and ``2*seq - 1``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

_TERM = re.compile(r"(?:(\d{1,18})\s*\*\s*)?([A-Za-z_][A-Za-z0-9_]*)|(\d{1,18})")
_SIGN = re.compile(r"\s*([+-])\s*")


@dataclass(frozen=True)
class Dim:
    """``constant`` plus the sum of coefficient times symbol, sorted by symbol."""

    constant: int = 0
    terms: tuple[tuple[str, int], ...] = ()

    @property
    def symbol(self) -> str | None:
        """The symbol, when the dim is nothing but one."""
        if self.constant == 0 and len(self.terms) == 1 and self.terms[0][1] == 1:
            return self.terms[0][0]
        return None

    def at(self, values: Mapping[str, int]) -> int:
        """The value. Every symbol must be in ``values``."""
        return self.constant + sum(factor * values[name] for name, factor in self.terms)

    def __str__(self) -> str:
        parts = [(factor, name if abs(factor) == 1 else f"{abs(factor)}*{name}") for name, factor in self.terms]
        if self.constant or not parts:
            parts.append((self.constant, str(abs(self.constant))))
        text = ("-" if parts[0][0] < 0 else "") + parts[0][1]
        return text + "".join((" - " if sign < 0 else " + ") + part for sign, part in parts[1:])


def parse_dim(value: int | str) -> Dim:
    """From the manifest's spelling. Raises ``ValueError``."""
    if isinstance(value, bool) or not isinstance(value, (int, str)):
        raise ValueError("not a dimension: a whole number, or an expression as a string")
    if isinstance(value, int):
        return Dim(value)
    text = value.strip()
    constant, terms = 0, {}
    at, sign = (1, -1) if text.startswith("-") else (0, 1)
    while True:
        term = _TERM.match(text, at)
        if term is None:
            raise ValueError(f"'{value[:60]}' is not a dimension")
        factor, symbol, number = term.groups()
        if symbol is None:
            constant += sign * int(number)
        else:
            terms[symbol] = terms.get(symbol, 0) + sign * int(factor or 1)
        if term.end() == len(text):
            break
        joint = _SIGN.match(text, term.end())
        if joint is None:
            raise ValueError(f"'{value[:60]}' is not a dimension")
        at, sign = joint.end(), 1 if joint.group(1) == "+" else -1
    return Dim(constant, tuple(sorted((name, factor) for name, factor in terms.items() if factor)))


def shape_text(shape: tuple[Dim, ...]) -> str:
    """``[1, seq, 64]``"""
    return "[" + ", ".join(map(str, shape)) + "]"
