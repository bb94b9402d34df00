"""One text through the functions of an export, piece by piece, its caches carried from call to call."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

import headrace

Arrays = Sequence[np.ndarray]


class Text:
    """By the Python package: the caches stay with the engine."""

    def __init__(self, folder: Path, engine: str, cache: Path) -> None:
        export = headrace.load(folder)
        self.call = {f: export.to_jax(f) if engine == "xla" else export.to_iree(f, cache=cache)
                     for f in export.functions}
        self.restart()

    def restart(self) -> None:
        self.at, self.caches = 0, []

    def run(self, function: str, *arguments: np.ndarray) -> Arrays:
        results = self.call[function](*arguments, *self.caches)
        return results if isinstance(results, tuple) else (results,)

    def feed(self, ids: list[int], width: int | None = None) -> np.ndarray:
        """Logits of the ids, [ids, vocabulary], or [vocabulary] of the last one where the export gives no others; in a call
        of `width` tokens if that is more."""
        tokens = np.zeros((1, width or len(ids)), np.int32)
        tokens[0, :len(ids)] = ids
        length, position = np.array([len(ids)], np.int32), np.array([self.at], np.int32)
        if self.at == 0:
            results = self.run("prefill", tokens, length)
        elif width is None and len(ids) == 1:
            results = self.run("decode", tokens, position)
        else:
            results = self.run("chunk", tokens, length, position)
        self.at += len(ids)
        self.caches = list(results[1:])
        logits = np.asarray(results[0])[0]
        return logits[:len(ids)] if logits.ndim == 2 else logits


class InterpretedText(Text):
    """By `headrace run`, a process a call: the caches lie in files."""

    def __init__(self, folder: Path, program: Path) -> None:
        self.folder, self.program = folder, program
        self.function = {f.name: f for f in headrace.load(folder).manifest.functions}
        self.scratch = tempfile.TemporaryDirectory(prefix="headrace-caches-")
        self.restart()

    def run(self, function: str, *arguments: np.ndarray) -> Arrays:
        names = [a.name for a in self.function[function].arguments]
        command = [self.program, "run", self.folder, function, "--quiet", "-o", f"{self.scratch.name}/"]
        for name, value in zip(names, arguments):
            command += ["--input", f"{name}={','.join(map(str, value.reshape(-1)))}"]
        for name, path in zip(names[len(arguments):], self.caches):
            command += ["--input", f"{name}={path}"]
        subprocess.run(command, check=True, capture_output=True)
        files = [Path(self.scratch.name) / f"{r.name}.npy" for r in self.function[function].results]
        return [np.load(files[0]), *files[1:]]
