"""Snapshots of a session: taken by time and before deeds, bounded, and told to a later conversation."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from gateway_compaction.archive import Scope
from gateway_compaction.core.records.client_state import ClientState
from gateway_compaction.core.records.compaction import SessionRef
from gateway_compaction.core.records.restore_point import RestorePoint
from gateway_compaction.core.records.snapshots import SnapshotBounds
from gateway_compaction.engine.restoring import HEADER
from gateway_compaction.errors import NotFound
from tests.engine.histories import chat
from tests.engine.host import Host
from tests.engine.rig import ANSWERED, Clock, Rig
from tests.engine.test_restoring import DAY_ONE, FIRST, play, says
from tests.store_contract import now

pytestmark = pytest.mark.filterwarnings("ignore:Item")
ALL = Scope(everything=True, actor="zoe")
MINUTE = 60.0


async def call(rig: Rig, messages: int, at: float, **more: Any) -> SessionRef:
    """A call at a moment, and what follows it."""
    decision = await rig.decide(chat(messages), **more)
    rig.make_post_call(Clock(at)).follow(decision, ANSWERED)
    await rig.settle()
    assert decision.session is not None
    return decision.session


@pytest.mark.parametrize(
    ("storage", "taken"),
    [
        ({}, [7, 9]),
        ({"content": "full"}, [7, 9]),
        ({"content": "none"}, []),
        ({"snapshots": {"number": 0}}, []),
        ({"snapshots": {"number": 1}}, [9]),
        ({"snapshots": {"interval": "3h"}}, []),
        ({"snapshots": {"interval": "10m"}}, [6, 7, 8, 9]),
    ],
)
async def test_one_is_taken_every_half_hour_with_calls(
    rigs: Callable[..., Rig], storage: Any, taken: list[int]
) -> None:
    rig = rigs(2_000, {"note": "all", "storage": storage})
    start = await now(rig.redis)
    for number, minute in ((5, 0), (6, 12), (7, 31), (8, 45), (9, 62)):
        session = await call(rig, number, start + minute * MINUTE)
    lines = await rig.archive.snapshots(ALL, session)
    assert [line.messages for line in reversed(lines)] == taken


@pytest.mark.parametrize("deed", ["compact", "rebuild", "rollback", "pin", "unpin", "rate", "reset"])
async def test_one_is_kept_before_each_deed_that_changes_a_session(rig: Rig, deed: str) -> None:
    session = (await rig.call(chat(60))).session
    assert session is not None
    await rig.archive.pin(ALL, session, "never on Fridays")
    arguments: dict[str, tuple[Any, ...]] = {"pin": ("x",), "unpin": ("never on Fridays",)}
    arguments |= {"rollback": (0,), "rate": (0.2,)}
    before = (await rig.archive.detail(ALL, session)).make_restore_point()
    act = getattr(rig.archive, {"rate": "set_rate"}.get(deed, deed))
    # Another second, or the first of two would be kept.
    await rig.client.delete(f"gwc:{{{session.session_id}}}:points")
    await act(ALL, session, *arguments.get(deed, ()))
    [line] = await rig.archive.snapshots(ALL, session)
    assert line.reason == f"before {deed}" and line.version == before.version
    taken = await rig.archive.snapshot(ALL, session, line.name)
    assert (taken.pins, taken.segments) == (("never on Fridays",), before.segments)
    # Nothing that is told has changed, so the same is not kept twice.
    await rig.archive.compact(ALL, session)
    names = [one.name for one in await rig.archive.snapshots(ALL, session)]
    assert names == [line.name] or deed not in ("compact", "rate")


async def test_a_policy_that_keeps_none_keeps_none_before_deeds(rigs: Callable[..., Rig]) -> None:
    rig = rigs(2_000, {"storage": {"snapshots": {"number": 0}}})
    session = (await rig.call(chat(60))).session
    assert session is not None
    await rig.archive.rebuild(ALL, session)
    assert await rig.archive.snapshots(ALL, session) == ()


async def test_they_are_bounded_in_number_and_age(rig: Rig) -> None:
    session = (await rig.call(chat(60))).session
    assert session is not None
    start = int(await now(rig.redis))
    for second in (start - 500, start - 40, start - 30, start - 20):
        point = RestorePoint(session.session_id, float(second), "kept", ClientState(plan=str(second)))
        await rig.redis.keep_snapshot(session, point, SnapshotBounds(2, 100.0))
    lines = await rig.archive.snapshots(ALL, session)
    assert [line.name for line in lines] == [str(start - 20), str(start - 30)]
    await rig.redis.keep_snapshot(session, RestorePoint("", float(start), "last"), SnapshotBounds(9, 25.0))
    assert [line.name for line in await rig.archive.snapshots(ALL, session)] == [str(start), str(start - 20)]
    # What is not there, or was not written by us, is none.
    await rig.client.hset(f"gwc:{{{session.session_id}}}:points", "5", "{")
    for name in ("1", "5", "x" * 300):
        with pytest.raises(NotFound):
            await rig.archive.snapshot(ALL, session, name)
    foreign = SessionRef(session.tenant, "0" * 32)
    with pytest.raises(NotFound):
        await rig.archive.snapshots(ALL, foreign)
    await rig.redis.keep_snapshot(foreign, point, SnapshotBounds(9, 100.0))
    assert not await rig.client.exists(f"gwc:{{{foreign.session_id}}}:points")


async def test_a_conversation_begins_where_a_snapshot_was(hosts: Callable[..., Host]) -> None:
    host = hosts(note="all", storage={"content": "full"})
    headers = {"x-session-id": "day-1"}
    plans = [{"session_state": {"plan": name}} for name in "AB"]
    _, first = await play(host, DAY_ONE, says("Done."), headers=headers, metadata=plans[0])
    assert first.state is not None and first.state.decision is not None
    session = first.state.decision.session
    assert session is not None
    archive = host.runtime.archive
    await archive.pin(ALL, session, "a pin")
    longer = [*DAY_ONE, says("Done."), {"role": "user", "content": "What of the lexer?"}]
    await play(host, longer, says("x"), headers=headers, metadata=plans[1])
    [line] = await archive.snapshots(ALL, session)
    then, _ = await play(host, FIRST, says("a"), headers={HEADER: f"day-1@{line.name}"})
    assert "ACTIVE PLAN (told): A" in then[1]["content"] and "lexer" not in then[1]["content"]
    assert f"snapshot {line.name} of conversation" in then[1]["content"]
    present, _ = await play(host, [FIRST[1]], says("b"), headers={HEADER: "day-1"})
    assert "ACTIVE PLAN (told): B" in present[0]["content"] and "lexer" in present[0]["content"]
    document = json.loads(json.dumps(dict(await archive.export(ALL, session))))
    assert list(document["points"]) == [line.name]
    await archive.forget(ALL, session)
    await archive.load(ALL, document)
    assert [one.name for one in await archive.snapshots(ALL, session)] == [line.name]
