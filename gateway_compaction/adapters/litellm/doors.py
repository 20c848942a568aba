"""The doors of LiteLLM's proxy through which conversations come, and which of them compaction covers.

A client of a door that is not covered gets no error and no compaction, so nobody would notice: its answers
say so in a header, a metric counts them, and ``doctor`` lists the doors.

Relies on LiteLLM 1.108: the call types that the proxy hands to ``async_pre_call_hook``. A door that gets
another name there is not told of any more; nothing else changes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gateway_compaction.core.endpoints.wire import EndpointName

COVERED = ("/v1/chat/completions", "/v1/messages", "/v1/responses")
"""The paths of the doors that are covered."""

ENDPOINTS: Mapping[str, EndpointName] = {
    "completion": "chat",
    "acompletion": "chat",
    "anthropic_messages": "messages",
    "responses": "responses",
    "aresponses": "responses",
}
"""By LiteLLM's call type, the endpoint whose form a body has; no other call is compacted.

To cover another door:

1. Move its call types from ``UNCOVERED`` to here, and name its path in ``COVERED``.
2. Write a reader of its bodies beside those of ``core.endpoints``, and name it in ``READERS`` and
   ``find_endpoint`` of ``core.endpoints.read`` (replays find the endpoint of a recording by its form) and in
   ``EndpointName`` of ``core.endpoints.wire``. Policies then take the name; the default of ``endpoints`` in
   ``core.policy.model`` says whether they look at its requests unasked.
3. Where its messages are in another field than ``messages``, say so in ``WireConversation.field``, in
   ``call_state.field_of``, ``call_state.holds_messages`` and ``cli.recordings``, or its calls pass untouched.
4. Name LiteLLM's function for it in ``ask_again.FUNCTIONS``, or a refusal for length reaches the client;
   ``call_state.ending_of`` reads how such a call ended.
5. Run tests/e2e/test_doors.py once more for it, with a writer of its bodies in tests/lab/endpoints.py.
"""

UNCOVERED = {
    "_aresponses_websocket": "/v1/responses (websocket)",
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


def endpoint_of(call_type: Any) -> EndpointName | None:
    """Return the endpoint of a LiteLLM call type, a string or a member of its enumeration, or None."""
    return ENDPOINTS.get(str(getattr(call_type, "value", call_type)))
