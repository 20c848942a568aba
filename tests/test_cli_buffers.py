"""``gateway-compaction buffers``: what it shows, does and says, on an archive in memory."""

from __future__ import annotations

import getpass
import json
import re
import stat
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from gateway_compaction.archive import Archive, Owner, SessionDetail, SessionRow
from gateway_compaction.cli.buffers.commands import app
from gateway_compaction.cli.buffers.reach import Source
from gateway_compaction.cli.findings import check_variables
from gateway_compaction.core.records.compaction import SessionRef
from gateway_compaction.core.records.summary_record import SummaryRecord
from gateway_compaction.errors import StoreBusy, StoreError
from tests.buffers_archive import FIRST, HOSTILE, SECOND, TAKEN, FakeArchive, opener, sessions
from tests.lab.ports import HOST, free_port
from tests.store_contract import digest

ME = f"{getpass.getuser()} (command line)"
# What a terminal obeys, or a reader cannot see.
OBEYED = re.compile(
    r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2028\u2029\u2066-\u2069\ud800-\udfff]"
)


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of this machine's own set-up."""
    monkeypatch.chdir(tmp_path)
    for name in (
        "GATEWAY_COMPACTION_REDIS_URL",
        "GATEWAY_COMPACTION_URL",
        "GATEWAY_COMPACTION_KEY",
        "LITELLM_MASTER_KEY",
        "OPENAI_API_KEY",
    ):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def archive() -> FakeArchive:
    return FakeArchive()


def run(archive: Archive, *arguments: str, **how: Any) -> Result:
    """One command; an exception that leaves it fails the test."""
    opened = how.pop("opened", None)
    return CliRunner().invoke(app, arguments, obj=opener(archive, opened), catch_exceptions=False, **how)


def good(archive: Archive, *arguments: str, **how: Any) -> str:
    result = run(archive, *arguments, **how)
    assert result.exit_code == 0, result.output
    return result.stdout


def document(archive: Archive, *arguments: str) -> Any:
    """What a command prints with ``--json``: one document."""
    return json.loads(good(archive, *arguments, "--json"))


class TestList:
    """``ls``."""

    def test_a_line_for_each_session_the_latest_first(self, archive: FakeArchive) -> None:
        lines = good(archive, "ls").splitlines()
        rows = [line for line in lines if "aa11" in line or "aa22" in line]
        assert FIRST.key[:12] in rows[0] and SECOND.key[:12] in rows[1]
        assert "owner" in lines[1] and "team" not in lines[1]
        for part in (
            "team research",
            "ticket-4711, run 5",
            "gpt-4o",
            "summarizing",
            "medium",
            "91,408 → 33,120",
        ):
            assert part in rows[0]
        assert "90 min ago" in rows[0] and "250,000" in rows[0] and "failed" in rows[1]
        assert lines[-1] == "2 sessions"
        assert FIRST.session_id in good(archive, "ls", "--full")

    @pytest.mark.parametrize(
        "filters",
        [
            ["--team", "7c1f"],
            ["--model", "gpt-4o"],
            ["--level", "medium"],
            ["--state", "summarizing"],
            ["--text", "4711"],
            ["--since", "2h"],
            ["--since", "100m", "--team", "research"],
        ],
    )
    def test_filters(self, archive: FakeArchive, filters: list[str]) -> None:
        found = document(archive, "ls", *filters)
        assert [row["session"]["key"] for row in found["rows"]] == [FIRST.key] and found["total"] == 1

    def test_order(self, archive: FakeArchive) -> None:
        found = document(archive, "ls", "--sort", "saved", "--reverse")
        assert [row["session"]["key"] for row in found["rows"]] == [SECOND.key, FIRST.key]

    def test_pages(self) -> None:
        many = [
            replace(d, row=replace(d.row, session=SessionRef(digest("t"), digest(n)), seen=n))
            for n, d in numbered(7)
        ]
        archive = FakeArchive(*many, page=2)
        assert len(document(archive, "ls", "--all")["rows"]) == 7
        found = document(archive, "ls", "--limit", "3")
        assert [row["seen"] for row in found["rows"]] == [6, 5, 4] and found["total"] == 7
        rest = document(archive, "ls", "--all", "--cursor", found["cursor"])
        assert [row["seen"] for row in rest["rows"]] == [3, 2, 1, 0] and rest["cursor"] is None
        assert (
            good(archive, "ls", "--limit", "3").splitlines()[-1]
            == "7 sessions; 3 are listed, --all lists them all"
        )
        assert good(archive, "ls", "--limit", "1").splitlines()[-1].startswith("7 sessions; 1 is listed,")

    @pytest.mark.parametrize("since", ["soon", "2 hours", "-1h", "9999-99-99"])
    def test_a_time_that_is_none_is_a_fault_of_the_command_line(
        self, archive: FakeArchive, since: str
    ) -> None:
        result = run(archive, "ls", "--since", since)
        assert result.exit_code == 2 and not result.stdout

    def test_an_iso_time(self, archive: FakeArchive) -> None:
        lately = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - 7200))
        assert document(archive, "ls", "--since", lately)["total"] == 1


