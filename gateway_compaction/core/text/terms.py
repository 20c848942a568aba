"""Words as search sees them: no stop words, one form of a word, character pairs where nothing is spaced."""

from __future__ import annotations

import re
from functools import lru_cache

import Stemmer

from gateway_compaction.core.text.lexicon import words_of

WORD = re.compile(r"[^\W_]+(?:['’][^\W\d_]+)?")
# Thai, kana, Han and Hangul: Korean is spaced, but its particles hang on the words.
UNSPACED = re.compile("[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]+")
LONGEST_WORD = 40
STOP_WORDS = frozenset(words_of("stop_words"))
# Without words of its own: what is remembered is `_term`'s, and can be dropped.
_stemmer = Stemmer.Stemmer("english", 0)


def forget_terms() -> None:
    """Drop the words that were looked at."""
    _term.cache_clear()


@lru_cache(maxsize=100_000)
def _term(word: str) -> str | None:
    """One index term for a word, or None where it says nothing."""
    lower = word.lower().replace("’", "'")
    bare = lower.removesuffix("'s").replace("'", "")
    if bare in STOP_WORDS or len(bare) > LONGEST_WORD or (len(bare) < 2 and not bare.isdigit()):
        return None
    return str(_stemmer.stemWord(bare)) if bare.isascii() and bare.isalpha() else bare


def extract_terms(text: str) -> list[str]:
    """Index terms of a text, in order, repetitions kept."""
    if text.isascii():
        return _terms_of(text)
    terms = _terms_of(UNSPACED.sub(" ", text))
    for run in UNSPACED.findall(text):
        terms += [run[i : i + 2] for i in range(len(run) - 1)] or [run]
    return terms


def _terms_of(text: str) -> list[str]:
    # Longer words are never looked at, so that nothing large is remembered; a possessive's "'s" goes anyway.
    words = (w for w in WORD.findall(text) if len(w) <= LONGEST_WORD + 2)
    return [t for w in words if (t := _term(w)) is not None]
