"""The chat's own model asked for the summary, behind the very messages it has just read."""

from __future__ import annotations

from tests.e2e.fleet import Fleet, served
from tests.e2e.runs import Stage
from tests.e2e.talks import TOOLS, chat, marker
from tests.lab import Client, RedisServer, Reply, Seen, Summariser, Upstream, until

MODEL = "chat-4k"
SHORT = "The customer asked for lamps."


async def test_the_prompt_that_the_provider_has_cached_is_asked_with(
    fleet: Fleet, summariser: Summariser, upstream: Upstream, redis_server: RedisServer
) -> None:
    stage = Stage(upstream, redis_server, summariser, MODEL)

    def own(seen: Seen) -> Reply:
        asks = str(seen.messages[-1]["content"]).startswith("Stop here.")
        return Reply(text=f"<summary>{SHORT}</summary>" if asks else "Noted.")

    upstream.scripts[served(MODEL)] = own
    # Short turns: whatever number of tokens the marker has, the history stays below medium, which is 0.85.
    history = stage.at(chat(marker(), 80, words=25), 0.82, tools=TOOLS)
    async with Client(fleet.first, "sk-own") as client:
        answer = await client.chat(MODEL, history, tools=TOOLS)
    assert (answer.status, answer.outcome) == (200, "prepared")
    await until(lambda: SHORT in redis_server.text(), "the summary to be stored")
    chatted, asked = upstream.seen(served(MODEL))
    shown = asked.messages[:-1]
    assert 5 < len(shown) < len(chatted.messages) and shown == chatted.messages[: len(shown)]
    assert asked.body["tools"] == chatted.body["tools"] == TOOLS
    assert not summariser.calls