def numbered(count: int) -> list[tuple[int, SessionDetail]]:
    return [(n, sessions()[0]) for n in range(count)]


class TestNames:
    """How a session may be named."""

    @pytest.mark.parametrize(
        "named",
        [
            FIRST.session_id,
            FIRST.key,
            "aa11",
            f"{FIRST.tenant[:6]}.aa",
            "ticket-4711",
            "run 5",
        ],
    )
    def test_by_id_beginning_or_label(self, archive: FakeArchive, named: str) -> None:
        assert document(archive, "show", named)["row"]["session"] == {
            "tenant": FIRST.tenant,
            "key": FIRST.key,
        }

    def test_a_long_label_as_the_store_keeps_it(self) -> None:
        row = SessionRow(FIRST, Owner(), labels=("y" * 200,))
        archive = FakeArchive(SessionDetail(row))
        assert document(archive, "show", "y" * 300)["row"]["labels"] == ["y" * 200]

    def test_what_can_mean_two_is_refused_with_both(self, archive: FakeArchive) -> None:
        result = run(archive, "show", "aa", "--json")
        assert result.exit_code == 1 and not result.stdout
        assert FIRST.session_id in result.stderr and SECOND.session_id in result.stderr
        assert not OBEYED.search(result.stderr)

    def test_what_can_mean_several_is_listed_a_line_each(self, archive: FakeArchive) -> None:
        archive.add(replace(sessions()[0].row, session=SessionRef(FIRST.tenant, "aa33"), labels=()))
        lines = run(archive, "show", "aa").stderr.splitlines()
        assert lines[0] == "'aa' can mean 3 sessions." and len(lines) == 4
        assert (
            f"  {FIRST.session_id} of team research (ticket-4711, run 5): 12 calls, last 90 min ago" in lines
        )
        assert f"  {FIRST.tenant}.aa33 of team research: 12 calls, last 90 min ago" in lines

    def test_of_a_label_that_several_share_the_latest_comes_first_and_why_is_said(
        self, archive: FakeArchive
    ) -> None:
        short = SessionRef(FIRST.tenant, "ff33")
        archive.add(replace(sessions()[0].row, session=short, calls=1, seen=time.time() - 2 * 3600))
        lines = run(archive, "show", "ticket-4711").stderr.splitlines()
        assert lines[0] == "'ticket-4711' can mean 2 sessions." and "fewer than four messages" in lines[-1]
        assert FIRST.session_id in lines[1] and short.session_id in lines[2] and ": 1 call, " in lines[2]

    def test_a_whole_second_part_of_several_tenants_is_refused(self, archive: FakeArchive) -> None:
        twin = SessionRef(SECOND.tenant, FIRST.key)
        archive.add(replace(sessions()[0].row, session=twin))
        result = run(archive, "show", FIRST.key)
        assert (
            result.exit_code == 1 and FIRST.session_id in result.stderr and twin.session_id in result.stderr
        )

    def test_short_ids_of_a_list_are_each_its_own_and_name_their_session(self) -> None:
        keys = ["ab" * 16, "ab" * 15 + "00", "cd" * 16, "ef" * 16]
        refs = [SessionRef(digest("t"), key) for key in keys]
        refs += [SessionRef(tenant, "ef" * 16) for tenant in (digest("t")[:20] + "0" * 12, "f" * 32)]
        rows = [replace(sessions()[0].row, session=ref, labels=()) for ref in refs]
        archive = FakeArchive(*map(SessionDetail, rows))
        shown = good(archive, "ls")
        listed = [line.split("│")[1].strip() for line in shown.splitlines() if line.startswith("│")]
        assert len({*listed}) == len(refs) == 6 and "cd" * 6 in listed and f"ffffff.{'ef' * 6}" in listed
        found = [document(archive, "show", one)["row"]["session"] for one in listed]
        assert {SessionRef(**one) for one in found} == {*refs}

    def test_a_label_that_looks_like_the_beginning_of_another_id_is_refused(self) -> None:
        first, second = sessions()
        archive = FakeArchive(first, replace(second, row=replace(second.row, labels=("aa11",))))
        assert run(archive, "forget", "aa11", "--yes").exit_code == 1 and not archive.done

    def test_a_label_cannot_take_the_place_of_a_whole_id(self) -> None:
        first, second = sessions()
        archive = FakeArchive(
            replace(second, row=replace(second.row, labels=(FIRST.key, FIRST.session_id))), first
        )
        for named in (FIRST.key, FIRST.session_id):
            assert document(archive, "show", named)["row"]["session"]["key"] == FIRST.key

    def test_many_meanings_are_counted_over_pages(self) -> None:
        many = [
            replace(d, row=replace(d.row, session=SessionRef(digest("t"), f"cc{n}{digest(n)[3:]}")))
            for n, d in numbered(9)
        ]
        result = run(FakeArchive(*many, page=2), "show", "cc")
        assert result.exit_code == 1 and "and 4 more" in result.stderr

    @pytest.mark.parametrize("named", ["ffff", "", ".", "nobody", f"{digest('no')}.{digest('one')}", "aa11*"])
    def test_what_is_not_there(self, archive: FakeArchive, named: str) -> None:
        result = run(archive, "show", named)
        assert result.exit_code == 1 and not result.stdout and len(result.stderr.splitlines()) == 1


