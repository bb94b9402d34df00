"""The weights of an export, mapped: views of the file, nothing is copied."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from . import irpa, safetensors
from .dtypes import numpy_dtype, safetensors_name
from .errors import ArchiveError
from .manifest import Manifest, Parameter


_READERS = {"safetensors": safetensors.read_header, "irpa": irpa.read_header}


class Weights:
    """Every parameter of a manifest, checked against the archives' own headers. Immutable."""

    def __init__(self, directory: Path, manifest: Manifest) -> None:
        """Raises ``ArchiveError``: a file of another size or format, or a parameter that is not as the manifest says."""
        self._parameters = {p.name: p for p in manifest.parameters}
        self._maps: dict[str, np.memmap] = {}
        headers = {}
        for archive in manifest.archives:
            path = directory / archive.file
            if archive.format not in _READERS:
                raise ArchiveError(f"{archive.file}: archives of format '{archive.format}' are not known")
            check_size(path, archive.file, archive.size_bytes)
            headers[archive.file] = _READERS[archive.format](path)
            self._maps[archive.file] = np.memmap(path, dtype=np.uint8, mode="r")
        faults = [fault for p in manifest.parameters if p.file is not None and (fault := _compare(p, headers[p.file]))]
        if faults:
            raise ArchiveError("; ".join(faults[:20]))

    def array(self, name: str) -> np.ndarray:
        """A read-only view of a parameter. Raises ``ArchiveError`` when it was not written, ``KeyError`` without one."""
        p = self._parameters[name]
        if p.file is None:
            raise ArchiveError(f"parameter '{name}' was not written (--weights none)")
        raw = self._maps[p.file][p.offset_bytes : p.offset_bytes + p.length_bytes]
        return raw.view(np.ndarray).view(numpy_dtype(p.dtype)).reshape(p.shape)


def check_size(path: Path, name: str, size_bytes: int) -> None:
    """Raises ``ArchiveError`` for a file that is missing or of another size."""
    try:
        found = path.stat().st_size
    except OSError as error:
        raise ArchiveError(f"{name}: {error.strerror}") from None
    if found != size_bytes:
        raise ArchiveError(f"{name}: {found} bytes, the manifest says {size_bytes}")


def _compare(p: Parameter, header: dict) -> str | None:
    tensor = header.get(p.name)
    if tensor is None:
        return f"{p.file}: no tensor '{p.name}'"
    found = (tensor.offset_bytes, tensor.length_bytes)
    wanted = (p.offset_bytes, p.length_bytes)
    what = "offset, bytes"
    if isinstance(tensor, safetensors.Tensor):  # irpa knows no dtype and no shape
        found = (tensor.dtype, tensor.shape, *found)
        wanted = (safetensors_name(p.dtype), p.shape, *wanted)
        what = "dtype, shape, " + what
    if found != wanted:
        return f"{p.file}: tensor '{p.name}' is {found} ({what}), the manifest says {wanted}"
    return None
