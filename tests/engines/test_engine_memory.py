"""Loading the real model takes no second copy of its weights."""

import subprocess
import sys

import pytest

# What importing the engines and running one trivial program costs, then loading and a first call.
PROGRAM = """
import sys
import numpy as np

def status(key):
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) << 10 for line in file if line.startswith(key + ":"))

engine, folder, cache = sys.argv[1:]
if engine == "jax":
    import jax
    jax.jit(lambda x: x + 1)(np.zeros(4, np.float32)).block_until_ready()
else:
    import iree.compiler, iree.runtime
    iree.runtime.Config("local-task")
import headrace

before = status("VmRSS")
export = headrace.load(folder)
score = export.to_jax("score") if engine == "jax" else export.to_iree("score", cache=cache)
loaded = status("VmHWM") - before
int(np.asarray(score([504, 3575, 282, 4649, 314]))[0, -1].argmax())
print(loaded, status("VmHWM") - before, status("VmHWM"), sum(a.size_bytes for a in export.manifest.archives))
"""


@pytest.mark.parametrize("engine", ["jax", "iree"])
def test_peak(make_export, smollm2, compiled_cache, table, engine):
    folder = make_export(smollm2, 72)
    done = subprocess.run([sys.executable, "-c", PROGRAM, engine, folder, compiled_cache], capture_output=True,
                          text=True, check=False)
    assert done.returncode == 0, done.stderr
    loaded, called, peak, archive = map(int, done.stdout.split())
    table("Memory: engine, archive, growth by loading, growth by loading and one call, peak of the process (MB)",
          f"{engine:5} {archive / 1e6:.0f}  {loaded / 1e6:.0f} ({loaded / archive:.2f}x)  "
          f"{called / 1e6:.0f} ({called / archive:.2f}x)  {peak / 1e6:.0f}")
    assert loaded <= 1.2 * archive
    assert called <= 1.4 * archive  # the weights once, and what the call itself takes
