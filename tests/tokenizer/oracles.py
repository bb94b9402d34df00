"""Tokenizers that are not ours: llama.cpp (package llama-cpp-python) and Hugging Face's tokenizers, behind one face, and ours by the program."""

import ctypes
import hashlib
import json
import os
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]


def find_program():
    usual = [ROOT / "build" / name / "headrace" for name in ("dev", "release")]
    for path in [pathlib.Path(p) for p in [os.environ.get("HEADRACE_BIN")] if p] + usual:
        if path.is_file():
            return path.resolve()
    return None


def as_json(data):
    try:
        return data.decode()
    except UnicodeDecodeError:
        return list(data)


class Ours:
    def __init__(self, model, folder):
        self.model, self.file = str(model), pathlib.Path(folder) / "lines.jsonl"

    def _run(self, lines, *options):
        self.file.write_text("".join(json.dumps(line) + "\n" for line in lines))
        done = subprocess.run([find_program(), "tokenize", self.model, "--lines", str(self.file), *options], capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(done.stderr)
        return [json.loads(line) for line in done.stdout.split("\n")[:-1]]

    def encode(self, texts, add_special=False, parse_special=False):
        return self._run([as_json(t) for t in texts], *([] if add_special else ["--bare"]), *(["--special"] if parse_special else []))

    def decode(self, ids, show_special=False):
        return [t.encode() if isinstance(t, str) else bytes(t)
                for t in self._run(ids, "--detokenize", *(["--special"] if show_special else []))]


class LlamaCpp:
    """By llama-cpp-python's C interface."""

    def __init__(self, gguf):
        import llama_cpp
        self.c = llama_cpp
        self.quiet = llama_cpp.llama_log_callback(lambda *_: None)
        llama_cpp.llama_log_set(self.quiet, None)
        parameters = llama_cpp.llama_model_default_params()
        parameters.vocab_only = True
        self.model = llama_cpp.llama_model_load_from_file(str(gguf).encode(), parameters)
        if not self.model:
            raise RuntimeError(f"llama.cpp does not load {gguf}")
        self.vocab = llama_cpp.llama_model_get_vocab(self.model)

    def encode_one(self, text, add_special, parse_special):
        room = len(text) + 8
        for _ in range(2):
            out = (self.c.llama_token * room)()
            count = self.c.llama_tokenize(self.vocab, text, len(text), out, room, add_special, parse_special)
            if count >= 0:
                break
            room = -count
        return list(out[:count])

    def encode(self, texts, add_special=False, parse_special=False):
        return [self.encode_one(t, add_special, parse_special) for t in texts]

    def piece(self, token, show_special):
        out = ctypes.create_string_buffer(1024)
        count = self.c.llama_token_to_piece(self.vocab, token, out, 1024, 0, show_special)
        assert count >= 0
        return out.raw[:count]

    def decode(self, ids, show_special=False):
        """Piece by piece: llama_detokenize() also 'cleans' spaces of some kinds."""
        return [b"".join(self.piece(i, show_special) for i in line) for line in ids]


class HuggingFace:
    def __init__(self, path):
        from tokenizers import Tokenizer
        self.tokenizer = Tokenizer.from_file(str(path))

    def encode(self, texts, add_special=False, parse_special=False):
        self.tokenizer.encode_special_tokens = not parse_special
        return [self.tokenizer.encode(t.decode(), add_special_tokens=add_special).ids for t in texts]

    def decode(self, ids, show_special=False):
        return [self.tokenizer.decode(line, skip_special_tokens=not show_special).encode() for line in ids]


def differences(ours, theirs, texts, expected=lambda text, parse_special: False):
    """Texts whose ids differ, in all four modes, as (mode, text, ours, theirs); those that are expected to are left out."""
    out = []
    for add_special in (False, True):
        for parse_special in (False, True):
            left = ours.encode(texts, add_special, parse_special)
            right = theirs.encode(texts, add_special, parse_special)
            assert len(left) == len(right) == len(texts)
            for text, a, b in zip(texts, left, right):
                if a != b and not expected(text, parse_special):
                    out.append(((add_special, parse_special), text, a, b))
    return out


def digest(of):
    """A SHA-256 of bytes, or of all ids that a tokenizer gives for 300 texts that no version of Unicode and no reading of bytes divides."""
    if isinstance(of, bytes):
        return hashlib.sha256(of).hexdigest()
    import kinds
    from texts import Texts
    texts = [t for t in Texts(9).many(400) if kinds.is_utf8(t) and not kinds.unassigned(t)][:300]
    ids = [of.encode(texts, a, p) for a in (False, True) for p in (False, True)]
    return hashlib.sha256(json.dumps(ids).encode()).hexdigest()
