"""IREE for the `headrace` program: a process that runs an export's functions, with buffers that stay on the device.

``python -m headrace.worker FD`` talks over the socket FD, which the program made, and ends when that is closed. A message is
``<u32 bytes of header> <u64 bytes of payload> header payload``, little-endian, the header JSON. The worker begins with
``{"protocol": 2}``. Requests (``op``) and their replies:

    open    directory, cache (null: none)       {}
    load    file                                {}                               compiles and loads one module
    upload  id, dtype, sizes + the elements     no reply; a fault is the next reply's
    run     file, entry, arguments, results     {"values": [{"dtype", "sizes"}]} ids of buffers; results are made
            keep                                (ids of arguments that the program would write into, as it does into
                                                caches that it replaces, and must not: it gets copies of them)
    read    id                                  {} + the elements

Any request may carry ``free``, ids that are not used any more, after it is done. A failure is
``{"error": "one line", "missing": true if something is not installed}``.
"""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import struct
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

PROTOCOL = 2
_HEAD = struct.Struct("<IQ")


class Server:
    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._late: Exception | None = None  # of a request without a reply
        self._session: Session | None = None

    def run(self) -> None:
        """Until the other side closes the connection."""
        self._send({"protocol": PROTOCOL})
        while (head := self._receive(_HEAD.size)) is not None:
            header_bytes, payload_bytes = _HEAD.unpack(head)
            header = json.loads(bytes(self._receive(header_bytes) or b"{}"))
            payload = self._receive(payload_bytes)
            self._answer(header, payload if payload is not None else bytearray())

    def _answer(self, request: dict[str, Any], payload: bytearray) -> None:
        silent = request["op"] == "upload"
        reply, data = {}, b""
        try:
            if self._late is not None and not silent:
                late, self._late = self._late, None
                raise late
            reply, data = self._do(request, payload)
        except Exception as error:  # whatever a library raises is the program's to report
            if silent:
                self._late = error
            reply, data = _failure(error), b""
        if self._session is not None:
            self._session.free(request.get("free", ()))
        if not silent:
            self._send(reply, data)

    def _do(self, request: dict[str, Any], payload: bytearray) -> tuple[dict[str, Any], Any]:
        op = request["op"]
        if op == "open":
            self._session = Session(request["directory"], request["cache"])
            return {}, b""
        if self._session is None:
            raise RuntimeError(f"'{op}' before 'open'")
        if op == "load":
            self._session.load(request["file"])
            return {}, b""
        if op == "upload":
            self._session.upload(request["id"], request["dtype"], request["sizes"], payload)
            return {}, b""
        if op == "run":
            return {"values": self._session.run(request)}, b""
        if op == "read":
            return {}, self._session.read(request["id"])
        raise RuntimeError(f"no request '{op}'")

    def _receive(self, count: int) -> bytearray | None:
        """None when the other side has closed the connection."""
        out = bytearray(count)
        view, done = memoryview(out), 0
        while done < count:
            got = self._connection.recv_into(view[done:])
            if got == 0:
                return None
            done += got
        return out

    def _send(self, header: dict[str, Any], payload: Any = b"") -> None:
        text = json.dumps(header).encode()
        self._connection.sendall(_HEAD.pack(len(text), len(payload)) + text)
        if len(payload):
            self._connection.sendall(payload)


