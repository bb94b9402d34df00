"""scripts/find_cargo.sh: the first cargo that works, not the first."""

import os
import pathlib
import shutil
import subprocess

SCRIPT = pathlib.Path(__file__).parents[1] / "scripts" / "find_cargo.sh"


def tool(folder, name, body):
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return path


def found(*folders, home="/nowhere"):
    path = ":".join(map(str, folders))
    environment = {**os.environ, "PATH": path, "HOME": str(home)}
    done = subprocess.run([shutil.which("bash"), SCRIPT], capture_output=True, text=True, env=environment)
    return done.stdout.strip()


def test_those_that_do_not_work_are_passed_over(tmp_path):
    broken, old, alone, home, good, usual = (tmp_path / n for n in ("broken", "old", "alone", "home", "good", "usual"))
    usual.mkdir()  # what the script calls, without this machine's cargo
    for name in ("cut", "dirname", "head", "sort"):
        (usual / name).symlink_to(shutil.which(name))
    tool(broken, "cargo", "echo 'error: no default is configured' >&2; exit 1")
    tool(broken, "rustc", "exit 1")
    tool(old, "cargo", "echo 'cargo 1.70.9'")
    tool(old, "rustc", "echo 'rustc 1.70.9'")
    tool(alone, "cargo", "echo 'cargo 1.99.0'")  # without a rustc
    wanted = tool(good, "cargo", "echo 'cargo 1.71.0 (cfd3bbd8f 2023-06-08)'")
    tool(good, "rustc", "echo 'rustc 1.71.0'")
    assert found(broken, old, alone, good, usual) == str(wanted)
    (home / ".cargo").mkdir(parents=True)
    (home / ".cargo" / "bin").symlink_to(good)
    assert found(broken, old, usual, home=home) == str(home / ".cargo" / "bin" / "cargo")
