"""Marks in the place of secrets, for one conversation: the same in every replica, whatever comes later.

A secret is numbered by its first appearance in the history, and is replaced wherever it comes again, also
where nothing beside it tells that it is one. What a digest of a message leaves out (thinking, ids) gives no
number: it may be there in one call and not in the next, and a stored summary must not depend on it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from typing import NamedTuple, Protocol, TypeVar

from gateway_compaction.core.conversation.digest import count_characters, digest_message
from gateway_compaction.core.conversation.messages import Message
from gateway_compaction.core.conversation.rewrite import keep_meaning, map_texts
from gateway_compaction.core.records.compaction import Compaction
from gateway_compaction.core.redaction.assignments import find_named_value
from gateway_compaction.core.redaction.detector import Detector

T = TypeVar("T")

# Characters: a shorter value, or one of letters alone, may be a word of its own elsewhere.
LEAST_TELLING = 8
# So many are looked for where nothing beside them tells that they are one, the first of the history: each is
# searched for in all of it, and a dump may hold a hundred thousand.
MOST_TELLING = 1_000

# Messages that a call may be longer than the one whose marks it goes on with.
RECENT = 16

DEFAULT = Detector()


class Cache(Protocol):
    """Keeps results that depend on nothing but their key."""

    def __contains__(self, key: Hashable) -> bool: ...

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return the result for a key; it is made if it is not there."""
        ...


class Secret(NamedTuple):
    """A secret as it was found: its kind, and itself."""

    kind: str
    value: str


@dataclass(frozen=True)
class Marks:
    """The marks of the secrets of a conversation's beginning, by the secret."""

    by_value: Mapping[str, str]

    @cached_property
    def telling(self) -> tuple[str, ...]:
        """The secrets that mean themselves wherever they stand, the longest first."""
        first = islice(filter(_is_telling, self.by_value), MOST_TELLING)
        return tuple(sorted(first, key=lambda value: (-len(value), value)))

    def mark_of(self, secret: Secret) -> str:
        """Return the mark of a secret; without a number where it is not of the beginning."""
        return self.by_value.get(secret.value) or f"[secret: {secret.kind}]"


NO_MARKS = Marks({})


@dataclass(frozen=True)
class Redactor:
    """Masks the messages and texts of one request: secrets of its history are known by their numbers.

    Attributes:
        detector: finds the secrets.
        history: the messages after the preamble.
        digests: one name for each of them.
        cache: keeps what was found in a message for the next request.
        chain: names of the beginnings of the history, by which their marks are kept; none keeps none.
    """

    detector: Detector
    history: Sequence[Message]
    digests: Sequence[bytes]
    cache: Cache
    chain: Sequence[str] = ()

    def marks(self, end: int | None = None) -> Marks:
        """Return the marks of what is found in the first ``end`` messages of the history, or in all."""
        if not self.detector:
            return NO_MARKS
        end = len(self.history) if end is None else min(end, len(self.history))
        if not self.chain:
            return self._number_secrets(0, end, NO_MARKS)
        # An earlier call had most of these messages, and its marks stand.
        recent = range(end, max(0, end - RECENT), -1)
        start = next((index for index in recent if self._name_marks(index) in self.cache), 0)
        known = self._keep_marks(0, start, NO_MARKS) if start else NO_MARKS
        return known if start == end else self._keep_marks(start, end, known)

    def _keep_marks(self, start: int, end: int, known: Marks) -> Marks:
        return self.cache.get(self._name_marks(end), lambda: self._number_secrets(start, end, known))

    def _name_marks(self, end: int) -> tuple[object, ...]:
        return ("marks", self.chain[end], self.detector)

    def _number_secrets(self, start: int, end: int, known: Marks) -> Marks:
        """Return the known marks of the first ``start`` messages, and those of what comes up to ``end``."""
        marks = dict(known.by_value)
        for digest, message in zip(self.digests[start:end], self.history[start:end], strict=True):
            for secret in self._find_secrets(digest, message):
                marks.setdefault(secret.value, f"[secret: {secret.kind} #{len(marks) + 1}]")
        return known if len(marks) == len(known.by_value) else Marks(marks)

    def mask_history(self, start: int, end: int, marks: Marks | None = None) -> tuple[Message, ...]:
        """Return messages of the history as they may be kept; those without a secret are the same objects.

        Args:
            start: the first of them.
            end: behind the last of them. Marks depend on no message behind it.
            marks: those of the first ``end`` messages, where they are known.
        """
        messages = tuple(self.history[start:end])
        if not self.detector:
            return messages
        marks = self.marks(end) if marks is None else marks
        if not marks.by_value:
            return messages
        return tuple(
            _mask(message, self.detector, marks)
            if self._find_secrets(digest, message) or _holds_any(message, marks.telling)
            else message
            for digest, message in zip(self.digests[start:end], messages, strict=True)
        )

    def mask_whole(self, messages: Sequence[Message], marks: Marks) -> tuple[Message, ...]:
        """Return any messages as they may be kept, with all that stands beside their content."""
        if not self.detector:
            return tuple(messages)
        return tuple(
            _mask(message, self.detector, marks)
            if self._has_secrets(message) or _holds_any(message, marks.telling)
            else message
            for message in messages
        )

    def mask_text(self, text: str, marks: Marks) -> str:
        """Return a text as it may be kept."""
        return mask_text(text, self.detector, marks)

    def _find_secrets(self, digest: bytes, message: Message) -> tuple[Secret, ...]:
        """Return the secrets in what a message means, in order; each message is searched once."""
        return self.cache.get((digest, self.detector), lambda: _find_in(keep_meaning(message), self.detector))

    def _has_secrets(self, message: Message) -> bool:
        """Tell whether a secret stands anywhere in a message; two that a digest cannot tell apart differ."""
        key = (digest_message(message), count_characters(message), self.detector)
        return self.cache.get(key, lambda: bool(_find_in(message, self.detector)))


