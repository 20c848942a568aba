"""The summary that needs no model: telling sentences and a ledger of identifiers, instantly.

Deterministic: the same messages and budget give the same text on every replica.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from gateway_compaction.core.ledger import Piece, density, ledger, listed, weights
from gateway_compaction.core.messages import Message
from gateway_compaction.core.salience import telling
from gateway_compaction.core.terms import search_terms

__all__ = ["extract"]

Count = Callable[[str], int]
DENSE = 5.0
LEDGER_SHARE, LIST_SHARE, LEAST_SHARE = 0.5, 0.25, 0.1


def extract(messages: Sequence[Message], max_tokens: int, count: Count) -> str:
    """At most ``max_tokens`` of what matters most in some messages, in time order.

    The denser identifiers stand in the messages, the more of the room is theirs: as lines that tell of them,
    then as a bare list of the next ones.
    """
    dense = min(1.0, density(messages) / DENSE)
    weight = weights(messages)
    pieces = ledger(messages, weight, int(max_tokens * max(LEAST_SHARE, LEDGER_SHARE * dense)), count)
    told = _told(pieces)
    names = listed(weight, told, int(max_tokens * LIST_SHARE * dense), count)
    room = max_tokens - count(told) - count(names)
    pieces += telling(messages, search_terms(told), room, count)
    return _fitted(pieces, names, max_tokens, count)


def _fitted(pieces: list[Piece], names: str, max_tokens: int, count: Count) -> str:
    """Lines cannot be counted one by one: what was chosen last goes where the whole is too long."""
    while True:
        text = "\n".join(part for part in (names, _told(pieces)) if part)
        if count(text) <= max_tokens or not (pieces or names):
            return text
        if pieces:
            pieces = pieces[:-1]
        else:
            names = ""


def _told(pieces: Sequence[Piece]) -> str:
    """Pieces in time order, one line for each message, the role where it changes."""
    lines: list[str] = []
    last, role = -1, ""
    for piece in sorted(pieces, key=lambda p: (p.message, p.place)):
        if piece.message == last and piece.text in lines[-1]:
            continue
        if piece.message == last:
            lines[-1] += " " + piece.text
        else:
            lines.append(piece.text if piece.role == role else f"[{piece.role}] {piece.text}")
        last, role = piece.message, piece.role
    return "\n".join(lines)
