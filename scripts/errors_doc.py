#!/usr/bin/env python3
"""Writes docs/errors.md from src/base/errors.def.   --check: only says whether it is up to date."""

import argparse
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
TABLE = ROOT / "src/base/errors.def"
DOC = ROOT / "docs/errors.md"

HEAD = """\
# Error codes

Made from `src/base/errors.def` by `scripts/errors_doc.py`; do not edit. Every failure carries one of these codes.
`--json` prints the slug as `code`; the message beside it names the place, the value seen and the value expected.
Exit code 1 goes with all of them; 2 is wrong usage of the command line.
"""
ROW = re.compile(r'^HR_ERROR\((\w+), "([^"]+)", "((?:[^"\\]|\\.)*)"\)$')
COMMENT = re.compile(r"^// (.*)\.$")


def render():
    out, in_group = [HEAD], False
    after_guard = TABLE.read_text(encoding="utf-8").split("#endif\n", 1)[1]
    for line in after_guard.splitlines():
        if match := COMMENT.match(line):
            out.append(f"\n## {match.group(1)}\n\n| slug | in C++ | what it means |\n|---|---|---|\n")
            in_group = True
        elif match := ROW.match(line):
            if not in_group:
                sys.exit(f"{TABLE}: a row stands before the first group comment: {line}")
            name, slug, meaning = match.groups()
            out.append(f"| `{slug}` | `ErrorCode::{name}` | {meaning.replace('|', chr(92) + '|')} |\n")
        elif line.startswith("HR_ERROR"):
            sys.exit(f"{TABLE}: a row that this script cannot read: {line}")
    return "".join(out)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    wanted = render()
    if not parser.parse_args().check:
        DOC.write_text(wanted, encoding="utf-8")
    elif not DOC.is_file() or DOC.read_text(encoding="utf-8") != wanted:
        sys.exit(f"{DOC.relative_to(ROOT)} is out of date; run scripts/errors_doc.py")


if __name__ == "__main__":
    main()
