"""The hook after the call: what follows, when, and how the call is told apart; what the client is told."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable
from typing import Any

import httpx
import litellm
import pytest
from litellm.exceptions import (
    APIError,
    BadRequestError,
    ContextWindowExceededError,
    ServiceUnavailableError,
    UnprocessableEntityError,
)
from litellm.integrations.custom_guardrail import CustomGuardrail
from litellm.proxy._types import UserAPIKeyAuth

from gateway_compaction import hook
from gateway_compaction.call_state import KEY
from tests.engine.histories import chat
from tests.engine.host import BIG, EVERY_DOOR, Host, SentCall, proxy_server
from tests.engine.rig import events, values
from tests.lab.waiting import until

LONG = chat(60)


async def recorded(call: SentCall) -> list[dict[str, Any]]:
    """Events of the call's session, once the background is done."""
    await call.host.runtime.worker.drain(10.0)
    assert call.state is not None and call.state.decision is not None
    session = call.state.decision.session
    assert session is not None
    return await events(call.host.runtime.store, session)


def bad_request(kind: type[Exception] = BadRequestError) -> Exception:
    """A refusal as LiteLLM raises it."""
    made: Exception = kind(message="refused", model="gpt-4o", llm_provider="openai")  # type: ignore[call-arg]
    return made


def refusal(status: int) -> Exception:
    """Another refusal, as LiteLLM raises it: with a class of its own for 422 only."""
    response = httpx.Response(status, request=httpx.Request("POST", "http://localhost"))
    if status == 422:
        return UnprocessableEntityError("refused", "gpt-4o", "openai", response)
    return APIError(status, "refused", "openai", "gpt-4o")


def unavailable() -> Exception:
    """A provider that is down."""
    response = httpx.Response(503, request=httpx.Request("POST", "http://localhost"))
    return ServiceUnavailableError("down", "openai", "gpt-4o", response)


@EVERY_DOOR
class TestFollowing:
    """Both must have happened: the answer is known, and it was let go."""

    async def test_first_logged_then_let_go(self, host: Host) -> None:
        call = host.call(list(LONG))
        await call.pre()
        await call.success()
        assert await recorded(call) == []
        await call.headers()
        assert next(iter(await recorded(call)))["type"] == "request"

    async def test_first_let_go_then_logged_as_a_stream_is(self, host: Host) -> None:
        call = host.call(list(LONG))
        await call.pre()
        await call.headers()
        assert await recorded(call) == []
        await call.success()
        assert await recorded(call) != []

    async def test_an_answer_that_is_held_back_leaves_nothing(self, host: Host) -> None:
        call = host.call(list(LONG))
        await call.pre()
        await call.success()
        await call.headers(response=None)
        assert await recorded(call) == [] and await values(host.runtime.store) == []

    async def test_it_follows_once(self, host: Host) -> None:
        call = host.call(list(LONG))
        await call.pre()
        for _ in range(3):
            await call.headers()
            await call.success()
        assert len([e for e in await recorded(call) if e["type"] == "request"]) == 1

    async def test_it_returns_before_the_summary_is_made(self, hosts: Callable[..., Host]) -> None:
        host = hosts(summary={"model": "chat"})
        host.summarizer.gate.clear()
        call = host.call(list(LONG))
        async with asyncio.timeout(5):
            await call.pre()
            await call.headers()
            await call.success()
        await until(lambda: host.summarizer.running, "the summary")
        host.summarizer.gate.set()
        assert [e["outcome"] for e in await recorded(call)] == ["fallback", "made"]

    async def test_a_call_of_our_own_is_not_ours_to_follow(self, host: Host) -> None:
        call = host.call(list(LONG))
        forged: dict[str, Any] = {KEY: {"decision": "applied"}}
        await call.success()
        await call.failure(bad_request())
        await call.success(None, **forged)
        await host.runtime.worker.drain(5.0)
        assert call.state is None and await values(host.runtime.store) == []

    async def test_the_provider_s_usage_calibrates(self, host: Host) -> None:
        for messages in (chat(20), chat(26)):
            call = host.call(messages)
            await call.pre()
            await call.headers()
            counted = host.runtime.counter.raw_prompt_tokens(messages, {}, BIG)
            await call.success(prompt_tokens=int(counted * 1.4))
            await host.runtime.worker.drain(5.0)
        assert host.runtime.counter.calibration.factor(BIG) > 1.05


