"""The only place that counts tokens.

Rules, per message: 4 tokens of framing; text by the model's encoding; a call its name, arguments and 8; an
image 85 at low detail, else 1,105; audio one token per 1,600 bytes (about a tenth of a second); a file one
token per 20 bytes and at least 1,500; base64 never as text; anything else by the length of its JSON.
"""

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

from gateway_compaction.core.calibration import Calibration, family_of
from gateway_compaction.core.digest import fingerprint, message_digest
from gateway_compaction.core.messages import THINKING_PARTS, Message, Transcript

__all__ = ["Measure", "TokenCounter", "output_reserve"]

PER_MESSAGE, PER_CALL, PER_REQUEST = 4, 8, 3
IMAGE_LOW, IMAGE_HIGH = 85, 1105
AUDIO_BYTES_PER_TOKEN, FILE_BYTES_PER_TOKEN, FILE_LEAST = 1600, 20, 1500
CACHE_ENTRIES = 200_000
# BPE is quadratic in the length of one unbroken run: runs are cut where no real word reaches.
LONG_RUN = re.compile(r"(?<!\S)\S{2000,}")
RUN_SLICE, TEXT_SLICE = 500, 40_000
REQUEST_FIELDS = ("tools", "functions", "tool_choice", "function_call", "response_format")


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
            total += sum(_bound(_pieces(message)))
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
        return sum(len(p) for m in cold for p in _pieces(m) if isinstance(p, str))

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
        weights = (p for m in messages for p in _pieces(m) if isinstance(p, int))
        return any(p not in (PER_MESSAGE, PER_CALL) for p in weights)

    def _schemas(self, body: Mapping[str, Any], model: str) -> int:
        return sum(self._cached(text, model) for text in _schemas(body))

    def _raw(self, message: Message, key: bytes, model: str) -> int:
        known = self._cache.get((family_of(model).encoding, key))
        return known if known is not None else self._encode(key, tuple(_pieces(message)), model)

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
    asked = body.get("max_completion_tokens") or body.get("max_tokens")
    if rule == "none" or isinstance(asked, bool) or not isinstance(asked, int) or asked < 0:
        return 0
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
    for name in REQUEST_FIELDS:
        if body.get(name):
            yield json.dumps(body[name], ensure_ascii=False, default=repr)


def _key(message: Message, digest: bytes | None = None) -> bytes:
    # Reasoning is sent and paid for, but two messages that differ in it alone mean the same.
    reasoning = tuple(_reasoning(message))
    digest = digest or message_digest(message)
    return digest if not reasoning else digest + fingerprint(*reasoning).encode()


def _reasoning(message: Message) -> Iterator[str]:
    for name in ("reasoning_content", "thinking_blocks"):
        value = message.get(name)
        if value:
            yield value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=repr)
    content = message.get("content")
    for part in content if isinstance(content, list) else ():
        if isinstance(part, Mapping) and str(part.get("type")) in THINKING_PARTS:
            yield _unmarked(part)


def _pieces(message: Message) -> Iterator[str | int]:
    """What a message weighs: texts to encode and tokens known without encoding."""
    yield PER_MESSAGE
    content = message.get("content")
    for part in content if isinstance(content, list) else (content,):
        yield from _part(part)
    for name in ("name", "refusal"):
        if message.get(name):
            yield str(message[name])
    yield from _reasoning(message)
    calls = message.get("tool_calls")
    for call in [*(calls if isinstance(calls, list) else ()), message.get("function_call")]:
        if call:
            yield PER_CALL
            named = call.get("function") or call.get("custom") if isinstance(call, Mapping) else None
            function = named or call
            yield from _call(function)


def _call(function: Any) -> Iterator[str | int]:
    if not isinstance(function, Mapping):
        yield json.dumps(function, default=repr)
        return
    for value in (function.get("name"), function.get("arguments", function.get("input"))):
        if value:
            yield value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=repr)


def _part(part: Any) -> Iterator[str | int]:
    if part is None:
        return
    if isinstance(part, str):
        yield part
        return
    kind = part.get("type") if isinstance(part, Mapping) else None
    if kind == "text" and isinstance(part.get("text"), str):
        yield part["text"]
    elif kind in ("image_url", "input_image", "image"):
        image = part.get("image_url")
        detail = image.get("detail") if isinstance(image, Mapping) else part.get("detail")
        yield IMAGE_LOW if detail == "low" else IMAGE_HIGH
    elif kind == "input_audio":
        yield 1 + _base64_bytes(part.get("input_audio")) // AUDIO_BYTES_PER_TOKEN
    elif kind in ("file", "input_file", "document"):
        yield max(FILE_LEAST, _base64_bytes(part.get("file") or part.get("source")) // FILE_BYTES_PER_TOKEN)
    elif str(kind) not in THINKING_PARTS:
        yield _unmarked(part)


def _unmarked(part: Any) -> str:
    shown = {k: v for k, v in part.items() if k != "cache_control"} if isinstance(part, Mapping) else part
    return json.dumps(shown, ensure_ascii=False, default=repr)


def _base64_bytes(holder: Any) -> int:
    if not isinstance(holder, Mapping):
        return 0
    data = holder.get("data") or holder.get("file_data") or ""
    return len(data) * 3 // 4 if isinstance(data, str) else 0
