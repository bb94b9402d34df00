"""What the world around an export can do to it: the directory, the disk, the memory, the streams. Whatever goes wrong, an
earlier export in the directory stays loadable."""

import errno
import os
import pty
import resource
import shutil
import signal
import struct
import subprocess

import fixkit
import pytest
from conftest import PROGRAM, export_meeting_a_change, headrace, tree


@pytest.fixture
def earlier(exported, tmp_path):
    """A copy of the toy's export that a test may try to break."""
    return shutil.copytree(exported, tmp_path / "earlier", symlinks=True)


def refuses(done, code, part=""):
    assert done.code == 1, done.out + done.err
    assert done.json["error"]["code"] == code, done.json
    assert part in done.err
    assert done.err.startswith("error: ") and len(done.err.splitlines()) == 1


def works(directory):
    done = headrace("run", directory, "score", "--tokens", "5,6,7", "--json")
    assert done.code == 0, done.err
    return done.json["top"]


def test_second_export_replaces_the_first(toy, earlier):
    before = works(earlier)
    other = fixkit.llama(seed=8).write(earlier.parent / "other.gguf")
    assert headrace("export", other, "-o", earlier, "--seq", "16").code == 0
    assert works(earlier) != before
    assert headrace("export", toy, "-o", earlier, "--seq", "16").code == 0
    assert works(earlier) == before


def test_no_file_of_an_older_export_stays(earlier, tmp_path):
    other = fixkit.llama(seed=8).write(tmp_path / "other.gguf")
    assert headrace("export", other, "-o", earlier, "--seq", "8").code == 0
    assert headrace("export", other, "-o", tmp_path / "fresh", "--seq", "8").code == 0
    assert tree(earlier) == tree(tmp_path / "fresh")


def test_same_bytes_again_and_with_any_number_of_threads(toy, tmp_path):
    for jobs in ("1", "2", "7"):
        assert headrace("export", toy, "-o", tmp_path / jobs, "--seq", "16", "--jobs", jobs).code == 0
    assert tree(tmp_path / "1") == tree(tmp_path / "2") == tree(tmp_path / "7")


