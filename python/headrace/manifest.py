"""manifest.json, version 1, as dataclasses. ``docs/manifest.md`` describes the fields.

Reading is strict about what it uses: missing fields, wrong types, repeated keys, unknown versions and unknown
``requires`` features are errors, all faults reported together. Fields that are not known are skipped.
"""

from __future__ import annotations

import dataclasses
import json
import types
import typing
from dataclasses import dataclass
from typing import Any

from .dims import Dim, parse_dim
from .errors import ManifestError
from .manifest_checks import Faults, check

FORMAT = "headrace.manifest"
VERSION = 1
KNOWN_FEATURES: frozenset[str] = frozenset({"state-in-globals"})

MAX_BYTES = 64 << 20
MAX_DEPTH = 16

Shape = tuple[Dim, ...]


@dataclass(frozen=True)
class Tool:
    name: str
    version: str


@dataclass(frozen=True)
class SourceFile:
    name: str
    size_bytes: int


@dataclass(frozen=True)
class Source:
    container: str
    files: tuple[SourceFile, ...]
    header_xxh3: str


@dataclass(frozen=True)
class Config:
    key: str
    value: Any
    origin: str


@dataclass(frozen=True)
class Model:
    name: str
    architecture: str
    configuration: tuple[Config, ...]


@dataclass(frozen=True)
class Tokenizer:
    kind: str
    vocabulary: int
    bos: int | None
    eos: tuple[int, ...]
    add_bos: bool | None
    pieces: str | None
    chat: str | None


@dataclass(frozen=True)
class Symbol:
    name: str
    min: int
    max: int


@dataclass(frozen=True)
class Value:
    """An argument or a result."""

    name: str
    kind: str
    dtype: str
    shape: Shape


@dataclass(frozen=True)
class Pair:
    argument: int
    result: int


@dataclass(frozen=True)
class XlaProgram:
    """Called with ``arguments`` in this order, then ``parameters`` in this order."""

    file: str
    entry: str
    symbols: dict[str, int]
    arguments: tuple[str, ...]
    parameters: tuple[str, ...]
    donations: tuple[Pair, ...]


@dataclass(frozen=True)
class IreeProgram:
    """Called with the function's arguments, but for caches if they are in globals, as parameters always are."""

    file: str
    entry: str
    symbols: dict[str, int]
    state_in_globals: bool


@dataclass(frozen=True)
class Targets:
    xla: tuple[XlaProgram, ...]
    iree: tuple[IreeProgram, ...]


@dataclass(frozen=True)
class Function:
    name: str
    symbols: tuple[Symbol, ...]
    arguments: tuple[Value, ...]
    results: tuple[Value, ...]
    state: tuple[Pair, ...]
    targets: Targets


@dataclass(frozen=True)
class Rounding:
    """What a rounding step of the recipe lost: values that changed, of these finite ones that became infinite."""

    inexact: int
    overflowed: int
    largest_error: float


@dataclass(frozen=True)
class KvLayer:
    """The cache of one layer. ``window``: keys a query sees, 0 for all. ``slots``: None where it grows."""

    layer: int
    heads: int
    key_width: int
    value_width: int
    window: int
    slots: int | None


@dataclass(frozen=True)
class Kv:
    """How keys and values are kept between calls (docs/functions.md)."""

    extent: str
    capacity: int
    local: str
    storage: str
    dtype: str
    batch: int
    bytes_per_token: int
    fixed_bytes: int
    layers: tuple[KvLayer, ...]


