"""The pages' values, made from sessions of the contract."""

from __future__ import annotations

import itertools
import re
from dataclasses import replace
from typing import get_args

import pytest

from gateway_compaction.adapters.redis.index import MOST_HOURS
from gateway_compaction.admin.details import find_version
from gateway_compaction.admin.measures import make_overview
from gateway_compaction.admin.policy_view import explain_policy
from gateway_compaction.admin.preview import preview_call
from gateway_compaction.admin.ui.actions import find_action, pin_mark
from gateway_compaction.admin.ui.charts import (
    HEIGHT,
    CallTokens,
    HourTokens,
    LevelTokens,
    VersionCover,
    make_hour_chart,
    make_strip,
    make_token_chart,
)
from gateway_compaction.admin.ui.contents import compare_contents, message_text
from gateway_compaction.admin.ui.history import (
    describe_range,
    make_cards,
    make_records_view,
    make_statistics,
    make_version_view,
)
from gateway_compaction.admin.ui.overview import PERIODS, make_overview_view
from gateway_compaction.admin.ui.policy import make_policy_view, make_preview_view, read_preview_form
from gateway_compaction.admin.ui.session import make_session_view
from gateway_compaction.admin.ui.sessions import make_listing, read_filter
from gateway_compaction.archive import CallSnapshot, Hour, Owner, SessionDetail, SessionPage, SessionRow
from gateway_compaction.core.policy.book import Identity, PolicyBook
from gateway_compaction.core.records.compaction import KIND_RANK, SessionRef
from gateway_compaction.core.records.event import CompactionEvent, Outcome
from gateway_compaction.core.records.savings import PromptPrice
from tests.admin.scenes import FIRST_PIN, NOW, hours, long_talk, scenes

EMPTY = SessionDetail(SessionRow(SessionRef("t", "k"), Owner()))


def price(model: str) -> PromptPrice | None:
    return None if model == "claude-sonnet" else PromptPrice(2e-6, 2e-7, 2.5e-6)


