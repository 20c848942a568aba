"""Messages that another callback changes once a deployment is chosen: what is sent, stored and summarised."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import litellm
import pytest
from litellm.integrations.custom_guardrail import CustomGuardrail
from litellm.integrations.custom_logger import CustomLogger

from tests.engine.histories import chat
from tests.engine.host import EVERY_DOOR, Host, SentCall, write
from tests.engine.rig import values

SECRET = "SECRET-4711"
SUMMARISED = {"summary": {"model": "chat"}}


def masked(value: Any) -> Any:
    """A copy without the secret."""
    if isinstance(value, str):
        return value.replace(SECRET, "[MASKED]")
    if isinstance(value, list):
        return [masked(item) for item in value]
    return {k: masked(v) for k, v in value.items()} if isinstance(value, dict) else value


def field_of(kwargs: dict[str, Any]) -> str:
    """The field that holds the messages, or items."""
    return "input" if "input" in kwargs else "messages"


def replaced(kwargs: dict[str, Any]) -> None:
    kwargs[field_of(kwargs)] = masked(kwargs[field_of(kwargs)])


def replaced_in_the_list(kwargs: dict[str, Any]) -> None:
    kwargs[field_of(kwargs)][:] = masked(kwargs[field_of(kwargs)])
    # The instructions of the two other endpoints stand in a field of their own.
    kwargs.update({name: masked(kwargs[name]) for name in ("system", "instructions") if name in kwargs})


def edited(kwargs: dict[str, Any]) -> None:
    for message in kwargs[field_of(kwargs)]:
        message["content"] = masked(message["content"])


class Mask(CustomLogger):
    """Masks what goes to one deployment."""

    def __init__(self, way: Callable[[dict[str, Any]], None] = replaced, only: str = "little") -> None:
        super().__init__()
        self.way, self.only = way, only

    async def async_pre_call_deployment_hook(self, kwargs: dict[str, Any], call_type: Any) -> Any:
        if kwargs["model_info"]["id"] == self.only:
            self.way(kwargs)
        return kwargs


class Guarding(CustomGuardrail):
    """Masks where a deployment names it; LiteLLM calls it for that deployment."""

    async def async_pre_call_hook(self, user_api_key_dict: Any, cache: Any, data: Any, call_type: Any) -> Any:
        replaced(data)
        return data


def with_secrets(length: int) -> list[Any]:
    """A conversation with secrets in its middle: the first and the last message hold none."""
    talk: list[Any] = copy.deepcopy(chat(length))
    for message in talk[4:-2]:
        message["content"] = f"{message['content']} {SECRET}"
    return talk


async def nothing_of_it_is_left(call: SentCall) -> None:
    """Neither in the store nor at the summariser."""
    await call.host.runtime.worker.drain(20.0)
    assert not any(SECRET.encode() in value for value in await values(call.host.runtime.store))
    assert SECRET not in str(call.host.summarizer.requests)


@EVERY_DOOR
class TestDeferred:
    """A hook that is known in advance: the request is decided about once that hook has run."""

    @pytest.mark.parametrize("way", [replaced, replaced_in_the_list, edited])
    @pytest.mark.parametrize("length", [31, 60])
    async def test_what_is_masked_for_a_fallback_stays_masked(
        self, hosts: Callable[..., Host], way: Callable[[dict[str, Any]], None], length: int
    ) -> None:
        host = hosts(**SUMMARISED)
        litellm.callbacks = [Mask(way), host.hook]
        call = host.call(with_secrets(length))
        await call.pre()
        assert SECRET in str(await call.sent_to())
        sent = await call.sent_to("little")
        assert SECRET not in str(sent) and len(sent) < length - 1
        assert (await call.headers() or {})["x-compaction"] == "fallback"
        await call.success()
        await nothing_of_it_is_left(call)
        assert host.summarizer.requests and "[MASKED]" in str(host.summarizer.requests)

    async def test_one_that_is_listed_behind_us_is_waited_for(self, hosts: Callable[..., Host]) -> None:
        host, mask = hosts(**SUMMARISED), Mask(only="big")
        litellm.callbacks = [host.hook, mask]
        call = host.call(with_secrets(60))
        assert await call.pre() is None and litellm.callbacks == [mask, host.hook]
        sent = await call.sent_to()
        assert SECRET not in str(sent) and len(sent) < 59
        await call.headers()
        await call.success()
        await nothing_of_it_is_left(call)
        assert host.summarizer.requests

    async def test_the_last_message_may_be_what_is_masked(self, host: Host) -> None:
        litellm.callbacks = [Mask(), host.hook]
        call = host.call([*chat(60)[:-2], {"role": "user", "content": f"Is it {SECRET}?"}])
        await call.pre()
        await call.deploy()
        sent = await call.sent_to("little")
        expected = write(call.door, [{"role": "user", "content": "Is it [MASKED]?"}])[call.field]
        assert len(sent) < 59 and sent[-1:] == expected

    async def test_a_preamble_that_is_masked_is_sent_as_it_is_masked(self, host: Host) -> None:
        litellm.callbacks = [Mask(replaced_in_the_list), host.hook]
        call = host.call([{"role": "system", "content": f"You know {SECRET}."}, *chat(60)[1:]])
        await call.pre()
        await call.deploy()
        kwargs = await call.deploy("little")
        assert len(kwargs[call.field]) < 59 and SECRET not in str(kwargs[call.field])
        told = {**kwargs, **write(call.door, [{"role": "system", "content": "You know [MASKED]."}])}
        assert {**told, call.field: None} == {**kwargs, call.field: None}
        assert call.door != "chat" or kwargs["messages"][:1] == told["messages"]

    async def test_what_a_fallback_brings_of_its_own_is_fitted_by_itself(self, host: Host) -> None:
        litellm.callbacks = [Mask(), host.hook]
        call = host.call(list(chat(60)))
        await call.pre()
        await call.deploy()
        for own in (chat(40, "own"), [{"role": "user", "content": "Only this."}]):
            own_items = write(call.door, own)[call.field]
            call.data = {**call.data, call.field: own_items}
            sent = await call.sent_to("little")
            assert sent[-1] == own_items[-1] and "chat" not in str(sent)
            assert (sent == own_items) is (len(own) == 1)

    async def test_a_fault_then_leaves_what_the_hook_left(
        self, host: Host, caplog: pytest.LogCaptureFixture
    ) -> None:
        litellm.callbacks = [Mask(), host.hook]
        call = host.call(with_secrets(60))
        await call.pre()
        await call.deploy()
        host.broken = True
        assert await call.sent_to("little") == masked(call.messages)
        assert (await call.headers() or {})["x-compaction"] == "failed"
        await call.success()
        await call.host.runtime.worker.drain(20.0)
        assert await values(host.runtime.store) == []
        assert [r.levelname for r in caplog.records] == ["ERROR"]


# Not through the other doors: LiteLLM's own guardrails of a model look at chats only.
async def test_what_a_deployment_s_own_guardrail_masks_stays_masked(hosts: Callable[..., Host]) -> None:
    host = hosts(**SUMMARISED)
    litellm.callbacks = [Guarding(guardrail_name="g", default_on=False, event_hook="pre_call"), host.hook]
    call = host.call(with_secrets(60))
    await call.pre()
    assert SECRET in str(await call.sent_to())
    sent = await call.sent_to("little", guardrails=["g"])
    assert SECRET not in str(sent) and len(sent) < 59
    await call.headers()
    await call.success()
    await nothing_of_it_is_left(call)


@EVERY_DOOR
class TestUnforeseen:
    """A hook that was not there when the request was decided about."""

    async def test_what_it_leaves_is_sent_and_nothing_is_kept(self, hosts: Callable[..., Host]) -> None:
        host = hosts(**SUMMARISED)
        call = host.call(with_secrets(60))
        await call.pre()
        assert call.state is not None and not call.state.deferred
        litellm.callbacks = [Mask(only="big"), host.hook]
        sent = await call.sent_to()
        assert sent == masked(call.sent)
        await call.headers()
        await call.success()
        await call.host.runtime.worker.drain(20.0)
        assert await values(host.runtime.store) == [] and host.summarizer.requests == []

    async def test_an_attempt_that_it_does_not_touch_is_followed(self, hosts: Callable[..., Host]) -> None:
        host = hosts(**SUMMARISED)
        call = host.call(list(chat(60)))
        await call.pre()
        litellm.callbacks = [Mask(lambda kwargs: kwargs.update(write(call.door, chat(3))), "big"), host.hook]
        await call.deploy()
        await call.deploy("little")
        await call.headers()
        await call.success()
        await call.host.runtime.worker.drain(20.0)
        assert host.summarizer.requests and await values(host.runtime.store) != []
