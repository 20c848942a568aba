"""The only writers of the wire form: messages of our own, and changed copies of a client's.

Nothing is edited in place. A client's message that is not changed is passed on as the object that came in, so
that what a provider has cached stays the same to the byte.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from gateway_compaction.core.conversation.messages import ORIGIN, Message, parts_of
from gateway_compaction.core.conversation.parts import cache_mark_of, is_text, part_text


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


def replace_content(message: Message, text: str) -> Message:
    """Return a copy of a message that says something else; a cache mark on one of its parts is kept.

    The first mark is the one that stays, on a part of its own, unless the message itself has one.
    """
    mark = cache_mark_of(message)
    for part in parts_of(message):
        mark = mark or cache_mark_of(part)
    if mark and "cache_control" not in message:
        return {**message, "content": [_text_part(text, json.loads(json.dumps(mark)))]}
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


def mark_for_cache(message: Message, mark: Any) -> Message:
    """Return a copy of a message of ours with a ``cache_control``; the same object where that is None."""
    return message if mark is None else {**message, "content": [_text_part(message["content"], mark)]}


def _text_part(text: str, mark: Any) -> dict[str, Any]:
    return {"type": "text", "text": text, "cache_control": mark}
