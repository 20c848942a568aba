"""The presets: partial policies with a name, keyed like the policy file.

Each holds values that work together, which a team would otherwise have to find out by trying. docs/presets.md
plays each of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

PRESETS: Mapping[str, Mapping[str, Any]] = {
    # Usage of the window decides alone: the built-in defaults.
    "hybrid": {},
    # Every three finished turns become one summary, as long as a fixed share of them; all are sent. The third
    # answer first arrives with the fourth call, which waits for the summary that it is to carry. So nothing
    # but that call's question may be kept back.
    "turns": {
        "levels": {"medium": {"keep_last": 1}},
        "triggers": {"turns": 3, "then": "apply", "wait_seconds": 10},
        "summary": {"strategy": "turns", "rate": 0.3},
    },
    # One rolling summary, renewed whenever 8000 tokens (of four characters each) are not in it yet.
    "incremental": {
        "levels": {"medium": {"keep_last": 6}},
        "triggers": {"tokens": 8000, "count": "characters", "then": "apply"},
        "summary": {
            "strategy": "rolling",
            "max_tokens": 1024,
            "message_chars": 3000,
            "timeout_seconds": 60,
        },
    },
    # Coding agents: one report of about 1000 words under fixed headings, and the last steps as they are.
    "agent": {
        "levels": {"light": {"at": 0.65}, "medium": {"at": 0.75, "keep_last": 4}},
        "summary": {"strategy": "rolling", "prompt": "coding", "max_tokens": 1500},
    },
}
