"""The emitted text of every model: parsers that are not ours take it, and nothing in it stands for something missing."""

import re
from pathlib import Path

import pytest

import headrace
from engines import parse

ZOO = Path(__file__).resolve().parents[2] / "testdata/zoo"
STRUCTURED = ("linear", "embedding", "attend", "dequantize")


@pytest.fixture(scope="module", params=["llama.f32", "llama_tied.q8_0", "mistral_nosw.f32", "smollm2"])
def export(request, make_export):
    if request.param == "smollm2":
        return headrace.load(make_export(request.getfixturevalue("smollm2"), 72))
    return headrace.load(make_export(ZOO / request.param.split(".")[0] / f"{request.param}.gguf", 40))


def texts(export):
    return [export.directory / t.file for t in export.manifest.texts if t.file.endswith(".mlir")]


def bare(text):
    """Without quoted strings: names and places may hold anything."""
    return re.sub(r'"(?:[^"\\]|\\.)*"', '""', text)


def test_both_targets_are_there(export):
    assert {p.parent.name for p in texts(export)} == {"xla", "iree"}


def test_xla_parses_and_verifies(export):
    for f in export.manifest.functions:
        for program in f.targets.xla:
            module = parse((export.directory / program.file).read_text())
            (main,) = [op for op in module.body.operations if str(op.attributes["sym_name"]) == '"main"']
            assert len(main.type.inputs) == len(program.arguments) + len(program.parameters)


def test_nothing_stands_in(export):  # report H03
    for path in texts(export):
        text = path.read_text()
        assert "custom_call" not in text and "composite" not in text
        assert not re.search(r"^\s*//|// ", bare(text), re.M), path
        assert not re.search(r"\b(" + "|".join(STRUCTURED) + r")\b", bare(text)), path
        assert "?" not in bare(text)
        ops = set(re.findall(r'=\s+"?([a-z_]+\.[a-z_.]+)', text))
        assert all(op.startswith(("stablehlo.", "func.call", "util.global.load")) for op in ops), ops


def test_size(export):  # report H04
    for path in texts(export):
        assert path.stat().st_size < 1_000_000


def test_parameters_are_used_once_each(export):
    """Every parameter of the manifest is a global of the IREE module and an argument of the XLA program."""
    names = {p.name for p in export.manifest.parameters}
    for f in export.manifest.functions:
        assert {p for program in f.targets.xla for p in program.parameters} == names
        text = (export.directory / f.targets.iree[0].file).read_text()
        assert set(re.findall(r'#flow\.parameter\.named<"model"::"([^"]+)">', text)) == names


def test_module_paths_are_locations(export):
    for path in texts(export):
        assert re.search(r'loc\("blk\.0\.attn[^"]*"\)', path.read_text()), path
