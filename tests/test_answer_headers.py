"""What is added to the answers of LiteLLM's application, and when nothing is."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from types import ModuleType, SimpleNamespace
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from gateway_compaction.adapters.litellm import answer_headers
from gateway_compaction.adapters.litellm.answer_headers import AnswerHeaders, find_call, install, note_call
from gateway_compaction.adapters.litellm.doors import COVERED
from gateway_compaction.call_state import CallState, EmptyCall, UncoveredCall, describe_call

CHAT = "/v1/chat/completions"
SAID = {"x-compaction": "none", "x-compaction-reason": "noted"}


def describe(call: Any) -> Mapping[str, str] | None:
    """Headers that name what was noted; of a fault none."""
    if call == "fault":
        raise RuntimeError("a fault of ours")
    return SAID if call == "noted" else {"x-compaction": "none"} if call is None else None


async def answer(request: Request) -> Response:
    """Do what the query asks for: note, fail, stream, or say something already."""
    asked = request.query_params
    if "note" in asked:
        note_call(asked["note"])
        assert find_call() == asked["note"]
    if "fail" in asked:
        raise HTTPException(int(asked["fail"]))
    if "stream" in asked:

        async def parts() -> Any:
            note_call("fault")
            yield "a"
            yield "b"

        return StreamingResponse(parts())
    return PlainTextResponse("ab", headers={"x-compaction": "applied"} if "own" in asked else None)


@pytest.fixture
def app(monkeypatch: pytest.MonkeyPatch) -> Iterator[Starlette]:
    """An application like LiteLLM's, that is already running when headers are installed."""
    app = Starlette(routes=[Route("/{path:path}", answer, methods=["GET", "POST"])])
    app.middleware_stack = app.build_middleware_stack()
    module = ModuleType(answer_headers.PROXY)
    module.__dict__["app"] = app
    monkeypatch.setitem(sys.modules, answer_headers.PROXY, module)
    install(describe)
    yield app


async def ask(app: Any, path: str, method: str = "POST") -> httpx.Response:
    """One request to the application."""
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://gateway") as client:
        return await client.request(method, path)


def told(response: httpx.Response) -> dict[str, str]:
    """The headers of ours that an answer has."""
    return {name: value for name, value in response.headers.items() if name.startswith("x-compaction")}


@pytest.mark.parametrize("how", ["", "&fail=400", "&fail=500", "&stream=1"])
@pytest.mark.parametrize("path", [CHAT, "/anthropic/v1/messages", "/v1/embeddings"])
async def test_what_was_noted_is_said_on_every_answer(app: Starlette, path: str, how: str) -> None:
    response = await ask(app, f"{path}?note=noted{how}")
    assert told(response) == SAID
    assert response.status_code == (int(how[-3:]) if "fail" in how else 200)
    assert "fail" in how or response.text == "ab"


@pytest.mark.parametrize(
    ("path", "method", "is_covered"),
    [
        (CHAT, "POST", True),
        ("/chat/completions", "POST", True),
        ("/openai/deployments/gpt-4o/chat/completions", "POST", True),
        ("/v1/messages", "POST", True),
        ("/v1/responses", "POST", True),
        ("/openai/v1/responses", "POST", True),
        ("/v1/messages/count_tokens", "POST", False),
        ("/anthropic/v1/messages", "POST", False),
        ("/v1/responses/resp_1", "GET", False),
        (CHAT, "GET", False),
        ("/v1/embeddings", "POST", False),
    ],
)
async def test_a_covered_door_says_something_of_calls_that_met_no_hook(
    app: Starlette, path: str, method: str, is_covered: bool
) -> None:
    assert bool(told(await ask(app, f"{path}?fail=401", method))) is is_covered


async def test_what_an_answer_says_itself_is_left(app: Starlette) -> None:
    assert told(await ask(app, f"{CHAT}?note=noted&own=1")) == {"x-compaction": "applied"}


async def test_one_call_knows_nothing_of_another(app: Starlette) -> None:
    await ask(app, f"{CHAT}?note=noted")
    assert told(await ask(app, f"{CHAT}?fail=401")) == {"x-compaction": "none"}
    assert find_call() is None
    note_call("noted")
    assert find_call() is None, "noted where no request is answered"


@pytest.mark.parametrize("call", ["fault", "unknown"])
async def test_a_fault_of_ours_leaves_the_answer_as_it_is(app: Starlette, call: str) -> None:
    response = await ask(app, f"{CHAT}?note={call}")
    assert (response.status_code, response.text, told(response)) == (200, "ab", {})


async def test_what_is_no_request_passes() -> None:
    seen = []

    async def inner(scope: Any, receive: Any, send: Any) -> None:
        seen.append((scope["type"], find_call()))

    await AnswerHeaders(inner, describe)({"type": "lifespan"}, None, inner)  # type: ignore[arg-type]
    assert seen == [("lifespan", None)]


def test_it_is_installed_once(app: Starlette) -> None:
    first = app.router.middleware_stack
    install(describe)
    assert app.router.middleware_stack is first and isinstance(first, AnswerHeaders)


def test_an_application_of_another_form_is_left_alone(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.delitem(sys.modules, answer_headers.PROXY, raising=False)
    install(describe)
    assert not caplog.records
    module = SimpleNamespace(app=SimpleNamespace(router=SimpleNamespace()))
    monkeypatch.setitem(sys.modules, answer_headers.PROXY, module)  # type: ignore[arg-type]
    install(describe)
    assert "middleware_stack" in caplog.text and not vars(module.app.router)


@pytest.mark.parametrize(
    ("call", "outcome", "reason"),
    [
        (None, "none", "the call ended before it was looked at"),
        (CallState(auth=None), "none", "the call ended before it was looked at"),
        (CallState(auth=None, failed=True), "failed", "a fault in the gateway"),
        (EmptyCall(), "none", "the request holds no messages"),
        (UncoveredCall("pass-through"), "uncovered", "calls of pass-through are not covered"),
    ],
)
def test_every_kind_of_call_has_an_outcome_and_a_reason(call: Any, outcome: str, reason: str) -> None:
    headers = describe_call(call, COVERED) or {}
    assert headers["x-compaction"] == outcome and headers["x-compaction-reason"].startswith(reason)