@EVERY_DOOR
class TestUnlogged:
    """LiteLLM calls no success event for a request with ``no-log``."""

    async def test_the_next_call_begins_with_the_same_bytes(self, hosts: Callable[..., Host]) -> None:
        host = hosts(summary={"model": "chat"})
        before: list[Any] = []
        for length in (60, 62, 64):
            call = host.call(chat(length))
            await call.pre()
            told = await call.headers()
            sent = call.sent
            assert told is not None and sent[: len(before)] == before and len(sent) < length - 1
            assert told["x-compaction"] == ("applied" if before else "fallback")
            before = sent
        await host.runtime.worker.drain(5.0)
        assert await values(host.runtime.store) == [] and host.summarizer.requests == []

    async def test_of_a_blocked_answer_nothing_is_kept(self, host: Host) -> None:
        for _ in range(2):
            call = host.call(list(LONG))
            await call.pre()
            told = await call.headers(response=None)
            assert told is not None and told["x-compaction"] == "fallback"

    @pytest.mark.parametrize(("hook", "kept"), [("pre_call", True), ("post_call", False)])
    async def test_nor_of_a_stream_that_may_still_be_blocked(self, host: Host, hook: Any, kept: bool) -> None:
        litellm.callbacks = [CustomGuardrail(guardrail_name="g", event_hook=hook), host.hook]
        for outcome in ("fallback", "applied" if kept else "fallback"):
            call = host.call(list(LONG), stream=True)
            await call.pre()
            await call.deploy()
            told = await call.headers()
            assert told is not None and told["x-compaction"] == outcome

    async def test_nor_of_messages_that_another_hook_has_changed(self, host: Host) -> None:
        for _ in range(2):
            call = host.call(list(LONG))
            await call.pre()
            assert call.state is not None
            call.state.altered = True
            told = await call.headers()
            assert told is not None and told["x-compaction"] == "fallback"


@EVERY_DOOR
class TestEndings:
    """How a call ended."""

    @pytest.mark.parametrize(
        ("details", "told"),
        [
            ({"cache_hit": True}, "cached"),
            ({"litellm_params": {"metadata": {"client_disconnected": True}}}, "disconnected"),
            ({"cache_hit": False, "litellm_params": None}, None),
        ],
    )
    async def test_answers(self, host: Host, details: dict[str, Any], told: str | None) -> None:
        call = host.call(list(LONG))
        await call.pre()
        await call.headers()
        await call.success(**details)
        event = next(e for e in await recorded(call) if e["type"] == "request")
        assert event["reason"].endswith(f"; {told}" if told else "without a model")

    @pytest.mark.parametrize("status", [400, 422])
    async def test_a_refused_rewrite_costs_that_one_call(self, host: Host, status: int) -> None:
        call = host.call(list(LONG))
        await call.pre()
        await call.failure(bad_request() if status == 400 else refusal(status))
        assert (await recorded(call))[0]["reason"].endswith("; refused")
        following = host.call(list(LONG))
        await following.pre()
        assert following.sent is following.messages
        told = await following.headers()
        assert told is not None and told["x-compaction"] == "bypassed"

    async def test_so_does_one_that_is_refused_at_the_second_attempt(self, host: Host) -> None:
        call = host.call(list(LONG))
        await call.pre()
        await call.failure(unavailable())
        await call.failure(bad_request())
        await host.runtime.worker.drain(5.0)
        following = host.call(list(LONG))
        await following.pre()
        assert following.sent is following.messages

    @pytest.mark.parametrize("status", [400, 413])
    async def test_too_long_is_no_reason_to_send_more(self, host: Host, status: int) -> None:
        call = host.call(list(LONG))
        await call.pre()
        await call.failure(bad_request(ContextWindowExceededError) if status == 400 else refusal(status))
        await host.runtime.worker.drain(5.0)
        assert host.runtime.counter.calibration.factor(BIG) == 1.0
        following = host.call(list(LONG))
        await following.pre()
        assert len(following.sent) < len(following.messages)

    async def test_an_attempt_that_fails_is_not_ours_to_note(self, host: Host) -> None:
        call = host.call(list(LONG))
        await call.pre()
        await call.failure(unavailable())
        assert await recorded(call) == [] and await values(host.runtime.store) == []
        await call.headers()
        await call.success()
        assert [e["type"] for e in await recorded(call)].count("request") == 1

    async def test_a_guardrail_that_blocks_leaves_nothing(self, host: Host) -> None:
        call = host.call(list(LONG))
        await call.pre()
        await call.failure(ValueError("blocked by a guardrail"))
        assert await recorded(call) == [] and await values(host.runtime.store) == []


