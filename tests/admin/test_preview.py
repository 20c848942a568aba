"""What other values would have sent, against what planning the same call does."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import httpx
import pytest
import yaml

from gateway_compaction.admin.preview import ACKNOWLEDGED, find_openers, preview_call
from gateway_compaction.admin.problems import Problem
from gateway_compaction.admin.schemas import Preview, PreviewBody
from gateway_compaction.admin.ui.policy import make_preview_view
from gateway_compaction.archive import CallSnapshot, Owner, SessionControls, SessionDetail
from gateway_compaction.core.conversation.digest import build_digest_chain, digest_history
from gateway_compaction.core.conversation.transcript import parse_transcript
from gateway_compaction.core.planning.context import RequestContext, SessionState
from gateway_compaction.core.planning.plan import make_plan
from gateway_compaction.core.planning.snapshot import build_snapshot
from gateway_compaction.core.planning.summary_job import plan_summary_job
from gateway_compaction.core.planning.views import NOTE_AND_PINS_TOKENS, ViewBuilder, render
from gateway_compaction.core.policy.book import Identity, PolicyBook
from gateway_compaction.core.policy.model import Policy
from gateway_compaction.core.policy.presets import PRESETS
from gateway_compaction.core.records.compaction import Compaction, Segment
from gateway_compaction.core.summary.block import ACKNOWLEDGEMENT, render_operator_pins
from gateway_compaction.core.tokens.counter import TokenCounter
from gateway_compaction.runtime import use_bundled_encodings
from tests.admin.conftest import bearer
from tests.admin.memory_archive import MemoryArchive
from tests.admin.people import MASTER, call, session

BOOK = PolicyBook({"version": 1, "defaults": {"summary": {"model": "small"}}}, "test")
POLICY = BOOK.resolve(Identity())


NO_CONTROLS = SessionControls()
PINS = tuple(f"Ship {n} carries sulphur: no open fire on the quay, and nobody ashore." for n in range(6))


def asked(
    last: CallSnapshot | None,
    policy: Policy = POLICY,
    owner: Owner | None = None,
    controls: SessionControls = NO_CONTROLS,
    **body: Any,
) -> Preview:
    """A preview of a call."""
    use_bundled_encodings()
    detail = replace(session("t", "k", owner or Owner(team_id="red")), last_call=last, steering=controls)
    return preview_call(detail, policy, PreviewBody(**body), TokenCounter().raw_tokens)


def context(policy: Policy, rounds: int, window: int = 4000) -> RequestContext:
    """A conversation with tools, as the compactor would lay it out."""
    use_bundled_encodings()
    messages: list[dict[str, Any]] = [{"role": "system", "content": "You look after ships. " * 4}]
    for number in range(rounds):
        call_ = {"id": f"c{number}", "type": "function", "function": {"name": "look", "arguments": "{}"}}
        messages += [
            {"role": "user", "content": f"Where is ship {number}? " * 6},
            {"role": "assistant", "content": None, "tool_calls": [call_]},
            {"role": "tool", "tool_call_id": f"c{number}", "content": f"harbour {number} berth " * 12},
            {"role": "assistant", "content": f"Ship {number} lies in harbour {number}. " * 5},
        ]
    counter, transcript = (
        TokenCounter(),
        parse_transcript([*messages, {"role": "user", "content": "And now?"}]),
    )
    digests = digest_history(transcript.history)
    measure = counter.measure(transcript, {}, "gpt-4o", 300, digests)
    return RequestContext(
        transcript=transcript,
        chain=build_digest_chain(digests),
        digests=tuple(digests),
        measure=measure,
        window=window,
        policy=policy,
        calibrated_tokens=lambda m: counter.calibrated_tokens(m, "gpt-4o"),
        raw_tokens=lambda t: counter.raw_tokens(t, "gpt-4o"),
        raw_message_tokens=lambda m: counter.raw_message_tokens(m, "gpt-4o"),
    )


@pytest.mark.parametrize("rounds", [3, 8, 12, 16])
@pytest.mark.parametrize(
    "body",
    [
        {},
        {"target": 0.2},
        {"target": 0.6, "keep_last": 2},
        {"keep_last": 30},
        {"rate": 0.1},
        {"max_tokens": 90},
    ],
)
def test_the_cut_is_the_one_that_planning_finds(rounds: int, body: dict[str, Any]) -> None:
    seen = context(POLICY, rounds)
    last = build_snapshot(seen, make_plan(seen), None, 1.0)
    found = asked(last, **body)
    values = {**body}
    written: dict[str, Any] = {
        "levels": {"medium": {k: values[k] for k in ("target", "keep_last") if k in values}}
    }
    written["summary"] = {"model": "small", **{k: values[k] for k in ("rate", "max_tokens") if k in values}}
    policy = PolicyBook({"version": 1, "defaults": written}, "test").resolve(Identity())
    real = context(policy, rounds)
    job = plan_summary_job(ViewBuilder(real), None, real.window)
    assert found.covers == (job.covers if job else None)
    assert found.total_sent == real.measure.total
    if job is not None:
        assert found.summary == job.block
        assert (
            abs(found.total - ViewBuilder(real).tokens_beside_block(job.covers) - job.block) <= ACKNOWLEDGED
        )
        opener = real.transcript.openers[job.covers]
        assert found.fates.count("covered") == job.covers - (opener is not None)


def once_made(real: RequestContext) -> RequestContext:
    """The same call when the summary is there that planning it asks for."""
    job = make_plan(real).job
    if job is None:
        return real
    text = "Ships lie in harbours. " * 9
    made = Compaction(job.digest, job.covers, "model", (Segment(0, job.covers, text),), job.block, version=1)
    return real.with_session(replace(real.session, compactions=(made,)))


@pytest.mark.parametrize("rounds", [1, 3, 4, 6, 12, 16, 24])
@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize(
    "controls", [NO_CONTROLS, SessionControls("g", PINS), SessionControls("g", (), compact=True)]
)
def test_each_preset_compacts_where_planning_does(
    preset: str, rounds: int, controls: SessionControls
) -> None:
    # Of short messages the tokens are a quarter more than the characters that this preset counts.
    triggers = {"tokens": 1000} if preset == "incremental" else {}
    body = {"summary": {"model": "small"}, "triggers": triggers, "recall": {"max_tokens": 0}}
    defaults = {"preset": preset, **body}
    policy = PolicyBook({"version": 1, "defaults": defaults}, "test").resolve(Identity())
    real = context(policy, rounds, 6000).with_session(SessionState(controls=controls))
    last = build_snapshot(real, make_plan(real), None, 1.0)
    found = asked(last, policy, controls=controls)
    sent = make_plan(once_made(real))
    if "little would be saved" in sent.reason:
        # How little is known only where there are texts to make an extract of, which the preview has not.
        return
    assert found.compacts == (sent.view.compaction is not None or sent.level in ("medium", "aggressive"))
    job = plan_summary_job(ViewBuilder(real), None, real.window)
    assert found.covers == (job.covers if job else None)
    if job is not None:
        views = ViewBuilder(real)
        exact = views.tokens_beside_block(job.covers) + views.pinned_tokens + job.block
        assert abs(found.total - exact) <= ACKNOWLEDGED


def test_what_makes_a_preset_compact_is_what_it_says() -> None:
    found = {}
    for preset in PRESETS:
        defaults = {"preset": preset, "summary": {"model": "small"}}
        policy = PolicyBook({"version": 1, "defaults": defaults}, "test").resolve(Identity())
        real = context(policy, 80, 80_000)
        found[preset] = asked(build_snapshot(real, make_plan(real), None, 1.0), policy).compacts
    assert found == {"hybrid": False, "turns": True, "incremental": True, "agent": False}


def test_pins_take_room_in_tokens() -> None:
    without = asked(call(window=4000), target=0.35)
    pinned = asked(call(window=4000), target=0.35, controls=SessionControls("g", PINS))
    told = TokenCounter().raw_tokens("\n".join(render_operator_pins(PINS)), "gpt")
    assert without.covers is not None and pinned.covers is not None
    assert pinned.summary == without.summary + told and told < len("".join(PINS)) / 2
    assert pinned.total <= 0.35 * 4000 and pinned.covers > without.covers


def test_a_long_conversation_is_worked_out_by_looking_at_each_message_once() -> None:
    read = 0

    class Counted(dict[str, Any]):
        """A message that counts how often its role is read."""

        def __getitem__(self, name: str) -> Any:
            nonlocal read
            read += name == "role"
            return super().__getitem__(name)

    def roles_read(number: int) -> int:
        nonlocal read
        read = 0
        history = [Counted(role="user" if i % 2 == 0 else "assistant", content="") for i in range(number)]
        assert len(find_openers(history, range(1, number))) == number - 1
        return read

    assert roles_read(4000) <= 2.1 * roles_read(2000)


def test_the_acknowledgement_is_no_longer_than_assumed() -> None:
    use_bundled_encodings()
    assert TokenCounter().calibrated_tokens(ACKNOWLEDGEMENT, "gpt-4o") <= ACKNOWLEDGED


def test_a_lower_target_covers_more_and_sends_less() -> None:
    much, little = asked(call(), target=0.6), asked(call(), target=0.3)
    assert much.covers is not None and little.covers is not None
    assert little.covers > much.covers and little.total < much.total


def test_a_smaller_rate_leaves_a_shorter_summary() -> None:
    long = call(tokens=400, window=20_000)
    assert asked(long, rate=0.1).summary < asked(long, rate=0.3).summary


def sent_with(policy: Policy, rounds: int, *, rate: float) -> tuple[RequestContext, SessionDetail, int]:
    """A call that was sent with a model's summary of ``rate``, and the tokens of its block."""
    real = context(policy, rounds)
    job = plan_summary_job(ViewBuilder(real), None, real.window)
    assert job is not None
    count = real.raw_tokens
    text, wanted = "Ship.", rate * real.measure.between(0, job.covers)
    while count(text) < wanted:
        text += f" Ship {len(text)} lies there."
    made = Compaction(job.digest, job.covers, "model", (Segment(0, job.covers, text),), job.block, version=3)
    plan = make_plan(real.with_session(replace(real.session, compactions=(made,))))
    last = build_snapshot(real, plan, render(plan.view, real), 1.0)
    assert (last.covers, last.version) == (job.covers, 3)
    [block] = [tokens for _, tokens, origin in last.saw if origin == "summary"]
    detail = replace(session("t", "k", Owner()), last_call=last, compactions=(made,), steering=NO_CONTROLS)
    return real, detail, block


