"""What a process remembers for itself: bounded, idle entries go, the better kind wins."""

from __future__ import annotations

import pytest

from gateway_compaction.core.records.compaction import Compaction, Kind, Segment, SessionRef
from gateway_compaction.core.records.controls import SessionControls
from gateway_compaction.engine.local_buffer import IDLE_SECONDS, LocalBuffer
from gateway_compaction.engine.rewrite_detector import REWRITES_BEFORE_BACKOFF, Lineage, RewriteDetector
from tests.engine.rig import Clock

SESSION, OTHER = SessionRef("t", "a"), SessionRef("t", "b")
FOREIGN = SessionRef("u", "a")


def compaction(digest: str, kind: Kind = "extractive", text: str = "x") -> Compaction:
    """A record that stands for four messages."""
    return Compaction(digest, 4, kind, (Segment(0, 4, text),))


def found(buffer: LocalBuffer, session: SessionRef, *digests: str) -> set[str]:
    """Digests that the buffer knows."""
    return {c.digest for c in buffer.merge_compactions(session, digests, ())}


class TestLocalBuffer:
    """Compactions by tenant, session and digest."""

    def test_it_holds_a_bounded_number_and_the_least_recently_used_goes(self) -> None:
        buffer = LocalBuffer(Clock(), entries=3)
        for name in "abc":
            buffer.keep(SESSION, compaction(name))
        assert found(buffer, SESSION, "a") == {"a"}
        buffer.keep(SESSION, compaction("d"))
        assert found(buffer, SESSION, "a", "b", "c", "d") == {"a", "c", "d"}

    def test_it_forgets_what_was_idle_for_a_quarter_of_an_hour(self) -> None:
        clock = Clock()
        buffer = LocalBuffer(clock)
        buffer.keep(SESSION, compaction("a"))
        buffer.keep(SESSION, compaction("b"))
        clock.now += IDLE_SECONDS
        assert found(buffer, SESSION, "a") == {"a"}
        clock.now += 1
        assert found(buffer, SESSION, "a", "b") == {"a"}
        clock.now += IDLE_SECONDS + 1
        assert found(buffer, SESSION, "a", "b") == set()

    def test_nothing_is_found_in_another_session_or_tenant(self) -> None:
        buffer = LocalBuffer(Clock())
        buffer.keep(SESSION, compaction("a"))
        assert found(buffer, OTHER, "a") == found(buffer, FOREIGN, "a") == set()
        assert found(buffer, SESSION, "b") == set()

    @pytest.mark.parametrize(
        ("first", "second", "kept"),
        [
            ("cleared", "extractive", "second"),
            ("extractive", "extractive", "second"),
            ("model", "extractive", "first"),
            ("model", "model", "second"),
        ],
    )
    def test_a_better_kind_is_never_replaced_by_a_lesser_one(
        self, first: Kind, second: Kind, kept: str
    ) -> None:
        buffer = LocalBuffer(Clock())
        buffer.keep(SESSION, compaction("a", first, "first"))
        buffer.keep(SESSION, compaction("a", second, "second"))
        assert [c.text for c in buffer.merge_compactions(SESSION, ["a"], ())] == [kept]

    @pytest.mark.parametrize(
        ("known", "stored", "wins"),
        [
            ("extractive", "extractive", "stored"),
            ("extractive", "model", "stored"),
            ("model", "extractive", "known"),
            ("model", "model", "stored"),
        ],
    )
    def test_the_store_is_believed_unless_the_process_knows_better(
        self, known: Kind, stored: Kind, wins: str
    ) -> None:
        buffer = LocalBuffer(Clock())
        buffer.keep(SESSION, compaction("a", known, "known"))
        merged = buffer.merge_compactions(
            SESSION, ["a", "b"], [compaction("a", stored, "stored"), compaction("b")]
        )
        assert {c.digest: c.text for c in merged} == {"a": wins, "b": "x"}

    def test_a_session_can_be_forgotten(self) -> None:
        buffer = LocalBuffer(Clock())
        for session in (SESSION, OTHER):
            buffer.keep(session, compaction("a"))
            buffer.set_bypass(session, "refused", 60)
        buffer.forget(SESSION.session_id)
        assert (found(buffer, SESSION, "a"), buffer.get_bypass(SESSION, None)) == (set(), None)
        assert (found(buffer, OTHER, "a"), buffer.get_bypass(OTHER, None)) == ({"a"}, "refused")

    def test_what_was_taken_back_is_not_used_though_the_store_is_down(self) -> None:
        buffer = LocalBuffer(Clock())
        buffer.remember_controls(SESSION, SessionControls("7.0", ("a pin",), compact=True, rebuild=True))
        for session in (SESSION, OTHER):
            buffer.keep(session, compaction("a"), "7.0")
        buffer.keep(SESSION, compaction("new"), "9.0*")
        buffer.begin_generation(SESSION.session_id, 9.0)
        buffer.keep(SESSION, compaction("late"), "7.0")
        buffer.keep(SESSION, compaction("unknown"), "")
        assert found(buffer, SESSION, "a", "new", "late", "unknown") == {"new"}
        assert found(buffer, OTHER, "a") == {"a"}
        assert buffer.get_controls(SESSION) == SessionControls("9.000000*", ("a pin",), compact=True)
        buffer.keep(SESSION, compaction("since"), buffer.get_controls(SESSION).generation)
        assert found(buffer, SESSION, "since") == {"since"}

    def test_what_is_older_than_what_is_known_changes_nothing(self) -> None:
        buffer = LocalBuffer(Clock())
        told = SessionControls("9.5*", ("a pin",), rebuild=True)
        buffer.remember_controls(SESSION, told)
        buffer.keep(SESSION, compaction("a"), "9.5*")
        buffer.begin_generation(SESSION.session_id, 9.0)
        assert buffer.get_controls(SESSION) == told and found(buffer, SESSION, "a") == {"a"}

    @pytest.mark.parametrize(
        ("made_under", "now", "holds"),
        [
            ("", "", True),
            ("7.1", "", True),
            ("7.1", "7.1", True),
            ("", "7.1", True),
            ("+6.9", "7.1", True),
            ("+6.9", "+7.0", True),
            ("7.1", "7.2", False),
            ("7.1", "8.0*", False),
            ("+6.9", "8.0*", False),
            ("", "8.0*", False),
            ("8.0*", "9.0*", False),
            ("7.1", "+9.0", False),
        ],
    )
    def test_what_was_made_holds_in_its_generation_only(self, made_under: str, now: str, holds: bool) -> None:
        buffer = LocalBuffer(Clock())
        buffer.keep(SESSION, compaction("a"), made_under)
        buffer.set_bypass(SESSION, "refused", 60, made_under)
        assert bool(buffer.merge_compactions(SESSION, ["a"], (), now)) is holds
        assert (buffer.get_bypass(SESSION, None, now) is not None) is holds
        if not holds:
            assert buffer.merge_compactions(SESSION, ["a"], (), "") == (), "and it does not come back"

    def test_what_the_store_did_not_know_is_of_the_generation_that_it_became(self) -> None:
        buffer = LocalBuffer(Clock())
        buffer.keep(SESSION, compaction("a"), "+6.9")
        assert buffer.merge_compactions(SESSION, ["a"], (), "7.1")
        assert buffer.merge_compactions(SESSION, ["a"], (), "7.2") == ()

    def test_a_lesser_kind_replaces_a_better_one_of_an_older_generation(self) -> None:
        buffer = LocalBuffer(Clock())
        buffer.keep(SESSION, compaction("a", "model", "old"), "7.1")
        buffer.keep(SESSION, compaction("a", "extractive", "new"), "8.0*")
        assert [c.text for c in buffer.merge_compactions(SESSION, ["a"], (), "8.0*")] == ["new"]

    def test_nothing_that_was_decided_before_an_erasure_is_kept_after_it(self) -> None:
        clock = Clock()
        buffer = LocalBuffer(clock)
        buffer.forget(SESSION.session_id, 8.0)
        for generation in ("", "7.9", "+7.9", "7.9*", "8.0"):
            buffer.keep(SESSION, compaction("a"), generation)
        assert found(buffer, SESSION, "a") == set()
        buffer.keep(SESSION, compaction("a"), "8.1")
        buffer.keep(OTHER, compaction("a"), "7.9")
        assert found(buffer, SESSION, "a") == found(buffer, OTHER, "a") == {"a"}

    def test_a_whole_tenant_can_be_forgotten(self) -> None:
        buffer = LocalBuffer(Clock())
        alike = SessionRef("tt", "a")
        for session in (SESSION, OTHER, FOREIGN, alike):
            buffer.keep(session, compaction("a"))
            buffer.remember_controls(session, SessionControls("7.1", ("pinned",)))
        buffer.forget("t", 8.0)
        assert [s for s in (SESSION, OTHER, FOREIGN, alike) if found(buffer, s, "a")] == [FOREIGN, alike]
        assert [buffer.get_controls(s).pins for s in (SESSION, FOREIGN)] == [(), ("pinned",)]
        assert buffer.is_outdated(SESSION, "7.9") and not buffer.is_outdated(FOREIGN, "7.9")

    def test_what_operators_asked_is_remembered_for_a_while(self) -> None:
        clock = Clock()
        buffer = LocalBuffer(clock)
        asked = SessionControls("7.1", ("pinned",), compact=True)
        assert buffer.get_controls(SESSION) == SessionControls()
        assert buffer.remember_controls(SESSION, asked) == buffer.get_controls(SESSION) == asked
        clock.now += IDLE_SECONDS + 1
        assert buffer.get_controls(SESSION) == SessionControls()

    def test_a_bypass_runs_out_and_their_number_is_bounded(self) -> None:
        clock = Clock()
        buffer = LocalBuffer(clock, entries=2)
        buffer.set_bypass(SESSION, "refused", 60)
        clock.now += 59
        assert buffer.get_bypass(SESSION, None) == "refused" and buffer.get_bypass(OTHER, None) is None
        clock.now += 1
        assert buffer.get_bypass(SESSION, None) is None
        for number in range(3):
            buffer.set_bypass(SessionRef("t", f"{number}"), "refused", 60)
        held = [buffer.get_bypass(SessionRef("t", f"{n}"), None) for n in range(3)]
        assert held == [None, "refused", "refused"]


