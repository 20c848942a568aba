"""Terms: words as search sees them.

No stop words, one form of a word, and pairs of characters in scripts that put no spaces between words.
"""

from __future__ import annotations

import re
from functools import lru_cache

import Stemmer

from gateway_compaction.core.text.lexicon import words_of

WORD = re.compile(r"[^\W_]+(?:['’][^\W\d_]+)?")
# Thai, kana, Han and Hangul: Korean is spaced, but its particles hang on the words.
UNSPACED = re.compile("[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]+")
# Characters: what is longer is data, not a word.
LONGEST_WORD = 40
STOP_WORDS = frozenset(words_of("stop_words"))
# Without words of its own: what is remembered is `_to_term`'s, and can be dropped.
_stemmer = Stemmer.Stemmer("english", 0)


def forget_terms() -> None:
    """Drop what is remembered about words: they are tenants' own, and take memory."""
    _to_term.cache_clear()


@lru_cache(maxsize=100_000)
def _to_term(word: str) -> str | None:
    """Return the term of a word, or None where it says nothing."""
    lower = word.lower().replace("’", "'")
    bare = lower.removesuffix("'s").replace("'", "")
    if bare in STOP_WORDS or len(bare) > LONGEST_WORD or (len(bare) < 2 and not bare.isdigit()):
        return None
    return str(_stemmer.stemWord(bare)) if bare.isascii() and bare.isalpha() else bare


def extract_terms(text: str) -> list[str]:
    """Return the terms of a text, in order, with repetitions."""
    if text.isascii():
        return _extract_spaced(text)
    terms = _extract_spaced(UNSPACED.sub(" ", text))
    for run in UNSPACED.findall(text):
        terms += [run[i : i + 2] for i in range(len(run) - 1)] or [run]
    return terms


def _extract_spaced(text: str) -> list[str]:
    # Longer words are never looked at, so that nothing large is remembered; a possessive's "'s" goes anyway.
    words = (w for w in WORD.findall(text) if len(w) <= LONGEST_WORD + 2)
    return [t for w in words if (t := _to_term(w)) is not None]
