"""Answers of a model that are no summary: refusals, error texts, and next to nothing.

A summary may begin like one of them ("Rate limiting was added to the gateway …"), so what a text begins with
counts only where the whole of it is short. In the tags that were asked for an answer is believed sooner.
"""

from __future__ import annotations

import regex

from gateway_compaction.core.text.lexicon import pattern_of

__all__ = ["is_no_summary"]

# UTF-8 bytes up to which an answer is short: without tags, and within them. A Chinese character says as much
# as three English ones.
SHORT_REFUSAL, SHORT_FAULT = (1_000, 300), (400, 160)

START = rf"(?i)^\W*+(?:{pattern_of('answer_labels')}\b\W++)?"
# What a program printed, whole; without tags it is never a summary, however long.
PRINTED = (
    r"(?:traceback \(most recent call last\)|traceback\W*+$|<!doctype\b|<html\b"
    r"|[\[{]\s*+(?:[\[{]\s*+)?\"(?:error|errors|detail|message|code|name|tool|function)\")"
)
IS_NOTHING = regex.compile(rf"(?i)^\W*+{pattern_of('nothing')}?\W*+$")
IS_REFUSAL = regex.compile(START + pattern_of("refusals"))
IS_FAULT = regex.compile(START + pattern_of("errors"))
IS_PRINTED = regex.compile(rf"(?i)^[^\w<\[{{]*+{PRINTED}")


def is_no_summary(text: str, *, tagged: bool) -> bool:
    """Whether a text is a refusal, an error text or next to nothing; ``tagged`` if it stood in its tags."""
    size = len(text.encode("utf-8", "replace"))
    return bool(
        IS_NOTHING.match(text)
        or (size <= SHORT_REFUSAL[tagged] and IS_REFUSAL.match(text))
        or (size <= SHORT_FAULT[tagged] and IS_FAULT.match(text))
        or ((size <= SHORT_REFUSAL[tagged] or not tagged) and IS_PRINTED.match(text))
    )
