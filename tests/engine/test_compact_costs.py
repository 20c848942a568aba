"""What *Compact* costs, as docs/operating.md says: how often the beginning of what is sent changes."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from gateway_compaction.archive import Scope
from gateway_compaction.engine.request import Planned, Untouched
from tests.engine.histories import chat, grown
from tests.engine.rig import Rig

ADMIN = Scope(everything=True, actor="zoe")
LENGTHS = range(30, 48, 2)


async def wished(rig: Rig) -> None:
    """An operator asked for it, in a session that had come near its window once and has nothing stored."""
    seen = await rig.call(chat(60))
    assert seen.session is not None
    await rig.archive.reset(ADMIN, seen.session)
    await rig.archive.compact(ADMIN, seen.session)
    await rig.notice_poller.poll()


@pytest.mark.parametrize(("model", "beginnings"), [("small", 2), ("extractive", 1)])
async def test_the_beginning_changes_once_and_once_more_where_a_model_summarises(
    rigs: Callable[..., Rig], model: str, beginnings: int
) -> None:
    rig = rigs(4_000, {"summary": {"model": model}})
    await wished(rig)
    calls = [await rig.call(chat(length)) for length in LENGTHS]
    assert [call.outcome for call in calls] == ["fallback", *["applied"] * (len(calls) - 1)]
    assert all(not isinstance(call, Untouched) and call.plan.level is None for call in calls)
    sent = [str(call.sent[1]) for call in calls]
    assert len(set(sent)) == beginnings and sent[-1] != str(chat(30)[1])
    assert len(set(sent[1:])) == 1


async def test_what_is_only_watched_is_sent_as_it_came(rigs: Callable[..., Rig]) -> None:
    rig = rigs(4_000, {"mode": "observe", "summary": {"model": "extractive"}})
    await wished(rig)
    for length in LENGTHS:
        call = await rig.call(chat(length))
        assert call.outcome == "observed" and list(call.sent) == chat(length)


@pytest.mark.parametrize("settle", [True, False])
async def test_what_is_watched_takes_the_course_that_it_would_take(
    rigs: Callable[..., Rig], settle: bool
) -> None:
    """Also where calls follow one another so fast that no summary is there: what such a call would have been
    made to fit with stays, and is not made anew at every call."""
    courses: list[list[int]] = []
    for mode in ("enforce", "observe"):
        rig = rigs(2_000, {"mode": mode, "summary": {"model": "extractive"}})
        calls = [await rig.call(call, settle=settle) for call in grown(chat(60))]
        courses.append([call.tokens_after for call in calls if isinstance(call, Planned)])
        assert any(isinstance(call, Planned) and call.plan.made is not None for call in calls) is not settle
    assert courses[0] == courses[1]
