"""The summary that needs no model: telling sentences and a ledger of identifiers, instantly.

Deterministic: the same messages and budget give the same text on every replica.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from gateway_compaction.core.conversation.messages import Message
from gateway_compaction.core.extractive.identifier_ledger import (
    Piece,
    Source,
    density,
    ledger,
    listed,
    sources,
    weights,
)
from gateway_compaction.core.extractive.salience import (
    Spoken,
    asked_for,
    lasting,
    share_of_talk,
    spoken,
    talk_of,
    telling,
)
from gateway_compaction.core.text.escaping import escape_markup
from gateway_compaction.core.text.identifiers import find_identifiers
from gateway_compaction.core.text.terms import extract_terms

__all__ = ["Reading", "extract", "read"]

Count = Callable[[str], int]
DENSE = 4.0
# Pieces seem to need more one by one than they do together.
SPARE, SPARE_TOKENS = 1.2, 6
LEDGER_SHARE, LIST_SHARE, LEAST_SHARE = 0.8, 0.2, 0.05
# Of a dialogue: for what is open, and for all that users tell, what is open included.
OPEN_SHARE, USER_SHARE, CALLING, DIALOGUE = 0.2, 0.35, 1.5, 0.4


@dataclass(frozen=True, slots=True)
class Reading:
    """What there is in one message; depends on nothing else, so that it can be kept for the next request."""

    sources: tuple[Source, ...]
    spoken: Spoken


def read(message: Message) -> Reading:
    """Look through one message."""
    return Reading(sources(message), spoken(message))


def extract(
    messages: Sequence[Message],
    max_tokens: int,
    count: Count,
    readings: Sequence[Reading] | None = None,
    shown: str = "",
) -> str:
    """At most ``max_tokens`` of what matters most in some messages, in time order.

    The more of a dialogue they are, the more of the room is kept for what users asked for and have not got,
    and for what they tell. The denser identifiers stand elsewhere, the more of it is theirs: as lines that
    tell of them, then as a bare list of the next ones. ``readings`` are those of the messages, where known.
    What stands in the text ``shown`` is read beside the extract, and so not told in it.
    """
    if readings is None:
        readings = [read(message) for message in messages]
    found, heard = [r.sources for r in readings], [r.spoken for r in readings]
    dense = min(1.0, density(found) / DENSE)
    talk, talks = talk_of(messages, heard, dense), share_of_talk(heard)
    known = extract_terms(shown)
    # With a call in each turn a dialogue is one still.
    own = min(1.0, CALLING * talks)
    pieces = asked_for(talk, heard, int(max_tokens * OPEN_SHARE * own), count)
    left = int(max_tokens * USER_SHARE * own) - count(_told(pieces))
    pieces += lasting(talk, [*known, *extract_terms(_told(pieces))], left, count, shown)
    there = frozenset(find_identifiers(shown))
    weight = {name: w for name, w in weights(found).items() if name not in there}
    most = int(max_tokens * max(LEAST_SHARE, LEDGER_SHARE * dense * min(1.0, 2 - 2 * talks)))
    pieces += ledger(found, weight, most, count, known=_told(pieces), whole=talks >= DIALOGUE)
    told = _told(pieces)
    names = listed(weight, told, int(max_tokens * LIST_SHARE * dense), count)
    room = max_tokens - count(told) - count(names)
    known += extract_terms(told)
    pieces += telling(talk, known, int(room * SPARE) + SPARE_TOKENS, count, shown)
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
        text = escape_markup(piece.text)
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