class TestShow:
    """``show``."""

    def test_all_of_it(self, archive: FakeArchive) -> None:
        shown = good(archive, "show", "aa11")
        for part in (
            FIRST.session_id,
            "research (7c1f)",
            "notebook",
            "summarizing",
            "91,408 from the client, 33,120 to the model of 128,000",
            "7 d more",
            "two summaries did not help",
            "Amounts are in euro.",
            "a summary, claimed until",
            "9,000 → 900",
            "10%",
            "1–20",
            "Version 2: model, for messages 1–20",
            "The south is late.",
            "--full shows them",
        ):
            assert part in shown, part
        assert "The north is missing." not in shown

    def test_the_endpoint_of_the_last_call_is_told(self, archive: FakeArchive) -> None:
        shown = good(archive, "show", "aa11")
        assert ["endpoint", "messages"] in [line.split() for line in shown.splitlines()]
        assert "UTC, through messages" in " ".join(shown.split())
        assert "messages" in good(archive, "ls")
        assert document(archive, "ls")["rows"][0]["endpoint"] == "messages"

    def test_the_records_of_the_summary(self) -> None:
        [first] = [one for one in sessions() if one.row.session == FIRST]
        newest = first.compactions[0]
        records = tuple(
            SummaryRecord(s.start, s.end, 1, 3, 1000, len(s.text), 300, 0.3, 7.0) for s in newest.segments
        )
        archive = FakeArchive(replace(first, compactions=(replace(newest, records=records),)))
        shown = good(archive, "records", "aa11")
        assert "1,000 → " in shown and "1–3" in shown and "saved" in shown
        found = document(archive, "records", "aa11")
        assert found["version"] == newest.version
        assert found["records"][0]["turns"] == [1, 2, 3] and found["records"][0]["requested_rate"] == 0.3
        assert found["totals"]["summaries"] == len(newest.segments)
        bare = FakeArchive(replace(first, compactions=()))
        assert document(bare, "records", "aa11")["version"] == 0

    def test_one_version_whole(self, archive: FakeArchive) -> None:
        shown = good(archive, "show", "aa11", "--version", "1")
        assert "She waits for Ben." in shown and "ticket-4711" not in shown
        assert document(archive, "show", "aa11", "--version", "1")["version"] == 1
        result = run(archive, "show", "aa11", "--version", "7")
        assert result.exit_code == 1 and "there are: 2, 1" in result.stderr

    def test_the_version_that_the_last_call_used_is_marked_and_shown(self) -> None:
        first = sessions()[0]
        assert first.last_call is not None
        for used, text in ((1, "The north is missing."), (2, "The south is late.")):
            detail = replace(first, last_call=replace(first.last_call, version=used))
            shown = good(FakeArchive(detail), "show", "aa11")
            assert versions(shown) == [(n, "by the last call" if n == used else "") for n in (2, 1)]
            assert f"Version {used}: model" in shown and text in shown
            assert f"Version {3 - used}: model" not in shown and "retired" not in shown

    @pytest.mark.parametrize("last", [None, 7])
    def test_where_the_last_call_used_none_of_them_the_newest_is_shown(self, last: int | None) -> None:
        first = sessions()[0]
        assert first.last_call is not None
        shown = good(
            FakeArchive(replace(first, last_call=replace(first.last_call, version=last))), "show", "aa11"
        )
        assert versions(shown) == [(2, ""), (1, "")] and "Version 2: model" in shown
        shown = good(FakeArchive(replace(first, last_call=None)), "show", "aa11")
        assert versions(shown) == [(2, ""), (1, "")] and "Version 2: model" in shown

    def test_versions_stand_by_their_number_and_it_is_said_what_retired_means(self) -> None:
        first = sessions()[0]
        new, old = first.compactions
        third = replace(new, digest=digest("version 3"), parent=new.digest, version=3)
        detail = replace(first, compactions=(third, old), retired=(new,))
        shown = good(FakeArchive(detail), "show", "aa11")
        assert versions(shown) == [(3, ""), (2, "by the last call, retired"), (1, "")]
        assert "retired: taken back by a rollback or a rebuild; a rollback to it uses it again" in shown
        assert "Version 3: model" in shown

    def test_the_messages_when_all_is_asked_for(self, archive: FakeArchive) -> None:
        shown = good(archive, "show", "aa11", "--full")
        assert "Be brief." in shown and "What of the south?" in shown and "␛[2J" in shown
        assert not OBEYED.search(shown)

    def test_messages_have_the_numbers_that_summaries_name(self) -> None:
        first = sessions()[0]
        assert first.last_call is not None
        said = tuple({"role": role, "content": f"{n}th"} for n, (role, *_) in enumerate(first.last_call.sent))
        call = replace(first.last_call, client=said, model=(said[0], {"role": "user"}, said[-1]))
        shown = good(FakeArchive(replace(first, last_call=call)), "show", "aa11", "--full").splitlines()
        titles = [line for line in shown if line.endswith(("system", "user")) and "│" not in line]
        sent = ["system", *(f"{number} user" for number in range(1, 22))]
        assert titles == [*sent, "system", "user", "21 user"]
        rows = [line.split("│")[1].strip() for line in shown if line.startswith("│") and "batim" in line]
        assert rows == ["21", "21"]

    @pytest.mark.parametrize(
        ("owner", "shown"),
        [
            (Owner(user_id="ana", key_hash=digest("key")), "user ana"),
            (Owner(key_hash="abcd1234ef"), "key #abcd1234 "),
            (Owner(key_hash="abcd1234ef", key_alias="notebook"), "key notebook"),
            (Owner(), "no known owner"),
        ],
    )
    def test_owners_outside_of_teams(self, owner: Owner, shown: str) -> None:
        first = sessions()[0]
        archive = FakeArchive(replace(first, row=replace(first.row, owner=owner)))
        assert shown in good(archive, "ls") and "ef" not in good(archive, "ls").split("key #")[-1][:12]
        assert document(archive, "ls")["rows"][0]["owner"]["key_hash"] == owner.key_hash

    def test_a_version_that_only_clears_says_so(self) -> None:
        first = sessions()[0]
        cleared = replace(first.compactions[0], kind="cleared", segments=())
        shown = good(FakeArchive(replace(first, compactions=(), retired=(cleared,))), "show", "aa11")
        assert "retired" in shown
        shown = good(FakeArchive(replace(first, compactions=(cleared,))), "show", "aa11")
        assert "no text: long tool results are cleared" in shown

    def test_times_that_no_calendar_knows(self) -> None:
        first = sessions()[0]
        odd = replace(first, ttl=float("inf"), bypass=(1e300, "x"), row=replace(first.row, seen=float("nan")))
        assert "until ? UTC: x" in good(FakeArchive(odd), "show", "aa11")


