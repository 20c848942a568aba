"""Conversations through Messages and Responses, to deployments of three kinds of providers."""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping
from typing import Any

import pytest

from tests.e2e.doors import PATHS, body_of, broken_rules
from tests.e2e.fleet import WINDOWS, Fleet, served
from tests.e2e.talks import MARKS
from tests.lab import Client, Reply, Seen, Summariser, Upstream, until

MODELS = ["chat-4k", "doors-anthropic", "doors-chat"]
COMPACTED = ("applied", "fallback")
STEP = 2


def talk(mark: str, turns: int = 26) -> list[dict[str, Any]]:
    """An agent's conversation, with calls of tools, parallel ones in every other turn."""
    messages: list[dict[str, Any]] = [{"role": "system", "content": f"You look after ships. {mark}"}]
    for number in range(turns):
        calls = [
            {
                "id": f"call_{number}_{place}",
                "type": "function",
                "function": {"name": "look", "arguments": json.dumps({"ship": number, "deck": place})},
            }
            for place in range(1 + number % 2)
        ]
        messages += [
            {"role": "user", "content": f"{mark}: where does ship {number} lie? " + "Please look. " * 12},
            {"role": "assistant", "content": f"I look for ship {number}.", "tool_calls": calls},
            *(
                {"role": "tool", "tool_call_id": call["id"], "content": f"ship {number} berth {number} " * 20}
                for call in calls
            ),
            {"role": "assistant", "content": f"{mark}: ship {number} lies at berth {number}. " * 3},
        ]
    return messages


def calls_of(messages: list[dict[str, Any]], step: int = STEP) -> list[list[dict[str, Any]]]:
    """The histories that a client sends, up to every so many user messages."""
    ends = [index + 1 for index, message in enumerate(messages) if message["role"] == "user"]
    return [messages[:end] for end in ends[::step]]


def said_in(body: Mapping[str, Any]) -> str:
    """The text of an answer; of a stream the pieces of its events, put together."""
    if "events" not in body:
        return json.dumps(body)
    lines = [line.partition(": ")[2] for line in body["events"].splitlines() if line.startswith("data: {")]
    deltas = [json.loads(line).get("delta") for line in lines]
    return "".join(d if isinstance(d, str) else (d or {}).get("text") or "" for d in deltas)


def told_body(seen: Seen) -> Mapping[str, Any]:
    """The body without what is made anew for each call."""
    return {k: v for k, v in seen.body.items() if k not in ("user", "metadata", "litellm_call_id")}


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("door", ["messages", "responses"])
async def test_a_conversation_stays_in_its_window(
    client: Client, plain: Client, upstream: Upstream, summariser: Summariser, door: str, model: str
) -> None:
    mark = f"mark-{uuid.uuid4().hex[:8]}"
    MARKS.append(mark)
    upstream.scripts[served(model)] = lambda seen: Reply(text="Noted.")
    outcomes, window = [], WINDOWS[model]
    assert window is not None
    for number, history in enumerate(calls_of(talk(mark))):
        body = body_of(door, model, history, stream=number % 2 == 1)
        answer = await client.ask(PATHS[door], body)
        assert answer.status == 200, answer.body
        seen = upstream.seen(served(model))[-1]
        outcomes.append(answer.outcome)
        assert seen.tokens <= window and not broken_rules(seen), (seen.tokens, broken_rules(seen))
        assert "_origin" not in seen.raw.decode()
        assert "Noted." in said_in(answer.body)
        if answer.outcome in ("none", "prepared") and number < 8:
            await plain.ask(PATHS[door], body)
            assert told_body(upstream.seen(served(model))[-1]) == told_body(seen)
        if answer.outcome == "prepared":
            await until(lambda: len(summariser.about(mark)) > 0, "a summary to be asked for")
    assert None not in outcomes and "applied" in outcomes, outcomes
    assert outcomes[-1] in COMPACTED and outcomes[0] == "none"


@pytest.mark.parametrize("model", MODELS)
async def test_who_changes_the_door_keeps_the_summaries(
    client: Client, upstream: Upstream, summariser: Summariser, model: str
) -> None:
    mark = f"mark-{uuid.uuid4().hex[:8]}"
    MARKS.append(mark)
    upstream.scripts[served(model)] = lambda seen: Reply(text="Noted.")
    told: list[tuple[str | None, str | None, str | None]] = []
    last = calls_of(talk(mark))[9]
    for door in ("messages", "responses", "chat", "messages"):
        answer = await client.ask(PATHS[door], body_of(door, model, last, stream=False))
        assert answer.status == 200, answer.body
        told.append((answer.outcome, answer.told("session"), answer.told("version")))
        await until(lambda: len(summariser.about(mark)) > 0, "a summary to be asked for")
    assert len({session for _, session, _ in told}) == 1 and all(o in COMPACTED for o, _, _ in told), told
    assert told[-1][2] is not None


async def test_a_history_that_the_provider_keeps_is_left_alone(
    client: Client, upstream: Upstream, summariser: Summariser
) -> None:
    upstream.scripts[served("chat-4k")] = lambda seen: Reply(text="Noted.")
    first = await client.ask(PATHS["responses"], {"model": "chat-4k", "input": "Hello."})
    body = body_of("responses", "chat-4k", calls_of(talk("kept"))[9], stream=False)
    # The proxy only takes ids that it has given out.
    answer = await client.ask(PATHS["responses"], {**body, "previous_response_id": first.body["id"]})
    assert answer.status == 200, answer.body
    assert (answer.outcome, answer.told("reason")) == ("none", "the provider keeps this history")
    assert upstream.seen(served("chat-4k"))[-1].body["input"] == body["input"]


async def test_a_context_that_the_provider_manages_is_left_alone(
    client: Client, upstream: Upstream, summariser: Summariser
) -> None:
    upstream.scripts[served("doors-anthropic")] = lambda seen: Reply(text="Noted.")
    body = body_of("messages", "doors-anthropic", calls_of(talk("kept"))[9], stream=False)
    edits = {"edits": [{"type": "clear_tool_uses_20250919"}]}
    answer = await client.ask(PATHS["messages"], {**body, "context_management": edits})
    assert answer.status == 200, answer.body
    assert answer.told("reason") == "the request asks the provider to manage its context"
    assert upstream.seen(served("doors-anthropic"))[-1].body["messages"] == body["messages"]


@pytest.mark.parametrize("door", ["messages", "responses"])
async def test_a_door_can_be_switched_off(
    fleet: Fleet, upstream: Upstream, summariser: Summariser, door: str
) -> None:
    upstream.scripts[served("chat-4k")] = lambda seen: Reply(text="Noted.")
    history = calls_of(talk("off"))[9]
    async with Client(fleet.first, "sk-chat-only") as client:
        answer = await client.ask(PATHS[door], body_of(door, "chat-4k", history, stream=False))
        assert (answer.outcome, answer.told("reason")) == ("none", "this endpoint is switched off")
        answer = await client.ask(PATHS["chat"], body_of("chat", "chat-4k", history, stream=False))
        assert answer.outcome in COMPACTED