class TestOverview:
    """The first page."""

    def test_figures(self) -> None:
        found = make_overview(0, 6, hours(), price)
        view = make_overview_view(found, 24, NOW)
        tiles = {tile.name: tile for tile in view.tiles}
        assert tiles["Sessions"].figure == "6"
        assert re.fullmatch(r"[\d,]+ requests near their window, [\d,]+ rewritten", tiles["Sessions"].note)
        assert tiles["Tokens saved"].note.endswith("in requests near their window")
        assert tiles["Cache breaks"].note.endswith("requests near their window")
        for name in ("Sessions", "Tokens saved"):
            assert "pass without being recorded" in tiles[name].hint
        assert tiles["Tokens saved"].figure.endswith("M") and "of" in tiles["Tokens saved"].note
        assert "no price is known" in tiles["Money saved"].note
        unpriced = make_overview_view(make_overview(0, 6, hours(), lambda _: None), 24, NOW)
        assert next(t.figure for t in unpriced.tiles if t.name == "Money saved") == "–"
        assert tiles["Failures"].tone == "bad"
        assert (view.shadow, view.mixed) == (False, True)
        assert [group.name for group in view.teams] == ["research", "support", "legal & compliance"]
        assert len(view.chart.bars) == 24 and view.chart.has_would_save

    def test_shadow_mode_tells_what_would_have_been_saved(self) -> None:
        watched = [hour for hour in hours() if hour.would_save]
        view = make_overview_view(make_overview(0, 1, watched, price), 24, NOW)
        assert view.shadow and not view.mixed
        names = [tile.name for tile in view.tiles]
        assert "Tokens would have been saved" in names and "Money would have been saved" in names
        assert view.teams[0].would_share == pytest.approx(9 / 21)

    def test_one_request(self) -> None:
        view = make_overview_view(make_overview(0, 1, [Hour(0, Owner(team_id="a"), "m", 1)], price), 24, NOW)
        assert view.tiles[0].note == "1 request near its window, 0 rewritten"

    def test_an_empty_gateway(self) -> None:
        view = make_overview_view(make_overview(0, 0, [], price), 192, NOW)
        assert view.requests == 0 and view.teams == ()
        assert len(view.chart.bars) == 32 and not any(bar.pieces for bar in view.chart.bars)

    def test_sessions_without_a_team_are_no_filter(self) -> None:
        view = make_overview_view(
            make_overview(0, 1, [Hour(0, Owner(user_id="ruth"), "m", 1)], price), 24, NOW
        )
        assert view.teams[0].query == "" and view.models[0].query == "model"
        assert view.teams[0].label == "user ruth" and view.models[0].label == "m"

    def test_a_team_and_a_user_of_one_name_are_two(self) -> None:
        owners = Owner(team_id="t", team="ruth"), Owner(user_id="ruth"), Owner(key_hash="abcd1234ef")
        view = make_overview_view(make_overview(0, 3, [Hour(0, o, "m", 1) for o in owners], price), 24, NOW)
        found = {group.label: (group.name, group.query) for group in view.teams}
        assert found == {
            "team ruth": ("ruth", "team"),
            "user ruth": ("ruth", ""),
            "key #abcd1234": ("#abcd1234", ""),
        }

    def test_no_longer_time_is_offered_than_counts_are_kept(self) -> None:
        assert sorted(PERIODS) == [24, 72, MOST_HOURS]

    def test_one_summariser_is_one_row(self) -> None:
        """What a model made and what it failed at stand together; without a model it says so."""
        owner = Owner(team_id="a")
        counted = [Hour(0, owner, "small", summaries=3), Hour(0, owner, "small", failures=2)]
        counted.append(Hour(0, owner, "extractive", summaries=1))
        rows = {
            g.label: g.totals for g in make_overview_view(make_overview(0, 1, counted, price), 24, NOW).models
        }
        assert {label: (sums.summaries, sums.failures) for label, sums in rows.items()} == {
            "small": (3, 2),
            "extractive (no model)": (1, 0),
        }

    def test_money_counts_what_the_prompt_cache_would_have_spared(self) -> None:
        """Of a million saved tokens 900,000 would have been read from the cache, and 200,000 more written."""
        hour = Hour(0, Owner(team_id="a"), "m", saved=1_000_000, saved_cached=900_000, saved_written=-200_000)
        watched = replace(hour, saved=0, saved_cached=0, saved_written=0, would_save=1_000_000)
        sums = make_overview(0, 1, [hour, watched], price).totals
        assert sums.saved_dollars == pytest.approx(300_000 * 2e-6 + 900_000 * 2e-7 - 200_000 * 2.5e-6)
        assert sums.would_save_dollars == pytest.approx(2.0)

    def test_whatever_is_saved_is_called_an_estimate(self) -> None:
        for counted in (hours(), [hour for hour in hours() if hour.would_save]):
            view = make_overview_view(make_overview(0, 6, counted, price), 24, NOW)
            told = [tile for tile in view.tiles if "saved" in tile.name]
            assert len(told) == 2
            assert all("an estimate" in t.note and t.hint.startswith("An estimate") for t in told)


