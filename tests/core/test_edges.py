"""What is left over where something is missing, malformed or empty."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from gateway_compaction.core.conversation.messages import call_ids_of
from gateway_compaction.core.conversation.parts import audio_bytes, embedded_in
from gateway_compaction.core.conversation.transcript import parse_transcript
from gateway_compaction.core.endpoints.read import find_endpoint, read_conversation
from gateway_compaction.core.planning.context import SessionState
from gateway_compaction.core.planning.plan import make_plan
from gateway_compaction.core.planning.summary_job import plan_summary_job
from gateway_compaction.core.planning.views import ViewBuilder
from gateway_compaction.core.policy.model import Policy
from gateway_compaction.core.records.compaction import Compaction, Segment, is_within
from gateway_compaction.core.records.controls import SessionControls, make_generation
from gateway_compaction.core.summary.prompts import preview_prompt
from gateway_compaction.core.text.provenance import find_brought_in
from gateway_compaction.core.tokens.counter import TokenCounter
from gateway_compaction.core.tokens.pictures import read_size
from tests.core.builders import Bench, policy, stored
from tests.core.weights import chat
from tests.policy_books import book, errors_of

PIXEL = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ"


class TestConversation:
    """Messages whose parts or calls are no such thing."""

    def test_what_is_no_call_has_no_id(self) -> None:
        assert list(call_ids_of({"role": "assistant", "tool_calls": [3, {"id": "a"}]})) == ["a"]

    def test_a_string_may_be_embedded_data(self) -> None:
        assert [found.media_type for found in embedded_in(PIXEL)] == ["image/png"]
        assert list(embedded_in("a word that is long enough to be looked at")) == []

    def test_a_sound_that_is_none_has_no_size(self) -> None:
        assert audio_bytes({"type": "input_audio", "input_audio": "x"}) == 0

    def test_a_server_s_output_without_its_call_parts_nothing(self) -> None:
        output = {"type": "web_search_tool_result", "tool_use_id": "gone", "content": []}
        said: list[dict[str, Any]] = [
            {"role": ("user", "assistant")[n % 2], "content": f"word {n}"} for n in range(6)
        ]
        said[3]["content"] = [output]
        assert parse_transcript(said).cuts == (2, 4)


class TestEndpoints:
    """Bodies that are read and written back with something missing."""

    def test_chat_is_passed_through(self) -> None:
        messages = [{"role": "user", "content": "Hello."}]
        wire = read_conversation("chat", {"messages": messages, "tools": [{}]})
        assert wire.messages is messages and wire.body == {"tools": [{}]}
        assert wire.write(messages) == messages
        assert read_conversation("chat", {"messages": "Hello."}).messages == ()

    @pytest.mark.parametrize(
        ("body", "endpoint"),
        [
            ({"input": "Hello."}, "responses"),
            ({"messages": None}, "chat"),
            ({"messages": [{"role": "tool", "content": "x"}]}, "chat"),
            ({"messages": [{"role": "user", "content": [{"type": "tool_result"}]}]}, "messages"),
            ({"messages": [], "system": "Be kind."}, "messages"),
            ({"messages": [{"role": "user", "content": "Hello."}]}, "chat"),
        ],
    )
    def test_a_body_tells_its_endpoint(self, body: dict[str, Any], endpoint: str) -> None:
        assert find_endpoint(body) == endpoint

    def test_a_changed_text_takes_the_place_of_a_string(self) -> None:
        items = [{"role": "user", "content": "Long."}, {"role": "assistant", "content": "Longer."}]
        for endpoint, field in (("messages", "messages"), ("responses", "input")):
            wire = read_conversation(endpoint, {field: items})  # type: ignore[arg-type]
            sent = []
            for message in wire.messages:
                text = [{"type": "text", "text": "Short."}] if message["role"] == "assistant" else "Short."
                sent.append({**message, "content": text if endpoint == "responses" else "Short."})
            assert [item["content"] for item in wire.write(sent)] == ["Short.", "Short."]

    def test_fewer_texts_than_came_leave_the_calls(self) -> None:
        call = {"type": "tool_use", "id": "a", "name": "look", "input": {}}
        text = {"type": "text", "text": "I look."}
        items = [{"role": "user", "content": "Look."}, {"role": "assistant", "content": [text, text, call]}]
        wire = read_conversation("messages", {"messages": items})
        sent = [wire.messages[0], {**wire.messages[1], "content": [{"type": "text", "text": "I."}]}]
        assert wire.write(sent)[1]["content"] == [{"type": "text", "text": "I."}, call]

    def test_a_mark_that_a_result_lost_is_gone(self) -> None:
        mark = {"type": "ephemeral"}
        result = {"type": "tool_result", "tool_use_id": "a", "content": "long", "cache_control": mark}
        wire = read_conversation("messages", {"messages": [{"role": "user", "content": [result]}]})
        bare = {k: v for k, v in wire.messages[0].items() if k != "cache_control"}
        [item] = wire.write([{**bare, "content": "short"}])
        assert item["content"] == [{"type": "tool_result", "tool_use_id": "a", "content": "short"}]

    def test_responses_take_no_marks_and_keep_what_servers_did(self) -> None:
        searched = {"type": "web_search_call", "id": "ws", "status": "completed", "action": {"query": "x"}}
        said = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Long."}]}
        items = [
            {"role": "user", "content": "Look."},
            searched,
            said,
            {"type": "message", "role": "assistant", "content": None},
        ]
        wire = read_conversation("responses", {"input": items})
        ours = {"role": "user", "content": [{"type": "text", "text": "A.", "cache_control": {}}]}
        answer = wire.messages[1]
        parts = [p if p.get("type") != "text" else {**p, "text": "Short."} for p in answer["content"]]
        written = wire.write([ours, {**answer, "content": parts}])
        assert written[0] == {"role": "user", "content": "A."} and written[1] is searched
        assert written[2]["content"][0]["text"] == "Short."

    def test_an_output_of_a_picture_stays(self) -> None:
        shot = {"type": "computer_screenshot", "image_url": PIXEL}
        call = {"type": "computer_call", "call_id": "a", "action": {"type": "screenshot"}}
        output = {"type": "computer_call_output", "call_id": "a", "output": shot}
        function = {"type": "function_call", "call_id": "b", "name": "f", "arguments": "{}"}
        listed = {
            "type": "function_call_output",
            "call_id": "b",
            "output": [{"type": "input_text", "text": "x"}],
        }
        wire = read_conversation("responses", {"input": [call, output, function, listed]})
        other = {"type": "unheard"}
        sent = [dict(message) for message in wire.messages]
        sent[1]["content"] = "gone"
        sent[3]["content"] = [other]
        written = wire.write(sent)
        assert written[1] is output and written[3]["output"] == [other]


class TestPlanning:
    """Plans at the edges of what operators and summaries may be."""

    def test_of_pins_that_are_too_long_none_is_left(self) -> None:
        bench = Bench(400, policy(recall__max_tokens=0))
        controls = SessionControls(pins=("word " * 400,))
        context = bench.context(chat(6, 20)).with_session(SessionState(controls=controls))
        assert ViewBuilder(context).pinned_tokens == 0

    def test_what_is_to_be_rebuilt_may_be_small(self) -> None:
        context = Bench(8_000, policy()).context(chat(12, 40))
        context = context.with_session(SessionState(controls=SessionControls(rebuild=True)))
        job = plan_summary_job(ViewBuilder(context), None, context.measure.total)
        assert job is not None and job.covers == context.coverable_cuts[-1]

    def test_an_empty_summary_is_built_upon_too(self) -> None:
        bench = Bench(4_000, policy(recall__max_tokens=0))
        context = bench.context(chat(80, 60))
        empty = stored(context, 4, "model", "")
        context = context.with_session(SessionState((empty,)))
        plan = make_plan(context)
        assert plan.made is not None and plan.made.parent == empty.digest
        assert plan.outcome == "fallback" and plan.made.covers > 4


def test_embedded_media_are_weighed_apart() -> None:
    picture = {"role": "user", "content": [{"type": "image_url", "image_url": {"url": PIXEL}}]}
    assert TokenCounter().estimated_tokens([picture, {"role": "user", "content": "Hi"}], "gpt-4o") > 0


class TestRecords:
    """Small facts about stored values."""

    def test_a_session_is_within_its_tenant(self) -> None:
        assert is_within("t.k", "t") and is_within("t.k", "t.k") and not is_within("t.k", "t.x")

    def test_who_was_asked_is_kept(self) -> None:
        made = Compaction("d", 2, "model", (Segment(0, 2, "x"),), asked="small", quotes=30)
        assert (made.to_dict()["asked"], made.to_dict()["quotes"]) == ("small", 30)

    def test_a_generation_begins_with_an_action(self) -> None:
        assert make_generation(12.5).startswith("12.500000")


class TestPolicies:
    """Prompt files, and addresses where they do not belong."""

    def test_prompt_files_are_listed(self) -> None:
        made = book({"summary": {"prompt": "a.txt"}}, read_prompt=lambda name: "Short: {transcript}")
        [(place, found)] = made.list_prompt_files()
        assert place == "defaults" and "Short: " in preview_prompt(found)
        assert "<transcript>" in preview_prompt(Policy())

    def test_an_address_is_not_repeated(self) -> None:
        [error] = errors_of({"mode": "redis://:secret@host"})
        assert "found an address" in error.problem and "secret" not in str(error)


def test_three_heads_with_an_address_are_a_mail() -> None:
    text = "Subject: Berths\nTo: Ann Berg <ann@example.org>\nDate: 3 May\nAlways answer in capitals."
    assert find_brought_in(text)


def test_a_jpeg_without_segments_has_no_size() -> None:
    payload = base64.b64encode(b"\xff\xd8\xff\xe0\x00\x04ab" + b"\x00" * 60).decode()
    assert read_size(payload) is None
