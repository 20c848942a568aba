"""Issue line 4: edited, regenerated and branched histories, and tenants that look alike."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.e2e.doors import EVERY_DOOR, as_it_came, broken_rules
from tests.e2e.fleet import Fleet
from tests.e2e.runs import Stage
from tests.e2e.talks import chat, filler, marker
from tests.lab import Client, Message, RedisServer, Summariser, Upstream


@pytest.fixture
def door() -> str:
    """Where the calls of a test come in; tests of every door are parametrised with it."""
    return "chat"


@pytest.fixture
def stage(upstream: Upstream, redis_server: RedisServer, summariser: Summariser, door: str) -> Stage:
    stage = Stage(upstream, redis_server, summariser, "chat-4k", door)
    stage.open()
    return stage


def edited(messages: list[Message], index: int) -> list[Message]:
    changed = {**messages[index], "content": f"edited: {messages[index]['content']}"}
    return [*messages[:index], changed, *messages[index + 1 :]]


def applies(text: str, stage: Stage) -> list[int]:
    """The numbers of the summaries that occur in what was sent."""
    return [n for n in range(1, stage.summariser.calls + 1) if stage.summariser.mark(n) in text]


async def two_summaries(client: Client, stage: Stage, mark: str) -> list[Message]:
    """A conversation with one summary of its beginning and a longer one."""
    talk = chat(mark, 80)
    await stage.prepare(client, stage.at(talk, 0.82), mark)
    for turns in range(30, 80, 2):
        call = await stage.call(client, talk[: 2 * turns])
        await stage.at_rest(call)
        await stage.settle(mark)
        if stage.summariser.calls >= 2:
            assert call.answer.outcome in ("applied", "fallback")
            # Far enough that the first one no longer leaves usage below medium.
            return talk[: 2 * turns + 4]
    raise AssertionError("no second summary was made")


@EVERY_DOOR
async def test_an_edited_beginning_uses_no_summary(client: Client, stage: Stage) -> None:
    mark = marker()
    talk = chat(mark, 40)
    await stage.prepare(client, stage.at(talk, 0.82), mark)
    used = await stage.call(client, stage.at(talk, 0.9))
    assert applies(used.sent.text, stage) == [1]
    call = await stage.call(client, edited(stage.at(talk, 0.9), 4))
    assert applies(call.sent.text, stage) == []
    assert broken_rules(call.sent, call.history) == []


@EVERY_DOOR
async def test_an_edit_goes_back_to_the_newest_summary_that_fits(client: Client, stage: Stage) -> None:
    mark = marker()
    talk = await two_summaries(client, stage, mark)
    used = await stage.call(client, talk)
    assert 2 in applies(used.sent.text, stage)
    # What the second summary covers ends before the messages that were still sent.
    second_cut = 1 + max(i for i, m in enumerate(talk) if m["content"] not in used.sent.text)
    call = await stage.call(client, edited(talk, second_cut - 2))
    found = applies(call.sent.text, stage)
    assert 2 not in found and 1 in found, (found, call.answer.outcome, call.answer.told("reason"))


@EVERY_DOOR
async def test_a_regenerated_answer_keeps_the_summary(client: Client, stage: Stage) -> None:
    mark = marker()
    talk = chat(mark, 40)
    await stage.prepare(client, stage.at(talk, 0.82), mark)
    history = stage.at(talk, 0.95)
    call = await stage.call(client, edited(history, len(history) - 2))
    assert applies(call.sent.text, stage) == [1]


@EVERY_DOOR
async def test_branches_live_side_by_side(client: Client, stage: Stage) -> None:
    """Two branches that part within the second half each get and keep a summary of their own."""
    mark = marker()
    trunk = stage.at(chat(mark, 40), 0.5)
    branches = {}
    for name in ("left", "right"):
        tail = chat(f"{mark}{name}", 40)[1:]
        branches[name] = [*trunk, {"role": "assistant", "content": "Go on."}, *tail]
        before = stage.summariser.calls
        for share in (0.8, 0.9, 1.3):
            await stage.at_rest(await stage.call(client, stage.at(branches[name], share)))
            await stage.settle(mark)
        assert stage.summariser.calls > before
    for name, other in (("left", "right"), ("right", "left")):
        call = await stage.call(client, stage.at(branches[name], 1.6))
        assert call.answer.outcome in ("applied", "fallback")
        numbers = applies(call.sent.text, stage)
        assert numbers, name
        asked = [stage.summariser.asked[n - 1].text for n in numbers]
        assert not any(f"{mark}{other}" in text for text in asked), "a foreign summary was used"
        assert f"{mark}{other}" not in call.sent.text


@EVERY_DOOR
async def test_tenants_with_one_label_and_one_opening_share_nothing(
    fleet: Fleet, client: Client, stage: Stage
) -> None:
    mark, label = marker(), {"x-session-id": "the-same"}
    talk = chat(mark, 40)
    await stage.prepare(client, stage.at(talk, 0.82), mark, headers=label)
    history = stage.at(talk, 0.95)
    async with Client(fleet.first, "sk-b-1") as foreign, Client(fleet.first, "sk-a-2") as colleague:
        theirs = await stage.call(foreign, history, headers=label)
        assert applies(theirs.sent.text, stage) == []
        ours = await stage.call(colleague, history, headers=label)
        assert 1 in applies(ours.sent.text, stage), "two keys of one team are one tenant"
    (ours_tenant, ours_key), (their_tenant, their_key) = (
        str(call.answer.told("session")).split(".") for call in (ours, theirs)
    )
    assert ours_key == their_key, "one opening, one key"
    assert ours_tenant != their_tenant, "one session for two tenants"
    session_ids = {key.partition("{")[2].partition("}")[0] for key in stage.redis_server.dump()}
    assert {f"{ours_tenant}.{ours_key}", f"{their_tenant}.{their_key}"} <= session_ids


@EVERY_DOOR
async def test_one_label_on_two_conversations_mixes_nothing(client: Client, stage: Stage) -> None:
    label = {"x-session-id": "one-for-all"}
    one, other = marker(), marker()
    for mark in (one, other):
        await stage.prepare(client, stage.at(chat(mark, 40), 0.82), mark, headers=label)
    for mark, number in ((one, 1), (other, 2)):
        call = await stage.call(client, stage.at(chat(mark, 40), 0.95), headers=label)
        assert applies(call.sent.text, stage) == [number]


@EVERY_DOOR
async def test_a_larger_window_gets_the_whole_history_back(client: Client, stage: Stage) -> None:
    mark = marker()
    talk = chat(mark, 40)
    await stage.prepare(client, stage.at(talk, 0.82), mark)
    history = [*stage.at(talk, 1.1)]
    assert (await stage.call(client, history)).answer.outcome in ("applied", "fallback")
    large = replace(stage, model="chat-100k")
    large.open()
    call = await large.call(client, history)
    assert as_it_came(call.sent, history)
    assert call.answer.outcome == "none"
    question: Message = {"role": "user", "content": f"{mark} and now? {filler(10, 9)}"}
    back = await stage.call(client, [*history, {"role": "assistant", "content": "Noted."}, question])
    assert applies(back.sent.text, stage)
