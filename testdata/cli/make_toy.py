#!/usr/bin/env python3
"""Makes toy.gguf and toy_refused.gguf of this folder with the test kit tests/cli/fixkit.py."""

import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "tests" / "cli"))
import fixkit  # noqa: E402

SMALL = dict(width=8, ffn=16, heads=2, kv_heads=1, head_dim=4, vocab=40, context=32)
fixkit.llama(**SMALL).write(HERE / "toy.gguf")
refused = fixkit.llama(tied=True, **SMALL).drop("blk.0.ffn_up.weight", "llama.rope.freq_base")
refused.set("llama.rope.scaling.type", fixkit.STRING, "yarn").write(HERE / "toy_refused.gguf")
