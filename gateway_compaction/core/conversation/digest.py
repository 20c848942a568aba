"""Names for messages and for prefixes of a conversation, by meaning.

A message is named by its role, content, name, function names and arguments. Call ids, ``cache_control``,
timestamps and the form of the content (a string, or one text part) do not count: clients change them
between calls. The encoding is injective (every field is tagged and carries its length).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from hashlib import blake2b
from typing import Any

from gateway_compaction.core.conversation.messages import Message
from gateway_compaction.core.conversation.parts import is_thinking, part_text

__all__ = ["chain", "fingerprint", "history_digests", "message_digest", "text_size"]

SIZE = 16
OPENING = 4


def fingerprint(*parts: str) -> str:
    """A short name for some strings (32 hex digits)."""
    return _hashed(piece for part in parts for piece in _field(b"f", part)).hex()


def message_digest(message: Message) -> bytes:
    """The name of one message (16 bytes)."""
    fields = [*_field(b"r", str(message.get("role")))]
    if message.get("name"):
        fields += _field(b"n", str(message["name"]))
    content = message.get("content")
    fields += _field(b"t", content) if isinstance(content, str) and content else _content(content)
    if message.get("refusal"):
        fields += _field(b"x", str(message["refusal"]))
    if isinstance(message.get("audio"), Mapping):
        fields += _field(b"a", str(message["audio"].get("id")))
    calls = message.get("tool_calls")
    for call in calls if isinstance(calls, list) else ():
        fields += _call(call.get("function") or call.get("custom") if isinstance(call, Mapping) else call)
    if message.get("function_call"):
        fields += _call(message["function_call"])
    return _hashed(fields)


def history_digests(history: Iterable[Message]) -> list[bytes]:
    """The name of each message; a result of parallel calls is also named by the place of its call.

    Call ids themselves do not count: clients make them anew.
    """
    names: list[bytes] = []
    places: dict[str, int] = {}
    for message in history:
        calls = message.get("tool_calls")
        if message.get("role") == "assistant":
            ids = (
                [str(c.get("id")) for c in calls if isinstance(c, Mapping)] if isinstance(calls, list) else []
            )
            places = {call: place for place, call in enumerate(ids)}
        name = message_digest(message)
        place = places.get(str(message.get("tool_call_id"))) if len(places) > 1 else None
        names.append(name if place is None else _hashed((name, b"@%d" % place)))
    return names


def chain(digests: Iterable[bytes]) -> tuple[str, ...]:
    """Names of every prefix: entry k names the first k messages; entry 0 the empty history."""
    current = bytes(SIZE)
    names = [current.hex()]
    for digest in digests:
        current = _hashed((current, digest))
        names.append(current.hex())
    return tuple(names)


def text_size(value: Any) -> int:
    """Characters in all strings of a message, or of any JSON value: what naming it costs."""
    if isinstance(value, str):
        return len(value)
    if isinstance(value, Mapping):
        return sum(map(text_size, value.values()))
    return sum(map(text_size, value)) if isinstance(value, list) else 0


def _hashed(fields: Iterable[bytes]) -> bytes:
    name = blake2b(digest_size=SIZE)
    for field in fields:
        name.update(field)
    return name.digest()


def _field(tag: bytes, text: str) -> tuple[bytes, bytes]:
    data = text.encode("utf-8", "surrogatepass")
    return b"%b%d:" % (tag, len(data)), data


def _content(content: Any) -> Iterator[bytes]:
    if content is None or content == "" or content == []:
        return
    if not isinstance(content, list):
        yield b"?"
        yield from _value(content)
        return
    for part in content:
        if isinstance(part, str):
            yield from _field(b"t", part)
        elif (text := part_text(part)) is not None:
            yield from _field(b"t", text)
        elif not is_thinking(part):
            yield b"p"
            yield from _value(part)


def _call(call: Any) -> Iterator[bytes]:
    if not isinstance(call, Mapping):
        yield b"d"
        yield from _value(call)
        return
    yield from _field(b"c", str(call.get("name")))
    yield from _value(call.get("arguments", call.get("input")))


def _value(value: Any) -> Iterator[bytes]:
    """A JSON value without its cache marks; strings as they are, since base64 is too long to be escaped."""
    if isinstance(value, str):
        yield from _field(b"s", value)
    elif isinstance(value, Mapping):
        kept = {str(k): v for k, v in value.items() if k != "cache_control"}
        yield b"m%d:" % len(kept)
        for name in sorted(kept):
            yield from _field(b"k", name)
            yield from _value(kept[name])
    elif isinstance(value, (list, tuple)):
        yield b"l%d:" % len(value)
        for item in value:
            yield from _value(item)
    else:
        yield from _field(b"v", repr(value))
