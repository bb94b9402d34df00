#!/usr/bin/env python3
"""Rules of the source tree that no compiler checks. Prints every break of them and exits 1 if there is one.

  - include arrows between the parts of src/ (ARROWS below is the only table of them)
  - an include names its file from src/: "base/result.h"
  - a file has at most 400 lines (tables, *.def, are exempt)
  - no two headers define types of one name in one namespace
  - only src/tools prints or ends the process
  - no notes of unfinished work, no conflict markers, no paths of somebody's machine, no registry hosts
"""

import argparse
import pathlib
import re
import sys

# part -> parts it may include besides itself. A part that is not listed may not exist.
ARROWS = {
    "base": "",
    "quant": "base",
    "formats": "base quant",
    "ir": "base quant",  # a recipe names the block type it decodes
    "ops": "base quant ir",
    "nn": "base quant ir ops",
    "models": "base formats quant ir ops nn",
    "passes": "base quant ir ops",
    "stablehlo": "base ir ops",
    "interp": "base quant ir ops",
    "weights": "base formats quant ir",
    "tokenizer": "base formats",
    "engine": "base formats quant ir ops interp weights",
    "exporter": "base formats quant ir ops nn models passes stablehlo interp weights tokenizer",
    "synth": "base formats quant ir ops nn models weights",
    "tools": "base formats quant ir ops nn models passes stablehlo interp weights tokenizer engine exporter synth",
}
# Headers that CMake writes into the build tree.
GENERATED = {"base/version.h"}

MAX_LINES = 400
CODE = {".cpp", ".h"}
SIZED = CODE | {".py", ".sh"}

# Tests may print; nothing else outside tools may.
TALKING = re.compile(
    r"\bstd::(cout|cerr|clog|exit|quick_exit|_Exit|abort|terminate)\b"
    r"|(?<![\w.>])(?:std::)?(?:v?f?printf|puts|fputs|putchar|perror|exit|_exit|abort)\s*\("
    r"|\bfmt::print\b|\bassert\s*\("
)
# Written in pieces, so that this file does not break its own rules.
UNFINISHED = re.compile(r"\b(TO" + r"DO|FIX" + r"ME|XX" + r"X|HA" + r"CK)\b")
CONFLICT = re.compile(r"^(<{7}|>{7}) ")
MACHINE = re.compile("|".join(["/wo" + "rk/", "/ro" + "ot/", "/tm" + "p/hr", "pypi" + r"\.org", "deb\\.debian" + r"\.org"]))
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)
NAMESPACE = re.compile(r"^namespace ([\w:]+) \{", re.MULTILINE)
TYPE = re.compile(r"^(?:struct|class) (\w+)(?: final)?(?: : [^{;]*)? \{", re.MULTILINE)
NOISE = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"', re.DOTALL)


def is_test(path):
    return path.name.endswith(("_test.cpp", "_testing.cpp", "testing.h"))


def include_faults(src, path, text):
    part = path.relative_to(src).parts[0]
    if part not in ARROWS:
        yield 1, f"part '{part}' is not in the table of arrows (tests/layering/check_layering.py)"
        return
    allowed = {part, *ARROWS[part].split()}
    if is_test(path):  # a test may use what lies beside the part it tests, but not the tools
        allowed = set(ARROWS) - ({"tools"} - {part})
    for match in INCLUDE.finditer(text):
        line, name = text.count("\n", 0, match.start()) + 1, match.group(1)
        target = name.split("/")[0]
        if name in GENERATED or (src / name).is_file():
            if target not in allowed:
                yield line, f'"{name}": {part} may not include {target}'
        else:
            yield line, f'"{name}" is no file of src/ (write the path from there)'


def talking_faults(path, text):
    if is_test(path) or "tools" in path.parts:
        return
    code = NOISE.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), text)
    for match in TALKING.finditer(code):
        yield code.count("\n", 0, match.start()) + 1, f"'{match.group().strip('( ')}' outside src/tools: the library never prints, never exits"


def line_faults(path, text):
    lines = text.splitlines()
    if path.suffix in SIZED and len(lines) > MAX_LINES:
        yield MAX_LINES, f"{len(lines)} lines, more than {MAX_LINES}"
    for number, line in enumerate(lines, 1):
        for rule, what in ((UNFINISHED, "a note of unfinished work"), (CONFLICT, "a merge that is not resolved"),
                           (MACHINE, "a machine's path or a registry host")):
            if match := rule.search(line):
                yield number, f"'{match.group()}': {what}"


def project_files(root):
    suffixes = SIZED | {".def", ".txt", ".cmake", ".json", ".md", ".toml", ".in"}
    for folder in ("src", "python", "tests", "scripts", "bench", "fuzz", "cmake", "docs", ".ci"):
        for path in sorted((root / folder).rglob("*")):
            if path.is_file() and path.suffix in suffixes and "__pycache__" not in path.parts:
                yield path
    yield from (p for p in sorted(root.iterdir()) if p.is_file() and p.suffix in suffixes)


def twin_types(root, src):
    """Two types of one name in one namespace break the one-definition rule, and no compiler or linker says so."""
    seen = {}
    for path in sorted(src.glob("*/*.h")):
        text = path.read_text(encoding="utf-8")
        namespace = NAMESPACE.search(text)
        for match in TYPE.finditer(text):
            name = (namespace.group(1) if namespace else "", match.group(1))
            first = seen.setdefault(name, path)
            if first != path:
                line = text.count("\n", 0, match.start()) + 1
                yield f"{path.relative_to(root)}:{line}: {'::'.join(name)} is also defined in {first.relative_to(root)}"


def faults(root):
    src = root / "src"
    yield from twin_types(root, src)
    for path in project_files(root):
        text = path.read_text(encoding="utf-8")
        found = list(line_faults(path, text))
        if src in path.parents and path.suffix in CODE | {".def"}:
            found += [*include_faults(src, path, text), *talking_faults(path, text)]
        for line, message in sorted(found):
            yield f"{path.relative_to(root)}:{line}: {message}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parents[2])
    found = list(faults(parser.parse_args().root.resolve()))
    print("\n".join(found) if found else "source tree: every rule is kept")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
