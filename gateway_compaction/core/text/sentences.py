"""Sentences: the smallest pieces that are pinned, quoted or chosen for an extract.

A sentence cut at an abbreviation would be pinned in halves.
"""

from __future__ import annotations

import re

from gateway_compaction.core.text.lexicon import words_of

# A mark before a space ends a sentence, a CJK mark always does, and so does a line break.
END = re.compile(r"[.!?][\"'”’)\]]*(?=\s)|[。！？]|\n")
NEXT = re.compile(r"[^\S\n]{1,4}[\"'“‘„«(]?([^\W_]{1,14})")
# What stands before a full stop is read only so far.
LOOK_BACK = 24
OPENING = "([{\"'“‘„«*_"
# Behind these something follows, whatever it begins with.
ABBREVIATIONS = frozenset(words_of("abbreviations"))
STREET = ("str", "strasse")
# Behind these a sentence may end: it does before what usually begins one.
ENDINGS = frozenset(words_of("ending_abbreviations"))
STARTERS = frozenset(words_of("sentence_starters"))
MONTHS = frozenset(words_of("months"))
# A number with a full stop behind one of these is the third, not three.
BEFORE_ORDINALS = frozenset(words_of("before_ordinals"))
LONGEST_ORDINAL = 2


def find_sentence_spans(text: str) -> list[tuple[int, int]]:
    """Return start and end of every sentence, the blank space around it left out."""
    spans = []
    start = 0
    ends = (
        m.end() for m in END.finditer(text) if m[0][0] != "." or _is_sentence_end(text, m.start(), m.end())
    )
    for end in [*ends, len(text)]:
        piece = text[start:end]
        if stripped := piece.strip():
            first = start + piece.index(stripped[0])
            spans.append((first, first + len(stripped)))
        start = end
    return spans


def split_sentences(text: str) -> list[str]:
    """Return the sentences of a text, verbatim."""
    return [text[a:b] for a, b in find_sentence_spans(text)]


def _is_sentence_end(text: str, stop: int, after: int) -> bool:
    """Tell whether a full stop ends its sentence, and not an abbreviation, an initial or an ordinal."""
    following = NEXT.match(text, after)
    before = text[max(0, stop - LOOK_BACK) : stop]
    if following is None or after > stop + 1 or not before or not before[-1].isalnum():
        return True
    words = before.rsplit(None, 2)
    word, follows = words[-1].lstrip(OPENING).lower(), following[1]
    if word.isdigit():
        earlier = words[-2].lower() if len(words) > 1 else ""
        return not _is_ordinal(word, earlier, follows)
    if word in ABBREVIATIONS or (word.endswith(STREET) and follows[0].isdigit()):
        return False
    if word in ENDINGS or (len(word) == 1 and word != "i" and word.upper() != word):
        return not (follows[0].islower() or follows[0].isdigit()) and _is_sentence_start(word, follows)
    return word != "no" or not follows[0].isdigit()


def _is_sentence_start(word: str, follows: str) -> bool:
    """Tell whether a capitalised word behind a possible abbreviation begins a sentence."""
    return follows.lower() in STARTERS or (len(word) > 1 and word not in {"inc", "co", "st"})


def _is_ordinal(number: str, before: str, follows: str) -> bool:
    if len(number) > LONGEST_ORDINAL:
        return False
    return follows.lower() in MONTHS or follows[0].islower() or before in BEFORE_ORDINALS
