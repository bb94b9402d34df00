#!/usr/bin/env python3
"""MB/s of English by one core's time, ours beside Hugging Face's tokenizers, in one run, by turns: the same tokenizer.json, the same text.

usage: bench/tokenize_speed.py [TOKENIZER.json...]   (default: the small ones of tests/tokenizer; needs build/bench/tokenize_bench)"""

import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time

os.environ["TOKENIZERS_PARALLELISM"] = "false"
os.environ["RAYON_NUM_THREADS"] = "1"
ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "tokenizer"))
import kinds  # noqa: E402
from texts import WORDS  # noqa: E402

ROUNDS = 5


def english(size):
    """Words by a Zipf law, with endings, so that some are rare; sentences and paragraphs."""
    pick = random.Random(1)
    words = WORDS + [a + b for a in WORDS[:90] for b in ("s", "ed", "ing", "er", "ly", "ness")]
    weights = [1 / (i + 1) for i in range(len(words))]
    out = []
    while sum(map(len, out)) < size:
        sentence = " ".join(pick.choices(words, weights, k=pick.randint(4, 20))).capitalize()
        out.append(sentence + pick.choice([". ", ". ", "? ", ".\n\n", ", 1984. "]))
    return "".join(out)[:size]


def theirs(path, text):
    from tokenizers import Tokenizer
    tokenizer = Tokenizer.from_file(str(path))
    start = time.process_time()  # of this process, so that a busy machine counts for neither side
    ids = tokenizer.encode(text).ids
    return len(text) / (time.process_time() - start) / 1e6, len(ids)


def ours(path, text_file):
    done = subprocess.run([ROOT / "build/bench/tokenize_bench", "--benchmark_filter=encode_text", "--benchmark_format=json", "--benchmark_min_time=0.5"], capture_output=True, text=True, check=True,
                          env={**os.environ, "BENCH_TOKENIZER": str(path), "BENCH_TEXT": str(text_file)})
    run = json.loads(done.stdout)["benchmarks"][0]
    return run["bytes_per_second"] / 1e6, int(run["ids"])


def main():
    text = english(2_000_000)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        file = folder / "english.txt"
        file.write_text(text)
        paths = [pathlib.Path(p) for p in sys.argv[1:]]
        for kind in () if paths else ("gpt2", "llama3", "smollm", "gemma", "llama2", "unigram_bytes"):
            paths.append(folder / f"{kind}.json")
            kinds.HF_KINDS[kind]().save(str(paths[-1]))
        print(f"{'tokenizer':16} {'ours MB/s':>10} {'theirs':>8} {'ratio':>6}")
        for path in paths:
            pairs = [(ours(path, file), theirs(path, text)) for _ in range(ROUNDS)]
            assert all(a[1] == b[1] for a, b in pairs), "the ids differ in number"
            best = [max(p[side][0] for p in pairs) for side in (0, 1)]
            print(f"{path.stem:16} {best[0]:10.1f} {best[1]:8.1f} {best[0] / best[1]:6.1f}", flush=True)


main()
