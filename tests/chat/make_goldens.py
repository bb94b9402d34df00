#!/usr/bin/env python3
"""Writes testdata/chat/goldens.json: what Python's jinja2 makes of every template and request, and of every expression. The
prompts that are refused are null. Needs jinja2 (requirements-test.txt)."""

import datetime
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import reference  # noqa: E402

DATA = pathlib.Path(__file__).resolve().parents[2] / "testdata" / "chat"
NOW = datetime.datetime(2025, 3, 9, 14, 5, 7)


def outcome(render):
    try:
        return render()
    except Exception:  # noqa: BLE001  jinja2 lets Python's own errors through
        return None


def goldens():
    requests = {path.stem: json.loads(path.read_text()) for path in sorted((DATA / "requests").glob("*.json"))}
    prompts = [{"template": path.name, "request": name,
                "prompt": outcome(lambda: reference.render(path.read_text(), request, NOW))}
               for path in sorted((DATA / "templates").glob("*.jinja")) for name, request in requests.items()]
    made = reference.environment(NOW)
    expressions = [{"expression": expression,
                    "text": outcome(lambda: made.from_string("{{ " + expression + " }}").render(**reference.VARIABLES))}
                   for line in (DATA / "expressions.txt").read_text().split("\n") if line
                   for expression in reference.split(line)]
    return {"now": NOW.isoformat(), "variables": reference.VARIABLES, "prompts": prompts, "expressions": expressions}


if __name__ == "__main__":
    (DATA / "goldens.json").write_text(json.dumps(goldens(), indent=1, ensure_ascii=True) + "\n")
