#!/usr/bin/env python3
"""Makes smollm2_detokenize.json: for each string, its ids and the bytes llama.cpp's detokeniser gives for them, with the
pieces and types of just those ids.

usage: make.py MODEL.gguf GOLDEN.json > smollm2_detokenize.json   (needs the gguf package)
GOLDEN.json holds {"strings": [{"ids", "detok_hex"}]}, made by llama-cpp-python 0.3.36.
"""

import json
import sys

from gguf import GGUFReader

model, golden = sys.argv[1:]
fields = GGUFReader(model).fields
tokens, types = fields["tokenizer.ggml.tokens"], fields["tokenizer.ggml.token_type"]
strings = [{"ids": s["ids"], "hex": s["detok_hex"]} for s in json.load(open(golden))["strings"]]
used = sorted({i for s in strings for i in s["ids"]})
print(json.dumps({
    "kind": fields["tokenizer.ggml.model"].contents(),
    "pieces": [[i, tokens.contents(i), int(types.contents(i))] for i in used],
    "strings": strings,
}, ensure_ascii=True, separators=(",", ":")))
