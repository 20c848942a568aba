"""A provider that counts what the gateway cannot see: the client is not refused, and nobody else pays."""

from __future__ import annotations

from typing import Any

import pytest

from tests.e2e.fleet import Fleet, served
from tests.e2e.talks import chat, marker
from tests.lab import Client, Reply, Seen, Summariser, Upstream, grow

MODEL, WINDOW, TOOLS_BEHIND_US = "chat-4k", 4_000, 1_500
LISTED: dict[str, Any] = {"stream_options": {"include_usage": True}}


@pytest.mark.parametrize("streamed", [False, True])
async def test_tools_that_are_added_behind_the_hook(
    fleet: Fleet, summariser: Summariser, upstream: Upstream, *, streamed: bool
) -> None:
    weighed, other = marker(), marker()

    def provider(seen: Seen) -> Reply:
        tokens = seen.tokens + (TOOLS_BEHIND_US if weighed in seen.text else 0)
        if tokens > WINDOW:
            return Reply.over_window(tokens, WINDOW)
        return Reply(text="Noted.", prompt_tokens=tokens)

    upstream.scripts[served(MODEL)] = provider
    async with Client(fleet.first, "sk-a-1") as client:

        async def call(messages: list[Any]) -> str | None:
            ask = client.stream(MODEL, messages, **LISTED) if streamed else client.chat(MODEL, messages)
            answer = await ask
            assert answer.status == 200, answer.body
            return answer.outcome

        outcomes = {await call(list(messages)) for messages in grow(chat(weighed, 30))}
        assert outcomes & {"applied", "fallback"}
        # Half of the window, really.
        assert await call(chat(other, 13)) == "none"


@pytest.mark.parametrize("field", ["reasoning", "reasoning_details"])
async def test_thoughts_that_reach_the_provider(
    fleet: Fleet, summariser: Summariser, upstream: Upstream, field: str
) -> None:
    """What the client sends back of them is counted as the provider counts it, before any report."""

    def provider(seen: Seen) -> Reply:
        assert any(field in message for message in seen.messages), "LiteLLM passes it on"
        return Reply(text="Noted.", prompt_tokens=seen.tokens)

    upstream.scripts[served(MODEL)] = provider
    messages = [dict(message) for message in chat(marker(), 8)]
    for message in messages:
        if message["role"] == "assistant":
            thought = "I should look at the ledger of the harbour first, then answer. " * 40
            message[field] = (
                thought if field == "reasoning" else [{"type": "reasoning.text", "text": thought}]
            )
    async with Client(fleet.first, "sk-a-1") as client:
        answer = await client.chat(MODEL, messages)
    assert answer.status == 200 and answer.outcome in ("fallback", "applied")
    assert int(answer.told("tokens-before") or 0) > WINDOW