def versions(shown: str) -> list[tuple[int, str]]:
    """The numbers and last cells of the table of versions."""
    table = shown.partition("Versions")[2].partition("└")[0]
    cells = [[cell.strip() for cell in line.split("│")[1:-1]] for line in table.splitlines()]
    return [(int(row[0]), row[-1]) for row in cells if row]


class TestRestore:
    def test_it_tells_what_a_new_conversation_is_told(self, archive: FakeArchive) -> None:
        shown = good(archive, "restore", FIRST.session_id)
        assert shown.startswith("<restored_conversation source=") and "<summary>" in shown
        told = document(archive, "restore", FIRST.session_id)
        assert told["messages"][0]["content"] == told["text"] and not OBEYED.search(shown)
        assert told["parts"]["summary"] == "stored" and told["tokens"] > 50

    def test_its_bounds_are_options(self, archive: FakeArchive) -> None:
        bare = good(archive, "restore", FIRST.session_id, "--summary-chars", "0", "--recent-tokens", "0")
        assert "<summary>" not in bare and "<recent_dialog>" not in bare


class TestEvents:
    """``events``."""

    def test_newest_first_and_no_more_than_asked(self, archive: FakeArchive) -> None:
        lines = good(archive, "events", "aa11").splitlines()
        assert "applied" in lines[3] and "prepared" in lines[4]
        assert "audit" in lines[5] and "pinned" in lines[5] and "key notebook" in lines[5]
        assert len(document(archive, "events", "aa11", "--limit", "1")["events"]) == 1


