"""Every list of words or patterns of a natural language, by language and subject.

A language is a ``Lexicon`` in a file of its own, named in ``LEXICONS`` below. It may lack subjects; languages
of which little is known stand together in ``others``. The logic that uses a subject (``core.pins.rules`` uses
``rules``, say) joins the lists of all languages by ``pattern_of`` or ``words_of`` and holds no words of a
language itself, so that what is missing in a language, or wrong in it, is found and mended in one place.

An *entry* is a pattern with a text that it must match and one that it must not; a test runs them all. A *cue*
is a plain string without which nothing of a subject can be there: looking for cues first spares most text the
patterns. Imports nothing.

To add a language:

1. Write its file and name it in ``LEXICONS``, with the code that py3langid has for it: by that it is told
   (``core.text.language``). Take its name out of ``_FURTHER`` there; a new script needs a line in
   ``_SCRIPTS``.
2. For standing rules write a file in ``rules``, and labelled texts in tests/core/lexicon: its ``SKETCHED``
   names them, and ``FLOORS`` of its test_rules.py says how well they must be judged. That test fails without
   them. A script without spaces between words also needs a place in ``_choose_grammars`` of
   ``core.pins.rules`` and in ``UNSPACED`` of ``core.text.terms``.
3. Correct how many languages docs/memory.md and docs/policies.md tell of.

Providers' errors are another matter: ``core.tokens.refusal_words`` has the words that tell of a length.
"""

from __future__ import annotations

from collections.abc import Iterable
from operator import attrgetter

from gateway_compaction.core.text.lexicon.chinese import CHINESE
from gateway_compaction.core.text.lexicon.dutch import DUTCH
from gateway_compaction.core.text.lexicon.english import ENGLISH
from gateway_compaction.core.text.lexicon.entry import Entry, Lexicon, Phrases, RuleWords
from gateway_compaction.core.text.lexicon.french import FRENCH
from gateway_compaction.core.text.lexicon.german import GERMAN
from gateway_compaction.core.text.lexicon.italian import ITALIAN
from gateway_compaction.core.text.lexicon.japanese import JAPANESE
from gateway_compaction.core.text.lexicon.korean import KOREAN
from gateway_compaction.core.text.lexicon.others import (
    ARABIC,
    GREEK,
    HEBREW,
    HINDI,
    POLISH,
    RUSSIAN,
    THAI,
    TURKISH,
    VIETNAMESE,
)
from gateway_compaction.core.text.lexicon.portuguese import PORTUGUESE
from gateway_compaction.core.text.lexicon.spanish import SPANISH

__all__ = [
    "LEXICONS",
    "Entry",
    "Lexicon",
    "Phrases",
    "RuleWords",
    "cues_of",
    "entries_of",
    "pattern_of",
    "words_of",
]

# The patterns of a subject are joined in this order: of two that match at one place, the first one does.
LEXICONS = (
    ENGLISH,
    KOREAN,
    JAPANESE,
    CHINESE,
    GERMAN,
    FRENCH,
    SPANISH,
    PORTUGUESE,
    ITALIAN,
    DUTCH,
    TURKISH,
    POLISH,
    VIETNAMESE,
    RUSSIAN,
    ARABIC,
    HEBREW,
    THAI,
    HINDI,
    GREEK,
)


NOTHING = "(?!)"


def entries_of(subject: str, lexicons: Iterable[Lexicon] = LEXICONS) -> list[Entry]:
    """Return the entries of a subject, such as ``decisions`` or ``rules.orders``, in all the languages."""
    return [entry for lexicon in lexicons for entry in attrgetter(subject)(lexicon)]


def pattern_of(subject: str, lexicons: Iterable[Lexicon] = LEXICONS) -> str:
    """Return a group that matches whatever an entry of a subject matches; nothing where there are none."""
    patterns = [entry.pattern for entry in entries_of(subject, lexicons)]
    return "(?:" + "|".join(patterns or [NOTHING]) + ")"


def words_of(subject: str) -> list[str]:
    """Return the words of a subject in all languages."""
    return [word for lexicon in LEXICONS for word in getattr(lexicon, subject).split()]


def cues_of(subject: str) -> tuple[str, ...]:
    """Return the cues of a subject in all languages."""
    return tuple(cue for lexicon in LEXICONS for cue in getattr(lexicon, subject).split("|") if cue)
