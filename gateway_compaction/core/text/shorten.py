"""Texts and messages made shorter: the head and the tail stay, a marker says what is missing.

The ends of a text say most: a request stands at one of them, an error at the other. Texts are cut
between characters as people see them, since half a flag or half an accent reads as damage.
"""

from __future__ import annotations

from collections.abc import Callable

import regex

from gateway_compaction.core.conversation.messages import (
    RESULT_ROLES,
    Message,
    declared_role,
    has_thinking_blocks,
    text_of,
    written_text_of,
)
from gateway_compaction.core.conversation.rewrite import count_texts, replace_content, replace_texts
from gateway_compaction.core.text.lexicon import pattern_of

Count = Callable[[str], int]
# A result of fewer tokens is not worth clearing: what stands for it takes up to some eighty.
CLEAR_ABOVE = 150
# Tokens of a cleared result that stay readable.
CLEARED_TOKENS = 60
# The preamble and what an unknown role says are never clipped.
CLIPPED_ROLES = frozenset({"user", "assistant"}) | RESULT_ROLES
# The share of what is left that stands before the marker.
HEAD_SHARE = 0.65
# Code points of one character as people see it; nobody writes longer ones but to break readers.
LONGEST_CHARACTER = 200
# Flags are pairs of letters: they are counted from where their run begins, but no further back than this.
LONGEST_RUN = 100_000
FLAG_LETTERS = "".join(map(chr, range(0x1F1E6, 0x1F200)))
ERROR_LINE = regex.compile(f"(?i){pattern_of('fault_words')}")


def shorten(text: str, max_tokens: int, count: Count, marker: str = "[… {n} tokens left out …]") -> str:
    """Return a text, or where it is too long its head and tail around a marker.

    Args:
        text: The text.
        max_tokens: The most that the result may count.
        count: Counts a text, in tokens or in whatever the limit is in.
        marker: Stands between head and tail; ``{n}`` in it is what is missing, by the same count.

    Returns:
        The same text where it fits; the marker alone where nothing else does; "" where not even that does.
    """
    tokens = count(text)
    if tokens <= max_tokens:
        return text
    sign = marker.format(n=tokens - max_tokens)
    room = max_tokens - count(sign) - 2
    while room > 0:
        chars = int(len(text) * room / tokens)
        head = _cut_head(text, int(chars * HEAD_SHARE))
        tail = _cut_tail(text, len(text) - (chars - int(chars * HEAD_SHARE)))
        short = f"{head}\n{sign}\n{tail}".strip()
        if count(short) <= max_tokens:
            return short
        room = int(room * 0.85)
    return sign if count(sign) <= max_tokens else ""


def _cut_head(text: str, end: int) -> str:
    start = _find_plain_start(text, max(0, end - 60))
    window = text[start : end + 20]
    edges = [start + m.end() for m in regex.finditer(r"\X", window) if start + m.end() <= end]
    edge = edges[-1] if edges else start
    space = text.rfind(" ", start, edge)
    line = text.rfind("\n", start, edge)
    return text[: max(line, space) if max(line, space) > 0 else edge].rstrip()


def _cut_tail(text: str, start: int) -> str:
    low = _find_plain_start(text, max(0, start - 20))
    window = text[low : start + 60]
    edges = [low + m.start() for m in regex.finditer(r"\X", window) if low + m.start() >= start]
    edge = edges[0] if edges else len(text)
    breaks = [i for i in (text.find(" ", edge, edge + 60), text.find("\n", edge, edge + 60)) if i >= 0]
    return text[min(breaks) if breaks else edge :].lstrip()


def _find_plain_start(text: str, index: int) -> int:
    """Return a place at or before an index from which on characters can be told apart."""
    start = index
    while index > max(0, start - LONGEST_CHARACTER) and not text[index].isascii():
        index -= 1
    # Two letters make a flag, so that their number before the place decides.
    run = text[max(0, index + 1 - LONGEST_RUN) : index + 1]
    letters = len(run) - len(run.rstrip(FLAG_LETTERS))
    return index if letters % 2 or not letters else index - 1


def clip_message(message: Message, max_tokens: int, count: Count) -> Message:
    """Return a message with its texts shortened to about ``max_tokens`` in all; calls are never touched.

    The same object comes back where it fits, and where it carries signed thinking: the signature covers the
    whole message, so that a provider would refuse another.
    """
    if has_thinking_blocks(message) or declared_role(message) not in CLIPPED_ROLES:
        return message
    share = max_tokens // count_texts(message)
    return replace_texts(message, lambda text: shorten(text, share, count))


def is_clearable(message: Message, count: Count) -> bool:
    """Tell whether a message is a tool result long enough to be worth clearing."""
    return declared_role(message) in RESULT_ROLES and count(written_text_of(message)) > CLEAR_ABOVE


def clear_result(message: Message, count: Count) -> Message:
    """Return a copy of a tool result that says how much was cleared; errors and both ends stay readable.

    Results are most of an agent's history and can be had again: clearing the old ones saves a summary.
    """
    text, written = text_of(message), written_text_of(message)
    errors = [line.strip()[:200] for line in text.splitlines() if ERROR_LINE.search(line)][:2]
    kept = shorten("\n".join([*errors, text]) if errors else text, CLEARED_TOKENS, count)
    size = f"{count(written)} tokens, {len(written.splitlines())} lines"
    cleared = f"[old tool result cleared to save room: {size}; call the tool again to see it]\n{kept}"
    return replace_content(message, cleared)