class TestDiff:
    """``diff``."""

    def test_segment_by_segment(self, archive: FakeArchive) -> None:
        shown = good(archive, "diff", "aa11", "1", "2").splitlines()
        assert shown[0].startswith("--- version 1: model, messages 1–12")
        assert shown[1].startswith("+++ version 2: model, messages 1–20")
        assert "@@ messages 1–8 unchanged @@" in shown
        assert "@@ messages 9–12 → messages 9–20 @@" in shown
        assert "-The north is missing." in shown and " She waits for Ben." in shown
        assert "+The south is late." in shown
        assert not any("Ana" in line for line in shown)

    def test_the_newest_against_its_parent_unless_said_otherwise(self, archive: FakeArchive) -> None:
        assert good(archive, "diff", "aa11") == good(archive, "diff", "aa11", "1", "2")
        turned = document(archive, "diff", "aa11", "2", "1")
        assert (turned["from"]["version"], turned["to"]["version"]) == (2, 1)
        assert [change["op"] for change in turned["changes"]] == ["equal", "changed"]
        assert document(archive, "diff", "aa11", "2", "2")["changes"][0]["op"] == "equal"

    def test_segments_that_came_and_went(self) -> None:
        first = sessions()[0]
        new, old = first.compactions
        shorter = replace(old, segments=old.segments[:1])
        archive = FakeArchive(replace(first, compactions=(new, shorter)))
        [same, added] = document(archive, "diff", "aa11", "1", "2")["changes"]
        assert (same["op"], added["op"], added["before"]) == ("equal", "added", [])
        assert all(line.startswith(("+", "@@")) for line in added["lines"])
        assert document(archive, "diff", "aa11", "2", "1")["changes"][1]["op"] == "removed"

    def test_texts_of_very_many_lines_are_shown_as_gone_and_come(self) -> None:
        first = sessions()[0]
        new, old = (
            replace(
                one, segments=(replace(one.segments[0], text="\n".join(f"{n}{mark}" for n in range(20_000))),)
            )
            for one, mark in zip(first.compactions, "ab", strict=True)
        )
        lines = document(FakeArchive(replace(first, compactions=(new, old))), "diff", "aa11")["changes"][0][
            "lines"
        ]
        assert len(lines) == 40_000 and lines[0] == "-0b" and lines[-1] == "+19999a"

    def test_without_a_parent_or_a_version(self, archive: FakeArchive) -> None:
        result = run(archive, "diff", "aa11", "--json")
        assert result.exit_code == 0
        first = sessions()[0]
        orphan = FakeArchive(replace(first, compactions=first.compactions[:1]))
        assert "has no parent" in run(orphan, "diff", "aa11").stderr
        assert "no version in use; there are: none" in run(archive, "diff", "aa22").stderr


class TestDeeds:
    """What changes a session."""

    @pytest.mark.parametrize(
        ("arguments", "done"),
        [
            (["compact", "aa11"], ("compact",)),
            (["rebuild", "aa11"], ("rebuild",)),
            (["rollback", "aa11", "1"], ("rollback", 1)),
            (["rollback", "aa11", "0"], ("rollback", 0)),
            (["pin", "aa11", "No VAT."], ("pin", "No VAT.")),
            (["unpin", "aa11", "1"], ("unpin", "Amounts are in euro.")),
            (["unpin", "aa11", "Amounts are in euro."], ("unpin", "Amounts are in euro.")),
            (["reset", "aa11", "--yes"], ("reset",)),
            (["forget", "ticket-4711", "-y"], ("forget",)),
        ],
    )
    def test_it_is_done_in_the_users_name_and_said(self, arguments: list[str], done: tuple[Any, ...]) -> None:
        for json_too in (False, True):
            archive = FakeArchive()
            said = good(archive, *arguments, *(["--json"] if json_too else []))
            assert archive.done == [(*done, FIRST, ME)]
            if json_too:
                told = json.loads(said)
                assert told["done"] == done[0] and told["session"] == {
                    "tenant": FIRST.tenant,
                    "key": FIRST.key,
                }
            else:
                assert said.count("\n") == 1 and FIRST.session_id in said

    def test_a_refusal_is_a_sentence(self, archive: FakeArchive) -> None:
        result = run(archive, "pin", "aa11", "x" * 401)
        assert (result.exit_code, result.stdout) == (1, "")
        assert result.stderr == "A pin has at most 400 characters.\n"
        assert run(archive, "unpin", "aa11", "2").exit_code == 1

    @pytest.mark.parametrize(
        "action", [["forget", "aa11"], ["reset", "aa11"], ["forget", "--tenant", FIRST.tenant]]
    )
    @pytest.mark.parametrize("answer", ["n\n", "", "\n"])
    def test_what_cannot_be_undone_is_asked_about(
        self, archive: FakeArchive, action: list[str], answer: str
    ) -> None:
        result = run(archive, *action, "--json", input=answer)
        assert (result.exit_code, result.stdout, archive.done) == (1, "", [])
        assert FIRST.tenant in result.stderr and "Nothing was changed" in result.stderr

    def test_yes_does_it(self, archive: FakeArchive) -> None:
        result = run(archive, "forget", "aa11", "--json", input="y\n")
        assert result.exit_code == 0 and json.loads(result.stdout)["keys"] == 5
        assert FIRST not in archive.details

    @pytest.mark.parametrize("named", [FIRST.tenant, FIRST.tenant[:5]])
    def test_a_whole_tenant(self, archive: FakeArchive, named: str) -> None:
        told = document(archive, "forget", "--tenant", named, "--yes")
        assert told == {"done": "forget", "tenant": FIRST.tenant, "sessions": 1}
        assert list(archive.details) == [SECOND]

    def test_a_tenant_that_no_list_knows_any_more_can_still_be_erased(self, archive: FakeArchive) -> None:
        assert document(archive, "forget", "--tenant", digest("gone"), "--yes")["sessions"] == 0

    def test_a_tenant_is_meant_by_its_hash_alone(self, archive: FakeArchive) -> None:
        result = run(archive, "forget", "--tenant", "research", "--yes")
        assert result.exit_code == 1 and FIRST.tenant in result.stderr and not archive.done
        first = sessions()[0]
        twin = replace(
            first, row=replace(first.row, session=SessionRef(FIRST.tenant[:3] + "0" * 29, FIRST.key))
        )
        two = FakeArchive(first, twin)
        assert run(two, "forget", "--tenant", FIRST.tenant[:3], "--yes").exit_code == 1 and not two.done
        assert run(archive, "forget", "--tenant", "", "--yes").exit_code == 1 and not archive.done

    @pytest.mark.parametrize("arguments", [[], ["aa11", "--tenant", FIRST.tenant]])
    def test_either_a_session_or_a_tenant(self, archive: FakeArchive, arguments: list[str]) -> None:
        assert run(archive, "forget", *arguments, "--yes").exit_code == 2 and not archive.done


