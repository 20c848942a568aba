"""Properties of every request that is sent, whatever the conversation, the policy and the store."""

from __future__ import annotations

import json
from itertools import pairwise

from hypothesis import given

from gateway_compaction.core.conversation.messages import Message, role_of
from gateway_compaction.core.conversation.provider_rules import newly_broken
from gateway_compaction.core.planning.caches import DerivedCaches
from gateway_compaction.core.planning.context import RequestContext
from gateway_compaction.core.planning.plan import Plan, make_plan
from tests.core.builders import sent_by
from tests.core.cases import Case, cases
from tests.core.invariants import dissect, is_result, marks, only_said_changes, pairs
from tests.core.search import search


def decided(case: Case) -> tuple[RequestContext, Plan, list[Message]]:
    """The context of a case, its plan, and what is sent."""
    context = case.context()
    plan = make_plan(context)
    return context, plan, sent_by(plan, context)


@search
@given(cases)
def test_a_request_is_preamble_summary_and_a_contiguous_tail(case: Case) -> None:
    context, plan, sent = decided(case)
    parts = dissect(sent, context, plan)
    only_said_changes(parts, context, plan)
    if parts.summary_message is None:
        assert parts.start == 0 and not parts.acknowledged and parts.opener is None
        return
    history = context.transcript.history
    begins = history[parts.start] if parts.opener is None else history[parts.opener]
    assert parts.acknowledged == (begins["role"] == "user")
    asked = [i for i, m in enumerate(history[: parts.start]) if role_of(m) == "user"]
    divided = history[parts.start]["role"] == "assistant"
    assert parts.opener == (asked[-1] if divided and asked else None)


@search
@given(cases)
def test_the_last_user_message_and_the_last_message_are_there(case: Case) -> None:
    context, plan, sent = decided(case)
    transcript = context.transcript
    parts = dissect(sent, context, plan)
    assert transcript.last_user is not None
    assert parts.shown[transcript.last_user] is transcript.history[transcript.last_user]
    last = len(transcript.history) - 1
    came, goes = transcript.history[last], parts.shown[last]
    assert parts.origins[-1] == last + len(transcript.preamble)
    if goes is not came:
        assert is_result(came) and context.calibrated_tokens(goes) <= context.calibrated_tokens(came)


@search
@given(cases)
def test_calls_keep_all_their_results_and_results_their_calls(case: Case) -> None:
    _, _, sent = decided(case)
    assert all(calls == results for calls, results in pairs(sent))


@search
@given(cases)
def test_every_message_is_covered_or_present(case: Case) -> None:
    context, plan, sent = decided(case)
    parts = dissect(sent, context, plan)
    present = {i for i in parts.shown if i >= parts.start}
    assert present == set(range(parts.start, len(context.transcript.history)))
    if parts.start:
        assert plan.view.compaction is not None
        assert plan.view.compaction.digest == context.chain[parts.start]


@search
@given(cases)
def test_below_medium_the_messages_are_sent_as_they_came(case: Case) -> None:
    context, plan, sent = decided(case)
    policy = context.policy
    below = context.measure.total < policy.levels.medium.at * context.window
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
def test_the_same_context_gives_the_same_plan(case: Case) -> None:
    before = json.dumps(case.messages)
    plan = make_plan(case.context())
    case.bench.caches = DerivedCaches()
    assert make_plan(case.context()) == plan
    assert json.dumps(case.messages) == before


@search
@given(cases)
def test_a_request_never_grows(case: Case) -> None:
    context, plan, sent = decided(case)
    came = context.measure.total - context.measure.fixed
    assert sum(context.calibrated_tokens(m) for m in sent) <= came
    assert plan.tokens_before == context.measure.total


@search
@given(cases)
def test_a_plan_knows_what_its_view_weighs(case: Case) -> None:
    context, plan, sent = decided(case)
    fixed = context.measure.fixed - case.bench.quotes
    assert plan.view.tokens >= fixed + sum(context.calibrated_tokens(m) for m in sent)


@search
@given(cases)
def test_only_compactions_of_this_history_are_used(case: Case) -> None:
    context, plan, _ = decided(case)
    for used in (plan.view.compaction, plan.made, plan.job and plan.job.base):
        if used is not None:
            assert used.digest == context.chain[used.covers]
            assert used.covers in (0, *context.transcript.cuts)
    if plan.job is not None:
        assert plan.job.digest == context.chain[plan.job.covers]
        assert plan.job.covers in context.transcript.cuts


@search
@given(cases)
def test_roles_never_newly_collide(case: Case) -> None:
    context, plan, sent = decided(case)
    parts = dissect(sent, context, plan)
    for (a, first), (b, second) in pairwise(zip(parts.origins, sent, strict=True)):
        if first["role"] == second["role"] in ("user", "assistant"):
            assert a is not None and b == a + 1


@search
@given(cases)
def test_no_rule_of_a_provider_is_newly_broken(case: Case) -> None:
    _, _, sent = decided(case)
    assert newly_broken({"messages": [*sent]}, {"messages": [*case.messages]}) == []


@search
@given(cases)
def test_cache_marks_are_never_more_than_came(case: Case) -> None:
    _, _, sent = decided(case)
    assert marks(sent) <= marks(case.messages)
