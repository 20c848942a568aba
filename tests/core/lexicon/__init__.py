"""Texts of users in fourteen languages, each labelled with the standing rules that stand in it.

A standing rule is a sentence that tells how to work or answer from now on. An order for the present request
alone is none, nor is what somebody else said, what stands in code or a document, or what takes a rule back.
The half ``tune`` may be looked at while patterns are changed, the half ``held`` only judges them.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

__all__ = ["CLAIMED", "KINDS", "LATER", "SKETCHED", "SPLITS", "Labelled", "labelled"]

# The languages whose rules were looked for when these texts were written, and those that came later.
CLAIMED = ("en", "de", "fr", "es", "ko", "ja", "zh")
LATER = ("it", "pt", "nl")
# Languages of which less is known: their texts were looked at while the patterns were written.
SKETCHED = ("ru", "pl", "tr", "ar")
KINDS = ("rule", "question", "one_off", "quotation", "code", "tale", "withdrawal", "small_talk")
SPLITS = ("tune", "held")
HERE = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Labelled:
    """A user's text, the sentences of it that are standing rules, its kind and its half of the set."""

    text: str
    rules: tuple[str, ...]
    kind: str
    split: str


def labelled(language: str) -> tuple[Labelled, ...]:
    """The labelled texts of a language, in order; what contradicts itself is an error."""
    lines = (HERE / f"labelled_{language}.jsonl").read_text(encoding="utf-8").split("\n")
    return tuple(_read(json.loads(line)) for line in lines if line)


def _read(row: dict[str, object]) -> Labelled:
    text, rules, kind, split = row["text"], row["rules"], row["kind"], row["split"]
    if not isinstance(text, str) or not isinstance(rules, list) or kind not in KINDS or split not in SPLITS:
        raise ValueError(f"not a labelled text: {row}")
    if any(rule not in text for rule in rules) or bool(rules) != (kind == "rule"):
        raise ValueError(f"the rules do not fit the text: {row}")
    return Labelled(text, tuple(map(str, rules)), str(kind), str(split))
