"""Every answer of every door says what was done, and why: errors and streams too, whoever refused it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from tests.e2e.doors import EVERY_DOOR, PATHS, body_of
from tests.e2e.fleet import Fleet, served
from tests.e2e.test_doors import calls_of, talk
from tests.lab import Client, Message, Reply, Summariser, Upstream

MODELS = ("chat-4k", "doors-anthropic", "doors-chat")
SMALL: list[Message] = [{"role": "user", "content": "Hello there."}]
FAILURES: Mapping[str, Reply] = {
    "bad request": Reply.bad_request(),
    "unauthorized": Reply.failing(401, "No such key.", kind="authentication_error"),
    "not found": Reply.failing(404, "No such model.", kind="not_found_error"),
    "limited": Reply.rate_limited(),
    "server error": Reply.server_error(),
    "not JSON": Reply(raw=b"<html>bad gateway</html>"),
}
ENDED = ("none", "the call ended before it was looked at")
EMPTY = ("none", "the request holds no messages")
# By what is wrong with a body: its changes (None takes a field away), and what is said where that is the same
# for every door.
BODIES: Mapping[str, tuple[Mapping[str, Any], tuple[str, str] | None]] = {
    "no messages": ({"FIELD": None}, EMPTY),
    "an empty list": ({"FIELD": []}, EMPTY),
    "a number": ({"FIELD": 7}, EMPTY),
    "a list of numbers": ({"FIELD": [7]}, None),
    "no role": ({"FIELD": [{"content": "Hello."}]}, None),
    "no model": ({"model": None}, None),
    "an unknown model": ({"model": "nobody"}, None),
}


def changed(door: str, body: dict[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """A body with other fields; the field of the messages is named as the door names it."""
    field = "input" if door == "responses" else "messages"
    for name, value in changes.items():
        name = field if name == "FIELD" else name
        body = {k: v for k, v in body.items() if k != name} | ({} if value is None else {name: value})
    return body


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("model", MODELS)
@EVERY_DOOR
async def test_a_failure_of_the_provider_says_what_was_done(
    client: Client, upstream: Upstream, summariser: Summariser, door: str, model: str, stream: bool
) -> None:
    for history in (SMALL, calls_of(talk("failing"))[9]):
        for name, reply in FAILURES.items():
            upstream.scripts[served(model)] = lambda seen, reply=reply: reply
            answer = await client.ask(PATHS[door], body_of(door, model, history, stream=stream))
            # Some of LiteLLM's translations make an answer of what is none.
            assert answer.status >= 400 or name == "not JSON", (name, answer.body)
            assert answer.outcome and answer.told("reason"), (name, answer.status, dict(answer.headers))
            assert (answer.outcome == "none") == (history is SMALL), (name, answer.outcome)


@pytest.mark.parametrize("stream", [False, True])
@EVERY_DOOR
async def test_a_body_that_the_proxy_refuses_is_refused_as_without_us(
    plain: Client, client: Client, upstream: Upstream, summariser: Summariser, door: str, stream: bool
) -> None:
    upstream.scripts[served("chat-4k")] = lambda seen: Reply(text="Noted.")
    for name, (changes, said) in BODIES.items():
        body = changed(door, body_of(door, "chat-4k", SMALL, stream=stream), changes)
        without, answer = await plain.ask(PATHS[door], body), await client.ask(PATHS[door], body)
        assert answer.status == without.status, (name, answer.body, without.body)
        told = (answer.outcome, answer.told("reason"))
        assert all(told) and said in (None, told), (name, answer.status, told)


@EVERY_DOOR
async def test_a_key_that_is_refused(fleet: Fleet, summariser: Summariser, door: str) -> None:
    async with Client(fleet.first, "sk-nobody") as client:
        answer = await client.ask(PATHS[door], body_of(door, "chat-4k", SMALL, stream=False))
    assert answer.status == 401 and (answer.outcome, answer.told("reason")) == ENDED


@pytest.mark.parametrize("text", ["FORBIDDEN-TOPIC", "FORBIDDEN-MEANWHILE"])
@EVERY_DOOR
async def test_what_a_guardrail_blocks(
    client: Client, upstream: Upstream, summariser: Summariser, door: str, text: str
) -> None:
    upstream.scripts[served("chat-4k")] = lambda seen: Reply(text="Noted.")
    history: list[Message] = [{"role": "user", "content": f"Tell me of {text}."}]
    answer = await client.ask(PATHS[door], body_of(door, "chat-4k", history, stream=False))
    assert answer.status == 400 and answer.outcome == "none" and answer.told("reason"), answer.body


@pytest.mark.parametrize("key", ["sk-off", "sk-observe", "sk-chat-only", "sk-metadata-off"])
@EVERY_DOOR
async def test_where_nothing_is_to_be_done(
    fleet: Fleet, upstream: Upstream, summariser: Summariser, door: str, key: str
) -> None:
    upstream.scripts[served("chat-4k")] = lambda seen: Reply(text="Noted.")
    history = calls_of(talk("policy"))[9]
    for stream in (False, True):
        async with Client(fleet.first, key) as client:
            answer = await client.ask(PATHS[door], body_of(door, "chat-4k", history, stream=stream))
        assert answer.status == 200 and answer.outcome and answer.told("reason"), dict(answer.headers)


async def test_what_is_no_conversation_is_told_nothing(client: Client, summariser: Summariser) -> None:
    for path in ("/v1/embeddings", "/v1/messages/count_tokens"):
        answer = await client.ask(path, {"model": "chat-4k", "messages": SMALL, "input": "Hello."})
        assert answer.outcome is None, (path, dict(answer.headers))
