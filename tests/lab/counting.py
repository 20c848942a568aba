"""Tokens of a request, counted without a line of the product: what a provider would report."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import tiktoken

__all__ = ["count_message", "count_request", "count_text", "dumps"]

PER_MESSAGE = 3
PER_REPLY = 3
PER_IMAGE = 765
# Of sound one provider asks 10 tokens a second and another one 32: the dearer, of 16,000 bytes.
SOUND_BYTES_PER_TOKEN = 500
MEDIA = ("image", "input_image", "document", "file", "input_file", "input_audio", "audio")
SOUNDS = ("input_audio", "audio")
# Thoughts that are sent back sealed: base64 of text of some four characters a token.
TOKENS_OF_SEALED = 3 / 16


@cache
def encoding() -> tiktoken.Encoding:
    """o200k, from the files that LiteLLM ships, so that no test needs the network."""
    spec = find_spec("litellm")
    if spec and spec.origin and "TIKTOKEN_CACHE_DIR" not in os.environ:
        os.environ["TIKTOKEN_CACHE_DIR"] = str(Path(spec.origin).parent / "litellm_core_utils" / "tokenizers")
    return tiktoken.get_encoding("o200k_base")


def dumps(value: Any) -> str:
    """JSON with a fixed form, so that equal values are equal texts."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


@lru_cache(maxsize=200_000)
def count_text(text: str) -> int:
    """Tokens of a text; text that looks like a special token counts as text."""
    clean = text.encode("utf-8", "replace").decode("utf-8")
    return len(encoding().encode_ordinary(clean))


def count_message(message: Mapping[str, Any]) -> int:
    """Tokens of one message: role, name, text, images at a flat price, calls; ids are free."""
    total = PER_MESSAGE + count_text(str(message.get("role") or ""))
    if message.get("name"):
        total += count_text(str(message["name"])) + 1
    total += _count_content(message.get("content"))
    for call in message.get("tool_calls") or ():
        total += _count_function((call or {}).get("function") or {})
    if message.get("function_call"):
        total += _count_function(message["function_call"])
    return total


def count_request(body: Mapping[str, Any]) -> int:
    """Tokens of a whole request body: its messages, its tools and the reply's frame."""
    total = PER_REPLY + sum(map(count_message, body.get("messages") or ()))
    total += _count_content(body.get("system")) + _count_content(body.get("instructions"))
    items = body.get("input")
    total += _count_content(items) if isinstance(items, str) else sum(map(_count_item, items or ()))
    for key in ("tools", "functions", "response_format"):
        if body.get(key):
            total += count_text(dumps(body[key]))
    return total


def _count_item(item: Mapping[str, Any]) -> int:
    """Tokens of an item of the Responses API."""
    if "role" in item:
        return count_message(item)
    told = {name: value for name, value in item.items() if name not in ("id", "call_id", "status", "type")}
    sealed = len(str(told.pop("encrypted_content", None) or "")) * TOKENS_OF_SEALED
    return PER_MESSAGE + int(sealed) + sum(_count_content(value) for value in told.values())


def _count_function(function: Mapping[str, Any]) -> int:
    arguments = function.get("arguments")
    text = arguments if isinstance(arguments, str) else dumps(arguments)
    return count_text(str(function.get("name") or "")) + count_text(text)


def _count_content(content: Any) -> int:
    if content is None:
        return 0
    if isinstance(content, str):
        return count_text(content)
    if isinstance(content, Sequence):
        return sum(map(_count_part, content))
    return count_text(dumps(content))


def _count_part(part: Any) -> int:
    if isinstance(part, str):
        return count_text(part)
    if isinstance(part, Mapping):
        if isinstance(part.get("text"), str):
            return count_text(part["text"])
        if "image_url" in part or part.get("type") in MEDIA:
            return _count_medium(part)
        if part.get("type") == "tool_use":
            return _count_function({"name": part.get("name"), "arguments": part.get("input")})
        if part.get("type") == "tool_result":
            return _count_content(part.get("content"))
    return count_text(dumps(part))


def _count_medium(part: Mapping[str, Any]) -> int:
    """A picture has a price, a sound one by its length; the id of a file costs no more than its text."""
    told = dumps(part)
    if part.get("type") in SOUNDS or "data:audio/" in told:
        return len(told) * 3 // 4 // SOUND_BYTES_PER_TOKEN + 1
    return PER_IMAGE if len(told) > PER_IMAGE else min(PER_IMAGE, count_text(told))
