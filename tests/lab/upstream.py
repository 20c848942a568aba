"""A fake OpenAI-compatible server in a thread of the test process: scripted by model, records everything."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import json
import threading
import time
from collections.abc import Iterable, Mapping
from types import TracebackType
from typing import Any, Self

from tests.lab.counting import count_request, count_text
from tests.lab.ports import HOST, free_port
from tests.lab.rules import broken_by_gateway
from tests.lab.scripts import Reply, Script, Seen, answer
from tests.lab.upstream_forms import error_body, events_of, payload_of

__all__ = ["Seen", "Upstream"]

PATHS = ("/completions", "/messages", "/responses")
REASONS = {200: "OK", 400: "Bad Request", 404: "Not Found", 429: "Too Many Requests", 500: "Server Error"}


class Upstream:
    """``scripts`` says what each model answers; ``default`` serves the models that are not named there.

    ``broken`` are the rules of providers that the gateway broke though its client kept them.
    """

    def __init__(self) -> None:
        self.port = free_port()
        self.scripts: dict[str, Script] = {}
        self.default: Script = answer("ok")
        self.requests: list[Seen] = []
        self.broken: list[str] = []
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stopping: asyncio.Event | None = None
        self._released: asyncio.Event | None = None
        self._unhung: asyncio.Event | None = None
        self._thread: threading.Thread | None = None
        self._connections: set[asyncio.Task[None]] = set()

    @property
    def url(self) -> str:
        """The ``api_base`` of a deployment."""
        return f"http://{HOST}:{self.port}/v1"

    def seen(self, model: str | None = None, containing: str | None = None) -> list[Seen]:
        """What arrived so far, of one model, with ``containing`` in its messages."""
        found = [s for s in list(self.requests) if model is None or s.model == model]
        return [s for s in found if containing is None or containing in s.text]

    def reset(self) -> None:
        """Forget requests and scripts and end what is still waiting, so that tests can share one upstream."""
        self.release()
        self.requests.clear()
        self.scripts.clear()
        self.default = answer("ok")

    def release(self, *, delayed: bool = True) -> None:
        """Close the connections whose answers hang, and those whose answers are only late if ``delayed``."""

        def wake() -> None:
            if self._released and delayed:
                self._released.set()
                self._released = asyncio.Event()
            if self._unhung:
                self._unhung.set()
            self._unhung = asyncio.Event()

        if self._loop and self._loop.is_running():
            self._loop.call_soon_threadsafe(wake)

    def start(self) -> Self:
        """Serve in a thread."""
        ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._main(ready)), daemon=True)
        self._thread.start()
        assert ready.wait(10), "the upstream did not start"
        return self

    def stop(self) -> None:
        """Close every connection and end the thread."""
        if self._loop and self._stopping and self._thread:
            self._loop.call_soon_threadsafe(self._stopping.set)
            self._thread.join(10)

    async def _main(self, ready: threading.Event) -> None:
        self._loop = asyncio.get_running_loop()
        self._stopping, self._released, self._unhung = asyncio.Event(), asyncio.Event(), asyncio.Event()
        server = await asyncio.start_server(self._connected, HOST, self.port, limit=2**26)
        ready.set()
        await self._stopping.wait()
        server.close()
        for task in list(self._connections):
            task.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        try:
            with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
                while await self._exchange(reader, writer):
                    pass
        finally:
            self._connections.discard(task)
            writer.close()
            with contextlib.suppress(ConnectionError, asyncio.CancelledError):
                await writer.wait_closed()

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """One request and its answer; False when the connection ends."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        path = head[0].split(" ")[1]
        headers = {k.lower(): v.strip() for k, _, v in (line.partition(":") for line in head[1:] if line)}
        raw = await reader.readexactly(int(headers.get("content-length", "0")))
        if path.endswith("/models"):
            return await _send(writer, 200, _json({"object": "list", "data": []}))
        if not path.partition("?")[0].endswith(PATHS):
            return await _send(writer, 404, _json({"error": {"message": f"no route {path}"}}))
        body = json.loads(raw)
        model = str(body.get("model"))
        path = path.partition("?")[0]
        seen = Seen(path, model, headers, raw, body, time.monotonic(), count_request(body))
        self.requests.append(seen)
        self.broken += [f"{model}: {found}" for found in broken_by_gateway(body)]
        reply = self.scripts.get(seen.model, self.default)(seen)
        if inspect.isawaitable(reply):
            reply = await reply
        return await self._reply(writer, seen, reply)

    async def _released_within(self, reply: Reply) -> bool:
        event, seconds = (self._unhung, 3600.0) if reply.hang else (self._released, reply.delay)
        assert event is not None
        try:
            await asyncio.wait_for(event.wait(), seconds)
        except TimeoutError:
            return False
        return True

    async def _reply(self, writer: asyncio.StreamWriter, seen: Seen, reply: Reply) -> bool:
        if (reply.hang or reply.delay) and await self._released_within(reply):
            return False
        if reply.error is not None or reply.status >= 400:
            error = error_body(seen, dict(reply.error or {}))
            return await _send(writer, reply.status, _json(error), reply.headers)
        if reply.raw is not None:
            return await _send(writer, reply.status, reply.raw, reply.headers)
        if seen.body.get("stream"):
            return await _stream(writer, seen, reply)
        whole = _completion(seen, reply) if _is_chat(seen) else payload_of(seen, reply)
        payload = _json(whole)
        if reply.cut_after is not None:
            writer.write(_head(200, reply.headers, len(payload)) + payload[: len(payload) // 2])
            await writer.drain()
            return False
        return await _send(writer, 200, payload, reply.headers)

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


def _json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")


def _head(status: int, extra: Mapping[str, str], length: int | None) -> bytes:
    framing = "transfer-encoding: chunked" if length is None else f"content-length: {length}"
    kind = "text/event-stream" if length is None else "application/json"
    lines = [f"HTTP/1.1 {status} {REASONS.get(status, 'Status')}", f"content-type: {kind}", framing]
    lines += [f"{name}: {value}" for name, value in extra.items()]
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n"


async def _send(
    writer: asyncio.StreamWriter, status: int, payload: bytes, extra: Mapping[str, str] | None = None
) -> bool:
    writer.write(_head(status, extra or {}, len(payload)) + payload)
    await writer.drain()
    return True


async def _stream(writer: asyncio.StreamWriter, seen: Seen, reply: Reply) -> bool:
    writer.write(_head(200, reply.headers, None))
    chunks = ((None, chunk) for chunk in _chunks(seen, reply)) if _is_chat(seen) else events_of(seen, reply)
    for index, (name, chunk) in enumerate(chunks):
        if reply.cut_after is not None and index >= reply.cut_after:
            await writer.drain()
            return False
        _write_event(writer, json.dumps(chunk, ensure_ascii=False), name)
        await writer.drain()
        if reply.chunk_delay:
            await asyncio.sleep(reply.chunk_delay)
    if seen.path.endswith("/completions"):
        _write_event(writer, "[DONE]")
    writer.write(b"0\r\n\r\n")
    await writer.drain()
    return True


def _is_chat(seen: Seen) -> bool:
    return seen.path.endswith("/chat/completions")


def _write_event(writer: asyncio.StreamWriter, text: str, name: str | None = None) -> None:
    head = f"event: {name}\n" if name else ""
    data = f"{head}data: {text}\n\n".encode("utf-8", "replace")
    writer.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")


def _usage(seen: Seen, reply: Reply) -> dict[str, int]:
    prompt = seen.tokens if reply.prompt_tokens is None else reply.prompt_tokens
    output = count_text(json.dumps(reply.as_message, ensure_ascii=False))
    return {"prompt_tokens": prompt, "completion_tokens": output, "total_tokens": prompt + output}


def _completion(seen: Seen, reply: Reply) -> dict[str, Any]:
    choice = {"index": 0, "message": reply.as_message, "finish_reason": reply.reason}
    shell = {"id": "chatcmpl-lab", "object": "chat.completion", "created": 1_700_000_000, "model": seen.model}
    return {**shell, "choices": [choice], "usage": _usage(seen, reply)}


def _chunks(seen: Seen, reply: Reply) -> Iterable[dict[str, Any]]:
    shell = {"id": "chatcmpl-lab", "object": "chat.completion.chunk", "created": 1_700_000_000}
    shell["model"] = seen.model

    def chunk(delta: Mapping[str, Any], finish: str | None = None) -> dict[str, Any]:
        return {**shell, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}

    message = reply.as_message
    yield chunk({"role": "assistant", "content": ""})
    text = message.get("content") or ""
    step = max(1, -(-len(text) // max(1, reply.chunks)))
    for start in range(0, len(text), step):
        yield chunk({"content": text[start : start + step]})
    for index, call in enumerate(message.get("tool_calls") or ()):
        yield chunk({"tool_calls": [{"index": index, **call}]})
    yield chunk({}, reply.reason)
    if (seen.body.get("stream_options") or {}).get("include_usage"):
        yield {**shell, "choices": [], "usage": _usage(seen, reply)}