@pytest.mark.parametrize("rate", [0.1, 0.3, 0.5])
def test_a_rate_is_previewed_as_it_turns_out(rate: float) -> None:
    def by(rate: float) -> Policy:
        written = {"summary": {"model": "small", "rate": rate}, "recall": {"max_tokens": 0}}
        return PolicyBook({"version": 1, "defaults": written}, "t").resolve(Identity())

    counter = TokenCounter()
    _, before, _ = sent_with(by(0.2), 40, rate=0.2)
    real, _, block = sent_with(by(rate), 40, rate=rate)
    found = preview_call(before, by(0.2), PreviewBody(rate=rate), counter.raw_tokens)
    assert found.summary == ViewBuilder(real).summary_block_limit(found.covers or 0), (
        "the most that it may take"
    )
    assert abs(found.summary_expected - block) < 60, (found, block)
    assert found.total_expected == found.total - found.summary + found.summary_expected


def test_two_rates_with_the_same_bound_are_told_apart() -> None:
    few, many = asked(call(turns=50, window=4000), rate=0.1), asked(call(turns=50, window=4000), rate=0.5)
    assert few.covers is not None and few.summary == many.summary == 1000
    assert few.summary_expected < 500 < many.summary_expected < 700, "the text gets no more than half"
    shown = make_preview_view(few, call(turns=50, window=4000))
    told = dict(shown.lines)
    assert told["Summary"] == f"an estimated {few.summary_expected} tokens, at most 1,000 tokens"
    assert told["Would have been sent"] == f"about {few.total_expected:,} tokens"
    assert shown.then < make_preview_view(many, call(turns=50, window=4000)).then