class TestCharts:
    """Where things stand."""

    def test_bars_end_at_the_axis(self) -> None:
        chart = make_hour_chart([HourTokens("a", 100, 50, 20), HourTokens("b", 0, 0, 0)])
        first = chart.bars[0].pieces
        assert [piece.kind for piece in first] == ["got", "would", "saved"]
        assert first[0].y + first[0].height == pytest.approx(HEIGHT)
        for below, above in itertools.pairwise(first):
            assert above.y + above.height == pytest.approx(below.y, abs=0.11)
        assert chart.bars[1].pieces == ()

    def test_lines_that_are_far_above_are_named_only(self) -> None:
        chart = make_token_chart(
            [CallTokens(10, 10, "", False)],
            [LevelTokens(1000, "window", "window"), LevelTokens(30, "light", "light")],
            [],
            ["x"],
        )
        assert chart is not None
        assert [line.label for line in chart.lines] == ["light"] and chart.far_lines == "window"

    def test_names_of_close_lines_do_not_meet(self) -> None:
        named = {"window": 100, "aggressive": 99, "medium": 98, "light": 10}
        lines = [LevelTokens(tokens, name, name) for name, tokens in named.items()]
        chart = make_token_chart([CallTokens(90, 90, "", False)], lines, [], ["x"])
        assert chart is not None
        names = [line.name_y for line in chart.lines]
        assert all(b - a >= 13 for a, b in itertools.pairwise(names))

    @pytest.mark.parametrize("top", [1, 2, 3, 5, 7, 9, 10, 11, 99, 1_000, 9_999, 102_000, 999_999, 10**9])
    def test_no_two_grid_lines_have_one_label(self, top: int) -> None:
        labels = [tick.label for tick in make_hour_chart([HourTokens("a", top, 0, 0)]).ticks]
        assert labels and len({*labels}) == len(labels)

    @pytest.mark.parametrize("apart", [0.0, 0.4, 1.0, 20.0, 90.0, 4_000.0, 200_000.0])
    @pytest.mark.parametrize("number", [1, 2, 5, 60])
    def test_no_two_calls_have_one_label(self, apart: float, number: int) -> None:
        calls = tuple(
            CompactionEvent("request", NOW - apart * n, "none", "below every level", tokens_before=900)
            for n in range(number)
        )
        chart = make_session_view(replace(EMPTY, events=calls), NOW).chart
        assert chart is not None
        labels = [name for _, name, _ in chart.labels]
        assert len(labels) == min(number, 4) and len({*labels}) == len(labels)

    def test_without_calls_there_is_no_chart(self) -> None:
        assert make_token_chart([], [], [], []) is None

    def test_the_strip_is_as_wide_as_the_page(self) -> None:
        messages = [("user", 0, "covered"), ("user", 300, "covered"), ("user", 100, "verbatim")]
        versions = [VersionCover(0, 2, "v1", True), VersionCover(2, 2, "v0", False)]
        drawn = make_strip(messages, versions, [0, 1, 9])
        assert [run.fate for run in drawn.runs] == ["covered", "verbatim"]
        assert drawn.runs[-1].x + drawn.runs[-1].width == pytest.approx(100)
        assert [bar.label for bar in drawn.versions] == ["v1"]
        assert drawn.versions[0].width == pytest.approx(drawn.runs[0].width, abs=0.01)
        assert len(drawn.cuts) == 1
        assert "messages 1–2: covered, 300 tokens" in drawn.runs[0].title

    def test_the_strip_counts_from_behind_the_preamble(self) -> None:
        messages = [("system", 9, "preamble"), *[("user", 1, "covered")] * 3, ("user", 1, "verbatim")]
        drawn = make_strip(messages, [VersionCover(1, 4, "v1", True)], [])
        assert [run.title.partition(",")[0] for run in drawn.runs] == [
            "preamble",
            "messages 1–3: covered",
            "message 4: verbatim",
        ]
        assert drawn.versions[0].title == "v1 stands for messages 1–3"


