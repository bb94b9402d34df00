"""Programs for XLA as ``jax.export.Exported``: the emitted text in JAX's own envelope, through its public interface."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .calls import CompiledFunction, leading
from .dtypes import numpy_dtype
from .errors import CompileError, MissingExtra
from .manifest import Function, Manifest, XlaProgram

if TYPE_CHECKING:
    import jax

# Old enough for StableHLO's readers of the last years, new enough for every op that is emitted.
PORTABLE_VERSION = "1.9.0"

# For programs with bf16 weights on CPU. XLA leaves products to YNNPACK; by default each alone, so that the weight is
# converted to f32 in memory first, on every call. This lets YNNPACK convert while it packs the weight: the same numbers.
BF16_CPU_OPTIONS = {"xla_cpu_experimental_ynn_fusion_type": "LIBRARY_FUSION_TYPE_DOT,LIBRARY_FUSION_TYPE_REDUCE"}


def _jax() -> Any:
    try:
        import jax
        import jax.export
    except ImportError as error:
        raise MissingExtra("jax", error) from None
    return jax


def arguments(manifest: Manifest, function: Function, program: XlaProgram) -> list[tuple[str, tuple[int, ...], str]]:
    """Name, shape and dtype of everything the program is called with: the function's arguments, then parameters."""
    by_name = {a.name: a for a in function.arguments}
    own = [(name, tuple(d.at(program.symbols) for d in by_name[name].shape), by_name[name].dtype)
           for name in program.arguments]
    parameters = {p.name: p for p in manifest.parameters}
    return own + [(name, parameters[name].shape, parameters[name].dtype) for name in program.parameters]


def exported(directory: Path, manifest: Manifest, function: Function, program: XlaProgram,
             platform: str) -> jax.export.Exported:
    """The program under JAX's calling convention. Raises ``MissingExtra``, ``CompileError``."""
    jax = _jax()
    specs = [jax.ShapeDtypeStruct(shape, numpy_dtype(dtype))
             for _, shape, dtype in arguments(manifest, function, program)]
    results = [(tuple(d.at(program.symbols) for d in r.shape), numpy_dtype(r.dtype)) for r in function.results]
    if any(s.dtype.itemsize == 8 for s in specs) and not jax.config.jax_enable_x64:
        raise CompileError(f"{function.name}: has 64-bit values; set jax_enable_x64")

    def stand_in(*_: Any) -> Any:
        values = tuple(jax.numpy.zeros(shape, dtype) for shape, dtype in results)
        return values[0] if len(values) == 1 else values

    # The envelope of a function of the same signature, with our program in it.
    envelope = jax.export.export(jax.jit(stand_in, keep_unused=True), platforms=[platform])(*specs)
    return dataclasses.replace(envelope, fun_name=function.name,
                               mlir_module_serialized=portable_artifact((directory / program.file).read_text()))


def compiler_options(manifest: Manifest, program: XlaProgram, platform: str) -> dict[str, str]:
    """What ``.compile(compiler_options=...)`` of a program that ``exported`` gave should be told, for speed alone."""
    weights = set(program.parameters)
    narrow = any(p.dtype == "bf16" for p in manifest.parameters if p.name in weights)
    return dict(BF16_CPU_OPTIONS) if narrow and platform == "cpu" and not _one_position(manifest, program) else {}


def _one_position(manifest: Manifest, program: XlaProgram) -> bool:
    """Such programs are spelt as sums that XLA's own code runs faster than YNNPACK's (docs/adr/0002)."""
    function = next(f for f in manifest.functions if program.file in [p.file for p in f.targets.xla])
    tokens = next((a for a in function.arguments if a.name == "tokens"), None)
    return tokens is not None and len(tokens.shape) == 2 and tokens.shape[1].at(program.symbols) == 1


def compile_lowered(lowered: Any, options: dict[str, str]) -> Any:
    """Without the options where this XLA does not know one of them."""
    if not options:
        return lowered.compile()
    try:
        return lowered.compile(compiler_options=options)
    except Exception as error:  # jaxlib's own type, which has moved from version to version
        if not any(option in str(error) for option in options):
            raise
        return lowered.compile()


def portable_artifact(text: str, version: str = PORTABLE_VERSION) -> bytes:
    """StableHLO text as a portable artifact (VHLO bytecode). Raises ``MissingExtra``, ``CompileError``."""
    _jax()
    from jax.extend.mlir.dialects import stablehlo

    try:
        return stablehlo.serialize_portable_artifact_str(text, version)
    except Exception as error:  # the bindings' own types differ from version to version
        raise CompileError(f"StableHLO: {error}") from None


def compiled(directory: Path, manifest: Manifest, function: Function, weights: dict[str, Any], vocabulary: int | None,
             device: jax.Device | None) -> CompiledFunction:
    """The function with weights bound; one compiled program for each specialisation."""
    jax = _jax()
    device = device or jax.devices()[0]
    # On CPU device_put keeps a view of the mapped file where the data is aligned to 64 bytes, which archives see to.
    placed = {name: jax.device_put(array, device) for name, array in weights.items()}
    programs = [(p.symbols, _Program(directory, manifest, function, p, placed, device))
                for p in function.targets.xla]
    return CompiledFunction(function, vocabulary, programs)


class _Program:
    def __init__(self, directory: Path, manifest: Manifest, function: Function, program: XlaProgram,
                 weights: dict[str, Any], device: jax.Device) -> None:
        jax = _jax()
        self._weights = [weights[name] for name in program.parameters]
        self._order = [[a.name for a in function.arguments].index(name) for name in program.arguments]
        self._device = device
        own = [jax.ShapeDtypeStruct(shape, numpy_dtype(dtype))
               for _, shape, dtype in arguments(manifest, function, program)[: len(self._order)]]
        call = exported(directory, manifest, function, program, device.platform).call
        donated = tuple(pair.argument for pair in program.donations)
        lowered = jax.jit(call, donate_argnums=donated).lower(*own, *self._weights)
        self._call = compile_lowered(lowered, compiler_options(manifest, program, device.platform))

    def __call__(self, arrays: list[Any], shapes: list[list[int]]) -> Sequence[Any]:
        jax = _jax()
        results = self._call(*(jax.device_put(arrays[i], self._device) for i in self._order), *self._weights)
        results = results if isinstance(results, (tuple, list)) else (results,)
        return [leading(result, shape) for result, shape in zip(results, shapes)]
