"""Telling whether a sentence takes an earlier rule back, and what words it shares with that rule.

Without it "never use emojis" would be pinned for good, though the user asked for emojis later.
"""

from __future__ import annotations

import regex

from gateway_compaction.core.text.lexicon import cues_of, pattern_of, words_of
from gateway_compaction.core.text.questions import is_question
from gateway_compaction.core.text.terms import extract_terms

LONGEST_CHANGE = 300
# Marks that nothing else is needed beside.
PLAIN = regex.compile(f"(?i){pattern_of('withdrawals')}")
# Marks that may stand in any tale: only beside a wish or a leave.
VAGUE = regex.compile(f"(?i){pattern_of('vague_withdrawals')}")
REQUEST_NOTICE = regex.compile(
    rf"(?i)^\W*(?:{pattern_of('interjections')}[, ]+)*{pattern_of('requests')}\b|{pattern_of('permissions')}"
)
TELLS = regex.compile(rf"(?i)^\W*{pattern_of('withdrawal_tales')}")
# No change without one of these: most sentences are told by looking for them alone.
CUES = cues_of("withdrawal_cues")
HANGUL = regex.compile(r"\p{Hangul}{2,}")
HAN = regex.compile(r"[\p{Han}\p{Katakana}ー]{2,}")
SPACELESS = regex.compile(r"[\p{Han}\p{Hangul}\p{Katakana}\p{Hiragana}]++")
# Said in rules and changes of every kind.
IDLE = frozenset(extract_terms(" ".join(words_of("idle_words"))))


def may_change_rule(said: str) -> bool:
    """Tell whether a sentence may take an earlier rule back, or change it."""
    if len(said) > LONGEST_CHANGE or is_question(said):
        return False
    lower = said.lower()
    if not any(cue in lower for cue in CUES) or TELLS.match(said):
        return False
    return bool(PLAIN.search(said) or (VAGUE.search(said) and REQUEST_NOTICE.search(said)))


def extract_content_words(said: str) -> frozenset[str]:
    """Return what a sentence is about: terms, beginnings of Korean words, pairs of Han and kana."""
    words = {w[:2] for w in HANGUL.findall(said)}
    words |= {run[i : i + 2] for run in HAN.findall(said) for i in range(len(run) - 1)}
    return frozenset(words.union(extract_terms(SPACELESS.sub(" ", said))) - IDLE)
