"""headrace tokenize against other tokenizers: their ids kept in testdata/tokenizer, and Hugging Face's library where it is installed. The
long run is scripts/tokenizer_differences.py."""

import json
import os
import pathlib
import sys
import unicodedata

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import kinds  # noqa: E402
from oracles import ROOT, HuggingFace, Ours, as_json, differences, digest, find_program  # noqa: E402
from texts import Texts  # noqa: E402

pytestmark = pytest.mark.skipif(find_program() is None, reason="no headrace program; build it or set HEADRACE_BIN")
DATA = ROOT / "testdata" / "tokenizer"
MODELS = {"smollm2": ("HEADRACE_SMOLLM2", "SmolLM2-135M-Instruct.Q4_1.gguf"), "gemma3": ("HEADRACE_GEMMA3", "gemma-3-270m.Q4_K_M.gguf")}
DIGESTS = json.loads((DATA / "llama_cpp.json").read_text())


@pytest.mark.parametrize("name", MODELS)
def test_ids_and_bytes_of_real_models(name, tmp_path):
    variable, file = MODELS[name]
    model = pathlib.Path(os.environ.get(variable) or ROOT / ".cache/models" / file)
    if not model.is_file():
        pytest.skip(f"{file} is not here; scripts/get_model.sh fetches it")
    strings = json.loads((DATA / f"{name}.tokens.json").read_text())["strings"]
    assert len(strings) == 79
    texts = [s["text"].encode() for s in strings]
    ours = Ours(model, tmp_path)
    assert ours.encode(texts) == [s["ids"] for s in strings]
    assert ours.encode(texts, parse_special=True) == [s["ids_special"] for s in strings]
    assert ours.encode(texts, add_special=True) == [s["ids_bos"] for s in strings]
    assert [t.hex() for t in ours.decode([s["ids"] for s in strings])] == [s["detok_hex"] for s in strings]


@pytest.mark.parametrize("kind", kinds.HF_KINDS)
def test_hugging_face(kind, tmp_path):
    pytest.importorskip("tokenizers")
    if kind == "t5":
        pytest.importorskip("sentencepiece")
    path = tmp_path / f"{kind}.json"
    kinds.HF_KINDS[kind]().save(str(path))
    database = unicodedata.ucd_3_2_0 if kind in kinds.OLD_TABLES else unicodedata
    texts = [t for t in Texts(5, database).many(400) if isinstance(as_json(t), str)]
    ours, theirs = Ours(path, tmp_path), HuggingFace(path)
    assert differences(ours, theirs, texts) == []
    ids = theirs.encode(texts)
    plain = [t.decode(errors="ignore").replace("\ufffd", "") for t in ours.decode(ids)]
    assert plain == [t.decode().replace("\ufffd", "") for t in theirs.decode(ids)]


def test_every_gguf_kind_has_a_digest():
    assert sorted(DIGESTS["kinds"]) == sorted(kinds.gguf_kinds())


@pytest.fixture(scope="module")
def byte_level(tmp_path_factory):
    pytest.importorskip("tokenizers")
    path = tmp_path_factory.mktemp("byte_level") / "llama3.json"
    kinds.HF_KINDS["llama3"]().save(str(path))
    return path


@pytest.mark.parametrize("kind", kinds.gguf_kinds())
def test_llama_cpp(kind, byte_level, tmp_path):
    """By digests of llama.cpp's ids; scripts/tokenizer_differences.py --write-digests makes them anew."""
    if unicodedata.unidata_version != DIGESTS["unicode"]:
        pytest.skip("the texts depend on this Python's version of Unicode")
    if kind.startswith("gguf:"):
        pytest.importorskip("sentencepiece")
    path = kinds.make_gguf(kind, tmp_path, byte_level)
    expected = DIGESTS["kinds"][kind]
    assert digest(path.read_bytes()) == expected["file"], "the trained vocabulary is another: make the digests anew"
    assert digest(Ours(path, tmp_path)) == expected["ids"]


def test_a_directory_or_a_file(byte_level, tmp_path):
    (tmp_path / "tokenizer.json").write_bytes(byte_level.read_bytes())
    assert Ours(tmp_path, tmp_path).encode([b"Hello"]) == Ours(byte_level, tmp_path).encode([b"Hello"])
