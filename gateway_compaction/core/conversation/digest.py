"""Digests of messages and of the prefixes of a conversation, by meaning.

A stored summary is used only for exactly the messages it stands for: the digest decides. A message's
digest is of its role, content, name, function names and arguments. Call ids, ``cache_control``,
timestamps, thinking and the form of the content (a string, or one text part) do not count: clients
change them between calls. Two messages of different meaning never encode alike, since every field is
tagged and carries its length.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from hashlib import blake2b
from typing import Any

from gateway_compaction.core.conversation.messages import Message
from gateway_compaction.core.conversation.parts import is_thinking, part_text

# Bytes of a digest: so many that no two histories share one by chance.
SIZE = 16
# The name of no messages at all, with which every chain begins.
NOTHING = "00" * SIZE
# A session is found by the digest of so many messages: fewer are alike in too many conversations.
OPENING = 4


def fingerprint(*parts: str) -> str:
    """Return a short name for some strings (32 hex digits) from which they cannot be read back."""
    fields: list[bytes] = []
    for part in parts:
        _add_field(fields, b"f", part)
    return _hash(fields).hex()


def digest_message(message: Message) -> bytes:
    """Return the digest of one message (16 bytes)."""
    return _hash(_list_fields(message))


def _list_fields(message: Message) -> list[bytes]:
    """Return all that counts of a message, encoded."""
    fields = [_encode_role(str(message.get("role")))]
    if message.get("name"):
        _add_field(fields, b"n", str(message["name"]))
    content = message.get("content")
    if isinstance(content, str) and content:
        _add_field(fields, b"t", content)
    else:
        _add_content(fields, content)
    if message.get("refusal"):
        _add_field(fields, b"x", str(message["refusal"]))
    if isinstance(message.get("audio"), Mapping):
        _add_field(fields, b"a", str(message["audio"].get("id")))
    calls = message.get("tool_calls")
    for call in calls if isinstance(calls, list) else ():
        if isinstance(call, Mapping):
            call = call.get("function") or call.get("custom")
        _add_call(fields, call)
    if message.get("function_call"):
        _add_call(fields, message["function_call"])
    return fields


def digest_history(history: Sequence[Message]) -> list[bytes]:
    """Return the digest of each message of a history.

    A result of parallel calls is named by the place of its call besides: swapped results mean something else,
    and the call ids that would tell it do not count, since clients make them anew.
    """
    names: list[bytes] = []
    places: dict[str, int] = {}
    for message in history:
        if message.get("role") == "assistant":
            places = _number_calls(message)
        name = digest_message(message)
        place = places.get(str(message.get("tool_call_id"))) if len(places) > 1 else None
        names.append(name if place is None else _hash((name, b"@%d" % place)))
    return names


def _number_calls(message: Message) -> dict[str, int]:
    """Return the place of each call of a message by its id."""
    calls = message.get("tool_calls")
    listed = calls if isinstance(calls, list) else ()
    ids = [str(call.get("id")) for call in listed if isinstance(call, Mapping)]
    return {call: place for place, call in enumerate(ids)}


def build_digest_chain(digests: Iterable[bytes], start: str = NOTHING) -> tuple[str, ...]:
    """Return the digest of every prefix in hex: entry k is of the first k messages, entry 0 of none.

    Args:
        digests: of the messages.
        start: the last entry of the chain that this one goes on with, which is its entry 0.
    """
    current = bytes.fromhex(start)
    names = [start]
    for digest in digests:
        current = blake2b(current + digest, digest_size=SIZE).digest()
        names.append(current.hex())
    return tuple(names)


def count_characters(value: Any) -> int:
    """Return the characters in all strings of a message or any JSON value: what a digest of it costs."""
    if isinstance(value, str):
        return len(value)
    if isinstance(value, Mapping):
        return sum([count_characters(inner) for inner in value.values()])
    return sum([count_characters(inner) for inner in value]) if isinstance(value, list) else 0


def _hash(fields: Iterable[bytes]) -> bytes:
    return blake2b(b"".join(fields), digest_size=SIZE).digest()


@lru_cache(maxsize=64)
def _encode_role(role: str) -> bytes:
    """Return the field of a role; there are few, and every message has one."""
    fields: list[bytes] = []
    _add_field(fields, b"r", role)
    return b"".join(fields)


def _add_field(fields: list[bytes], tag: bytes, text: str) -> None:
    data = text.encode("utf-8", "surrogatepass")
    fields.append(b"%b%d:" % (tag, len(data)))
    fields.append(data)


def _add_content(fields: list[bytes], content: Any) -> None:
    if content is None or content == "" or content == []:
        return
    if not isinstance(content, list):
        fields.append(b"?")
        _add_value(fields, content)
        return
    for part in content:
        if isinstance(part, str):
            _add_field(fields, b"t", part)
        elif (text := part_text(part)) is not None:
            _add_field(fields, b"t", text)
        elif not is_thinking(part):
            fields.append(b"p")
            _add_value(fields, part)


def _add_call(fields: list[bytes], call: Any) -> None:
    if not isinstance(call, Mapping):
        fields.append(b"d")
        _add_value(fields, call)
        return
    _add_field(fields, b"c", str(call.get("name")))
    _add_value(fields, _parse_arguments(call.get("arguments", call.get("input"))))


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


def _add_value(fields: list[bytes], value: Any) -> None:
    """Encode a JSON value without its cache marks; strings as they are: base64 is too long to be escaped."""
    if isinstance(value, str):
        _add_field(fields, b"s", value)
    elif isinstance(value, Mapping):
        kept = {str(k): v for k, v in value.items() if k != "cache_control"}
        fields.append(b"m%d:" % len(kept))
        for name in sorted(kept):
            _add_field(fields, b"k", name)
            _add_value(fields, kept[name])
    elif isinstance(value, (list, tuple)):
        fields.append(b"l%d:" % len(value))
        for item in value:
            _add_value(fields, item)
    else:
        _add_field(fields, b"v", repr(value))
