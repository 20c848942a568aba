"""Whether a summary says something about an identifier, or only lists it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from gateway_compaction.core.identifiers import spelled_in
from gateway_compaction.core.messages import Message
from gateway_compaction.evaluation.needs import written

__all__ = ["in_context"]

NEAR, SHARED = 5, 3


def in_context(summary: str, source: Sequence[Message], names: Iterable[str]) -> set[str]:
    """Those of ``names`` that stand in the summary beside at least three of the words, up to five before and
    five behind, that they stand beside somewhere in the source."""
    told = summary.split()
    texts = [(text, text.split()) for text in map(written, source)]
    return {name for name in names if _told(name, told, texts)}


def _told(name: str, told: Sequence[str], texts: Sequence[tuple[str, Sequence[str]]]) -> bool:
    kept = _around(name, told)
    if not kept:
        return False
    origins = (around for text, words in texts if name in text for around in _around(name, words))
    return any(len(one & other) >= SHARED for other in origins for one in kept)


def _around(name: str, words: Sequence[str]) -> list[frozenset[str]]:
    """The words beside every occurrence of a name."""
    places = [i for i, word in enumerate(words) if name in word and spelled_in(name, word)]
    return [frozenset([*words[max(0, i - NEAR) : i], *words[i + 1 : i + 1 + NEAR]]) for i in places]
