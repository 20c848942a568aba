"""Answers of a model without the form of a summary: a question, one word over and over, hardly any words."""

from __future__ import annotations

import regex

from gateway_compaction.core.text.lexicon import pattern_of

__all__ = ["is_question", "is_stutter", "says_too_little"]

# UTF-8 bytes up to which an answer that ends in a question may be only that: without tags, and within them.
SHORT_QUESTION = (1_000, 300)
# An answer of fewer words, without tags and within them, is believed as a fair part of what it stands for.
FEWEST_WORDS, FAIR_PART = (6, 2), 0.05
# So many words, or letters, of no more than two kinds are no text.
STUTTER_WORDS, STUTTER_LETTERS, STUTTER_KINDS = 8, 24, 2

QUESTION_END = regex.compile(r"[?？؟;]\W*+\Z")
SENTENCE = regex.compile(r"[^.!?。！？\n]++[.!?。！？]*+")
ASKING = regex.compile(rf"(?i)^[^\w¿]*+{pattern_of('question_starts')}")
READER = regex.compile(f"(?i){pattern_of('reader')}")
# Two or three characters of these scripts say as much as a word.
WORD = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}]{1,2}+|\p{Hangul}{1,3}+|\w++")


def is_question(text: str, *, tagged: bool) -> bool:
    """Whether a text, short as a whole, ends by asking who wanted a summary; ``tagged`` if in its tags."""
    if len(text.encode("utf-8", "replace")) > SHORT_QUESTION[tagged] or not QUESTION_END.search(text):
        return False
    sentences = [found.strip() for found in SENTENCE.findall(text) if WORD.search(found)]
    if not sentences or not ASKING.match(sentences[-1]):
        return False
    return len(sentences) == 1 or READER.search(sentences[-1]) is not None


def is_stutter(text: str) -> bool:
    """Whether a text is one or two words, or letters, over and over."""
    words = WORD.findall(text.lower())
    letters = "".join(words)
    few_words = len(words) >= STUTTER_WORDS and len(set(words)) <= STUTTER_KINDS
    return few_words or (len(letters) >= STUTTER_LETTERS and len(set(letters)) <= STUTTER_KINDS)


def says_too_little(text: str, part: float, *, tagged: bool) -> bool:
    """Whether a text that is so small a ``part`` of what it stands for has too few words to stand for it."""
    return part < FAIR_PART and len(WORD.findall(text)) < FEWEST_WORDS[tagged]
