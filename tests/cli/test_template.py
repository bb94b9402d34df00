"""`headrace template` beside Python's jinja2, live: the prompts of a GGUF and of a Hugging Face directory."""

import json
import sys

import fixkit
import pytest
from conftest import ROOT, headrace

sys.path.insert(0, str(ROOT / "tests" / "chat"))
import make_goldens  # noqa: E402
import reference  # noqa: E402

DATA = ROOT / "testdata" / "chat"
TEMPLATES = sorted((DATA / "templates").glob("*.jinja"))
REQUESTS = sorted((DATA / "requests").glob("*.json"))


def test_goldens_are_what_jinja2_makes():
    assert json.loads((DATA / "goldens.json").read_text()) == make_goldens.goldens()


def arguments(request, tmp_path):
    (tmp_path / "messages.json").write_text(json.dumps(request["messages"]))
    out = ["--messages", tmp_path / "messages.json"]
    if "tools" in request:
        (tmp_path / "tools.json").write_text(json.dumps(request["tools"]))
        out += ["--tools", tmp_path / "tools.json"]
    if not request.get("add_generation_prompt", True):
        out.append("--no-generation-prompt")
    for key, value in request.get("variables", {}).items():
        out += ["--set", f"{key}={json.dumps(value)}"]
    return out


def directory(path, source, special_tokens):
    path.mkdir()
    (path / "config.json").write_text("{}")
    (path / "model.safetensors").write_bytes(fixkit.safetensors({"a": ("F32", [1])}))
    (path / "tokenizer_config.json").write_text(json.dumps({"chat_template": source, **special_tokens}))
    return path


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda path: path.stem)
def test_prompts_equal_jinja2s(template, tmp_path):
    source = template.read_text()
    for number, path in enumerate(REQUESTS):
        request = json.loads(path.read_text())
        model = directory(tmp_path / str(number), source, request["special_tokens"])
        done = headrace("template", model, *arguments(request, tmp_path), "--json")
        try:
            wanted = reference.render(source, request)
        except Exception:  # noqa: BLE001
            assert done.code == 1 and done.json["error"]["code"] == "chat-template", path
            assert len(done.err.splitlines()) == 1
            continue
        assert done.code == 0, (path, done.err)
        assert done.json["prompt"] == wanted, path


def test_gguf(tmp_path):
    gguf = fixkit.llama()
    source = (DATA / "templates" / "chatml.jinja").read_text()
    gguf.set("tokenizer.chat_template", fixkit.STRING, source)
    gguf.set("tokenizer.chat_template.tool_use", fixkit.STRING, "{{ tools | length }} tools")
    model = gguf.write(tmp_path / "model.gguf")
    messages = [{"role": "user", "content": "Hi"}]
    (tmp_path / "messages.json").write_text(json.dumps(messages))
    done = headrace("template", model, "--messages", tmp_path / "messages.json")
    assert (done.code, done.out) == (0, reference.render(source, {"messages": messages}))
    (tmp_path / "tools.json").write_text("[1, 2]")
    with_tools = ["--messages", tmp_path / "messages.json", "--tools", tmp_path / "tools.json"]
    assert headrace("template", model, *with_tools).out == "2 tools"
    assert headrace("template", model, "--name", "tool_use").out == "{{ tools | length }} tools"
    assert "templates: default, tool_use" in headrace("template", model, "--name", "rag").err


def test_a_model_without_a_template(tmp_path):
    done = headrace("template", fixkit.llama().write(tmp_path / "model.gguf"), "--json")
    assert done.code == 1 and done.json["error"]["code"] == "chat-template"
