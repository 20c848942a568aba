"""The hook before the call: what it takes, where it stands in line, what it leaves behind when it fails."""

from __future__ import annotations

import copy
import json
import logging
from collections.abc import Callable
from typing import Any

import litellm
import pytest
from litellm.exceptions import BadRequestError
from litellm.integrations.custom_guardrail import CustomGuardrail
from litellm.integrations.custom_logger import CustomLogger

from gateway_compaction.call_state import KEY, CallState
from gateway_compaction.hook import CompactionHook, handler, startup
from tests.engine.histories import chat
from tests.engine.host import EVERY_DOOR, Host, write
from tests.engine.rig import values

LONG = chat(60)


class Masking(CustomGuardrail):
    """A guardrail that changes what a user wrote."""

    async def async_pre_call_hook(self, user_api_key_dict: Any, cache: Any, data: Any, call_type: Any) -> Any:
        field = "input" if "input" in data else "messages"
        data[field] = json.loads(json.dumps(data[field]).replace("chat", "***"))
        return data


class Watching(CustomLogger):
    """A callback without a pre-call hook of its own."""


class TestLoading:
    """What LiteLLM loads."""

    def test_the_module_is_imported_without_any_variable(self) -> None:
        assert isinstance(handler, CompactionHook) and isinstance(handler, CustomLogger)
        assert callable(startup)

    @pytest.mark.parametrize("name", ["async_pre_call_hook", "async_post_call_response_headers_hook"])
    def test_hooks_are_defined_where_litellm_looks_for_them(self, name: str) -> None:
        assert name in vars(CompactionHook)

    def test_nothing_is_defined_that_costs_something_for_each_chunk(self) -> None:
        assert not {n for n in vars(CompactionHook) if "streaming" in n}


class TestTaking:
    """What is looked at, and what is not."""

    async def test_a_chat_completion_is_rewritten_in_place(self, host: Host) -> None:
        call = host.call(list(LONG), max_tokens=100, tools=[], user="u")
        before = {k: v for k, v in call.data.items() if k not in ("messages", "metadata")}
        assert await call.pre() is call.data
        assert len(call.data["messages"]) < len(LONG) and call.data["messages"][-1] is LONG[-1]
        assert {k: v for k, v in call.data.items() if k not in ("messages", "metadata")} == before
        savings = call.data["metadata"]["compression_savings"]
        assert savings["tokens_saved"] == savings["tokens_before"] - savings["tokens_after"] > 0
        assert savings["source"] == "gateway_compaction"

    async def test_nothing_to_do_leaves_the_data_as_it_was(self, host: Host) -> None:
        call = host.call(chat(3))
        before = dict(call.data)
        assert await call.pre() is call.data
        assert call.data == before and call.data["messages"] is call.messages
        assert "compression_savings" not in call.data["metadata"]

    @pytest.mark.parametrize("call_type", ["embedding", "aimage_generation", "moderation", "rerank", ""])
    async def test_other_calls_are_ignored(self, host: Host, call_type: str) -> None:
        call = host.call(list(LONG))
        assert await call.pre(call_type) is None
        assert call.data["messages"] is call.messages and call.state is None
        assert await call.headers() is None
        assert (await call.deploy())["messages"] is call.messages

    @pytest.mark.parametrize(
        ("call_type", "named"),
        [
            ("_aresponses_websocket", "/v1/responses (websocket)"),
            ("atext_completion", "/v1/completions"),
            ("pass_through_endpoint", "pass-through"),
        ],
    )
    async def test_clients_of_doors_that_are_not_covered_are_told(
        self, host: Host, call_type: str, named: str
    ) -> None:
        counted: list[str] = []
        host.runtime.telemetry.record_uncovered = counted.append  # type: ignore[method-assign]
        call = host.call(list(LONG))
        # However often it is listed.
        assert await call.pre(call_type) is None and await call.pre(call_type) is None
        assert call.data["messages"] is call.messages and counted == [named]
        told = await call.headers()
        assert (
            told is not None and told["x-compaction"] == "uncovered" and named in told["x-compaction-reason"]
        )
        assert (await call.deploy())["messages"] is call.messages
        await call.success()
        await call.failure(RuntimeError("of the provider"))
        assert counted == [named]

    async def test_of_a_door_that_is_not_covered_no_state_is_needed(self, host: Host) -> None:
        call = host.call(list(LONG))
        call.data["litellm_logging_obj"] = None
        assert await call.pre("atext_completion") is None and await call.headers() is None

    @pytest.mark.parametrize("call_type", ["completion", "acompletion"])
    async def test_both_names_of_a_chat_completion_are_known(self, host: Host, call_type: str) -> None:
        assert await host.call(list(LONG)).pre(call_type) is not None

    @pytest.mark.parametrize(
        "fields",
        [{"messages": None}, {"messages": []}, {"messages": "hello"}, {"litellm_logging_obj": None}],
    )
    async def test_what_is_no_conversation_is_ignored(self, host: Host, fields: dict[str, Any]) -> None:
        call = host.call(list(LONG))
        call.data |= fields
        before = dict(call.data)
        assert await call.pre() is None and call.data == before

    async def test_what_a_client_writes_into_metadata_is_no_state(self, host: Host) -> None:
        call = host.call(list(LONG))
        call.data["metadata"][KEY] = {"decision": "applied"}
        call.logging.model_call_details[KEY] = {"decision": "applied"}
        assert await call.pre() is call.data and isinstance(call.state, CallState)


