"""Errors of this package. Wrong arguments of a call are ordinary ``ValueError``s."""


class HeadraceError(Exception):
    """Base of the package's own errors."""


class ManifestError(HeadraceError):
    """The manifest is damaged, or of a version or with a feature that this package does not know."""


class ArchiveError(HeadraceError):
    """A file of the export is missing, of another size, or does not hold what the manifest says."""


class MissingExtra(HeadraceError, ImportError):
    """An optional dependency is not installed."""

    def __init__(self, extra: str, cause: ImportError) -> None:
        super().__init__(f"{cause.name or cause} is not installed: pip install headrace[{extra}]")
        self.extra = extra


class CompileError(HeadraceError):
    """The engine's compiler refused the program."""