@dataclass(frozen=True)
class Parameter:
    """``file``, ``offset_bytes``, ``length_bytes`` and ``xxh3`` are all null when weights were not written."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    role: str
    file: str | None
    offset_bytes: int | None
    length_bytes: int | None
    xxh3: str | None
    recipe: str
    rounding: Rounding | None


@dataclass(frozen=True)
class Archive:
    file: str
    format: str
    scope: str
    size_bytes: int


@dataclass(frozen=True)
class Text:
    file: str
    link: str
    size_bytes: int
    xxh3: str


@dataclass(frozen=True)
class Command:
    what: str
    line: str


@dataclass(frozen=True)
class Manifest:
    tool: Tool
    options: dict[str, Any]
    source: Source
    model: Model
    tokenizer: Tokenizer | None
    kv: Kv | None
    module: str
    functions: tuple[Function, ...]
    parameters: tuple[Parameter, ...]
    archives: tuple[Archive, ...]
    texts: tuple[Text, ...]
    commands: tuple[Command, ...]


_WORDS = {str: "a string", int: "a whole number", bool: "true or false", Dim: "a dimension"}


def _read(kind: Any, value: Any, path: str, faults: Faults) -> Any:
    """``value`` as ``kind``, a type annotation of the classes above; faults are noted and give None."""
    origin = typing.get_origin(kind)
    if kind is Any:
        return value
    if origin is types.UnionType:
        return None if value is None else _read(typing.get_args(kind)[0], value, path, faults)
    if dataclasses.is_dataclass(kind) and kind is not Dim:
        return _read_object(kind, value, path, faults)
    if origin is tuple:
        if not isinstance(value, list):
            return faults.add(path, "not an array")
        item = typing.get_args(kind)[0]
        return tuple(_read(item, v, f"{path}[{i}]", faults) for i, v in enumerate(value))
    if origin is dict:
        if not isinstance(value, dict):
            return faults.add(path, "not an object")
        return {k: _read(typing.get_args(kind)[1], v, f"{path}.{k}", faults) for k, v in value.items()}
    if kind is Dim:
        try:
            return parse_dim(value)
        except ValueError as error:
            return faults.add(path, str(error))
    if type(value) is not kind:
        return faults.add(path, f"not {_WORDS[kind]}")
    return value


def _read_object(kind: type, value: Any, path: str, faults: Faults) -> Any:
    if not isinstance(value, dict):
        return faults.add(path, "not an object")
    hints = typing.get_type_hints(kind)
    fields = {}
    for field in dataclasses.fields(kind):
        at = f"{path}.{field.name}" if path else field.name
        if field.name not in value:
            faults.add(at, "missing")
            continue
        fields[field.name] = _read(hints[field.name], value[field.name], at, faults)
    return kind(**fields) if len(fields) == len(dataclasses.fields(kind)) else None


def _no_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    out = dict(pairs)
    if len(out) != len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise ManifestError(f"manifest: key '{key[:60]}' is repeated")
            seen.add(key)
    return out


def _not_a_number(word: str) -> Any:
    raise ManifestError(f"manifest: {word} is not JSON")


def _check_depth(text: str) -> None:
    depth, in_string, escaped = 0, False, False
    for c in text:
        if in_string:
            in_string = escaped or c != '"'
            escaped = c == "\\" and not escaped
        elif c == '"':
            in_string = True
        elif c in "[{":
            depth += 1
            if depth > MAX_DEPTH:
                raise ManifestError(f"manifest: nested deeper than {MAX_DEPTH} levels")
        elif c in "]}":
            depth -= 1


def _check_head(root: Any) -> None:
    """What decides whether the rest can be understood, before the rest is looked at."""
    if not isinstance(root, dict) or root.get("format") != FORMAT:
        raise ManifestError(f'manifest: format is not "{FORMAT}"')
    version = root.get("version")
    if type(version) is not int:
        raise ManifestError("manifest: version is missing or not a whole number")
    if version != VERSION:
        raise ManifestError(f"manifest: version {version}, this package reads version {VERSION}")
    features = root.get("requires")
    if not isinstance(features, list) or not all(isinstance(f, str) for f in features):
        raise ManifestError("manifest: requires is missing or not an array of strings")
    for feature in features:
        if feature not in KNOWN_FEATURES:
            raise ManifestError(f"manifest: requires '{feature[:60]}', which this package does not know")


def parse(text: str) -> Manifest:
    """Raises ``ManifestError``."""
    if len(text) > MAX_BYTES:
        raise ManifestError(f"manifest: larger than {MAX_BYTES >> 20} MiB")
    _check_depth(text)
    try:
        root = json.loads(text, object_pairs_hook=_no_repeats, parse_constant=_not_a_number)
    except ManifestError:
        raise
    except ValueError as error:  # also whole numbers of more digits than Python converts
        raise ManifestError(f"manifest: not JSON: {error}") from None
    _check_head(root)
    faults = Faults()
    manifest = _read_object(Manifest, root, "", faults)
    faults.raise_any()
    check(manifest, faults)
    faults.raise_any()
    return manifest
