"""What a client does: send chat completions, streamed or not, with a history that grows."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

import httpx

from tests.lab.proxy import MASTER_KEY, Proxy
from tests.lab.rules import remember

__all__ = ["LIMITS", "Answer", "Client", "Message", "grow"]

Message = Mapping[str, Any]
LIMITS = httpx.Limits(keepalive_expiry=2.0)
"""The proxy's server closes a connection that was idle for five seconds, as httpx does. A busy machine lets a
client use one that is being closed, and the call ends without an answer."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back; ``seconds`` from sending to the last byte, ``chunks`` of a stream."""

    status: int
    body: dict[str, Any]
    headers: Mapping[str, str]
    seconds: float
    chunks: list[dict[str, Any]] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The assistant's text, put together where it was streamed."""
        if self.chunks:
            return "".join(
                c["choices"][0]["delta"].get("content") or "" for c in self.chunks if c.get("choices")
            )
        choices = self.body.get("choices") or [{"message": {}}]
        return choices[0]["message"].get("content") or ""

    @property
    def outcome(self) -> str | None:
        """``x-compaction``."""
        return self.headers.get("x-compaction")

    def told(self, name: str) -> str | None:
        """``x-compaction-<name>``."""
        return self.headers.get(f"x-compaction-{name}")


class Client:
    """An async client of one proxy with one API key."""

    def __init__(self, proxy: Proxy | str, key: str = MASTER_KEY, *, timeout: float = 60.0) -> None:
        self.url = proxy if isinstance(proxy, str) else proxy.url
        headers = {"authorization": f"Bearer {key}"}
        self._http = httpx.AsyncClient(
            base_url=self.url, headers=headers, timeout=timeout, trust_env=False, limits=LIMITS
        )

    async def chat(
        self,
        model: str,
        messages: Sequence[Message],
        *,
        headers: Mapping[str, str] | None = None,
        path: str = "/v1/chat/completions",
        **body: Any,
    ) -> Answer:
        """One call, not streamed; ``body`` holds further parameters of the API."""
        payload = {"model": model, "messages": list(messages), **body}
        remember(payload)
        start = time.perf_counter()
        response = await self._http.post(path, content=_encode(payload), headers=_typed(headers))
        seconds = time.perf_counter() - start
        return Answer(response.status_code, _decode(response.text), response.headers, seconds)

    async def ask(
        self, path: str, body: Mapping[str, Any], headers: Mapping[str, str] | None = None
    ) -> Answer:
        """One call of any endpoint; of a stream the body is empty, and its text is that of the events."""
        if path.endswith("/chat/completions"):
            remember(body)
        start = time.perf_counter()
        response = await self._http.post(path, content=_encode(body), headers=_typed(headers))
        seconds = time.perf_counter() - start
        streamed = response.headers.get("content-type", "").startswith("text/event-stream")
        decoded = {"events": response.text} if streamed else _decode(response.text)
        return Answer(response.status_code, decoded, response.headers, seconds)

    async def stream(
        self,
        model: str,
        messages: Sequence[Message],
        *,
        headers: Mapping[str, str] | None = None,
        leave_after: int | None = None,
        **body: Any,
    ) -> Answer:
        """One streamed call, read to its end, or left after ``leave_after`` chunks."""
        payload = {"model": model, "messages": list(messages), "stream": True, **body}
        remember(payload)
        start, chunks = time.perf_counter(), []
        opened = self._http.stream(
            "POST", "/v1/chat/completions", content=_encode(payload), headers=_typed(headers)
        )
        async with opened as response:
            if response.status_code != 200:
                failure = _decode((await response.aread()).decode())
                return Answer(response.status_code, failure, response.headers, time.perf_counter() - start)
            async for line in response.aiter_lines():
                if line.startswith("data: ") and line != "data: [DONE]":
                    chunks.append(json.loads(line.removeprefix("data: ")))
                if leave_after is not None and len(chunks) >= leave_after:
                    break
        return Answer(200, {}, response.headers, time.perf_counter() - start, chunks)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()


def grow(messages: Sequence[Message], *, stride: int = 1) -> Iterator[list[Message]]:
    """The calls by which a recorded conversation came about: every history just before an assistant message.

    With ``stride`` n only every n-th, counted so that the last one is always among them. A conversation
    that ends with a user or tool message ends with one more call.
    """
    ends = [i for i, m in enumerate(messages) if m.get("role") == "assistant" and _asks(messages, i)]
    if messages and messages[-1].get("role") in ("user", "tool", "function"):
        ends.append(len(messages))
    offset = (len(ends) - 1) % stride if ends else 0
    for end in ends[offset::stride]:
        yield list(messages[:end])


def _asks(messages: Sequence[Message], index: int) -> bool:
    return index > 0 and messages[index - 1].get("role") in ("user", "tool", "function")


def _encode(payload: Mapping[str, Any]) -> bytes:
    return json.dumps(payload).encode()


def _typed(headers: Mapping[str, str] | None) -> dict[str, str]:
    return {"content-type": "application/json", **(headers or {})}


def _decode(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError:
        return {"text": text}
    return value if isinstance(value, dict) else {"value": value}
