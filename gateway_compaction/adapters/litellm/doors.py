"""The doors of LiteLLM's proxy through which conversations come, and which of them compaction covers.

A client of a door that is not covered gets no error and no compaction, so nobody would notice: its answers
say so in a header, a metric counts them, and ``doctor`` lists the doors.

Relies on LiteLLM 1.108: the call types that the proxy hands to ``async_pre_call_hook``. A door that gets
another name there is not told of any more; nothing else changes.
"""

from __future__ import annotations

COVERED = "/v1/chat/completions"
"""The path of the door that is covered."""

CHAT = frozenset({"completion", "acompletion"})
"""LiteLLM's call types of chat completions; no other call is compacted.

To cover another door, such as /v1/messages, take its call types out of ``UNCOVERED``, and:

1. In: ``call_state.request_of`` makes messages of its body; a system prompt beside the messages becomes one
   of them. ``hook`` also reads ``data["messages"]`` and ``kwargs["messages"]``, and
   ``call_state.has_decision_for`` compares them as they came.
2. Out: ``CompactionHook._decide`` and its deployment hook put messages back in the body's own form.
3. ``call_state.ending_of`` reads its usage; ``core.conversation.body`` the fields of the body that take up
   the window, and the length of answer that it asks for.
4. tests/test_example_teams.py, which says that such calls pass through, README.md, and the end-to-end tests
   once more for it.
"""

UNCOVERED = {
    "anthropic_messages": "/v1/messages",
    "aresponses": "/v1/responses",
    "_aresponses_websocket": "/v1/responses",
    "text_completion": "/v1/completions",
    "atext_completion": "/v1/completions",
    "agenerate_content": "generateContent",
    "agenerate_content_stream": "generateContent",
    "acreate_interaction": "/v1beta/interactions",
    "_arealtime": "/v1/realtime",
    "pass_through_endpoint": "pass-through",
    "allm_passthrough_route": "pass-through",
}
"""By call type, the doors whose calls may hold a conversation and pass untouched.

Threads of assistants reach no hook. A pass-through route is counted, but LiteLLM tells its answer no header.
"""
