#!/usr/bin/env python3
"""Runs the command line on golden cases and compares exit code, stdout and stderr, each apart.

A case is a file tests/cli_golden/<name>.golden:

    # why this case is here
    $ headrace inspect {data}/bad.gguf
    exit: 1
    stdout:
    stderr:
    | error: {data}/bad.gguf: ...

Several `$` steps run one after the other in one fresh folder, {tmp}, which is also the current directory. A step is split
like a shell line but no shell runs it; its first word is `headrace` or any program in PATH (touch, ls, cat, cp).
`needs: {model}` before the first step skips the case where that file is absent.

Placeholders, in steps and in output: {tmp}, {data} (testdata/), {model} (the SmolLM2 GGUF), {version}. In output alone:
{time} for a duration, {rate} for bytes or tokens per second, {hash} for 32 or 64 hex digits.

    run.py --headrace build/dev/headrace            compare; exit code 1 if a case differs
    run.py --headrace build/dev/headrace --rebase   write what the program does now into the cases: review the diff
"""

import argparse
import concurrent.futures
import dataclasses
import difflib
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
MODEL = ".cache/models/SmolLM2-135M-Instruct.Q4_1.gguf"
TIMEOUT_SECONDS = 300

RATE = re.compile(r"\b\d+(\.\d+)?(e[+]\d+)? ?(([kMGT]i?)?B|tokens)/s")
DURATION = re.compile(r"\b\d+(\.\d+)? ?(ns|us|ms|s|min)\b")
HASH = re.compile(r"\b([0-9a-f]{64}|[0-9a-f]{32})\b")
NO_NEWLINE = "\\ no newline at the end\n"


class CaseError(Exception):
    """A case file that cannot be understood."""


@dataclasses.dataclass
class Step:
    lead: str  # blank and comment lines above `$`, kept as they are
    command: str


@dataclasses.dataclass
class Case:
    needs: list
    steps: list


def parse(path):
    needs, steps, lead = [], [], ""
    for line in path.read_text(encoding="utf-8").splitlines(keepends=True):
        if line.startswith("$ "):
            steps.append(Step(lead, line[2:].strip()))
            lead = ""
        elif not line.strip() or line.startswith("#"):
            lead += line
        elif steps:
            lead = ""  # expected output; compared as a whole file
        elif line.startswith("needs:"):
            needs += line.removeprefix("needs:").split()
            lead += line
        else:
            raise CaseError(f"{path.name}: before the first '$': {line.strip()}")
    if not steps:
        raise CaseError(f"{path.name}: no line starts with '$ '")
    return Case(needs, steps)


def block(name, output):
    """One stream as it stands in a case file. Progress lines overwritten by a carriage return show as lines."""
    lines = output.replace("\r\n", "\n").replace("\r", "\n").splitlines()
    out = f"{name}:\n" + "".join(f"| {line}".rstrip() + "\n" for line in lines)
    return out + (NO_NEWLINE if output and not output.endswith("\n") else "")


class Runner:
    def __init__(self, headrace, data, model):
        self.headrace = headrace
        self.version = subprocess.run([headrace, "--version"], capture_output=True, text=True, check=True).stdout.split()[-1]
        self.known = {"{data}": str(data), "{model}": str(model)}

    def fill(self, text, tmp):
        for name, value in {**self.known, "{tmp}": tmp, "{version}": self.version}.items():
            text = text.replace(name, value)
        return text

    def veil(self, text, tmp):
        for name, value in {"{tmp}": tmp, **self.known}.items():
            text = text.replace(value, name)
        text = re.sub(rf"(?<![\w.]){re.escape(self.version)}(?![\w.])", "{version}", text)
        return HASH.sub("{hash}", DURATION.sub("{time}", RATE.sub("{rate}", text)))

    def run_step(self, step, tmp):
        words = [self.fill(word, tmp) for word in shlex.split(step.command)]
        if words[0] == "headrace":
            words[0] = str(self.headrace)
        environment = {"PATH": os.environ.get("PATH", ""), "LC_ALL": "C.UTF-8", "TERM": "dumb", "HOME": tmp}
        done = subprocess.run(words, cwd=tmp, env=environment, stdin=subprocess.DEVNULL, capture_output=True,
                              timeout=TIMEOUT_SECONDS, check=False)
        stdout, stderr = (self.veil(s.decode("utf-8", "backslashreplace"), tmp) for s in (done.stdout, done.stderr))
        return f"exit: {done.returncode}\n" + block("stdout", stdout) + block("stderr", stderr)

    def run(self, case):
        """The case file as the program writes it now, or None if something it needs is absent."""
        if any(not pathlib.Path(self.fill(need, "")).exists() for need in case.needs):
            return None
        with tempfile.TemporaryDirectory(prefix="headrace_golden_") as tmp:
            return "".join(f"{step.lead}$ {step.command}\n{self.run_step(step, tmp)}" for step in case.steps)


def judge(runner, path, rebase):
    """(verdict, text to show) of one case."""
    try:
        case = parse(path)
        got = runner.run(case)
    except (CaseError, OSError, ValueError, subprocess.TimeoutExpired) as error:
        return "FAILED", f"{path.name}: {error}\n"
    if got is None:
        return "skipped", ""
    expected = path.read_text(encoding="utf-8")
    if got == expected:
        return "passed", ""
    if rebase:
        path.write_text(got, encoding="utf-8")
        return "rebased", ""
    return "FAILED", "".join(difflib.unified_diff(expected.splitlines(True), got.splitlines(True), f"{path.name} (expected)", "(got)"))


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--headrace", type=pathlib.Path, required=True, help="the program to test")
    parser.add_argument("--rebase", action="store_true", help="rewrite the cases")
    parser.add_argument("--data", type=pathlib.Path, default=ROOT / "testdata")
    parser.add_argument("--model", type=pathlib.Path, default=os.environ.get("HEADRACE_SMOLLM2") or ROOT / MODEL)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("cases", nargs="*", type=pathlib.Path, help="case files (default: all)")
    return parser.parse_args()


def main():
    options = arguments()
    cases = options.cases or sorted(HERE.glob("*.golden"))
    runner = Runner(options.headrace.resolve(), options.data.resolve(), options.model)
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        verdicts = list(pool.map(lambda path: judge(runner, path, options.rebase), cases))
    for path, (verdict, text) in zip(cases, verdicts):
        print(f"{verdict}: {path.stem}")
        sys.stdout.write(text)
    failed = sum(verdict == "FAILED" for verdict, _ in verdicts)
    print(f"{len(cases)} cases, {failed} failed" + ("" if not failed else "; if the change is wanted: run.py --rebase, then review the diff"))
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