@EVERY_DOOR
class TestOrder:
    """Once, and last."""

    async def test_a_call_is_looked_at_once_however_often_it_is_listed(self, host: Host) -> None:
        litellm.callbacks = [host.hook, host.hook]
        call = host.call(list(LONG))
        await call.pre()
        sent = call.sent
        assert await call.pre() is None and call.sent is sent

    async def test_a_guardrail_behind_is_waited_for_once(self, host: Host) -> None:
        masking = Masking(guardrail_name="m")
        listed: list[Any] = [host.hook, masking]
        litellm.callbacks = listed
        call = host.call(list(LONG))
        assert await call.pre() is None
        assert call.state is not None and call.state.deferred and call.state.decision is None
        assert listed[0] is host.hook and litellm.callbacks == [masking, host.hook]
        assert litellm.callbacks is not listed
        await masking.async_pre_call_hook(call.auth, None, call.data, "pre_call")
        sent = await call.sent_to()
        assert len(sent) < len(call.messages) and "chat" not in str(sent) and "***" in str(sent)
        # Whoever still iterates over the old list, and a guardrail wherever it stands, sees what was sent.
        following = host.call(list(LONG))
        assert await following.pre() is None
        assert following.state is not None and following.state.deferred

    @pytest.mark.parametrize(("behind", "deferred"), [("a_name", True), (Watching(), False)])
    async def test_who_counts_as_behind(self, host: Host, behind: Any, deferred: bool) -> None:
        litellm.callbacks = [host.hook, behind]
        call = host.call(list(LONG))
        await call.pre()
        assert call.state is not None and call.state.deferred is deferred

    async def test_not_being_listed_at_all_is_no_fault(self, host: Host) -> None:
        litellm.callbacks = [Watching()]
        assert await host.call(list(LONG)).pre() is not None

    async def test_a_guardrail_before_us_may_run_beside_the_call(self, host: Host) -> None:
        litellm.callbacks = [Masking(guardrail_name="m"), host.hook]
        call = host.call(list(LONG))
        assert await call.pre() is None and call.sent is call.messages
        assert len(await call.sent_to()) < len(call.messages)

    async def test_a_deferred_decision_is_made_once_for_all_attempts(self, host: Host) -> None:
        litellm.callbacks = [host.hook, Masking(guardrail_name="m")]
        call = host.call(list(LONG))
        await call.pre()
        first, second = await call.sent_to(), await call.sent_to()
        assert first == second and len(first) < len(call.messages)


