"""The golden runner itself, on a program that stands in for headrace."""

import pathlib
import subprocess
import sys

import pytest

RUN = pathlib.Path(__file__).with_name("run.py")
FAKE = """#!/bin/sh
if [ "$1" = --version ]; then echo headrace 9.8.7; exit 0; fi
echo "version 9.8.7 in $PWD after 1.25 s at 300.5 MiB/s"
printf 'no newline' >&2
exit 3
"""
EXPECTED = """\
# why
$ headrace 'two words' {tmp}/x
exit: 3
stdout:
| version {version} in {tmp} after {time} at {rate}
stderr:
| no newline
\\ no newline at the end
"""


@pytest.fixture
def run(tmp_path):
    fake = tmp_path / "fake"
    fake.write_text(FAKE)
    fake.chmod(0o755)

    def go(text, *options):
        case = tmp_path / "a.golden"
        case.write_text(text)
        done = subprocess.run([sys.executable, RUN, "--headrace", fake, *options, case], capture_output=True, text=True)
        return done.returncode, done.stdout, case.read_text()

    return go


def test_equal_passes(run):
    assert run(EXPECTED)[0] == 0


@pytest.mark.parametrize("change", [("exit: 3", "exit: 0"), ("stderr:\n| no newline", "stderr:\n| other"), ("\\ no", "| no")])
def test_any_difference_fails(run, change):
    code, out, _ = run(EXPECTED.replace(*change))
    assert code == 1 and "1 failed" in out


def test_rebase_writes_what_would_pass(run):
    code, _, text = run("# why\n$ headrace 'two words' {tmp}/x\n", "--rebase")
    assert code == 0 and text == EXPECTED


def test_steps_share_a_folder(run):
    text = "$ touch f\nexit: 0\nstdout:\nstderr:\n\n# what is there\n$ ls\nexit: 0\nstdout:\n| f\nstderr:\n"
    assert run(text)[0] == 0
    assert run(text.replace("| f", "| g"), "--rebase")[2] == text


def test_missing_need_skips(run):
    code, out, _ = run("needs: /no/such/file\n$ headrace\n")
    assert code == 0 and "skipped" in out


def test_text_before_the_first_step_is_refused(run):
    code, out, _ = run("stray\n$ headrace\n")
    assert code == 1 and "before the first" in out
