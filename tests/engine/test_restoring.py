"""A new conversation begins where another ended: through our hooks, as LiteLLM calls them."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import litellm
import pytest
from litellm.proxy._types import ProxyException, UserAPIKeyAuth
from litellm.types.utils import ModelResponse

from gateway_compaction.archive import Owner, Scope
from gateway_compaction.core.pins.pins import collect_pins
from gateway_compaction.core.records.compaction import SessionRef
from gateway_compaction.core.text.provenance import source_role
from gateway_compaction.engine.restoring import HEADER, may_restore
from gateway_compaction.errors import StoreError
from tests.engine.host import Host, SentCall

# Pydantic warns of types of LiteLLM when they are first built.
pytestmark = pytest.mark.filterwarnings("ignore:Item")
ANN = UserAPIKeyAuth(api_key="ann", team_id="research")
BOB = UserAPIKeyAuth(api_key="bob", team_id="research")
OTHER = UserAPIKeyAuth(api_key="ann", team_id="sales")
SYSTEM = {"role": "system", "content": "You are brief."}
# A conversation is known by its first four messages.
DAY_ONE = [
    SYSTEM,
    {"role": "user", "content": "Hello."},
    {"role": "assistant", "content": "Hello, Ann."},
    {"role": "user", "content": "Mend src/app/parse.py. Always answer in French."},
    {"role": "assistant", "content": "We decided to keep the old API."},
    {"role": "user", "content": "Good. And the tests?"},
]
FIRST = [SYSTEM, {"role": "user", "content": "Where were we yesterday?"}]


def says(text: Any, **more: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": text, **more}


@pytest.fixture
def make(hosts: Callable[..., Host]) -> Callable[..., Host]:
    """Makes hosts that record every call with its messages."""
    return lambda **more: hosts(**{"note": "all", "storage": {"content": "full"}, **more})


async def play(
    host: Host, messages: list[Any], answer: dict[str, Any], **how: Any
) -> tuple[list[Any], SentCall]:
    """One call and its answer; the messages that the upstream got."""
    litellm.callbacks = [host.hook]
    call = host.call(messages, auth=how.pop("auth", ANN), **how)
    await call.pre()
    sent = (await call.deploy())["messages"]
    call.told = await call.headers()  # type: ignore[attr-defined]
    response = SimpleNamespace(
        usage=SimpleNamespace(prompt_tokens=None), model_dump=lambda: {"choices": [{"message": answer}]}
    )
    await host.hook.async_log_success_event(call.logging.model_call_details, response, None, None)
    await host.runtime.worker.drain(20.0)
    return sent, call


async def restored(host: Host, **how: Any) -> tuple[list[Any], SentCall]:
    """Work on day one under a label, and the first call of the day after."""
    await play(host, DAY_ONE, says("All green."), headers={"x-session-id": "day-1"})
    return await play(host, FIRST, says("At parse.py."), headers={HEADER: "day-1"}, **how)


async def test_the_first_call_begins_with_the_block_and_later_ones_with_the_same_bytes(
    make: Callable[..., Host],
) -> None:
    host = make()
    sent, call = await restored(host)
    assert [m["role"] for m in sent] == ["system", "user", "assistant", "user"]
    assert sent[0] == SYSTEM and sent[3] == FIRST[1] and sent[2]["content"] == "OK."
    for told in ("keep the old API", "src/app/parse.py", "Always answer in French.", "And the tests?"):
        assert told in sent[1]["content"]
    assert call.told["x-conversation-restored"].startswith("conversation ")  # type: ignore[attr-defined]
    history = [*FIRST, says(" At  parse.py. "), {"role": "user", "content": "Go on."}]
    # The answer comes back trimmed, and nobody asks for the block again.
    second, _ = await play(host, history, says("Done."))
    assert second[:3] == sent[:3] and second[3:] == history[1:]
    third, _ = await play(host, [*history, says("Done."), {"role": "user", "content": "And now?"}], says("x"))
    assert third[:3] == sent[:3]


async def test_another_replica_and_a_client_that_asks_each_time_get_the_same_bytes(
    make: Callable[..., Host],
) -> None:
    host, other = make(), make()
    sent, _ = await restored(host)
    other.runtime.restorer._store = host.runtime.store
    await play(host, DAY_ONE, says("Changed since."), headers={"x-session-id": "day-1"})
    history = [*FIRST, says("At parse.py."), {"role": "user", "content": "Go on."}]
    other.runtime.restorer.set_tenants((await host.runtime.store.notices()).restoring)
    second, _ = await play(other, history, says("y"))
    assert second[:3] == sent[:3]
    asked, _ = await play(other, history, says("y"), headers={HEADER: "day-1"})
    assert asked[:3] == sent[:3]


async def test_a_conversation_that_did_not_ask_is_told_nothing(make: Callable[..., Host]) -> None:
    host = make()
    await restored(host)
    same, _ = await play(host, FIRST, says("Nowhere."))
    assert same == FIRST
    alike = [*FIRST, says("At parse.py."), {"role": "user", "content": "Go on."}]
    assert (await play(host, alike, says("x"), auth=BOB))[0] == alike
    history = [*FIRST, says("Nowhere."), {"role": "user", "content": "Go on."}]
    assert (await play(host, history, says("x")))[0] == history


async def test_a_label_finds_it_where_the_answer_cannot(make: Callable[..., Host]) -> None:
    host = make()
    await play(host, DAY_ONE, says("All green."), headers={"x-session-id": "day-1"})
    asked = {HEADER: "day-1", "x-session-id": "day-2"}
    sent, _ = await play(host, FIRST, {"role": "nobody"}, headers=asked)
    history = [*FIRST, says("what the client made of it"), {"role": "user", "content": "Go on."}]
    second, _ = await play(host, history, says("x"), headers={"x-session-id": "day-2"})
    assert second[:3] == sent[:3]
    elsewhere, _ = await play(host, history, says("x"), headers={"x-session-id": "day-2"}, auth=BOB)
    assert elsewhere == history


@pytest.mark.parametrize(
    ("auth", "name"),
    [(BOB, "day-1"), (OTHER, "day-1"), (ANN, "day-9"), (ANN, "{x}*"), (OTHER, "id"), (BOB, "id")],
)
async def test_what_is_not_there_or_not_its_own_is_refused_alike(
    make: Callable[..., Host], auth: UserAPIKeyAuth, name: str
) -> None:
    host = make()
    _, call = await restored(host)
    assert call.state is not None and call.state.restored is not None
    session_id = call.state.restored.block.session
    if auth is ANN:
        assert (await play(host, FIRST, says("x"), headers={HEADER: session_id}))[0] != FIRST
    wanted = session_id if name == "id" else name
    with pytest.raises(ProxyException) as refused:
        await host.call(FIRST, auth=auth, headers={HEADER: wanted}).pre()
    error = refused.value.to_dict()
    assert (refused.value.code, error["param"], error["type"]) == ("404", HEADER, "invalid_request_error")
    assert error["message"] == f"there is no conversation {wanted!r} that this key may go on from"


@pytest.mark.parametrize(
    ("defaults", "why"),
    [
        ({"mode": "observe"}, "the policy only observes"),
        ({"mode": "off"}, "the policy is off"),
        ({"endpoints": ["messages"]}, "this endpoint is switched off"),
        ({"restore": {"allow": False}}, "the policy does not allow it"),
    ],
)
async def test_where_a_policy_says_no_the_client_is_told(
    make: Callable[..., Host], defaults: dict[str, Any], why: str
) -> None:
    sent, call = await play(make(**defaults), FIRST, says("x"), headers={HEADER: "day-1"})
    assert sent == FIRST
    assert call.told["x-conversation-restored"] == f"no: {why}"  # type: ignore[attr-defined]


async def test_without_a_store_the_call_goes_on_and_the_client_is_told(make: Callable[..., Host]) -> None:
    host = make()

    async def fail(*_: Any) -> Any:
        raise StoreError("down")

    host.runtime.store.find_labelled = fail  # type: ignore[method-assign]
    sent, call = await play(host, FIRST, says("x"), headers={HEADER: "day-1"})
    assert sent == FIRST
    assert call.told["x-conversation-restored"] == "no: the store does not answer"  # type: ignore[attr-defined]


async def test_a_kept_conversation_begins_with_the_block_and_does_not_keep_it(
    make: Callable[..., Host],
) -> None:
    host = make(conversation={"keep": "gateway", "parallel": "wait"})
    await play(host, DAY_ONE, says("All green."), headers={"x-session-id": "day-1"})

    async def ask(*new: Any, **headers: str) -> tuple[list[Any], SentCall]:
        call = host.call([*new], auth=ANN, headers={k.replace("_", "-"): v for k, v in headers.items()})
        await call.pre()
        sent = (await call.deploy())["messages"]
        response = ModelResponse(choices=[{"index": 0, "finish_reason": "stop", "message": says("Here.")}])
        call.told = await call.headers(response)  # type: ignore[attr-defined]
        await host.hook.async_log_success_event(call.logging.model_call_details, response, None, None)
        await host.runtime.worker.drain(20.0)
        return sent, call

    sent, call = await ask(*FIRST, x_conversation_restore="day-1")
    told: dict[str, str] = call.told  # type: ignore[attr-defined]
    assert [m["role"] for m in sent] == ["system", "user", "assistant", "user"]
    assert "keep the old API" in sent[1]["content"] and sent[3] == FIRST[1]
    assert told["x-conversation-restored"].startswith("conversation ")
    named, history = told["x-conversation-id"], [FIRST[1]]
    for number in range(2):
        new = {"role": "user", "content": f"Go on, {number}."}
        history += [says("Here."), new]
        later, call = await ask(new, x_conversation_id=named)
        assert later == [*sent[:3], *history]
        assert call.state is not None and call.state.kept is not None
        assert call.state.kept.placement.before == tuple(history[:-1])
    _, other = await ask(*FIRST)
    named = other.told["x-conversation-id"]  # type: ignore[attr-defined]
    refused = host.call(FIRST[1:], auth=ANN, headers={"x-conversation-id": named, HEADER: "day-9"})
    with pytest.raises(ProxyException):
        await refused.pre()
    await host.hook.async_post_call_failure_hook(refused.data, Exception(), ANN)
    assert (await ask(FIRST[1], x_conversation_id=named))[0] == [*FIRST, says("Here."), FIRST[1]]
    await host.runtime.conversations.aclose()


@pytest.mark.parametrize("fault", [RuntimeError("a fault of ours"), StoreError("down")])
async def test_a_fault_of_ours_leaves_the_call_as_it_came(
    make: Callable[..., Host], monkeypatch: pytest.MonkeyPatch, fault: Exception
) -> None:
    host = make()

    async def fail(*_: Any) -> Any:
        raise fault

    monkeypatch.setattr(host.runtime.restorer, "find", fail)
    sent, call = await play(host, FIRST, says("x"), headers={HEADER: "day-1"})
    assert sent == FIRST
    assert call.told["x-conversation-restored"].startswith("no: ")  # type: ignore[attr-defined]
    assert call.told["x-compaction"] == "none"  # type: ignore[attr-defined]


async def test_what_was_erased_is_told_to_nobody(make: Callable[..., Host]) -> None:
    host = make()
    _, call = await restored(host)
    assert call.state is not None and call.state.restored is not None
    block = call.state.restored.block
    tenant, _, key = block.session.partition(".")
    await host.runtime.archive.forget(Scope(everything=True), SessionRef(tenant, key))
    await host.runtime.notice_poller.poll()
    history = [*FIRST, says("At parse.py."), {"role": "user", "content": "Go on."}]
    assert (await play(host, history, says("x")))[0] == history


async def test_the_block_is_nobodys_task_and_lays_down_no_rules(make: Callable[..., Host]) -> None:
    sent, _ = await restored(make())
    pins = collect_pins(sent[1:], 100, 100, lambda text: len(text.split()))
    assert pins.task == "Where were we yesterday?" and pins.rules == ()
    assert source_role(sent[1]) == "tool"


@pytest.mark.parametrize(
    ("owner", "about", "may"),
    [
        (Owner(key_hash="a"), {"key_hash": "a"}, True),
        (Owner(key_hash="a"), {"key_hash": "b"}, False),
        (Owner(key_hash="a", user_id="u"), {"key_hash": "b", "user_id": "u"}, True),
        (Owner(user_id="u"), {}, False),
        (Owner(team_id="t"), {"key_hash": "a"}, False),
        (Owner(team_id="t"), {}, True),
    ],
)
def test_within_a_tenant_keys_keep_to_their_own(owner: Owner, about: dict[str, str], may: bool) -> None:
    assert may_restore(owner, about) is may
