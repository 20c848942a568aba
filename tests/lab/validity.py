"""The chat API's own rules, and what a rewritten history owes to the one that came in."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

__all__ = ["preamble", "violations"]

Message = Mapping[str, Any]
ROLES = {"system", "developer", "user", "assistant", "tool", "function"}


def violations(sent: Sequence[Message], received: Sequence[Message] | None = None) -> list[str]:
    """What is wrong with ``sent``; with ``received`` also compared with the client's own history."""
    found = [*_roles_and_contents(sent), *_call_pairs(sent), *_function_pairs(sent)]
    if received is not None:
        # What the client itself got wrong is not the gateway's doing.
        excused = set(violations(received))
        found = [item for item in found if _kind(item) not in {_kind(e) for e in excused}]
        found += _against(sent, received)
    return found


def preamble(messages: Sequence[Message]) -> list[Message]:
    """The leading system and developer messages."""
    leading: list[Message] = []
    for message in messages:
        if message.get("role") not in ("system", "developer"):
            break
        leading.append(message)
    return leading


def _kind(violation: str) -> str:
    return violation.partition(": ")[2].partition(" (")[0]


def _roles_and_contents(messages: Sequence[Message]) -> Iterator[str]:
    if not messages:
        yield "-: no messages"
    for index, message in enumerate(messages):
        role = message.get("role")
        if role not in ROLES:
            yield f"{index}: unknown role ({role!r})"
        calls = message.get("tool_calls") or message.get("function_call")
        if _empty(message.get("content")) and not (role == "assistant" and calls):
            yield f"{index}: empty content ({role})"
        if "tool_calls" in message and not message["tool_calls"] and message["tool_calls"] is not None:
            yield f"{index}: empty tool_calls"


def _empty(content: Any) -> bool:
    if content is None:
        return True
    if isinstance(content, str):
        return not content.strip()
    if isinstance(content, Sequence):
        return not content or any(map(_is_empty_text, content))
    return False


def _is_empty_text(part: Any) -> bool:
    is_text = isinstance(part, Mapping) and part.get("type") == "text"
    return is_text and not str(part.get("text") or "").strip()


def _call_pairs(messages: Sequence[Message]) -> Iterator[str]:
    """Calls and results by position; an id may come again later in the conversation."""
    index = 0
    while index < len(messages):
        message = messages[index]
        if message.get("role") == "tool":
            yield f"{index}: orphan tool message ({message.get('tool_call_id')})"
        index += 1
        calls = message.get("tool_calls") if message.get("role") == "assistant" else None
        if not calls:
            continue
        wanted = sorted(str(call.get("id")) for call in calls)
        results: list[str] = []
        while index < len(messages) and messages[index].get("role") == "tool":
            results.append(str(messages[index].get("tool_call_id")))
            index += 1
        if sorted(results) != wanted:
            yield f"{index}: results do not answer the calls ({wanted} got {sorted(results)})"


def _function_pairs(messages: Sequence[Message]) -> Iterator[str]:
    for index, message in enumerate(messages):
        before = messages[index - 1] if index else {}
        after = messages[index + 1] if index + 1 < len(messages) else {}
        if message.get("role") == "function":
            call = before.get("function_call") or {}
            if call.get("name") != message.get("name"):
                yield f"{index}: orphan function message ({message.get('name')})"
        if message.get("function_call") and after.get("role") != "function":
            yield f"{index}: function call without its result"


def _collisions(messages: Sequence[Message]) -> int:
    roles = [message.get("role") for message in messages]
    return sum(1 for a, b in pairwise(roles) if a == b and a in ("user", "assistant"))


def _against(sent: Sequence[Message], received: Sequence[Message]) -> Iterator[str]:
    leading = preamble(received)
    if json.dumps(list(sent[: len(leading)])) != json.dumps(leading):
        yield "-: the preamble changed"
    if len(preamble(sent)) != len(leading):
        yield "-: the preamble grew or shrank"
    if _collisions(sent) > _collisions(received):
        yield "-: roles collide anew"
    if sent and received and sent[-1].get("role") != received[-1].get("role"):
        yield "-: the last message has another role"
    yield from _last_user(sent, received)


def _last_user(sent: Sequence[Message], received: Sequence[Message]) -> Iterator[str]:
    asked = [m for m in received if m.get("role") == "user"]
    kept = [m for m in sent if m.get("role") == "user"]
    if not asked:
        return
    if not kept:
        yield "-: the last user message is gone"
    elif kept[-1].get("content") != asked[-1].get("content") and not _ends_with(kept[-1], asked[-1]):
        yield "-: the last user message changed"


def _ends_with(kept: Message, asked: Message) -> bool:
    """Recall may stand before the message's own text, in the same message."""
    own, now = asked.get("content"), kept.get("content")
    if isinstance(own, str) and isinstance(now, str):
        return now.endswith(own)
    if isinstance(own, list) and isinstance(now, list):
        return now[-len(own) :] == own
    return False
