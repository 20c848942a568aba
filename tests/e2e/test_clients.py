"""Issue line 1: the OpenAI SDK with nothing changed but base URL and key."""

from __future__ import annotations

from typing import Any

import openai
import pytest

from tests.e2e.fleet import Fleet, served
from tests.e2e.runs import Stage
from tests.e2e.talks import TOOLS, chat, marker
from tests.lab import Client, RedisServer, Reply, Summariser, Upstream
from tests.lab.scripts import tool_call

ASK: Any = [{"role": "user", "content": "Say hello."}]


@pytest.fixture
def stage(upstream: Upstream, redis_server: RedisServer, summariser: Summariser) -> Stage:
    stage = Stage(upstream, redis_server, summariser, "chat-4k")
    stage.open()
    return stage


def sdk(fleet: Fleet) -> openai.OpenAI:
    return openai.OpenAI(base_url=f"{fleet.first.url}/v1", api_key="sk-a-1", max_retries=0)


def test_the_sdk_is_answered(fleet: Fleet, stage: Stage) -> None:
    stage.open(Reply(text="Hello."))
    with sdk(fleet) as client:
        answer = client.chat.completions.create(model="chat-4k", messages=ASK)
    assert answer.choices[0].message.content == "Hello."
    assert answer.usage is not None
    assert answer.usage.prompt_tokens == stage.upstream.seen(served("chat-4k"))[-1].tokens


def test_the_sdk_streams(fleet: Fleet, stage: Stage) -> None:
    stage.open(Reply(text="One two three four.", chunks=4))
    with sdk(fleet) as client:
        stream = client.chat.completions.create(
            model="chat-4k",
            messages=ASK,
            stream=True,
            stream_options={"include_usage": True},
        )
        chunks = list(stream)
    assert "".join(c.choices[0].delta.content or "" for c in chunks if c.choices) == "One two three four."
    assert chunks[-1].usage is not None and chunks[-1].usage.prompt_tokens > 0


def test_the_sdk_gets_tool_calls(fleet: Fleet, stage: Stage) -> None:
    stage.open(Reply(text=None, tool_calls=[tool_call("look_up", {"value": "7"})]))
    tools: Any = TOOLS
    with sdk(fleet) as client:
        answer: Any = client.chat.completions.create(model="chat-4k", messages=ASK, tools=tools)
    assert [call.function.name for call in answer.choices[0].message.tool_calls] == ["look_up"]


async def test_a_long_conversation_is_compacted_alike_streamed_and_not(client: Client, stage: Stage) -> None:
    mark = marker()
    talk = chat(mark, 40)
    await stage.prepare(client, stage.at(talk, 0.82), mark)
    talk = stage.at(talk, 0.95)
    whole = await stage.call(client, talk)
    streamed = await client.stream("chat-4k", talk)
    assert streamed.text == "Noted."
    assert whole.answer.outcome == streamed.outcome == "applied"
    sent = stage.upstream.seen(served("chat-4k"))
    assert sent[-1].messages == sent[-2].messages
    assert stage.summariser.mark(1) in sent[-1].text


async def test_both_paths_serve(client: Client, stage: Stage) -> None:
    for path in ("/chat/completions", "/v1/chat/completions"):
        answer = await client.chat("chat-4k", ASK, path=path)
        assert (answer.status, answer.outcome) == (200, "none")


async def test_a_conversation_that_asks_for_no_log_keeps_its_prefix_and_leaves_nothing(
    client: Client, stage: Stage, redis_server: RedisServer
) -> None:
    mark = marker()
    talk = stage.at(chat(mark, 60), 1.2)
    first, second = [await stage.call(client, history, **{"no-log": True}) for history in (talk[:-2], talk)]
    assert (first.answer.outcome, second.answer.outcome) == ("fallback", "applied")
    assert second.sent.messages[: len(first.sent.messages)] == first.sent.messages
    # Another conversation's summary shows that the background had its turn.
    other = marker()
    await stage.prepare(client, stage.at(chat(other, 60), 0.82), other)
    session = first.answer.told("session")
    assert session is not None and not any(session in key for key in redis_server.dump())
    assert stage.summariser.about(mark) == [] and mark not in redis_server.text()
