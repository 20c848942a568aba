"""What README.md and the pages of ``docs`` state about conversations holds; each statement was wrong once.

A test looks for the sentence on its page and shows that it is so, by the code that serves requests.
"""

from __future__ import annotations

import asyncio
import json
import logging
import re
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from gateway_compaction.adapters.policy_file import load_policy_file
from gateway_compaction.adapters.redis.keys import MOST_EVENTS
from gateway_compaction.admin.measures import make_overview
from gateway_compaction.archive import Query, Scope
from gateway_compaction.cli.buffers.commands import app as buffers
from gateway_compaction.cli.main import app
from gateway_compaction.core.planning.context import EARLIEST_LIGHT, LEAST_MORE
from gateway_compaction.core.planning.plan import LEAST_SAVED
from gateway_compaction.core.policy.book import Identity
from gateway_compaction.core.policy.model import Policy
from gateway_compaction.core.policy.presets import PRESETS
from gateway_compaction.core.recall.recall import quote_budget
from gateway_compaction.core.summary.block import MAX_TASK_TOKENS, compute_block_limit
from gateway_compaction.core.summary.prompts import PLACEHOLDERS
from gateway_compaction.core.text.shorten import CLEAR_ABOVE
from gateway_compaction.engine.post_call import Ending
from gateway_compaction.engine.request import Planned
from gateway_compaction.errors import SummaryRefused
from gateway_compaction.ports import RecordLimit
from tests.buffers_archive import FakeArchive, opener
from tests.engine.histories import chat, grown, loop
from tests.engine.rig import Rig, encodings, events, values

ROOT = Path(__file__).resolve().parents[1]
EVERYTHING = Scope(everything=True)


def says(page: str, *sentences: str) -> None:
    """The page has these words, wherever its lines break."""
    text = " ".join((ROOT / page).read_text("utf-8").split())
    assert [sentence for sentence in sentences if sentence not in text] == []


@pytest.fixture
async def rigs() -> AsyncIterator[Callable[..., Rig]]:
    encodings()
    made: list[Rig] = []

    def make(*args: Any, **kwargs: Any) -> Rig:
        made.append(Rig(*args, **kwargs))
        return made[-1]

    yield make
    for rig in made:
        await rig.aclose()


GOOD, BAD = {"levels": {"medium": {"keep_last": 7}}}, {"mode": "perhaps"}


@pytest.mark.parametrize(
    ("team", "key"),
    [(GOOD, BAD), (BAD, GOOD), (BAD, BAD), (GOOD, {"levels": {"light": {"at": 0.99}}})],
    ids=["the key's", "the team's", "both", "the key's contradicts"],
)
async def test_requests_with_a_metadata_block_that_cannot_be_used_are_left_alone(
    rigs: Callable[..., Rig], team: dict[str, Any], key: dict[str, Any]
) -> None:
    says("docs/policies.md", "the requests that bring it are left alone", "`the policy cannot be used`")
    identity = Identity(model="gpt-4o", team_block=team, key_block=key)
    decision = await rigs().decide(chat(59), identity=identity)
    assert decision.messages is None and decision.reason.startswith("the policy cannot be used: ")


def test_a_line_of_compactions_is_bounded_whatever_max_compactions_says() -> None:
    says(
        "docs/policies.md",
        f"`storage.max_versions` | count ≥ 1 | `{Policy().storage.max_versions}` |",
    )
    assert RecordLimit(1).versions == Policy().storage.max_versions


def test_numbers_that_are_told_are_those_of_the_code() -> None:
    assert compute_block_limit(10**6, None, 8_000, 10**6) == 6_000
    assert compute_block_limit("auto", None, 1_000, 10**6) == 250
    says("docs/policies.md", "never more than a quarter of it. A number: never more than three quarters")
    assert EARLIEST_LIGHT == 0.5 and LEAST_SAVED == 0.1 and LEAST_MORE == 0.1
    says("docs/policies.md", "down to half of `levels.medium.at`")
    # tests/engine/test_controls.py shows that what would save less is left alone.
    says(
        "docs/ui.md",
        "though it would still fit, if that makes it smaller (by a tenth, where an extract has to be",
    )
    says("docs/memory.md", f"the task (its first {MAX_TASK_TOKENS} tokens)")
    assert [quote_budget("auto", "balanced", w, gap) for w, gap in ((2_000, 200), (10**6, 10**5))] == [
        200,
        2_000,
    ]
    says("docs/policies.md", "no more than lies between `levels.medium.at` and `levels.aggressive.at`")
    assert PRESETS["incremental"]["triggers"]["tokens"] == 8_000
    says(
        "docs/policies.md",
        "renewed where a new one can cover 8000 tokens more, and a tenth of what is covered",
    )
    says("docs/presets.md", f"the last {MOST_EVENTS} events")


