"""The text of every core op (testdata/ops/every_op.mlir, written by the C++ test OpText) is taken by both engines
(reports H01, H02)."""

import pathlib
import subprocess
import sys

import pytest

TEXT = pathlib.Path(__file__).parents[1] / "testdata" / "ops" / "every_op.mlir"


def test_jaxlib_parses_and_verifies():
    pytest.importorskip("jaxlib")
    from jaxlib.mlir import ir
    from jaxlib.mlir._mlir_libs import _jax_mlir_ext
    from jaxlib.mlir.dialects import stablehlo

    context = ir.Context()
    registry = ir.DialectRegistry()
    _jax_mlir_ext.register_dialects(registry)
    context.append_dialect_registry(registry)
    stablehlo.register_dialect(context)
    context.load_all_available_dialects()
    with context, ir.Location.unknown(context):
        module = ir.Module.parse(TEXT.read_text())
        assert module.operation.verify()


def test_iree_compiles(tmp_path):
    compiler = pathlib.Path(sys.executable).with_name("iree-compile")
    if not compiler.exists():
        pytest.skip("iree-compile is not in this environment")
    done = subprocess.run(
        [compiler, "--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=llvm-cpu",
         "--iree-llvmcpu-target-cpu=host", str(TEXT), "-o", str(tmp_path / "every_op.vmfb")],
        capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr[:4000]
