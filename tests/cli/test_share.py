"""`--share DIR`: one archive, several exports."""

import json
import shutil

import fixkit
import pytest
from conftest import headrace, tree


@pytest.fixture(scope="session")
def other(tmp_path_factory):
    return fixkit.llama(seed=8).write(tmp_path_factory.mktemp("other") / "toy.gguf")


def archive_of(directory):
    manifest = json.loads((directory / "manifest.json").read_text())
    return directory / manifest["archives"][0]["file"]


@pytest.fixture
def first(toy, tmp_path):
    assert headrace("export", toy, "-o", tmp_path / "first", "--seq", "16").code == 0
    return tmp_path / "first"


def test_the_archive_is_one_file(toy, first, tmp_path):
    done = headrace("export", toy, "-o", tmp_path / "second", "--seq", "4,8", "--target", "xla", "--share", first)
    assert done.code == 0, done.err
    one, two = archive_of(first), archive_of(tmp_path / "second")
    assert one.name == two.name and one.stat().st_ino == two.stat().st_ino and one.stat().st_nlink == 2
    alone = headrace("export", toy, "-o", tmp_path / "alone", "--seq", "4,8", "--target", "xla")
    assert alone.code == 0 and tree(tmp_path / "alone") == tree(tmp_path / "second")
    # Each goes on without the other, and a new export in one leaves the other's archive alone.
    assert headrace("export", toy, "-o", first, "--seq", "3").code == 0
    shutil.rmtree(first)
    assert headrace("run", tmp_path / "second", "score", "--tokens", "1,2").code == 0


def test_again_into_the_same_directory(toy, first, tmp_path):
    for _ in range(2):
        assert headrace("export", toy, "-o", tmp_path / "second", "--seq", "8", "--share", first).code == 0
    assert archive_of(tmp_path / "second").stat().st_ino == archive_of(first).stat().st_ino
    # An export may even name itself: nothing changes.
    assert headrace("export", toy, "-o", first, "--seq", "8", "--share", first).code == 0
    assert headrace("run", first, "score", "--tokens", "1,2").code == 0


def refuses(done, code, *parts):
    assert done.code == 1, done.out
    error = done.json["error"]
    assert error["code"] == code and all(part in error["message"] for part in parts), error


def test_other_weights_are_refused(toy, other, first, tmp_path):
    """The same names, types and shapes, and other numbers: only the hashes tell."""
    before = tree(first)
    done = headrace("export", other, "-o", tmp_path / "second", "--seq", "8", "--share", first, "--json")
    refuses(done, "archive", "the export there has other weights")
    assert not (tmp_path / "second").exists() and tree(first) == before


def test_other_recipes_are_refused(toy, first, tmp_path):
    assert headrace("export", toy, "-o", tmp_path / "cut", "--seq", "8", "--layers", "1").code == 0
    done = headrace("export", toy, "-o", tmp_path / "second", "--seq", "8", "--share", tmp_path / "cut", "--json")
    refuses(done, "archive", "cannot be shared", "is not there, expected")
    done = headrace("export", toy, "-o", tmp_path / "second", "--seq", "8", "--layers", "1", "--share", first, "--json")
    refuses(done, "archive", "cannot be shared", "parameters, expected")


def test_an_export_without_weights_has_none_to_share(toy, tmp_path):
    assert headrace("export", toy, "-o", tmp_path / "bare", "--seq", "8", "--weights", "none").code == 0
    done = headrace("export", toy, "-o", tmp_path / "second", "--seq", "8", "--share", tmp_path / "bare", "--json")
    refuses(done, "archive", "written without weights")


def test_no_export_there(toy, tmp_path):
    done = headrace("export", toy, "-o", tmp_path / "second", "--seq", "8", "--share", tmp_path / "none", "--json")
    refuses(done, "file-open", "none")
    assert not (tmp_path / "second").exists()


def test_without_weights_it_is_wrong_usage(toy, first, tmp_path):
    done = headrace("export", toy, "-o", tmp_path / "x", "--seq", "8", "--share", first, "--weights", "none")
    assert done.code == 2 and "--share: there is nothing to share" in done.err
