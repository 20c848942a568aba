"""Properties of one conversation over several calls, and of its branches."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from gateway_compaction.core.conversation.messages import Message
from gateway_compaction.core.planning.context import RequestContext
from gateway_compaction.core.planning.plan import Plan, make_plan
from gateway_compaction.core.planning.summary_job import can_ask_model
from gateway_compaction.core.planning.views import ViewBuilder
from gateway_compaction.core.records.compaction import Compaction
from gateway_compaction.core.tokens.session_surplus import Correction
from tests.core.builders import Bench, policy, sent_by, stored
from tests.core.cases import Case, growing_cases
from tests.core.invariants import dissect, is_result, marks
from tests.core.scripts import script
from tests.core.search import search
from tests.core.strategies import MARK
from tests.core.weights import chat, filled, weighing

CALLS = 6


def told(case: Case, late: int | None = None) -> Iterator[tuple[RequestContext, Plan, list[Message]]]:
    """The last calls of a conversation; what a plan makes is stored for the next.

    A summary that it asks for is there after ``late`` more calls, or never. One that covers less than what is
    sent by then does not come: a session has one summary made at a time, whoever asks for it.
    """
    made: list[Compaction] = []
    coming: list[tuple[int, Compaction]] = []
    in_use = 0
    for number, end in enumerate(case.talk.points[-CALLS:]):
        made += [one for when, one in coming if when == number - 1 and one.covers >= in_use]
        context = case.context(end, made)
        plan = make_plan(context)
        yield context, plan, sent_by(plan, context)
        in_use = plan.view.compaction.covers if plan.view.compaction else 0
        made += [plan.made] if plan.made is not None else []
        if plan.job is not None and late is not None:
            kind = "model" if can_ask_model(case.bench.policy) else "extractive"
            coming.append((number + late, stored(context, plan.job.covers, kind, limit=plan.job.block)))


def same(one: Plan, two: Plan) -> bool:
    """Whether two plans show the same compaction."""
    return shown(one.view.compaction) == shown(two.view.compaction)


def said(compaction: Compaction | None) -> object:
    """What a compaction stands for, and the text that does."""
    return compaction and (compaction.digest, compaction.kind, compaction.text)


def shown(compaction: Compaction | None) -> object:
    """What a compaction shows: its text and how it is cut, not how it was counted."""
    c = compaction
    return c and (c.digest, c.kind, c.text, c.limit, c.clip)


@search
@given(growing_cases)
def test_a_longer_history_extends_what_was_sent_before(case: Case) -> None:
    """But for quotes that would take the longer one over the window: fitting comes first."""
    for (_, plan, sent), (context, later, longer) in pairwise(told(case)):
        if same(plan, later) and sent != longer and longer[: len(sent)] != sent:
            assert plan.view.recalls and not later.view.recalls
            used = later.view.compaction
            assert used is not None
            quoting = ViewBuilder(context).add_quotes(
                replace(later.view, compaction=replace(used, quotes=None))
            )
            assert later.view.tokens <= context.window < quoting.tokens


@search
@given(growing_cases, st.sampled_from([None, 0, 0, 1, 2]))
def test_a_compaction_stays_in_use_until_it_no_longer_fits(case: Case, late: int | None) -> None:
    """But for what a model is to replace at once, which gives way as soon as the model's text is there."""
    medium = case.bench.policy.levels.medium.at * case.bench.window
    used: Compaction | None = None
    for context, plan, _ in told(case, late):
        kept = next((c for c in context.fitting_compactions if used and said(c) == said(used)), None)
        stays = kept is not None and (kept.kind == "model" or kept.sent_with is not None)
        if kept is not None and stays and case.bench.policy.triggers.then == "prepare":
            raw = context.measure.total
            assert raw >= medium
            if ViewBuilder(context).add_quotes(ViewBuilder(context).build_view(kept)).tokens < medium:
                assert said(plan.view.compaction) == said(kept)
        used = plan.view.compaction


@search
@given(growing_cases, st.sampled_from([0.9, 1.1, 1.3, 2.2, 4.0]))
def test_a_corrected_count_changes_no_byte_of_a_compaction(case: Case, factor: float) -> None:
    context = case.context()
    before = make_plan(context)
    case.bench.counter.calibration.adopt({case.bench.model: factor})
    again = case.context()
    after = make_plan(again)
    used = before.view.compaction
    kept = used is not None and used in case.compactions and used.limit is not None
    if kept and after.view.compaction == used:
        assert sent_by(after, again) == sent_by(before, context)


@search
@given(growing_cases, st.floats(0, 0.5), st.floats(0, 1), st.sampled_from([1.0, 3.0, 20.0]))
def test_what_a_provider_counts_beside_changes_no_byte_of_a_compaction(
    case: Case, beside: float, unexplained: float, media: float
) -> None:
    context, bench = case.context(), case.bench
    before = make_plan(context)
    correction = Correction(int(beside * bench.window), int(unexplained * bench.window), media)
    measure = bench.counter.correct(context.measure, context.transcript, bench.model, correction)
    again = replace(
        context,
        measure=measure,
        calibrated_tokens=lambda m: bench.counter.calibrated_tokens(m, bench.model, media=media),
    )
    after = make_plan(again)
    used = before.view.compaction
    kept = used is not None and used in case.compactions and used.limit is not None
    if kept and after.view.compaction == used:
        assert sent_by(after, again) == sent_by(before, context)


