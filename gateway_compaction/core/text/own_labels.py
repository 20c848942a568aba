"""Labels with which a user heads his own words: rules, notes, questions, and the reply to a tool that asks.

What such a label heads is the user's, although it is labelled.
"""

from __future__ import annotations

import regex

from gateway_compaction.core.text.fences import Span
from gateway_compaction.core.text.lexicon import pattern_of

RULES_HEAD = regex.compile(f"(?i){pattern_of('rule_headings')}")
# What names itself the user's: an instruction, a question, a note.
OWN_TAG = regex.compile(
    r"(?i)rule|instruction|guideline|constraint|requirement|reminder|important|note"
    r"|task|query|request|question|prompt|user|goal|objective|feedback"
)
# What a user says to a tool that asks him, as harnesses wrap it: "[attempt_completion] Result:", <feedback>.
OWN_LABEL = regex.compile(r"\s*+\[(?:attempt_completion|ask_followup_question)\b[^\n]*\] Result:")
OWN_REPLY = regex.compile(r"\s*+<(?:feedback|answer|user_message)>")


def find_own_label(text: str) -> list[Span]:
    """Return the label that a message begins with if it holds the user's reply to a tool that asks him."""
    label = OWN_LABEL.match(text)
    return [] if label is None else [label.span()]


def begins_as_own_reply(text: str) -> bool:
    """Tell whether a message begins with what a harness puts around the user's own words."""
    return OWN_LABEL.match(text) is not None or OWN_REPLY.match(text) is not None
