"""Programs for IREE: iree-compile as a process of its own, IREE's runtime with the archive mapped."""

from __future__ import annotations

import dataclasses
import hashlib
import os
import secrets
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .calls import CompiledFunction, leading
from .errors import CompileError, MissingExtra
from .manifest import Function, IreeProgram, Manifest

# For the CPU of this machine; the same as in the manifest's command lines. Tasks of 32 rows: IREE's 64 split a matrix of 576 rows
# into 9, of which one of two cores gets 5.
CPU_FLAGS = (
    "--iree-hal-target-device=local",
    "--iree-hal-local-target-device-backends=llvm-cpu",
    "--iree-llvmcpu-target-cpu=host",
    "--iree-opt-level=O2",
    "--iree-llvmcpu-distribution-size=32",
)


def compiler() -> tuple[str, str]:
    """The path of iree-compile and its version. Raises ``MissingExtra``."""
    try:
        from iree.compiler import version
        from iree.compiler.tools.binaries import find_tool
    except ImportError as error:
        raise MissingExtra("iree", error) from None
    return find_tool("iree-compile"), str(version.VERSION)


def runtime() -> Any:
    """IREE's runtime. Raises ``MissingExtra``."""
    try:
        import iree.runtime
    except ImportError as error:
        raise MissingExtra("iree", error) from None
    return iree.runtime


def _this_cpu() -> str:
    """Tells CPUs apart for which `host` means different code."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        import platform

        return platform.machine() + platform.processor()
    return "\n".join(sorted({line for line in lines if line.startswith(("model name", "flags", "Features", "CPU part"))}))


def compile_program(source: Path, cache: Path | None, flags: Sequence[str] = CPU_FLAGS) -> bytes | Path:
    """Compiled code: bytes, or a file in ``cache`` that is reused while text, flags, compiler and CPU are the same.

    Raises ``MissingExtra``, ``CompileError`` with the compiler's first lines.
    """
    tool, version = compiler()
    if cache is None:
        with tempfile.TemporaryDirectory(prefix="headrace-") as folder:
            return _run(tool, source, Path(folder) / "model.vmfb", flags).read_bytes()
    key = hashlib.sha256("\0".join([source.read_text(), *flags, version, _this_cpu()]).encode()).hexdigest()[:16]
    target = cache / f"{source.stem}-{key}.vmfb"
    if not target.exists():
        cache.mkdir(parents=True, exist_ok=True)
        # Named before it is there: whenever an exception comes, it is removed.
        partial = cache / f".partial-{os.getpid()}-{secrets.token_hex(4)}"
        try:
            os.replace(_run(tool, source, partial, flags), target)
        finally:
            partial.unlink(missing_ok=True)
    return target


def _run(tool: str, source: Path, target: Path, flags: Sequence[str]) -> Path:
    done = subprocess.run([tool, *flags, str(source), "-o", str(target)], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise CompileError(f"iree-compile {source.name}: " + "\n".join(done.stderr.splitlines()[:10]))
    return target


def compiled(directory: Path, manifest: Manifest, function: Function, vocabulary: int | None, cache: Path | None,
             device: str, modules: dict[Any, Any]) -> CompiledFunction:
    """The function in all its specialisations. ``modules`` keeps what was loaded, so that functions share the globals
    that hold their caches. Raises ``MissingExtra``, ``CompileError``."""
    programs = []
    for program in function.targets.iree:
        key = (program.file, device, cache)
        if key not in modules:
            runtime()
            modules[key] = load_module(directory, manifest, compile_program(directory / program.file, cache), device)
        values = {s.name: program.symbols[s.name] for s in function.symbols if s.name in program.symbols}
        programs.append((values, _Program(program, *modules[key])))
    if any(p.state_in_globals for p in function.targets.iree):
        function = _without_caches(function)
    return CompiledFunction(function, vocabulary, programs)


def _without_caches(function: Function) -> Function:
    """As a caller sees it whose caches are in globals."""
    def data(values: Any) -> tuple[Any, ...]:
        return tuple(v for v in values if v.kind != "cache")

    return dataclasses.replace(function, arguments=data(function.arguments), results=data(function.results), state=())


def load_module(directory: Path, manifest: Manifest, code: bytes | Path, device: str) -> tuple[Any, str]:
    """The context that holds the module with its parameters, and the module's name."""
    rt = runtime()
    config = rt.Config(device)
    instance = config.vm_instance
    # One index for all archives of a scope: of two providers with one scope IREE asks the first alone.
    indices: dict[str, Any] = {}
    for archive in manifest.archives:
        index = indices.setdefault(archive.scope, rt.ParameterIndex())
        index.load(str(directory / archive.file), format=archive.format)
    providers = [index.create_provider(scope=scope) for scope, index in indices.items()]
    modules = [rt.create_io_parameters_module(instance, *providers)] if providers else []
    if isinstance(code, Path):
        module = rt.VmModule.mmap(instance, str(code))
    else:
        module = rt.VmModule.copy_buffer(instance, code)
    return rt.SystemContext(vm_modules=[*modules, module], config=config), module.name


class _Program:
    def __init__(self, program: IreeProgram, context: Any, module: str) -> None:
        self._context = context
        # "<module>.<function>", and both may have dots: the module that was loaded tells them apart.
        entry = program.entry.removeprefix(module + ".")
        self._function = context.modules[module][entry]

    def __call__(self, arrays: list[Any], shapes: list[list[int]]) -> Sequence[Any]:
        results = self._function(*arrays)
        results = results if isinstance(results, (tuple, list)) else (results,)
        # A copy: to_host() gives a view that does not keep the device's memory alive.
        return [np.array(leading(r.to_host(), shape)) for r, shape in zip(results, shapes)]
