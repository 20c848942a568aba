"""Conversations with every kind of block and item, at every cut: no provider refuses what is sent."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from gateway_compaction.core.conversation.messages import told_text_of
from gateway_compaction.core.endpoints.read import read_conversation
from gateway_compaction.core.endpoints.wire import EndpointName, WireConversation
from gateway_compaction.core.planning.context import RequestContext
from gateway_compaction.core.planning.views import ViewBuilder, render
from gateway_compaction.core.records.compaction import Compaction
from tests.core.builders import Bench, policy, stored
from tests.lab.endpoints import anthropic_violations, responses_violations

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
LONG = "The harbour office moved the crane to the next berth; the invoice is due on that day.\n" * 20
HOUR, MINUTES = {"type": "ephemeral", "ttl": "1h"}, {"type": "ephemeral"}


def user(*blocks: dict[str, Any]) -> dict[str, Any]:
    return {"role": "user", "content": list(blocks)}


def assistant(*blocks: dict[str, Any]) -> dict[str, Any]:
    return {"role": "assistant", "content": list(blocks)}


def text(said: str, **more: Any) -> dict[str, Any]:
    return {"type": "text", "text": said, **more}


def use(number: int, kind: str = "tool_use", **more: Any) -> dict[str, Any]:
    return {"type": kind, "id": f"use_{kind}_{number}", "name": "look", "input": {"ship": number}, **more}


def result(number: int, content: Any, kind: str = "tool_use", **more: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": f"use_{kind}_{number}", "content": content, **more}


def thought(number: int, kind: str = "thinking") -> dict[str, Any]:
    if kind == "redacted_thinking":
        return {"type": kind, "data": f"sealed{number}"}
    return {"type": kind, "thinking": f"Hm, {number}. {LONG}", "signature": f"sig{number}"}


def anthropic_talk() -> dict[str, Any]:
    """A conversation with every kind of block of the Messages API, ending with the answer begun."""
    png = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PIXEL}}
    paper = {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": LONG}}
    cited = {"type": "char_location", "document_index": 0, "cited_text": "crane", "start_char_index": 3}
    ran = {"type": "code_execution_result", "stdout": "7", "return_code": 0}
    served = {"type": "code_execution_tool_result", "tool_use_id": "use_server_tool_use_5", "content": ran}
    by_code = {"caller": {"type": "code_execution_20260120", "tool_id": "use_server_tool_use_5"}}
    told = {"type": "mcp_tool_result", "tool_use_id": "use_mcp_tool_use_6", "content": [text("calm")]}
    found = {"type": "web_search_tool_result", "tool_use_id": "use_server_tool_use_7", "content": []}
    messages = [
        user(text("Where do the ships lie? Never guess."), {"type": "container_upload", "file_id": "file_1"}),
        # Interleaved thinking, parallel calls, an image among the results.
        assistant(thought(1), text("I look."), thought(2, "redacted_thinking"), use(1), use(2)),
        user(result(1, LONG), result(2, [text(LONG), png], is_error=False), text("Go on.")),
        assistant(thought(3), use(3)),
        user(result(3, [text(LONG, cache_control=HOUR)])),
        assistant(text("Ship 1 lies at berth 4. " + LONG)),
        user(paper, text("Read this."), png),
        assistant(text("It says so.", citations=[cited]), use(4)),
        user(result(4, LONG, cache_control=MINUTES)),
        # Code that a server runs calls the client's tool, and ends two messages later.
        assistant(use(5, "server_tool_use"), use(5, **by_code)),
        user(result(5, LONG)),
        assistant(use(9, **by_code)),
        user(result(9, LONG)),
        assistant(served, text("It printed 7.")),
        {"role": "system", "content": "From now on be brief."},
        user(text("And the weather?")),
        assistant(thought(6), use(6, "mcp_tool_use", server_name="sky"), told, text("Calm.")),
        user(text("And the news?")),
        assistant(use(7, "server_tool_use"), found, text("None.")),
        user(text("Look once more.")),
        assistant(thought(8), use(8)),
        user(result(8, LONG), text("Answer in JSON.", cache_control=MINUTES)),
        assistant(text('{"berth":')),
    ]
    # A system message stands between two of the user's and the assistant's own.
    return {"system": [text("You look after ships.", cache_control=HOUR)], "messages": messages}


def message(role: str, said: str, **more: Any) -> dict[str, Any]:
    if role != "assistant":
        return {"type": "message", "role": role, "content": [{"type": "input_text", "text": said}], **more}
    part = {"type": "output_text", "text": said, "annotations": []}
    return {"type": "message", "role": role, "content": [part], **more}


def reasoning(number: int) -> dict[str, Any]:
    return {"type": "reasoning", "id": f"rs_{number}", "summary": [], "encrypted_content": f"gAAA{number}"}


def call(kind: str, number: int, **more: Any) -> dict[str, Any]:
    return {"type": kind, "call_id": f"call_{number}", **more}


def responses_talk() -> dict[str, Any]:
    """A conversation with every kind of item of the Responses API that is read."""
    screen = {"type": "computer_screenshot", "image_url": f"data:image/png;base64,{PIXEL}"}
    ended = {"type": "exit", "exit_code": 0}
    printed = [{"stdout": LONG, "stderr": "warning: old", "outcome": ended}]
    picture = {"type": "input_image", "image_url": f"data:image/png;base64,{PIXEL}", "detail": "high"}
    items = [
        message("developer", "Be brief."),
        message("user", "Where do the ships lie? Never guess."),
        reasoning(1),
        message("assistant", "I look.", id="msg_1", status="completed", phase="commentary"),
        call("function_call", 1, name="look", arguments='{"ship": 1}', id="fc_1"),
        call("function_call", 2, name="look", arguments='{"ship": 2}', id="fc_2"),
        call("function_call_output", 2, output=LONG),
        call("function_call_output", 1, output=[{"type": "input_text", "text": LONG}, picture]),
        reasoning(2),
        call("custom_tool_call", 3, name="patch", input="*** Begin " + LONG, id="ctc_3"),
        call("custom_tool_call_output", 3, output=LONG),
        call("function_call", 4, name="look", arguments="{}"),
        call("function_call_output", 4, output=LONG),
        message("assistant", "Ship 1 lies at berth 4. " + LONG, id="msg_2", phase="final_answer"),
        message("user", "Now the shell."),
        call("shell_call", 5, action={"commands": ["ls"]}, id="sh_5"),
        call("shell_call_output", 5, output=printed, max_output_length=4_000),
        call("local_shell_call", 6, action={"type": "exec", "command": ["ls"]}, id="lsh_6"),
        call("local_shell_call_output", 6, output=LONG, id="lsh_6"),
        call("apply_patch_call", 7, operation={"type": "delete_file", "path": "a"}, id="apc_7"),
        call("apply_patch_call_output", 7, status="failed", output=LONG),
        call("computer_call", 8, action={"type": "click", "x": 1, "y": 2}, id="cu_8", status="completed"),
        call("computer_call_output", 8, output=screen),
        message("assistant", "Done.", id="msg_3"),
        message("user", "Ask the weather server."),
        {"type": "mcp_list_tools", "id": "mcpl_1", "server_label": "sky", "tools": []},
        {
            "type": "mcp_approval_request",
            "id": "mcpr_1",
            "name": "sky",
            "arguments": "{}",
            "server_label": "sky",
        },
        {"type": "mcp_approval_response", "approval_request_id": "mcpr_1", "approve": True},
        {"type": "mcp_call", "id": "mcp_1", "name": "sky", "output": LONG, "approval_request_id": "mcpr_1"},
        {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search"}},
        message("assistant", "Calm.", id="msg_4"),
        message("user", "Look once more."),
        reasoning(3),
        call("function_call", 9, name="look", arguments="{}"),
        call("function_call_output", 9, output=LONG),
    ]
    return {"instructions": "You look after ships.", "input": items, "store": False}


TALKS = {"messages": anthropic_talk, "responses": responses_talk}
BOTH: list[EndpointName] = ["messages", "responses"]


def contexts(wire: WireConversation) -> tuple[Bench, RequestContext]:
    bench = Bench(8_000, policy(recall__max_tokens=200), body=dict(wire.body))
    return bench, bench.context(wire.messages)


def compacted(wire: WireConversation) -> Iterator[tuple[Compaction, list[Any]]]:
    """What is sent for the compactions of both kinds at every cut of a conversation."""
    bench, bare = contexts(wire)
    for kind in ("model", "cleared"):
        for cut in bare.transcript.cuts:
            compaction = stored(bare, cut, kind)
            context = bench.context(wire.messages, [compaction])
            views = ViewBuilder(context)
            view = views.add_quotes(views.build_view(compaction))
            yield compaction, list(wire.write(render(view, context)))


def broken(endpoint: EndpointName, body: Mapping[str, Any]) -> list[str]:
    found = anthropic_violations(body) if endpoint == "messages" else responses_violations(body)
    # The client's own: a system message between the others, and results that it has not sent yet.
    return [item for item in found if "unknown role (system)" not in item]


@pytest.mark.parametrize("endpoint", BOTH)
def test_no_cut_breaks_a_rule(endpoint: EndpointName) -> None:
    body = TALKS[endpoint]()
    wire = read_conversation(endpoint, body)
    assert wire.left_alone is None and not broken(endpoint, body)
    sent = list(compacted(wire))
    assert len(sent) >= 12
    for compaction, items in sent:
        told = (compaction.kind, compaction.covers)
        assert not broken(endpoint, {**body, wire.field: items}), told
        assert items[-1] == body[wire.field][-1], told
        assert "_origin" not in json.dumps(items)


@pytest.mark.parametrize("endpoint", BOTH)
def test_thoughts_go_back_as_they_came_or_not_at_all(endpoint: EndpointName) -> None:
    body = TALKS[endpoint]()

    def thoughts(items: list[Any]) -> list[Any]:
        inner = [b for i in items for b in (i["content"] if isinstance(i.get("content"), list) else [])]
        return [
            b for b in (*items, *inner) if "thinking" in str(b.get("type")) or b.get("type") == "reasoning"
        ]

    wire = read_conversation(endpoint, body)
    came = thoughts(body[wire.field])
    assert len(came) >= 3
    for compaction, items in compacted(wire):
        kept = thoughts(items)
        # Of a conversation the end is kept: what is sent of its thoughts is the end of them.
        assert kept == came[len(came) - len(kept) :]
        assert compaction.kind == "model" or kept == came


def test_a_file_that_was_uploaded_stays_in_the_container() -> None:
    body = anthropic_talk()
    for container, uploads in ((None, 1), ("container_1", 0)):
        wire = read_conversation("messages", {**body, "container": container})
        for compaction, items in compacted(wire):
            is_repeated = contexts(wire)[1].transcript.openers.get(compaction.covers) == 0
            expected = 1 if compaction.kind == "cleared" or is_repeated else uploads
            assert json.dumps(items).count('"container_upload"') == expected, compaction.covers
        # Without a message of ours nothing is repeated.
        assert '"container_upload"' not in json.dumps(wire.write(wire.messages[2:]))


def test_what_a_shell_printed_is_read_and_may_be_cleared() -> None:
    wire = read_conversation("responses", responses_talk())
    assert any(told_text_of(m).startswith(LONG) and "warning: old" in told_text_of(m) for m in wire.messages)
    longest = max(contexts(wire)[1].transcript.cuts)
    cleared = next(items for c, items in compacted(wire) if (c.kind, c.covers) == ("cleared", longest))
    kinds = {i["type"]: i["output"] for i in cleared if str(i.get("type")).endswith("_output")}
    assert "cleared to save room" in kinds["shell_call_output"][0]["stdout"]
    assert kinds["shell_call_output"][0]["outcome"] == {"type": "exit", "exit_code": 0}
    assert kinds["computer_call_output"]["type"] == "computer_screenshot"
    assert all("cleared" in kinds[f"{k}_output"] for k in ("custom_tool_call", "apply_patch_call"))


def test_a_compaction_of_the_provider_is_read_as_what_it_says() -> None:
    block = {"type": "compaction", "content": "Ship 1 lies at berth 4."}
    items = [user(text("Where?")), assistant(block, text("At berth 4.")), user(text("Sure?"))]
    wire = read_conversation("messages", {"messages": items})
    assert told_text_of(wire.messages[1]) == "Ship 1 lies at berth 4.\nAt berth 4."
    shorter = {**wire.messages[1], "content": [wire.messages[1]["content"][0], text("Yes.")]}
    written = wire.write([wire.messages[0], shorter, wire.messages[2]])
    assert written[1]["content"] == [block, text("Yes.")] and written[1]["content"][0] is block