def mask_text(text: str, detector: Detector, marks: Marks = NO_MARKS) -> str:
    """Return a text with a mark in the place of each secret."""
    pieces, at = list[str](), 0
    for start, end, kind in detector.find(text):
        pieces += [text[at:start], marks.mark_of(Secret(kind, text[start:end]))]
        at = end
    text = "".join([*pieces, text[at:]]) if pieces else text
    for value in marks.telling:
        text = text.replace(value, marks.by_value[value])
    return text


def mask_secrets(text: str) -> str:
    """Return a text that is of no conversation, such as a reason or a label, without the secrets in it."""
    return mask_text(text, DEFAULT)


def mask_message(message: Message, detector: Detector = DEFAULT) -> Message:
    """Return a message that is of no known history without the secrets in it."""
    return _mask(message, detector, NO_MARKS)


def mask_compaction(compaction: Compaction, detector: Detector = DEFAULT) -> Compaction:
    """Return a record without secrets, such as one that was stored before they were masked."""
    segments = tuple(replace(s, text=mask_text(s.text, detector)) for s in compaction.segments)
    return compaction if segments == compaction.segments else replace(compaction, segments=segments)


def _mask(message: Message, detector: Detector, marks: Marks) -> Message:
    def replace_text(name: str, text: str) -> str:
        if detector.secrets and (kind := find_named_value(name, text)) is not None:
            return marks.mark_of(Secret(kind, text))
        return mask_text(text, detector, marks)

    masked: Message = map_texts(message, replace_text)
    return masked


def _find_in(message: Message, detector: Detector) -> tuple[Secret, ...]:
    found: list[Secret] = []

    def read(name: str, text: str) -> str:
        if detector.secrets and (kind := find_named_value(name, text)) is not None:
            found.append(Secret(kind, text))
        else:
            found.extend(Secret(kind, text[start:end]) for start, end, kind in detector.find(text))
        return text

    map_texts(message, read)
    return tuple(found)


def _holds_any(message: Message, values: Sequence[str]) -> bool:
    """Tell whether one of the values stands in a message."""
    held = False

    def read(_: str, text: str) -> str:
        nonlocal held
        held = held or any(value in text for value in values)
        return text

    if values:
        map_texts(message, read)
    return held


def _is_telling(value: str) -> bool:
    return len(value) >= LEAST_TELLING and not value.isalpha()
