"""What a message weighs.

Rules, per message: 4 tokens of framing; text by the model's encoding; a call its name, arguments and 8; an
image 85 at low detail, else 1,105; audio one token per 1,600 bytes (about a tenth of a second); a file, and
whatever else is embedded, one token per 20 bytes and at least 1,500; base64 never as text; anything else by
the length of its JSON.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from gateway_compaction.core.conversation.messages import THINKING_PARTS, Message

__all__ = ["has_media", "pieces_of", "reasoning_of"]

PER_MESSAGE, PER_CALL = 4, 8
IMAGE_LOW, IMAGE_HIGH = 85, 1105
AUDIO_BYTES_PER_TOKEN, FILE_BYTES_PER_TOKEN, FILE_LEAST = 1600, 20, 1500
# A data URL, or so much in the alphabet of base64 without a space that it is no word.
EMBEDDED = re.compile(r"data:[\w/+.;=-]{0,200};base64,|[A-Za-z0-9+/=_-]{1000}")


class Estimate(int):
    """Tokens by a rule of thumb, which no tokeniser has counted."""


def reasoning_of(message: Message) -> Iterator[str]:
    """What the model thought before: sent and paid for like text."""
    for name in ("reasoning_content", "thinking_blocks"):
        value = message.get(name)
        if value:
            yield value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=repr)
    content = message.get("content")
    for part in content if isinstance(content, list) else ():
        if isinstance(part, Mapping) and str(part.get("type")) in THINKING_PARTS:
            yield _unmarked(part)


def pieces_of(message: Message) -> Iterator[str | int]:
    """Texts to encode, and tokens known without encoding."""
    yield PER_MESSAGE
    content = message.get("content")
    for part in content if isinstance(content, list) else (content,):
        yield from _part(part)
    for name in ("name", "refusal"):
        if message.get(name):
            yield str(message[name])
    yield from reasoning_of(message)
    calls = message.get("tool_calls")
    for call in [*(calls if isinstance(calls, list) else ()), message.get("function_call")]:
        if call:
            yield PER_CALL
            named = call.get("function") or call.get("custom") if isinstance(call, Mapping) else None
            function = named or call
            yield from _call(function)


def has_media(message: Message) -> bool:
    """Whether something in it is priced by a rule of thumb."""
    return any(isinstance(p, Estimate) for p in pieces_of(message))


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
        yield Estimate(IMAGE_LOW if detail == "low" else IMAGE_HIGH)
    elif kind == "input_audio":
        yield Estimate(1 + _base64_bytes(part.get("input_audio")) // AUDIO_BYTES_PER_TOKEN)
    elif kind in ("file", "input_file", "document"):
        yield _file(_base64_bytes(part.get("file") or part.get("source")))
    elif kind == "tool_result" and isinstance(part.get("content"), list):
        yield PER_CALL
        for inner in part["content"]:
            yield from _part(inner)
    elif str(kind) not in THINKING_PARTS:
        yield from _strange(part)


def _strange(part: Any) -> Iterator[str | int]:
    """A part of a kind we do not know: its JSON, and what it embeds by the rule for files."""
    if not isinstance(part, Mapping):
        yield _unmarked(part)
        return
    left: dict[Any, Any] = {}
    for name, value in part.items():
        inner = dict(value) if isinstance(value, Mapping) else {name: value}
        embedded = {k: v for k, v in inner.items() if isinstance(v, str) and EMBEDDED.match(v)}
        for data in embedded.values():
            yield _file(len(data) * 3 // 4)
        kept = {k: v for k, v in inner.items() if k not in embedded}
        if kept or not embedded:
            left[name] = kept if isinstance(value, Mapping) else value
    yield _unmarked(left)


def _file(size: int) -> Estimate:
    return Estimate(max(FILE_LEAST, size // FILE_BYTES_PER_TOKEN))


def _unmarked(part: Any) -> str:
    shown = {k: v for k, v in part.items() if k != "cache_control"} if isinstance(part, Mapping) else part
    return json.dumps(shown, ensure_ascii=False, default=repr)


def _base64_bytes(holder: Any) -> int:
    if not isinstance(holder, Mapping):
        return 0
    data = holder.get("data") or holder.get("file_data") or ""
    return len(data) * 3 // 4 if isinstance(data, str) else 0
