"""Prompts of a retrieval: a question, and the material that it is to be answered from."""

from __future__ import annotations

from collections.abc import Sequence

import regex

from gateway_compaction.core.text.fences import Span
from gateway_compaction.core.text.lexicon import pattern_of
from gateway_compaction.core.text.own_labels import OWN_TAG

# A prompt of a retrieval: what is to be answered, and the line that names the material it is answered from.
QUESTION_LABEL = r"^[ \t#*]*+(?:(?:\p{L}+(?:'s)? )?(?:question|query)|q|user(?:'s)? input)[ \t*]*+(?::|$)"
ASKS_BY_LABEL = regex.compile(f"(?mi){QUESTION_LABEL}")
ASKS_OF_MATERIAL = regex.compile(
    r"(?mi)\banswer(?:ing|s)? (?:[\w'’]++ ){0,4}?(?:questions?|query)\b|question-answering"
    rf"|{QUESTION_LABEL}"
)
# Where the question has a label, so has the material, whatever that calls it: "Knowledge base:" on a line of
# its own, or with more than a sentence behind it. What a person heads so is about the manner of the answer,
# about himself, or names itself a rule.
SECTION = regex.compile(
    r"[ \t#*]*+(\p{L}[\p{L} ]{2,30})[ \t*]*+:(?:[ \t*]*$|[ \t]+[^\n]*?[^\W\d_]{2}[.!?。！？]\s?\w)"
    r"|[ \t]*#{1,6} (\p{L}[\p{L} ]{2,30})[ \t]*$"
)
OF_INSTRUCTION = regex.compile(
    rf"(?i){OWN_TAG.pattern[4:]}|{pattern_of('rule_headings')}|{pattern_of('rules.manner')}"
    r"|\b(?:my|me|our|i|we|you|your|answers?|output|style|language)\b"
)
KINDS_OF_MATERIAL = (
    r"(?:context|information|documents?|passages?|sources?|excerpts?|search results|results|pieces|chunks?"
    r"|snippets?|articles?|references|paragraphs?)"
)
NAMES_MATERIAL = regex.compile(
    rf"(?i)(?:following|below|these|provided|retrieved|given|(?P<above>above))\b"
    rf"(?:[^.:\n]{{0,40}}?\s|\s){KINDS_OF_MATERIAL}\b"
    rf"|\b(?:{KINDS_OF_MATERIAL}|text)\b[^.:\n]{{0,30}}?\s(?:below|following|(?P<before>above))\b"
    rf"|[ \t#*\[]*+{KINDS_OF_MATERIAL}(?: ?\d+)?[ \t*\]]*+(?P<label>:|$)"
)
# What the user tells himself is none: "my documents", "the information I gave".
OF_USER = regex.compile(
    rf"(?i)\b(?:my|our) (?:\w+ )?{KINDS_OF_MATERIAL}\b"
    rf"|\b{KINDS_OF_MATERIAL}\b[^.\n]{{0,20}}\b(?:i|we|me|us)\b"
)


def find_material(
    text: str, shown: Sequence[str], lines: Sequence[Span], first: int
) -> tuple[int, list[Span]]:
    """Find the material of a retrieval's prompt: a line names it, and a question is to be answered from it.

    Returns:
        The first line from which on all is brought in, ``first`` if that is earlier; and what stands before
        the line where that says that the material is above it.
    """
    # Most texts hold none of these, and need no closer look.
    if not any(word in text for word in ("nswer", "uestion:", "uestion\n", "UESTION", "uery:", "Q:")):
        return first, []
    if ASKS_OF_MATERIAL.search(text) is None:
        return first, []
    asked = ASKS_BY_LABEL.search(text)
    for i in range(first):
        section = SECTION.match(shown[i]) if asked is not None and lines[i][1] < asked.start() else None
        if section is not None and not OF_INSTRUCTION.search(section[1] or section[2]):
            return i, []
        named = NAMES_MATERIAL.search(shown[i])
        if named is None or OF_USER.search(shown[i]):
            continue
        if named["above"] or named["before"]:
            return first, [(0, lines[i][0])]
        return (i if named["label"] == ":" else min(i + 1, first)), []
    return first, []
