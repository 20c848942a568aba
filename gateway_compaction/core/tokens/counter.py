"""The only place that counts tokens: what ``estimate`` finds in a message, by the model's encoding.

Every count comes in two kinds. *Raw* tokens are the encoding's, whatever providers report: texts
written into a view are measured in them, so that they stay the same to the byte. *Calibrated*
tokens are raw ones times the model's factor, which moves with the reports: decisions about the
window are made in them.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import accumulate
from operator import add
from typing import Any

import regex
import tiktoken

from gateway_compaction.core.conversation.body import PlainSize, paid_fields_of, requested_output
from gateway_compaction.core.conversation.digest import digest_message, fingerprint
from gateway_compaction.core.conversation.messages import Message, may_have_beside, plain_text_of
from gateway_compaction.core.conversation.transcript import Transcript
from gateway_compaction.core.tokens.calibration import Calibration, family_of
from gateway_compaction.core.tokens.estimate import (
    PER_CALL,
    PER_MESSAGE,
    estimate_media,
    price_beside,
    price_content,
)
from gateway_compaction.core.tokens.session_surplus import Correction

# What the chat format adds to a prompt for the answer's beginning, by OpenAI's own recipe.
PER_REQUEST = 3
# Counts remembered in one process; about 40 MB (measured). Beyond that the oldest quarter goes.
CACHE_ENTRIES = 200_000
# BPE is quadratic in the length of one unbroken run: runs are cut where no real word reaches. `regex` lets
# other threads go on while it searches; `re` held the loop for 280 ms where one message had 20 MB.
LONG_RUN = regex.compile(r"(?<!\S)\S{2000,}")
RUN_SLICE = 500
TEXT_SLICE = 40_000


@dataclass(frozen=True, slots=True)
class Measure:
    """The calibrated tokens of one request, part by part, so that every view's cost is a subtraction.

    Attributes:
        fixed: Tokens that no compaction can change, without the preamble's: of schemas, the response format,
            the output reserve, and what the provider counts in this conversation beside all that we know.
        preamble: Tokens of the preamble.
        history: Running totals; ``history[k]`` are the tokens of the first k messages after the preamble.
        unexplained: Tokens that the provider counts in the request as it came, and in no compacted one.
        raw: Uncalibrated tokens of the whole prompt as it came: what ``raw_prompt_tokens`` counts.
    """

    fixed: int
    preamble: int
    history: tuple[int, ...]
    unexplained: int = 0
    raw: int = 0

    @property
    def total(self) -> int:
        """The tokens of the request as it came."""
        return self.fixed + self.preamble + self.history[-1] + self.unexplained

    @property
    def overhead(self) -> int:
        """The tokens that stay whatever is compacted."""
        return self.fixed + self.preamble

    def between(self, start: int, end: int) -> int:
        """Return the tokens of the messages from ``start`` to ``end`` (excluded) after the preamble."""
        return self.history[end] - self.history[start]


class TokenCounter:
    """The count of messages, texts and whole requests, each encoded once.

    A history comes again with every call; encoded anew each time it would cost a large request seconds. What
    was counted is remembered by meaning (``digest``), so that a client that makes its call ids or cache marks
    anew finds it again.

    Attributes:
        calibration: The factors that turn raw tokens into calibrated ones.
        encodings: How often a text or a message had to be encoded; what was found in the cache is not in it.
    """

    def __init__(self, calibration: Calibration | None = None, entries: int = CACHE_ENTRIES) -> None:
        self.calibration = calibration or Calibration()
        self._entries = entries
        self._cache: dict[tuple[str, bytes], int] = {}
        self.encodings = 0

    def upper_bound(
        self, messages: Sequence[Message], body: Mapping[str, Any], model: str, enough: int
    ) -> int:
        """Return a number of calibrated tokens that a request does not exceed, found without a tokeniser.

        No token is shorter than a byte. A request that is short by this bound needs no more. Counting
        ends as soon as ``enough`` is reached: the number is then a bound of what was counted so far.
        """
        factor, rule = max(1.0, self.calibration.factor(model)), family_of(model).pictures
        total = PER_REQUEST + sum(map(_count_bytes, _serialize_schemas(body)))
        for message in messages:
            if total * factor >= enough:
                break
            if (text := plain_text_of(message)) is not None:
                total += PER_MESSAGE + _count_bytes(text)
                continue
            total += sum(map(_count_bytes, price_content(message, rule)))
            if may_have_beside(message):
                total += sum(map(_count_bytes, price_beside(message)))
        # Each message is rounded up for itself.
        return math.ceil(total * factor) + len(messages)

    def upper_bound_of_size(self, size: PlainSize, body: Mapping[str, Any], model: str, enough: int) -> int:
        """Return what ``upper_bound`` does for messages of some size, which nobody has read yet.

        It is never less. Where the messages alone reach ``enough``, schemas are not looked at.
        """
        factor = max(1.0, self.calibration.factor(model))
        total = PER_REQUEST + PER_MESSAGE * size.messages + PER_CALL * size.calls + size.bytes
        if total * factor < enough:
            total += sum(map(_count_bytes, _serialize_schemas(body)))
        return math.ceil(total * factor) + size.messages

    def uncached_characters(self, transcript: Transcript, digests: Sequence[bytes], model: str) -> int:
        """Return the characters of the history that ``measure`` would have to encode: its time is theirs."""
        way, total, cache = family_of(model).key, 0, self._cache
        start = len(transcript.find_known_counts(way))
        history, texts = transcript.history[start:], transcript.plain_texts[start:]
        for message, text, digest in zip(history, texts, digests[start:], strict=True):
            if (way, digest) not in cache:
                total += sum(len(p) for p in price_content(message) if isinstance(p, str))
            if text is not None:
                continue
            for piece in price_beside(message):
                if isinstance(piece, str) and (way, _name_text(piece)) not in cache:
                    total += len(piece)
        return total

    def measure(
        self,
        transcript: Transcript,
        body: Mapping[str, Any],
        model: str,
        reserve: int,
        digests: Sequence[bytes] = (),
    ) -> Measure:
        """Count a whole request.

        Args:
            transcript: The request's messages.
            body: Its other fields, of which schemas and the response format cost tokens.
            model: The model whose encoding and factor count.
            reserve: Tokens kept free for the answer, as ``output_reserve`` finds them.
            digests: The digest of each message of the history, where at hand; else they are computed.
        """
        beside = PER_REQUEST + self._count_schemas(body, model)
        names = digests or [digest_message(m) for m in transcript.history]
        factor = self.calibration.factor(model)
        way = family_of(model).key
        known = transcript.find_known_counts(way)
        start = len(known)
        counts = known + self._count_all(
            transcript.history[start:], transcript.plain_texts[start:], names[start:], model
        )
        transcript.counts[way] = counts
        history = accumulate((math.ceil(count * factor) for count in counts), initial=0)
        preamble = [self.raw_message_tokens(message, model) for message in transcript.preamble]
        return Measure(
            math.ceil(beside * factor) + reserve,
            sum(math.ceil(count * factor) for count in preamble),
            tuple(history),
            raw=beside + sum(preamble) + sum(counts),
        )

    def correct(
        self, measure: Measure, transcript: Transcript, model: str, correction: Correction
    ) -> Measure:
        """Return a measure with what the provider counts in this conversation and we do not."""
        history = measure.history
        if correction.media != 1.0:
            more = (self._surplus_of_media(m, model, correction.media) for m in transcript.history)
            history = tuple(map(add, history, accumulate(more, initial=0)))
        fixed = measure.fixed + correction.beside
        return replace(measure, fixed=fixed, history=history, unexplained=correction.unexplained)

    def calibrated_tokens(
        self, message: Message, model: str, digest: bytes | None = None, media: float = 1.0
    ) -> int:
        """Return the calibrated tokens of a message.

        Args:
            message: the message.
            model: the model whose encoding and factor count.
            digest: the message's, where at hand; else it is computed.
            media: how often its estimate embedded media cost in this conversation.
        """
        digest = digest or digest_message(message)
        tokens = self._calibrate(self._count(message, digest, model), model)
        return tokens if media == 1.0 else tokens + self._surplus_of_media(message, model, media)

    def raw_tokens(self, text: str, model: str) -> int:
        """Return the tokens of a text, before calibration."""
        key = _name_text(text)
        count = self._cache.get((family_of(model).key, key))
        return count if count is not None else self._encode(key, (text,), model)

    def raw_message_tokens(self, message: Message, model: str, digest: bytes | None = None) -> int:
        """Return the tokens of a message, before calibration; its digest is computed if it is not at hand."""
        return self._count(message, digest or digest_message(message), model)

    def raw_prompt_tokens(
        self,
        messages: Sequence[Message],
        body: Mapping[str, Any],
        model: str,
        names: Mapping[int, bytes] | None = None,
    ) -> int:
        """Return the tokens of a prompt before calibration: what a provider's report is compared with.

        Args:
            messages: the messages of the prompt.
            body: its other fields.
            model: the model whose encoding counts.
            names: digests of messages by their ``id``, where at hand; the others are computed.
        """
        total, names = PER_REQUEST + self._count_schemas(body, model), names or {}
        digests = [names.get(id(m)) or digest_message(m) for m in messages]
        texts = [plain_text_of(m) for m in messages]
        return total + sum(self._count_all(messages, texts, digests, model))

    def has_media(self, messages: Sequence[Message]) -> bool:
        """Tell whether images, audio or files are among the messages: their price is a rule of thumb."""
        return any(estimate_media(m) for m in messages)

    def estimated_tokens(self, messages: Sequence[Message], model: str) -> int:
        """Return the tokens of embedded media, before calibration: their price is a rule of thumb."""
        rule = family_of(model).pictures
        return sum(estimate_media(m, rule) for m in messages)

    def _count_schemas(self, body: Mapping[str, Any], model: str) -> int:
        return sum(self.raw_tokens(text, model) for text in _serialize_schemas(body))

    def _count_all(
        self,
        messages: Sequence[Message],
        texts: Sequence[str | None],
        digests: Sequence[bytes],
        model: str,
    ) -> tuple[int, ...]:
        """Count messages: most were counted before, and have nothing beside their content."""
        known, way = self._cache.get, family_of(model).key
        return tuple(
            [
                (known((way, digest)) if text is not None else None) or self._count(message, digest, model)
                for message, text, digest in zip(messages, texts, digests, strict=True)
            ]
        )

    def _count(self, message: Message, digest: bytes, model: str) -> int:
        """Count a message by its digest; what it carries beside its content is no part of that."""
        family = family_of(model)
        count = self._cache.get((family.key, digest))
        if count is None:
            count = self._encode(digest, tuple(price_content(message, family.pictures)), model)
        if plain_text_of(message) is not None:
            return count
        for piece in price_beside(message):
            count += piece if isinstance(piece, int) else self.raw_tokens(piece, model)
        return count

    def _surplus_of_media(self, message: Message, model: str, media: float) -> int:
        estimated = estimate_media(message, family_of(model).pictures)
        return self._calibrate(estimated, model, media - 1.0) if estimated else 0

    def _encode(self, key: bytes, pieces: Sequence[str | int], model: str) -> int:
        family = family_of(model)
        encode = _get_encoder(family.encoding)
        tokens = sum(p if isinstance(p, int) else _count_tokens(p, encode) for p in pieces)
        self.encodings += 1
        if len(self._cache) >= self._entries:
            for old in list(self._cache)[: self._entries // 4]:
                self._cache.pop(old, None)
        self._cache[family.key, key] = tokens
        return tokens

    def _calibrate(self, tokens: int, model: str, times: float = 1.0) -> int:
        return math.ceil(tokens * self.calibration.factor(model) * times)


def output_reserve(body: Mapping[str, Any], window: int, rule: str | int) -> int:
    """Return the tokens to keep free for the answer.

    Args:
        body: The request's fields, of which one may say how long the answer may be.
        window: The model's window in tokens.
        rule: The policy's: a number of tokens, ``none``, ``request`` (all that the request asks for) or
            ``auto`` (the same, but at most half of the window).
    """
    if isinstance(rule, int):
        return rule
    if rule == "none":
        return 0
    asked = requested_output(body)
    return asked if rule == "request" else min(asked, window // 2)


@lru_cache(maxsize=8)
def _get_encoder(name: str) -> Callable[[str], list[int]]:
    return tiktoken.get_encoding(name).encode_ordinary


def _count_tokens(text: str, encode: Callable[[str], list[int]]) -> int:
    if len(text) < 2000:
        return len(encode(_clean(text)))
    total, position = 0, 0
    for run in LONG_RUN.finditer(text):
        total += _count_sliced(text[position : run.start()], TEXT_SLICE, encode)
        total += _count_sliced(run.group(), RUN_SLICE, encode)
        position = run.end()
    return total + _count_sliced(text[position:], TEXT_SLICE, encode)


def _count_sliced(text: str, size: int, encode: Callable[[str], list[int]]) -> int:
    return sum(len(encode(_clean(text[i : i + size]))) for i in range(0, len(text), size))


def _clean(text: str) -> str:
    # A lone surrogate cannot be encoded; what is sent in its place is one character as well.
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def _count_bytes(piece: str | int) -> int:
    if isinstance(piece, int):
        return piece
    return len(piece) if piece.isascii() else len(piece.encode("utf-8", "surrogatepass"))


def _serialize_schemas(body: Mapping[str, Any]) -> Iterator[str]:
    return (json.dumps(value, ensure_ascii=False, default=repr) for value in paid_fields_of(body))


def _name_text(text: str) -> bytes:
    return fingerprint(text).encode()