class TestExportAndImport:
    """From one store to another."""

    def test_through_a_pipe(self, archive: FakeArchive) -> None:
        text = good(archive, "export", "aa22")
        assert not OBEYED.search(text)
        other = FakeArchive(sessions()[0])
        assert document(other, "import", write("s.json", text)) == {
            "done": "import",
            "session": {"tenant": SECOND.tenant, "key": SECOND.key},
        }
        assert other.details[SECOND].row.labels == archive.details[SECOND].row.labels
        assert run(other, "import", "s.json").exit_code == 1
        piped = FakeArchive(sessions()[0])
        assert run(piped, "import", "-", input=text).exit_code == 0 and SECOND in piped.details

    def test_to_a_file_of_ones_own(self, archive: FakeArchive) -> None:
        assert document(archive, "export", "aa11", "--out", "out.json")["file"] == "out.json"
        assert stat.S_IMODE(Path("out.json").stat().st_mode) == 0o600
        assert json.loads(Path("out.json").read_text())["labels"] == ["ticket-4711", "run 5"]
        assert [path.name for path in Path().iterdir()] == ["out.json"]
        assert run(archive, "export", "aa11", "--out", "no/such/folder.json").exit_code == 1

    @pytest.mark.parametrize("text", ["", "[]", "{", "[" * 100_000, "\ufeff", "3"])
    def test_what_is_no_export_is_refused(self, archive: FakeArchive, text: str) -> None:
        result = run(archive, "import", write("bad.json", text), "--json")
        assert (result.exit_code, result.stdout, archive.done) == (1, "", [])
        assert len(result.stderr.splitlines()) == 1

    def test_a_file_that_is_not_there(self, archive: FakeArchive) -> None:
        assert run(archive, "import", "none.json").exit_code == 1


def write(name: str, text: str) -> str:
    Path(name).write_text(text, encoding="utf-8")
    return name


class TestWatch:
    """``watch`` where stdout is no terminal."""

    def test_a_line_for_each_change(self, archive: FakeArchive) -> None:
        lines = good(archive, "watch").splitlines()
        assert len(lines) == 2 and lines[0].startswith(
            f"{FIRST.session_id} (ticket-4711, run 5): summarizing, applied"
        )
        assert not OBEYED.search("".join(lines)) and len(lines[1]) < 1_000

    def test_as_json_and_no_more_than_asked(self, archive: FakeArchive) -> None:
        [line] = good(archive, "watch", "--json", "--count", "1").splitlines()
        assert json.loads(line)["session"]["key"] == FIRST.key


class TestFaults:
    """When it cannot be done."""

    @pytest.mark.parametrize(
        "failure", [StoreError("ConnectionError: refused"), StoreBusy("the breaker is open")]
    )
    @pytest.mark.parametrize(
        "arguments",
        [
            *(
                ["ls"],
                ["show", "aa11"],
                ["events", FIRST.session_id],
                ["diff", "aa11"],
                ["watch"],
                ["export", "aa11"],
            ),
            *(
                ["compact", "aa11"],
                ["reset", "aa11"],
                ["forget", "aa11", "--yes"],
                ["forget", "--tenant", "a"],
            ),
        ],
    )
    def test_a_store_that_is_down_is_one_sentence(
        self, archive: FakeArchive, failure: Exception, arguments: list[str]
    ) -> None:
        archive.failure = failure
        result = run(archive, *arguments, "--redis", "redis://:secret@cache:6379/1")
        assert (result.exit_code, result.stdout) == (3, "")
        assert result.stderr == f"No usable answer from Redis at redis://:***@cache:6379/1: {failure}.\n"

    def test_a_message_of_a_stranger_is_defused_and_cut(self, archive: FakeArchive) -> None:
        archive.failure = StoreError(HOSTILE + "y" * 100_000)
        result = run(archive, "ls")
        assert len(result.stderr) < 2_000 and not OBEYED.search(result.stderr)


