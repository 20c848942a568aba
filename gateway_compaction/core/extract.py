"""The summary that needs no model: telling sentences and a ledger of identifiers, instantly.

Deterministic: the same messages and budget give the same text on every replica.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from gateway_compaction.core.ledger import Piece, Source, density, ledger, listed, sources, weights
from gateway_compaction.core.messages import Message
from gateway_compaction.core.prompts import defused
from gateway_compaction.core.salience import Spoken, spoken, telling
from gateway_compaction.core.terms import search_terms

__all__ = ["Reading", "extract", "read"]

Count = Callable[[str], int]
DENSE = 4.0
SPARE = 1.2
LEDGER_SHARE, LIST_SHARE, LEAST_SHARE = 0.8, 0.2, 0.05


@dataclass(frozen=True, slots=True)
class Reading:
    """What there is in one message; depends on nothing else, so that it can be kept for the next request."""

    sources: tuple[Source, ...]
    spoken: Spoken


def read(message: Message) -> Reading:
    """Look through one message."""
    return Reading(sources(message), spoken(message))


def extract(
    messages: Sequence[Message], max_tokens: int, count: Count, readings: Sequence[Reading] | None = None
) -> str:
    """At most ``max_tokens`` of what matters most in some messages, in time order.

    The denser identifiers stand in the messages, the more of the room is theirs: as lines that tell of them,
    then as a bare list of the next ones. ``readings`` are those of the messages, where they are known.
    """
    if readings is None:
        readings = [read(message) for message in messages]
    found = [r.sources for r in readings]
    dense = min(1.0, density(found) / DENSE)
    weight = weights(found)
    pieces = ledger(found, weight, int(max_tokens * max(LEAST_SHARE, LEDGER_SHARE * dense)), count)
    told = _told(pieces)
    names = listed(weight, told, int(max_tokens * LIST_SHARE * dense), count)
    room = max_tokens - count(told) - count(names)
    heard = [r.spoken for r in readings]
    pieces += telling(messages, heard, search_terms(told), int(room * SPARE), count)
    return _fitted(pieces, names, max_tokens, count)


def _fitted(pieces: Sequence[Piece], names: str, max_tokens: int, count: Count) -> str:
    """As many pieces as fit together, first chosen first: one by one they seem to need more."""

    def text(number: int) -> str:
        return "\n".join(part for part in (names, _told(pieces[:number])) if part)

    fitting, too_many = 0, len(pieces) + 1
    while too_many - fitting > 1:
        middle = (fitting + too_many) // 2
        if count(text(middle)) <= max_tokens:
            fitting = middle
        else:
            too_many = middle
    told = text(fitting)
    return told if count(told) <= max_tokens else ""


def _told(pieces: Sequence[Piece]) -> str:
    """Pieces in time order, the role where it changes; sentences of one message stay on one line."""
    lines: list[str] = []
    last: Piece | None = None
    for piece in sorted(pieces, key=lambda p: (p.message, p.place)):
        same = last is not None and last.message == piece.message
        # The labels are ours: what was said must not pass for one.
        text = defused(piece.text)
        if same and text in lines[-1]:
            continue
        if same and piece.prose:
            lines[-1] += " " + text
        elif last is not None and last.role == piece.role:
            lines.append(text)
        else:
            lines.append(f"[{piece.role}] {text}")
        last = piece
    return "\n".join(lines)
