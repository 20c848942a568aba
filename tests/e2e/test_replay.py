"""Issue line 2: real conversations, call by call, against a small window."""

from __future__ import annotations

import asyncio

import pytest

from tests.e2e.fleet import Fleet, served
from tests.e2e.runs import Stage, check_calls, lateness
from tests.e2e.talks import TOOLS, chat, coding_agent, korean_chat, marker, support_agent
from tests.lab import Client, Message, RedisServer, Reply, Summariser, Upstream, grow, until
from tests.lab.data import conversation


@pytest.fixture
def stage(upstream: Upstream, redis_server: RedisServer, summariser: Summariser) -> Stage:
    return Stage(upstream, redis_server, summariser, "chat-4k")


def marked(messages: list[Message], mark: str) -> list[Message]:
    """The conversation with ``mark`` in its user and tool messages, so that it is a session of its own."""
    return [
        {**m, "content": f"{mark} {m['content']}"} if m["role"] in ("user", "tool") else m for m in messages
    ]


def on(stage: Stage, model: str) -> Stage:
    stage = Stage(stage.upstream, stage.redis_server, stage.summariser, model)
    stage.open()
    return stage


@pytest.mark.parametrize(
    ("name", "identity", "model", "stride"),
    [
        ("tau_bench_airline", "tau-airline-t13-r0", "support-6k", 1),
        ("swe_mini_agent_tools", "mini-swe-gemini3-sympy__sympy-13031-tools", "agent-16k", 1),
        ("korean", "ko-manual-iphone-test-3", "chat-4k", 2),
    ],
)
async def test_a_recorded_conversation_stays_in_its_window(
    client: Client, stage: Stage, name: str, identity: str, model: str, stride: int
) -> None:
    record = conversation(name, identity)
    mark, stage = marker(), on(stage, model)
    body = {"tools": record["tools"]} if record.get("tools") else {}
    calls = await stage.replay(client, marked(record["messages"], mark), mark, stride=stride, **body)
    check_calls(calls, stage.window, stage.summariser.name)
    assert calls[-1].raw_tokens > stage.window, "the conversation is too short to prove anything"
    assert stage.summariser.calls >= 1


@pytest.mark.parametrize(
    ("talk", "model", "stride"),
    [
        (support_agent, "chat-2k", 1),
        (coding_agent, "chat-8k", 1),
        (korean_chat, "chat-2k", 1),
        (chat, "chat-2k", 1),
    ],
    ids=["support", "coding", "korean", "chat"],
)
async def test_a_made_up_conversation_stays_in_its_window(
    client: Client, stage: Stage, talk: object, model: str, stride: int
) -> None:
    mark, stage = marker(), on(stage, model)
    messages = chat(mark, 20) if talk is chat else talk(mark)  # type: ignore[operator]
    body = {"tools": TOOLS} if any(m.get("tool_calls") for m in messages) else {}
    calls = await stage.replay(client, messages, mark, stride=stride, **body)
    check_calls(calls, stage.window, stage.summariser.name)
    assert calls[-1].raw_tokens > stage.window
    assert stage.summariser.calls >= 1


async def test_without_any_model_it_stays_in_its_window_too(fleet: Fleet, stage: Stage) -> None:
    mark, stage = marker(), on(stage, "chat-8k")
    async with Client(fleet.first, "sk-extractive") as client:
        calls = await stage.replay(client, coding_agent(mark), mark, tools=TOOLS)
    check_calls(calls, stage.window)
    assert stage.summariser.calls == 0
    assert {"applied"} <= {call.answer.outcome for call in calls}


async def test_while_no_summary_is_ready_it_stays_in_its_window(client: Client, stage: Stage) -> None:
    """The summariser is too slow for every call: what is not ready is neither waited for nor used."""
    mark, stage = marker(), on(stage, "chat-8k")
    stage.summariser.delay = 30.0
    calls = [
        await stage.call(client, history, tools=TOOLS) for history in grow(coding_agent(mark, 70), stride=2)
    ]
    check_calls(calls, stage.window)
    outcomes = [call.answer.outcome for call in calls]
    assert "fallback" in outcomes and stage.summariser.calls
    assert all(stage.summariser.name not in call.sent.text for call in calls)
    assert all(call.answer.seconds < 5 for call in calls)


async def test_no_call_waits_for_a_summariser_that_takes_thirty_seconds(
    fleet: Fleet, plain: Client, client: Client, stage: Stage
) -> None:
    mark, stage = marker(), on(stage, "chat-4k")
    stage.upstream.scripts[served("chat-4k")] = lambda seen: Reply(text="Noted.")
    stage.summariser.delay = 30.0
    talk = chat(mark, 60)
    light, medium = stage.at(talk, 0.82), stage.at(talk, 0.88)
    await client.chat("chat-4k", light)
    await until(lambda: stage.summariser.about(mark), "the summariser to be asked")
    histories = [light, medium, stage.at(talk, 1.0), medium, stage.at(talk, 1.2), light, medium]
    for attempt in (1, 2):
        later, worst = await lateness(plain, client, stage, histories)
        if later < 0.1 and worst < 0.5:
            return
        await asyncio.sleep(attempt)
    raise AssertionError(f"{later:.3f} s later by the median, {worst:.3f} s at worst")


async def test_a_system_prompt_that_changes_keeps_its_summaries(client: Client, stage: Stage) -> None:
    mark, stage = marker(), on(stage, "chat-4k")
    talk = chat(mark, 40)
    await stage.prepare(client, stage.at(talk, 0.82), mark)
    clock: Message = {"role": "system", "content": "You are concise. It is 12:31:07 now."}
    call = await stage.call(client, [clock, *stage.at(talk, 0.95)[1:]])
    assert call.answer.outcome == "applied"
    assert call.sent.messages[0] == clock
    assert stage.summariser.mark(1) in call.sent.text
