"""The explicit rules of a user, and the task: what must survive word for word.

A narrow pattern of its own: sentences that begin with an order that is meant to last. What is pinned is
found by another, wider one.
"""

from __future__ import annotations

from collections.abc import Iterable

import regex

from gateway_compaction.core.messages import Message, part_of, text_of
from gateway_compaction.core.sentences import sentences

__all__ = ["rules_of", "task_of"]

PASTED = regex.compile(r"(?s)```.*?(?:```|\Z)|<(\w+)>.*?</\1>|`[^`\n]*`")
MARKED = "<!-- anchor -->"
BEHIND = regex.compile(r"([.!?。！？]+)\s*(<!-- anchor -->)")
LONGEST, SHORTEST = 300, 12
ORDER = regex.compile(
    r"(?i)^(?:[-*•]\s+)?(?:(?:please|and|but|also|note|important|remember|rule)[:,]?\s+)*"
    r"(?:always|never|do not ever|don['’]t ever|from now on|remember (?:that|to|my)|under no circumstances"
    r"|앞으로는|항상|절대|반드시|今後は|必ず|絶対に|常に|今后|请始终|请务必|永远不要|切勿"
    r"|ab jetzt|immer|niemals|auf keinen fall|désormais|toujours|jamais|ne \w+ jamais"
    r"|a partir de ahora|siempre|nunca)(?=[\s,:]|\p{Han}|\p{Hiragana}|\p{Hangul})"
)


def task_of(messages: Iterable[Message]) -> str:
    """The first user message that says something."""
    return next((text_of(m) for m in messages if part_of(m) == "user" and text_of(m).strip()), "")


def rules_of(messages: Iterable[Message]) -> list[str]:
    """Sentences of users that lay down a lasting rule, or carry the mark of one; pasted text left out."""
    found: dict[str, None] = {}
    for message in messages:
        if part_of(message) == "user":
            found |= dict.fromkeys(_rules_in(text_of(message)))
    return list(found)


def _rules_in(text: str) -> list[str]:
    own = BEHIND.sub(r" \2\1", PASTED.sub("\n", text))
    lasting = [s for s in sentences(own) if SHORTEST <= len(s) <= LONGEST and not s.endswith(("?", "？"))]
    found = [s for s in lasting if MARKED in s or ORDER.search(s)]
    return [s.replace(f" {MARKED}", "").replace(MARKED, "").strip() for s in found]
