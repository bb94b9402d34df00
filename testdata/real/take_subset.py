"""Takes from the full Gemma goldens what the tests use: gemma3.json and gemma3.last.npz. take_subset.py DIRECTORY_OF_GOLDENS

Of a prompt's 262144 last logits it keeps every eighth, the last 64 of the vocabulary and the 32 largest, with their ids.
"""

import json
import sys
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent


def main(full: Path) -> None:
    check = json.loads((full / "hf_check.json").read_text())["gemma3"]
    prompts = []
    for p in json.loads((full / "gemma3.f32.json").read_text())["prompts"]:
        prompts.append({"name": p["name"], "ids": p["ids"], "greedy": check[p["name"]]["hf_greedy"],
                        "greedy_margins": p["greedy_margins"]})
    for p in json.loads((full / "gemma3.extra_handed.json").read_text())["prompts"]:
        prompts.append({key: p[key] for key in ("name", "ids", "greedy", "greedy_margins")})
    lines = ",\n".join(json.dumps(p) for p in prompts)
    (HERE / "gemma3.json").write_text('{"prompts": [\n' + lines + "\n]}\n")
    kept = {}
    for file in ("gemma3.hf.last.npz", "gemma3.extra_handed.last.npz"):
        for name, logits in np.load(full / file).items():
            keep = np.zeros(len(logits), bool)
            keep[::8] = keep[-64:] = keep[np.argsort(logits)[-32:]] = True
            kept[f"{name}.ids"] = np.flatnonzero(keep).astype(np.int32)
            kept[name] = logits[keep]
    np.savez_compressed(HERE / "gemma3.last.npz", **kept)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