class TestLineageGuard:
    """Summaries remembered by the last four answers that they cover."""

    PAIR = (b"m1", b"m2", b"m3", b"m4")
    HISTORY = (b"m0", b"m1", b"m2", b"m3", b"m4", b"m5")
    CHAIN = ("", "c1", "c2", "c3", "c4", "mine", "c6")

    def lose(self, detector: RewriteDetector, *digests: str, covers: int = 7, length: int = 8) -> None:
        """Summaries made of longer beginnings that end alike."""
        for digest in digests:
            detector.record_summary("t", self.covered(digest, covers), length)

    def covered(self, digest: str, covers: int = 7) -> Lineage:
        """What a summary covers, so many answers of which the last four are known."""
        fill = (b"",) * (covers - len(self.PAIR))
        return Lineage((*fill, *self.PAIR), (*("",) * covers, digest))

    def objects(self, detector: RewriteDetector, tenant: str = "t") -> bool:
        """Whether it objects to another summary for the history."""
        return detector.find_skip_reason(tenant, Lineage(self.HISTORY, self.CHAIN)) is not None

    def test_two_summaries_that_could_not_be_used_are_enough(self) -> None:
        detector = RewriteDetector()
        assert REWRITES_BEFORE_BACKOFF == 2
        self.lose(detector, "lost1")
        assert not self.objects(detector)
        self.lose(detector, "lost2")
        assert self.objects(detector) and not self.objects(detector, "u")

    def test_a_summary_of_this_very_history_is_no_loss(self) -> None:
        detector = RewriteDetector()
        self.lose(detector, "lost1", "lost2", "mine")
        assert not self.objects(detector)

    @pytest.mark.parametrize(("length", "objects"), [(6, False), (5, True)])
    def test_a_conversation_that_looks_alike_at_the_same_length_is_another(
        self, length: int, objects: bool
    ) -> None:
        detector = RewriteDetector()
        self.lose(detector, "theirs1", "theirs2", covers=5, length=length)
        assert self.objects(detector) is objects

    def test_a_use_takes_it_back(self) -> None:
        detector = RewriteDetector()
        self.lose(detector, "lost1", "lost2")
        detector.record_use("t", self.covered("lost2"))
        detector.record_use("t", self.covered("never made"))
        detector.record_use("t", Lineage((b"x",), ("", "never made")))
        assert not self.objects(detector)

    def test_messages_that_come_again_and_again_say_nothing(self) -> None:
        detector = RewriteDetector()
        for digest in ("lost1", "lost2"):
            detector.record_summary("t", Lineage((b"m1", b"m2") * 2, ("", "", "", "", digest)), 8)
        history = (b"m0", b"m1", b"m2", b"m1", b"m2", b"m5")
        assert detector.find_skip_reason("t", Lineage(history, self.CHAIN)) is None

    def test_after_ten_minutes_all_is_forgotten(self) -> None:
        now = [0.0]
        detector = RewriteDetector(clock=lambda: now[0])
        self.lose(detector, "lost1", "lost2")
        assert self.objects(detector)
        now[0] = 601.0
        assert not self.objects(detector)

    @staticmethod
    def history(first: int, end: int) -> Lineage:
        """Some answers of one conversation; a prefix is named by its beginning and its end."""
        answers = tuple(b"m%d" % number for number in range(first, end))
        return Lineage(answers, tuple(f"{first}-{first + k}" for k in range(len(answers) + 1)))

    def test_a_client_that_goes_on_is_noticed_when_the_lost_summaries_are_out_of_sight(self) -> None:
        now = [0.0]
        detector = RewriteDetector(clock=lambda: now[0])
        self.lose(detector, "lost1", "lost2")
        for first in range(30):
            now[0] = 60.0 * first
            assert detector.find_skip_reason("t", self.history(first, first + 6)) is not None
        now[0] += 601.0
        assert detector.find_skip_reason("t", self.history(30, 36)) is None

    def test_one_that_rewrites_no_more_is_served_after_ten_minutes_though_it_goes_on(self) -> None:
        now = [0.0]
        detector = RewriteDetector(clock=lambda: now[0])
        self.lose(detector, "lost1", "lost2")
        objections = []
        for number in range(12):
            now[0] = 60.0 * number
            objections.append(detector.find_skip_reason("t", self.history(0, 6 + number)) is not None)
        assert objections == [True] * 10 + [False] * 2

    def test_it_needs_four_answers_and_holds_a_bounded_number(self) -> None:
        detector = RewriteDetector(entries=2)
        detector.record_summary("t", Lineage(self.PAIR[:1], ("", "short")), 6)
        self.lose(detector, "lost1", "lost2")
        for number in range(2):
            detector.record_summary(
                "t", Lineage((b"%d" % number, b"x", b"y", b"z"), ("", "", "", "", "d")), 6
            )
        assert not self.objects(detector)