async def test_quotes_stand_inside_the_message_that_needs_them(rigs: Callable[..., Rig]) -> None:
    says("README.md", "gets the quotes before its own text, in the same message")
    says(
        "docs/presets.md",
        "quotes of covered messages stand before the text of the user message that needs them",
    )
    rig, talk = rigs(2_000, {"recall": {"max_tokens": 300}}), chat(61)
    talk[-1] = {"role": "user", "content": f"What of {talk[1]['content']}"}
    asked = dict(talk[-1])
    for messages in grown(talk):
        decision = await rig.call(messages)
    last = decision.sent[-1]
    assert last["content"].endswith(asked["content"]) and last["content"].startswith("<recall>")
    assert talk[-1] == asked and len(decision.sent) < len(talk)


async def test_what_would_not_fit_is_shortened(rigs: Callable[..., Rig]) -> None:
    says("README.md", "long texts that would not fit are shortened, head and tail")
    says("docs/presets.md", "at `aggressive`, texts that would not fit are shortened, head and tail")
    talk = [*chat(4), {"role": "user", "content": "all of it: " + chat(60)[-1]["content"] * 40}, *chat(3)[1:]]
    decision = await rigs(1_000).decide(talk)
    sent = [m["content"] for m in decision.sent]
    assert decision.level is None or decision.outcome == "fallback"
    assert talk[5]["content"] not in sent


async def test_old_tool_results_become_a_note(rigs: Callable[..., Rig]) -> None:
    sentence = f"old tool results of more than {CLEAR_ABOVE} tokens are replaced by a note of their length"
    says("docs/presets.md", f"{sentence} with their first errors and both ends")
    rig = rigs(8_000)
    decisions = [await rig.decide(messages) for messages in grown(loop(30, words=400))]
    cleared = next(d for d in decisions if d.reason == "old tool results cleared")
    notes = [m["content"] for m in cleared.sent if "old tool result cleared" in str(m["content"])]
    assert len(notes) > 2 and all("tokens, 1 lines" in note and "…" in note for note in notes)


@pytest.mark.parametrize("content", ["full", "summaries", "none"])
async def test_what_is_stored_of_a_conversation(rigs: Callable[..., Rig], content: str) -> None:
    says("docs/policies.md", "Labels that clients send and what operators pin are stored with each of them")
    rig, talk = rigs(2_000, {"storage": {"content": content}}), chat(61)
    rig.summarizer.answers = ["<summary>The amber basket was moved to the harbour at noon.</summary>"] * 9
    for messages in grown(talk):
        await rig.call(messages, body_labels=("ticket-4711",))
    [row] = (await rig.archive.sessions(EVERYTHING, Query())).rows
    await rig.archive.pin(EVERYTHING, row.session, "The harbour closes at nine.")
    held = b" ".join(await values(rig.redis))
    assert b"ticket-4711" in held and b"The harbour closes at nine." in held
    assert (b"amber basket was moved" in held) == (content != "none")
    assert (talk[-1]["content"].encode() in held) == (content == "full")


async def test_in_observe_the_snapshot_is_of_what_was_sent(rigs: Callable[..., Rig]) -> None:
    says("docs/ui.md", "In `observe` both sides are alike: it was sent as it came")
    says("docs/operating.md", "the tokens of its calls, as they came and as they would have been sent")
    rig = rigs(2_000, {"mode": "observe"})
    for messages in grown(chat(61)):
        decision = await rig.call(messages)
    assert isinstance(decision, Planned)
    found = (await rig.archive.detail(EVERYTHING, decision.session)).last_call
    assert found is not None and [m[:2] for m in found.sent] == [m[:2] for m in found.saw]
    assert decision.tokens_after < decision.tokens_before


def test_show_as_json_has_what_the_gateway_did_and_nothing_of_decisions() -> None:
    says("docs/presets.md", "not what was decided in the conversation, which only the summary tells")
    printed = CliRunner().invoke(buffers, ["show", "aa11", "--json"], obj=opener(FakeArchive())).stdout
    document = json.loads(printed)
    table = (ROOT / "docs" / "cli.md").read_text("utf-8").partition("| `show` |")[2].partition(" |")[0]
    assert set(document) == set(re.findall(r"`(\w+)`", table.partition(";")[0]))
    assert {event["type"] for event in document["events"]} <= {"request", "summary", "audit"}


def test_readme_s_example_is_the_last_call_of_the_replay() -> None:
    file = ROOT / "docs" / "examples" / "support_chat.json"
    printed = CliRunner().invoke(app, ["replay", str(file), "--window", "4000", "--json"]).stdout
    last = json.loads(printed)[0]["calls"][-1]
    says("README.md", f"{last['messages_client']} messages of {last['tokens_client']:,} tokens")
    says("README.md", f"stands for {last['covers']} messages")
    question = json.loads(file.read_text("utf-8"))[-1]["content"]
    says("README.md", question)


