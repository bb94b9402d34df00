#!/usr/bin/env python3
"""docs/bug-reports.md has a row for every entry of the collection of reports; the tests that a row names hold its id.

A row is `| ids | fault | here | tests |`. Tests are paths, or `none` and the reason.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/bug-reports.md"

# The entries of the collection, by section; the numbers that are missing never were there.
ENTRIES = {
    "A": [1, 2, 3, 4, 6, 7, *range(9, 24)],
    "B": [1, 2, 3, 4],
    "C": [1, 2, 3, 4, 5, 6, 8, 9, 10, 12],
    "D": [1, *range(3, 13), *range(14, 23), 24, *range(26, 31)],
    "E": [1, *range(3, 9)],
    "F": list(range(2, 9)),
    "G": [2, 3, *range(5, 13)],
    "H": [1, 2, 3, 4, 5, *range(7, 12), 13, 14, 15],
}


def rows(text):
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("|") and re.fullmatch(r"[A-H]\d\d( [A-H]\d\d)*", cells[0]):
            yield cells[0].split(), cells


def faults_of(ids, cells):
    if len(cells) != 4:
        return [f"{ids[0]}: {len(cells)} cells, expected 4"]
    tests = cells[3]
    if re.match(r"none\b", tests):
        return [] if re.fullmatch(r"none[^:]*: .{10,}", tests) else [f"{ids[0]}: 'none' without a reason"]
    out = []
    for name in tests.split():
        path = ROOT / name
        if not path.is_file():
            out.append(f"{ids[0]}: no file {name}")
            continue
        text = path.read_text(encoding="utf-8")
        out += [f"{id}: {name} does not name it" for id in ids
                if not re.search(rf"(?<![0-9a-z]){id}(?![0-9a-z])", text, re.IGNORECASE)]
    return out if tests else [f"{ids[0]}: no tests and no reason"]


def main():
    wanted = [f"{section}{number:02}" for section, numbers in ENTRIES.items() for number in numbers]
    found, faults = [], []
    for ids, cells in rows(PAGE.read_text(encoding="utf-8")):
        found += ids
        faults += faults_of(ids, cells)
    faults += [f"{id}: has no row" for id in wanted if id not in found]
    faults += [f"{id}: has {found.count(id)} rows" for id in sorted(set(found)) if found.count(id) > 1]
    faults += [f"{id}: is not in the collection" for id in sorted(set(found)) if id not in wanted]
    print("\n".join(f"docs/bug-reports.md: {fault}" for fault in faults) or f"all {len(wanted)} reports have their row")
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