def test_foreign_files(toy, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.txt").write_text("mine")
    before = tree(tmp_path)
    refuses(headrace("export", toy, "-o", tmp_path / "out", "--seq", "16", "--json"), "foreign-files", "thesis.txt")
    assert tree(tmp_path) == before


def test_foreign_file_beside_an_export(toy, earlier):
    (earlier / "thesis.txt").write_text("mine")
    before = tree(earlier)
    refuses(headrace("export", toy, "-o", earlier, "--seq", "16", "--json"), "foreign-files", "thesis.txt")
    assert tree(earlier) == before


def test_output_is_a_file(toy, tmp_path):
    (tmp_path / "out").write_text("mine")
    done = headrace("export", toy, "-o", tmp_path / "out", "--seq", "16", "--json")
    assert done.code == 1 and "out" in done.err
    assert (tmp_path / "out").read_text() == "mine"


def test_model_is_a_directory_or_absent(tmp_path):
    for model, code in ((tmp_path, "not-a-checkpoint"), (tmp_path / "none.gguf", "file-open")):
        refuses(headrace("export", model, "-o", tmp_path / "out", "--json"), code, str(model))
        refuses(headrace("inspect", model, "--json"), code, str(model))
    assert not (tmp_path / "out").exists()


@pytest.mark.skipif(os.geteuid() == 0, reason="permissions do not bind root")
def test_no_permission(toy, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out").chmod(0o500)
    done = headrace("export", toy, "-o", tmp_path / "out", "--seq", "16", "--json")
    assert done.code == 1 and "out" in done.err


def test_place_that_takes_no_files(toy):
    done = headrace("export", toy, "-o", "/proc/headrace-out", "--seq", "16", "--json")
    assert done.code == 1 and "/proc/headrace-out" in done.err and len(done.err.splitlines()) == 1


def test_too_little_memory_allowed(toy, earlier):
    before = tree(earlier)
    refuses(headrace("export", toy, "-o", earlier, "--seq", "16", "--max-memory", "1B", "--json"), "memory-limit")
    assert tree(earlier) == before


def write_zeros(path, layers, hidden):
    """H04: a sparse model of 384 * layers * hidden bytes and a little."""
    model = fixkit.llama(layers=layers).set("llama.feed_forward_length", fixkit.U32, hidden)
    for tensor in model.tensors:
        if ".ffn_down." in tensor.name:
            tensor.dims = [hidden, 32]
        elif ".ffn_gate." in tensor.name or ".ffn_up." in tensor.name:
            tensor.dims = [32, hidden]
    return model.write_sparse(path)


def test_disk_too_small(earlier, tmp_path):
    """Several terabytes of weights, in a file without any."""
    try:
        path = write_zeros(tmp_path / "huge.gguf", layers=32, hidden=2**28)
    except OSError as error:
        assert error.errno in (errno.EFBIG, errno.EINVAL, errno.ENOSPC)
        pytest.skip("the file system carries no such sparse file")
    if shutil.disk_usage(tmp_path).free > path.stat().st_size:
        pytest.skip("there is room for it")
    before = tree(earlier)
    refuses(headrace("export", path, "-o", earlier, "--seq", "16", "--json"), "no-space")
    assert tree(earlier) == before
    assert headrace("export", path, "-o", earlier, "--seq", "16", "--weights", "none").code == 0


def test_write_that_fails_half_way(toy, earlier):
    before = tree(earlier)

    def small_files():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (30_000, 30_000))

    other = fixkit.llama(seed=9).write(earlier.parent / "other.gguf")
    done = headrace("export", other, "-o", earlier, "--seq", "16", preexec_fn=small_files)
    assert done.code == 1 and done.err.splitlines()[-1].startswith("error: ")
    assert tree(earlier) == before


def test_reader_that_goes_away(exported):
    """`headrace generate ... | head -c 1` ends quietly."""
    for command in (["inspect", "--help"], ["generate", exported, "--tokens", "5", "--max-tokens", "10", "--ignore-eos"]):
        read_end, write_end = os.pipe()
        os.close(read_end)
        process = subprocess.run([PROGRAM, *command], stdout=write_end, stderr=subprocess.PIPE, text=True, timeout=60)
        os.close(write_end)
        assert process.returncode == 0, process.stderr
        assert "error" not in process.stderr


def test_full_device(exported):
    with open("/dev/full", "w") as full:
        process = subprocess.run([PROGRAM, "run", exported, "score", "--tokens", "5"], stdout=full, stderr=subprocess.PIPE, text=True)
    assert process.returncode == 1
    assert process.stderr == f"error: standard output: {os.strerror(errno.ENOSPC)}\n"


def on_terminal(*arguments, term="xterm"):
    """What a terminal of 80 columns on standard error would see."""
    import fcntl
    import termios

    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    process = subprocess.Popen([PROGRAM, *map(str, arguments)], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                               stderr=theirs, env={**os.environ, "TERM": term})
    os.close(theirs)
    seen = b""
    while True:
        try:
            chunk = os.read(ours, 65536)
        except OSError:
            break
        if not chunk:
            break
        seen += chunk
    os.close(ours)
    assert process.wait(60) == 0
    return seen.decode()


def test_bar_on_a_terminal_is_taken_off_again(toy, tmp_path):
    seen = on_terminal("export", toy, "-o", tmp_path / "out", "--seq", "16")
    assert "\r\x1b[K" in seen and "weights [" in seen
    assert seen.endswith("\r\x1b[K")
    assert all(len(line) < 80 for line in seen.split("\r\x1b[K"))


@pytest.mark.parametrize("options", [["--progress", "none"], ["--quiet"]])
def test_no_bar_when_not_wanted(options, toy, tmp_path):
    assert on_terminal("export", toy, "-o", tmp_path / "out", "--seq", "16", *options) == ""


def test_plain_lines_on_a_dumb_terminal(toy, tmp_path):
    seen = on_terminal("export", toy, "-o", tmp_path / "out", "--seq", "16", term="dumb")
    assert "\x1b" not in seen and "(100%)" in seen and len(seen.splitlines()) <= 6


def test_closed_streams_do_not_end_up_in_files(toy, tmp_path):
    assert headrace("export", toy, "-o", tmp_path / "open", "--seq", "16").code == 0

    def close_all():
        for fd in range(3):
            os.close(fd)

    process = subprocess.Popen([PROGRAM, "export", toy, "-o", tmp_path / "closed", "--seq", "16"], preexec_fn=close_all)
    assert process.wait(60) == 0
    assert tree(tmp_path / "closed") == tree(tmp_path / "open")


@pytest.mark.parametrize("change", ["cut", "replaced", "removed and written again"])
def test_source_changes_while_it_is_exported(change, earlier, tmp_path):
    """400 MB of zeros, changed when the export has written a part of the weights; it stands still meanwhile."""
    path = write_zeros(tmp_path / "big.gguf", layers=4, hidden=2**18)
    before = tree(earlier)

    def alter():
        if change == "cut":
            os.truncate(path, path.stat().st_size // 2)
            return
        other = tmp_path / "other.gguf"
        other.write_bytes(b"GGUF" + bytes(1000))
        if change != "replaced":
            path.unlink()
        other.replace(path)

    export_meeting_a_change([path, "-o", earlier], path, alter)
    assert tree(earlier) == before