class TestSources:
    """Where it looks."""

    @pytest.mark.parametrize(
        ("arguments", "env", "source"),
        [
            ([], {}, Source("http://localhost:4000")),
            (["--url", "https://gw/v1/"], {}, Source("https://gw")),
            (["--url", "http://gw:1/base/"], {"OPENAI_API_KEY": "c"}, Source("http://gw:1/base", "c")),
            ([], {"OPENAI_API_KEY": "c", "LITELLM_MASTER_KEY": "b"}, Source("http://localhost:4000", "b")),
            (
                [],
                {"LITELLM_MASTER_KEY": "b", "GATEWAY_COMPACTION_KEY": "a"},
                Source("http://localhost:4000", "a"),
            ),
            (["--key", "d"], {"GATEWAY_COMPACTION_KEY": "a"}, Source("http://localhost:4000", "d")),
            (["--redis", "redis://r"], {}, Source("http://localhost:4000", None, "redis://r")),
            (
                [],
                {"GATEWAY_COMPACTION_REDIS_URL": "redis://e"},
                Source("http://localhost:4000", None, "redis://e"),
            ),
            (["--url", "http://gw"], {"GATEWAY_COMPACTION_REDIS_URL": "redis://e"}, Source("http://gw")),
            ([], {"GATEWAY_COMPACTION_URL": "http://e/v1"}, Source("http://e")),
            (["--port", "4100"], {"GATEWAY_COMPACTION_URL": "http://e"}, Source("http://localhost:4100")),
            (
                ["--port", "4100"],
                {"GATEWAY_COMPACTION_REDIS_URL": "redis://e"},
                Source("http://localhost:4100"),
            ),
            (["--url", "http://gw"], {"GATEWAY_COMPACTION_URL": "http://e"}, Source("http://gw")),
            (
                [],
                {"GATEWAY_COMPACTION_URL": "http://e", "GATEWAY_COMPACTION_REDIS_URL": "redis://e"},
                Source("http://e"),
            ),
            (
                ["--redis", "redis://r"],
                {"GATEWAY_COMPACTION_URL": "http://e"},
                Source("http://localhost:4000", None, "redis://r"),
            ),
        ],
    )
    def test_the_command_line_goes_before_the_environment(
        self, archive: FakeArchive, arguments: list[str], env: dict[str, str], source: Source
    ) -> None:
        opened: list[Source] = []
        good(archive, "ls", *arguments, env=env, opened=opened)
        assert opened == [source]

    @pytest.mark.parametrize(
        "arguments",
        [
            ["--url", "http://a", "--redis", "redis://b"],
            ["--port", "4100", "--redis", "redis://b"],
            ["--port", "4100", "--url", "http://a"],
            ["--port", "0"],
            ["--url", "ftp://a"],
            ["--url", "http://"],
            ["--key", "a\nb"],
            ["--key", "schlüssel"],
            ["--limit", "0"],
            ["--state", "dead"],
            ["--nothing"],
        ],
    )
    def test_what_cannot_be_meant_is_a_fault_of_the_command_line(
        self, archive: FakeArchive, arguments: list[str]
    ) -> None:
        opened: list[Source] = []
        result = run(archive, "ls", *arguments, opened=opened)
        assert result.exit_code == 2 and not result.stdout and not opened

    def test_nobody_there_is_told_with_the_way_to_say_where(self) -> None:
        url = f"http://{HOST}:{free_port()}"
        for arguments in (["ls"], ["watch"]):
            result = CliRunner().invoke(
                app, arguments, env={"GATEWAY_COMPACTION_URL": url}, catch_exceptions=False
            )
            assert result.exit_code == 3 and not result.stdout
            assert result.stderr.startswith(f"No usable answer from the gateway at {url}: ConnectError")
            assert result.stderr.endswith(". --url or GATEWAY_COMPACTION_URL says where the gateway is.\n")


READING = [["ls"], ["ls", "--full"], ["show", "aa22"], ["events", "aa22"], ["watch"], ["diff", "aa22"]]


@pytest.fixture
def hostile() -> FakeArchive:
    """A session whose every text a stranger wrote: escapes, turned directions, markup, a megabyte."""
    first, second = sessions()
    short = HOSTILE + "\ud800 e" + "\u0301" * 500
    long = short + "x" * 1_000_000
    old, new = (
        replace(one, model=short, segments=(replace(one.segments[0], text=long + f"\n{one.version}"),))
        for one in reversed(first.compactions)
    )
    event = replace(first.events[0], reason=long, model=short, outcome=short, type=short)  # type: ignore[arg-type]
    owner = Owner(*[short] * 6)
    row = replace(
        second.row, owner=owner, labels=(long, short), model=short, policy=short, reason=long, level=short
    )
    controls = replace(first.steering, pins=(long,))
    call = first.last_call
    assert call is not None
    call = replace(
        call, sent=((short, 1, short),), saw=((short, 1, short),), client=({"role": short, "content": long},)
    )
    return FakeArchive(
        replace(
            first,
            row=row,
            compactions=(new, old),
            events=(event,),
            steering=controls,
            last_call=call,
            bypass=(1.0, long),
        )
    )


