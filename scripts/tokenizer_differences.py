#!/usr/bin/env python3
"""Compares `headrace tokenize` with llama.cpp and Hugging Face's tokenizers on generated texts, kind by kind, and exits 1 if there is a
difference that docs/tokenizers.md does not explain.

usage: scripts/tokenizer_differences.py [--count N] [--seed N] [--kinds NAME,...] [--model GGUF]...   (default: 10,000 texts of every kind)
       scripts/tokenizer_differences.py --write-digests    (testdata/tokenizer/llama_cpp.json, by llama.cpp alone)

Kinds are those of tests/tokenizer/kinds.py, every name of src/tokenizer/pretokenizers.def (as pre:NAME), and the GGUF files given. Needs
the wheels of requirements-test.txt; for GGUF kinds also llama-cpp-python (0.3.36 is what was used), without which they are left out."""

import argparse
import json
import pathlib
import sys
import tempfile
import time
import unicodedata

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "tokenizer"))
import kinds  # noqa: E402
from oracles import HuggingFace, LlamaCpp, Ours, as_json, differences, digest  # noqa: E402
from texts import Texts  # noqa: E402


def report(name, texts, found, decoded, seconds):
    print(f"{name:24} {len(texts)} texts  {len(found)} differences  {decoded} decoded otherwise  {seconds:.1f} s", flush=True)
    for mode, text, ours, theirs in found[:3]:
        at = next((i for i, (a, b) in enumerate(zip(ours, theirs)) if a != b), min(len(ours), len(theirs)))
        print(f"    {mode} {text[:100]!r}: from id {at} ours {ours[at:at + 6]} theirs {theirs[at:at + 6]}")
    return not found and not decoded


def compare_gguf(name, path, texts, folder):
    start = time.time()
    ours, theirs = Ours(path, folder), LlamaCpp(path)
    found = differences(ours, theirs, texts, kinds.explained(path))
    ids = theirs.encode(texts)
    # The space that a llama GGUF puts before a text stays in llama.cpp's pieces.
    decoded = sum(a != b and b" " + a != b for a, b in zip(ours.decode(ids), theirs.decode(ids)))
    return report(name, texts, found, decoded, time.time() - start)


def compare_hf(name, path, texts, folder):
    start = time.time()
    texts = [t for t in texts if isinstance(as_json(t), str)]
    ours, theirs = Ours(path, folder), HuggingFace(path)
    found = differences(ours, theirs, texts)
    ids = theirs.encode(texts)
    # Where ids do not end at characters, theirs has U+FFFD in place of the bytes.
    plain = [t.decode(errors="ignore").replace("\ufffd", "") for t in ours.decode(ids)]
    decoded = sum(a != b.decode().replace("\ufffd", "") for a, b in zip(plain, theirs.decode(ids)))
    return report(name, texts, found, decoded, time.time() - start)


def write_digests(folder):
    source = folder / "llama3.json"
    kinds.HF_KINDS["llama3"]().save(str(source))
    made = {}
    for kind in kinds.gguf_kinds():
        path = kinds.make_gguf(kind, folder, source)
        made[kind] = {"file": digest(path.read_bytes()), "ids": digest(LlamaCpp(path))}
    out = {"made_by": "scripts/tokenizer_differences.py --write-digests, llama-cpp-python 0.3.36", "unicode": unicodedata.unidata_version, "kinds": made}
    (ROOT / "testdata/tokenizer/llama_cpp.json").write_text(json.dumps(out, indent=1) + "\n")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kinds", default="")
    parser.add_argument("--model", action="append", default=[])
    parser.add_argument("--write-digests", action="store_true")
    options = parser.parse_args()
    if options.write_digests:
        with tempfile.TemporaryDirectory() as name:
            write_digests(pathlib.Path(name))
        return
    only = set(filter(None, options.kinds.split(",")))
    texts = {db: Texts(options.seed, db).many(options.count) for db in (unicodedata, unicodedata.ucd_3_2_0)}
    try:
        import llama_cpp  # noqa: F401
        with_llama = True
    except ImportError:
        print("llama-cpp-python is not here: GGUF kinds are left out")
        with_llama = False
    good = True
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for kind, make in kinds.HF_KINDS.items():
            path = folder / f"{kind}.json"
            if only and kind not in only and kind != "llama3":
                continue
            make().save(str(path))
            if not only or kind in only:
                good &= compare_hf(kind, path, texts[unicodedata.ucd_3_2_0 if kind in kinds.OLD_TABLES else unicodedata], folder)
        for kind in kinds.gguf_kinds() if with_llama else []:
            if not only or kind in only:
                path = kinds.make_gguf(kind, folder, folder / "llama3.json")
                good &= compare_gguf(kind, path, texts[unicodedata], folder)
        for model in options.model if with_llama else []:
            good &= compare_gguf(pathlib.Path(model).name[:24], model, texts[unicodedata], folder)
    sys.exit(not good)


main()