@EVERY_DOOR
class TestDeployments:
    """The chosen deployment may be smaller."""

    async def test_a_smaller_one_gets_what_fits_it(self, host: Host) -> None:
        call = host.call(chat(31))
        await call.pre()
        assert await call.sent_to() is call.messages
        smaller = await call.sent_to("little")
        assert len(smaller) < len(call.messages) and smaller[-1] == call.messages[-1]
        assert call.state is not None and call.state.decision is not None
        assert (call.state.decision.tokens_after or 0) < 700

    async def test_a_window_that_the_policy_states_holds_for_its_own_group(
        self, hosts: Callable[..., Host]
    ) -> None:
        host = hosts(context_window=100_000)
        call = host.call(list(LONG))
        await call.pre()
        assert await call.sent_to() is call.messages
        assert len(await call.sent_to("little")) < len(call.messages)

    @pytest.mark.parametrize("mode", ["observe", "off"])
    async def test_nothing_is_fitted_unless_the_policy_enforces(
        self, hosts: Callable[..., Host], mode: str
    ) -> None:
        call = hosts(mode=mode).call(list(LONG))
        await call.pre()
        assert await call.sent_to("little") is call.messages

    async def test_every_attempt_at_it_gets_what_fits_it(self, host: Host) -> None:
        call = host.call(chat(31))
        await call.pre()
        first, second = [await call.sent_to("little") for _ in range(2)]
        assert first == second and len(first) < len(call.messages)
        # A large one afterwards gets what it would have got at once.
        assert await call.sent_to("big") == call.messages

    async def test_messages_that_a_fallback_brings_are_left_alone(self, host: Host) -> None:
        call = host.call(list(LONG))
        await call.pre()
        own = write(call.door, [{"role": "user", "content": "Only this."}])[call.field]
        call.data = {**call.data, call.field: own}
        assert await call.sent_to("little") is own

    @pytest.mark.parametrize("place", [0, None])
    async def test_nor_is_one_that_shares_only_an_end_with_the_request(
        self, host: Host, place: int | None
    ) -> None:
        call = host.call(list(LONG))
        await call.pre()
        other = write(call.door, [{"role": "user", "content": "Other."}])[call.field]
        own = [*other, *call.messages[1:]] if place == 0 else [*call.messages[2:]]
        call.data = {**call.data, call.field: own}
        assert await call.sent_to("little") is own

    async def test_an_unknown_deployment_changes_nothing(self, host: Host) -> None:
        call = host.call(chat(31))
        await call.pre()
        assert await call.sent_to("gone") is call.messages


@EVERY_DOOR
class TestFaults:
    """A fault of ours never fails the caller."""

    async def test_the_request_goes_on_unchanged_and_says_so(
        self, hosts: Callable[..., Host], caplog: pytest.LogCaptureFixture
    ) -> None:
        host = hosts(broken=True)
        call = host.call(list(LONG))
        with caplog.at_level(logging.WARNING, logger="gateway_compaction"):
            assert await call.pre() is None
        assert call.sent is call.messages
        assert [r.levelname for r in caplog.records] == ["ERROR"] and "chat 3" not in caplog.text
        assert await call.sent_to() is call.messages
        assert await call.headers() == {
            "x-compaction": "failed",
            "x-compaction-reason": "a fault in the gateway",
        }
        await call.success()
        await call.failure(BadRequestError("no", "gpt-4o", "openai"))

    async def test_a_fault_is_logged_once(
        self, hosts: Callable[..., Host], caplog: pytest.LogCaptureFixture
    ) -> None:
        call = hosts(broken=True).call(list(LONG))
        with caplog.at_level(logging.WARNING, logger="gateway_compaction"):
            await call.pre()
            await call.deploy()
        assert len(caplog.records) == 1

    async def test_the_next_call_is_none_the_worse(self, hosts: Callable[..., Host]) -> None:
        host = hosts(broken=True)
        await host.call(list(LONG)).whole()
        host.broken = False
        told = await host.call(list(LONG)).whole()
        assert told is not None and told["x-compaction"] == "fallback"


@EVERY_DOOR
class TestState:
    """What travels with a call."""

    async def test_it_survives_a_deep_copy_and_shows_nothing(self, host: Host) -> None:
        call = host.call(list(LONG))
        await call.pre()
        copied = copy.deepcopy(call.logging.model_call_details)
        assert copied[KEY] is call.state
        assert repr(call.state) == "<CallState fallback>"
        assert repr(CallState(None)) == "<CallState None>"

    async def test_nothing_is_stored_before_the_answer_goes(self, host: Host) -> None:
        call = host.call(list(LONG))
        await call.pre()
        await call.deploy()
        await host.runtime.worker.drain(5.0)
        assert await values(host.runtime.store) == []