class TestStrangers:
    """Text that others wrote does no harm in a terminal."""

    @pytest.mark.parametrize("arguments", READING)
    def test_nothing_is_obeyed_and_nothing_floods(self, hostile: FakeArchive, arguments: list[str]) -> None:
        shown = good(hostile, *arguments)
        assert not OBEYED.search(shown) and len(shown) < 40_000
        assert "\u0301" * 20 not in shown
        assert "␛" in shown and "‹U+202E›" in shown and "[red]bold[/red]" in shown

    def test_in_full_all_is_there_and_nothing_is_obeyed(self, hostile: FakeArchive) -> None:
        for arguments in (["show", "aa22", "--full"], ["diff", "aa22", "--full"]):
            shown = good(hostile, *arguments)
            assert "x" * 1_000_000 in shown and not OBEYED.search(shown)

    def test_what_is_cut_is_said(self, hostile: FakeArchive) -> None:
        assert re.search(r"\[998,\d{3} more characters; --full shows them\]", good(hostile, "show", "aa22"))
        assert re.search(r"… \(1,00\d,\d{3} characters\)", good(hostile, "ls"))

    @pytest.mark.parametrize("arguments", READING)
    def test_json_holds_every_character_and_none_is_obeyed(
        self, hostile: FakeArchive, arguments: list[str]
    ) -> None:
        text = good(hostile, *arguments, "--json")
        assert not OBEYED.search(text)
        assert any(
            one.startswith(HOSTILE) and one.count("x") >= 1_000_000 for one in strings(json.loads(text))
        )


def strings(value: Any) -> list[str]:
    """Every text in a document."""
    if isinstance(value, str):
        return [value]
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for one in inner for text in strings(one)]


class TestShapes:
    """The documents that scripts read, as docs/cli.md lists them."""

    @pytest.mark.parametrize(
        ("arguments", "names"),
        [
            (["ls"], "rows cursor total"),
            (
                ["show", "aa11"],
                "row compactions retired claims events steering bypass backoff last_call ttl client_state"
                " key_rate",
            ),
            (["events", "aa11"], "session events"),
            (["diff", "aa11"], "from to changes"),
            (["compact", "aa11"], "done session"),
            (["rebuild", "aa11"], "done session"),
            (["reset", "aa11", "--yes"], "done session"),
            (["rollback", "aa11", "1"], "done session version"),
            (["pin", "aa11", "x"], "done session text"),
            (["unpin", "aa11", "1"], "done session text"),
            (["forget", "aa11", "--yes"], "done session keys"),
            (["forget", "--tenant", FIRST.tenant, "--yes"], "done tenant sessions"),
            (["export", "aa11", "--out", "x.json"], "done session file"),
        ],
    )
    def test_names(self, archive: FakeArchive, arguments: list[str], names: str) -> None:
        found = document(archive, *arguments)
        assert list(found) == names.split()
        page = (Path(__file__).parent.parent / "docs" / "cli.md").read_text(encoding="utf-8")
        [line] = re.findall(rf"^\| .*`{arguments[0]}`.* \| (.*) \|$", page.partition("<!--")[0], re.MULTILINE)
        assert set(names.split()) <= set(re.findall(r"`(\w+)`", line))


def test_doctor_knows_the_variables_of_these_commands() -> None:
    known = {"GATEWAY_COMPACTION_KEY": "sk-1", "GATEWAY_COMPACTION_URL": "http://gw"}
    assert list(check_variables(known, [])) == []


class TestSnapshots:
    def test_they_are_listed_compared_and_told(self, archive: FakeArchive) -> None:
        shown = good(archive, "snapshots", "aa11")
        assert TAKEN.name in shown and "before rebuild" in shown and "\x1b" not in shown
        assert document(archive, "snapshots", "aa11")["snapshots"][0]["messages"] == 12
        changed = good(archive, "snapshots", "aa11", TAKEN.name)
        assert "plan" in changed and "- Reports" in changed and "\x1b" not in changed
        assert "Nothing that" in good(archive, "snapshots", "aa11", TAKEN.name, TAKEN.name)
        assert document(archive, "snapshots", "aa11", TAKEN.name)["changes"][1]["part"] == "plan"
        told = good(archive, "restore", f"aa11@{TAKEN.name}")
        assert f"snapshot {TAKEN.name} of conversation" in told and "Ana wants" not in told

    def test_a_whole_conversation_is_a_line_for_each_message(self, archive: FakeArchive) -> None:
        printed = good(archive, "transcript", "aa11")
        assert [json.loads(line) for line in printed.splitlines()] == [{"role": "user", "content": HOSTILE}]
        assert "\x1b" not in printed
