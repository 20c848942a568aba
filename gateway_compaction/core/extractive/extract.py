"""The summary that needs no model: telling sentences and a ledger of identifiers, instantly.

Deterministic: the same messages and budget give the same text on every replica.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from gateway_compaction.core.conversation.messages import Message
from gateway_compaction.core.extractive.identifier_ledger import (
    Piece,
    SourceText,
    choose_ledger_lines,
    identifier_density,
    list_identifiers,
    read_sources,
    weigh_identifiers,
)
from gateway_compaction.core.extractive.salience import (
    Utterance,
    build_sentence_pool,
    choose_open_requests,
    choose_salient,
    choose_user_statements,
    dialogue_share,
    read_utterance,
)
from gateway_compaction.core.text.escaping import escape_markup
from gateway_compaction.core.text.identifiers import find_identifiers
from gateway_compaction.core.text.terms import extract_terms

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

    texts: tuple[SourceText, ...]
    utterance: Utterance


def read_message(message: Message) -> Reading:
    """Look through one message."""
    return Reading(read_sources(message), read_utterance(message))


def build_extract(
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
        readings = [read_message(message) for message in messages]
    found, heard = [r.texts for r in readings], [r.utterance for r in readings]
    dense = min(1.0, identifier_density(found) / DENSE)
    talk, talks = build_sentence_pool(messages, heard, dense), dialogue_share(heard)
    known = extract_terms(shown)
    # With a call in each turn a dialogue is one still.
    own = min(1.0, CALLING * talks)
    pieces = choose_open_requests(talk, heard, int(max_tokens * OPEN_SHARE * own), count)
    left = int(max_tokens * USER_SHARE * own) - count(_render_pieces(pieces))
    pieces += choose_user_statements(
        talk, [*known, *extract_terms(_render_pieces(pieces))], left, count, shown
    )
    there = frozenset(find_identifiers(shown))
    weight = {name: w for name, w in weigh_identifiers(found).items() if name not in there}
    most = int(max_tokens * max(LEAST_SHARE, LEDGER_SHARE * dense * min(1.0, 2 - 2 * talks)))
    pieces += choose_ledger_lines(
        found, weight, most, count, known=_render_pieces(pieces), whole=talks >= DIALOGUE
    )
    told = _render_pieces(pieces)
    names = list_identifiers(weight, told, int(max_tokens * LIST_SHARE * dense), count)
    room = max_tokens - count(told) - count(names)
    known += extract_terms(told)
    pieces += choose_salient(talk, known, int(room * SPARE) + SPARE_TOKENS, count, shown)
    return _fit_pieces(pieces, names, max_tokens, count)


def _fit_pieces(pieces: Sequence[Piece], names: str, max_tokens: int, count: Count) -> str:
    """As many pieces as fit together, first chosen first: one by one they seem to need more."""

    def text(number: int) -> str:
        return "\n".join(part for part in (names, _render_pieces(pieces[:number])) if part)

    fitting, too_many = 0, len(pieces) + 1
    while too_many - fitting > 1:
        middle = (fitting + too_many) // 2
        if count(text(middle)) <= max_tokens:
            fitting = middle
        else:
            too_many = middle
    told = text(fitting)
    return told if count(told) <= max_tokens else ""


def _render_pieces(pieces: Sequence[Piece]) -> str:
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
