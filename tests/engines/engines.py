"""Small StableHLO programs on the two engines, and the parser that is not ours."""

from __future__ import annotations

import functools
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import iree.runtime
import jax
import numpy as np
from jax.extend.mlir import ir
from jax.extend.mlir.dialects import stablehlo
from jaxlib import _jax, xla_client
from jaxlib.mlir._mlir_libs import _jax_mlir_ext

from headrace.iree import CPU_FLAGS, compile_program


def parse(text: str) -> ir.Module:
    """Parsed and verified by jaxlib's bindings; raises on any fault."""
    context, registry = ir.Context(), ir.DialectRegistry()
    _jax_mlir_ext.register_dialects(registry)  # func and builtin among them
    context.append_dialect_registry(registry)
    context.load_all_available_dialects()
    stablehlo.register_dialect(context)
    with context, ir.Location.unknown(context):
        module = ir.Module.parse(text)
        module.operation.verify()
        return module


@functools.cache
def _client():
    return jax.extend.backend.get_backend("cpu")


def run_xla(text: str, arguments: Sequence[np.ndarray]) -> list[np.ndarray]:
    """The text as it is, without JAX in between."""
    client = _client()
    devices = _jax.DeviceList(tuple(client.devices()[:1]))
    with jax.enable_x64(True):
        program = client.compile_and_load(text, devices, xla_client.CompileOptions())
        results = program.execute([jax.device_put(a, client.devices()[0]) for a in arguments])
        return [np.asarray(r) for r in results]


class IreeModule:
    """A compiled module of one or more public functions."""

    def __init__(self, code: bytes, device: str) -> None:
        self._config = iree.runtime.Config(device)
        module = iree.runtime.VmModule.copy_buffer(self._config.vm_instance, code)
        context = iree.runtime.SystemContext(vm_modules=[module], config=self._config)
        self._functions = context.modules[module.name]

    def place(self, array: np.ndarray) -> iree.runtime.DeviceArray:
        """On the device, once for many calls."""
        return iree.runtime.asdevicearray(self._config.device, array)

    def function(self, name: str) -> Callable[..., Any]:
        return self._functions[name]

    def __call__(self, function: str, arguments: Sequence[np.ndarray]) -> list[np.ndarray]:
        results = self._functions[function](*arguments)
        results = results if isinstance(results, (tuple, list)) else (results,)
        return [np.array(r.to_host()) for r in results]  # the view does not keep the memory


def compile_iree(text: str, flags: Sequence[str] = CPU_FLAGS, device: str = "local-sync") -> IreeModule:
    """Compiled with the package's flags. Raises ``headrace.CompileError``."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "program.mlir"
        source.write_text(text)
        code = compile_program(source, None, flags)
    assert isinstance(code, bytes)
    return IreeModule(code, device)


def lower(tests_binary: Path, folder: Path) -> None:
    """Every *.hir in the folder to *.iree.mlir and *.<function>.xla.mlir, by src/stablehlo/lower_text_test.cpp."""
    done = subprocess.run([tests_binary, "--gtest_filter=LowerText.Dump", "--gtest_brief=1"],
                          env={"HEADRACE_DUMP_DIR": str(folder)}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
