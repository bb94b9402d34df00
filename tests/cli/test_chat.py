"""`headrace generate` with text: prompts, chat, sampling, stops, a session, and Ctrl-C at a terminal."""

import json
import os
import pty
import re
import select
import signal
import subprocess
import time

import fixkit
import pytest
from conftest import PROGRAM

# Of the toy's pieces: a message of the user's begins with <s>, one of the model's ends with </s>.
TEMPLATE = ("{% for m in messages %}{% if m.role == 'assistant' %}{{ m.content }}</s>{% else %}<s>{{ m.content }}!{% endif %}"
            "{% endfor %}")


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return {**os.environ, "XDG_CACHE_HOME": str(tmp_path_factory.mktemp("cache"))}


def toy():
    """The toy model with a tokenizer that can encode."""
    gguf = fixkit.llama()
    pieces = ["<s>", "</s>", "<pad>", *(chr(33 + i) for i in range(44)), "AB"]
    gguf.set("tokenizer.ggml.tokens", fixkit.ARRAY, (fixkit.STRING, pieces))
    gguf.set("tokenizer.ggml.pre", fixkit.STRING, "gpt-2")
    gguf.set("tokenizer.ggml.merges", fixkit.ARRAY, (fixkit.STRING, ["A B"]))
    return gguf


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    gguf = toy()
    gguf.set("tokenizer.chat_template", fixkit.STRING, TEMPLATE)
    return gguf.write(tmp_path_factory.mktemp("chat") / "toy.gguf")


def generate(model, cache, *arguments, given=""):
    done = subprocess.run([PROGRAM, "generate", model, *map(str, arguments)], input=given, capture_output=True, text=True,
                          timeout=120, env=cache, check=False)
    return done


def answer(model, cache, *arguments, given=""):
    done = generate(model, cache, *arguments, "--json", given=given)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_checkpoint_is_exported_once_and_it_says_so(model, tmp_path):
    cache = {**os.environ, "XDG_CACHE_HOME": str(tmp_path)}
    first = generate(model, cache, "--prompt", "AC", "--max-tokens", 2)
    assert first.returncode == 0 and "exporting" in first.stderr and str(tmp_path) in first.stderr
    second = generate(model, cache, "--prompt", "AC", "--max-tokens", 2)
    assert "exporting" not in second.stderr and "using the export in" in second.stderr
    assert first.stdout == second.stdout


def test_a_prompt_is_its_tokens(model, cache):
    by_text = answer(model, cache, "--prompt", "ABC", "--max-tokens", 5, "--ignore-eos")
    by_ids = answer(model, cache, "--tokens", ",".join(map(str, by_text["prompt"])), "--max-tokens", 5, "--ignore-eos")
    assert by_text["tokens"] == by_ids["tokens"] and len(by_text["tokens"]) == 5
    assert by_text["prompt_text"] == "ABC"
    plain = generate(model, cache, "--prompt", "ABC", "--max-tokens", 5, "--ignore-eos")
    assert plain.stdout == "ABC" + by_text["text"] + "\n"


def test_a_stop_text_ends_before_it(model, cache):
    whole = answer(model, cache, "--prompt", "ABC", "--max-tokens", 20, "--ignore-eos")
    stop = whole["text"][3:5]
    cut = answer(model, cache, "--prompt", "ABC", "--max-tokens", 20, "--ignore-eos", "--stop", stop)
    assert cut["stop"] == "stop"
    assert cut["text"] == whole["text"][:whole["text"].index(stop)]


def test_a_seed_gives_the_same_tokens_again(model, cache):
    def draw(seed):
        options = ["--prompt", "ABC", "--max-tokens", 20, "--ignore-eos", "--temperature", "1.5", "--top-k", "30", "--seed", seed]
        return answer(model, cache, *options)["tokens"]

    assert draw(1) == draw(1)
    assert len({tuple(draw(seed)) for seed in range(4)}) > 1


def test_the_second_turn_reuses_what_is_held(model, cache):
    turns = answer(model, cache, "--chat", "--max-tokens", 4, "--ignore-eos", given="AC\nDE\n")["turns"]
    assert [turn["message"] for turn in turns] == ["AC", "DE"]
    assert turns[0]["reused_tokens"] == 0
    first, second = turns
    held = first["prompt"] + first["tokens"][:-1]
    assert second["prompt"][:len(held)] == held, "the answer's text reads as other tokens"
    assert second["reused_tokens"] == len(held)
    fresh = answer(model, cache, "--tokens", ",".join(map(str, second["prompt"])), "--max-tokens", 4, "--ignore-eos")
    assert fresh["tokens"] == second["tokens"]


def test_several_at_once_make_one_export(model, tmp_path):
    """Who finds another one exporting waits for it."""
    cache = {**os.environ, "XDG_CACHE_HOME": str(tmp_path)}
    runs = [subprocess.Popen([PROGRAM, "generate", model, "--prompt", "AC", "--max-tokens", "2"], env=cache, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, text=True) for _ in range(4)]
    results = [(run.communicate(timeout=60), run.returncode) for run in runs]
    assert [code for _, code in results] == [0] * 4, results
    assert len({out for (out, _), _ in results}) == 1


def test_a_checkpoint_that_changed_is_exported_again(tmp_path):
    """A directory of safetensors whose file is written over in place."""
    cache = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache")}
    model = tmp_path / "model"
    assert subprocess.run([PROGRAM, "synth", "llama-tiny", "--format", "safetensors", "-o", model, "--quiet"], check=False).returncode == 0
    for expected in ("exporting", "using the export in"):
        assert expected in generate(model, cache, "--tokens", "5", "--max-tokens", 2).stderr
    with open(model / "model.safetensors", "r+b") as file:
        file.seek(-4, os.SEEK_END)
        file.write(b"\0\0\0\0")
    os.utime(model / "model.safetensors", ns=(1, 1))
    assert "exporting" in generate(model, cache, "--tokens", "5", "--max-tokens", 2).stderr


