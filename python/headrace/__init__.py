"""Runs what ``headrace export`` wrote: ``headrace.load(DIR)``, then ``.to_jax``, ``.to_iree`` or ``.exported``."""

from .calls import CompiledFunction
from .errors import ArchiveError, CompileError, HeadraceError, ManifestError, MissingExtra
from .export import Export, load
from .manifest import Manifest

__all__ = ["ArchiveError", "CompileError", "CompiledFunction", "Export", "HeadraceError", "Manifest", "ManifestError",
           "MissingExtra", "load"]
__version__ = "0.1.0"
