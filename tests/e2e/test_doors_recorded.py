"""Recorded conversations through Messages and Responses, call by call, to both kinds of upstream."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest

from tests.e2e.doors import PATHS, body_of, broken_rules
from tests.e2e.fleet import SUMMARISER, served
from tests.e2e.runs import LABEL_HEADER, Call, Stage
from tests.lab import Answer, Client, RedisServer, Reply, Seen, Summariser, Upstream
from tests.lab.data import load

LAST = 4
CHOSEN = (("tau_bench_airline", 0), ("locomo", 0))
UNTOUCHED = ("none", "prepared", "passthrough")
MODELS = ["chat-4k", "doors-anthropic"]


def histories(messages: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """Some of the calls that made a conversation: the first, one in the middle, the last ones."""
    ends = [i for i, m in enumerate(messages) if m["role"] == "assistant" and i]
    places = {0, len(ends) // 2, *range(len(ends) - LAST, len(ends))}
    return [messages[: ends[place]] for place in sorted(places)]


def epoch_of(answer: Answer) -> tuple[str, str] | None:
    """The stored compaction that an answer names; None where none with a number was sent."""
    session, version = answer.told("session"), answer.told("version")
    return (session, version) if session and version else None


def prefix_of(seen: Seen) -> str:
    """What the calls of an epoch share, as JSON: all but the last message, which results may be joined to."""
    items = seen.body["input" if "input" in seen.body else "messages"]
    beginning = [seen.body.get(key) for key in ("tools", "system", "instructions")]
    return json.dumps([*beginning, items[:-1]]).removesuffix("]]")


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
    redis_server: RedisServer,
    door: str,
    model: str,
    name: str,
    number: int,
) -> None:
    upstream.scripts[served(model)] = lambda seen: Reply(text="Noted.")
    # The recorded conversation carries no mark by which the fixture would know it.
    upstream.scripts[served(SUMMARISER)] = summariser
    stage = Stage(upstream, redis_server, summariser, model)
    calls: list[Call] = []
    same_epoch = 0
    for place, history in enumerate(histories(load(name)[number]["messages"])):
        body, label = body_of(door, model, history, stream=place % 2 == 1), f"{door}-{model}-{name}-{place}"
        answer = await client.ask(PATHS[door], body, {LABEL_HEADER: label})
        assert answer.status == 200, answer.body
        seen = upstream.seen(served(model))[-1]
        assert answer.outcome and answer.told("reason")
        assert seen.tokens <= stage.window, (seen.tokens, answer.told("reason"))
        await plain.ask(PATHS[door], body, {LABEL_HEADER: label})
        raw = upstream.seen(served(model))[-1]
        # What the recording itself breaks is the client's own.
        assert not kinds(broken_rules(seen)) - kinds(broken_rules(raw))
        if answer.outcome in UNTOUCHED:
            assert seen.raw == raw.raw
        if calls and epoch_of(answer) and epoch_of(answer) == epoch_of(calls[-1].answer):
            same_epoch += 1
            assert prefix_of(seen).startswith(prefix_of(calls[-1].sent)), (place, epoch_of(answer))
        calls.append(Call([*history], seen, answer, raw.tokens, summariser.calls, label, client.url))
        if answer.outcome != "none":
            # What was made for this call is stored before the next one.
            await stage.at_rest(calls[-1])
    outcomes = [call.answer.outcome for call in calls]
    assert outcomes[0] == "none" and outcomes[-1] == "applied", outcomes
    assert same_epoch, "no two calls were sent with the same summary"
