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

from gateway_compaction.core.conversation.messages import ORIGIN, Message, plain_text_of
from gateway_compaction.core.conversation.parts import is_thinking, part_text

# Bytes of a digest: so many that no two histories share one by chance.
SIZE = 16
# Characters of text that are kept with their digests in one process, in 16 to 64 MB: some forty conversations
# of 100,000 tokens. Each entry takes the room of some more.
KEPT_CHARACTERS, ENTRY_CHARACTERS = 16_000_000, 200
# What an entry of calls begins with: it is longer than that of a plain message, and named apart besides.
CALLING = "calls"
# What an argument of a call may be, to be told in an entry as it is.
TOLD_BY_TYPE = (bool, float, type(None))
Said = tuple[Any, ...]
"""All that counts of a message, as a key: no two messages of different meaning have the same."""
# A session is found by the digest of so many messages: fewer are alike in too many conversations.
OPENING = 4


def fingerprint(*parts: str) -> str:
    """Return a short name for some strings (32 hex digits) from which they cannot be read back."""
    fields: list[bytes] = []
    for part in parts:
        _add_field(fields, b"f", part)
    return _hash(fields).hex()


class KnownDigests:
    """The digests of plain messages and of plain calls, kept by what they say for the next call.

    A conversation comes again with every call. To look its texts up costs a fifth of what hashing them does,
    since Python's own hash of a string is that much quicker. The whole text is the key, so that an entry is
    right for as long as it is kept. The oldest go where ``limit`` characters are kept.
    """

    def __init__(self, limit: int = KEPT_CHARACTERS) -> None:
        self._limit = limit
        self._digests: dict[Said, bytes] = {}
        self._characters = 0

    def find(self, role: str, text: str) -> bytes:
        """Return the digest of a message that has this role and text, and nothing else that counts."""
        return self._digests.get((role, text)) or self._make_plain(role, text)

    def find_calls(self, said: Said, message: Message) -> bytes:
        """Return the digest of a message that calls functions, and says nothing else than ``said``."""
        return self._digests.get(said) or self._keep(said, _hash(_list_fields(message)))

    def forget(self) -> None:
        """Drop all texts."""
        self._digests, self._characters = {}, 0

    def _make_plain(self, role: str, text: str) -> bytes:
        fields = [_encode_role(role)]
        if text:
            _add_field(fields, b"t", text)
        return self._keep((role, text), _hash(fields))

    def _keep(self, said: Said, digest: bytes) -> bytes:
        size = _measure_entry(said)
        if size <= self._limit // 4:
            if self._characters + size > self._limit:
                self._drop_oldest()
            self._digests[said] = digest
            self._characters += size
        return digest

    def _drop_oldest(self) -> None:
        """Drop the oldest until a quarter of the room is free."""
        kept = list(self._digests.items())
        sizes = [_measure_entry(said) for said, _ in kept]
        # Added up anew: what two threads have kept at the same moment was counted twice.
        room, start, total = self._limit - self._limit // 4, 0, sum(sizes)
        while total > room:
            total, start = total - sizes[start], start + 1
        self._digests, self._characters = dict(kept[start:]), total


_known_digests = KnownDigests()


def forget_digests() -> None:
    """Drop the texts that are kept with their digests: something was erased."""
    _known_digests.forget()


def digest_message(message: Message) -> bytes:
    """Return the digest of one message (16 bytes)."""
    text = plain_text_of(message)
    if text is not None:
        return _known_digests.find(str(message["role"]), text)
    said = _read_plain_calls(message)
    return _hash(_list_fields(message)) if said is None else _known_digests.find_calls(said, message)


def _read_plain_calls(message: Message) -> Said | None:
    """Return all that counts of a message of calls and perhaps a text; None where it holds anything else.

    To read its arguments as JSON, or to encode them where they are an object, takes six times as long as to
    know it again.
    """
    calls, content, role = message.get("tool_calls"), message.get("content"), message.get("role")
    is_plain = len(message) == 3 + (ORIGIN in message) and "content" in message and type(role) is str
    if not is_plain or type(calls) is not list or not (content is None or type(content) is str):
        return None
    said: list[Any] = [CALLING, role, content or ""]
    for call in calls:
        function = call.get("function") if type(call) is dict else None
        if type(function) is not dict:
            return None
        name, arguments = function.get("name"), function.get("arguments")
        if type(name) is not str:
            return None
        if type(arguments) is str:
            said += (name, arguments)
        elif type(arguments) is not dict or not _tell_object(said, name, arguments):
            return None
    return tuple(said)


def _tell_object(said: list[Any], name: str, arguments: Mapping[Any, Any]) -> bool:
    """Add a call with an object that holds no other ones; tell whether it is such.

    Behind the name stands a number, where a call in JSON has a text; so many names and values follow. What is
    no text or whole number stands in a tuple: Python takes True for 1.
    """
    said += (name, len(arguments))
    for key, value in arguments.items():
        kind = type(value)
        if kind in TOLD_BY_TYPE:
            value = (repr(value),)
        elif kind is not str and kind is not int:
            return False
        said += (key, value)
    return True


def _measure_entry(said: Said) -> int:
    return sum([len(value) for value in said[1:] if type(value) is str]) + ENTRY_CHARACTERS


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


def digest_history(history: Sequence[Message], texts: Sequence[str | None] | None = None) -> list[bytes]:
    """Return the digest of each message of a history.

    A result of parallel calls is named by the place of its call besides: swapped results mean something else,
    and the call ids that would tell it do not count, since clients make them anew.

    Args:
        history: the messages.
        texts: the text of each that is plain, else None, where at hand (``Transcript.plain_texts``).
    """
    names: list[bytes] = []
    places: dict[str, int] = {}
    texts = [plain_text_of(message) for message in history] if texts is None else texts
    find = _known_digests.find
    for message, text in zip(history, texts, strict=True):
        if message.get("role") == "assistant":
            places = {} if text is not None else _number_calls(message)
        name = digest_message(message) if text is None else find(str(message["role"]), text)
        place = places.get(str(message.get("tool_call_id"))) if len(places) > 1 else None
        names.append(name if place is None else _hash((name, b"@%d" % place)))
    return names


def _number_calls(message: Message) -> dict[str, int]:
    """Return the place of each call of a message by its id."""
    calls = message.get("tool_calls")
    listed = calls if isinstance(calls, list) else ()
    ids = [str(call.get("id")) for call in listed if isinstance(call, Mapping)]
    return {call: place for place, call in enumerate(ids)}


def build_digest_chain(digests: Iterable[bytes]) -> tuple[str, ...]:
    """Return the digest of every prefix in hex: entry k is of the first k messages, entry 0 of none."""
    current = bytes(SIZE)
    names = [current.hex()]
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
