"""The words by which importance is told: marks, requests to remember, decisions, findings."""

from __future__ import annotations

import re
from collections.abc import Mapping

from gateway_compaction.core.text.lexicon import cues_of, pattern_of

MARK = re.compile(r"(?i)<!--\s*anchor\s*-->")
REMEMBER = re.compile(f"(?i){pattern_of('reminders')}")
DECISION = re.compile(f"(?i){pattern_of('decisions')}")
UNDECIDED = re.compile(f"(?i){pattern_of('undecided')}")
FINDING = re.compile(f"(?i){pattern_of('findings')}")
FAULT = re.compile(rf"(?i)\W*{pattern_of('faults')}")
# A line of a program that a tool read aloud tells of no outcome.
CODE = re.compile(
    r"^\s*(?:def|class|return|raise|import|from|if|elif|else|for|while|try|except|assert|const|let|var|function"
    r"|throw|catch|public|private|static|async|await|export)\b"
    r"|^\s*(?:#|//|/\*|\*|<\w)|[;{]\s*$|\w\([^)]*\)\s*[:,;]?\s*$"
)
CUES: Mapping[str, tuple[str, ...]] = {
    "said": ("<!--", *cues_of("anchor_cues")),
    "tool": cues_of("finding_cues"),
}
