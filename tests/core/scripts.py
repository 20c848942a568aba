"""Conversations written as one word for each message."""

from __future__ import annotations

from typing import Any

__all__ = ["script"]

THOUGHT = {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}
CALL = {"id": "call_0", "type": "function", "function": {"name": "run", "arguments": '{"n": 1}'}}
WORDS: dict[str, dict[str, Any]] = {
    "sys": {"role": "system", "content": "Be kind."},
    "dev": {"role": "developer", "content": "Be brief."},
    "user": {"role": "user", "content": "Hello?"},
    "text": {"role": "assistant", "content": "Hello."},
    "call": {"role": "assistant", "content": None, "tool_calls": [CALL]},
    "calls": {"role": "assistant", "content": "", "tool_calls": [CALL, {**CALL, "id": "call_1"}]},
    "res": {"role": "tool", "tool_call_id": "call_0", "content": "1"},
    "fcall": {"role": "assistant", "content": None, "function_call": {"name": "run", "arguments": "{}"}},
    "fres": {"role": "function", "name": "run", "content": "1"},
    "use": {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "run", "input": {}}]},
    "ures": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "1"}]},
    "think": {"role": "assistant", "content": "So.", "thinking_blocks": [THOUGHT]},
    "thinkcall": {"role": "assistant", "content": None, "tool_calls": [CALL], "thinking_blocks": [THOUGHT]},
    "thinkpart": {"role": "assistant", "content": [THOUGHT, {"type": "text", "text": "So."}]},
}


def script(words: str) -> list[dict[str, Any]]:
    """One message for each word; every message another object."""
    return [dict(WORDS[word]) for word in words.split()]
