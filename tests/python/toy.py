"""A small export written by hand, so that the package is tested without the C++ side.

score: tokens i32[1, seq] -> logits f32[1, seq, V], logits[t] = (sum over s <= t of E[tokens[s]]) W^T: causal, and every
position depends on all earlier ones.
"""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import numpy as np

V, D = 11, 16
NAMES = ("embed.weight", "head.weight")


def weights() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(7)
    return {"embed.weight": rng.standard_normal((V, D), dtype=np.float32),
            "head.weight": rng.standard_normal((V, D), dtype=np.float32)}


def expected(tokens: list[int]) -> np.ndarray:
    w = weights()
    return (np.cumsum(w["embed.weight"][tokens].astype(np.float64), axis=0) @ w["head.weight"].T.astype(np.float64))[None]


def _body(seq: int, embed: str, head: str) -> str:
    return f"""
    %i = stablehlo.reshape %tokens : (tensor<1x{seq}xi32>) -> tensor<{seq}x1xi32>
    %x = "stablehlo.gather"({embed}, %i) {{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, {D}>}} : (tensor<{V}x{D}xf32>, tensor<{seq}x1xi32>) -> tensor<{seq}x{D}xf32>
    %r = stablehlo.iota dim = 0 : tensor<{seq}x{seq}xi32>
    %c = stablehlo.iota dim = 1 : tensor<{seq}x{seq}xi32>
    %p = stablehlo.compare GE, %r, %c : (tensor<{seq}x{seq}xi32>, tensor<{seq}x{seq}xi32>) -> tensor<{seq}x{seq}xi1>
    %one = stablehlo.constant dense<1.0> : tensor<{seq}x{seq}xf32>
    %zero = stablehlo.constant dense<0.0> : tensor<{seq}x{seq}xf32>
    %m = stablehlo.select %p, %one, %zero : tensor<{seq}x{seq}xi1>, tensor<{seq}x{seq}xf32>
    %s = stablehlo.dot_general %m, %x, contracting_dims = [1] x [0] : (tensor<{seq}x{seq}xf32>, tensor<{seq}x{D}xf32>) -> tensor<{seq}x{D}xf32>
    %l = stablehlo.dot_general %s, {head}, contracting_dims = [1] x [1] : (tensor<{seq}x{D}xf32>, tensor<{V}x{D}xf32>) -> tensor<{seq}x{V}xf32>
    %o = stablehlo.reshape %l : (tensor<{seq}x{V}xf32>) -> tensor<1x{seq}x{V}xf32>
    return %o : tensor<1x{seq}x{V}xf32>
"""


def xla_text(seq: int) -> str:
    return (f"module @toy {{\n  func.func public @main(%tokens: tensor<1x{seq}xi32>, %e: tensor<{V}x{D}xf32>, "
            f"%h: tensor<{V}x{D}xf32>) -> tensor<1x{seq}x{V}xf32> {{{_body(seq, '%e', '%h')}  }}\n}}\n")


def iree_text(seq: int) -> str:
    shape = f"tensor<{V}x{D}xf32>"
    parameters = "".join(f'  util.global private @"p.{n}" = #flow.parameter.named<"model"::"{n}"> : {shape}\n'
                         for n in NAMES)
    loads = "".join(f'\n    %{v} = util.global.load @"p.{n}" : {shape}' for v, n in zip("eh", NAMES))
    return (f"module @toy {{\n{parameters}  func.func public @score(%tokens: tensor<1x{seq}xi32>) -> "
            f"tensor<1x{seq}x{V}xf32> {{{loads}{_body(seq, '%e', '%h')}  }}\n}}\n")


def write_archive(path: Path) -> dict[str, tuple[int, int]]:
    """The archive; places of the tensors as (offset, length)."""
    data = {n: w.tobytes() for n, w in weights().items()}
    header: dict[str, Any] = {"__metadata__": {"format": "headrace"}}
    at = 0
    for n, b in data.items():
        header[n] = {"dtype": "F32", "shape": [V, D], "data_offsets": [at, at + len(b)]}
        at += len(b)
    text = json.dumps(header).encode()
    text += b" " * (-(len(text) + 8) % 64)
    path.write_bytes(struct.pack("<Q", len(text)) + text + b"".join(data.values()))
    return {n: (8 + len(text) + header[n]["data_offsets"][0], len(b)) for n, b in data.items()}


def manifest(folder: Path, places: dict[str, tuple[int, int]], bounds: tuple[int, ...]) -> dict[str, Any]:
    size = lambda name: (folder / name).stat().st_size  # noqa: E731
    texts = ["module.hir", "iree/model.mlir", *(f"xla/score.{n}.mlir" for n in bounds)]
    largest = max(bounds)
    return {
        "format": "headrace.manifest", "version": 1, "requires": [],
        "tool": {"name": "headrace", "version": "0.1.0"},
        "options": {"seq": largest, "target": ["iree", "xla"]},
        "source": {"container": "gguf", "files": [{"name": "toy.gguf", "size_bytes": 1}], "header_xxh3": "0" * 32},
        "model": {"name": "toy", "architecture": "toy", "configuration": []},
        "tokenizer": {"kind": "gpt2", "vocabulary": V, "bos": None, "eos": [], "add_bos": None, "pieces": None,
                      "chat": None},
        "kv": None,
        "module": "module.hir",
        "functions": [{
            "name": "score", "symbols": [{"name": "seq", "min": 1, "max": largest}],
            "arguments": [{"name": "tokens", "kind": "data", "dtype": "i32", "shape": [1, "seq"]}],
            "results": [{"name": "logits", "kind": "data", "dtype": "f32", "shape": [1, "seq", V]}],
            "state": [],
            "targets": {
                "xla": [{"file": f"xla/score.{n}.mlir", "entry": "main", "symbols": {"seq": n}, "arguments": ["tokens"],
                         "parameters": list(NAMES), "donations": []} for n in bounds],
                "iree": [{"file": "iree/model.mlir", "entry": "toy.score", "symbols": {"seq": largest},
                          "state_in_globals": False}]}}],
        "parameters": [{"name": n, "dtype": "f32", "shape": [V, D], "role": "matmul", "file": "weights.safetensors",
                        "offset_bytes": places[n][0], "length_bytes": places[n][1], "xxh3": "0" * 32,
                        "recipe": "none", "rounding": None} for n in NAMES],
        "archives": [{"file": "weights.safetensors", "format": "safetensors", "scope": "model",
                      "size_bytes": size("weights.safetensors")}],
        "texts": [{"file": t, "link": t, "size_bytes": size(t), "xxh3": "0" * 32} for t in texts],
        "commands": [],
    }


def write_export(folder: Path, bounds: tuple[int, ...] = (4, 8)) -> dict[str, Any]:
    """Writes the export; returns its manifest."""
    (folder / "xla").mkdir(parents=True)
    (folder / "iree").mkdir()
    (folder / "module.hir").write_text("headrace.module 1\n")
    (folder / "iree/model.mlir").write_text(iree_text(max(bounds)))
    for n in bounds:
        (folder / f"xla/score.{n}.mlir").write_text(xla_text(n))
    places = write_archive(folder / "weights.safetensors")
    out = manifest(folder, places, bounds)
    (folder / "manifest.json").write_text(json.dumps(out))
    return out
