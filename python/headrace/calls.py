"""What lies between a user's arguments and a compiled program of static shapes: checks, padding, cutting."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from .dims import Dim, shape_text
from .dtypes import numpy_dtype
from .manifest import Function, Value

# Runs a program on arrays of exactly its shapes, in the function's order of arguments, and gives the leading part of each
# result, of the shapes asked for.
Runner = Callable[[list[Any], list[list[int]]], Sequence[Any]]


class CompiledFunction:
    """A function of an export, compiled. Call it with the function's arguments in their order.

    Token ids (the integer argument ``tokens``) may be a flat sequence where a batch of one is declared. Where the
    program is specialised to larger symbols than the arguments have, they are padded with zeros on the right and the
    results cut; a function with state is padded only if it takes the length of each text.
    """

    def __init__(self, function: Function, vocabulary: int | None, programs: Sequence[tuple[Mapping[str, int], Runner]]):
        self.function = function
        self._vocabulary = vocabulary
        self._programs = programs

    @property
    def bounds(self) -> dict[str, int]:
        """The largest value of each symbol that a program was compiled for."""
        return {s.name: max(values.get(s.name, s.max) for values, _ in self._programs) for s in self.function.symbols}

    def __call__(self, *arguments: Any) -> Any:
        """The result, or a tuple of them. Raises ``ValueError`` for arguments that the function does not take."""
        f = self.function
        if len(arguments) != len(f.arguments):
            raise ValueError(f"{f.name}: {len(arguments)} arguments, expected {len(f.arguments)}: "
                             + ", ".join(a.name for a in f.arguments))
        arrays = [self._array(a, given) for a, given in zip(f.arguments, arguments)]
        sizes = self._sizes(arrays)
        values, run = self._program(sizes)
        wanted = {**sizes, **values}
        padded = [_pad(array, [d.at(wanted) for d in a.shape]) for a, array in zip(f.arguments, arrays)]
        results = run(padded, [[d.at(sizes) for d in r.shape] for r in f.results])
        return results[0] if len(results) == 1 else tuple(results)

    def _array(self, argument: Value, given: Any) -> Any:
        place = f"{self.function.name}: {argument.name}"
        dtype = numpy_dtype(argument.dtype)
        if argument.kind == "cache":
            return given  # an engine's own buffer, maybe: left where it is
        array = np.asarray(given)
        if array.size == 0 and array.dtype == np.float64 and dtype.kind in "iu":
            array = array.astype(np.int64)  # an empty list
        if dtype.kind in "iub" and array.dtype.kind not in "iub":
            raise ValueError(f"{place}: {array.dtype} elements, expected {argument.dtype}")
        if array.ndim == 1 and len(argument.shape) == 2 and argument.shape[0] == Dim(1):
            array = array[None]  # a batch of one
        if array.ndim != len(argument.shape):
            raise ValueError(f"{place}: {array.ndim} dimensions, expected {shape_text(argument.shape)}")
        if argument.name == "tokens" and dtype.kind in "iu":
            self._check_tokens(array, place)
        elif dtype.kind in "iu" and array.size:
            info = np.iinfo(dtype)
            if int(array.min()) < info.min or int(array.max()) > info.max:
                raise ValueError(f"{place}: a value does not fit {argument.dtype}")
        return array.astype(dtype, copy=False)

    def _check_tokens(self, ids: np.ndarray, place: str) -> None:
        if ids.size == 0:
            raise ValueError(f"{place}: no tokens")
        if self._vocabulary is None:
            return
        bad = np.argwhere((ids < 0) | (ids >= self._vocabulary))
        if len(bad):
            at = tuple(int(i) for i in bad[0])
            raise ValueError(f"{place}: token {int(ids[at])} at position {at[-1]} is outside the vocabulary, "
                             f"expected 0 to {self._vocabulary - 1}")

    def _sizes(self, arrays: list[Any]) -> dict[str, int]:
        """The values of the symbols, from the arguments' shapes; checked against every dim and bound."""
        f, sizes = self.function, {}
        for argument, array in zip(f.arguments, arrays):
            for dim, size in zip(argument.shape, np.shape(array)):
                if dim.symbol is not None:
                    sizes.setdefault(dim.symbol, size)
        for s in f.symbols:
            if s.name not in sizes:
                raise ValueError(f"{f.name}: no argument tells '{s.name}'")
            bound = self.bounds[s.name]
            if not s.min <= sizes[s.name] <= bound:
                raise ValueError(f"{f.name}: {s.name} is {sizes[s.name]}, expected {s.min} to {bound}")
        for argument, array in zip(f.arguments, arrays):
            wanted = tuple(d.at(sizes) for d in argument.shape)
            if np.shape(array) != wanted:
                raise ValueError(f"{f.name}: {argument.name} is {list(np.shape(array))}, expected {list(wanted)}, "
                                 f"{shape_text(argument.shape)}")
        return sizes

    def _program(self, sizes: Mapping[str, int]) -> tuple[Mapping[str, int], Runner]:
        """The smallest program that fits."""
        f = self.function
        exact = bool(f.state) and not any(a.name == "length" for a in f.arguments)
        fits = [p for p in self._programs
                if all((sizes[s] == v) if exact else (sizes[s] <= v) for s, v in p[0].items())]
        if not fits:
            have = "; ".join(str(dict(values)) for values, _ in self._programs)
            raise ValueError(f"{f.name}: no program for {dict(sizes)}, there are: {have}")
        return min(fits, key=lambda p: sorted(p[0].items()))


def _pad(array: Any, shape: list[int]) -> Any:
    if list(np.shape(array)) == shape:
        return array
    return np.pad(array, [(0, wanted - size) for size, wanted in zip(np.shape(array), shape)])


def leading(array: Any, shape: list[int]) -> Any:
    """The leading part of that shape."""
    if list(array.shape) == shape:
        return array
    return array[tuple(slice(0, size) for size in shape)]
