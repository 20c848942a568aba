"""Whose a call is: what the hook tells the store, and what of it is stored."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from gateway_compaction.archive import Owner, Query, Scope
from gateway_compaction.call_state import CallState, owner_of, read_body, request_of
from gateway_compaction.core.conversation.digest import fingerprint
from gateway_compaction.engine.request import Planned
from gateway_compaction.errors import SummaryRejected
from gateway_compaction.ports import SummaryAnswer
from tests.engine.histories import chat, grown
from tests.engine.rig import Rig, events, values

NOBODY: dict[str, Any] = dict.fromkeys(
    ("team_id", "team_alias", "user_id", "api_key", "key_alias", "end_user_id", "team_metadata", "metadata")
)
ANA = {"user_id": "ana", "api_key": "hash-of-sk-1", "key_alias": "k1"}


def caller(**known: Any) -> Any:
    """What LiteLLM authenticated."""
    return SimpleNamespace(**{**NOBODY, **known})


def about(auth: Any) -> Any:
    """What the hook tells of a call."""
    state = CallState(auth, {"model": "gpt-4o", "messages": [], "metadata": {}})
    return request_of(state, read_body(state, [])).about


def test_an_owner_is_who_was_authenticated_with_the_key_hashed_once_more() -> None:
    auth = caller(**ANA, team_id="7", team_alias="legal", end_user_id="eve")
    assert owner_of(auth) == Owner("7", "legal", "ana", fingerprint("hash-of-sk-1"), "k1", "eve")
    assert owner_of(caller(team_id="7")).team == "7"
    assert owner_of(caller()) == Owner()


def test_what_is_unknown_is_not_told() -> None:
    assert about(caller(**ANA)) == {
        "user_id": "ana",
        "key_hash": fingerprint("hash-of-sk-1"),
        "key_alias": "k1",
    }
    assert about(caller()) == {}


@pytest.mark.parametrize(
    ("sent", "read"),
    [
        ("Ärzte 배송 ☂".encode(), "Ärzte 배송 ☂"),
        ("Ärzte".encode("latin-1"), "Ärzte"),
        (b"ticket-4711", "ticket-4711"),
        (b"\xed\xa0\x80", "\xed\xa0\x80"),  # half a pair, which is no text
        (b"", ""),
    ],
)
def test_a_header_is_read_as_it_was_meant(sent: bytes, read: str) -> None:
    headers = {"X-Session-Id": sent.decode("latin-1")}
    data = {"model": "gpt-4o", "proxy_server_request": {"headers": headers}}
    state = CallState(caller(**ANA), data)
    request = request_of(state, read_body(state, []))
    assert request.headers == {"x-session-id": read}


def test_a_header_that_was_text_already_stays_so() -> None:
    data = {"model": "gpt-4o", "proxy_server_request": {"headers": {"x-session-id": "배송"}}}
    state = CallState(caller(), data)
    assert request_of(state, read_body(state, [])).headers == {"x-session-id": "배송"}


async def test_an_end_users_session_is_its_keys_and_no_token_is_stored(rig: Rig) -> None:
    for call in grown(chat(41)):
        await rig.call(call, about=about(caller(**ANA, end_user_id="eve")))
    assert not [v for v in await values(rig.redis) if b"hash-of-sk-1" in v]
    for scope, seen in (
        (Scope(key_hash=fingerprint("hash-of-sk-1")), 1),
        (Scope(user_id="ana"), 1),
        (Scope(user_id="eve"), 0),
    ):
        assert (await rig.archive.sessions(scope, Query())).total == seen


@pytest.mark.parametrize(("content", "kept"), [("full", True), ("summaries", False), ("none", None)])
async def test_the_last_call_is_kept_as_the_policy_says(
    rigs: Callable[..., Rig], content: str, kept: bool | None
) -> None:
    rig = rigs(2_000, {"storage": {"content": content}})
    last = None
    for call in grown(chat(59)):
        last = await rig.call(call, about={"user_id": "ana"})
    assert last is not None and last.session is not None
    found = (await rig.archive.detail(Scope(user_id="ana"), last.session)).last_call
    if kept is None:
        assert found is None
        return
    assert found is not None and len(found.sent) == 60 and found.covers > 0
    assert (found.client is not None, found.model is not None) == (kept, kept)
    if kept:
        assert found.model is not None and list(found.model) == list(last.sent)


async def test_what_calls_saved_is_counted(rig: Rig) -> None:
    saved = 0
    for call in grown(chat(59)):
        decision = await rig.call(call, about={"user_id": "ana"})
        if isinstance(decision, Planned):
            saved += decision.plan.tokens_before - decision.plan.view.tokens
    [row] = (await rig.archive.sessions(Scope(user_id="ana"), Query())).rows
    hours = await rig.archive.overview(Scope(user_id="ana"), 2)
    assert row.saved == saved > 0 and sum(hour.saved for hour in hours) == saved
    assert sum(hour.requests for hour in hours) == row.calls
    assert sum(hour.summaries for hour in hours) >= 1 and sum(hour.breaks for hour in hours) >= 1


@pytest.mark.parametrize(
    ("summary", "row"),
    [({"model": "small"}, "small"), ({"model": None}, "gpt-4o"), ({"model": "extractive"}, "extractive")],
)
async def test_a_summariser_is_counted_under_one_name(
    rigs: Callable[..., Rig], summary: dict[str, Any], row: str
) -> None:
    """Whatever the provider calls the model that answered, and also where nothing came of it."""
    rig = rigs(defaults={"summary": summary})
    text = "<summary>It went well, and the report is written.</summary>"
    written = SummaryAnswer(text, "stop", "vendor-2026-01")
    rig.summarizer.answers = [*[written] * 3, *[SummaryRejected("the answer is empty")] * 9]
    for call in grown(chat(99)):
        decision = await rig.call(call)
    assert decision.session is not None
    made = [event for event in await events(rig.redis, decision.session) if event["type"] == "summary"]
    hours = await rig.archive.overview(Scope(everything=True), 2)
    named = {hour.model: (hour.summaries, hour.failures) for hour in hours if hour.summaries or hour.failures}
    outcomes = [event["outcome"] for event in made]
    assert named == {row: (outcomes.count("made"), outcomes.count("failed"))}
    assert "made" in outcomes and ("failed" in outcomes or row == "extractive")
