#!/usr/bin/env python3
"""Every code of src/base/errors.def is provoked by a test.

A code counts as tested where a *_test.cpp says IsError(ErrorCode::kX, ...), or where a test that takes its codes from a
table (IsError(c.code, ...)) holds ErrorCode::kX. A code that cannot be provoked is listed below with the reason; an
entry that has become needless is an error too.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]

# enumerator -> why no test can provoke it
EXEMPT = {}

ROW = re.compile(r"^HR_ERROR\((k\w+),", re.MULTILINE)
DIRECT = re.compile(r"\bIsError\(\s*(?:headrace::)?ErrorCode::(k\w+)")
BY_TABLE = re.compile(r"\bIsError\(\s*(?!(?:headrace::)?ErrorCode::)\w")
MENTION = re.compile(r"\bErrorCode::(k\w+)")


def tested_codes():
    found = set()
    for path in (ROOT / "src").rglob("*_test.cpp"):
        text = path.read_text(encoding="utf-8")
        found.update((MENTION if BY_TABLE.search(text) else DIRECT).findall(text))
    return found


def main():
    codes = ROW.findall((ROOT / "src/base/errors.def").read_text(encoding="utf-8"))
    tested = tested_codes()
    faults = [f"{code}: no *_test.cpp provokes it" for code in codes if code not in tested | EXEMPT.keys()]
    faults += [f"{code}: is exempt, but a test provokes it" for code in EXEMPT if code in tested]
    faults += [f"{code}: is exempt, but not an error code" for code in EXEMPT if code not in codes]
    print("\n".join(faults) or f"all {len(codes)} error codes are tested or exempt")
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
