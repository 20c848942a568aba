"""Estimating the tokens of a message, as far as that is possible without a tokeniser.

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

from gateway_compaction.core.conversation.messages import (
    Message,
    ToolCall,
    bare_calls_of,
    content_of,
    has_parts,
    labels_of,
    parts_of,
    thinking_of,
)
from gateway_compaction.core.conversation.parts import (
    audio_bytes,
    file_bytes,
    image_detail,
    is_audio,
    is_file,
    is_image,
    is_result,
    is_thinking,
    part_text,
    without_cache_mark,
)

# The framing of a message (role, separators), and of a call.
PER_MESSAGE = 4
PER_CALL = 8
# OpenAI's price of an image at low detail, and of a large one at high detail (85, and 170 a tile, of six).
# What an image really costs depends on its size in pixels, which nobody tells.
IMAGE_LOW = 85
IMAGE_HIGH = 1105
AUDIO_BYTES_PER_TOKEN = 1600
# A page of a PDF is a text and an image to some providers: what is embedded is never taken for cheap.
FILE_BYTES_PER_TOKEN = 20
FILE_LEAST = 1500
# A data URL, or so much in the alphabet of base64 without a space that it is no word.
EMBEDDED = re.compile(r"data:[\w/+.;=-]{0,200};base64,|[A-Za-z0-9+/=_-]{1000}")


class Estimate(int):
    """Tokens by a rule of thumb, which no tokeniser has counted.

    A type of its own, so that a prompt with such a price is not compared with the provider's report: it would
    teach the calibration the fault of the rule.
    """


def serialize_thinking(message: Message) -> list[str]:
    """Return what the model thought before it wrote a message, as texts, which is how it is paid for."""
    return [_to_text(thought) for thought in thinking_of(message)]


def price_message(message: Message) -> Iterator[str | int]:
    """Yield what a message costs: texts to encode, and tokens known without encoding."""
    yield PER_MESSAGE
    for part in content_of(message):
        if isinstance(part, str):
            yield part
        else:
            yield from _price_part(part)
    yield from labels_of(message)
    for thought in thinking_of(message):
        yield _to_text(thought)
    for call in bare_calls_of(message):
        yield PER_CALL
        if isinstance(call, ToolCall):
            yield from [_to_text(value) for value in (call.name, call.payload) if value]
        else:
            yield json.dumps(call, default=repr)


def has_media(message: Message) -> bool:
    """Tell whether something in a message is priced by a rule of thumb: an image, a sound or a file."""
    return any(isinstance(p, Estimate) for p in price_message(message))


def _price_part(part: Any) -> Iterator[str | int]:
    if part is None:
        return
    text = part if isinstance(part, str) else part_text(part)
    if text is not None:
        yield text
    elif is_image(part):
        yield Estimate(IMAGE_LOW if image_detail(part) == "low" else IMAGE_HIGH)
    elif is_audio(part):
        yield Estimate(1 + audio_bytes(part) // AUDIO_BYTES_PER_TOKEN)
    elif is_file(part):
        yield _price_file(file_bytes(part))
    elif is_result(part) and has_parts(part):
        yield PER_CALL
        for inner in parts_of(part):
            yield from _price_part(inner)
    elif not is_thinking(part):
        yield from _price_strange(part)


def _price_strange(part: Any) -> Iterator[str | int]:
    """Price a part of an unknown kind: its JSON, and what it embeds by the rule for files."""
    if not isinstance(part, Mapping):
        yield _to_json(part)
        return
    left: dict[Any, Any] = {}
    for name, value in part.items():
        inner = dict(value) if isinstance(value, Mapping) else {name: value}
        embedded = {k: v for k, v in inner.items() if isinstance(v, str) and EMBEDDED.match(v)}
        for data in embedded.values():
            yield _price_file(len(data) * 3 // 4)
        kept = {k: v for k, v in inner.items() if k not in embedded}
        if kept or not embedded:
            left[name] = kept if isinstance(value, Mapping) else value
    yield _to_json(without_cache_mark(left))


def _price_file(size: int) -> Estimate:
    return Estimate(max(FILE_LEAST, size // FILE_BYTES_PER_TOKEN))


def _to_text(value: Any) -> str:
    return value if isinstance(value, str) else _to_json(value)


def _to_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=repr)
