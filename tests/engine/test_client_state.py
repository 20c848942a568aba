"""What a client tells of its work: read, masked, kept with its session, and told to a later conversation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import litellm
import pytest

from gateway_compaction.archive import Scope, SessionDetail
from gateway_compaction.core.records.client_state import ClientState
from gateway_compaction.core.records.compaction import Compaction
from gateway_compaction.engine.request import Planned
from gateway_compaction.engine.restoring import HEADER
from tests.core.redaction.shapes import SHAPES
from tests.engine.histories import chat, grown
from tests.engine.host import Host, SentCall
from tests.engine.rig import Rig, values
from tests.engine.test_restoring import ANN, DAY_ONE, FIRST, play, says

pytestmark = pytest.mark.filterwarnings("ignore:Item")
ALL = Scope(everything=True, actor="zoe")
TOLD = {
    "project": "Flow",
    "plan": {"id": "p-1", "title": "Restore sessions"},
    "task": "read what was told",
    "decisions": ["keep the API"],
    "files": ["app/workflow.py"],
    "cwd": "/repo",
}
LABELLED = {"x-session-id": "day-1"}


async def tell(host: Host, state: Any, messages: list[Any] = DAY_ONE) -> SentCall:
    """One call that tells a state, and its answer."""
    how: dict[str, Any] = {"headers": LABELLED, "metadata": {"session_state": state}}
    return (await play(host, messages, says("Done."), **how))[1]


async def find(host: Host, call: SentCall) -> SessionDetail:
    """What is kept of the session of a call."""
    assert call.state is not None and isinstance(call.state.decision, Planned)
    return await host.runtime.archive.detail(ALL, call.state.decision.session)


async def test_it_is_kept_with_the_session_and_told_to_a_later_conversation(
    hosts: Callable[..., Host],
) -> None:
    # Nothing else would have this small conversation recorded.
    host = hosts()
    call = await tell(host, TOLD)
    assert call.told["x-session-state"] == "kept"  # type: ignore[attr-defined]
    detail = await find(host, call)
    assert detail.client_state == ClientState(
        "Flow", "Restore sessions", "read what was told", ("keep the API",), ("app/workflow.py",), "/repo"
    )
    sent, _ = await play(host, FIRST, says("x"), headers={HEADER: "day-1"})
    assert "ACTIVE PLAN (told): Restore sessions" in sent[1]["content"]
    # A later call without it changes nothing.
    await play(host, [*DAY_ONE, says("Done."), FIRST[1]], says("x"), headers=LABELLED)
    assert (await find(host, call)).client_state == detail.client_state


@pytest.mark.parametrize(
    ("state", "messages", "policy", "header"),
    [
        (7, DAY_ONE, {}, "no: it is no object"),
        ("{", DAY_ONE, {}, "no: it is no object"),
        (
            {"task": ["x"], "cwd": "/r", "who": 1},
            DAY_ONE,
            {},
            "kept: who is not a part of it; task is no text",
        ),
        ({"task": "x"}, FIRST, {}, "no: this call is not recorded"),
        ({"task": "x"}, DAY_ONE, {"mode": "off"}, "no: this call is not recorded"),
        ({"task": "x"}, DAY_ONE, {"storage": {"content": "none"}}, "no: storage.content is none"),
    ],
)
async def test_the_header_says_what_becomes_of_it(
    hosts: Callable[..., Host], state: Any, messages: list[Any], policy: Any, header: str
) -> None:
    call = await tell(hosts(**policy), state, messages)
    assert call.told["x-session-state"] == header  # type: ignore[attr-defined]


async def test_a_call_that_tells_nothing_is_told_nothing(hosts: Callable[..., Host]) -> None:
    _, call = await play(hosts(), DAY_ONE, says("x"))
    assert "x-session-state" not in call.told  # type: ignore[attr-defined]


@pytest.mark.parametrize("more", [{}, {"user_id": "u"}])
async def test_no_provider_sees_it(hosts: Callable[..., Host], more: dict[str, str]) -> None:
    """OpenAI refuses metadata that are no short texts; what a client sent beside it stays."""
    host = hosts()
    litellm.callbacks = [host.hook]
    call = host.call(DAY_ONE, auth=ANN, metadata={"session_state": TOLD, **more})
    call.data["metadata"], call.data["litellm_metadata"] = (
        call.data["proxy_server_request"]["body"]["metadata"],
        {},
    )
    await call.pre()
    assert call.data.get("metadata") == (more or None)


async def test_its_secrets_are_masked_and_do_not_count_as_a_change(hosts: Callable[..., Host]) -> None:
    host, secret = hosts(), SHAPES[0].value
    state = {"plan": f"rotate {secret}", "decisions": [f"use {secret}"]}
    await tell(host, state)
    call = await tell(host, state)
    detail = await find(host, call)
    assert detail.client_state is not None and "[secret: " in detail.client_state.plan
    assert detail.client_state.since == 0
    store: Any = host.runtime.store
    assert not any(secret.encode() in value for value in await values(store))


async def test_a_running_summary_begins_where_plan_or_task_changed(rigs: Callable[..., Rig]) -> None:
    rig = rigs(2_000, {"summary": {"strategy": "rolling"}})
    made: list[Compaction] = []
    for call in grown(chat(90)):
        plan = "first" if len(call) < 56 else "second"
        decision = await rig.call(call, client_state=ClientState(plan=plan))
        used = decision.plan.view.compaction if isinstance(decision, Planned) else None
        if used is not None and used.text not in [one.text for one in made]:
            made.append(used)
    detail = await rig.archive.detail(ALL, decision.session)  # type: ignore[arg-type]
    assert detail.client_state is not None and 40 < detail.client_state.since < 56
    # What was told of the first plan stays as it was, and a text of its own.
    first, last = made[0], made[-1]
    assert len(first.segments) == 1 and len(last.segments) == 2
    assert last.segments[0].end <= detail.client_state.since < last.segments[1].end
    assert last.segments[0].text == first.text or last.segments[0].text in [one.text for one in made[:-1]]