class TestHeaders:
    """What the client is told."""

    async def test_of_a_rewritten_request(self, host: Host) -> None:
        told = await host.call(list(LONG)).whole()
        assert told is not None
        session = told.pop("x-compaction-session")
        before, after = (int(told.pop(f"x-compaction-tokens-{when}")) for when in ("before", "after"))
        assert len(session) >= 32 and before > 3_000 > 2_000 > after
        told.pop("x-compaction-version", None)
        assert told == {
            "x-compaction": "fallback",
            "x-compaction-reason": "made to fit without a model",
            "x-compaction-level": "aggressive",
        }

    async def test_of_an_untouched_one(self, host: Host) -> None:
        assert await host.call(chat(1)).whole() == {
            "x-compaction": "none",
            "x-compaction-reason": "below every level",
        }

    async def test_of_one_that_only_was_observed(self, hosts: Callable[..., Host]) -> None:
        told = await hosts(mode="observe").call(list(LONG)).whole()
        assert told is not None and told["x-compaction"] == "observed"
        assert told["x-compaction-reason"].startswith("would be compacted at once: ")
        assert "x-compaction-version" not in told

    async def test_of_one_that_asked_to_be_left_alone(self, host: Host) -> None:
        call = host.call(list(LONG), headers={"X-Compaction": "off"})
        told = await call.whole()
        assert told == {"x-compaction": "bypassed", "x-compaction-reason": "the client asked for it"}
        assert call.sent is call.messages

    async def test_a_header_is_one_line_of_ascii(self, host: Host) -> None:
        call = host.call(list(LONG))
        await call.pre()
        assert call.state is not None and call.state.decision is not None
        session = call.state.decision.session
        assert session is not None
        await host.runtime.store.bypass(session, "größer\r\nx-evil: 1" + "x" * 500, 60)
        following = host.call(list(LONG))
        await following.pre()
        told = await following.headers()
        assert told is not None
        assert told["x-compaction-reason"].startswith("gr??er??x-evil: 1xx")
        assert len(told["x-compaction-reason"]) <= 200

    async def test_two_teams_are_told_of_two_sessions(self, host: Host) -> None:
        other = UserAPIKeyAuth(api_key="hash", team_id="support")
        first, second = await host.call(list(LONG)).whole(), await host.call(list(LONG), auth=other).whole()
        assert first is not None and second is not None
        assert first["x-compaction"] == second["x-compaction"] == "fallback"


class TestProcess:
    """Start and stop."""

    async def test_shutdown_finishes_our_work_first(
        self, hosts: Callable[..., Host], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        order: list[str] = []

        async def shutdown(*args: Any) -> None:
            order.append("LiteLLM")

        monkeypatch.setattr(proxy_server, "proxy_shutdown_event", shutdown)
        host = hosts(summary={"model": "chat"})
        host.summarizer.gate.clear()
        call = host.call(list(LONG))
        await call.pre()
        await call.headers()
        await call.success()
        await until(lambda: host.summarizer.running, "the summary")

        def answer() -> None:
            order.append("summary")
            host.summarizer.gate.set()

        asyncio.get_running_loop().call_later(0.2, answer)
        await proxy_server.proxy_shutdown_event()
        assert order == ["summary", "LiteLLM"] and host.runtime.worker.counts["made"] == 1

    async def test_it_starts_once(self, host: Host) -> None:
        host.hook.start()
        wrapped = proxy_server.proxy_shutdown_event
        host.hook.start()
        await host.call(list(LONG)).whole()
        assert proxy_server.proxy_shutdown_event is wrapped

    async def test_languages_are_made_ready_on_a_thread(
        self, host: Host, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A request that is the first in its language would wait until its patterns are compiled."""
        threads: list[threading.Thread] = []
        monkeypatch.setattr(hook, "compile_grammars", lambda: threads.append(threading.current_thread()))
        host.hook.start()
        await until(lambda: threads, "the grammars")
        assert threads[0] is not threading.current_thread()

    async def test_factors_that_others_learned_are_taken_over(
        self, host: Host, caplog: pytest.LogCaptureFixture
    ) -> None:
        await host.runtime.store.save_factor("claude-x", 1.44)
        host.hook.start()
        calibration = host.runtime.counter.calibration
        await until(lambda: calibration.factor("claude-x") == 1.44, "the factor")

    async def test_nothing_that_is_logged_holds_a_message(
        self, hosts: Callable[..., Host], caplog: pytest.LogCaptureFixture
    ) -> None:
        with caplog.at_level(logging.DEBUG, logger="gateway_compaction"):
            for broken in (False, True):
                await hosts(broken=broken).call(list(LONG)).whole()
        assert "chat 5" not in caplog.text and "<conversation_summary>" not in caplog.text