class Session:
    """An export and its buffers."""

    def __init__(self, directory: str, cache: str | None) -> None:
        from . import export, iree

        self._iree = iree
        self._runtime = iree.runtime()
        iree.compiler()  # a missing one is to be told before anything else
        self._export = export.load(directory)
        self._cache = None if cache is None else Path(cache)
        self._modules: dict[str, tuple[Any, str]] = {}
        self._functions: dict[tuple[str, str], tuple[Any, Any]] = {}
        self._buffers: dict[int, Any] = {}
        self._device: Any = None
        # Programs have integers without a sign, and signed ones where they say so.
        types = self._runtime.HalElementType
        self._types = {"i1": types.BOOL_8, "i8": types.INT_8, "i16": types.INT_16, "i32": types.INT_32, "i64": types.INT_64,
                       "u8": types.UINT_8, "u16": types.UINT_16, "u32": types.UINT_32, "u64": types.UINT_64,
                       "f16": types.FLOAT_16, "bf16": types.BFLOAT_16, "f32": types.FLOAT_32, "f64": types.FLOAT_64}
        self._names = {int(value): name for name, value in self._types.items()}
        self._names |= {int(getattr(types, f"SINT_{bits}")): f"i{bits}" for bits in (8, 16, 32, 64)}

    def load(self, file: str) -> None:
        if file in self._modules:
            return
        code = self._iree.compile_program(self._export.directory / file, self._cache)
        context, module = self._iree.load_module(self._export.directory, self._export.manifest, code, "local-task")
        self._modules[file] = context, module
        self._device = context.config.device
        _yield_to_others()

    def upload(self, id: int, dtype: str, sizes: list[int], payload: bytearray) -> None:
        import numpy as np

        self._buffers[id] = self._make(np.frombuffer(payload, dtype=np.uint8), sizes, int(self._types[dtype]))

    def run(self, request: dict[str, Any]) -> list[dict[str, Any]]:
        context, function = self._function(request["file"], request["entry"])
        runtime = self._runtime
        arguments = runtime.VmVariantList(len(request["arguments"]))
        keep = set(request.get("keep", ()))
        for id in request["arguments"]:
            arguments.push_ref(self._copy(self._buffers[id]) if id in keep else self._buffers[id])
        results = runtime.VmVariantList(len(request["results"]))
        context.vm_context.invoke(function, arguments, results)
        if results.size != len(request["results"]):
            raise RuntimeError(f"{request['entry']}: {results.size} results, expected {len(request['results'])}")
        values = []
        for i, id in enumerate(request["results"]):
            view = results.get_as_object(i, runtime.HalBufferView)
            self._buffers[id] = view
            values.append({"dtype": self._names.get(int(view.element_type), "?"), "sizes": list(view.shape)})
        return values

    def read(self, id: int) -> memoryview:
        return memoryview(self._bytes(self._buffers[id]))

    def free(self, ids: list[int]) -> None:
        for id in ids:
            self._buffers.pop(id, None)

    def _make(self, data: Any, sizes: Sequence[int], element_type: int) -> Any:
        usage = self._runtime.BufferUsage.DEFAULT | self._runtime.BufferUsage.MAPPING
        buffer = self._device.allocator.allocate_buffer_copy(
            memory_type=self._runtime.MemoryType.DEVICE_LOCAL, allowed_usage=int(usage), device=self._device, buffer=data,
            element_type=self._types["u8"])
        return self._runtime.HalBufferView(buffer.get_buffer(), tuple(sizes), element_type)

    def _copy(self, view: Any) -> Any:
        return self._make(self._bytes(view), view.shape, int(view.element_type))

    @staticmethod
    def _bytes(view: Any) -> Any:
        """A copy: memory that is mapped is the buffer's own."""
        import numpy as np

        mapped = view.get_buffer().map()
        return np.array(mapped.asarray((view.byte_length,), np.dtype(np.uint8)))

    def _function(self, file: str, entry: str) -> tuple[Any, Any]:
        if (file, entry) not in self._functions:
            self.load(file)
            context, module = self._modules[file]
            # "<module>.<function>", and both may have dots.
            name = entry.removeprefix(module + ".")
            function = context.modules[module].vm_module.lookup_function(name)
            if function is None:
                raise RuntimeError(f"no function '{name}' in module '{module}'")
            self._functions[file, entry] = context, function
        return self._functions[file, entry]


def _failure(error: Exception) -> dict[str, Any]:
    from .errors import MissingExtra

    lines = [line for line in str(error).splitlines() if line.strip()]
    text = lines[0] if lines else type(error).__name__
    return {"error": text, "missing": isinstance(error, MissingExtra)}


def _yield_to_others() -> None:
    """From now on this thread takes no core from another that works. For after IREE's threads are there: they would inherit it.

    IREE's threads wake the one that waits for them and only then mark what it waits for, which it watches without sleeping. If it
    was woken on the very core of the thread that woke it, both stand until the scheduler's next tick: with a thread on each
    core, a tenth of a token's time.
    """
    if not hasattr(os, "SCHED_BATCH"):
        return
    try:
        os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))
    except OSError:  # a sandbox may forbid it; it is only slower then
        pass


def _end_with(connection: socket.socket) -> None:
    """Ends this process, and a compiler it started, once the other side is gone, whatever it is doing."""
    poll = select.poll()
    poll.register(connection, select.POLLRDHUP)
    while not poll.poll():
        pass
    signal.pthread_kill(threading.main_thread().ident, signal.SIGTERM)  # wakes it where it waits for a compiler
    threading.Event().wait(10)
    os.killpg(0, signal.SIGKILL)


def _stop(*_: Any) -> None:
    raise SystemExit(0)


def main() -> None:
    connection = socket.socket(fileno=int(sys.argv[1]))
    signal.signal(signal.SIGTERM, _stop)  # an exception: a compiler that runs is killed and its output removed
    threading.Thread(target=_end_with, args=(connection,), daemon=True).start()
    Server(connection).run()


if __name__ == "__main__":
    main()
