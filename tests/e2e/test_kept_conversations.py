"""Conversations that the gateway keeps, through two replicas: what the upstream gets is the whole history."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Any

import openai
import pytest

from tests.e2e.doors import EVERY_DOOR, PATHS, body_of
from tests.e2e.fleet import Fleet, served
from tests.lab import Client, Proxy, Reply, Seen, Summariser, Upstream
from tests.lab.scripts import tool_call

MODEL = "chat-100k"
SYSTEM = {"role": "system", "content": "Be brief."}
CALL = tool_call("look_up", {"value": "7"})
# By call: what is new, and the answer.
TALK: list[tuple[list[dict[str, Any]], Reply]] = [
    ([SYSTEM, {"role": "user", "content": "Hello."}], Reply(text="Hello. 안녕하세요")),
    ([SYSTEM, {"role": "user", "content": "Look 7 up."}], Reply(text=None, tool_calls=[CALL])),
    ([SYSTEM, {"role": "tool", "tool_call_id": CALL["id"], "content": "seven"}], Reply(text="It is seven.")),
    ([SYSTEM, {"role": "user", "content": "Thank you."}], Reply(text="You are welcome.")),
]


@pytest.fixture
async def clients(fleet: Fleet, second: Proxy, summariser: Summariser) -> AsyncIterator[list[Client]]:
    """Clients of both replicas whose conversations the gateway keeps, and one that keeps its own."""
    async with AsyncExitStack() as stack:
        yield [
            await stack.enter_async_context(Client(proxy, key))
            for proxy, key in ((fleet.first, "sk-kept"), (second, "sk-kept"), (fleet.first, "sk-a-1"))
        ]


def last_of(upstream: Upstream) -> Seen:
    return upstream.seen(served(MODEL))[-1]


@pytest.mark.parametrize("stream", [False, True])
async def test_the_upstream_gets_the_bytes_of_a_whole_history(
    clients: list[Client], upstream: Upstream, stream: bool
) -> None:
    headers: dict[str, str] = {}
    history: list[dict[str, Any]] = [SYSTEM]
    for number, (new, reply) in enumerate(TALK):
        upstream.scripts[served(MODEL)] = lambda seen, reply=reply: reply
        history += new[1:]
        bodies = []
        for client, messages, told in ((clients[number % 2], new, headers), (clients[2], history, {})):
            ask = client.stream if stream else client.chat
            answer = await ask(MODEL, messages, headers=told)
            assert answer.status == 200, answer.body
            bodies.append(last_of(upstream).raw)
            if told is headers:
                headers["x-conversation-id"] = answer.headers["x-conversation-id"]
                assert answer.headers["x-conversation-version"] == str(number + 1)
        assert bodies[0] == bodies[1]
        history.append(dict(reply.as_message))


async def test_ten_lines_of_the_sdk(
    fleet: Fleet, second: Proxy, upstream: Upstream, summariser: Summariser
) -> None:
    upstream.scripts[served(MODEL)] = lambda seen: Reply(text=f"Answer to {seen.messages[-1]['content']}")
    conversation = ""
    for number in range(4):
        url = f"{(fleet.first, second)[number % 2].url}/v1"
        with openai.OpenAI(base_url=url, api_key="sk-kept", max_retries=0) as client:
            raw = client.chat.completions.with_raw_response.create(
                model=MODEL,
                messages=[{"role": "user", "content": f"Question {number}"}],
                extra_headers={"x-conversation-id": conversation} if conversation else {},
            )
            conversation = raw.headers["x-conversation-id"]
            assert raw.parse().choices[0].message.content == f"Answer to Question {number}"
    assert len(last_of(upstream).messages) == 7
    other = openai.OpenAI(base_url=f"{fleet.first.url}/v1", api_key="sk-kept-other", max_retries=0)
    with other, pytest.raises(openai.NotFoundError) as refused:
        other.chat.completions.create(
            model=MODEL,
            messages=[{"role": "user", "content": "?"}],
            extra_headers={"x-conversation-id": conversation},
        )
    assert (refused.value.type, refused.value.param) == ("conversation_not_found", "conversation")


@pytest.mark.parametrize("stream", [False, True])
@EVERY_DOOR
async def test_the_next_call_does_not_wait_for_one_that_failed(
    clients: list[Client], upstream: Upstream, door: str, stream: bool
) -> None:
    """Whoever refused it: the provider, a guardrail before the call, one beside it."""
    model, headers = "chat-4k", dict[str, str]()
    for text in ("Good.", "Fail.", "FORBIDDEN-TOPIC", "FORBIDDEN-MEANWHILE"):
        for said in (text, "And now?"):
            reply = Reply.server_error() if said == "Fail." else Reply(text="Noted.")
            upstream.scripts[served(model)] = lambda seen, reply=reply: reply
            body = body_of(door, model, [{"role": "user", "content": said}], stream=stream)
            answer = await clients[0].ask(PATHS[door], body, headers)
            expected = 200 if said in ("Good.", "And now?") else 500 if said == "Fail." else 400
            assert answer.status == expected, (text, said, answer.body)
            if text == "Good.":
                headers = {"x-conversation-id": answer.headers["x-conversation-id"]}


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(("door", "model"), [("messages", "doors-anthropic"), ("responses", "chat-4k")])
async def test_the_other_doors(
    clients: list[Client], upstream: Upstream, door: str, model: str, stream: bool
) -> None:
    upstream.scripts[served(model)] = lambda seen: Reply(text="Noted.")
    headers: dict[str, str] = {}
    for number in range(3):
        new = [{"role": "user", "content": f"Question {number}"}]
        body = {
            "model": model,
            **({"messages": new, "max_tokens": 99} if door == "messages" else {"input": new}),
        }
        answer = await clients[number % 2].ask(f"/v1/{door}", {**body, "stream": stream}, headers)
        assert answer.status == 200, answer.body
        headers = {"x-conversation-id": answer.headers["x-conversation-id"]}
    sent = upstream.seen(served(model))[-1].body["messages" if door == "messages" else "input"]
    assert [item["role"] for item in sent] == ["user", "assistant"] * 2 + ["user"]
    assert [item["content"] for item in sent if item["role"] == "user"] == [f"Question {n}" for n in range(3)]
    assert {part["text"] for item in sent[1::2] for part in item["content"]} == {"Noted."}


async def test_a_stream_that_is_left_appends_nothing(clients: list[Client], upstream: Upstream) -> None:
    upstream.scripts[served(MODEL)] = lambda seen: Reply(
        text="One two three four five.", chunks=5, chunk_delay=0.1
    )
    client = clients[0]
    first = await client.chat(MODEL, [{"role": "user", "content": "First."}])
    headers = {"x-conversation-id": first.headers["x-conversation-id"]}
    left = await client.stream(MODEL, [{"role": "user", "content": "Left."}], headers=headers, leave_after=1)
    assert left.status == 200
    upstream.scripts[served(MODEL)] = lambda seen: Reply(text="Yes.")
    for _ in range(100):
        answer = await client.chat(MODEL, [{"role": "user", "content": "Second."}], headers=headers)
        if answer.status != 409:
            break
    assert answer.status == 200, answer.body
    assert [m["content"] for m in last_of(upstream).messages] == [
        "First.",
        "One two three four five.",
        "Second.",
    ]


@pytest.mark.parametrize(
    ("door", "model"),
    [("chat/completions", MODEL), ("messages", "doors-anthropic"), ("responses", "chat-4k")],
)
async def test_a_stream_begins_with_the_conversation_where_the_policy_says_so(
    fleet: Fleet, upstream: Upstream, summariser: Summariser, door: str, model: str
) -> None:
    upstream.scripts[served(model)] = lambda seen: Reply(text="Noted.", chunks=1)
    said = [{"role": "user", "content": "Question"}]
    body = {
        "model": model,
        "stream": True,
        **({"input": said} if door == "responses" else {"messages": said}),
    }
    async with Client(fleet.first, "sk-told") as client:
        for _ in range(2):
            answer = await client.ask(f"/v1/{door}", {**body, "max_tokens": 99})
            assert answer.status == 200, answer.body
            first, *rest = answer.body["events"].split("\n\n")
            told = json.dumps({"metadata": {"conversationId": answer.headers["x-conversation-id"]}})
            assert first.splitlines()[-1] == f"data: {told}" and "Noted." in "".join(rest)
            assert first.startswith("data:" if door == "chat/completions" else "event: metadata")
        # The answer is kept all the same.
        headers = {"x-conversation-id": answer.headers["x-conversation-id"]}
        again = await client.ask(f"/v1/{door}", {**body, "max_tokens": 99, "stream": False}, headers)
    assert again.headers["x-conversation-version"] == "2"


async def test_the_openai_sdk_reads_past_that_event(fleet: Fleet, upstream: Upstream) -> None:
    upstream.scripts[served(MODEL)] = lambda seen: Reply(text="Noted.")
    with openai.OpenAI(base_url=f"{fleet.first.url}/v1", api_key="sk-told", max_retries=0) as client:
        said: list[Any] = [{"role": "user", "content": "Question"}]
        chunks = list(client.chat.completions.create(model=MODEL, messages=said, stream=True))
    assert chunks[0].model_extra and chunks[0].model_extra["metadata"]["conversationId"].startswith("conv_")
    assert "".join(c.choices[0].delta.content or "" for c in chunks[1:] if c.choices) == "Noted."