class TestHistory:
    """The cards and what they come to."""

    def test_cards_newest_first_by_number(self) -> None:
        found = make_cards(long_talk(), NOW)
        assert [(c.version, c.retired, c.current) for c in found] == [
            (3, False, True),
            (2, False, False),
            (1, True, False),
        ]
        newest = found[0]
        assert (newest.turns, newest.range, newest.before, newest.after) == (
            "turns 1–14",
            "messages 1–28",
            "15.3k",
            "1.08k",
        )
        assert (newest.rate, newest.model, newest.parent, newest.when) == (
            "0.07",
            "gpt-4o-mini",
            "v2",
            "15 min ago",
        )

    def test_a_version_that_no_call_has_used_yet_is_ready(self) -> None:
        detail = long_talk()
        assert detail.last_call is not None
        earlier = replace(detail, last_call=replace(detail.last_call, version=2))
        assert [(c.current, c.ready) for c in make_cards(earlier, NOW)[:2]] == [(False, True), (True, False)]
        taken_back = replace(earlier, compactions=detail.compactions[1:], retired=detail.compactions[:1])
        latest = replace(taken_back, last_call=replace(detail.last_call, version=3))
        # After a rollback the later ones stand where they stood, or they would look deleted.
        assert [(c.version, c.ready, c.retired) for c in make_cards(latest, NOW)] == [
            (3, False, True),
            (2, True, False),
        ]

    def test_statistics_count_the_beginning_once(self) -> None:
        found = make_statistics(long_talk())
        assert found is not None
        assert (found.number, found.covered) == ("2 versions", "messages 1–28, turns 1–14")
        assert (found.before, found.after, found.saving, found.retired) == ("19,322", "1,080", "94 %", 1)
        assert make_statistics(EMPTY) is None

    def test_each_saving_says_what_it_is_of(self) -> None:
        sums, records = make_statistics(long_talk()), make_records_view(long_talk(), NOW)
        unused = make_statistics(replace(long_talk(), last_call=None))
        [saved] = [tile for tile in make_session_view(long_talk(), NOW).tiles if tile.name == "Saved"]
        assert sums is not None and unused is not None and records is not None
        hints = {sums.hint, unused.hint, records.saving_hint, saved.hint}
        assert len(hints) == 4 and all("less" in hint for hint in hints)

    def test_a_record_for_each_part_in_order_and_what_they_come_to(self) -> None:
        found = make_records_view(long_talk(), NOW)
        assert found is not None and found.version == 3
        assert [card.turns for card in found.cards] == ["turns 1–4", "turns 5–9", "turns 10–14"]
        one = found.cards[1]
        assert (one.messages, one.before, one.asked) == ("messages 9–18", "1,200", "rate 0.2, 240 characters")
        assert one.rate == f"{int(one.after) / 1200:.2f}" and one.when == "48 min ago"
        assert found.cards[0].asked == ""
        # Not what the texts alone save: note and pins stand there too.
        assert dict(found.totals)["With note and pins"] == "15,300 → 1,080 tokens"
        assert found.totals[0] == ("Parts", "3 parts for 14 turns") and found.totals[-1] == ("Saving", "93 %")
        assert make_records_view(EMPTY, NOW) is None

    def test_of_a_summary_older_than_records_the_last_call_tells_the_turns(self) -> None:
        detail = long_talk()
        bare = replace(detail, compactions=tuple(replace(c, records=()) for c in detail.compactions))
        found = make_records_view(bare, NOW)
        assert found is not None and found.cards[0].turns == "turns 1–4"
        assert (found.cards[0].before, found.cards[0].rate, found.totals[0][1]) == ("?", "", "3 parts")

    def test_what_quotes_and_a_repeated_message_weigh_is_no_saving(self) -> None:
        sent = (("system", 100, "preamble"), *[("user", 400, "covered")] * 10, ("user", 30, "verbatim"))
        block = (("user", 500, "summary"), ("assistant", 2, "acknowledgement"), ("user", 398, "opener"))
        saw = (("system", 100, "preamble"), *block, ("user", 130, "quoting"))
        call = CallSnapshot(NOW, sent=sent, saw=saw, covers=10, version=3)
        found = make_statistics(replace(long_talk(), last_call=call))
        assert found is not None and "quotes" in found.note
        assert (found.covered, found.before, found.after, found.saving) == (
            "messages 1–10, turns 1–10",
            "4,000",
            "1,000",
            "75 %",
        )

    def test_ranges(self) -> None:
        assert describe_range(0, 1, ()) == ("message 1", "")
        assert describe_range(0, 3, (1, 1, 2)) == ("messages 1–3", "turns 1–2")
        assert describe_range(0, 2, (0, 1)) == ("messages 1–2", "turn 1")
        assert describe_range(0, 9, (1, 1)) == ("messages 1–9", "")

    def test_a_version_against_its_parent(self) -> None:
        detail = long_talk()
        view = make_version_view(detail, find_version(detail, 3), NOW)
        assert view.parent == 2 and view.newer == ()
        assert [piece.kind for piece in view.pieces] == ["same", "added"]
        assert [name for name, _ in view.segments] == [
            "messages 1–8 · turns 1–4",
            "messages 9–18 · turns 5–9",
            "messages 19–28 · turns 10–14",
        ]


