"""The page "Whole conversation": all messages of a conversation that the gateway keeps, some at a time."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gateway_compaction.admin.ui.contents import BODY, HEAD, message_text
from gateway_compaction.admin.ui.text import Folded, fold
from gateway_compaction.archive import SessionDetail
from gateway_compaction.core.records.exchange import to_conversation_id

# Messages on one page: more are slow to read and to draw.
ON_A_PAGE = 100
PREAMBLE = ("system", "developer")


@dataclass(frozen=True, slots=True)
class TranscriptLine:
    """One message; ``number`` counts those after the preamble, as ``x-conversation-at`` does, 0 within it."""

    number: int
    role: str
    text: Folded


@dataclass(frozen=True, slots=True)
class TranscriptView:
    """One page of a conversation, and how many messages and pages it has."""

    conversation: str
    lines: tuple[TranscriptLine, ...]
    messages: int
    page: int
    pages: int


def is_kept(detail: SessionDetail) -> bool:
    """Tell whether the gateway keeps a session's conversation: its calls are labelled with its id."""
    return to_conversation_id(detail.row.session.key) in detail.row.labels


def make_transcript_view(
    conversation: str, items: Sequence[Mapping[str, Any]], page: int | None
) -> TranscriptView:
    """Show one page of a conversation, the last where none is named, the nearest where that is not there.

    Args:
        conversation: its id.
        items: its preamble and its messages, masked, in the form of their endpoint.
        page: from 1 on.
    """
    start = next((i for i, item in enumerate(items) if item.get("role") not in PREAMBLE), len(items))
    pages = max(1, -(-len(items) // ON_A_PAGE))
    shown = pages if page is None else min(max(1, page), pages)
    first = (shown - 1) * ON_A_PAGE
    lines = (
        TranscriptLine(max(0, i - start + 1), _name_role(item), fold(_write(item), HEAD, BODY))
        for i, item in enumerate(items[first : first + ON_A_PAGE], first)
    )
    return TranscriptView(conversation, tuple(lines), len(items) - start, shown, pages)


def _name_role(item: Mapping[str, Any]) -> str:
    """Return the role of a message; items of Responses that have none are named by their type."""
    return str(item.get("role") or item.get("type") or "item")


def _write(item: Mapping[str, Any]) -> str:
    if item.get("role"):
        return message_text(item)
    return json.dumps({k: v for k, v in item.items() if k != "type"}, ensure_ascii=False, default=str)
