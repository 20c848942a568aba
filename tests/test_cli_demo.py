"""``gateway-compaction demo``: what it sends, reads and says; a real gateway in the last class."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import httpx
import pytest
from typer.testing import CliRunner

from gateway_compaction.cli.demo import (
    Call,
    DemoError,
    choose_address,
    describe_evidence,
    describe_savings,
    format_call,
    read_call,
)
from gateway_compaction.cli.demo_talk import EVIDENCE, QUESTION, RULE, TOLD_IN_TURN, write_turns
from gateway_compaction.cli.main import app
from gateway_compaction.core.conversation.digest import digest_history
from tests.lab import Upstream
from tests.lab.ports import HOST, free_port
from tests.served import Gateway
from tests.test_cli_launch import COMMAND, ROOT, clean_environment

README = (ROOT / "README.md").read_text("utf-8")
UNSET = dict.fromkeys(
    ("GATEWAY_COMPACTION_URL", "GATEWAY_COMPACTION_KEY", "LITELLM_MASTER_KEY", "OPENAI_API_KEY", "PORT")
)
USAGE = {"usage": {"prompt_tokens": 90}, "choices": [{"message": {"content": "Yes."}}]}


def refusal(*args: str, code: int) -> str:
    """What ``demo`` says when it cannot go on."""
    result = CliRunner().invoke(app, ["demo", *args], env=UNSET)
    assert result.exit_code == code, result.output
    assert isinstance(result.exception, SystemExit)
    return result.stderr.strip().splitlines()[-1]


class TestTalk:
    """The conversation that is played."""

    def test_its_answer_is_told_once_and_early(self) -> None:
        texts = [text for turn in write_turns("m") for text in (turn.question, turn.answer)]
        for evidence in EVIDENCE:
            assert [n for n, text in enumerate(texts) if evidence in text] == [2 * (TOLD_IN_TURN - 1)]
            assert evidence not in QUESTION
        assert RULE in texts[0] and sum(RULE in text for text in texts) == 1

    def test_every_run_is_a_session_of_its_own(self) -> None:
        first, second = (
            [{"role": "user", "content": write_turns(name)[0].question}] for name in ("demo-1", "demo-2")
        )
        assert digest_history(first) != digest_history(second)
        assert write_turns("demo-1") == write_turns("demo-1")

    def test_no_turn_is_left_unfilled(self) -> None:
        assert not any(re.search(r"[{}]", f"{turn.question}{turn.answer}") for turn in write_turns("m"))
        told = " ".join(turn.answer for turn in write_turns("m"))
        days = {int(day): ending for day, ending in re.findall(r"the (\d+)(st|nd|rd|th)\b", told)}
        assert {day for day, ending in days.items() if ending != "th"} == {2, 3, 21, 22, 23} and len(
            days
        ) > 20


class TestAddress:
    """Where the gateway is looked for."""

    @pytest.mark.parametrize(
        ("url", "port", "found"),
        [
            (None, 4000, "http://127.0.0.1:4000"),
            (None, 4001, "http://127.0.0.1:4001"),
            ("http://gateway:4000/v1/", 4001, "http://gateway:4000"),
            ("localhost:4100", 4001, "http://localhost:4100"),
        ],
    )
    def test_a_url_is_stronger_than_a_port(self, url: str | None, port: int, found: str) -> None:
        assert choose_address(url, port) == found

    def test_nobody_there(self) -> None:
        port = free_port()
        said = refusal("--port", str(port), "--wait", "0", code=3)
        assert f"No gateway at http://{HOST}:{port}" in said and "make run" in said and "--port" in said

    def test_a_proxy_without_the_plugin(self, upstream: Upstream) -> None:
        said = refusal("--url", upstream.url, "--wait", "0", code=1)
        assert "does not load the plugin" in said and "another proxy may have the port" in said


class TestReading:
    """What headers and usage tell of a call."""

    def test_a_small_call_is_counted_by_the_provider(self) -> None:
        call = read_call(2, {"x-compaction": "none", "x-compaction-reason": "small"}, USAGE, "")
        assert (call.sent, call.received, call.answer, call.is_compacted) == (90, 90, "Yes.", False)
        assert format_call(1, call).split() == ["1", "2", "90", "90", "–", "–", "none", "(small)"]

    def test_a_compacted_call(self) -> None:
        told = {"": "applied", "-reason": "model", "-tokens-before": "3000", "-tokens-after": "1200"}
        told |= {"-level": "light", "-version": "2", "-session": "t.s"}
        headers = {f"x-compaction{name}": value for name, value in told.items()}
        call = read_call(30, headers, USAGE, "")
        assert call.is_compacted and call.session == "t.s"
        shown = format_call(15, call).split(maxsplit=6)
        assert shown == ["15", "30", "3,000", "1,200", "60%", "light", "applied (model), version 2"]

    def test_a_counted_call_that_was_left_alone(self) -> None:
        call = read_call(9, {"x-compaction": "none", "x-compaction-tokens-before": "700"}, {}, "")
        assert (call.sent, call.received) == (700, 700)

    def test_an_answer_without_the_header(self) -> None:
        with pytest.raises(DemoError, match="does not load the plugin"):
            read_call(2, {}, USAGE, "http://gateway:4000")

    def test_in_shadow_mode_the_model_got_what_came(self) -> None:
        told = {"": "observed", "-reason": "would be sent short", "-tokens-before": "3000"}
        told |= {"-tokens-after": "1200", "-session": "t.s"}
        call = read_call(30, {f"x-compaction{name}": value for name, value in told.items()}, USAGE, "")
        assert (call.sent, call.received, call.would, call.is_compacted) == (3000, 3000, 1200, False)
        shown = format_call(15, call)
        assert "observed (would be sent short): 1,200 tokens" in shown and "60%" not in shown
        first, enforced = describe_savings([call])
        assert "the model got 3,000; 0% saved" in first
        assert "Enforced, it would have got 1,200 tokens, 60% less" in enforced

    def test_the_sums(self) -> None:
        calls = [Call(2, 100, 100, "none", ""), Call(4, 300, 100, "applied", "model")]
        assert list(describe_savings(calls)) == [
            "2 calls: the client sent 400 tokens, the model got 200; 50% saved, by the gateway's count.",
            "1 of them was compacted, from call 2 on.",
        ]


class TestEvidence:
    """Where the answer to the last question stood, read from what is stored of the last call."""

    def test_what_is_not_stored_is_said(self) -> None:
        for found in ({}, {"model": None}):
            assert "storage.content: full" in list(describe_evidence(found))[-1]

    @pytest.mark.parametrize(
        ("text", "part"),
        [
            ("<recall>\n{}\n</recall>\nNow?", "in a quoted passage (<recall>)"),
            ("<conversation_summary>\n{}\n</conversation_summary>", "in the summary"),
            ("{}", "in a message"),
        ],
    )
    def test_the_part_is_named(self, text: str, part: str) -> None:
        model = [{"role": "user", "content": text.format(f"filed under {EVIDENCE[0]}, by them")}]
        sent = [["system", 9, "preamble"], *[["user", 9, "covered"]] * 9]
        first, fate, found, missing, rule = describe_evidence({"model": model, "sent": sent})
        assert QUESTION in first and fate.endswith("are covered by a summary.")
        assert part in found and f"filed under {EVIDENCE[0]}, by them" in found
        assert missing.endswith("the model did not see it") and rule.endswith("the model did not see it")

    def test_what_would_move_the_cursor_is_shown_as_a_symbol(self) -> None:
        model = [{"role": "user", "content": f"\x1b[2J {EVIDENCE[0]}"}]
        assert "\x1b" not in "".join(describe_evidence({"model": model, "sent": []}))


@pytest.fixture(scope="module")
def printed(open_gateway: Gateway, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The whole output of one run."""
    home = tmp_path_factory.mktemp("home")
    command = [*COMMAND, "demo", "--port", str(open_gateway.port), "--label", "demo-e2e"]
    done = subprocess.run(
        command, cwd=home, env=clean_environment(home), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


class TestRunning:
    """A real gateway with the repository's own config."""

    def test_a_compaction_is_seen(self, printed: str) -> None:
        rows = [line.split(maxsplit=6) for line in printed.splitlines() if re.match(r" +\d+ +\d+ ", line)]
        assert len(rows) == len(write_turns("m")) + 1 and 20 <= len(rows) <= 40
        outcomes = [row[6] for row in rows]
        assert outcomes[0] == "none (below every level)" and any(
            told.startswith("prepared") for told in outcomes
        )
        assert any("version" in told for told in outcomes) and outcomes[-1].startswith(
            ("applied", "fallback")
        )
        assert (
            any(row[4].endswith("%") for row in rows) and "0% saved" not in printed.split("got")[-1].split()
        )

    def test_the_answer_was_in_what_the_model_saw(self, printed: str) -> None:
        assert "was told in call 3, whose messages are covered by a summary" in printed
        for evidence in EVIDENCE:
            assert f"{evidence}: the model saw it in " in printed
        assert f'"{RULE}": the model saw it' in printed

    def test_the_page_is_that_of_this_session_and_shows_what_the_model_saw(
        self, printed: str, open_gateway: Gateway
    ) -> None:
        address = re.search(r"http://\S+/compaction/ui/sessions/\S+", printed)
        assert address is not None and address[0].startswith(open_gateway.url)
        page = httpx.get(address[0], timeout=30, trust_env=False)
        assert page.status_code == 200 and "demo-e2e" in page.text
        assert EVIDENCE[0] in page.text and "conversation_summary" in page.text

    def test_the_label_finds_it(self, printed: str, open_gateway: Gateway) -> None:
        arguments = ["buffers", "show", "demo-e2e", "--url", open_gateway.url, "--json"]
        result = CliRunner().invoke(app, arguments, env=UNSET)
        assert result.exit_code == 0, result.output
        assert json.loads(result.stdout)["row"]["labels"] == ["demo-e2e"]

    def test_a_model_that_is_not_offered(self, open_gateway: Gateway) -> None:
        said = refusal("--url", open_gateway.url, "--model", "elsewhere", code=1)
        assert "answered 400" in said and "It has no model elsewhere: name one with --model (demo" in said

    def test_readme_shows_what_is_printed(self, printed: str) -> None:
        assert f"a conversation of {len(write_turns('m')) + 1} calls" in README
        assert f"is about call {TOLD_IN_TURN}" in " ".join(README.split())
        row = r"(?m)^ +(\d+) +(\d+) +([\d,]+) +([\d,]+) +(?:–|\d+%) +(\S+) +(\w+)"
        shown = re.findall(row, README)
        now: dict[str, Any] = {number: told for number, *told in re.findall(row, printed)}
        assert len(shown) == 3
        for number, messages, *tokens, level, outcome in shown:
            assert (messages, level, outcome) == (now[number][0], *now[number][3:])
            for told, is_now in zip(tokens, now[number][1:3], strict=True):
                # A label of another length is a few tokens more.
                assert abs(int(is_now.replace(",", "")) - int(told.replace(",", ""))) < 20


def test_a_label_is_sent_as_readme_says() -> None:
    text = " ".join(README.split())
    assert "is a label: a client sends it in the header `x-session-id`" in text
    assert text.index("ticket-4711") < text.index("is a label")


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", *(f"docs/{n}.md" for n in ("cli", "ui"))])
def test_commands_are_written_one_way(page: str) -> None:
    text = (Path(ROOT) / page).read_text("utf-8")
    assert set(re.findall(r"\.venv/bin/(\w+)", text)) <= {"activate"}
