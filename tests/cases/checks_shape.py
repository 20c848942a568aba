"""Checks of order, roles and pairs, and of what must stay as the client sent it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from gateway_compaction.core.conversation.provider_rules import newly_broken
from tests.cases.evidence import Call, Evidence
from tests.cases.texts import dumped, is_preamble, open_pairs, text_of
from tests.cases.verdict import Verdict, check, every, failed, passed

__all__: list[str] = []

Message = Mapping[str, Any]


def as_sent(evidence: Evidence, call: Call, index: int) -> list[Message]:
    """A message of the client as it may go upstream: as it came, or as LiteLLM itself rewrites it."""
    message = call.sent[index]
    own = evidence.prepared.case.messages
    plain = evidence.plain or []
    if len(plain) == len(own) and index < len(own) and own[index] == message and plain[index] != message:
        evidence.note("LiteLLM itself rewrites some messages; what it makes of them counts as unchanged")
        return [message, plain[index]]
    return [message]


def differing(evidence: Evidence, call: Call, last: int) -> str | None:
    """What is not as the client sent it among the last messages."""
    if len(call.messages) < last:
        return f"only {len(call.messages)} messages"
    for back in range(1, last + 1):
        found = call.messages[-back]
        if found not in as_sent(evidence, call, len(call.sent) - back):
            return f"message -{back} is {dumped(found)[:120]}, sent was {dumped(call.sent[-back])[:120]}"
    return None


@check("last_verbatim", always=True)
def last_verbatim(evidence: Evidence, argument: str) -> Verdict:
    """The last message is the client's last, unchanged."""
    return every(evidence, lambda call: differing(evidence, call, 1))


@check("tail_equal")
def tail_equal(evidence: Evidence, argument: str) -> Verdict:
    """The last N messages are the client's last N, unchanged."""
    return every(evidence, lambda call: differing(evidence, call, int(argument)))


@check("unchanged")
def unchanged(evidence: Evidence, argument: str) -> Verdict:
    """All messages are the client's, unchanged."""

    def problem(call: Call) -> str | None:
        if len(call.messages) != len(call.sent):
            return f"{len(call.messages)} messages instead of {len(call.sent)}"
        return differing(evidence, call, len(call.sent))

    return every(evidence, problem)


@check("pairs_closed", always=True)
def pairs_closed(evidence: Evidence, argument: str) -> Verdict:
    """Every call has all its results directly behind it, every result its call."""
    return every(evidence, lambda call: open_pairs(call.messages))


@check("function_pairs_closed", always=True)
def function_pairs_closed(evidence: Evidence, argument: str) -> Verdict:
    """Every ``function`` message stands directly behind the message that calls it."""

    def problem(call: Call) -> str | None:
        for before, message in pairwise([{"role": ""}, *call.messages]):
            if message["role"] == "function" and not before.get("function_call"):
                return f"{message.get('name')} has no call before it"
        return None

    return every(evidence, problem)


@check("no_dup_results", always=True)
def no_dup_results(evidence: Evidence, argument: str) -> Verdict:
    """No call id has two results after one assistant message."""

    def problem(call: Call) -> str | None:
        seen: set[Any] = set()
        for message in call.messages:
            if message["role"] == "assistant":
                seen = set()
            elif message["role"] == "tool" and message.get("tool_call_id") in seen:
                return f"{message['tool_call_id']} has two results"
            elif message["role"] == "tool":
                seen.add(message.get("tool_call_id"))
        return None

    return every(evidence, problem)


@check("if_contains_then_pair", always=True)
def if_contains_then_pair(evidence: Evidence, argument: str) -> Verdict:
    """An assistant message that holds the text also holds its calls."""

    def problem(call: Call) -> str | None:
        bare = [
            m
            for m in call.messages
            if m["role"] == "assistant" and argument in text_of(m) and not m.get("tool_calls")
        ]
        return f"{dumped(bare[0])[:120]} has no calls" if bare else None

    return every(evidence, problem)


@check("nonempty", always=True)
def nonempty(evidence: Evidence, argument: str) -> Verdict:
    """There is at least one message besides the system's."""
    return every(
        evidence, lambda call: None if any(not is_preamble(m) for m in call.messages) else "no messages"
    )


@check("system_verbatim_once", always=True)
def system_verbatim_once(evidence: Evidence, argument: str) -> Verdict:
    """The first message is the client's first, and no other message repeats how it begins."""

    def problem(call: Call) -> str | None:
        if call.messages[0] not in as_sent(evidence, call, 0):
            return f"the first message is {dumped(call.messages[0])[:120]}"
        beginning = (text_of(call.sent[0]).split() or [""])[0]
        return "it is repeated" if sum(beginning in text_of(m) for m in call.messages) != 1 else None

    return every(evidence, problem)


