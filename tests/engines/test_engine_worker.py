"""The worker that holds IREE for `headrace`, spoken to as the program does."""

import json
import os
import socket
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ZOO = Path(__file__).resolve().parents[2] / "testdata/zoo"
HEAD = struct.Struct("<IQ")


class Worker:
    def __init__(self, export, cache):
        ours, theirs = socket.socketpair()
        self.link = ours
        self.process = subprocess.Popen([sys.executable, "-m", "headrace.worker", str(theirs.fileno())], pass_fds=[theirs.fileno()])
        theirs.close()
        manifest = json.loads((export / "manifest.json").read_text())
        self.functions = {f["name"]: f for f in manifest["functions"]}
        self.ids = 0
        assert self.reply()[0] == {"protocol": 2}
        self.ask(op="open", directory=str(export), cache=str(cache))
        self.ask(op="load", file=next(iter(self.functions.values()))["targets"]["iree"][0]["file"])

    def send(self, payload=b"", **request):
        text = json.dumps(request).encode()
        self.link.sendall(HEAD.pack(len(text), len(payload)) + text + payload)

    def reply(self):
        def receive(count):
            return self.link.recv(count, socket.MSG_WAITALL)

        header, payload = HEAD.unpack(receive(HEAD.size))
        return json.loads(receive(header)), receive(payload)

    def ask(self, **request):
        self.send(**request)
        reply, payload = self.reply()
        assert "error" not in reply, reply
        return reply, payload

    def new(self, count):
        self.ids += count
        return list(range(self.ids - count + 1, self.ids + 1))

    def upload(self, *values):
        (made,) = self.new(1)
        data = np.array(values, np.int32)
        self.send(data.tobytes(), op="upload", id=made, dtype="i32", sizes=list(data.shape))
        return made

    def run(self, name, arguments, keep=()):
        function = self.functions[name]
        program = function["targets"]["iree"][0]
        results = self.new(len(function["results"]))
        self.ask(op="run", file=program["file"], entry=program["entry"], arguments=arguments, results=results, keep=list(keep))
        return results

    def read(self, ids):
        return [self.ask(op="read", id=one)[1] for one in ids]

    def close(self):
        self.link.close()
        assert self.process.wait(60) == 0


@pytest.fixture
def start(make_export, compiled_cache):
    started = []

    def make(model, *options):
        export = make_export(ZOO / f"{model}/{model}.f32.gguf", 8, "iree", "--functions", "prefill,decode", *options)
        started.append(Worker(export, compiled_cache))
        return started[-1]

    yield make
    for one in started:
        one.close()


@pytest.mark.parametrize("model, options", [("llama", ["--kv", "static:16"]), ("llama", ["--kv", "static:16", "--kv-dtype", "bf16"]),
                                            ("gemma3", ["--kv", "static:40", "--kv-local", "ring"]), ("llama", ["--kv", "concat"])])
def test_caches_that_are_kept(start, model, options):
    """A program writes into the caches that it replaces; not when it is told that they are needed: a text goes on in two ways."""
    worker = start(model, *options)
    _, *caches = worker.run("prefill", [worker.upload([1, 2, 3, 0, 0, 0, 0, 0]), worker.upload(3)])
    before = worker.read(caches)

    def goes_on(token, keep):
        return worker.run("decode", [worker.upload([token]), worker.upload(3), *caches], keep)

    first, second = goes_on(4, caches), goes_on(5, caches)
    assert worker.read(caches) == before
    ends = worker.read(first), worker.read(second)
    assert ends[0] != ends[1]
    # The same from caches that it may have.
    assert worker.read(goes_on(5, ())) == ends[1]


def test_the_thread_that_waits_takes_no_core_from_those_that_work(start):
    worker = start("llama", "--kv", "static:16")
    process = worker.process.pid
    policies = {int(task): os.sched_getscheduler(int(task)) for task in os.listdir(f"/proc/{process}/task")}
    assert policies.pop(process) == os.SCHED_BATCH
    assert policies and set(policies.values()) == {os.SCHED_OTHER}
