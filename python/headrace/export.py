"""An export's directory, opened."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from . import iree, xla
from .archive import Weights, check_size
from .calls import CompiledFunction
from .errors import ArchiveError, HeadraceError
from .manifest import MAX_BYTES, Function, Manifest, XlaProgram, parse

if TYPE_CHECKING:
    import jax


class Export:
    """What ``headrace.load`` returns. Reading only; weights are views of the mapped archive."""

    def __init__(self, directory: Path, manifest: Manifest) -> None:
        """Raises ``ArchiveError`` when a file is missing, of another size, or disagrees with the manifest."""
        self.directory = directory
        self.manifest = manifest
        for text in manifest.texts:
            check_size(directory / text.file, text.file, text.size_bytes)
        self._weights = Weights(directory, manifest)
        self._iree_modules: dict[Any, Any] = {}

    def __repr__(self) -> str:
        return f"<headrace.Export {self.directory}: {self.manifest.model.name}, functions {self.functions}>"

    @property
    def functions(self) -> list[str]:
        """Names of the functions."""
        return [f.name for f in self.manifest.functions]

    def function(self, name: str) -> Function:
        """What the manifest says about a function. Raises ``KeyError`` naming those that exist."""
        for f in self.manifest.functions:
            if f.name == name:
                return f
        raise KeyError(f"no function '{name}', there are: {', '.join(self.functions)}")

    def parameter(self, name: str) -> np.ndarray:
        """A weight as a read-only view of the file. Raises ``KeyError``, ``ArchiveError`` when it was not written."""
        return self._weights.array(name)

    def arguments(self, name: str, symbols: Mapping[str, int] | None = None) -> list[tuple[str, tuple[int, ...], str]]:
        """Name, shape and dtype (the manifest's word) of what ``exported(name)`` is called with, in order."""
        f = self.function(name)
        return xla.arguments(self.manifest, f, self._program(f, symbols))

    def weights(self, name: str, symbols: Mapping[str, int] | None = None) -> list[np.ndarray]:
        """The parameters of ``exported(name)`` in its order: ``exported.call(tokens, *weights)``."""
        return [self.parameter(p) for p in self._program(self.function(name), symbols).parameters]

    def compiler_options(self, name: str, platform: str = "cpu", symbols: Mapping[str, int] | None = None) -> dict[str, str]:
        """What makes XLA's code for ``exported(name)`` fast, for ``jax.jit(..).lower(..).compile(compiler_options=..)``;
        ``to_jax`` passes it by itself. May be empty."""
        return xla.compiler_options(self.manifest, self._program(self.function(name), symbols), platform)

    def exported(self, name: str, platform: str = "cpu",
                 symbols: Mapping[str, int] | None = None) -> jax.export.Exported:
        """A ``jax.export.Exported`` of the function for one platform (``cpu``, ``cuda``, ``rocm``, ``tpu``).

        Called with the function's arguments, then the parameters, each one array, as ``arguments(name)`` lists them;
        gives one array, or a tuple of them. Inside, weights are arguments: nothing of their size is stored in it.
        ``symbols`` picks a specialisation, the largest by default. A caller who wants state to be updated in place
        donates it in the outer ``jax.jit``. Raises ``MissingExtra``, ``CompileError``.
        """
        f = self.function(name)
        return xla.exported(self.directory, self.manifest, f, self._program(f, symbols), platform)

    def to_jax(self, name: str, device: jax.Device | None = None) -> CompiledFunction:
        """The function compiled by XLA with the weights bound, for one device (JAX's first by default)."""
        f = self.function(name)
        self._need(f, bool(f.targets.xla), "xla")
        weights = {p: self.parameter(p) for program in f.targets.xla for p in program.parameters}
        return xla.compiled(self.directory, self.manifest, f, weights, self._vocabulary(f), device)

    def to_iree(self, name: str, cache: str | os.PathLike[str] | None = None,
                device: str = "local-task") -> CompiledFunction:
        """The function compiled by ``iree-compile`` for this CPU, weights read from the mapped archive.

        ``cache``: a directory that keeps compiled code, reused while program, compiler and CPU are the same; without
        it the program is compiled anew. ``device``: ``local-task`` (all cores) or ``local-sync`` (one).
        """
        f = self.function(name)
        self._need(f, bool(f.targets.iree), "iree")
        if any(p.file is None for p in self.manifest.parameters):
            raise ArchiveError(f"{name}: weights were not written (--weights none)")
        return iree.compiled(self.directory, self.manifest, f, self._vocabulary(f),
                             None if cache is None else Path(cache), device, self._iree_modules)

    def _need(self, f: Function, there: bool, target: str) -> None:
        if not there:
            raise HeadraceError(f"{f.name} was not exported for {target}: headrace export --target {target}")

    def _program(self, f: Function, symbols: Mapping[str, int] | None) -> XlaProgram:
        self._need(f, bool(f.targets.xla), "xla")
        if symbols is None:
            return max(f.targets.xla, key=lambda p: sorted(p.symbols.items()))
        for program in f.targets.xla:
            if program.symbols == dict(symbols):
                return program
        have = "; ".join(str(p.symbols) for p in f.targets.xla)
        raise ValueError(f"{f.name}: no program for {dict(symbols)}, there are: {have}")

    def _vocabulary(self, f: Function) -> int | None:
        """Ids are below it: what the tokenizer says, and what the logits have room for."""
        tokenizer = self.manifest.tokenizer
        known = [tokenizer.vocabulary] if tokenizer is not None else []
        known += [r.shape[-1].constant for r in f.results if r.name == "logits" and not r.shape[-1].terms]
        return min(known, default=None)


def load(directory: str | os.PathLike[str]) -> Export:
    """Opens an export. Raises ``ManifestError``, ``ArchiveError``, ``FileNotFoundError`` without a manifest."""
    folder = Path(directory)
    path: Any = folder / "manifest.json"
    if path.stat().st_size > MAX_BYTES:
        raise HeadraceError(f"{path}: larger than {MAX_BYTES >> 20} MiB")
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise HeadraceError(f"{path}: not UTF-8: {error.reason}") from None
    return Export(folder, parse(text))
