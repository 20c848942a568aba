"""A conversation divided: its preamble, its turns, and the cuts at which a part of it may be left out.

A cut at a wrong place is a request that the provider refuses: a result without its call, an answer without
the thinking that must come back with it, or a tail that starts with a result.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple, TypeVar

import numpy as np

from gateway_compaction.core.conversation.digest import OPENING, build_digest_chain, digest_history
from gateway_compaction.core.conversation.known_histories import Beginning, KnownHistories
from gateway_compaction.core.conversation.messages import (
    PREAMBLE_ROLES,
    Message,
    answered_in_parts,
    call_ids_of,
    has_calls,
    has_thinking,
    is_by,
    is_message,
    plain_role_of,
    plain_text_of,
    role_of,
    text_of,
)
from gateway_compaction.errors import TranscriptError

T = TypeVar("T")


class ReadHistory(NamedTuple):
    """All that was read of a history in an earlier call; see ``Transcript``."""

    texts: tuple[str | None, ...]
    roles: tuple[str, ...]
    openers: Mapping[int, int | None]
    digests: tuple[bytes, ...]
    chain: tuple[str, ...]
    counts: dict[str, tuple[int, ...]]


_known_histories = KnownHistories[ReadHistory]()


def forget_histories() -> None:
    """Drop the messages that are kept with what was read of them: something was erased."""
    _known_histories.forget()


@dataclass(frozen=True)
class Transcript:
    """The messages of one request, divided.

    Indexes count from the first message after the preamble, here and wherever a conversation is spoken of.

    Attributes:
        preamble: The leading system and developer messages, which are never summarised or moved.
        history: Everything after them.
        cuts: The indexes at which the history may be divided, ascending, without 0 and the end.
        openers: For each cut the index of the user message that must stand before the tail, or None where
            the cut itself begins a turn.
        turn_starts: The indexes of the user messages, each of which opens a turn.
        plain_texts: For each message of the history its text if it is plain, else None. What looks at all
            messages of a call asks this, since to look into each message takes longer.
        roles: The part that each message of the history plays; see ``role_of``.
        counts: The raw tokens of each message of the history, by how a family of models counts; filled in by
            whoever counts them, for the next call.
        beginning: What is known of its beginning from an earlier call: a shortcut, without which all comes
            out the same and takes longer.
    """

    preamble: tuple[Message, ...]
    history: tuple[Message, ...]
    cuts: tuple[int, ...]
    openers: Mapping[int, int | None]
    turn_starts: tuple[int, ...]
    plain_texts: tuple[str | None, ...]
    roles: tuple[str, ...]
    counts: dict[str, tuple[int, ...]] = field(default_factory=dict, repr=False, compare=False)
    beginning: Beginning[ReadHistory] | None = field(default=None, repr=False, compare=False)

    @property
    def last_user(self) -> int | None:
        """The index of the last user message, or None."""
        return self.turn_starts[-1] if self.turn_starts else None

    def find_known_counts(self, way: str) -> tuple[int, ...]:
        """Return the raw tokens of the messages at the beginning that an earlier call has counted."""
        if way in self.counts:
            return self.counts[way]
        if self.beginning is None:
            return ()
        known, length = self.beginning
        return known.read.counts.get(way, ())[:length]

    @cached_property
    def opening(self) -> str:
        """The name of the messages that the conversation opens with, by which it is found again."""
        return build_digest_chain(digest_history(self.history[:OPENING]))[-1]

    @cached_property
    def digests(self) -> tuple[bytes, ...]:
        """One name for each message of the history."""
        if self.beginning is None:
            return tuple(digest_history(self.history))
        known, length = self.beginning
        # Results are named by the place of their call, so the message with the calls is named once more.
        start = _find_last(self.roles, "assistant", length) or 0
        return known.read.digests[:start] + tuple(digest_history(self.history[start:]))

    @cached_property
    def chain(self) -> tuple[str, ...]:
        """Names of the beginnings of the history: entry k is of its first k messages.

        Asking for it also keeps the history for the conversation's next call; small requests never ask.
        """
        chain = self._build_chain()
        read = ReadHistory(self.plain_texts, self.roles, self.openers, self.digests, chain, self.counts)
        _known_histories.keep(self.history, read, self.beginning)
        return chain

    def _build_chain(self) -> tuple[str, ...]:
        if self.beginning is None:
            return build_digest_chain(self.digests)
        known, length = self.beginning
        chain = known.read.chain
        return chain[:length] + build_digest_chain(self.digests[length:], chain[length])


def parse_transcript(messages: Sequence[Any]) -> Transcript:
    """Divide a request's messages.

    Raises:
        TranscriptError: An entry is not a message object with a role.
    """
    start = 0
    while start < len(messages) and is_message(messages[start]) and messages[start]["role"] in PREAMBLE_ROLES:
        start += 1
    history = tuple(messages[start:])
    beginning = _known_histories.find(history)
    texts: tuple[str | None, ...] = ()
    roles: tuple[str, ...] = ()
    if beginning is not None:
        known, length = beginning
        texts, roles = known.read.texts[:length], known.read.roles[:length]
    new = history[len(texts) :]
    for index, message in enumerate(new, start + len(texts)):
        # The type itself is asked first: what else is a mapping takes longer to be told.
        is_object = type(message) is dict or isinstance(message, Mapping)
        if not is_object or not isinstance(message.get("role"), str):
            raise TranscriptError(f"messages[{index}] is not a message with a role")
    new_texts = tuple([plain_text_of(message) for message in new])
    texts += new_texts
    roles += tuple(
        [role_of(m) if text is None else plain_role_of(m) for m, text in zip(new, new_texts, strict=True)]
    )
    openers = _find_cuts(history, roles, texts, beginning)
    return Transcript(
        preamble=tuple(messages[:start]),
        history=history,
        cuts=tuple(openers),
        openers=openers,
        turn_starts=tuple([index for index, role in enumerate(roles) if role == "user"]),
        plain_texts=texts,
        roles=roles,
        beginning=beginning,
    )


def find_turn_starts(messages: Sequence[Message]) -> list[int]:
    """Return the indexes of the user messages, each of which opens a turn; results do not."""
    return [index for index, message in enumerate(messages) if role_of(message) == "user"]


def _find_cuts(
    history: tuple[Message, ...],
    roles: Sequence[str],
    texts: Sequence[str | None],
    beginning: Beginning[ReadHistory] | None,
) -> dict[int, int | None]:
    """Return the cuts of a history, each with the opener that has to be repeated before it.

    A cut satisfies three rules: a call is not parted from its results; what follows starts with a user or an
    assistant message; and a turn in which the model thinks aloud is divided only where the thinking starts
    anew, since providers want all of it back or none.
    """
    first = _find_settled(history, roles, beginning)
    cuts = {} if beginning is None else _take_before(beginning.known.read.openers, first)
    group_ends = _find_group_ends(history, roles, texts, first)
    # The end of the last group of calls and results, the current turn's opener, and whether it thinks aloud.
    closed = first
    opener: int | None = None
    thinking = False
    for index in range(first, len(history)):
        role = roles[index]
        # Nearly all messages are plain: these neither think nor call.
        thinks = texts[index] is None and has_thinking(history[index])
        if index >= closed and index > 0:
            if role == "user":
                cuts[index] = None
            elif role == "assistant" and _is_worth_dividing(index, opener) and (thinks or not thinking):
                cuts[index] = opener
        if role == "user":
            opener, thinking = index, False
        thinking = thinking or thinks
        closed = max(closed, group_ends.get(index, index + 1))
    return cuts


def _find_settled(
    history: tuple[Message, ...], roles: Sequence[str], beginning: Beginning[ReadHistory] | None
) -> int:
    """Return the index of a user message before which no later message changes a cut any more; 0 for none.

    What follows it is divided as if the history began there. A model's message stands between it and what is
    new, so that no new result belongs to a call before it. But what a provider has run itself may answer
    any call.
    """
    if beginning is None:
        return 0
    known, length = beginning
    last = _find_last(roles, "assistant", length)
    settled = None if last is None else _find_last(roles, "user", last)
    while settled and known.read.openers.get(settled, settled) is not None:
        settled = _find_last(roles, "user", settled)
    # Of the known history what is not in this one may have answered such a call as well.
    others = (*history[settled or 0 :], *known.messages[length:])
    if any(is_by(one, "assistant") and answered_in_parts(one) for one in others):
        return 0
    return settled or 0


def _find_last(roles: Sequence[str], role: str, end: int) -> int | None:
    """Return the index of the last message before ``end`` that plays a role, or None."""
    return next((index for index in range(end - 1, -1, -1) if roles[index] == role), None)


def _take_before(openers: Mapping[int, int | None], end: int) -> dict[int, int | None]:
    """Return the cuts before ``end`` of all, which are in their order."""
    taken = dict(openers)
    while taken and next(reversed(taken)) >= end:
        taken.popitem()
    return taken


def _is_worth_dividing(index: int, opener: int | None) -> bool:
    # Directly behind its opener a cut would cover only what has to be repeated.
    return opener is None or index > opener + 1


def _find_group_ends(
    history: tuple[Message, ...], roles: Sequence[str], texts: Sequence[str | None], first: int
) -> dict[int, int]:
    """Return for each assistant message with calls the index behind the last result before the next one.

    Results are paired by adjacency: call ids repeat within a conversation (in a quarter of the recorded ones
    of tau-bench), and some clients put a user message between a call and its result. Only what a provider has
    run itself is found by its id, since it may come several messages later.

    Args:
        first: the index from which on it is told.
    """
    ends: dict[int, int] = {}
    caller: int | None = None
    for index in range(first, len(roles)):
        role = roles[index]
        if role == "assistant" and texts[index] is not None:
            caller = None
        elif role == "assistant":
            caller = index if has_calls(history[index]) else None
            for name in answered_in_parts(history[index]):
                if (maker := _find_maker(history, index, name)) is not None:
                    ends[maker] = index + 1
        elif role == "tool" and caller is not None:
            ends[caller] = index + 1
    return ends


def _find_maker(history: tuple[Message, ...], index: int, name: str) -> int | None:
    """Return the index of the last message before one that makes the call of an id."""
    return next((i for i in range(index - 1, -1, -1) if name in call_ids_of(history[i])), None)


def compute_user_weight(messages: Sequence[Message]) -> float:
    """Return how much more the assistant writes than the user: 0 between peers, 2 from four times as much on.

    Where a user writes little, his few words tell more than as many of the assistant's.
    """
    words: Counter[str] = Counter()
    number: Counter[str] = Counter()
    for message in messages:
        role = role_of(message)
        words[role] += len(text_of(message).split())
        number[role] += 1
    if not (words["user"] and words["assistant"]):
        return 0.0
    ratio = (words["assistant"] / number["assistant"]) / (words["user"] / number["user"])
    return float(np.clip(np.log2(ratio), 0, 2))


def split_at_answers(messages: Sequence[T]) -> Iterator[Sequence[T]]:
    """Yield what a client sent for each answer of a recorded conversation: all messages before it."""
    for number, message in enumerate(messages):
        if number and is_by(message, "assistant"):
            yield messages[:number]