@search
@given(growing_cases, st.integers(0, 100), st.sampled_from(["edited", "again", "instead"]))
def test_a_branch_keeps_its_own_last_messages(case: Case, place: int, edit: str) -> None:
    made = [plan.made for _, plan, _ in told(case) if plan.made is not None]
    messages = branched(case.messages, place, edit)
    context = case.bench.context(messages, (*case.compactions, *made))
    plan = make_plan(context)
    parts = dissect(sent_by(plan, context), context, plan)
    history, asked = context.transcript.history, context.transcript.last_user
    assert asked is None or parts.shown[asked] is history[asked]
    last = len(history) - 1
    assert is_result(history[last]) or parts.shown[last] is history[last]


def branched(messages: list[dict[str, Any]], place: int, edit: str) -> list[dict[str, Any]]:
    """The conversation from an earlier user message on: asked again, edited, or answered and gone on."""
    users = [i for i, m in enumerate(messages) if m["role"] == "user"]
    index = users[place % len(users)]
    long = "Please do it again, with more care. " * 40
    if edit == "again":
        return messages[: index + 1]
    if edit == "edited":
        return [*messages[:index], {"role": "user", "content": long}]
    return [
        *messages[: index + 1],
        {"role": "assistant", "content": "I stopped."},
        {"role": "user", "content": long},
    ]


@search
@given(growing_cases)
def test_marks_that_the_client_moved_do_not_come_back(case: Case) -> None:
    """Clients move their marks to the newest messages at every call."""
    made: list[Compaction] = []
    for end in case.talk.points[-CALLS:]:
        messages = [without_marks(m) for m in case.messages[:end]]
        for index in range(max(0, end - 3), end):
            messages[index]["cache_control"] = dict(MARK)
        context = case.bench.context(messages, (*case.compactions, *made))
        plan = make_plan(context)
        made += [plan.made] if plan.made is not None else []
        assert marks(sent_by(plan, context)) <= marks(messages)


def test_marks_that_left_a_covered_message_are_gone() -> None:
    """The summary was made when a covered message was marked; now only the last one is."""
    bench = Bench(1000, policy(summary__max_tokens=60))
    before, after = filled(900, 10, 40), filled(900, 10, 40)
    before[1]["cache_control"] = after[-1]["cache_control"] = MARK
    for messages in (before, after):
        used = stored(bench.context(messages), 4)
        context = bench.context(messages, [used])
        plan = make_plan(context)
        assert plan.view.compaction == used
        assert marks(sent_by(plan, context)) == 1


def test_what_was_shortened_for_one_branch_is_whole_in_another() -> None:
    """The user stops a loop whose results had to be shortened, and asks something long instead."""
    bench = Bench(1000, policy(summary__max_tokens=60, recall__max_tokens=0))
    start = [*chat(1, 60), *script("text"), weighing("user", 30)]
    result = weighing("tool", 1500, tool_call_id="call_0")
    plan = bench.plan([*start, *script("call"), result])
    assert plan.made is not None and plan.made.clip is not None
    branch = [*start, weighing("assistant", 200), weighing("user", 700)]
    context = bench.context(branch, [plan.made])
    assert sent_by(make_plan(context), context)[-1] is branch[-1]


def test_a_loop_that_cannot_be_divided_is_shortened_alike_at_every_call() -> None:
    """A turn that thinks aloud has no cuts; what a model wrote of the turns before stays as it is stored."""
    bench = Bench(2000, policy(summary__max_tokens=200, recall__max_tokens=0))
    call = {"id": "call_0", "type": "function", "function": {"name": "run", "arguments": "{}"}}
    thinking = [{"type": "thinking", "thinking": "Let me see.", "signature": "s"}]
    messages: list[dict[str, Any]] = [*chat(3, 200), *script("text"), weighing("user", 30)]
    messages.append({"role": "assistant", "content": None, "tool_calls": [call], "thinking_blocks": thinking})
    before: list[Message] = []
    for step in range(4):
        messages.append(weighing("tool", 1900, tool_call_id="call_0"))
        context = bench.context(messages)
        kept = stored(context, 6, "model", "They met at the pier.")
        plan = make_plan(bench.context(messages, [kept]))
        sent = sent_by(plan, context)
        assert plan.made is None and plan.view.tokens < 2000, step
        assert sent[: len(before)] == before
        before = sent
        messages.append({"role": "assistant", "content": None, "tool_calls": [call]})


def without_marks(value: Any) -> Any:
    """A copy without cache marks."""
    if isinstance(value, dict):
        return {k: without_marks(v) for k, v in value.items() if k != "cache_control"}
    return [without_marks(v) for v in value] if isinstance(value, list) else copy.copy(value)
