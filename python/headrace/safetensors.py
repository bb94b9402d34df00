"""The header of a safetensors file: u64 length, JSON of that length, data without holes."""

from __future__ import annotations

import json
import math
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .errors import ArchiveError

MAX_HEADER_BYTES = 100_000_000
_SIZES = {"BOOL": 1, "U8": 1, "I8": 1, "F8_E5M2": 1, "F8_E4M3": 1, "I16": 2, "U16": 2, "F16": 2, "BF16": 2, "I32": 4,
          "U32": 4, "F32": 4, "I64": 8, "U64": 8, "F64": 8}


@dataclass(frozen=True)
class Tensor:
    dtype: str
    shape: tuple[int, ...]
    offset_bytes: int  # from the start of the file
    length_bytes: int


def _no_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    out = dict(pairs)
    if len(out) != len(pairs):
        raise ValueError("a key is repeated")
    return out


def _is_sizes(value: Any) -> bool:
    return isinstance(value, list) and all(type(v) is int and v >= 0 for v in value)


def read_header(path: Path) -> dict[str, Tensor]:
    """Names and places of all tensors. Raises ``ArchiveError``, also for holes, overlaps and trailing bytes."""
    try:
        with path.open("rb") as file:
            size = file.seek(0, 2)
            file.seek(0)
            first = file.read(8)
            length = struct.unpack("<Q", first)[0] if len(first) == 8 else size
            if length > min(MAX_HEADER_BYTES, size - 8):
                raise ArchiveError(f"{path.name}: not a safetensors file, or its header is cut short")
            header = json.loads(file.read(length), object_pairs_hook=_no_repeats)
    except OSError as error:
        raise ArchiveError(f"{path.name}: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise ArchiveError(f"{path.name}: header: {error}") from None
    if not isinstance(header, dict):
        raise ArchiveError(f"{path.name}: header: not an object")
    tensors = {name: _tensor(path.name, name, entry, 8 + length) for name, entry in header.items()
               if name != "__metadata__"}
    end = 8 + length
    for name, tensor in sorted(tensors.items(), key=lambda item: (item[1].offset_bytes, item[1].length_bytes)):
        if tensor.offset_bytes != end:
            raise ArchiveError(f"{path.name}: tensor '{name}' starts at {tensor.offset_bytes}, expected {end}")
        end += tensor.length_bytes
    if end != size:
        raise ArchiveError(f"{path.name}: {size} bytes, its header describes {end}")
    return tensors


def _tensor(file: str, name: str, entry: Any, data_start: int) -> Tensor:
    place = f"{file}: tensor '{name[:100]}'"
    if not isinstance(entry, dict) or not {"dtype", "shape", "data_offsets"} <= entry.keys():
        raise ArchiveError(f"{place}: not dtype, shape and data_offsets")
    dtype, shape, offsets = entry["dtype"], entry["shape"], entry["data_offsets"]
    if dtype not in _SIZES:
        raise ArchiveError(f"{place}: dtype {str(dtype)[:20]!r} is not known")
    if not _is_sizes(shape) or not _is_sizes(offsets) or len(offsets) != 2 or offsets[0] > offsets[1]:
        raise ArchiveError(f"{place}: shape {str(shape)[:60]} or data_offsets {str(offsets)[:60]} make no sense")
    length = offsets[1] - offsets[0]
    if math.prod(shape) * _SIZES[dtype] != length:
        raise ArchiveError(f"{place}: {length} bytes, but its shape takes {math.prod(shape) * _SIZES[dtype]}")
    return Tensor(dtype, tuple(shape), data_start + offsets[0], length)
