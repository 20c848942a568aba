"""Estimating the tokens of a message, as far as that is possible without a tokeniser.

Rules, per message: 4 tokens of framing; text by the model's encoding; a call its name, arguments and 8; a
picture by its size and detail where its header tells the size (see ``pictures``), else 1,105; audio one token
per 1,600 bytes (about a tenth of a second); a text file one token per 4 bytes; any other file, and whatever
else is embedded, one token per 20 bytes and at least 1,500; base64 never as text; anything else by the length
of its JSON. What is embedded is what its media type says, whatever the part is called that carries it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from gateway_compaction.core.conversation.messages import (
    Message,
    ToolCall,
    bare_calls_of,
    beside_content,
    content_of,
    has_parts,
    labels_of,
    parts_of,
)
from gateway_compaction.core.conversation.parts import (
    Embedded,
    audio_bytes,
    embedded_in,
    file_bytes,
    image_detail,
    is_audio,
    is_file,
    is_image,
    is_result,
    is_thinking,
    part_text,
    without_embedded,
)
from gateway_compaction.core.tokens.pictures import PictureRule, price_picture

# The framing of a message (role, separators), and of a call.
PER_MESSAGE = 4
PER_CALL = 8
AUDIO_BYTES_PER_TOKEN = 1600
# A page of a PDF is a text and an image to some providers: what is embedded is never taken for cheap.
FILE_BYTES_PER_TOKEN = 20
FILE_LEAST = 1500
TEXT_BYTES_PER_TOKEN = 4
TEXT_FILE = re.compile(r"text/.*|.*[/+](json|xml|yaml|csv|javascript)")
ONE_WORD = re.compile(r"[!-~]*")
# A word no longer than ids, marks and timestamps are costs nothing, and clients make these anew.
LABEL_CHARS = 100
# A longer text in a file that is not embedded is no name of it, but what it says.
FILE_NAME_CHARS = 200
# How deep in a field texts are looked for; nobody may make us recurse without end.
DEEPEST = 20


class Estimate(int):
    """Tokens by a rule of thumb, which no tokeniser has counted.

    A type of its own, so that such a price is told apart from what was counted: a report would otherwise
    teach the model's calibration the fault of the rule.
    """


def price_content(message: Message, rule: PictureRule = "tiles") -> Iterator[str | int]:
    """Yield what the part of a message costs that its digest stands for."""
    yield PER_MESSAGE
    for part in content_of(message):
        if isinstance(part, str):
            yield part
        else:
            yield from _price_part(part, rule)
    yield from labels_of(message)
    for call in bare_calls_of(message):
        yield PER_CALL
        if isinstance(call, ToolCall):
            yield from [_to_text(value) for value in (call.name, call.payload) if value]
        else:
            yield json.dumps(call, default=repr)


def price_beside(message: Message) -> list[str | int]:
    """Return what else of a message costs: what the model thought before it wrote it, under whatever name.

    A thought that stands there under two names is read once.
    """
    beside = beside_content(message)
    if not beside:
        return []
    if len(beside) == 1 and isinstance(beside[0], str):
        texts: Iterable[str] = beside
    else:
        texts = dict.fromkeys(text for value in beside for text in _find_texts(value))
    priced = (_price_encoded(text) if ONE_WORD.fullmatch(text) else text for text in texts)
    return [piece for piece in priced if piece]


def estimate_media(message: Message, rule: PictureRule = "tiles") -> int:
    """Return the tokens of a message that are priced by a rule of thumb: its images, sounds and files."""
    if not has_parts(message):
        return 0
    return sum(p for p in price_content(message, rule) if isinstance(p, Estimate))


def _find_texts(value: Any, depth: int = DEEPEST) -> Iterator[str]:
    """Yield the strings in a JSON value."""
    if not depth:
        return
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from _find_texts(inner, depth - 1)
    elif isinstance(value, list):
        for inner in value:
            yield from _find_texts(inner, depth - 1)


def _price_part(part: Any, rule: PictureRule) -> Iterator[str | int]:
    if part is None:
        return
    text = part if isinstance(part, str) else part_text(part)
    if text is not None:
        yield text
    elif is_result(part) and has_parts(part):
        yield PER_CALL
        for inner in parts_of(part):
            yield from _price_part(inner, rule)
    elif not is_thinking(part):
        yield from _price_media(part, rule)


def _price_media(part: Any, rule: PictureRule) -> Iterator[str | int]:
    """Price what a part embeds, and what else is in it where its kind is not known."""
    found = list(embedded_in(part))
    for item in found:
        yield _price_embedded(item, part, rule)
    if not (is_image(part) or is_audio(part) or is_file(part)):
        yield _to_json(without_embedded(part))
    elif not found:
        yield from _price_named(part, rule)


def _price_embedded(item: Embedded, part: Any, rule: PictureRule) -> Estimate:
    kind = item.media_type.partition("/")[0]
    if kind == "image" or (not kind and is_image(part)):
        is_low = isinstance(part, Mapping) and image_detail(part) == "low"
        return Estimate(price_picture(rule, item.payload, is_low=is_low))
    if kind == "audio" or (not kind and is_audio(part)):
        return _price_sound(item.size)
    if TEXT_FILE.fullmatch(item.media_type):
        return Estimate(item.size // TEXT_BYTES_PER_TOKEN)
    return _price_file(item.size)


def _price_named(part: Mapping[str, Any], rule: PictureRule) -> Iterator[str | int]:
    """Price a picture, a sound or a file that is not embedded, or too short to be known as base64."""
    if is_image(part):
        yield Estimate(price_picture(rule, None, is_low=image_detail(part) == "low"))
    elif is_audio(part):
        yield _price_sound(audio_bytes(part))
    else:
        # The text of a document may stand in it as it is.
        texts = [text for text in _find_texts(part) if len(text) > FILE_NAME_CHARS]
        yield from texts
        if not texts:
            yield _price_file(file_bytes(part))


def _price_encoded(word: str) -> int:
    """Price one word: a label, or what a model thought, encrypted: three quarters of that are bytes."""
    return len(word) * 3 // 16 if len(word) > LABEL_CHARS else 0


def _price_sound(size: int) -> Estimate:
    return Estimate(1 + size // AUDIO_BYTES_PER_TOKEN)


def _price_file(size: int) -> Estimate:
    return Estimate(max(FILE_LEAST, size // FILE_BYTES_PER_TOKEN))


def _to_text(value: Any) -> str:
    return value if isinstance(value, str) else _to_json(value)


def _to_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=repr)
