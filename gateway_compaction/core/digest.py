"""Names for messages and for prefixes of a conversation, by meaning.

A message is named by its role, content, name, function names and arguments. Call ids, ``cache_control``,
timestamps and the form of the content (a string, or one text part) do not count: clients change them
between calls. The encoding is injective (every field is tagged and carries its length).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from hashlib import blake2b
from typing import Any, Protocol

from gateway_compaction.core.messages import Message

__all__ = ["chain", "fingerprint", "message_digest"]

SIZE = 16
OPENING = 4


class _Hash(Protocol):
    def update(self, data: bytes, /) -> None: ...


def fingerprint(*parts: str) -> str:
    """A short name for some strings (32 hex digits)."""
    state = blake2b(digest_size=SIZE)
    for part in parts:
        _put(state, b"f", part)
    return state.hexdigest()


def message_digest(message: Message) -> bytes:
    """The name of one message (16 bytes)."""
    state = blake2b(digest_size=SIZE)
    _put(state, b"r", str(message.get("role")))
    if message.get("name"):
        _put(state, b"n", str(message["name"]))
    _put_content(state, message.get("content"))
    if message.get("refusal"):
        _put(state, b"x", str(message["refusal"]))
    if isinstance(message.get("audio"), Mapping):
        _put(state, b"a", str(message["audio"].get("id")))
    calls = message.get("tool_calls")
    for call in calls if isinstance(calls, list) else ():
        _put_call(state, call.get("function") or call.get("custom") if isinstance(call, Mapping) else call)
    if message.get("function_call"):
        _put_call(state, message["function_call"])
    return state.digest()


def chain(digests: Iterable[bytes]) -> tuple[str, ...]:
    """Names of every prefix: entry k names the first k messages; entry 0 the empty history."""
    current = bytes(SIZE)
    names = [current.hex()]
    for digest in digests:
        current = blake2b(current + digest, digest_size=SIZE).digest()
        names.append(current.hex())
    return tuple(names)


def _put(state: _Hash, tag: bytes, text: str) -> None:
    data = text.encode("utf-8", "surrogatepass")
    state.update(b"%b%d:" % (tag, len(data)))
    state.update(data)


def _put_content(state: _Hash, content: Any) -> None:
    if content is None or content == "" or content == []:
        return
    if isinstance(content, str):
        _put(state, b"t", content)
        return
    if not isinstance(content, list):
        _put(state, b"?", _canonical(content))
        return
    for part in content:
        if isinstance(part, str):
            _put(state, b"t", part)
        elif isinstance(part, Mapping) and part.get("type") == "text" and isinstance(part.get("text"), str):
            _put(state, b"t", part["text"])
        elif not (isinstance(part, Mapping) and part.get("type") in ("thinking", "redacted_thinking")):
            _put(state, b"p", _canonical(part))


def _put_call(state: _Hash, call: Any) -> None:
    if not isinstance(call, Mapping):
        _put(state, b"c", _canonical(call))
        return
    _put(state, b"c", str(call.get("name")))
    arguments = call.get("arguments", call.get("input"))
    _put(state, b"g", arguments if isinstance(arguments, str) else _canonical(arguments))


def _canonical(value: Any) -> str:
    if isinstance(value, Mapping):
        value = {k: v for k, v in value.items() if k != "cache_control"}
    return json.dumps(value, sort_keys=True, ensure_ascii=True, default=repr)
