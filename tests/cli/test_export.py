"""What `headrace export` prints, and that what it tells people to paste works as far as no engine is needed."""

import json

import pytest
from conftest import headrace, tree

PASSES = ["specialise", "inline-calls", "expand", "unify-constants", "dead-code"]


def test_summary_names_every_file(toy, tmp_path):
    done = headrace("export", toy, "-o", tmp_path / "out", "--seq", "16")
    assert done.code == 0 and done.err.count("\n") <= 6
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    for name in [t["file"] for t in manifest["texts"]] + [a["file"] for a in manifest["archives"]] + ["manifest.json"]:
        assert name in done.out
    for command in manifest["commands"]:
        assert f"  {command['line']}\n" in done.out


def test_json_is_one_document(toy, tmp_path):
    done = headrace("export", toy, "-o", tmp_path / "out", "--seq", "16", "--json", "--progress", "none")
    assert done.code == 0 and done.err == ""
    document = done.json
    for file in document["files"]:
        assert (tmp_path / "out" / file["file"]).stat().st_size == file["bytes"]
    assert document["seq"] == [16] and document["max_seq"] == 16 and document["seconds"]["total"] > 0


def test_quiet_prints_nothing(toy, tmp_path):
    done = headrace("export", toy, "-o", tmp_path / "out", "--seq", "16", "--quiet")
    assert (done.code, done.out, done.err) == (0, "", "")


@pytest.mark.parametrize("pass_name", PASSES)
def test_print_after(pass_name, toy, tmp_path):
    options = ["export", toy, "-o", tmp_path / "out", "--seq", "16", "--progress", "none", "--print-after", pass_name]
    done = headrace(*options)
    assert done.code == 0, done.err
    assert f"// after {pass_name} (xla)\n" in done.out  # the pipeline of the other engine is shorter
    dumps = headrace(*options, "--json").json["dumps"]
    assert "".join(f"// after {d['pass']}\n{d['hir']}" for d in dumps) == done.out


def test_print_after_a_pass_of_the_model(toy, tmp_path):
    """Passes before module.hir run once, for all targets, and what they make is what is in it."""
    done = headrace("export", toy, "-o", tmp_path / "out", "--dtype", "bf16", "--progress", "none", "--print-after", "dtype")
    assert done.code == 0, done.err
    title, _, module = done.out.partition("\n")
    assert title == "// after dtype (model)"
    assert module == (tmp_path / "out" / "module.hir").read_text()
    assert "bf16[48, 32] embedding" in module


def test_one_target_is_part_of_both(toy, tmp_path):
    for targets in ("iree", "xla", "iree,xla", "xla,iree"):
        assert headrace("export", toy, "-o", tmp_path / targets, "--seq", "16", "--target", targets).code == 0
    both = tree(tmp_path / "iree,xla")
    assert both == tree(tmp_path / "xla,iree")
    for one in ("iree", "xla"):
        alone = {name: digest for name, digest in tree(tmp_path / one).items() if name != "manifest.json"}
        assert alone.items() <= both.items()


def test_weights_none_differs_by_the_archive_alone(toy, tmp_path):
    for form in ("safetensors", "none"):
        assert headrace("export", toy, "-o", tmp_path / form, "--seq", "16", "--weights", form).code == 0
    full, bare = tree(tmp_path / "safetensors"), tree(tmp_path / "none")
    gone = full.keys() - bare.keys()
    assert bare.keys() <= full.keys() and all(name.startswith("weights") for name in gone)
    assert all(full[name] == digest for name, digest in bare.items() if name != "manifest.json")


def test_relative_and_odd_directories(toy, tmp_path):
    for name in ("out", "./out", "a/b/c", "with space", "-dash"):
        done = headrace("export", toy, f"--output={name}", "--seq", "16", cwd=tmp_path)
        assert done.code == 0, done.err
        assert (tmp_path / name / "manifest.json").is_file()
    assert "'with space'" in headrace("export", toy, "-o", "with space", "--seq", "16", cwd=tmp_path).out
