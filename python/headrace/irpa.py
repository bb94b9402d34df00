"""The header of an IREE parameter archive as ``headrace export`` writes it: one header of version 0, data entries only."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path

from .errors import ArchiveError

_HEADER = struct.Struct("<4sHHQQQQQQQQQQ")  # magic, version, sizes and links, count, then offset and length of three segments
_ENTRY = struct.Struct("<QIQQQQQQQQ")  # size, type, flags, name, metadata, alignment, storage
_STRIDE = 80
_DATA = 2


@dataclass(frozen=True)
class Entry:
    offset_bytes: int  # from the start of the file
    length_bytes: int


def read_header(path: Path) -> dict[str, Entry]:
    """Names and places of all parameters. Raises ``ArchiveError``."""
    try:
        with path.open("rb") as file:
            size = file.seek(0, 2)
            file.seek(0)
            return _read(path.name, file, size)
    except OSError as error:
        raise ArchiveError(f"{path.name}: {error.strerror}") from None
    except (struct.error, UnicodeDecodeError) as error:
        raise ArchiveError(f"{path.name}: header: {error}") from None


def _read(name: str, file, size: int) -> dict[str, Entry]:
    (magic, major, minor, header, following, _, count, entries_at, entries_length, names_at, names_length, data_at,
     data_length) = _HEADER.unpack(file.read(_HEADER.size))
    if magic != b"IRPA" or (major, minor, header, following) != (0, 0, _HEADER.size, 0):
        raise ArchiveError(f"{name}: not an IREE parameter archive of version 0.0 with one header")
    if count * _STRIDE != entries_length or max(entries_at + entries_length, names_at + names_length,
                                                data_at + data_length) > size:
        raise ArchiveError(f"{name}: {count} entries do not fit the file's {size} bytes")
    file.seek(entries_at)
    table = file.read(entries_length)
    file.seek(names_at)
    names = file.read(names_length)
    out: dict[str, Entry] = {}
    for i in range(count):
        entry_size, kind, _, name_at, name_length, _, _, _, offset, length = _ENTRY.unpack_from(table, i * _STRIDE)
        if (entry_size, kind) != (_ENTRY.size, _DATA):
            raise ArchiveError(f"{name}: entry {i} is not one of data")
        if name_at + name_length > names_length or offset + length > data_length:
            raise ArchiveError(f"{name}: entry {i} reaches beyond its segment")
        out[names[name_at : name_at + name_length].decode()] = Entry(data_at + offset, length)
    if len(out) != count:
        raise ArchiveError(f"{name}: a name is repeated")
    return out
