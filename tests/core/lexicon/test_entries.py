"""Every entry of the lexicon takes the example that it must take, and leaves the one that it must leave."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields

import pytest
import regex

from gateway_compaction.core.text.lexicon import LEXICONS, Entry, Lexicon, RuleWords, cues_of, entries_of

# Patterns that stand at the beginning of a text or of a clause, and those that are all of a text.
AT_START = frozenset(
    "answer_labels appeals bare_questions cases errors faults fresh_starts interjections politeness"
    " question_starts refusals requests withdrawal_tales".split()
)
RULES_AT_START = frozenset("bans headless leads orders plain polite wishes".split())
WHOLE = frozenset("nothing own_person rules.tags conjunctions".split())
CUED = {
    "anchor_cues": ("reminders", "decisions"),
    "finding_cues": ("findings",),
    "withdrawal_cues": ("withdrawals", "vague_withdrawals"),
}


def subjects() -> Iterator[str]:
    """Give the names of all subjects that consist of entries."""
    sample = LEXICONS[0]
    yield from (f.name for f in fields(Lexicon) if isinstance(getattr(sample, f.name), tuple))
    yield from (f"rules.{f.name}" for f in fields(RuleWords) if f.name != "anywhere")


def matches(lexicon: Lexicon, subject: str, entry: Entry, text: str) -> bool:
    """Tell whether an entry matches a text where its subject looks for it."""
    if subject in WHOLE:
        pattern = rf"^\W*(?:{entry.pattern})\W*$"
    elif subject in AT_START or (not lexicon.rules.anywhere and subject[len("rules.") :] in RULES_AT_START):
        pattern = rf"^\W*(?:{entry.pattern})"
    else:
        pattern = entry.pattern
    return regex.search(f"(?i){pattern}", text) is not None


ENTRIES = [
    (lexicon, subject, entry)
    for lexicon in LEXICONS
    for subject in subjects()
    for entry in entries_of(subject, [lexicon])
]


@pytest.mark.parametrize("lexicon", LEXICONS, ids=lambda lexicon: lexicon.name)
def test_entries_take_and_leave_what_they_say(lexicon: Lexicon) -> None:
    own = [(subject, entry) for owner, subject, entry in ENTRIES if owner is lexicon]
    untold = [entry.pattern for _, entry in own if not entry.takes or not entry.leaves]
    not_taken = [e.takes for subject, e in own if not matches(lexicon, subject, e, e.takes)]
    not_left = [e.leaves for subject, e in own if matches(lexicon, subject, e, e.leaves)]
    assert (untold, not_taken, not_left) == ([], [], [])


@pytest.mark.parametrize("subject", sorted(CUED))
def test_what_an_entry_takes_holds_a_cue(subject: str) -> None:
    """Texts without a cue are never looked at: an entry whose example has none would never be used."""
    cues = cues_of(subject)
    told = [entry.takes for cued in CUED[subject] for entry in entries_of(cued)]
    assert [text for text in told if not any(cue in text.lower() for cue in cues)] == []


def test_rules_are_written_in_lower_case() -> None:
    """Sentences are put in lower case before they are read for rules: a capital would never match."""
    names = [s for s in subjects() if s.startswith("rules.") and s.split(".")[1] not in ("tags", "plain")]
    told = [(s, e.pattern) for s in names for e in entries_of(s)]
    capital = regex.compile(r"(?<!\\)(?<!\\[pP]\{)\p{Lu}")
    assert [pattern for _, pattern in told if capital.search(pattern)] == []


def test_a_language_has_one_lexicon() -> None:
    codes = [lexicon.code for lexicon in LEXICONS]
    assert len(codes) == len(set(codes))
