"""Chat templates rendered by Python's jinja2, set up as Hugging Face transformers does it (utils/chat_template_utils.py):
the oracle for Headrace's own rendering."""

import datetime
import json

import jinja2
import jinja2.ext
from jinja2.sandbox import ImmutableSandboxedEnvironment


class GenerationTag(jinja2.ext.Extension):
    """`{% generation %}`: a block that renders its body, in a scope of its own."""

    tags = {"generation"}

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
        return jinja2.nodes.CallBlock(self.call_method("body"), [], [], body).set_lineno(line)

    def body(self, caller):
        return caller()


def tojson(value, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


def raise_exception(message):
    raise jinja2.exceptions.TemplateError(message)


def environment(now=None):
    made = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True, extensions=[GenerationTag, jinja2.ext.loopcontrols])
    made.filters["tojson"] = tojson
    made.globals["raise_exception"] = raise_exception
    made.globals["strftime_now"] = lambda form: (now or datetime.datetime.now()).strftime(form)
    return made


def split(line):
    """A line of expressions.txt: at the commas outside brackets and strings."""
    out, depth, quote, start, at = [], 0, None, 0, 0
    while at < len(line):
        c = line[at]
        if quote:
            at += c == "\\"
            quote = None if c == quote else quote
        elif c in "'\"":
            quote = c
        elif c in "([{":
            depth += 1
        elif c in ")]}":
            depth -= 1
        elif c == "," and depth == 0:
            out.append(line[start:at].strip())
            start = at + 1
        at += 1
    return [*out, line[start:].strip()]


# What the expressions are about.
VARIABLES = {"d": {"b": 2, "a": 1}, "people": [
    {"name": "Bob", "age": 40, "tags": ["x", "y"]}, {"name": "Ann", "age": 25, "nick": "A", "tags": ["z"]},
    {"name": "Cid", "age": 40, "tags": []}]}


def render(source, request, now=None):
    """`request`: messages, tools, add_generation_prompt and variables, as in the files of requests/."""
    return environment(now).from_string(source).render(
        messages=request["messages"], tools=request.get("tools"), documents=None,
        add_generation_prompt=request.get("add_generation_prompt", True), **request.get("special_tokens", {}),
        **request.get("variables", {}))
