"""Messages cut into passages that can be quoted: whole sentences, up to seventy words."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

from gateway_compaction.core.conversation.messages import Message, function_calls_of, text_of
from gateway_compaction.core.text.sentences import find_sentence_spans
from gateway_compaction.core.text.terms import extract_terms

SPACED = re.compile(r"\S+")
PASSAGE_WORDS = 70
UNSPACED_CHARS = 3


@dataclass(frozen=True, slots=True)
class Passage:
    """A verbatim piece of a message: ``text[start:end]``, its terms counted, its length in words."""

    start: int
    end: int
    text: str
    terms: Counter[str]
    words: int


def split_into_passages(message: Message) -> tuple[Passage, ...]:
    """The passages of a message's text, in order; they leave out nothing but blank space."""
    text = searchable_text_of(message)
    found: list[Passage] = []
    start, end, words = 0, 0, 0
    for first, last, size in _sentence_spans(text):
        if words and words + size > PASSAGE_WORDS:
            found.append(_to_passage(text, start, end, words))
            words = 0
        if not words:
            start = first
        end, words = last, words + size
    if words:
        found.append(_to_passage(text, start, end, words))
    return tuple(found)


def searchable_text_of(message: Message) -> str:
    """What of a message can be found and quoted: its text, and the arguments of its calls."""
    arguments = (call.arguments for call in function_calls_of(message))
    return "\n".join([text_of(message), *(a for a in arguments if isinstance(a, str))])


def _sentence_spans(text: str) -> list[tuple[int, int, int]]:
    """Spans with their length in words; a sentence that is too long is cut between words."""
    spans = []
    for first, last in find_sentence_spans(text):
        pieces = [m.span() for m in SPACED.finditer(text, first, last)]
        for i in range(0, len(pieces), PASSAGE_WORDS):
            part = pieces[i : i + PASSAGE_WORDS]
            spans.append((part[0][0], part[-1][1], _count_words(text, part)))
    return spans


def _count_words(text: str, pieces: list[tuple[int, int]]) -> int:
    # Scripts without spaces: three characters weigh as much as a word.
    return sum(1 if text[a:b].isascii() else max(1, (b - a) // UNSPACED_CHARS) for a, b in pieces)


def _to_passage(text: str, start: int, end: int, words: int) -> Passage:
    piece = text[start:end]
    return Passage(start, end, piece, Counter(extract_terms(piece)), words)
