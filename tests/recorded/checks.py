"""What must hold for every call, whichever door and upstream."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from gateway_compaction.core.conversation.provider_rules import find_broken, newly_broken
from tests.lab import Answer, Seen, violations
from tests.lab.counting import count_request
from tests.lab.endpoints import anthropic_violations, responses_violations

__all__ = [
    "UNTOUCHED",
    "PlayedCall",
    "breaks_rules",
    "broken_rules",
    "find_faults",
    "find_new_faults",
    "is_same_epoch",
]

UNTOUCHED = ("none", "prepared", "passthrough")
# Why a request goes on as it came however long it is: docs/operating.md says so of each.
LEFT_ALONE = (
    "the history loads tools, and a part of it may not be left out",
    "the provider keeps this history",
    "the request asks the provider to manage its context",
)
# The least that any provider takes for an answer is kept free, and our count is off by a few per cent.
FRAME = 60
# Below so much of the window, by another count than the product's, nothing may be touched.
SURELY_BELOW = 0.7
RESERVE = 512
PRICED = (
    '"image',
    '"input_image',
    '"file',
    '"input_file',
    '"document',
    '"input_audio',
    '"audio',
    '"encrypted_',
)


@dataclass(frozen=True, slots=True)
class PlayedCall:
    """One call: what the client sent and got back, and what reached the upstream.

    Attributes:
        body: the client's.
        least: tokens of what is never left out of it.
        seen: what the upstream received of it.
        plain: what it received of the same call through a proxy without the plugin; None where nobody asked.
        window: the deployment's.
        label: the call's own, and ``proxy`` the address of who served it.
    """

    body: Mapping[str, Any]
    least: int
    answer: Answer
    seen: Seen
    plain: Seen | None
    window: int
    label: str = ""
    proxy: str = ""

    @property
    def is_untouched(self) -> bool:
        """Whether the client was told that nothing was changed."""
        return self.answer.outcome in UNTOUCHED

    @property
    def is_left_alone(self) -> bool:
        """Whether it goes on as it came however long it is."""
        return self.answer.told("reason") in LEFT_ALONE

    @property
    def is_too_long(self) -> bool:
        """Whether nothing that may be left out makes it fit."""
        return self.least + FRAME > self.window


def broken_rules(seen: Seen) -> list[str]:
    """The rules of its own provider that a body breaks which the upstream received."""
    if seen.path.endswith("/messages"):
        return anthropic_violations(seen.body)
    return responses_violations(seen.body) if seen.path.endswith("/responses") else violations(seen.messages)


def breaks_rules(seen: Seen) -> bool:
    """Whether a body breaks a rule of a provider, whoever's doing that is."""
    return bool(broken_rules(seen)) or ("messages" in seen.body and bool(find_broken(seen.body)))


def newly_broken_rules(seen: Seen, plain: Seen) -> list[str]:
    """What a body breaks that LiteLLM's own of the same call does not.

    What the recording itself breaks is the client's own. Two validators are asked: that of the tests, and for
    messages the product's own table of rules.
    """
    new = _kinds(broken_rules(seen)) - _kinds(broken_rules(plain))
    found = [f"breaks a rule of its provider: {kind}" for kind in new]
    if "messages" in seen.body and "messages" in plain.body:
        found += [f"breaks a rule of its provider: {told}" for told in newly_broken(seen.body, plain.body)]
    return found


def _kinds(found: list[str]) -> Counter[str]:
    return Counter(item.partition(": ")[2].partition(" (")[0] for item in found)


def find_faults(call: PlayedCall) -> Iterator[str]:
    """Yield what must not be in one call."""
    outcome, reason = call.answer.outcome, call.answer.told("reason")
    if not outcome or not reason:
        yield f"no header says what was done: {outcome}, {reason}"
    if outcome in ("failed", "bypassed"):
        yield f"{outcome}: {reason}"
    if call.seen.tokens > call.window and not (call.is_too_long or call.is_left_alone):
        yield f"{call.seen.tokens} tokens for a window of {call.window} ({outcome}: {reason})"
    if b"_origin" in call.seen.raw:
        yield "a field of ours is in what was sent"
    if is_surely_below(call.body, call.window) and not call.is_untouched:
        yield f"below every level, and {outcome}: {reason}"
    if call.plain is not None:
        if call.is_untouched and call.seen.raw != call.plain.raw:
            yield f"told as untouched ({reason}), and not what LiteLLM sends: {_difference(call)}"
        yield from newly_broken_rules(call.seen, call.plain)


def is_surely_below(body: Mapping[str, Any], window: int) -> bool:
    """Whether a request is below every level by any count; of media each has another price."""
    text = json.dumps(body)
    return not any(word in text for word in PRICED) and count_request(body) + RESERVE < SURELY_BELOW * window


def find_new_faults(before: PlayedCall, call: PlayedCall) -> Iterator[str]:
    """Yield what must not be in a call that goes on from another one."""
    if is_same_epoch(before, call) and not prefix_of(call.seen).startswith(prefix_of(before.seen)):
        yield f"the prefix changed within an epoch ({call.answer.told('reason')}): {_parting(before, call)}"


def is_same_epoch(before: PlayedCall, call: PlayedCall) -> bool:
    """Whether two calls were sent with the same stored compaction."""
    told = [(c.answer.told("session"), c.answer.told("version")) for c in (before, call)]
    return told[0] == told[1] and None not in told[0] and call.answer.outcome != "fallback"


def prefix_of(seen: Seen) -> str:
    """What the calls of an epoch share, as JSON: all but the last message, which results may be joined to."""
    items = seen.body["input" if "input" in seen.body else "messages"]
    items = items if isinstance(items, list) else []
    beginning = [seen.body.get(key) for key in ("tools", "system", "instructions")]
    return json.dumps([*beginning, items[:-1]]).removesuffix("]]")


def _parting(before: PlayedCall, call: PlayedCall) -> str:
    """Show where two prefixes part."""
    a, b = prefix_of(before.seen), prefix_of(call.seen)
    at = next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
    return f"...{a[max(0, at - 40) : at + 60]!r} and {b[max(0, at - 40) : at + 60]!r}"


def _difference(call: PlayedCall) -> str:
    assert call.plain is not None
    own, plain = call.seen.body, call.plain.body
    names = [name for name in {**own, **plain} if own.get(name) != plain.get(name)]
    return ", ".join(names) or "the order of its fields"
