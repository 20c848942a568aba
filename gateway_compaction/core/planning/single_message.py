"""A conversation as one message: for backends that read nothing but a client's last message.

Three headings divide it: the summary so far, the last messages since, the present one. What stands under the
first two is quoted, so it cannot pass for a heading.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import regex

from gateway_compaction.core.conversation.messages import (
    PREAMBLE_ROLES,
    Message,
    calls_of,
    is_by,
    is_message,
    is_restored,
    role_of,
    spell_arguments,
    told_text_of,
)
from gateway_compaction.core.conversation.rewrite import begin_with
from gateway_compaction.core.policy.model import SingleMessage
from gateway_compaction.core.summary.block import is_acknowledgement
from gateway_compaction.core.text.shorten import shorten

CONTEXT, RECENT, CURRENT = "[CONVERSATION CONTEXT]", "[RECENT MESSAGES]", "[CURRENT MESSAGE]"
INTRODUCTION = "The following is a summary of our earlier conversation:"
HEADING = regex.compile(r"\[(CONVERSATION CONTEXT|RECENT MESSAGES|CURRENT MESSAGE)\]")
LEFT_OUT = "[… {n} characters left out …]"
# Where fewer messages stand before the present one, and no summary, it is sent as it is.
FEWEST = 2


def lay_out(messages: Sequence[Any], summary: Message | None, bounds: SingleMessage) -> Sequence[Any]:
    """Return a conversation with all that stands before the user's last message inside of that one.

    What follows it, the calls of a tool and their results, stays as it is.

    Args:
        messages: what would be sent.
        summary: the one among them that stands for earlier ones, if any.
        bounds: how many messages are told, and how much of each.

    Returns:
        The same object where nothing is to be put together.
    """
    start = 0
    while start < len(messages) and any(is_by(messages[start], role) for role in PREAMBLE_ROLES):
        start += 1
    told, begin = list[str](), start
    while begin < len(messages) and _is_context(messages[begin], summary):
        told.append(told_text_of(messages[begin]))
        begin += 1
        # The word of an assistant that stands between two messages of a user.
        if (
            begin < len(messages)
            and is_by(messages[begin], "assistant")
            and is_acknowledgement(messages[begin])
        ):
            begin += 1
    last = next((i for i in range(len(messages) - 1, begin - 1, -1) if is_by(messages[i], "user")), None)
    if last is None or (not told and last - begin < FEWEST):
        return messages
    parts = [f"{CONTEXT}\n{INTRODUCTION}\n{_quote(text)}" for text in told]
    first = max(begin, last - bounds.recent_messages)
    if first < last:
        lines = [f"[earlier messages not shown: {first - begin}]"] if first > begin else []
        said = (message for message in messages[first:last] if is_message(message))
        lines += [_tell(message, bounds.message_chars) for message in said]
        parts.append("\n".join([RECENT, *lines]))
    present = begin_with(messages[last], "\n\n".join([*parts, CURRENT]) + "\n")
    return [*messages[:start], present, *messages[last + 1 :]]


def _is_context(message: Any, summary: Message | None) -> bool:
    return is_by(message, "user") and (message is summary or is_restored(message))


def _tell(message: Message, chars: int) -> str:
    """Return a message as lines behind its role, at most so many characters of it; calls are named."""
    told = [told_text_of(message)]
    told += [f"→ {call.name}({', '.join(spell_arguments(call))})" for call in calls_of(message)]
    text = _quote("\n".join(part for part in told if part))
    return f"{role_of(message).upper()}: {shorten(text, chars, len, LEFT_OUT)}"


def _quote(text: str) -> str:
    """Return a text in which our headings are none."""
    return HEADING.sub(r"(\1)", text)