class TestContents:
    """Client sent beside model saw."""

    def test_the_summary_stands_beside_what_it_stands_for(self) -> None:
        call = long_talk().last_call
        assert call is not None
        found = compare_contents(call)
        pairs = [pair for stretch in found.stretches for pair in stretch.pairs]
        block = next(pair for pair in pairs if pair.block)
        assert [item.number for item in block.sent] == list(range(1, 29)) and block.named == "messages 1–28"
        assert [item.fate for item in block.saw] == ["summary"]
        assert sum(len(pair.sent) for pair in pairs) == 41 and sum(len(pair.saw) for pair in pairs) == 14
        tail = pairs[pairs.index(block) + 1 :]
        assert [(a.sent[0].number, a.saw[0].number) for a in tail] == [(n, n) for n in range(29, 41)]
        assert pairs[0].sent[0].number is None and block.saw[0].number is None
        assert all(a.sent[0].text == a.saw[0].text for a in tail)

    def test_the_same_on_both_sides_is_folded_and_bounded(self) -> None:
        rows = tuple(("user", 1, "verbatim") for _ in range(5000))
        found = compare_contents(CallSnapshot(0.0, rows, rows))
        assert [stretch.folded for stretch in found.stretches] == [False, True, False]
        assert sum(len(s.pairs) + s.left_out for s in found.stretches) == 5000
        assert sum(len(s.pairs) for s in found.stretches) < 250

    def test_contents_that_are_not_those_of_the_structure_are_not_shown(self) -> None:
        rows = (("user", 1, "verbatim"), ("user", 1, "verbatim"))
        found = compare_contents(CallSnapshot(0.0, rows, rows, client=({"content": "lonely"},)))
        assert all(p.sent[0].text is None for s in found.stretches for p in s.pairs)

    def test_all_kinds_of_contents(self) -> None:
        call = {"function": {"name": "look", "arguments": "{}"}}
        assert message_text({"content": None, "tool_calls": [call, None]}) == "→ look({})"
        image = {"type": "image_url", "image_url": {"url": "data:x"}}
        assert message_text({"content": [{"type": "text", "text": "see"}, image, "str", 5]}).startswith(
            'see\n[image_url: {"type"'
        )
        for odd in (
            {},
            {"content": ""},
            {"content": []},
            {"content": 5},
            {"content": {"a": 1}},
            {"tool_calls": 3},
        ):
            assert isinstance(message_text(odd), str)