def test_where_no_summary_was_sent_pins_come_on_top_of_what_is_assumed() -> None:
    raw = replace(call(turns=50, window=4000), saw=call(turns=50).sent, covers=0, version=None)
    bare, pinned = asked(raw, rate=0.1), asked(raw, rate=0.1, controls=SessionControls("g", PINS))
    assert bare.summary_expected == 360 + NOTE_AND_PINS_TOKENS // 2, (
        "a tenth of the ninety messages that are covered"
    )
    assert pinned.summary_expected - bare.summary_expected == pinned.summary - bare.summary > 0


def test_a_number_of_tokens_is_no_estimate() -> None:
    found = asked(call(window=4000))
    assert (found.summary_expected, found.total_expected) == (found.summary, found.total)
    told = dict(make_preview_view(found, call(window=4000)).lines)
    assert told["Summary"] == f"at most {found.summary:,} tokens"
    assert told["Would have been sent"] == f"{found.total:,} tokens"


@pytest.mark.parametrize(
    ("values", "said", "tone"),
    [
        ({"fits": True}, "The target is reached at about 30%", "good"),
        ({"fits": False}, "unless the summary turns out longer", "good"),
        ({"fits": False, "total_expected": 1800}, "The target is missed: about 45%", "warn"),
        ({"covers": None}, "Nothing could be covered", "warn"),
    ],
)
def test_what_is_said_of_the_target(values: dict[str, Any], said: str, tone: str) -> None:
    found = replace(
        asked(call(window=4000), rate=0.2, target=0.35),
        **{"summary_expected": 1, "total_expected": 1200, **values},
    )
    shown = make_preview_view(found, call(window=4000))
    assert said in shown.headline.replace("\u202f", "").replace(" %", "%") and shown.tone == tone


