"""The bf16 and f16 archives of real models, bit for bit: gguf-py's dequantised values rounded by ml_dtypes and numpy."""

import subprocess

import gguf
import ml_dtypes
import numpy as np
import pytest

import headrace

NUMPY = {"bf16": np.dtype(ml_dtypes.bfloat16), "f16": np.dtype(np.float16)}
NARROW_ROLES = {"matmul", "embedding"}


@pytest.mark.parametrize("dtype", NUMPY)
@pytest.mark.parametrize("model", ["smollm2", "gemma3"])
def test_every_tensor(request, headrace_bin, table, tmp_path, model, dtype):
    path = request.getfixturevalue(model)
    done = subprocess.run([headrace_bin, "export", path, "-o", tmp_path / "out", "--dtype", dtype, "--seq", "1", "--quiet"],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    export = headrace.load(tmp_path / "out")
    parameters = {p.name: p for p in export.manifest.parameters}
    narrow = inexact = 0
    for tensor in gguf.GGUFReader(path).tensors:
        p = parameters.pop(tensor.name)
        values = gguf.quants.dequantize(tensor.data, tensor.tensor_type).astype(np.float32)
        wanted = values.astype(NUMPY[dtype]) if p.role in NARROW_ROLES else values
        got = export.parameter(tensor.name)
        assert got.dtype == wanted.dtype and got.shape == wanted.shape
        assert got.tobytes() == wanted.tobytes(), tensor.name
        if p.role not in NARROW_ROLES:
            assert p.rounding is None
            continue
        changed = int((wanted.astype(np.float32) != values).sum())
        assert (p.rounding.inexact, p.rounding.overflowed) == (changed, 0)
        narrow, inexact = narrow + values.size, inexact + changed
    assert not parameters
    table("Narrow archives, equal bit for bit: model, type, weights, of these not exact",
          f"{model:8} {dtype:5} {narrow} {100 * inexact / narrow:.1f} %")
