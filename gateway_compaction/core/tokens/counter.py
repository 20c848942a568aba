"""The only place that counts tokens: what ``weighing`` finds in a message, by the model's encoding."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from typing import Any

import tiktoken

from gateway_compaction.core.conversation.body import paid_fields_of, requested_output
from gateway_compaction.core.conversation.digest import fingerprint, message_digest
from gateway_compaction.core.conversation.messages import Message
from gateway_compaction.core.conversation.transcript import Transcript
from gateway_compaction.core.tokens.calibration import Calibration, family_of
from gateway_compaction.core.tokens.estimate import has_media, pieces_of, reasoning_of

__all__ = ["Measure", "TokenCounter", "output_reserve"]

PER_REQUEST = 3
CACHE_ENTRIES = 200_000
# BPE is quadratic in the length of one unbroken run: runs are cut where no real word reaches.
LONG_RUN = re.compile(r"(?<!\S)\S{2000,}")
RUN_SLICE, TEXT_SLICE = 500, 40_000


@dataclass(frozen=True, slots=True)
class Measure:
    """Tokens of one request, calibrated.

    Attributes:
        fixed: what no compaction can change but the preamble: schemas, response format, output reserve.
        preamble: tokens of the preamble.
        history: running totals, ``history[k]`` = tokens of the first k messages after the preamble.
    """

    fixed: int
    preamble: int
    history: tuple[int, ...]

    @property
    def total(self) -> int:
        """The request as it came."""
        return self.fixed + self.preamble + self.history[-1]

    @property
    def overhead(self) -> int:
        """What stays whatever is compacted."""
        return self.fixed + self.preamble

    def between(self, start: int, end: int) -> int:
        """Tokens of messages start to end (excluded) after the preamble."""
        return self.history[end] - self.history[start]


class TokenCounter:
    """Counts each message once, ever; the cache is bounded and keyed by meaning."""

    def __init__(self, calibration: Calibration | None = None, entries: int = CACHE_ENTRIES) -> None:
        self.calibration = calibration or Calibration()
        self._entries = entries
        self._cache: dict[tuple[str, bytes], int] = {}
        self.encoded = 0

    def bound(self, messages: Sequence[Message], body: Mapping[str, Any], model: str, enough: int) -> int:
        """At least the tokens of a request, found without a tokeniser: no token is shorter than a byte.

        Counting ends as soon as ``enough`` is reached.
        """
        factor = max(1.0, self.calibration.factor(model))
        total = PER_REQUEST + sum(_bound(_schemas(body)))
        for message in messages:
            if total * factor >= enough:
                break
            total += sum(_bound(pieces_of(message)))
        # Each message is rounded up for itself.
        return math.ceil(total * factor) + len(messages)

    def uncounted(self, messages: Sequence[Message], digests: Sequence[bytes], model: str) -> int:
        """Characters of text that ``measure`` would have to encode now."""
        encoding = family_of(model).encoding
        cold = (
            m
            for m, d in zip(messages, digests, strict=True)
            if (encoding, d) not in self._cache and (encoding, _key(m, d)) not in self._cache
        )
        return sum(len(p) for m in cold for p in pieces_of(m) if isinstance(p, str))

    def measure(
        self,
        transcript: Transcript,
        body: Mapping[str, Any],
        model: str,
        reserve: int,
        digests: Sequence[bytes] = (),
    ) -> Measure:
        """Count a whole request; ``digests`` of the history, where at hand, are not computed again."""
        fixed = self._scaled(PER_REQUEST + self._schemas(body, model), model) + reserve
        names = digests or [message_digest(m) for m in transcript.history]
        counts = (self._raw(m, _key(m, n), model) for m, n in zip(transcript.history, names, strict=True))
        history = accumulate((self._scaled(c, model) for c in counts), initial=0)
        return Measure(fixed, sum(self.message(m, model) for m in transcript.preamble), tuple(history))

    def message(self, message: Message, model: str, digest: bytes | None = None) -> int:
        """Tokens of one message, calibrated; its ``digest``, where at hand, is not computed again."""
        return self._scaled(self._raw(message, _key(message, digest), model), model)

    def text(self, text: str, model: str) -> int:
        """Tokens of a text, before calibration."""
        return self._cached(text, model)

    def raw_message(self, message: Message, model: str) -> int:
        """Tokens of one message, before calibration."""
        return self._raw(message, _key(message), model)

    def raw_total(self, messages: Sequence[Message], body: Mapping[str, Any], model: str) -> int:
        """Tokens of a prompt before calibration: what a provider's report is compared with."""
        return PER_REQUEST + self._schemas(body, model) + sum(self.raw_message(m, model) for m in messages)

    def has_media(self, messages: Sequence[Message]) -> bool:
        """Whether images, audio or files are among the messages: their price is a rule of thumb."""
        return any(has_media(m) for m in messages)

    def _schemas(self, body: Mapping[str, Any], model: str) -> int:
        return sum(self._cached(text, model) for text in _schemas(body))

    def _raw(self, message: Message, key: bytes, model: str) -> int:
        known = self._cache.get((family_of(model).encoding, key))
        return known if known is not None else self._encode(key, tuple(pieces_of(message)), model)

    def _cached(self, text: str, model: str) -> int:
        key = fingerprint(text).encode()
        known = self._cache.get((family_of(model).encoding, key))
        return known if known is not None else self._encode(key, (text,), model)

    def _encode(self, key: bytes, pieces: Sequence[str | int], model: str) -> int:
        encoding = family_of(model).encoding
        encode = _encoder(encoding)
        tokens = sum(p if isinstance(p, int) else _encoded_length(p, encode) for p in pieces)
        self.encoded += 1
        if len(self._cache) >= self._entries:
            for old in list(self._cache)[: self._entries // 4]:
                self._cache.pop(old, None)
        self._cache[encoding, key] = tokens
        return tokens

    def _scaled(self, tokens: int, model: str) -> int:
        return math.ceil(tokens * self.calibration.factor(model))


def output_reserve(body: Mapping[str, Any], window: int, rule: str | int) -> int:
    """Tokens kept free for the answer.

    ``auto`` is what the request asks for, at most half of the window; ``request`` all that it asks for.
    """
    if isinstance(rule, int):
        return rule
    if rule == "none":
        return 0
    asked = requested_output(body)
    return asked if rule == "request" else min(asked, window // 2)


@lru_cache(maxsize=8)
def _encoder(name: str) -> Callable[[str], list[int]]:
    return tiktoken.get_encoding(name).encode_ordinary


def _encoded_length(text: str, encode: Callable[[str], list[int]]) -> int:
    if len(text) < 2000:
        return len(encode(_clean(text)))
    total, position = 0, 0
    for run in LONG_RUN.finditer(text):
        total += _sliced(text[position : run.start()], TEXT_SLICE, encode)
        total += _sliced(run.group(), RUN_SLICE, encode)
        position = run.end()
    return total + _sliced(text[position:], TEXT_SLICE, encode)


def _sliced(text: str, size: int, encode: Callable[[str], list[int]]) -> int:
    return sum(len(encode(_clean(text[i : i + size]))) for i in range(0, len(text), size))


def _clean(text: str) -> str:
    # A lone surrogate cannot be encoded; what is sent in its place is one character as well.
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def _bound(pieces: Iterator[str | int]) -> Iterator[int]:
    for piece in pieces:
        if isinstance(piece, int):
            yield piece
        else:
            yield len(piece) if piece.isascii() else len(piece.encode("utf-8", "surrogatepass"))


def _schemas(body: Mapping[str, Any]) -> Iterator[str]:
    return (json.dumps(value, ensure_ascii=False, default=repr) for value in paid_fields_of(body))


def _key(message: Message, digest: bytes | None = None) -> bytes:
    # Reasoning is sent and paid for, but two messages that differ in it alone mean the same.
    reasoning = tuple(reasoning_of(message))
    digest = digest or message_digest(message)
    return digest if not reasoning else digest + fingerprint(*reasoning).encode()
