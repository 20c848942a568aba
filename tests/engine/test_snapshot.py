"""The picture of a call: every message of both sides, with what became of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from gateway_compaction.archive import Scope
from gateway_compaction.core.planning.snapshot import build_snapshot
from gateway_compaction.engine.request import Decision, Planned
from tests.engine.histories import chat, grown, loop
from tests.engine.rig import Rig


async def last_of(rig: Rig, messages: list[Any]) -> Decision:
    """The last call of a conversation, looked at closely."""
    decision = None
    for call in grown(messages):
        decision = await rig.call(call)
    assert isinstance(decision, Planned)
    return decision


def drawn(decision: Decision) -> Any:
    """Its layout."""
    assert isinstance(decision, Planned)
    return build_snapshot(decision.context, decision.plan, decision.messages, 5.0)


@pytest.mark.parametrize("messages", [chat(59), loop(40), chat(41), chat(201)])
async def test_both_sides_add_up_to_what_the_plan_says(rig: Rig, messages: list[Any]) -> None:
    decision = await last_of(rig, messages)
    assert isinstance(decision, Planned)
    found, fixed = drawn(decision), decision.context.measure.fixed
    assert len(found.sent) == len(messages) and len(found.saw) == len(decision.sent)
    assert sum(t for _, t, _ in found.sent) + fixed == decision.plan.tokens_before
    assert sum(t for _, t, _ in found.saw) + fixed == decision.plan.view.tokens
    assert [r for r, _, _ in found.saw] == [m["role"] for m in decision.sent]
    assert found.levels == (int(decision.context.levels.light), 1700, 1900)
    assert (found.at, found.window, found.fixed) == (5.0, 2_000, fixed)
    assert found.client is None and found.model is None and not found.omitted
    assert all(messages[cut]["role"] in ("user", "assistant") for cut in found.cuts)


@pytest.mark.parametrize("endpoint", ["chat", "messages", "responses"])
async def test_it_names_the_endpoint_through_which_the_call_came(rig: Rig, endpoint: str) -> None:
    decision = await rig.call(chat(59), endpoint=endpoint)
    assert decision.session is not None
    found = await rig.archive.detail(Scope(everything=True), decision.session)
    assert found.last_call is not None and found.last_call.endpoint == endpoint
    assert found.row.endpoint == endpoint and {e.endpoint for e in found.events} >= {endpoint}


async def test_a_summary_stands_for_what_is_covered(rig: Rig) -> None:
    decision = await last_of(rig, chat(59))
    found, head = drawn(decision), 1
    assert (found.covers, found.version) == (decision.plan.view.compaction.covers, decision.version)  # type: ignore[union-attr]
    assert {w for _, _, w in found.sent[:head]} == {w for _, _, w in found.saw[:head]} == {"preamble"}
    assert {w for _, _, w in found.sent[head : head + found.covers]} == {"covered"}
    assert {w for _, _, w in found.sent[head + found.covers :]} == {"verbatim"}
    assert [w for _, _, w in found.saw[1:3]] == ["summary", "acknowledgement"]
    assert {w for _, _, w in found.saw[3:]} == {"verbatim"}


async def test_the_opener_of_a_long_turn_is_said_to_be_one(rig: Rig) -> None:
    decision = await last_of(rig, loop(40))
    found = drawn(decision)
    assert "opener" in {w for _, _, w in found.saw}
    assert ("user", found.sent[1][1], "verbatim") == found.sent[1]


async def test_cleared_results_are_told(rigs: Callable[..., Rig]) -> None:
    rig = rigs(8_000)
    decision = await rig.call(loop(22, words=270))
    found = drawn(decision)
    assert decision.reason == "old tool results cleared"
    cleared = [i for i, (_, _, what) in enumerate(found.sent) if what == "cleared"]
    assert cleared and cleared == [i for i, (_, _, what) in enumerate(found.saw) if what == "cleared"]
    assert all(found.saw[i][1] < found.sent[i][1] for i in cleared)


async def test_shortened_texts_are_told(rig: Rig) -> None:
    asked = {"role": "user", "content": "Read it."}
    ran = {"id": "c", "type": "function", "function": {"name": "read", "arguments": "{}"}}
    messages = [asked, {"role": "assistant", "content": None, "tool_calls": [ran]}]
    messages.append({"role": "tool", "tool_call_id": "c", "content": "long text, " * 3_000})
    decision = await rig.call(messages)
    found = drawn(decision)
    assert decision.messages is not None and found.covers == 0
    assert [what for _, _, what in found.sent] == ["verbatim", "verbatim", "shortened"]
    assert [what for _, _, what in found.saw] == ["verbatim", "verbatim", "shortened"]
    assert found.saw[2][1] < found.sent[2][1]


async def test_quotes_are_told_on_both_sides(rigs: Callable[..., Rig]) -> None:
    rig = rigs(3_000, {"recall": {"max_tokens": 400}})
    asked = " ".join(chat(79)[9]["content"].split()[2:12])
    talk = [*chat(79)[:-1], {"role": "user", "content": f"Who said this, and why: {asked}?"}]
    decision = await last_of(rig, talk)
    found = drawn(decision)
    quoting = [i for i, m in enumerate(decision.sent) if "<recall>" in m["content"]]
    quoted = {talk[i + 1]["content"] for i in range(78) if found.sent[i + 1][2] == "recalled"}
    assert quoting == [i for i, (_, _, what) in enumerate(found.saw) if what == "quoting"] != []
    texts = "\n".join(decision.sent[i]["content"] for i in quoting)
    assert quoted == {m["content"] for m in talk[1 : found.covers + 1] if m["content"] in texts} != set()


async def test_messages_are_kept_only_where_the_policy_says_so(rigs: Callable[..., Rig]) -> None:
    rig = rigs(2_000, {"storage": {"content": "full"}})
    decision = await last_of(rig, chat(59))
    found = drawn(decision)
    assert list(found.client) == chat(59) and list(found.model) == list(decision.sent)


async def test_in_observe_the_model_saw_what_came(rigs: Callable[..., Rig]) -> None:
    rig = rigs(2_000, {"mode": "observe"})
    decision = await last_of(rig, chat(59))
    found = drawn(decision)
    assert found.sent == found.saw and found.covers == 0 and found.version is None
