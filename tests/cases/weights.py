"""How heavy messages are, counted in three ways.

``counted`` is the product's count: windows are set by it. ``roughly`` is the estimate that the authors of
cases use, ``count_request`` of the laboratory an independent count: limits must hold by both of these.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from gateway_compaction.core.conversation.transcript import parse_transcript
from gateway_compaction.core.tokens.counter import TokenCounter, output_reserve
from gateway_compaction.runtime import use_bundled_encodings
from tests.lab import count_request

__all__ = ["COUNTED_AS", "counted", "prompt_tokens", "roughly", "scaled", "weight"]

COUNTED_AS = "gpt-4o"
SMALLEST_WINDOW = 200
COUNTER = TokenCounter()
Message = Mapping[str, Any]
use_bundled_encodings()


def counted(messages: Sequence[Message], body: Mapping[str, Any], window: int) -> int:
    """Tokens of a request by the product's counter, schemas and output reserve included."""
    reserve = output_reserve(body, window, "auto")
    return COUNTER.measure(parse_transcript(messages), body, COUNTED_AS, reserve).total


def prompt_tokens(messages: Sequence[Message], body: Mapping[str, Any], model: str = COUNTED_AS) -> int:
    """What the upstream reports, so that the product has nothing to correct in its count."""
    return COUNTER.raw_prompt_tokens(messages, body, model)


def scaled(
    window: int, stated_fill: float | None, messages: Sequence[Message], body: Mapping[str, Any]
) -> int:
    """The window that gives a case its stated fill, where by our count it would be less full."""
    tokens = counted(messages, body, window)
    if stated_fill and tokens / window < stated_fill:
        return max(SMALLEST_WINDOW, int(tokens / stated_fill))
    return window


def roughly(messages: Sequence[Message], body: Mapping[str, Any]) -> int:
    """Words, or a fifth of the characters where that is more; wide characters one by one; a picture 1,000."""
    schemas = sum(_text(json.dumps(body[key])) for key in ("tools", "response_format") if body.get(key))
    return 3 + schemas + sum(4 + _content(m.get("content")) + _extras(m) for m in messages)


def weight(messages: Sequence[Message], body: Mapping[str, Any]) -> int:
    """The larger of the rough and the independent count."""
    return max(roughly(messages, body), count_request({**body, "messages": list(messages)}))


def _content(content: Any) -> int:
    if isinstance(content, str):
        return _text(content)
    if not isinstance(content, list):
        return 0
    return sum(_part(part) for part in content)


def _part(part: Any) -> int:
    if isinstance(part, Mapping) and part.get("type") == "text":
        return _text(str(part.get("text")))
    return 1000 if isinstance(part, Mapping) and part.get("type") == "image_url" else 200


def _extras(message: Message) -> int:
    values = (message.get(key) for key in ("tool_calls", "function_call", "reasoning", "reasoning_content"))
    return sum(_text(v if isinstance(v, str) else json.dumps(v, ensure_ascii=False)) for v in values if v)


def _text(text: str) -> int:
    wide = sum(1 for char in text if ord(char) > 0x2E7F)
    return wide + max(len(text.split()), math.floor((len(text) - wide) / 5))
