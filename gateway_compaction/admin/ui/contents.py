"""Compare what the client sent with what the model saw, as values."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, zip_longest
from typing import Any

from gateway_compaction.admin.ui.text import Folded, fold, format_thousands
from gateway_compaction.archive import CallSnapshot
from gateway_compaction.core.conversation.messages import (
    ToolCall,
    calls_of,
    content_of,
    written_text_of,
)
from gateway_compaction.core.conversation.parts import is_text, part_type
from gateway_compaction.core.records.call_snapshot import find_bounds, name_messages, number_messages

BODY = 4000
HEAD = 240
SHOWN = 200
FIRST, LAST = 1, 4


@dataclass(frozen=True, slots=True)
class Item:
    """One message on one side; ``text`` is None where contents are not kept.

    Attributes:
        place: where it stands on its side.
        number: the same for the same message on both sides; None in the preamble and for a summary.
    """

    place: int
    number: int | None
    role: str
    tokens: str
    fate: str
    text: Folded | None


@dataclass(frozen=True, slots=True)
class Pair:
    """Messages side by side: one each, or many that one summary stands for."""

    sent: tuple[Item, ...]
    saw: tuple[Item, ...]
    block: bool = False
    named: str = ""

    @property
    def same(self) -> bool:
        """Whether a message was passed on as it came."""
        return all(len(side) == 1 and side[0].fate == "verbatim" for side in (self.sent, self.saw))


@dataclass(frozen=True, slots=True)
class Stretch:
    """Pairs in a row; ``folded`` ones are shown on demand, since both their sides are the same."""

    pairs: tuple[Pair, ...]
    folded: bool
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class Comparison:
    """Both sides."""

    stretches: tuple[Stretch, ...]
    kept: bool
    omitted: bool
    sent: str
    saw: str
    messages_sent: int
    messages_saw: int


def compare_contents(call: CallSnapshot) -> Comparison:
    """Put preamble beside preamble, summary beside what it stands for, tail beside tail."""
    numbered = number_messages(call)
    sent = _make_items(call.sent, call.client, numbered[0])
    saw = _make_items(call.saw, call.model, numbered[1])
    start, end, tail = find_bounds(call)
    pairs = [Pair((left,), (right,)) for left, right in zip(sent[:start], saw[:start], strict=False)]
    if tail > start:
        named = name_messages(0, end - start)
        pairs.append(Pair(tuple(sent[start:end]), tuple(saw[start:tail]), True, named))
    pairs += [Pair(_single(left), _single(right)) for left, right in zip_longest(sent[end:], saw[tail:])]
    return Comparison(
        tuple(_fold_equal(pairs)),
        call.client is not None or call.model is not None,
        call.omitted,
        format_thousands(sum(tokens for _, tokens, _ in call.sent)),
        format_thousands(sum(tokens for _, tokens, _ in call.saw)),
        len(sent),
        len(saw),
    )


def _fold_equal(pairs: Sequence[Pair]) -> Iterator[Stretch]:
    """Fold long runs of the same on both sides, but for their ends; never show more than can be looked at."""
    for same, run in groupby(pairs, key=lambda pair: pair.same):
        found = tuple(run)
        if not same or len(found) <= FIRST + LAST + 1:
            yield Stretch(found[:SHOWN], False, max(0, len(found) - SHOWN))
            continue
        middle = found[FIRST:-LAST]
        yield Stretch(found[:FIRST], False)
        yield Stretch(middle[:SHOWN], True, max(0, len(middle) - SHOWN))
        yield Stretch(found[-LAST:], False)


def _single(item: Item | None) -> tuple[Item, ...]:
    return () if item is None else (item,)


def _make_items(
    rows: Sequence[tuple[str, int, str]],
    contents: Sequence[Mapping[str, Any]] | None,
    numbered: Sequence[int | None],
) -> list[Item]:
    # Contents and structure were written together; were they not, no message is shown as another's.
    texts = contents if contents is not None and len(contents) == len(rows) else [None] * len(rows)
    return [
        Item(
            i,
            n,
            role,
            format_thousands(tokens),
            fate,
            None if m is None else fold(message_text(m), HEAD, BODY),
        )
        for i, ((role, tokens, fate), m, n) in enumerate(zip(rows, texts, numbered, strict=True))
    ]


def message_text(message: Mapping[str, Any]) -> str:
    """Return a message as one text, as it was written: its parts in order, then the calls beside them."""
    texts = [_part_text(part) for part in content_of(message) if part is not None]
    texts += map(_call_text, calls_of({**message, "content": None}))
    return "\n".join(text for text in texts if text)


def _call_text(call: ToolCall) -> str:
    payload = call.payload
    return f"→ {call.name}({payload if isinstance(payload, str) else _to_json(payload)})"


def _part_text(part: Any) -> str:
    if isinstance(part, str):
        return part
    if not isinstance(part, Mapping):
        return f"[{type(part).__name__}]"
    if is_text(part):
        return written_text_of({"role": "user", "content": [part]})
    # Whose message it is of does not matter for the words; what reads messages reads a role.
    alone = {"role": "user", "content": [part]}
    told = [*map(_call_text, calls_of(alone)), written_text_of(alone)]
    text = "\n".join(one for one in told if one)
    return text or f"[{part_type(part) or 'part'}: {_to_json(dict(part))[:HEAD]}]"


def _to_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)