@check("system_starts_verbatim", always=True)
def system_starts_verbatim(evidence: Evidence, argument: str) -> Verdict:
    """The first message begins with the whole text of the client's first."""
    return every(
        evidence,
        lambda call: None if text_of(call.messages[0]).startswith(text_of(call.sent[0])) else "it does not",
    )


@check("system_only_first", always=True)
def system_only_first(evidence: Evidence, argument: str) -> Verdict:
    """No message but the first is the system's."""
    return every(
        evidence, lambda call: "one more" if any(m["role"] == "system" for m in call.messages[1:]) else None
    )


@check("first_is_user", always=True)
def first_is_user(evidence: Evidence, argument: str) -> Verdict:
    """The first message behind the preamble is a user's."""

    def problem(call: Call) -> str | None:
        roles = [m["role"] for m in call.messages if not is_preamble(m)]
        return None if roles[:1] == ["user"] else f"it is {roles[:1]}"

    return every(evidence, problem)


@check("no_adjacent_same_role", always=True)
def no_adjacent_same_role(evidence: Evidence, argument: str) -> Verdict:
    """No two messages of one role stand side by side, results apart."""

    def problem(call: Call) -> str | None:
        roles = [m["role"] for m in call.messages if not is_preamble(m)]
        return next((f"two of {a}" for a, b in pairwise(roles) if a == b != "tool"), None)

    return every(evidence, problem)


@check("no_new_adjacency", always=True)
def no_new_adjacency(evidence: Evidence, argument: str) -> Verdict:
    """Not more neighbours of one role (user, assistant) than the client sent."""

    def problem(call: Call) -> str | None:
        before, now = _neighbours(call.sent), _neighbours(call.messages)
        return f"{now} instead of {before}" if now > before else None

    return every(evidence, problem)


def _neighbours(messages: Sequence[Message]) -> int:
    return sum(a["role"] == b["role"] and a["role"] in ("user", "assistant") for a, b in pairwise(messages))


@check("ends_like_input", always=True)
def ends_like_input(evidence: Evidence, argument: str) -> Verdict:
    """The last message has the role of the client's last."""
    return every(
        evidence,
        lambda call: (
            None if call.messages[-1]["role"] == call.sent[-1]["role"] else call.messages[-1]["role"]
        ),
    )


@check("provider_rules", always=True)
def provider_rules(evidence: Evidence, argument: str) -> Verdict:
    """No rule of a provider is broken that the client, or LiteLLM on its own, keeps; asked of every case."""
    own = evidence.prepared.case.messages
    for number, call in enumerate(evidence.judged, 1):
        came: list[Sequence[Message]] = [call.sent]
        if evidence.plain is not None and list(call.sent) == list(own):
            came.append(evidence.plain)
        for seen in call.upstream:
            found = [newly_broken(seen.body, {**call.body, "messages": list(messages)}) for messages in came]
            if all(found):
                return failed(f"request {number} of {len(evidence.judged)}: {found[0]}")
    return passed()


@check("cache_ttl_order", always=True)
def cache_ttl_order(evidence: Evidence, argument: str) -> Verdict:
    """In the order tools, system, messages no cache mark of an hour stands behind one of five minutes."""

    def problem(call: Call) -> str | None:
        system = [m for m in call.messages if is_preamble(m)]
        others = [m for m in call.messages if not is_preamble(m)]
        lifetimes = list(_mark_lifetimes([call.served.body.get("tools"), system, others]))
        if "5m" in lifetimes and "1h" in lifetimes[lifetimes.index("5m") :]:
            return f"the marks live for {lifetimes}"
        return None

    return every(evidence, problem)


def _mark_lifetimes(value: Any) -> Iterator[str]:
    """The lifetimes of the cache marks in a JSON value, in order; one that says none has five minutes."""
    if isinstance(value, list):
        for item in value:
            yield from _mark_lifetimes(item)
    elif isinstance(value, Mapping):
        # A mark stands behind all that it is written beside.
        for name, inner in value.items():
            if name != "cache_control":
                yield from _mark_lifetimes(inner)
        if isinstance(value.get("cache_control"), Mapping):
            yield str(value["cache_control"].get("ttl") or "5m")


@check("assistants_have", always=True)
def assistants_have(evidence: Evidence, argument: str) -> Verdict:
    """Every assistant message has the field, and something in it."""

    def problem(call: Call) -> str | None:
        bare = (m for m in call.messages if m["role"] == "assistant" and not m.get(argument))
        return next((f"{dumped(m)[:120]} has none" for m in bare), None)

    return every(evidence, problem)
