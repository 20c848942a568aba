"""The only writers of the wire form: messages of our own, and changed copies of a client's.

Nothing is edited in place. A client's message that is not changed is passed on as the object that came in, so
that what a provider has cached stays the same to the byte.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from gateway_compaction.core.conversation.messages import ORIGIN, READ_FIELDS, Message, parts_of
from gateway_compaction.core.conversation.parts import (
    cache_mark_of,
    copy_value,
    is_text,
    is_thinking,
    part_text,
)

# Fields of messages and parts that are no text of anybody's.
STRUCTURE = frozenset(
    {
        "role",
        "type",
        "id",
        "call_id",
        "tool_call_id",
        "tool_use_id",
        "media_type",
        "signature",
        "encrypted_content",
    }
)

# Characters that are read of one text where what it says is looked for.
LONGEST_READ = 1_000_000


def user_message(text: str) -> Message:
    """Make a message that a user might have written."""
    return {"role": "user", "content": text}


def assistant_message(text: str) -> Message:
    """Make a message that a model might have written."""
    return {"role": "assistant", "content": text}


def with_fields(message: Message, fields: Mapping[str, str]) -> Message:
    """Return a copy of a message of ours with some more fields; the same object where there are none."""
    return {**message, **fields} if fields else message


def count_texts(message: Message) -> int:
    """Count the texts that ``replace_texts`` would offer; at least 1, so that a budget can be shared."""
    return max(1, sum(map(is_text, parts_of(message))))


def replace_texts(message: Message, replace: Callable[[str], str]) -> Message:
    """Return a copy of a message with other texts, its other parts as they are.

    Args:
        message: Its content, or the text parts of it, are replaced.
        replace: Maps a text to the new one; where that is empty the old text stays, since providers refuse
            empty ones.

    Returns:
        The same object where no text changed.
    """
    content = message.get("content")
    if isinstance(content, str):
        new = replace(content)
        return message if new in ("", content) else {**message, "content": new}
    parts = [_replace_part(part, replace) for part in parts_of(message)]
    changed = any(new is not old for new, old in zip(parts, parts_of(message), strict=True))
    return {**message, "content": parts} if changed else message


def _replace_part(part: Any, replace: Callable[[str], str]) -> Any:
    text = part_text(part)
    if text is None:
        return part
    new = replace(text)
    return part if new in ("", text) else {**part, "text": new}


def map_texts(value: Any, replace: Callable[[str, str], str], name: str = "") -> Any:
    """Return a message, or any JSON value, with every text replaced; the same object where none changed.

    Fields that say what something is, and ids by which parts refer to each other, stay.

    Args:
        value: is not edited.
        replace: maps the name of the field that a text stands in (empty in a list of a message) and the text.
        name: the field that the value stands in.
    """
    if isinstance(value, str):
        return value if name in STRUCTURE else replace(name, value)
    if isinstance(value, Mapping):
        fields = {key: map_texts(one, replace, str(key)) for key, one in value.items()}
        return fields if any(fields[key] is not one for key, one in value.items()) else value
    if isinstance(value, list | tuple):
        items = [map_texts(one, replace, name) for one in value]
        return items if any(new is not old for new, old in zip(items, value, strict=True)) else value
    return value


def leave_out_middle(message: Message) -> Message:
    """Return a message without the middle of texts that are too long to be read; mostly the same object.

    Reading takes more than a second for each million characters, and nobody looks for a sentence in more.
    """

    def shorten(_: str, text: str) -> str:
        if len(text) <= LONGEST_READ:
            return text
        half = LONGEST_READ // 2
        return f"{text[:half]}\n\n{text[-half:]}"

    shortened: Message = map_texts(message, shorten)
    return shortened


def keep_meaning(message: Message) -> Message:
    """Return a message without what its digest leaves out: thinking, and fields that nobody reads."""
    kept = {key: value for key, value in message.items() if key in READ_FIELDS}
    if any(map(is_thinking, parts_of(message))):
        kept["content"] = [part for part in parts_of(message) if not is_thinking(part)]
    return kept


def replace_content(message: Message, text: str) -> Message:
    """Return a copy of a message that says something else; a cache mark on one of its parts is kept.

    The first mark is the one that stays, on a part of its own, unless the message itself has one.
    """
    mark = cache_mark_of(message)
    for part in parts_of(message):
        mark = mark or cache_mark_of(part)
    if mark and "cache_control" not in message:
        return {**message, "content": [_text_part(text, mark)]}
    return {**message, "content": text}


def prepend_text(message: Message, text: str) -> Message:
    """Return a copy of a message with a text before its own content, which stays as it is.

    Where the message was read from another endpoint's form, the texts are parts of their own: clients of
    those write a text as a string, and as a block while it carries a mark for the cache. It is the same to
    the provider's cache, and must be it with a quote before it.
    """
    content = message.get("content")
    if isinstance(content, str) and content and ORIGIN in message:
        content = [{"type": "text", "text": content}]
    if isinstance(content, list):
        return {**message, "content": [{"type": "text", "text": text}, *content]}
    return {**message, "content": f"{text}\n\n{content or ''}"}


def begin_with(message: Message, text: str) -> Message:
    """Return a copy of a message whose own text begins with another one; a part of its own among parts."""
    content = message.get("content")
    if isinstance(content, list):
        return {**message, "content": [{"type": "text", "text": text}, *content]}
    return {**message, "content": f"{text}{content or ''}"}


def mark_for_cache(message: Message, mark: Any) -> Message:
    """Return a copy of a message of ours with a ``cache_control``; the same object where that is None."""
    return message if mark is None else {**message, "content": [_text_part(message["content"], mark)]}


def _text_part(text: str, mark: Any) -> dict[str, Any]:
    # A copy: hosts edit marks in place, and the message that this one is of may be kept.
    return {"type": "text", "text": text, "cache_control": copy_value(mark)}