class TestSession:
    """One session."""

    def test_the_long_talk(self) -> None:
        view = make_session_view(long_talk(), NOW)
        assert view.line.name == "date-library-chat" and view.line.path == long_talk().row.session.session_id
        assert view.chart is not None and len(view.chart.points) == 40
        assert [name for _, name, _ in view.chart.marks] == ["v2", "v3"]
        assert {line.label for line in view.chart.lines} == {"window", "light", "medium", "aggressive"}
        assert view.strip is not None and [bar.label for bar in view.strip.versions] == ["v3", "v2"]
        assert {fate.name: fate.messages for fate in view.fates} == {
            "preamble": 1,
            "covered": 26,
            "recalled": 2,
            "cleared": 1,
            "verbatim": 11,
        }
        assert view.events[0].type == "audit" and "user ann" in view.events[0].note
        assert view.pins[0] == (FIRST_PIN, pin_mark(FIRST_PIN))
        assert view.tiles[0].name == "Calls" and "near their window" in view.tiles[0].hint

    def test_a_kind_of_compaction_as_a_reason_is_explained(self) -> None:
        events = tuple(CompactionEvent("request", 1.0, "applied", kind) for kind in KIND_RANK)
        notes = {
            line.reason: line.note for line in make_session_view(replace(EMPTY, events=events), NOW).events
        }
        assert set(notes) == set(KIND_RANK) and all(len(note.split()) > 3 for note in notes.values())

    @pytest.mark.parametrize("outcome", sorted(set(get_args(Outcome)) - {"failed"}))
    def test_the_last_call_is_told_in_words(self, outcome: str) -> None:
        view = make_session_view(replace(EMPTY, row=replace(EMPTY.row, outcome=outcome)), NOW)
        assert re.fullmatch(r"the last one was [a-z, ]{8,}", view.tiles[0].note)
        assert outcome not in view.tiles[0].note.split()

    def test_an_outcome_that_is_none_of_ours_is_shown_as_it_is(self) -> None:
        view = make_session_view(replace(EMPTY, row=replace(EMPTY.row, outcome="x" * 99)), NOW)
        assert view.tiles[0].note.startswith("the last one xxx") and len(view.tiles[0].note) < 60

    def test_a_session_of_which_nothing_is_known(self) -> None:
        view = make_session_view(EMPTY, NOW)
        assert (view.chart, view.strip, view.comparison, view.statistics) == (None, None, None, None)
        assert view.line.name == "k" and view.line.owner == "no known owner"

    def test_everything_unusual_is_said(self) -> None:
        detail = replace(
            EMPTY,
            row=replace(EMPTY.row, state="failed", reason="no answer"),
            claims=(("d", 1.0),),
            bypass=(NOW + 60, "refused"),
            backoff=(NOW - 1, "over"),
        )
        told = " ".join(sentence for _, sentence in make_session_view(detail, NOW).notices)
        assert "no answer" in told and "being made" in told and "Left alone for 1 min: refused" in told
        assert "over" not in told


class TestList:
    """The session list."""

    def test_what_browsers_cannot_have_sent_is_not_asked(self) -> None:
        form = read_filter(
            {"level": "none", "state": "<b>", "age": "1y", "sort": "x", "text": " a ", "team": "t" * 999}
        )
        assert (form.level, form.state, form.age, form.sort, form.text) == ("", "", "", "seen", "a")
        assert len(form.team) == 200

    def test_the_query(self) -> None:
        query = read_filter(
            {"age": "1h", "state": "failed", "sort": "saved", "dir": "up", "cursor": "c"}
        ).to_query(NOW)
        assert (query.since, query.until, query.state) == (NOW - 3600, None, "failed")
        assert (query.sort, query.ascending, query.cursor) == ("saved", True, "c")
        assert read_filter({"age": "older"}).to_query(NOW).until == NOW - 7 * 86_400

    def test_links_keep_the_filter_and_begin_anew(self) -> None:
        form = read_filter({"team": "a&b", "cursor": "9", "sort": "saved"})
        assert form.to_link(sort="calls") == "team=a%26b&sort=calls&dir=down"
        assert form.here.endswith("cursor=9")

    def test_lines(self) -> None:
        rows = tuple(detail.row for detail in scenes())
        found = make_listing(SessionPage(rows, "50", 99), read_filter({}), NOW)
        assert [line.name for line in found.lines][:2] == ["date-library-chat", "case-90031"]
        assert found.lines[3].would and found.lines[3].saved == "12.4k"
        assert [line.owner for line in found.lines][1:] == [
            "team support",
            "team support",
            "team research",
            "user ruth@example.org",
        ]
        assert found.next == "cursor=50" and found.first is None
        assert [column.order for column in found.columns if column.order != "none"] == ["descending"]
        hints = {column.name: column.hint for column in found.columns if column.hint}
        assert hints.keys() == {"Calls", "Saved"} and "near their window" in hints["Calls"]


