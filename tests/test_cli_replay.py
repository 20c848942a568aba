"""``gateway-compaction replay``: the table, the JSON, the options, and files it cannot use."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from gateway_compaction.cli.main import app
from tests.engine.histories import chat, loop
from tests.lab.endpoints import to_anthropic, to_responses
from tests.lab.scripts import Reply
from tests.lab.upstream import Upstream

LONG = {"id": "long", "messages": chat(61), "tools": [{"type": "function", "function": {"name": "run"}}]}
SHORT = {"id": "short", "messages": chat(4)}
AGENT = {"id": "agent", "messages": loop(40)}
FIELDS = {
    "number", "messages_client", "messages_upstream", "tokens_client", "tokens_upstream", "level", "outcome",
    "reason", "covers", "version",
}  # fmt: skip


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty folder, and no policy file named by the environment."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GATEWAY_COMPACTION_POLICIES", raising=False)


def lines(*conversations: Any, name: str = "talk.jsonl") -> str:
    """A file with one conversation a line."""
    return text("\n".join(json.dumps(one) for one in conversations) + "\n", name)


def text(content: str, name: str = "talk.json") -> str:
    """A file."""
    Path(name).write_text(content, encoding="utf-8")
    return name


def run(*arguments: str) -> Result:
    """Run the command; an exception that leaves it fails the test."""
    return CliRunner().invoke(app, ["replay", *arguments], env={"COLUMNS": "160"}, catch_exceptions=False)


def calls(*arguments: str) -> dict[str, list[dict[str, Any]]]:
    """The calls of each conversation."""
    result = run(*arguments, "--json")
    assert result.exit_code == 0, result.output
    return {one["id"]: one["calls"] for one in json.loads(result.stdout)}


class TestForms:
    """Recordings of the three endpoints."""

    def test_one_conversation_is_replayed_alike_in_every_form(self) -> None:
        bodies = {"chat": {"messages": AGENT["messages"], "max_tokens": 512}}
        bodies |= {"messages": to_anthropic(AGENT["messages"]), "responses": to_responses(AGENT["messages"])}
        recorded = [{"id": name, "body": body} for name, body in bodies.items()]
        result = run(lines(*recorded), "--window", "2000", "--summarizer", "scripted", "--json")
        told = {one["id"]: one for one in json.loads(result.stdout)}
        assert [one["endpoint"] for one in told.values()] == ["chat", "messages", "responses"]
        shown = {
            name: [(c["outcome"], c["covers"], c["messages_upstream"]) for c in one["calls"]]
            for name, one in told.items()
        }
        assert shown["messages"] == shown["responses"] == shown["chat"]
        assert any(outcome == "applied" for outcome, *_ in shown["chat"])

    def test_a_body_alone_in_a_file_is_read_too(self) -> None:
        file = text(json.dumps(to_responses(AGENT["messages"])))
        assert [c["outcome"] for c in calls(file, "--window", "200000").popitem()[1]][-1] == "none"

    def test_what_would_be_left_alone_is_told(self) -> None:
        kept = {"id": "kept", "body": {"input": "Go on.", "previous_response_id": "resp_1"}}
        shortened = {
            **to_anthropic(AGENT["messages"]),
            "context_management": {"edits": [{"type": "compact"}]},
        }
        policy = text("version: 1\ndefaults: {mode: enforce, provider_compaction: compact}\n", "p.yaml")
        file = lines(kept, {"id": "shortened", "body": shortened})
        for more, outcome in (((), "none"), (("--policy", policy), "fallback")):
            found = calls(file, "--window", "2000", *more)
            assert found["kept"][-1]["reason"] == "the provider keeps this history"
            assert found["shortened"][-1]["outcome"] in (outcome, "applied" if more else outcome)

    def test_policies_see_the_endpoint(self) -> None:
        policy = text("version: 1\ndefaults: {mode: enforce, endpoints: [chat]}\n", "p.yaml")
        found = calls(lines({"id": "a", "body": to_anthropic(AGENT["messages"])}), "--policy", policy)
        assert {c["reason"] for c in found["a"]} == {"this endpoint is switched off"}


class TestOutput:
    """What it prints."""

    def test_the_table_shows_every_call_and_the_whole(self) -> None:
        result = run(lines(LONG, SHORT), "--window", "2000", "--summarizer", "scripted")
        assert result.exit_code == 0
        for told in ("long (62 messages)", "short (5 messages)", "client", "upstream", "prepared", "applied"):
            assert told in result.stdout
        assert "62 → " in result.stdout
        last = result.stdout.strip().splitlines()[-1]
        assert last.startswith("2 conversations, 33 calls: ") and " % less); rewritten calls: " in last

    def test_json_holds_every_call_and_no_message(self) -> None:
        found = calls(lines(LONG, SHORT), "--window", "2000", "--summarizer", "scripted")
        assert [len(found[name]) for name in ("long", "short")] == [31, 2]
        assert all(set(call) == FIELDS for made in found.values() for call in made)
        first, last = found["long"][0], found["long"][-1]
        assert (first["outcome"], first["level"], first["version"], first["covers"]) == (
            "none",
            None,
            None,
            0,
        )
        assert last["outcome"] == "applied" and last["covers"] > 0
        assert last["tokens_upstream"] < 2_000 < last["tokens_client"]
        assert last["messages_upstream"] < last["messages_client"] == 62
        result = run(lines(LONG), "--window", "2000", "--json")
        assert "chat 3" not in result.stdout

    def test_what_was_done_is_readable_in_80_columns(self) -> None:
        policy = text(
            "version: 1\ndefaults: {mode: enforce, summary: {model: extractive}}\n", "policies.yaml"
        )
        talk = {"id": "t", "messages": chat(121)}
        arguments = ["replay", lines(talk, AGENT), "--window", "1200", "--policy", policy]
        result = CliRunner().invoke(app, arguments, env={"COLUMNS": "80"}, catch_exceptions=False)
        assert "…" not in result.stdout and max(map(len, result.stdout.splitlines())) <= 80
        for outcome in {c["outcome"] for made in calls(*arguments[1:]).values() for c in made}:
            assert re.search(rf"\b{outcome}\b", result.stdout)
        for level in {c["level"] for made in calls(*arguments[1:]).values() for c in made} - {None}:
            assert re.search(rf"\b{level}\b", result.stdout)

    def test_one_is_no_plural(self) -> None:
        one = {"id": "one", "messages": chat(2)[:2]}
        result = run(lines(one))
        assert "1 conversation, 1 call: " in result.stdout
        assert "one (2 messages)" in result.stdout

    def test_the_summaries_are_shown_where_that_is_asked_for(self) -> None:
        arguments = [lines(LONG, SHORT), "--window", "2000", "--summarizer", "scripted"]
        plain, shown = run(*arguments), run(*arguments, "--show-summaries")
        assert "Summary" not in plain.stdout
        first = next(c for c in calls(*arguments)["long"] if c["version"] == 1)
        head = f"Version 1: model (scripted), messages 1 to {first['covers']} after the system prompt, "
        assert re.search(rf"{re.escape(head)}.*\nSummary \d", shown.stdout)
        told = json.loads(run(*arguments, "--show-summaries", "--json").stdout)
        assert [one["id"] for one in told] == ["long", "short"] and told[1]["summaries"] == []
        versions = told[0]["summaries"]
        assert [v["version"] for v in versions] == list(range(1, len(versions) + 1))
        assert {c["version"] for c in told[0]["calls"] if c["version"]} <= {v["version"] for v in versions}
        assert versions[0]["text"].startswith("Summary ") and versions[0]["covers"] == first["covers"]
        assert versions[0]["tokens_after"] < versions[0]["tokens_before"]

    def test_what_strangers_wrote_moves_no_cursor_and_is_no_markup(self) -> None:
        messages = [{**m, "content": f"\x1b[31m[/red] {m['content']}"} for m in chat(61)]
        odd = {"id": "[/red]\x1b[2J", "messages": messages}
        result = run(lines(odd), "--window", "2000", "--summarizer", "scripted", "--show-summaries")
        assert result.exit_code == 0 and "\x1b" not in result.stdout
        assert "[/red]␛[2J (62 messages)" in result.stdout
        assert re.search(r"Summary \d.*␛\[31m\[/red\]", result.stdout)

    def test_a_policy_that_keeps_no_text_shows_none(self) -> None:
        policy = text("version: 1\ndefaults: {mode: enforce, storage: {content: none}}\n", "policies.yaml")
        result = run(lines(LONG), "--window", "2000", "--policy", policy, "--show-summaries")
        assert result.exit_code == 0 and "identifiers" not in result.stdout

    def test_the_same_file_gives_the_same_numbers(self) -> None:
        file = lines(LONG, AGENT)
        assert calls(file, "--window", "2000") == calls(file, "--window", "2000")


class TestFiles:
    """What can be replayed."""

    def test_a_plain_list_of_messages(self) -> None:
        found = calls(text(json.dumps(LONG["messages"])), "--window", "2000")
        assert list(found) == ["talk.json"] and len(found["talk.json"]) == 31

    def test_a_list_of_conversations_and_a_single_one(self) -> None:
        assert list(calls(text(json.dumps([SHORT, LONG])))) == ["short", "long"]
        assert list(calls(text(json.dumps(SHORT)))) == ["short"]

    def test_a_recorded_body(self) -> None:
        body = {"model": "gpt-4o", "messages": chat(5), "max_tokens": 50}
        assert len(calls(lines({"id": "b", "body": body}))["b"]) == 3
        other = {"id": "r", "body": {"input": "hello", "model": "gpt-4o"}}
        assert {name: len(found) for name, found in calls(lines(other, SHORT)).items()} == {
            "r": 1,
            "short": 2,
        }

    @pytest.mark.parametrize("end", ["\u2028", "\u2029", "\x85"])
    def test_a_message_may_hold_what_unicode_takes_for_a_line_end(self, end: str) -> None:
        odd = {"id": "odd", "messages": [{"role": "user", "content": f"one{end}two"}]}
        assert list(calls(text("\n".join(json.dumps(o, ensure_ascii=False) for o in (odd, SHORT))))) == [
            "odd",
            "short",
        ]

    def test_a_conversation_without_an_id_is_named_by_its_place(self) -> None:
        assert list(calls(lines({"messages": chat(3)}, SHORT))) == ["talk.jsonl:1", "short"]

    def test_an_agent_s_loop_is_a_call_for_each_step(self) -> None:
        assert len(calls(lines(AGENT), "--window", "2000")["agent"]) == 41


class TestOptions:
    """Windows, policies, names."""

    def test_a_large_window_leaves_everything_alone(self) -> None:
        for arguments in ([], ["--window", "50000"]):
            found = calls(lines(LONG), *arguments)["long"]
            assert {call["outcome"] for call in found} == {"none"}
            assert all(call["tokens_client"] == call["tokens_upstream"] for call in found)

    def test_only_the_named_ones(self) -> None:
        file = lines(LONG, SHORT, AGENT)
        assert list(calls(file, "--only", "short", "--only", "agent")) == ["short", "agent"]

    def test_a_policy_decides(self) -> None:
        policy = text(
            "version: 1\ndefaults: {context_window: 2000}\n"
            "policies:\n  - {name: quiet, match: {team: legal}, mode: off}\n"
            "  - {name: gpt, match: {model: 'gpt-5*'}, context_window: 60000}\n",
            "policies.yaml",
        )
        arguments = [lines(LONG), "--policy", policy]
        outcomes = {call["outcome"] for call in calls(*arguments)["long"]}
        assert outcomes & {"applied", "fallback"}
        assert {c["reason"] for c in calls(*arguments, "--team", "legal")["long"]} == {"the policy is off"}
        assert {c["outcome"] for c in calls(*arguments, "--model", "gpt-5-mini")["long"]} == {"none"}
        assert {c["outcome"] for c in calls(*arguments, "--window", "60000")["long"]} == {"none"}

    def test_observing_shows_what_enforcing_would_do(self) -> None:
        watched = text(
            "version: 1\ndefaults: {mode: observe, summary: {model: extractive}}\n", "watched.yaml"
        )
        enforced = text(Path(watched).read_text().replace("observe", "enforce"), "enforced.yaml")
        arguments = [lines(LONG), "--window", "2000", "--policy"]
        found = calls(*arguments, watched)
        assert found == calls(*arguments, enforced)
        assert found["long"][-1]["messages_upstream"] < found["long"][-1]["messages_client"]
        assert run(*arguments, watched).stdout.splitlines()[0] == (
            "mode observe: shown as it would be under enforce"
        )
        assert run(*arguments, watched, "--json").stderr.strip().startswith("mode observe: ")
        assert not run(*arguments, enforced).stdout.startswith("mode ")

    def test_observing_a_team_beats_its_policy(self) -> None:
        policy = text(
            "version: 1\ndefaults: {mode: off}\npolicies: [{name: p, match: {team: t}, mode: observe}]\n",
            "policies.yaml",
        )
        arguments = [lines(LONG), "--window", "2000", "--policy", policy]
        assert "applied" in {c["outcome"] for c in calls(*arguments, "--team", "t")["long"]}
        assert {c["reason"] for c in calls(*arguments)["long"]} == {"the policy is off"}

    @pytest.mark.parametrize(
        ("summary", "named"),
        [("{model: small, fallbacks: [big]}", "small"), ("{model: null}", "null, the request's own model")],
    )
    def test_an_extract_stands_in_for_the_policy_s_model(self, summary: str, named: str) -> None:
        policy = text(
            "version: 1\ndefaults: {mode: enforce}\n"
            f"policies: [{{name: p, match: {{model: '*'}}, summary: {summary}}}]\n",
            "policies.yaml",
        )
        arguments = [lines(LONG), "--window", "2000", "--policy", policy]
        found = calls(*arguments)["long"]
        assert {c["reason"] for c in found if c["outcome"] == "applied"} == {"extractive"}
        assert not any("asked" in c["reason"] for c in found)
        told = (
            f"summary.model {named}: an extract stands in for its summaries; --summarizer model asks a model"
        )
        assert run(*arguments).stdout.splitlines()[0] == told
        scripted = run(*arguments, "--summarizer", "scripted").stdout
        assert "stands in" not in scripted

    def test_the_switch_of_the_environment_is_not_the_replay_s(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("GATEWAY_COMPACTION_ENABLED", "false")
        assert calls(lines(LONG), "--window", "2000")["long"][-1]["outcome"] == "applied"

    @pytest.mark.parametrize(("summarizer", "reason"), [("extractive", "extractive"), ("scripted", "model")])
    def test_who_summarises(self, summarizer: str, reason: str) -> None:
        found = calls(lines(LONG), "--window", "2000", "--summarizer", summarizer)["long"]
        assert {c["reason"] for c in found if c["outcome"] == "applied"} == {reason}

    @pytest.mark.filterwarnings("ignore:.*ReadOnly:UserWarning")
    def test_a_model_that_refuses_leaves_the_document_whole(
        self, upstream: Upstream, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        upstream.reset()
        upstream.scripts["refusing"] = lambda seen: Reply.failing(400, "no", kind="invalid_request_error")
        monkeypatch.setenv("OPENAI_API_BASE", upstream.url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
        arguments = ("--window", "2000", "--summarizer", "model", "--model", "openai/refusing")
        assert calls(lines(LONG), *arguments)["long"] and upstream.seen("refusing")
        upstream.reset()


class TestRefusals:
    """One sentence, and exit code 1."""

    @pytest.mark.parametrize(
        ("content", "told"),
        [
            (None, "talk.jsonl: No such file or directory"),
            ("", "talk.jsonl: no conversation in it"),
            ('{"messages": [\n', "talk.jsonl:1: not JSON"),
            ('{"id": 1, "messages": []}\nnonsense\n', "talk.jsonl:2: not JSON"),
            ('{"id": 1}\n', 'no list of messages. Write a conversation as {"messages": [...]}'),
            ('{"id": 1, "messages": "hello"}\n', "no list of messages"),
            ("7\n", "no list of messages"),
            ("[" * 100_000, "talk.jsonl:1: not JSON"),
            ('{"messages": []}', "talk.jsonl: nothing to replay: no call is recorded in it"),
            ('{"messages": [{"role": "assistant", "content": "Hello."}]}', "nothing to replay"),
            ('{"body": {"input": 7}}', "no list of messages"),
        ],
    )
    def test_of_files(self, content: str | None, told: str) -> None:
        if content is not None:
            text(content, "talk.jsonl")
        result = run("talk.jsonl")
        assert result.exit_code == 1 and result.stdout == ""
        assert told in result.stderr and "Traceback" not in result.stderr
        assert len(result.stderr.strip().splitlines()) == 1

    def test_of_a_folder(self) -> None:
        Path("folder").mkdir()
        result = run("folder")
        assert result.exit_code == 1 and "folder: Is a directory" in result.stderr

    def test_of_ids_that_are_not_there(self) -> None:
        result = run(lines(SHORT), "--only", "gone")
        assert result.exit_code == 1 and "no conversation with an id of gone" in result.stderr

    def test_of_policies(self) -> None:
        policy = text("version: 1\ndefaults: {mode: on}\n", "policies.yaml")
        result = run(lines(SHORT), "--policy", policy)
        assert result.exit_code == 1 and "policies.yaml: defaults.mode" in result.stderr
        assert run(lines(SHORT), "--policy", "none.yaml").exit_code == 1

    def test_of_options(self) -> None:
        assert run(lines(SHORT), "--window", "10").exit_code == 2
        assert run(lines(SHORT), "--summarizer", "magic").exit_code == 2

    @pytest.mark.parametrize("messages", [[], ["hello"], [None, 3], [{"role": "user"}], [{"content": "x"}]])
    def test_strange_messages_are_replayed_all_the_same(self, messages: list[Any]) -> None:
        found = calls(lines({"id": "odd", "messages": messages}, SHORT))
        assert all(call["outcome"] == "none" for call in found["odd"]) and len(found["short"]) == 2