def test_keep_last_is_kept() -> None:
    found = asked(call(), keep_last=24, target=0.2)
    assert found.kept >= 24 and not found.fits
    assert found.fates[:1] == ("preamble",) and set(found.fates[-24:]) == {"verbatim"}


def test_a_short_call_would_not_be_compacted_yet() -> None:
    assert not asked(call(turns=19)).compacts
    assert asked(call(turns=20)).compacts


def test_nothing_to_cut() -> None:
    found = asked(call(turns=2))
    assert found.covers is None and found.total == found.total_sent and found.summary == 0


@pytest.mark.parametrize("last", [None, replace(call(), window=0), replace(call(), sent=())])
def test_without_a_call_there_is_nothing_to_try_on(last: CallSnapshot | None) -> None:
    with pytest.raises(Problem) as error:
        asked(last)
    assert error.value.status == 409


@pytest.mark.parametrize("body", [{"target": 0.8}, {"rate": 0.2, "max_tokens": 500}])
def test_values_that_do_not_hold_together(body: dict[str, Any]) -> None:
    with pytest.raises(Problem) as error:
        asked(call(), **body)
    assert error.value.status == 422


def test_a_number_of_tokens_takes_the_place_of_a_rate() -> None:
    by_rate = PolicyBook({"version": 1, "defaults": {"summary": {"rate": 0.5}}}, "t").resolve(Identity())
    found = asked(call(), by_rate, max_tokens=60)
    assert found.values["summary.rate"] is None and found.summary == 60


@pytest.mark.parametrize(
    "owner",
    [
        Owner(team_id="red", team="Red's: {team}"),
        Owner(team="\u202e\"quoted'\n- x"),
        Owner(team_id="r[e]d*?"),
        Owner(team_id="x" * 200),
        Owner(user_id="ruth"),
    ],
)
def test_the_change_is_a_policy_file_that_makes_it_so(owner: Owner) -> None:
    found = asked(call(), owner=owner, target=0.3, keep_last=12, rate=0.2)
    written = yaml.safe_load(found.change)
    book = PolicyBook({"version": 1, **written}, "committed")
    team = owner.team_id or owner.team
    policy = book.resolve(Identity(team_id=team))
    assert (policy.levels.medium.target, policy.levels.medium.keep_last, policy.summary.rate) == (
        0.3,
        12,
        0.2,
    )
    if team:
        assert book.resolve(Identity(team_id="redd")).levels.medium.keep_last == 10


def test_nothing_changed_is_nothing_to_commit() -> None:
    assert asked(call()).change == ""


@pytest.mark.usefixtures("keyed")
async def test_the_team_s_own_policy_is_tried(client: httpx.AsyncClient, archive: MemoryArchive) -> None:
    url, kept = "/compaction/sessions/tr.1/preview", dict(archive.known)
    found = (await client.post(url, json={"target": 0.3}, headers=bearer(MASTER))).json()
    assert found["policy"] == "for red" and found["covers_now"] == 30
    assert found["total_now"] == 100 + 50 + 100 + 10 * 40
    assert archive.known == kept and not archive.actions