def test_what_redis_holds_of_a_conversation() -> None:
    """The page's figures are those that the benchmark prints, played shorter here: none is exceeded."""
    from bench.session_size import measure
    from tests.lab.redis_server import RedisServer

    page = (ROOT / "docs" / "operating.md").read_text("utf-8")
    assert "python -m bench.session_size" in page
    most = {name: int(n) for name, n in re.findall(r"`storage.content: (\w+)` \| up to (\d+) kB", page)}
    with RedisServer() as server:
        sizes = {
            content: asyncio.run(measure(server.url, 40, 8_000, content, "extractive")) / 1_000
            for content in most
        }
    assert set(most) >= {"none", "summaries"}
    assert all(most[content] / 20 < size < most[content] for content, size in sizes.items()), sizes


async def test_one_summariser_is_one_row_by_model_with_what_it_failed_at(rigs: Callable[..., Rig]) -> None:
    says(
        "docs/ui.md",
        "Under *By model* a summariser stands in one row with what it made and what it failed at",
    )
    says("docs/ui.md", "summaries without a model are `extractive`")
    rig, plain = rigs(2_000), rigs(2_000, {"summary": {"model": "extractive"}})
    # Of three conversations; the session of a summary that failed rests for a while.
    rig.summarizer.answers = [SummaryRefused("no"), "A first summary: it was amber.", SummaryRefused("no")]
    for opening in ("The first one.", "The second one.", "The third one."):
        for messages in grown([*chat(1), {"role": "user", "content": opening}, *chat(40)[2:]]):
            await rig.call(messages)
            await plain.call(messages)
    rows = {}
    for one in (rig, plain):
        hours = await one.archive.overview(EVERYTHING, 2)
        rows[one] = {share.name: share.totals for share in make_overview(0, 1, hours, lambda _: None).models}
    assert {name for name in rows[rig] if name != "gpt-4o"} <= {"small", "extractive"}
    made = rows[rig]["small"]
    assert made.summaries >= 1 and made.failures == 2 and not rows[rig]["gpt-4o"].failures
    assert set(rows[plain]) == {"gpt-4o", "extractive"} and rows[plain]["extractive"].summaries


async def test_a_small_call_leaves_neither_a_line_nor_an_event_and_a_refused_one_both(
    rigs: Callable[..., Rig], caplog: pytest.LogCaptureFixture
) -> None:
    says(
        "docs/operating.md",
        "the log and the session's events have the same words, with `; refused` behind them where the"
        " provider refused. Smaller calls leave neither a line nor an event.",
    )
    rig = rigs(2_000)
    with caplog.at_level(logging.INFO, "gateway_compaction"):
        for messages in grown(chat(61)):
            decision = await rig.call(messages)
            if not isinstance(decision, Planned):
                assert decision.reason == "below every level"
                assert not [r for r in caplog.records if r.msg.startswith("request:")]
        assert isinstance(decision, Planned)
        assert (await rig.archive.sessions(EVERYTHING, Query())).rows
        caplog.clear()
        refused = await rig.call(chat(61), Ending("refused"))
    [line] = [r.getMessage() for r in caplog.records if r.msg.startswith("request:")]
    assert isinstance(refused, Planned)
    assert [e["reason"] for e in await events(rig.redis, refused.session)][-1] == f"{refused.reason}; refused"
    assert f"{refused.reason}; refused" in line


async def test_a_small_conversation_is_nowhere(rigs: Callable[..., Rig]) -> None:
    rig = rigs(200_000)
    for messages in grown(chat(21)):
        await rig.call(messages)
    assert not (await rig.archive.sessions(EVERYTHING, Query())).rows
    assert not [hour for hour in await rig.archive.overview(EVERYTHING, 2) if hour.requests]


def test_messages_are_stored_by_the_demo_s_policy_alone() -> None:
    says("README.md", "stores the messages for that; by default only summaries are stored")
    says(
        "README.md", "the messages themselves only where the policy says `storage.content: full`, as it does"
    )
    shipped = load_policy_file(ROOT / "config" / "policies.yaml")
    contents = {model: shipped.resolve(Identity(model=model)).storage.content for model in ("demo", "x")}
    assert contents == {"demo": "full", "x": "summaries"} and Policy().storage.content == "summaries"


def test_the_placeholders_of_prompt_files_are_those_of_the_code() -> None:
    says("docs/policies.md", "The text of a prompt file is all that a summariser is told")
    page = (ROOT / "docs" / "policies.md").read_text("utf-8").partition("## Prompt files")[2]
    assert re.findall(r"^\| `\{(\w+)\}` \|", page, re.M) == [*PLACEHOLDERS]


@pytest.mark.parametrize(
    "said",
    [
        "never edited",
        "whatever its usage",
        "tokens are in none",
        "20–60 kB",
        "stops `context_length_exceeded`",
        "the only bound",
    ],
)
def test_what_was_false_is_said_no_more(said: str) -> None:
    pages = [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
    assert not [page.name for page in pages if said in " ".join(page.read_text("utf-8").split())]
