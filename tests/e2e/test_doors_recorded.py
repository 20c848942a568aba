"""Recorded conversations through Messages and Responses, call by call, to both kinds of upstream."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from tests.e2e.fleet import WINDOWS, served
from tests.e2e.test_doors import PATHS, body_of, broken_rules
from tests.lab import Client, Reply, Summariser, Upstream
from tests.lab.data import load

CALLS = 5
CHOSEN = (("tau_bench_airline", 0), ("locomo", 0))
MODELS = ["chat-4k", "doors-anthropic"]


def histories(messages: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """Some of the calls that made a conversation, the last one among them."""
    ends = [i for i, m in enumerate(messages) if m["role"] == "assistant" and i]
    return [messages[:end] for end in ends[:: -max(1, len(ends) // CALLS)][::-1]]


def kinds(found: list[str]) -> Counter[str]:
    return Counter(item.partition(": ")[2].partition(" (")[0] for item in found)


@pytest.mark.parametrize(("name", "number"), CHOSEN)
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("door", ["messages", "responses"])
async def test_a_recorded_conversation_stays_in_its_window(
    client: Client,
    plain: Client,
    upstream: Upstream,
    summariser: Summariser,
    door: str,
    model: str,
    name: str,
    number: int,
) -> None:
    upstream.scripts[served(model)] = lambda seen: Reply(text="Noted.")
    window, outcomes = WINDOWS[model], []
    assert window is not None
    for place, history in enumerate(histories(load(name)[number]["messages"])):
        body = body_of(door, model, history, stream=place % 2 == 1)
        answer = await client.ask(PATHS[door], body)
        assert answer.status == 200, answer.body
        outcomes.append(answer.outcome)
        seen = upstream.seen(served(model))[-1]
        assert answer.outcome and answer.told("reason")
        assert seen.tokens <= window, (seen.tokens, answer.told("reason"))
        await plain.ask(PATHS[door], body)
        raw = upstream.seen(served(model))[-1]
        # What the recording itself breaks is the client's own.
        assert not kinds(broken_rules(seen)) - kinds(broken_rules(raw))
        if answer.outcome in ("none", "prepared"):
            assert seen.body == raw.body
    assert outcomes[-1] in ("applied", "fallback"), outcomes
