"""Where a conversation may be divided: preamble, turns, groups of calls and results, cuts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gateway_compaction.core.conversation.messages import (
    PREAMBLE_ROLES,
    Message,
    has_calls,
    has_thinking,
    role_of,
    text_of,
)
from gateway_compaction.errors import TranscriptError

__all__ = ["Transcript", "parse", "user_weight"]


@dataclass(frozen=True, slots=True)
class Transcript:
    """The messages of one request, divided.

    Indexes below count from the first message after the preamble.

    Attributes:
        preamble: the leading system and developer messages.
        history: everything after them.
        cuts: indexes (ascending, 0 and the end excluded) at which the history may be divided.
        openers: for each cut the index of the user message that must stand before the tail, or None where
            the cut itself begins a turn.
        last_user: index of the last user message, or None.
    """

    preamble: tuple[Message, ...]
    history: tuple[Message, ...]
    cuts: tuple[int, ...]
    openers: Mapping[int, int | None]
    last_user: int | None


def parse(messages: Sequence[Any]) -> Transcript:
    """Divide a request's messages.

    Raises:
        TranscriptError: an entry is not a message object with a role.
    """
    for index, message in enumerate(messages):
        if not isinstance(message, Mapping) or not isinstance(message.get("role"), str):
            raise TranscriptError(f"messages[{index}] is not a message with a role")
    start = 0
    while start < len(messages) and messages[start]["role"] in PREAMBLE_ROLES:
        start += 1
    history = tuple(messages[start:])
    openers = _cuts(history)
    users = [i for i, m in enumerate(history) if role_of(m) == "user"]
    return Transcript(
        preamble=tuple(messages[:start]),
        history=history,
        cuts=tuple(openers),
        openers=openers,
        last_user=users[-1] if users else None,
    )


def _cuts(history: tuple[Message, ...]) -> dict[int, int | None]:
    """The intersection of three rules: groups stay whole, a tail starts with a user or an assistant
    message, and a turn that thinks aloud is only divided where the thinking starts anew."""
    cuts: dict[int, int | None] = {}
    open_until = _group_ends(history)
    closed, opener, thinking = 0, None, False
    for index, message in enumerate(history):
        role, thinks = role_of(message), has_thinking(message)
        if index >= closed and index > 0:
            if role == "user":
                cuts[index] = None
            elif role == "assistant" and _worth_dividing(index, opener) and (thinks or not thinking):
                cuts[index] = opener
        if role == "user":
            opener, thinking = index, False
        thinking = thinking or thinks
        closed = max(closed, open_until.get(index, index + 1))
    return cuts


def _worth_dividing(index: int, opener: int | None) -> bool:
    # Directly behind its opener a cut would cover only what has to be repeated.
    return opener is None or index > opener + 1


def _group_ends(history: tuple[Message, ...]) -> dict[int, int]:
    """For each assistant message with calls: the index behind the last result before the next assistant.

    Results are paired by adjacency: call ids repeat within a conversation, and some clients put a user
    message between a call and its result.
    """
    ends: dict[int, int] = {}
    caller: int | None = None
    for index, message in enumerate(history):
        role = role_of(message)
        if role == "assistant":
            caller = index if has_calls(message) else None
        elif role == "tool" and caller is not None:
            ends[caller] = index + 1
    return ends


def user_weight(messages: Sequence[Message]) -> float:
    """0 between peers, up to 2 where the assistant writes much more than the user."""
    words: Counter[str] = Counter()
    number: Counter[str] = Counter()
    for message in messages:
        words[message["role"]] += len(text_of(message).split())
        number[message["role"]] += 1
    if not (words["user"] and words["assistant"]):
        return 0.0
    ratio = (words["assistant"] / number["assistant"]) / (words["user"] / number["user"])
    return float(np.clip(np.log2(ratio), 0, 2))
