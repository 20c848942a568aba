"""Every answer of every door says what was done and why, also where nothing is done."""

from __future__ import annotations

import copy
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from litellm.proxy._types import UserAPIKeyAuth

from tests.engine.histories import chat
from tests.engine.host import Host
from tests.lab.endpoints import to_anthropic, to_responses

CALL_TYPES = {"chat": "acompletion", "messages": "anthropic_messages", "responses": "aresponses"}
FIELDS = {"chat": "messages", "messages": "messages", "responses": "input"}
DOORS = tuple(CALL_TYPES)
SMALL, LONG = chat(1), chat(60)
HEADERS = {"x-compaction", "x-compaction-reason"}
# By what keeps a request from being looked at: how the host is made, and what outcome and reason are told.
CASES: dict[str, tuple[dict[str, Any], str, str]] = {
    "small": ({}, "none", "below every level"),
    "streamed": ({}, "none", "below every level"),
    "the policy is off": ({"mode": "off"}, "none", "the policy is off"),
    "the key's block is unusable": ({}, "none", "the policy cannot be used: "),
    "switched off": ({}, "none", "this endpoint is switched off"),
    "bypassed": ({}, "bypassed", "the client asked for it"),
    "no window": ({}, "none", "the context window of the model is unknown"),
    "a fault of ours": ({"broken": True}, "failed", "a fault in the gateway"),
    "no messages": ({}, "none", "the request holds no messages"),
    "messages of no form": ({}, "none", ""),
    "blocked": ({}, "none", "the call ended before it was looked at"),
}


def body_of(door: str, messages: list[dict[str, Any]]) -> dict[str, Any]:
    if door == "chat":
        return {"messages": copy.deepcopy(messages)}
    return (to_anthropic if door == "messages" else to_responses)(messages)


async def told(
    host: Host, door: str, body: dict[str, Any], response: Any = "an answer", **sent: Any
) -> dict[str, str]:
    """The headers of an answer; no client's value was changed on the way."""
    logging = SimpleNamespace(model_call_details={})
    auth = UserAPIKeyAuth(api_key="hash", team_id="research", metadata=sent.get("metadata", {}))
    data = {"model": "chat", **body, "litellm_metadata": {}, "litellm_logging_obj": logging}
    data["proxy_server_request"] = {"headers": sent.get("headers", {}), "body": body}
    came = copy.deepcopy(body)
    await host.hook.async_pre_call_hook(auth, None, data, CALL_TYPES[door])
    assert {name: data[name] for name in body} == came == body
    headers = await host.hook.async_post_call_response_headers_hook(data, auth, response)
    assert headers is not None and set(headers) >= HEADERS, headers
    assert all(headers.values())
    return headers


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("case", CASES)
async def test_outcome_and_reason(hosts: Callable[..., Host], door: str, case: str) -> None:
    options, outcome, reason = CASES[case]
    sent: dict[str, Any] = {}
    body = body_of(door, SMALL)
    if case == "streamed":
        body["stream"] = True
    elif case == "the key's block is unusable":
        sent["metadata"] = {"compaction": {"mode": "no such mode"}}
    elif case == "switched off":
        options = {"endpoints": [other for other in DOORS if other != door]}
    elif case == "bypassed":
        sent["headers"] = {"x-compaction": "off"}
    elif case == "no window":
        body["model"] = "unheard-of"
    host = hosts(**options)
    if case == "blocked":
        host.hook._should_defer = lambda: True  # type: ignore[method-assign]
    if case == "no messages":
        bodies = [{**body, FIELDS[door]: value} for value in (None, [], "", 7, {}, False)]
        bodies.append({name: value for name, value in body.items() if name != FIELDS[door]})
    elif case == "messages of no form":
        bodies = [{**body, FIELDS[door]: value} for value in STRANGE]
    else:
        bodies = [body]
    for one in bodies:
        for response in ("an answer", None):
            headers = await told(host, door, one, response, **sent)
            assert headers["x-compaction"] == outcome, headers
            assert reason in headers["x-compaction-reason"], headers


STRANGE: tuple[list[Any], ...] = (
    [None],
    [7, "text"],
    [[]],
    [{}],
    [{"role": 7, "content": 7}],
    [{"role": "user", "content": [None, 7, {"type": 7}]}],
    [{"type": ["list"], "role": None}],
    [{"role": "tool", "content": {"a": "b"}}],
)


@pytest.mark.parametrize(
    ("door", "more", "reason"),
    [
        ("responses", {"previous_response_id": "resp_1"}, "the provider keeps this history"),
        ("responses", {"conversation": "conv_1"}, "the provider keeps this history"),
        (
            "responses",
            {"context_management": [{"type": "compaction"}]},
            "the request asks the provider to manage its context",
        ),
        (
            "messages",
            {"context_management": {"edits": [{"type": "clear_tool_uses_20250919"}]}},
            "the request asks the provider to manage its context",
        ),
    ],
)
@pytest.mark.parametrize("messages", [SMALL, LONG], ids=["small", "long"])
async def test_what_the_provider_keeps_or_manages(
    host: Host, door: str, more: dict[str, Any], reason: str, messages: list[dict[str, Any]]
) -> None:
    headers = await told(host, door, {**body_of(door, messages), **more})
    assert (headers["x-compaction"], headers["x-compaction-reason"]) == ("none", reason)
