"""Digests of messages and of the prefixes of a conversation, by meaning.

A stored summary is used only for exactly the messages it stands for: the digest decides. A message's
digest is of its role, content, name, function names and arguments. Call ids, ``cache_control``,
timestamps, thinking and the form of the content (a string, or one text part) do not count: clients
change them between calls. Two messages of different meaning never encode alike, since every field is
tagged and carries its length.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from hashlib import blake2b
from typing import Any

from gateway_compaction.core.conversation.messages import Message
from gateway_compaction.core.conversation.parts import is_thinking, part_text

# Bytes of a digest: so many that no two histories share one by chance.
SIZE = 16
# A session is found by the digest of so many messages: fewer are alike in too many conversations.
OPENING = 4


def fingerprint(*parts: str) -> str:
    """Return a short name for some strings (32 hex digits) from which they cannot be read back."""
    return _hash(piece for part in parts for piece in _encode_field(b"f", part)).hex()


def digest_message(message: Message) -> bytes:
    """Return the digest of one message (16 bytes)."""
    fields = [*_encode_field(b"r", str(message.get("role")))]
    if message.get("name"):
        fields += _encode_field(b"n", str(message["name"]))
    content = message.get("content")
    if isinstance(content, str) and content:
        fields += _encode_field(b"t", content)
    else:
        fields += _encode_content(content)
    if message.get("refusal"):
        fields += _encode_field(b"x", str(message["refusal"]))
    if isinstance(message.get("audio"), Mapping):
        fields += _encode_field(b"a", str(message["audio"].get("id")))
    calls = message.get("tool_calls")
    for call in calls if isinstance(calls, list) else ():
        if isinstance(call, Mapping):
            call = call.get("function") or call.get("custom")
        fields += _encode_call(call)
    if message.get("function_call"):
        fields += _encode_call(message["function_call"])
    return _hash(fields)


def digest_history(history: Iterable[Message]) -> list[bytes]:
    """Return the digest of each message of a history.

    A result of parallel calls is named by the place of its call besides: swapped results mean something else,
    and the call ids that would tell it do not count, since clients make them anew.
    """
    names: list[bytes] = []
    places: dict[str, int] = {}
    for message in history:
        calls = message.get("tool_calls")
        if message.get("role") == "assistant":
            listed = calls if isinstance(calls, list) else ()
            ids = [str(call.get("id")) for call in listed if isinstance(call, Mapping)]
            places = {call: place for place, call in enumerate(ids)}
        name = digest_message(message)
        place = places.get(str(message.get("tool_call_id"))) if len(places) > 1 else None
        names.append(name if place is None else _hash((name, b"@%d" % place)))
    return names


def build_digest_chain(digests: Iterable[bytes]) -> tuple[str, ...]:
    """Return the digest of every prefix in hex: entry k is of the first k messages, entry 0 of none."""
    current = bytes(SIZE)
    names = [current.hex()]
    for digest in digests:
        current = _hash((current, digest))
        names.append(current.hex())
    return tuple(names)


def count_characters(value: Any) -> int:
    """Return the characters in all strings of a message or any JSON value: what a digest of it costs."""
    if isinstance(value, str):
        return len(value)
    if isinstance(value, Mapping):
        return sum(map(count_characters, value.values()))
    return sum(map(count_characters, value)) if isinstance(value, list) else 0


def _hash(fields: Iterable[bytes]) -> bytes:
    name = blake2b(digest_size=SIZE)
    for field in fields:
        name.update(field)
    return name.digest()


def _encode_field(tag: bytes, text: str) -> tuple[bytes, bytes]:
    data = text.encode("utf-8", "surrogatepass")
    return b"%b%d:" % (tag, len(data)), data


def _encode_content(content: Any) -> Iterator[bytes]:
    if content is None or content == "" or content == []:
        return
    if not isinstance(content, list):
        yield b"?"
        yield from _encode_value(content)
        return
    for part in content:
        if isinstance(part, str):
            yield from _encode_field(b"t", part)
        elif (text := part_text(part)) is not None:
            yield from _encode_field(b"t", text)
        elif not is_thinking(part):
            yield b"p"
            yield from _encode_value(part)


def _encode_call(call: Any) -> Iterator[bytes]:
    if not isinstance(call, Mapping):
        yield b"d"
        yield from _encode_value(call)
        return
    yield from _encode_field(b"c", str(call.get("name")))
    yield from _encode_value(_parse_arguments(call.get("arguments", call.get("input"))))


def _parse_arguments(arguments: Any) -> Any:
    """Return an object for arguments that are one in JSON: spaces and the order of keys mean nothing.

    Endpoints that carry objects are written by each gateway with spaces of its own.
    """
    if not isinstance(arguments, str) or not arguments.startswith("{"):
        return arguments
    try:
        return json.loads(arguments)
    except (ValueError, RecursionError):
        return arguments


def _encode_value(value: Any) -> Iterator[bytes]:
    """Encode a JSON value without its cache marks; strings as they are: base64 is too long to be escaped."""
    if isinstance(value, str):
        yield from _encode_field(b"s", value)
    elif isinstance(value, Mapping):
        kept = {str(k): v for k, v in value.items() if k != "cache_control"}
        yield b"m%d:" % len(kept)
        for name in sorted(kept):
            yield from _encode_field(b"k", name)
            yield from _encode_value(kept[name])
    elif isinstance(value, (list, tuple)):
        yield b"l%d:" % len(value)
        for item in value:
            yield from _encode_value(item)
    else:
        yield from _encode_field(b"v", repr(value))