class TestDeeds:
    """What is said before it is done."""

    @pytest.mark.parametrize("name", ["compact", "rebuild", "pin", "reset", "forget"])
    def test_each_says_what_will_happen(self, name: str) -> None:
        action = find_action(name, long_talk())
        assert action is not None and len(action.consequences) >= 3

    @pytest.mark.parametrize("name", ["compact", "rebuild", "pin", "unpin", "rollback", "reset"])
    def test_what_breaks_the_prompt_cache_says_so(self, name: str) -> None:
        action = find_action(name, long_talk(), version=2, mark=pin_mark(FIRST_PIN))
        assert action is not None and "prompt cache breaks once" in " ".join(action.consequences)

    def test_a_rollback_names_what_comes_and_goes(self) -> None:
        action = find_action("rollback", long_talk(), 2)
        assert action is not None and action.version == 2
        told = " ".join(action.consequences)
        assert "v3" in told and "first 18 messages" in told and "Ann compares" in told
        nothing = find_action("rollback", long_talk(), 0)
        assert nothing is not None and "Every version is taken back" in " ".join(nothing.consequences)

    def test_what_is_not_there_is_no_deed(self) -> None:
        assert find_action("rollback", long_talk(), 9) is None
        assert find_action("rollback", long_talk()) is None
        assert find_action("unpin", long_talk(), mark="0") is None
        assert find_action("destroy", long_talk()) is None

    def test_unpinning_finds_the_pin_by_its_mark(self) -> None:
        action = find_action("unpin", long_talk(), mark=pin_mark(FIRST_PIN))
        assert action is not None and action.text == FIRST_PIN


class TestPolicy:
    """Values with their origin, and what others would send."""

    BOOK = PolicyBook(
        {
            "version": 1,
            "policies": [
                {"name": "r", "match": {"team": "research"}, "levels": {"medium": {"keep_last": 12}}}
            ],
        },
        "policies.yaml",
    )
    WHO = Identity(team_alias="research", model="gpt-4o")

    def test_values_and_origins(self) -> None:
        view = make_policy_view(
            explain_policy(self.BOOK, self.WHO, everything=True), self.BOOK.resolve(self.WHO)
        )
        values = {setting.path: setting for setting in view.first}
        assert values["levels.medium.keep_last"].value == "12" and values["levels.medium.keep_last"].own
        assert "policies[0]" in values["levels.medium.keep_last"].source
        assert values["levels.light.at"].source == "built-in default" and not values["levels.light.at"].own
        assert [slider.value for slider in view.sliders] == ["0.25", "12"]

    def test_only_what_was_moved_is_asked(self) -> None:
        policy = self.BOOK.resolve(self.WHO)
        body = read_preview_form({"target": "0.25", "keep_last": "4", "rate": "0.2"}, policy)
        assert (body.target, body.keep_last, body.rate) == (None, 4, None)
        assert read_preview_form({"use_rate": "1", "rate": "0.2"}, policy).rate == 0.2
        for wrong in ({"target": "x"}, {"keep_last": "0"}, {"rate": "0.9", "use_rate": "1"}, {"target": "2"}):
            with pytest.raises(ValueError):
                read_preview_form(wrong, policy)

    def test_the_answer(self) -> None:
        detail, policy = long_talk(), self.BOOK.resolve(self.WHO)
        assert detail.last_call is not None
        found = preview_call(
            detail, policy, read_preview_form({"keep_last": "4"}, policy), lambda text, _: len(text)
        )
        shown = make_preview_view(found, detail.last_call)
        lines = dict(shown.lines)
        assert lines["Kept verbatim"] != lines["Covered"] and "keep_last: 4" in shown.change
        assert {run.fate for run in shown.strip.runs} <= {"preamble", "covered", "verbatim"}
