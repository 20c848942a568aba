"""Tell whether a summary says something about an identifier, or only lists it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from gateway_compaction.core.conversation.messages import Message
from gateway_compaction.core.text.identifiers import is_spelled_in
from gateway_compaction.evaluation.needs import text_with_arguments

NEAR, SHARED = 5, 3


def names_in_context(summary: str, source: Sequence[Message], names: Iterable[str]) -> set[str]:
    """Return those of ``names`` that a summary tells of: with words that stand beside them in the source as
    well.

    Beside means up to five words before and behind, on the same line. Three must be shared, or all where the
    line has fewer; where it has none, there is no context.
    """
    told = summary.splitlines()
    lines = [line for message in source for line in text_with_arguments(message).splitlines()]
    return {name for name in names if _is_in_context(name, told, lines)}


def _is_in_context(name: str, told: Sequence[str], lines: Sequence[str]) -> bool:
    kept = [around for line in told for around in _words_around(name, line)]
    if not kept:
        return False
    origins = (around for line in lines for around in _words_around(name, line) if around)
    return any(len(one & other) >= min(SHARED, len(other)) for other in origins for one in kept)


def _words_around(name: str, line: str) -> list[frozenset[str]]:
    """Return the words beside every occurrence of a name."""
    if name not in line:
        return []
    words = line.split()
    places = [i for i, word in enumerate(words) if name in word and is_spelled_in(name, word)]
    return [frozenset([*words[max(0, i - NEAR) : i], *words[i + 1 : i + 1 + NEAR]]) for i in places]
