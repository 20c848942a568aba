"""The command ``eval``."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from gateway_compaction.cli.main import app
from tests.evaluation.talks import AGENT, CHAT, KOREAN, QUESTIONS, said, write
from tests.lab.endpoints import to_anthropic, to_responses
from tests.lab.scripts import Reply
from tests.lab.upstream import Upstream

NAMES = ("--strategy", "gateway", "--strategy", "bm25")
OURS = (*NAMES, "--budget", "400")
EXAMPLES = Path(__file__).resolve().parents[2] / "docs" / "examples"
SMALL = (*NAMES, "--budget", "250", "--json", "-")


def run(*arguments: str | Path) -> Result:
    """Run the command; an exception that leaves it fails the test."""
    return CliRunner().invoke(app, ["eval", *map(str, arguments)], catch_exceptions=False)


@pytest.fixture
def chat(tmp_path: Path) -> Path:
    """One conversation with questions."""
    return write(tmp_path / "chat.jsonl", {"id": "tour", "messages": CHAT, "qa": QUESTIONS})


def test_it_prints_a_table_with_intervals(chat: Path) -> None:
    result = run(chat, *OURS)
    assert result.exit_code == 0
    assert "gateway-compaction" in result.stdout and "BM25, whole messages" in result.stdout
    assert "1.00–1.00" in result.stdout
    assert "over single items: there is only one conversation" in result.stdout


@pytest.mark.parametrize("form", [to_anthropic, to_responses])
def test_bodies_of_the_other_endpoints_are_measured_alike(
    chat: Path, tmp_path: Path, form: Callable[..., dict[str, Any]]
) -> None:
    (tmp_path / "other").mkdir()
    other = write(tmp_path / "other" / "chat.jsonl", {"id": "tour", "body": form(CHAT), "qa": QUESTIONS})

    def measured(file: Path) -> list[dict[str, Any]]:
        rows = json.loads(run(file, *SMALL).stdout)
        return [{name: value for name, value in row.items() if not name.endswith("ms")} for row in rows]

    assert measured(other) == measured(chat)


def test_it_prints_markdown_for_pages(chat: Path) -> None:
    lines = run(chat, *OURS, "--markdown").stdout.splitlines()
    assert lines[0] == "**chat**" and lines[3].startswith("|---:|---|")
    assert lines[4].startswith("| 400 | gateway-compaction | ") and "| 1.000 (1.00–1.00) |" in lines[4]
    assert all(line.count("|") == lines[2].count("|") for line in lines[2:6])


def test_where_everything_fits_it_is_said_below_the_table(chat: Path) -> None:
    fits = run(chat, *NAMES, "--budget", "9000").stdout
    assert "Every request fits as it is, and is measured all the same: at 9,000." in fits
    assert "1.000 there says that nothing had to go" in fits and "left out" not in fits
    rows = json.loads(run(chat, *NAMES, "--budget", "9000", "--json", "-").stdout)
    assert all(row["fitting"] == row["requests"] > 0 for row in rows)
    small = run(chat, *OURS)
    assert "fits as it is" not in small.stdout and "larger than" not in small.stdout


def test_conversations_of_which_nothing_is_asked_are_counted_with_the_reason(tmp_path: Path) -> None:
    alike = [
        said("user" if n % 2 == 0 else "assistant", f"Line {n} of the list that we go through.")
        for n in range(40)
    ]
    short = [
        said("user" if n % 2 == 0 else "assistant", f"{word} " * 12)
        for n, word in enumerate(["egg", "fig"] * 2)
    ]
    terse = [said("user" if n % 2 == 0 else "assistant", "Yes." if n % 3 else "No.") for n in range(20)]
    asked = json.loads((EXAMPLES / "support_chat.json").read_text(encoding="utf-8"))
    talks = [{"messages": one} for one in (alike, short, terse, terse, asked)]
    talk = write(tmp_path / "talk.jsonl", *talks)
    told = " ".join(run(talk, *OURS).stdout.split())
    assert "Conversations of which nothing is asked: 4 of 5 (2: no qa, and no plain sentence" in told
    assert "1: no qa, and every sentence is said again elsewhere in nearly the same words" in told
    assert "1: no qa, and no message before the last 10" in told
    assert "nothing is asked: 4 of 5" in run(talk, *OURS, "--markdown").stdout
    assert "nothing is asked" not in run(talk, *OURS, "--question", "unknown").stdout


def test_conversations_that_are_asked_something_need_no_reason(chat: Path) -> None:
    assert "nothing is asked" not in run(chat, *OURS).stdout


def test_it_writes_rows_and_a_chart(chat: Path, tmp_path: Path) -> None:
    result = run(chat, *OURS, "--json", tmp_path / "rows.json", "--plot", tmp_path / "rows.svg")
    assert result.exit_code == 0
    rows = json.loads((tmp_path / "rows.json").read_text())
    assert rows[0]["strategy"] == "gateway-compaction" and rows[0]["evidence"] == 1.0
    assert all({"answers", "identifiers", "tokens", "ms"} <= r.keys() for r in rows)
    assert (tmp_path / "rows.svg").read_text().startswith("<svg")


def test_what_cannot_be_written_is_said(chat: Path, tmp_path: Path) -> None:
    early = run(chat, *OURS, "--plot", tmp_path / "none" / "rows.svg")
    assert early.exit_code == 2 and early.stdout == "" and "there is no folder" in early.stderr
    late = run(chat, *OURS, "--json", tmp_path)
    assert late.exit_code == 1 and "gateway-compaction" in late.stdout
    assert f"{tmp_path.name}: Is a directory" in late.stderr.replace("\n", "")


def test_files_are_one_set_or_one_each(chat: Path, tmp_path: Path) -> None:
    korean = write(tmp_path / "korean.jsonl", {"messages": KOREAN}, {"messages": AGENT})
    together = json.loads(run(chat, korean, *SMALL).stdout)
    assert [r["set"] for r in together] == ["chat, korean"] * 2
    assert together[0]["evidence"] is not None and together[0]["probes"] is not None
    apart = json.loads(run(chat, korean, *SMALL, "--per-file").stdout)
    assert [r["set"] for r in apart] == ["chat", "chat", "korean", "korean"]
    assert apart[2]["evidence"] is None and apart[2]["identifiers"] is not None


def test_a_policy_file_takes_the_place_of_ours(chat: Path, tmp_path: Path) -> None:
    policy = tmp_path / "policy.yaml"
    policy.write_text("version: 1\ndefaults: {mode: observe, recall: {max_tokens: 0}}\n")
    rows = json.loads(run(chat, *OURS, "--json", "-", "--policy", policy).stdout)
    assert rows[0]["strategy"] == "gateway-compaction"
    assert rows[0]["over_budget"] == 0 and rows[0]["evidence"] < 1.0


@pytest.mark.filterwarnings("ignore:.*ReadOnly:UserWarning")
def test_a_judge_is_asked(chat: Path, upstream: Upstream) -> None:
    upstream.reset()
    upstream.scripts["small"] = lambda seen: Reply("YES")
    asked = ("--judge", "openai/small", "--judge-base-url", upstream.url, "--judge-key", "sk-none")
    rows = json.loads(run(chat, *OURS, "--json", "-", "--question", "known", *asked).stdout)
    assert [r["judged"] for r in rows] == [1.0, 1.0] and len(upstream.seen("small")) == 8
    upstream.reset()


@pytest.mark.filterwarnings("ignore:.*ReadOnly:UserWarning")
def test_a_judge_that_fails_is_told(chat: Path, upstream: Upstream) -> None:
    upstream.reset()
    upstream.scripts["small"] = lambda seen: Reply.failing(400, "no", kind="invalid_request_error")
    asked = ("--judge", "openai/small", "--judge-base-url", upstream.url, "--judge-key", "sk-none")
    result = run(chat, *OURS, "--json", "-", "--question", "known", *asked)
    assert [r["judged"] for r in json.loads(result.stdout)] == [None, None]
    assert "The judge gave no answer 4 times" in result.stderr
    upstream.reset()


@pytest.mark.parametrize("name", ["questions", "Question", "QA", "queries", "asked"])
def test_questions_under_another_name_are_refused_with_the_right_one(tmp_path: Path, name: str) -> None:
    talk = write(
        tmp_path / "talk.jsonl",
        {"id": "a", "source": "here", "meta": {"questions": 3}, "messages": CHAT, "qa": QUESTIONS},
        {"messages": CHAT, name: QUESTIONS},
    )
    result = run(talk, *SMALL)
    told = "".join(result.stderr.split())
    assert result.exit_code == 1 and result.stdout == ""
    assert f"talk.jsonl:2:afield'{name}'isnotread." in told
    assert 'Writequestionsas"qa":[{"question"' in told


def test_questions_that_are_no_list_are_refused(tmp_path: Path) -> None:
    result = run(write(tmp_path / "talk.jsonl", {"messages": CHAT, "qa": QUESTIONS[0]}), *SMALL)
    assert result.exit_code == 1 and "qa is no list" in " ".join(result.stderr.split())


def test_what_cannot_be_measured_is_said(tmp_path: Path, chat: Path) -> None:
    short = write(tmp_path / "short.jsonl", {"messages": CHAT[:2]})
    result = run(short)
    assert result.exit_code == 1 and "no conversation of at least four chat messages" in result.stderr
    missing = run(tmp_path / "none.jsonl")
    assert missing.exit_code == 1 and "none.jsonl" in missing.stderr
    nobody = run(chat, "--strategy", "headroom")
    assert nobody.exit_code == 2 and "gateway-compaction" in nobody.stderr
