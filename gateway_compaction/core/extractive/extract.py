"""The extract: the summary that needs no model, out of telling sentences and a ledger of identifiers.

Deterministic: the same messages and budget give the same text on every replica, so that the bytes of a
request do not depend on who serves it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from gateway_compaction.core.conversation.messages import Message
from gateway_compaction.core.extractive.identifier_ledger import (
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
from gateway_compaction.core.extractive.selection import Piece
from gateway_compaction.core.text.escaping import escape_markup
from gateway_compaction.core.text.identifiers import find_identifiers
from gateway_compaction.core.text.terms import extract_terms

Count = Callable[[str], int]
# In identifiers among a hundred words: from here on a conversation is an agent's work.
FULL_DENSITY = 4.0
# Pieces seem to need more tokens one by one than they do together.
SPARE = 1.2
SPARE_TOKENS = 6
# Shares of the budget, where identifiers are dense: lines of the ledger, and the bare list of the next ones.
LEDGER_SHARE = 0.8
LIST_SHARE = 0.2
# Lines of the ledger get so much however few identifiers there are.
LEAST_LEDGER_SHARE = 0.05
# Shares of the budget, in a dialogue: what is open, and all that users tell, what is open included.
OPEN_SHARE = 0.2
USER_SHARE = 0.35
# With a call in each turn a dialogue is one still.
DIALOGUE_FACTOR = 1.5
# From this share of a dialogue on, words torn out of sentences say too little.
WHOLE_SENTENCES_SHARE = 0.4


@dataclass(frozen=True, slots=True)
class Reading:
    """The contents of one message, ready for an extract.

    It depends on nothing else, so that it can be kept for the next request.
    """

    texts: tuple[SourceText, ...]
    utterance: Utterance


def read_message(message: Message) -> Reading:
    """Read what an extract needs of one message, which is most of an extract's work."""
    return Reading(read_sources(message), read_utterance(message))


def build_extract(
    messages: Sequence[Message],
    max_tokens: int,
    count: Count,
    readings: Sequence[Reading] | None = None,
    shown: str = "",
) -> str:
    """Return what matters most in some messages, in time order.

    The more of a dialogue they are, the more of the room is kept for what users asked for and have not got,
    and for what they tell. The denser identifiers stand elsewhere, the more of it is theirs: as lines that
    tell of them, then as a bare list of the next ones. What is left is for the most telling sentences.

    Args:
        messages: the messages.
        max_tokens: the most tokens of the extract.
        count: counts the tokens of a text.
        readings: what was read in each message, where that is known.
        shown: a text that is read beside the extract; what stands in it is not repeated.
    """
    if readings is None:
        readings = [read_message(message) for message in messages]
    sources, utterances = [r.texts for r in readings], [r.utterance for r in readings]
    dense = min(1.0, identifier_density(sources) / FULL_DENSITY)
    pool, dialogue = build_sentence_pool(messages, utterances, dense), dialogue_share(utterances)
    users = min(1.0, DIALOGUE_FACTOR * dialogue)
    shown_terms = extract_terms(shown)

    pieces = choose_open_requests(pool, utterances, int(max_tokens * OPEN_SHARE * users), count)
    text = _render_pieces(pieces)
    room = int(max_tokens * USER_SHARE * users) - count(text)
    pieces += choose_user_statements(pool, [*shown_terms, *extract_terms(text)], room, count, shown)

    shown_names = frozenset(find_identifiers(shown))
    weights = {name: w for name, w in weigh_identifiers(sources).items() if name not in shown_names}
    ledger_share = max(LEAST_LEDGER_SHARE, LEDGER_SHARE * dense * min(1.0, 2 - 2 * dialogue))
    pieces += choose_ledger_lines(
        sources,
        weights,
        int(max_tokens * ledger_share),
        count,
        known=_render_pieces(pieces),
        whole=dialogue >= WHOLE_SENTENCES_SHARE,
    )

    text = _render_pieces(pieces)
    names = list_identifiers(weights, text, int(max_tokens * LIST_SHARE * dense), count)
    room = int((max_tokens - count(text) - count(names)) * SPARE) + SPARE_TOKENS
    pieces += choose_salient(pool, [*shown_terms, *extract_terms(text)], room, count, shown)
    return _fit_pieces(pieces, names, max_tokens, count)


def _fit_pieces(pieces: Sequence[Piece], names: str, max_tokens: int, count: Count) -> str:
    """Return as many pieces as fit together, first chosen first; nothing if not even the names fit."""

    def render(number: int) -> str:
        return "\n".join(part for part in (names, _render_pieces(pieces[:number])) if part)

    fitting, too_many = 0, len(pieces) + 1
    while too_many - fitting > 1:
        middle = (fitting + too_many) // 2
        if count(render(middle)) <= max_tokens:
            fitting = middle
        else:
            too_many = middle
    text = render(fitting)
    return text if count(text) <= max_tokens else ""


def _render_pieces(pieces: Sequence[Piece]) -> str:
    """Render pieces in time order, the role where it changes; sentences of one message stay on one line."""
    lines: list[str] = []
    last: Piece | None = None
    for piece in sorted(pieces, key=lambda p: (p.message, p.place)):
        is_same = last is not None and last.message == piece.message
        # The labels are ours: what was said must not pass for one.
        text = escape_markup(piece.text)
        if is_same and text in lines[-1]:
            continue
        if is_same and piece.is_prose and last is not None and last.role == piece.role:
            lines[-1] += " " + text
        elif last is not None and last.role == piece.role:
            lines.append(text)
        else:
            lines.append(f"[{piece.role}] {text}")
        last = piece
    return "\n".join(lines)
