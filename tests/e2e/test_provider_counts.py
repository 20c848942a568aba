"""A provider that counts what the gateway cannot see: the client is not refused, and nobody else pays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from tests.e2e.doors import EVERY_DOOR, PATHS, body_of
from tests.e2e.fleet import Fleet, served
from tests.e2e.talks import chat, marker
from tests.lab import Client, Message, Reply, Seen, Summariser, Upstream, grow

MODEL, WINDOW, TOOLS_BEHIND_US = "chat-4k", 4_000, 1_500
THOUGHT = "I should look at the ledger of the harbour first, then answer. " * 40
Item = dict[str, Any]


@EVERY_DOOR
@pytest.mark.parametrize("streamed", [False, True])
async def test_tools_that_are_added_behind_the_hook(
    fleet: Fleet, summariser: Summariser, upstream: Upstream, *, door: str, streamed: bool
) -> None:
    weighed, other = marker(), marker()

    def provider(seen: Seen) -> Reply:
        tokens = seen.tokens + (TOOLS_BEHIND_US if weighed in seen.text else 0)
        if tokens > WINDOW:
            return Reply.over_window(tokens, WINDOW)
        return Reply(text="Noted.", prompt_tokens=tokens)

    upstream.scripts[served(MODEL)] = provider
    async with Client(fleet.first, "sk-a-1") as client:

        async def call(messages: Sequence[Message]) -> str | None:
            body = body_of(door, MODEL, messages, stream=streamed)
            if streamed and door == "chat":
                body["stream_options"] = {"include_usage": True}
            answer = await client.ask(PATHS[door], body)
            assert answer.status == 200, answer.body
            return answer.outcome

        outcomes = {await call(messages) for messages in grow(chat(weighed, 30))}
        assert outcomes & {"applied", "fallback"}
        # Less than half of the window, really, with what is asked for an answer.
        assert await call(chat(other, 10)) == "none"


def reasoning(message: Item) -> list[Item]:
    return [{**message, "reasoning": THOUGHT}]


def reasoning_details(message: Item) -> list[Item]:
    return [{**message, "reasoning_details": [{"type": "reasoning.text", "text": THOUGHT}]}]


def thinking(message: Item) -> list[Item]:
    thought = {"type": "thinking", "thinking": THOUGHT, "signature": "c2lnbmVk" * 20}
    return [{**message, "content": [thought, *message["content"]]}]


def reasoning_item(message: Item) -> list[Item]:
    told = [{"type": "summary_text", "text": THOUGHT}]
    return [{"type": "reasoning", "id": "rs_1", "summary": told}, message]


@pytest.mark.parametrize(
    ("door", "model", "think"),
    [
        ("chat", MODEL, reasoning),
        ("chat", MODEL, reasoning_details),
        ("messages", "doors-anthropic", thinking),
        ("responses", MODEL, reasoning_item),
    ],
)
async def test_thoughts_that_reach_the_provider(
    fleet: Fleet,
    summariser: Summariser,
    upstream: Upstream,
    door: str,
    model: str,
    think: Callable[[Item], list[Item]],
) -> None:
    """What the client sends back of them is counted as the provider counts it, before any report."""

    def provider(seen: Seen) -> Reply:
        assert THOUGHT in seen.raw.decode(), "LiteLLM passes it on"
        return Reply(text="Noted.", prompt_tokens=seen.tokens)

    upstream.scripts[served(model)] = provider
    body = body_of(door, model, chat(marker(), 8), stream=False)
    field = "input" if door == "responses" else "messages"
    body[field] = [
        item for came in body[field] for item in (think(came) if came["role"] == "assistant" else [came])
    ]
    async with Client(fleet.first, "sk-a-1") as client:
        answer = await client.ask(PATHS[door], body)
    assert answer.status == 200 and answer.outcome in ("fallback", "applied")
    assert int(answer.told("tokens-before") or 0) > WINDOW
