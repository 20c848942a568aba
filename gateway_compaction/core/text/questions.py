"""Telling questions: the one place that says what asks something.

A question mark is not all: Japanese and Korean ask by the end of a verb, and many people type no marks.
"""

from __future__ import annotations

import regex

from gateway_compaction.core.text.lexicon import LEXICONS, pattern_of

# Closing quotes and brackets may stand behind the mark.
CLOSED = r"[\"'”’)\]」』]*"
ENDS = regex.compile(rf"(?:[?？؟]|{pattern_of('question_ends')}){CLOSED}\s*\Z")
MARKED = regex.compile(r"[?？؟;]\W*+\Z")
STARTS = regex.compile(rf"(?i)[^\w¿]*+{pattern_of('question_starts')}")
BARE = {
    lexicon.code: regex.compile(rf"(?i)[^\w¿]*+{pattern_of('bare_questions', [lexicon])}")
    for lexicon in LEXICONS
    if lexicon.bare_questions
}
# A question's end is looked for in so many last characters.
LONGEST_END = 14


def is_question(sentence: str) -> bool:
    """Tell whether a sentence asks, by its end."""
    return ENDS.search(sentence[-LONGEST_END:]) is not None


def is_unmarked_question(sentence: str, language: str) -> bool:
    """Tell whether a sentence of a language asks though it has no question mark, by its first or last words.

    Narrower than ``begins_as_question``: "What I want is short answers." is none.
    """
    bare = BARE.get(language)
    return bare is not None and bare.match(sentence) is not None


def ends_with_question_mark(text: str) -> bool:
    """Tell whether a text ends with a question mark of any script, whatever closes it."""
    return MARKED.search(text) is not None


def begins_as_question(sentence: str) -> bool:
    """Tell whether a sentence begins with a question word or a verb before its subject."""
    return STARTS.match(sentence) is not None
