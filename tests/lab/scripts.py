"""What the fake upstream answers: replies as values, and the scripts that choose them."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Reply", "Script", "Seen", "Summariser", "Window", "answer", "tool_call"]


@dataclass(frozen=True, slots=True)
class Seen:
    """One request as the upstream received it.

    Attributes:
        raw: the body's bytes.
        at: arrival, by ``time.monotonic``.
        tokens: ``count_request`` of the body.
    """

    path: str
    model: str
    headers: Mapping[str, str]
    raw: bytes
    body: dict[str, Any]
    at: float
    tokens: int

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The messages of the body."""
        return self.body.get("messages") or []

    @property
    def items(self) -> list[dict[str, Any]]:
        """The messages of the body, or its input items."""
        return self.messages or self.body.get("input") or []

    @property
    def text(self) -> str:
        """The messages as one JSON text to search in."""
        return json.dumps(self.messages or self.body.get("input"), ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer of the upstream.

    Attributes:
        delay: seconds before the first byte.
        hang: never answer.
        cut_after: close the connection after so many stream chunks (whole bodies: in the middle).
        chunks: into how many pieces a streamed text is cut.
        chunk_delay: seconds between stream chunks.
        prompt_tokens: reported usage; None for the counted one.
        message: overrides the whole assistant message.
        raw: a body sent as it is, instead of a completion.
    """

    text: str | None = "ok"
    tool_calls: Sequence[Mapping[str, Any]] = ()
    finish_reason: str | None = None
    status: int = 200
    error: Mapping[str, Any] | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0
    hang: bool = False
    cut_after: int | None = None
    chunks: int = 4
    chunk_delay: float = 0.0
    prompt_tokens: int | None = None
    message: Mapping[str, Any] | None = None
    raw: bytes | None = None

    @classmethod
    def failing(cls, status: int, message: str, *, kind: str, code: str | None = None) -> Reply:
        """An error in OpenAI's form."""
        return cls(status=status, error={"message": message, "type": kind, "param": None, "code": code})

    @classmethod
    def bad_request(cls, message: str = "Invalid value.", code: str | None = None) -> Reply:
        """400, as for a body that breaks the API's rules."""
        return cls.failing(400, message, kind="invalid_request_error", code=code)

    @classmethod
    def over_window(cls, tokens: int, window: int) -> Reply:
        """400 ``context_length_exceeded``."""
        message = (
            f"This model's maximum context length is {window} tokens. "
            f"However, your messages resulted in {tokens} tokens. Please reduce the length of the messages."
        )
        return cls.failing(400, message, kind="invalid_request_error", code="context_length_exceeded")

    @classmethod
    def rate_limited(cls) -> Reply:
        """429."""
        return cls.failing(429, "Rate limit reached.", kind="rate_limit_error", code="rate_limit_exceeded")

    @classmethod
    def server_error(cls) -> Reply:
        """500."""
        return cls.failing(500, "The server had an error.", kind="server_error")

    @property
    def as_message(self) -> dict[str, Any]:
        """The assistant message of the answer."""
        if self.message is not None:
            return dict(self.message)
        message: dict[str, Any] = {"role": "assistant", "content": self.text}
        if self.tool_calls:
            message["tool_calls"] = [dict(call) for call in self.tool_calls]
        return message

    @property
    def reason(self) -> str:
        """The finish reason, derived where it was not given."""
        return self.finish_reason or ("tool_calls" if self.tool_calls else "stop")


Script = Callable[[Seen], "Reply | Awaitable[Reply]"]


def tool_call(name: str, arguments: Mapping[str, Any], identity: str = "call_1") -> dict[str, Any]:
    """A tool call in OpenAI's form."""
    function = {"name": name, "arguments": json.dumps(arguments, ensure_ascii=False)}
    return {"id": identity, "type": "function", "function": function}


def answer(reply: Reply | str) -> Script:
    """A script that always gives the same answer."""
    fixed = Reply(text=reply) if isinstance(reply, str) else reply
    return lambda seen: fixed


class Window:
    """A model of ``limit`` tokens: 400 ``context_length_exceeded`` above it, else what ``then`` answers."""

    def __init__(self, limit: int, then: Script | None = None) -> None:
        self.limit = limit
        self.then = then or answer("ok")
        self.refused: list[Seen] = []

    def __call__(self, seen: Seen) -> Reply | Awaitable[Reply]:
        if seen.tokens > self.limit:
            self.refused.append(seen)
            return Reply.over_window(seen.tokens, self.limit)
        return self.then(seen)


class Summariser:
    """A summariser model that numbers its answers and remembers what it was asked.

    ``reply`` may be replaced by the test (it gets the answer's number and the request); by default the
    answer is ``<summary>`` with the text of ``text(n)``.
    """

    def __init__(self, *, delay: float = 0.0, name: str = "SUMMARY") -> None:
        self.name = name
        self.delay = delay
        self.asked: list[Seen] = []
        self.reply: Callable[[int, Seen], Reply] | None = None
        self._lock = threading.Lock()

    @property
    def calls(self) -> int:
        """How often it was asked."""
        return len(self.asked)

    def mark(self, number: int) -> str:
        """What the answer ``number`` is recognised by."""
        return f"{self.name} {number}:"

    def about(self, needle: str) -> list[Seen]:
        """The requests in which ``needle`` occurs."""
        return [seen for seen in list(self.asked) if needle in seen.text]

    def __call__(self, seen: Seen) -> Reply:
        with self._lock:
            self.asked.append(seen)
            number = len(self.asked)
        if self.reply is not None:
            return self.reply(number, seen)
        return Reply(text=f"<summary>{self.text(number, seen)}</summary>", delay=self.delay)

    def text(self, number: int, seen: Seen) -> str:
        """A short text that depends on everything that was asked."""
        digest = hashlib.sha256(seen.raw).hexdigest()[:12]
        return (
            f"{self.mark(number)} the user and the assistant worked through the task so far. "
            f"The material shown had {len(seen.raw)} bytes and the digest {digest}. Nothing is open."
        )
