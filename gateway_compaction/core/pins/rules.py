"""By which words a sentence lays down a rule, in several languages."""

from __future__ import annotations

from collections.abc import Iterator

import regex

from gateway_compaction.core.text.lexicon import LEXICONS, pattern_of

__all__ = ["lays_down_a_rule", "poses"]

# The orders that may be put as a question, politely.
POLITE = regex.compile(rf"(?i)^\W*{pattern_of('polite_rules')}")
CASELESS = regex.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]")
HANGUL = regex.compile(r"\p{Hangul}")
KANA = regex.compile(r"[\p{Hiragana}\p{Katakana}]")
RULES = {
    lexicon.script: regex.compile(pattern_of("rules", [lexicon]))
    for lexicon in LEXICONS
    if lexicon.rules and lexicon.script != "Latin"
}
# No rule of a language without one of its cues: most sentences are told by looking for them alone.
SPACED = tuple(
    (regex.compile(f"(?i){pattern_of('rules', [lexicon])}"), tuple(lexicon.rule_cues.split("|")))
    for lexicon in LEXICONS
    if lexicon.rules and lexicon.script == "Latin"
)
# What somebody tells of himself or of others, though it goes on like an order: "I keep going and never quit".
TELLS = regex.compile(f"(?i){pattern_of('tales')}")
# Words for the one who summarises, or in the name of somebody with more authority.
POSES = regex.compile(f"(?i){pattern_of('impostures')}")


def poses(said: str) -> bool:
    """Whether a sentence speaks to the one who summarises, or in somebody else's name."""
    return POSES.search(said) is not None


def lays_down_a_rule(said: str) -> bool:
    """Whether a sentence orders something that is meant to last."""
    if said.rstrip().endswith(("?", "？")):
        return POLITE.search(said) is not None and not poses(said)
    return any(p.search(said) for p in _patterns(said)) and not (TELLS.search(said) or poses(said))


def _patterns(said: str) -> Iterator[regex.Pattern[str]]:
    """The patterns of the languages that a sentence may be written in, as its script and its words tell."""
    if CASELESS.search(said):
        yield RULES["Hangul" if HANGUL.search(said) else "Kana" if KANA.search(said) else "Han"]
    lower = said.lower()
    for pattern, cues in SPACED:
        if any(cue in lower for cue in cues):
            yield pattern
