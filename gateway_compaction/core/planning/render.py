"""A view of a conversation as messages. What is not changed is passed on as the object that came in."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from gateway_compaction.core.conversation.messages import Message
from gateway_compaction.core.conversation.rewrite import prepend_text
from gateway_compaction.core.conversation.transcript import Transcript
from gateway_compaction.core.records.compaction import Compaction
from gateway_compaction.core.summary.block import ACKNOWLEDGEMENT
from gateway_compaction.core.text.shorten import clear_result, clip_message, is_clearable

__all__ = ["View", "is_cleared", "render", "shown"]

Count = Callable[[str], int]


@dataclass(frozen=True, slots=True)
class View:
    """One way to send a conversation; without a compaction, the raw one.

    ``tokens`` is what the request would use: with everything fixed, the output reserve included.
    ``recalls`` holds the text quoted before user messages, by their index.
    """

    tokens: int
    compaction: Compaction | None = None
    summary_message: Message | None = None
    acknowledge: bool = False
    opener: int | None = None
    recalls: Mapping[int, str] = field(default_factory=dict)


def render(view: View, transcript: Transcript, count: Count) -> list[Message]:
    """Preamble, summary message, acknowledgement, opener, tail: what the view leaves out is left out."""
    compaction = view.compaction
    if compaction is None:
        return [*transcript.preamble, *transcript.history]
    head: list[Message] = list(transcript.preamble)
    start = 0
    if view.summary_message is not None:
        head.append(view.summary_message)
        if view.acknowledge:
            head.append(ACKNOWLEDGEMENT)
        if view.opener is not None:
            head.append(_told(view, view.opener, transcript.history[view.opener]))
        start = compaction.covers
    shown = tail(compaction, transcript, start, count)
    return [*head, *(_told(view, i, m) for i, m in enumerate(shown, start))]


def _told(view: View, index: int, message: Message) -> Message:
    text = view.recalls.get(index)
    return message if text is None else prepend_text(message, text)


def tail(compaction: Compaction, transcript: Transcript, start: int, count: Count) -> Iterable[Message]:
    """The messages from ``start``, cleared or clipped as the compaction says."""
    return (shown(compaction, i, m, count) for i, m in enumerate(transcript.history[start:], start))


def shown(compaction: Compaction, index: int, message: Message, count: Count) -> Message:
    """A message that stays, cleared or clipped as the compaction says; else the same object."""
    clip = compaction.clip
    if is_cleared(compaction, index, message, count):
        return clear_result(message, count)
    if clip and index < clip.until and index not in clip.spare:
        return clip_message(message, clip.max_tokens, count)
    return message


def is_cleared(compaction: Compaction, index: int, message: Message, count: Count) -> bool:
    """Whether a compaction replaces a message by a marker that says what it was."""
    return compaction.kind == "cleared" and index < compaction.covers and is_clearable(message, count)
