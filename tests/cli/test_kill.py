"""Ctrl-C, SIGTERM and SIGKILL at random moments of a re-export: what was in the directory before, or the new export, is
there and loads. Once with a larger toy, and with the real model where it is.
"""

import json
import random
import shutil
import signal
import subprocess
import time

import fixkit
import pytest
from conftest import PROGRAM, HalfWay, headrace

KILLS = 20
LARGE = ("llama-tiny", "--types", "F32", "--set", "vocabulary=200000")  # 410 MB of holes
SEED = 20260101


def start(model, directory, *options):
    return subprocess.Popen([PROGRAM, "export", model, "-o", directory, *options, "--progress", "none"],
                            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


def last_token(directory):
    done = headrace("run", directory, "score", "--tokens", "5,6,7", "--top", "1", "--json")
    assert done.code == 0, done.err
    return done.json["top"][0]


def prepare(model, directory):
    """The model, a directory with its export for 16 tokens, how long an export takes, and what it answers."""
    began = time.monotonic()
    assert start(model, directory, "--seq", "16").wait() == 0
    return model, directory, time.monotonic() - began, last_token(directory)


@pytest.fixture(scope="module")
def scene(tmp_path_factory):
    folder = tmp_path_factory.mktemp("kill")
    model = fixkit.llama(layers=4, width=128, ffn=1024, heads=8, kv_heads=8, head_dim=16, vocab=300)
    yield prepare(model.write(folder / "big.gguf"), folder / "out")
    shutil.rmtree(folder)


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    folder = tmp_path_factory.mktemp("large")
    assert headrace("synth", *LARGE, "-o", folder / "large.gguf").code == 0
    yield prepare(folder / "large.gguf", folder / "out")
    shutil.rmtree(folder)


def seq_of(directory):
    manifest = json.loads((directory / "manifest.json").read_text())
    return manifest["functions"][0]["targets"]["xla"][0]["symbols"]["seq"]


def hit(scene, signals, moments):
    """Sends each signal once at each moment (parts of a whole run) and yields exit code and messages."""
    model, directory, seconds, expected = scene
    seq = 40
    for moment, number in zip(moments, signals):
        before = seq_of(directory)
        seq += 1
        process = start(model, directory, "--seq", str(seq))
        time.sleep(moment * seconds)
        process.send_signal(number)
        messages = process.communicate(timeout=60)[1]
        assert seq_of(directory) in (before, seq)
        assert last_token(directory) == expected
        yield process.returncode, messages, seq_of(directory) == seq


def test_kill_at_random_moments(scene):
    random.seed(SEED)
    moments = [random.uniform(0, 1.1) for _ in range(KILLS)]
    for code, _, _ in hit(scene, [signal.SIGKILL] * KILLS, moments):
        assert code in (0, -signal.SIGKILL)
    # What the killed ones left behind goes with the next export that is not.
    model, directory, _, expected = scene
    assert start(model, directory, "--seq", "16").wait() == 0
    manifest = json.loads((directory / "manifest.json").read_text())
    named = {"manifest.json"}
    for text in manifest["texts"]:
        named |= {text["file"], text["link"]}
    named |= {archive["file"] for archive in manifest["archives"]}
    there = {str(p.relative_to(directory)) for p in directory.rglob("*") if not p.is_dir() or p.is_symlink()}
    assert there == named
    assert last_token(directory) == expected


def test_interrupt_at_random_moments(scene):
    random.seed(SEED + 1)
    model, directory, seconds, _ = scene
    moments = [random.uniform(0.05, 1.1) for _ in range(KILLS)]
    for code, messages, is_new in hit(scene, [signal.SIGINT, signal.SIGTERM] * (KILLS // 2), moments):
        if code == 0:
            assert is_new
            continue
        # Before the work and after it, signals have their usual effect.
        if code > 0:
            assert code == 1 and messages.startswith("error: interrupted") and len(messages.splitlines()) == 1
            assert not is_new


def test_real_model(real_model, tmp_path):
    scene = prepare(real_model, tmp_path / "out")
    random.seed(SEED + 2)
    moments = [random.uniform(0, 1.1) for _ in range(KILLS)]
    for code, _, _ in hit(scene, [signal.SIGKILL, signal.SIGINT] * (KILLS // 2), moments):
        assert code in (0, 1, -signal.SIGKILL, -signal.SIGINT)
    shutil.rmtree(tmp_path)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_half_way(number, large, tmp_path):
    """While weights are written, whatever the machine's speed."""
    _, directory, _, expected = large
    other = tmp_path / "other.gguf"  # its archive is another one
    assert headrace("synth", *LARGE[:-1], "vocabulary=200001", "-o", other).code == 0
    before = set(directory.rglob("*"))
    export = HalfWay("export", other, "-o", directory, "--seq", "99")
    export.process.send_signal(number)
    code, lines = export.go_on()
    if number == signal.SIGKILL:
        assert code == -number
    else:
        assert code == 1 and len(lines) == 1 and lines[0].startswith("error: interrupted"), lines
        assert not set(directory.rglob("*")) - before
    assert seq_of(directory) == 16 and last_token(directory) == expected