def test_a_message_through_a_pipe_gives_the_answer_alone(model, cache):
    once = answer(model, cache, "--chat", "--prompt", "AC", "--max-tokens", 6)
    assert once["prompt_text"] == "<s>AC!"
    assert generate(model, cache, "--chat", "--max-tokens", 6, given="AC\n").stdout == once["text"] + "\n"
    with_system = answer(model, cache, "--chat", "--system", "K", "--prompt", "AC", "--max-tokens", 1)
    assert with_system["prompt_text"] == "<s>K!<s>AC!"


def test_tools_choose_the_template_for_tools_and_reach_it(tmp_path, cache):
    gguf = toy()
    gguf.set("tokenizer.chat_template", fixkit.STRING, TEMPLATE)
    gguf.set("tokenizer.chat_template.tool_use", fixkit.STRING, "{% for t in tools %}{{ t.name }}{% endfor %}" + TEMPLATE)
    path = gguf.write(tmp_path / "toy.gguf")
    (tmp_path / "tools.json").write_text('[{"name": "AB"}, {"name": "C"}]')
    chat = ["--chat", "--prompt", "D", "--max-tokens", 1]
    assert answer(path, cache, *chat)["prompt_text"] == "<s>D!"
    assert answer(path, cache, *chat, "--tools", tmp_path / "tools.json")["prompt_text"] == "ABC<s>D!"
    for content, part in [("[", "tools.json"), (None, "tools.json")]:
        (tmp_path / "tools.json").unlink() if content is None else (tmp_path / "tools.json").write_text(content)
        done = generate(path, cache, *chat, "--tools", tmp_path / "tools.json")
        assert done.returncode == 1 and part in done.stderr


def test_drawing_needs_logits(model, tmp_path, cache):
    """An export whose programs choose the token themselves cannot be asked for another choice."""
    done = subprocess.run([PROGRAM, "export", model, "-o", tmp_path / "out", "--functions", "prefill,decode", "--seq", "8", "--result",
                           "token", "--quiet"], check=False)
    assert done.returncode == 0
    assert generate(tmp_path / "out", cache, "--tokens", "5", "--max-tokens", 2).returncode == 0
    for option in (["--temperature", "1"], ["--repetition-penalty", "2"]):
        done = generate(tmp_path / "out", cache, "--tokens", "5", "--max-tokens", 2, *option)
        assert done.returncode == 1 and "--result" in done.stderr


@pytest.mark.parametrize("arguments,part", [
    ([], "one of them"),
    (["--prompt", "A", "--tokens", "5"], "neither --prompt nor --chat"),
    (["--tokens", "5", "--system", "A"], "go with --chat"),
    (["--prompt", "A", "--tools", "tools.json"], "go with --chat"),
    (["--prompt", "A", "--temperature", "hot"], "'hot' is not a number"),
    (["--prompt", "A", "--top-p", "0"], "top-p is 0"),
    (["--prompt", "A", "--seed", "-1"], "--seed"),
    (["--chat", "--set", "x"], "KEY=VALUE"),
])
def test_wrong_usage(model, cache, arguments, part):
    done = generate(model, cache, *arguments)
    assert done.returncode == 2 and part in done.stderr


def test_a_model_without_a_template(tmp_path, cache):
    done = generate(toy().write(tmp_path / "toy.gguf"), cache, "--chat", "--prompt", "A")
    assert done.returncode == 1 and "no chat template" in done.stderr


class Terminal:
    """The program at a pseudo-terminal."""

    def __init__(self, *arguments, env):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.execve(PROGRAM, [str(PROGRAM), *map(str, arguments)], env)
        self.seen = ""
        self.read = 0  # how much of it was waited for

    def wait_for(self, text, seconds=120):
        end = time.monotonic() + seconds
        while text not in self.seen[self.read:]:
            assert time.monotonic() < end, self.seen
            if select.select([self.fd], [], [], 1)[0]:
                try:
                    self.seen += os.read(self.fd, 4096).decode(errors="replace")
                except OSError:
                    raise AssertionError(self.seen) from None
        self.read = self.seen.index(text, self.read) + len(text)

    def send(self, text):
        os.write(self.fd, text.encode())

    def close(self):
        try:
            while os.read(self.fd, 4096):
                pass
        except OSError:
            pass
        os.close(self.fd)
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


def test_a_session_at_a_terminal(model, cache):
    terminal = Terminal("generate", model, "--chat", "--max-tokens", "4", env=cache)
    terminal.wait_for("> ")
    terminal.send("AC\n")
    terminal.wait_for("prompt tokens were held)")
    terminal.wait_for("> ")
    terminal.send("\x04")
    assert terminal.close() == 0


def test_ctrl_c_stops_the_answer_and_not_the_program(real_model, cache):
    terminal = Terminal("generate", real_model, "--chat", "--ignore-eos", env=cache)
    terminal.wait_for("> ")
    terminal.send("Tell me a long story.\n")
    terminal.wait_for("Tell me a long story.\r\n")
    terminal.wait_for(" ")  # the answer has begun
    os.kill(terminal.pid, signal.SIGINT)
    terminal.wait_for("prompt tokens were held)")
    tokens = int(re.search(r"\((\d+) tokens in", terminal.seen)[1])
    assert tokens < 500, "it went on to the end of its caches"
    terminal.wait_for("> ")
    terminal.send("\x04")
    assert terminal.close() == 0
