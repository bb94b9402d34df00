"""What must agree between the fields of a manifest."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from .dtypes import TABLE, size_of
from .errors import ManifestError

if TYPE_CHECKING:
    from .manifest import Function, IreeProgram, Manifest, Pair, Parameter, XlaProgram

_MAX_FAULTS = 20
_HEX = frozenset("0123456789abcdef")


class Faults:
    def __init__(self) -> None:
        self.lines: list[str] = []

    def add(self, path: str, what: str) -> None:
        if len(self.lines) < _MAX_FAULTS:
            self.lines.append(f"{path}: {what}")

    def raise_any(self) -> None:
        if self.lines:
            raise ManifestError("manifest: " + "; ".join(self.lines))


def is_safe_path(path: str) -> bool:
    """Inside the export: relative, plain segments, no backslash."""
    return bool(path) and "\\" not in path and "\0" not in path and not path.startswith("/") and all(
        part not in ("", ".", "..") for part in path.split("/")
    ) and str(PurePosixPath(path)) == path


def check(m: Manifest, faults: Faults) -> None:
    texts = {t.file for t in m.texts}
    for kind, rows in (("texts", m.texts), ("archives", m.archives)):
        _check_unique(kind, [r.file for r in rows], faults)
        for i, row in enumerate(rows):
            if not is_safe_path(row.file):
                faults.add(f"{kind}[{i}].file", f"'{row.file[:60]}' is not a path inside the export")
            if row.size_bytes < 0:
                faults.add(f"{kind}[{i}].size_bytes", "negative")
    if m.module not in texts:
        faults.add("module", f"'{m.module[:60]}' is not one of texts")
    if m.tokenizer is not None and m.tokenizer.pieces is not None and m.tokenizer.pieces not in texts:
        faults.add("tokenizer.pieces", f"'{m.tokenizer.pieces[:60]}' is not one of texts")
    if m.tokenizer is not None and m.tokenizer.chat is not None and m.tokenizer.chat not in texts:
        faults.add("tokenizer.chat", f"'{m.tokenizer.chat[:60]}' is not one of texts")
    _check_unique("parameters", [p.name for p in m.parameters], faults)
    archives = {a.file: a.size_bytes for a in m.archives}
    for i, parameter in enumerate(m.parameters):
        _check_parameter(parameter, archives, f"parameters[{i}]", faults)
    _check_unique("functions", [f.name for f in m.functions], faults)
    names = {p.name for p in m.parameters}
    for i, function in enumerate(m.functions):
        _check_function(function, texts, names, f"functions[{i}]", faults)


def _check_unique(path: str, names: list[str] | tuple[str, ...], faults: Faults) -> None:
    seen: set[str] = set()
    for i, name in enumerate(names):
        if name in seen:
            faults.add(f"{path}[{i}]", f"'{name[:60]}' is repeated")
        seen.add(name)


def _check_parameter(p: Parameter, archives: dict[str, int], path: str, faults: Faults) -> None:
    if p.dtype not in TABLE:
        return faults.add(f"{path}.dtype", f"'{p.dtype[:60]}' is not a dtype")
    if any(d < 0 for d in p.shape):
        return faults.add(f"{path}.shape", "not the shape of a tensor")
    nulls = [v is None for v in (p.file, p.offset_bytes, p.length_bytes, p.xxh3)]
    if all(nulls):
        return None
    if any(nulls):
        return faults.add(path, "file, offset_bytes, length_bytes and xxh3 must all be set or all be null")
    count = 1
    for d in p.shape:
        count *= d
    if p.file not in archives:
        faults.add(f"{path}.file", f"'{p.file[:60]}' is not one of archives")
    elif p.offset_bytes < 0 or p.offset_bytes + p.length_bytes > archives[p.file]:
        faults.add(path, f"does not lie in the {archives[p.file]} bytes of '{p.file}'")
    if p.length_bytes != count * size_of(p.dtype):
        faults.add(f"{path}.length_bytes", f"{p.length_bytes}, but {count} elements of {p.dtype} are "
                   f"{count * size_of(p.dtype)} bytes")
    if len(p.xxh3) != 32 or not set(p.xxh3) <= _HEX:
        faults.add(f"{path}.xxh3", "not 32 lower-case hex digits")
    return None


def _check_function(f: Function, texts: set[str], parameters: set[str], path: str, faults: Faults) -> None:
    symbols = {s.name for s in f.symbols}
    for part, values in (("arguments", f.arguments), ("results", f.results)):
        _check_unique(f"{path}.{part}", [v.name for v in values], faults)
        for i, value in enumerate(values):
            if value.dtype not in TABLE:
                faults.add(f"{path}.{part}[{i}].dtype", f"'{value.dtype[:60]}' is not a dtype")
            if value.kind not in ("data", "cache"):
                faults.add(f"{path}.{part}[{i}].kind", f"'{value.kind[:60]}' is not data or cache")
            for symbol in {name for dim in value.shape for name, _ in dim.terms} - symbols:
                faults.add(f"{path}.{part}[{i}]", f"'{value.name}' uses unknown symbol '{symbol}'")
    _check_pairs(f.state, len(f.arguments), len(f.results), f"{path}.state", faults)
    for i, program in enumerate(f.targets.iree):
        _check_program(program, symbols, texts, f"{path}.targets.iree[{i}]", faults)
    for i, xla in enumerate(f.targets.xla):
        at = f"{path}.targets.xla[{i}]"
        _check_program(xla, symbols, texts, at, faults)
        if sorted(xla.arguments) != sorted(a.name for a in f.arguments):
            faults.add(f"{at}.arguments", "not the function's arguments, each once")
        _check_unique(f"{at}.parameters", xla.parameters, faults)
        for name in xla.parameters:
            if name not in parameters:
                faults.add(f"{at}.parameters", f"'{name[:60]}' is not one of parameters")
        _check_pairs(xla.donations, len(xla.arguments), len(f.results), f"{at}.donations", faults)


def _check_program(program: XlaProgram | IreeProgram, symbols: set[str], texts: set[str], path: str,
                   faults: Faults) -> None:
    if program.file not in texts:
        faults.add(f"{path}.file", f"'{program.file[:60]}' is not one of texts")
    for name in program.symbols:
        if name not in symbols:
            faults.add(f"{path}.symbols", f"unknown symbol '{name[:60]}'")


def _check_pairs(pairs: tuple[Pair, ...], arguments: int, results: int, path: str, faults: Faults) -> None:
    for pair in pairs:
        if not (0 <= pair.argument < arguments and 0 <= pair.result < results):
            faults.add(path, f"pair ({pair.argument}, {pair.result}) is out of range")
