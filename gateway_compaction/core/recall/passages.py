"""Passages: the pieces of messages that can be found and quoted, whole sentences up to seventy words."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from gateway_compaction.core.conversation.messages import (
    Message,
    brought_spans_of,
    calls_of,
    spell_arguments,
    told_text_of,
)
from gateway_compaction.core.text.sentences import find_sentence_spans
from gateway_compaction.core.text.terms import extract_terms

SPACED = re.compile(r"\S+")
# A few sentences: enough to be understood alone, and short enough that a quote holds several.
PASSAGE_WORDS = 70
# In scripts without spaces three characters weigh as much as a word.
UNSPACED_CHARS = 3


@dataclass(frozen=True, slots=True)
class Passage:
    """A verbatim piece of a message.

    Attributes:
        start: where it begins in ``searchable_text_of`` the message.
        end: where it ends there.
        text: the piece itself.
        terms: its search terms, each with how often it occurs.
        words: its length in words.
        is_brought_in: a part of the message brought it, such as the result of a provider's tool.
    """

    start: int
    end: int
    text: str
    terms: Mapping[str, int]
    words: int
    is_brought_in: bool = False


def split_into_passages(message: Message) -> tuple[Passage, ...]:
    """Return the passages of a message, in order; they leave out nothing but blank space."""
    text = searchable_text_of(message)
    brought_in = brought_spans_of(message)
    passages: list[Passage] = []
    start, end, words, source = 0, 0, 0, False
    for first, last, length in _split_sentences(text):
        now = any(a <= first < b for a, b in brought_in)
        if words and (words + length > PASSAGE_WORDS or now is not source):
            passages.append(_to_passage(text, (start, end), words, is_brought_in=source))
            words = 0
        if not words:
            start, source = first, now
        end, words = last, words + length
    if words:
        passages.append(_to_passage(text, (start, end), words, is_brought_in=source))
    return tuple(passages)


def searchable_text_of(message: Message) -> str:
    """Return what of a message can be found and quoted: its text, results, and the arguments of its calls."""
    arguments = (entry for call in calls_of(message) for entry in spell_arguments(call))
    return "\n".join([told_text_of(message), *arguments])


def _split_sentences(text: str) -> list[tuple[int, int, int]]:
    """Return sentences as start, end and length in words; one that is too long is cut between words."""
    sentences = []
    for first, last in find_sentence_spans(text):
        spans = [m.span() for m in SPACED.finditer(text, first, last)]
        for i in range(0, len(spans), PASSAGE_WORDS):
            part = spans[i : i + PASSAGE_WORDS]
            sentences.append((part[0][0], part[-1][1], _count_words(text, part)))
    return sentences


def _count_words(text: str, spans: list[tuple[int, int]]) -> int:
    return sum(1 if text[a:b].isascii() else max(1, (b - a) // UNSPACED_CHARS) for a, b in spans)


def _to_passage(text: str, span: tuple[int, int], words: int, *, is_brought_in: bool) -> Passage:
    piece = text[slice(*span)]
    # Of a plain dictionary of texts and numbers the garbage collector looks at no entry. A full collection
    # goes through the passages of all long conversations, and holds up all requests meanwhile.
    return Passage(*span, piece, dict(Counter(extract_terms(piece))), words, is_brought_in)
