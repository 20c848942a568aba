"""Pages of events, versions beside their parents, and sums."""

from __future__ import annotations

import pytest

from gateway_compaction.admin.details import diff_texts, events_after, find_version
from gateway_compaction.admin.measures import make_overview
from gateway_compaction.archive import Owner, SessionDetail, SessionRow
from gateway_compaction.core.records.compaction import Compaction, Segment, SessionRef
from gateway_compaction.core.records.event import CompactionEvent
from gateway_compaction.core.records.savings import PromptPrice
from gateway_compaction.errors import NotFound
from tests.admin.people import hour, session

ROW = SessionRow(SessionRef("t", "k"), Owner())


def written(*texts: str, version: int = 1) -> Compaction:
    """A compaction of these segments."""
    return Compaction(f"d{version}", 1, "model", tuple(Segment(0, 1, t) for t in texts), version=version)


class TestEvents:
    """Newest first, page by page, also where many happened at the same moment."""

    @pytest.mark.parametrize("limit", [1, 2, 3, 7, 50])
    def test_pages_add_up(self, limit: int) -> None:
        times = [5.0, 4.0, 4.0, 4.0, 4.0, 3.25, 3.0, 3.0, 1.0]
        events = [CompactionEvent("request", at, "none", str(i)) for i, at in enumerate(times)]
        detail, found, cursors = (
            SessionDetail(ROW, events=tuple(events)),
            list[str](),
            list[str | None]([None]),
        )
        for cursor in cursors:
            page = events_after(detail, cursor, limit)
            assert len(page.events) <= limit
            found += [e.reason for e in page.events]
            cursors += [page.cursor] if page.cursor else []
        assert found == [e.reason for e in events]

    def test_new_ones_do_not_shift_the_pages(self) -> None:
        old = tuple(CompactionEvent("request", float(at), "none", "") for at in (3, 2, 1))
        first = events_after(SessionDetail(ROW, events=old), None, 2)
        more = (CompactionEvent("request", 9.0, "none", ""), *old)
        assert [e.at for e in events_after(SessionDetail(ROW, events=more), first.cursor, 2).events] == [1.0]

    @pytest.mark.parametrize("cursor", ["", "x", "1", "1~x", "~", "1~2~3"])
    def test_a_cursor_that_is_none(self, cursor: str) -> None:
        with pytest.raises(NotFound):
            events_after(SessionDetail(ROW), cursor, 5)


class TestVersions:
    """A version, and how it came about."""

    def test_beside_its_parent(self) -> None:
        found = find_version(session("t", "k", Owner()), 2)
        assert (found.parent, found.retired, found.rate, found.text) == (1, False, 0.25, "one\nthree")
        assert [(c.kind, c.text) for c in found.diff] == [
            ("same", "one"),
            ("removed", "two"),
            ("added", "three"),
        ]

    def test_one_that_was_taken_back(self) -> None:
        found = find_version(session("t", "k", Owner()), 1)
        assert found.retired and found.parent is None and {c.kind for c in found.diff} == {"added"}

    def test_one_that_is_not_there(self) -> None:
        with pytest.raises(NotFound):
            find_version(session("t", "k", Owner()), 3)

    @pytest.mark.parametrize(
        ("old", "new"),
        [
            (("a\nb",), ("a\nb", "c")),
            (("a\n" * 5_000, "x"), ("a\n" * 5_000, "y")),
            (tuple("ab" * 5_000), tuple("ba" * 5_000)),
            ((), ("",)),
            (("only",), ()),
        ],
    )
    def test_both_texts_can_be_read_off_the_changes(self, old: tuple[str, ...], new: tuple[str, ...]) -> None:
        before, after = written(*old), written(*new, version=2)
        found = diff_texts(before, after)
        for text, other in ((before.text, "added"), (after.text, "removed")):
            pieces = [c.text for c in found if c.kind != other]
            # Where segments are compared the empty line between them is not a piece of its own.
            assert "\n".join(pieces).replace("\n", "") == text.replace("\n", "")

    def test_a_long_text_is_compared_by_segments(self) -> None:
        long = "\n".join(map(str, range(1_000)))
        found = diff_texts(written(long, "old"), written(long, "new", version=2))
        assert [c.kind for c in found] == ["same", "removed", "added"] and found[0].text == long


class TestOverview:
    """Sums of hours."""

    def test_money_is_counted_where_a_price_is_known(self) -> None:
        red, blue = Owner(team_id="r", team="Red"), Owner(team_id="b")
        hours = [
            hour(red, saved=100, would_save=10, cost=0.5, breaks=1),
            hour(red, saved=50, model="other", failures=2),
            hour(blue, saved=1000, cost=0.25),
            hour(Owner(), model="unknown", saved=7, would_save=1),
        ]
        prices = {"gpt": PromptPrice(0.01, 0.001, 0.02), "other": PromptPrice(0.5, 0.5, 0.5)}
        found = make_overview(1.0, 3, hours, prices.get)
        totals = found.totals
        assert (totals.saved, totals.would_save, totals.unpriced) == (1157, 11, 8)
        assert totals.saved_dollars == pytest.approx(100 * 0.01 + 50 * 0.5 + 1000 * 0.01)
        assert totals.would_save_dollars == pytest.approx(0.1)
        assert (totals.cost, totals.breaks, totals.failures) == (0.75, 1, 2)
        assert [(t.kind, t.name, t.totals.saved) for t in found.teams] == [
            ("team", "b", 1000),
            ("team", "Red", 150),
            ("nobody", "no known owner", 7),
        ]
        assert [(m.name, m.totals.saved) for m in found.models] == [
            ("gpt", 1100),
            ("other", 50),
            ("unknown", 7),
        ]
