"""The headers of an answer: when each is there, as the table in README.md says."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from gateway_compaction.archive import Scope
from gateway_compaction.call_state import CallState, build_response_headers
from gateway_compaction.engine.request import Decision, Untouched
from tests.engine.histories import chat
from tests.engine.rig import Rig

README = (Path(__file__).resolve().parents[2] / "README.md").read_text(encoding="utf-8")
TABLE = README.partition("| header | is there |")[2].partition("\n\n")[0]
ALWAYS = {"", "-reason"}
LOOKED_UP = {*ALWAYS, "-tokens-before", "-tokens-after", "-session"}


def told(decision: Decision) -> set[str]:
    """What follows ``x-compaction`` in the names of the headers."""
    headers = build_response_headers(CallState(None, decision=decision))
    return {name.removeprefix("x-compaction") for name in headers}


async def test_of_what_bytes_show_to_be_small(rig: Rig) -> None:
    assert told(await rig.call(chat(1))) == ALWAYS


async def test_of_what_was_counted(rig: Rig) -> None:
    decision = await rig.call(chat(12))
    assert (decision.outcome, decision.session) == ("none", None)
    assert told(decision) == {*ALWAYS, "-tokens-before"}


async def test_of_what_is_at_light(rig: Rig) -> None:
    decision = await rig.call(chat(32))
    assert decision.outcome == "prepared" and decision.tokens_after is not None
    assert told(decision) == {*LOOKED_UP, "-level"}


async def test_of_a_small_session_that_an_operator_asked_for(rig: Rig) -> None:
    earlier = await rig.call(chat(30))
    assert earlier.session is not None
    assert told(await rig.decide(chat(6))) <= {*ALWAYS, "-tokens-before"}
    await rig.archive.rebuild(Scope(everything=True, actor="zoe"), earlier.session)
    await rig.notice_poller.poll()
    assert told(await rig.decide(chat(6))) >= LOOKED_UP


async def test_of_what_a_trigger_fires_for(rigs: Callable[..., Rig]) -> None:
    decision = await rigs(defaults={"triggers": {"turns": 1}}).call(chat(15))
    assert not isinstance(decision, Untouched) and decision.plan.level is None
    assert told(decision) == LOOKED_UP


async def test_a_summary_has_a_number_once_it_is_stored(rigs: Callable[..., Rig]) -> None:
    rig = rigs(defaults={"summary": {"model": "extractive"}})
    first = await rig.call(chat(60))
    assert first.outcome == "fallback" and told(first) - {"-level"} == LOOKED_UP
    second = await rig.call(chat(60))
    assert second.outcome in ("applied", "fallback") and second.version == 1
    assert told(second) - {"-level"} == {*LOOKED_UP, "-version"}


async def test_what_is_not_stored_has_no_number(rigs: Callable[..., Rig]) -> None:
    rig = rigs(defaults={"summary": {"model": "extractive"}, "storage": {"content": "none"}})
    await rig.call(chat(60))
    again = await rig.call(chat(60))
    assert again.used is not None and "-version" not in told(again)


async def test_of_what_is_only_watched(rigs: Callable[..., Rig]) -> None:
    rig = rigs(defaults={"mode": "observe", "summary": {"model": "extractive"}})
    await rig.call(chat(60))
    assert told(await rig.call(chat(60))) - {"-level"} == LOOKED_UP


def test_the_table_names_them_all_and_no_other() -> None:
    named = set(re.findall(r"`(?:x-compaction)?(-[a-z-]+|)`", TABLE.replace("`x-compaction`", "``")))
    assert named == {*LOOKED_UP, "-level", "-version"}
