"""Refusals of an answer that is asked for too long: no shorter conversation helps against them.

A provider has a limit of the answer beside that of the context, and says of both that tokens exceed a limit.
Taken for a refusal of the prompt, the limit of the answer would be learnt as the window, and every
conversation of the deployment be shortened to it. The two differ in what is said to be too much, and in the
number that refused: that of an answer is what the request itself asked for.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from gateway_compaction.core.tokens.refusal_numbers import ANSWER_FIELD, Told, list_told
from gateway_compaction.core.tokens.refusal_words import EXCESS, OUTPUT, TOO_LONG, WHAT_IS_LONG

# Of one sentence's part; thousands may be parted within.
_PART = r"(?:[^.,;。；，]|[.,]\d){0,60}?"
_OUTPUT = rf"(?:{OUTPUT})"
_MOST = r"\bmax(?:imum)?[ _-](?:new[ _-])?tokens\b"
# In the active voice: what *was exceeded* is the limit itself, and then comes what exceeded it.
_ACTIVE = rf"(?!{_PART}\bexceeded\s*(?:[^\w\s]|$))"
_EXCEEDS = (
    r"(?:\bexceeds?\b(?=\s+\w)|\bexceed(?:ed|ing)\s+(?!by\b|in\b|for\b)\w"
    rf"|\b(?:great|larg|long|high)er than\b|\bmore than\b|\babove\b|>|\btoo (?:large|high|many|big|long)\b"
    rf"|{TOO_LONG})"
)
_IS_TOO_MUCH = re.compile(rf"(?:{_MOST}|{_OUTPUT}){_ACTIVE}{_PART}{_EXCEEDS}", re.I)
_ABOVE_THE_MOST = re.compile(rf"{_EXCEEDS}{_PART}{_OUTPUT}", re.I)
# Behind an excess stands the limit; a sum is more than the answer.
_LIMIT_OR_SUM = re.compile(
    rf"(?:\bexceed\w*|\bthan\b|\bover\b|\+|\band\b|\bplus\b|\bsum\b|\btotal\b|{EXCESS}){_PART}$", re.I
)
_OF_PROMPT = re.compile(rf"{WHAT_IS_LONG}|\b(?:messages?|conversation|history)\b(?!['\"]?\s*[:=])", re.I)


def is_answer_refusal(text: str, *, asked: int = 0, sizes: Collection[int] = ()) -> bool:
    """Tell whether what an error text says is too much is the answer that was asked for, and it alone.

    Args:
        text: the message.
        asked: tokens of the answer that the request asked for, 0 where that is not known.
        sizes: tokens of the prompt by our own count, also with the answer's reserve; empty where unknown.
    """
    if _OF_PROMPT.search(text):
        return False
    words = ANSWER_FIELD.sub("maximum tokens", text)
    found = _IS_TOO_MUCH.search(words)
    if found and not _LIMIT_OR_SUM.search(words[: found.start()]):
        return True
    return bool(_ABOVE_THE_MOST.search(words)) or _is_what_was_asked(list_told(text, None), asked, sizes)


def _is_what_was_asked(told: Sequence[Told], asked: int, sizes: Collection[int]) -> bool:
    """Tell whether the number that is above a limit is the answer's, while the prompt fits that limit."""
    values = {number.value for number in told}
    limit = min(values, default=0)
    return values == {asked, limit} and min(sizes, default=0) < limit < asked
