"""Properties of every request that is sent, whatever the conversation, the policy and the store."""

from __future__ import annotations

import json
from itertools import pairwise

from hypothesis import given

from gateway_compaction.core.conversation.messages import Message, part_of
from gateway_compaction.core.planning.caches import Memos
from gateway_compaction.core.planning.context import Situation
from gateway_compaction.core.planning.plan import Plan, make_plan
from tests.core.cases import Case, cases
from tests.core.desks import sent_by
from tests.core.invariants import dissect, is_result, marks, only_said_changes, pairs
from tests.core.search import search


def decided(case: Case) -> tuple[Situation, Plan, list[Message]]:
    """The situation of a case, its plan, and what is sent."""
    situation = case.situation()
    plan = make_plan(situation)
    return situation, plan, sent_by(plan, situation)


@search
@given(cases)
def test_a_request_is_preamble_summary_and_a_contiguous_tail(case: Case) -> None:
    situation, plan, sent = decided(case)
    parts = dissect(sent, situation, plan)
    only_said_changes(parts, situation, plan)
    if parts.carrier is None:
        assert parts.start == 0 and not parts.acknowledged and parts.opener is None
        return
    history = situation.transcript.history
    begins = history[parts.start] if parts.opener is None else history[parts.opener]
    assert parts.acknowledged == (begins["role"] == "user")
    asked = [i for i, m in enumerate(history[: parts.start]) if part_of(m) == "user"]
    divided = history[parts.start]["role"] == "assistant"
    assert parts.opener == (asked[-1] if divided and asked else None)


@search
@given(cases)
def test_the_last_user_message_and_the_last_message_are_there(case: Case) -> None:
    situation, plan, sent = decided(case)
    transcript = situation.transcript
    parts = dissect(sent, situation, plan)
    assert transcript.last_user is not None
    assert parts.shown[transcript.last_user] is transcript.history[transcript.last_user]
    last = len(transcript.history) - 1
    came, goes = transcript.history[last], parts.shown[last]
    assert parts.origins[-1] == last + len(transcript.preamble)
    if goes is not came:
        assert is_result(came) and situation.desk.weigh(goes) <= situation.desk.weigh(came)


@search
@given(cases)
def test_calls_keep_all_their_results_and_results_their_calls(case: Case) -> None:
    _, _, sent = decided(case)
    assert all(calls == results for calls, results in pairs(sent))


@search
@given(cases)
def test_every_message_is_covered_or_present(case: Case) -> None:
    situation, plan, sent = decided(case)
    parts = dissect(sent, situation, plan)
    present = {i for i in parts.shown if i >= parts.start}
    assert present == set(range(parts.start, len(situation.transcript.history)))
    if parts.start:
        assert plan.view.compaction is not None
        assert plan.view.compaction.digest == situation.chain[parts.start]


@search
@given(cases)
def test_below_medium_the_messages_are_sent_as_they_came(case: Case) -> None:
    situation, plan, sent = decided(case)
    policy = situation.policy
    below = situation.measure.total < policy.levels.medium.at * situation.window
    if below and policy.triggers.then == "prepare":
        assert plan.view.compaction is None and plan.made is None
    if plan.outcome in ("none", "prepared", "passthrough"):
        assert plan.view.compaction is None
    if plan.view.compaction is None:
        assert all(a is b for a, b in zip(sent, case.messages, strict=True))


@search
@given(cases)
def test_what_is_told_is_what_is_sent(case: Case) -> None:
    _, plan, sent = decided(case)
    rewritten = plan.outcome in ("applied", "fallback")
    assert rewritten == (plan.view.compaction is not None)
    assert not rewritten or plan.view.tokens < plan.tokens_before
    if plan.outcome == "fallback":
        assert [*sent] != [*case.messages]


@search
@given(cases)
def test_the_same_situation_gives_the_same_plan(case: Case) -> None:
    before = json.dumps(case.messages)
    plan = make_plan(case.situation())
    case.bench.memos = Memos()
    assert make_plan(case.situation()) == plan
    assert json.dumps(case.messages) == before


@search
@given(cases)
def test_a_request_never_grows(case: Case) -> None:
    situation, plan, sent = decided(case)
    came = situation.measure.total - situation.measure.fixed
    assert sum(situation.desk.weigh(m) for m in sent) <= came
    assert plan.tokens_before == situation.measure.total


@search
@given(cases)
def test_a_plan_knows_what_its_view_weighs(case: Case) -> None:
    situation, plan, sent = decided(case)
    fixed = situation.measure.fixed - case.bench.quotes
    assert plan.view.tokens >= fixed + sum(situation.desk.weigh(m) for m in sent)


@search
@given(cases)
def test_only_compactions_of_this_history_are_used(case: Case) -> None:
    situation, plan, _ = decided(case)
    for used in (plan.view.compaction, plan.made, plan.job and plan.job.base):
        if used is not None:
            assert used.digest == situation.chain[used.covers]
            assert used.covers in (0, *situation.transcript.cuts)
    if plan.job is not None:
        assert plan.job.digest == situation.chain[plan.job.covers]
        assert plan.job.covers in situation.transcript.cuts


@search
@given(cases)
def test_roles_never_newly_collide(case: Case) -> None:
    situation, plan, sent = decided(case)
    parts = dissect(sent, situation, plan)
    for (a, first), (b, second) in pairwise(zip(parts.origins, sent, strict=True)):
        if first["role"] == second["role"] in ("user", "assistant"):
            assert a is not None and b == a + 1


@search
@given(cases)
def test_cache_marks_are_never_more_than_came(case: Case) -> None:
    _, _, sent = decided(case)
    assert marks(sent) <= marks(case.messages)
