"""Conversations that the gateway keeps, through the hooks: a client sends only what is new."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import litellm
import pytest
from litellm.proxy._types import ProxyException, UserAPIKeyAuth
from litellm.types.utils import ModelResponse, ModelResponseStream

from gateway_compaction.adapters.litellm.kept_streams import KeptStreams
from gateway_compaction.archive import Scope
from gateway_compaction.core.records.compaction import SessionRef
from gateway_compaction.errors import NotFound, StoreError
from tests.core.redaction.shapes import SHAPES
from tests.engine.host import Host, SentCall

# Pydantic warns of types of LiteLLM when they are first built.
pytestmark = pytest.mark.filterwarnings("ignore:Item")
KEPT: dict[str, Any] = {"conversation": {"keep": "gateway"}, "storage": {"content": "full"}}
SYSTEM = {"role": "system", "content": "Be brief."}


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def said(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


def answer(text: str | None, **fields: Any) -> ModelResponse:
    message = {"role": "assistant", "content": text, **fields}
    return ModelResponse(choices=[{"index": 0, "finish_reason": "stop", "message": message}])


def chunks(text: str) -> list[ModelResponseStream]:
    pieces = [{"role": "assistant", "content": text[:3]}, {"content": text[3:]}, {}]
    return [
        ModelResponseStream(
            choices=[{"index": 0, "delta": piece, "finish_reason": None if piece else "stop"}]
        )
        for piece in pieces
    ]


@pytest.fixture
def host(hosts: Callable[..., Host]) -> Host:
    return hosts(**KEPT)


class Talk:
    """A client of ten lines: it knows its id, and sends what is new."""

    def __init__(self, host: Host, **options: Any) -> None:
        self.host, self.id, self.options = host, "", options

    def call(self, *messages: dict[str, Any], **headers: str) -> SentCall:
        named = {"x-conversation-id": self.id} if self.id else {}
        named |= {name.replace("_", "-"): value for name, value in headers.items()}
        return self.host.call([*messages], headers=named, **self.options)

    async def ask(self, *messages: dict[str, Any], reply: Any = "Yes.", **headers: str) -> SentCall:
        call = self.call(*messages, **headers)
        await call.pre()
        told = await call.headers(reply if isinstance(reply, ModelResponse) else answer(reply))
        assert told is not None
        self.id, self.told = told["x-conversation-id"], told
        return call


async def test_the_whole_conversation_is_told_and_its_secrets_are_not(host: Host) -> None:
    talk, secret = Talk(host), SHAPES[0].value
    call = await talk.ask(SYSTEM, user(f"The key is {secret}."))
    await talk.ask(SYSTEM, user("And?"), reply="No more.")
    assert call.state is not None and call.state.kept is not None
    await call.success()
    await host.runtime.worker.drain(20.0)
    scope, session = Scope(everything=True), call.state.kept.session
    told = await host.runtime.archive.transcript(scope, session)
    assert [m["role"] for m in told] == ["system", "user", "assistant", "user", "assistant"]
    assert secret not in str(told) and "[secret: " in told[1]["content"]
    assert told[3:] == (user("And?"), said("No more."))
    with pytest.raises(NotFound):
        await host.runtime.archive.transcript(scope, SessionRef(session.tenant, "0" * 32))


async def test_its_messages_are_stored_once_and_shown_with_its_last_call(host: Host) -> None:
    talk, secret = Talk(host), SHAPES[0].value
    for text in (f"The key is {secret}.", "And?"):
        call = await talk.ask(SYSTEM, user(text))
        await call.success()
    await host.runtime.worker.drain(20.0)
    assert call.state is not None and call.state.kept is not None
    session = call.state.kept.session
    client = host.runtime.store.connection._client  # type: ignore[attr-defined]
    stored = await client.get(f"gwc:{{{session.session_id}}}:last")
    assert b"Be brief." in stored and b"And?" not in stored
    detail = await host.runtime.archive.detail(Scope(everything=True), session)
    assert detail.last_call is not None and detail.last_call.client == detail.last_call.model
    assert [m["role"] for m in detail.last_call.client or ()] == ["system", "user", "assistant", "user"]
    assert secret not in str(detail) and "[secret: " in str(detail.last_call)
    point = detail.make_restore_point()
    assert "And?" in str(point) and "Be brief." in str(point)


async def refused(call: SentCall) -> ProxyException:
    with pytest.raises(ProxyException) as caught:
        await call.pre()
    return caught.value


async def test_the_model_is_sent_what_a_client_would_send_that_keeps_its_history(host: Host) -> None:
    talk, history = Talk(host), [SYSTEM]
    for number in range(5):
        new = user(f"Question {number}?")
        call = await talk.ask(SYSTEM, new, reply=f"Answer {number}.")
        history.append(new)
        assert call.data["messages"] == history
        history.append(said(f"Answer {number}."))
        assert talk.told["x-conversation-version"] == str(number + 1)


async def test_a_tool_is_called_in_one_call_and_answered_in_the_next(host: Host) -> None:
    talk = Talk(host)
    calls = [{"id": "c1", "type": "function", "function": {"name": "look_up", "arguments": "{}"}}]
    await talk.ask(user("Look."), reply=answer(None, tool_calls=calls))
    result = {"role": "tool", "tool_call_id": "c1", "content": "7"}
    call = await talk.ask(result, reply="It is 7.")
    assert call.data["messages"] == [
        user("Look."),
        {"role": "assistant", "content": None, "tool_calls": calls},
        result,
    ]


async def test_a_call_without_a_preamble_has_that_of_the_last_one(host: Host) -> None:
    talk = Talk(host)
    await talk.ask(SYSTEM, user("One."))
    call = await talk.ask(user("Two."))
    assert call.data["messages"][0] == SYSTEM
    other = {"role": "system", "content": "Be long."}
    call = await talk.ask(other, user("Three."))
    assert call.data["messages"][0] == other and SYSTEM not in call.data["messages"]


@pytest.mark.parametrize("named", ["conv_" + "0" * 32, "conv_nonsense", "mine", "conv_" + "Z" * 32])
async def test_an_id_that_is_not_known_is_no_new_conversation(host: Host, named: str) -> None:
    talk = Talk(host)
    talk.id = named
    error = await refused(talk.call(user("Hello.")))
    assert (error.code, error.type, error.param) == ("404", "conversation_not_found", "conversation")


async def test_another_tenant_s_id_and_a_forgotten_one_look_the_same(host: Host) -> None:
    talk = Talk(host)
    await talk.ask(user("A secret."))
    other = UserAPIKeyAuth(api_key="other", team_id="others")
    stolen = await refused(host.call([user("?")], auth=other, headers={"x-conversation-id": talk.id}))
    state_call = talk.call(user("?"))
    await state_call.pre()
    assert state_call.state is not None and state_call.state.kept is not None
    session = state_call.state.kept.session
    await host.runtime.store.connection.send(("UNLINK", f"gwc:{{{session.session_id}}}:kept"))  # type: ignore[attr-defined]
    forgotten = await refused(talk.call(user("?")))
    assert (
        (stolen.code, stolen.message)
        == (forgotten.code, forgotten.message)
        == ("404", "no such conversation")
    )
    # What was being answered meanwhile does not bring it back.
    await state_call.headers(answer("Late."))
    assert (await refused(talk.call(user("?")))).code == "404"


async def test_the_id_may_stand_in_the_metadata(host: Host) -> None:
    talk = Talk(host)
    await talk.ask(user("One."))
    call = host.call([user("Two.")])
    call.data["proxy_server_request"]["body"]["metadata"] = {"conversation_id": talk.id}
    await call.pre()
    assert call.data["messages"] == [user("One."), said("Yes."), user("Two.")]


async def test_of_two_calls_at_once_the_second_is_refused(host: Host) -> None:
    talk = Talk(host)
    await talk.ask(user("One."))
    first = talk.call(user("Two."))
    await first.pre()
    assert (await refused(talk.call(user("Three.")))).type == "conversation_busy"
    await first.headers(answer("Two it is."))
    call = await talk.ask(user("Three."))
    assert [m["content"] for m in call.data["messages"]] == ["One.", "Yes.", "Two.", "Two it is.", "Three."]


async def test_or_waits(hosts: Callable[..., Host]) -> None:
    host = hosts(conversation={"keep": "gateway", "parallel": "wait"}, storage={"content": "full"})
    talk = Talk(host)
    await talk.ask(user("One."))
    first, second = talk.call(user("Two.")), talk.call(user("Three."))
    await first.pre()
    import asyncio

    waiting = asyncio.ensure_future(second.pre())
    await asyncio.sleep(0)
    assert not waiting.done()
    await first.headers(answer("Two it is."))
    await waiting
    assert [m["content"] for m in second.data["messages"]][-2:] == ["Two it is.", "Three."]


async def test_or_branches(hosts: Callable[..., Host]) -> None:
    host = hosts(conversation={"keep": "gateway", "parallel": "branch"}, storage={"content": "full"})
    talk = Talk(host)
    await talk.ask(user("One."))
    first, second = talk.call(user("Two.")), talk.call(user("Three."))
    await first.pre()
    await second.pre()
    await first.headers(answer("Two it is."))
    told = await second.headers(answer("Three it is."))
    assert told is not None
    call = await talk.ask(user("Four."))
    assert [m["content"] for m in call.data["messages"]] == ["One.", "Yes.", "Two.", "Two it is.", "Four."]
    call = await talk.ask(user("Five."), x_conversation_branch=told["x-conversation-branch"])
    assert [m["content"] for m in call.data["messages"]] == [
        "One.",
        "Yes.",
        "Three.",
        "Three it is.",
        "Five.",
    ]


async def test_a_failed_call_appends_nothing_and_holds_nobody_up(host: Host) -> None:
    talk = Talk(host)
    await talk.ask(user("One."))
    failed = talk.call(user("Two."))
    await failed.pre()
    await host.hook.async_post_call_failure_hook(failed.data, ValueError("blocked"), failed.auth)
    await drained(host)
    call = await talk.ask(user("Three."))
    assert [m["content"] for m in call.data["messages"]] == ["One.", "Yes.", "Three."]


async def drained(host: Host) -> None:
    await asyncio.gather(*(t for t in host.runtime.conversations._tasks if "release" in repr(t)))


@pytest.mark.parametrize("headers", [{"idempotency_key": "k-1"}, {"x_stainless_retry_count": "1"}])
async def test_a_call_that_is_sent_again_appends_once(host: Host, headers: dict[str, str]) -> None:
    talk = Talk(host)
    await talk.ask(user("One."))
    await talk.ask(user("Two."), reply="Lost on the way.", **{k: v for k, v in headers.items() if "key" in k})
    again = await talk.ask(user("Two."), reply="Heard.", **headers)
    assert [m["content"] for m in again.data["messages"]] == ["One.", "Yes.", "Two."]
    call = await talk.ask(user("Three."))
    assert [m["content"] for m in call.data["messages"]] == ["One.", "Yes.", "Two.", "Heard.", "Three."]


async def test_a_first_call_that_is_sent_again_begins_one_conversation(host: Host) -> None:
    first, again = Talk(host), Talk(host)
    await first.ask(user("One."), reply="Lost.", idempotency_key="k-1")
    await again.ask(user("One."), reply="Heard.", idempotency_key="k-1")
    assert first.id == again.id
    call = await again.ask(user("Two."))
    assert [m["content"] for m in call.data["messages"]] == ["One.", "Heard.", "Two."]
    error = await refused(Talk(host).call(user("Another."), idempotency_key="k-1"))
    assert error.type == "idempotency_key_reused"


async def test_saying_the_same_twice_is_no_repetition(host: Host) -> None:
    talk = Talk(host)
    await talk.ask(user("Go on."))
    call = await talk.ask(user("Go on."))
    assert [m["content"] for m in call.data["messages"]] == ["Go on.", "Yes.", "Go on."]


async def test_going_on_from_an_earlier_message(host: Host) -> None:
    talk = Talk(host)
    for text in ("One.", "Two."):
        await talk.ask(user(text))
    edited = await talk.ask(user("Two, but better."), x_conversation_at="2")
    assert [m["content"] for m in edited.data["messages"]] == ["One.", "Yes.", "Two, but better."]
    call = await talk.ask(user("Three."))
    assert [m["content"] for m in call.data["messages"]][2] == "Two, but better."
    error = await refused(talk.call(user("?"), x_conversation_at="99"))
    assert (error.code, error.type) == ("400", "message_not_found")
    error = await refused(talk.call(user("?"), x_conversation_if_version="1"))
    assert (error.code, error.type) == ("409", "version_mismatch")


async def test_a_full_conversation_takes_no_more(hosts: Callable[..., Host]) -> None:
    host = hosts(conversation={"keep": "gateway"}, storage={"content": "full", "max_messages": 3})
    talk = Talk(host)
    await talk.ask(user("One."))
    error = await refused(talk.call(user("Two.")))
    assert error.type == "conversation_full" and "storage.max_messages" in error.message


async def test_without_the_store_a_call_is_refused_and_not_answered_without_its_conversation(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    talk = Talk(host)
    await talk.ask(user("One."))

    async def fail(*args: Any, **kwargs: Any) -> None:
        raise OSError("down")

    monkeypatch.setattr(host.runtime.store.connection._client, "execute_command", fail)  # type: ignore[attr-defined]
    error = await refused(talk.call(user("Two.")))
    assert (error.code, error.type) == ("503", "conversation_unavailable")


async def test_a_conversation_that_cannot_be_read_at_once_is_asked_for_once_more(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    talk = Talk(host)
    await talk.ask(user("One."))
    client = host.runtime.store.connection._client  # type: ignore[attr-defined]
    execute, failures = client.execute_command, [OSError("the connection was closed")]

    async def fail_once(*args: Any, **kwargs: Any) -> Any:
        if failures and "EVAL" in str(args[0]):
            raise failures.pop()
        return await execute(*args, **kwargs)

    monkeypatch.setattr(client, "execute_command", fail_once)
    await talk.ask(user("Two."))
    assert not failures


async def test_an_exchange_that_is_there_though_the_store_answered_too_late_is_told_as_kept(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    talk = Talk(host)
    store: Any = host.runtime.conversations._store
    append = store.append

    async def append_and_fail(*args: Any, **kwargs: Any) -> Any:
        await append(*args, **kwargs)
        raise StoreError("it did not answer in time")

    monkeypatch.setattr(store, "append", append_and_fail)
    await talk.ask(user("One."))
    assert talk.told["x-conversation-version"] == "1"


class TestStreams:
    """A streamed answer is appended before its end is seen."""

    @staticmethod
    def stream(call: SentCall, pieces: list[Any]) -> AsyncIterator[Any]:
        async def upstream() -> AsyncIterator[Any]:
            for piece in pieces:
                yield piece

        last = litellm.callbacks[-1]
        assert isinstance(last, KeptStreams)
        return last.async_post_call_streaming_iterator_hook(call.auth, upstream(), call.data)

    async def test_it_is_appended_before_its_last_piece_goes_on(self, host: Host) -> None:
        talk = Talk(host, stream=True)
        call = talk.call(user("One."))
        await call.pre()
        told = await call.headers(object())
        assert told is not None
        talk.id = told["x-conversation-id"]
        seen = 0
        async for chunk in self.stream(call, chunks("Yes, it is.")):
            seen += 1
            if chunk.choices[0].finish_reason:
                following = talk.call(user("Two."))
                await following.pre()
        assert seen == 3
        assert following.data["messages"] == [user("One."), said("Yes, it is."), user("Two.")]

    async def test_one_that_is_left_appends_nothing(self, host: Host) -> None:
        talk = Talk(host)
        await talk.ask(user("One."))
        talk.options = {"stream": True}
        call = talk.call(user("Two."))
        await call.pre()
        await call.headers(object())
        streamed: Any = self.stream(call, chunks("Yes, it is."))
        await anext(streamed)
        await streamed.aclose()
        await drained(host)
        following = talk.call(user("Three."))
        await following.pre()
        assert [m["content"] for m in following.data["messages"]] == ["One.", "Yes.", "Three."]


async def test_a_client_that_keeps_its_history_is_not_touched(hosts: Callable[..., Host]) -> None:
    host = hosts()
    call = host.call([user("One.")], headers={"x-conversation-id": "mine"})
    await call.pre()
    told = await call.headers(answer("Yes."))
    assert call.data["messages"] == [user("One.")] and "x-conversation-id" not in (told or {})


async def test_it_is_a_session_of_its_own_name(host: Host) -> None:
    talk = Talk(host)
    for text in ("One.", "Two."):
        call = await talk.ask(user(text))
        await call.success()
    await host.runtime.worker.drain(20.0)
    from gateway_compaction.archive import Query, Scope

    listed = await host.runtime.archive.sessions(Scope(everything=True), Query())
    [row] = listed.rows
    assert row.session.key == talk.id.removeprefix("conv_") and talk.id in row.labels


async def test_as_one_message_it_is_sent_and_as_it_was_said_it_is_kept(hosts: Callable[..., Host]) -> None:
    host = hosts(**KEPT, layout="single_message")
    talk = Talk(host)
    for number in range(3):
        call = await talk.ask(SYSTEM, user(f"Question {number}."))
    sent = (await call.deploy())["messages"]
    told = "[RECENT MESSAGES]\nUSER: Question 0.\nASSISTANT: Yes.\nUSER: Question 1.\nASSISTANT: Yes."
    assert sent == [SYSTEM, user(f"{told}\n\n[CURRENT MESSAGE]\nQuestion 2.")]
    session = SessionRef(call.state.kept.session.tenant, talk.id.removeprefix("conv_"))  # type: ignore[union-attr]
    kept = await host.runtime.conversations.read(session)
    assert [m["content"] for m in kept.list_messages(kept.head)][-2:] == ["Question 2.", "Yes."]


class TestRoundTrips:
    """A call of a kept conversation reads once before its answer and writes once; the rest comes after."""

    @staticmethod
    async def ask(talk: Talk, *messages: dict[str, Any]) -> int:
        """The round trips of a call until its client has the answer."""
        store: Any = talk.host.runtime.store
        before = store.connection.round_trips
        call = await talk.ask(*messages)
        waited = store.connection.round_trips - before
        await call.success()
        await talk.host.runtime.worker.drain(20.0)
        return int(waited)

    @staticmethod
    def check(waited: list[int]) -> None:
        # Every five seconds the process asks for notices beside its calls.
        assert min(waited) == 2 and sum(waited) <= 2 * len(waited) + 1, waited

    async def test_one_before_and_one_after(self, host: Host) -> None:
        talk = Talk(host)
        # The first call of a process sends the scripts themselves.
        await self.ask(talk, SYSTEM, user("Zero."))
        self.check([await self.ask(talk, user(f"Question {n}.")) for n in range(4)])

    async def test_a_summary_is_read_with_its_conversation(self, host: Host) -> None:
        talk, waited, outcomes = Talk(host), list[int](), list[str]()
        await self.ask(talk, SYSTEM, user("Zero."))
        for number in range(14):
            waited.append(await self.ask(talk, user(f"Where is the berth of ship {number}? " * 20)))
            outcomes.append(talk.told["x-compaction"])
        assert {"prepared", "applied"} <= set(outcomes), outcomes
        self.check(waited)


class TestStoreThatFails:
    """Redis is gone at some moment of a call: nobody is held up longer than it is, nothing is lost unsaid."""

    @staticmethod
    def failing(monkeypatch: pytest.MonkeyPatch, host: Host, *names: str, times: int = 99) -> list[str]:
        """Let calls of the store fail, so often each; returns those that did."""
        store: Any = host.runtime.conversations._store
        failed: list[str] = []

        def broken(name: str) -> Callable[..., Any]:
            ask = getattr(store, name)

            async def fail(*args: Any, **kwargs: Any) -> Any:
                if failed.count(name) < times:
                    failed.append(name)
                    raise StoreError("it is down")
                return await ask(*args, **kwargs)

            return fail

        for name in names:
            monkeypatch.setattr(store, name, broken(name))
        return failed

    async def test_an_append_that_fails_once_is_made_again(
        self, host: Host, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        talk = Talk(host)
        failed = self.failing(monkeypatch, host, "append", times=1)
        await talk.ask(user("One."))
        assert failed == ["append"] and talk.told["x-conversation-version"] == "1"

    async def test_one_that_fails_again_is_told_and_frees_the_conversation(
        self, host: Host, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
    ) -> None:
        talk = Talk(host)
        await talk.ask(user("One."))
        call = talk.call(user("Two."))
        await call.pre()
        with monkeypatch.context() as patched:
            failed = self.failing(patched, host, "append")
            patched.setattr(host.runtime.conversations, "_lease_seconds", 60.0)
            self.failing(patched, host, "open", "hold", times=2)
            told = await call.headers(answer("Lost."))
            assert failed == ["append", "append"]
        assert told is not None and "x-conversation-version" not in told
        assert "not appended: it is down" in caplog.text
        await drained(host)
        call = await talk.ask(user("Three."))
        assert [m["content"] for m in call.data["messages"]] == ["One.", "Yes.", "Three."]

    async def test_of_a_stream_it_is_told_before_its_last_piece(
        self, host: Host, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        talk = Talk(host, stream=True)
        call = talk.call(user("One."))
        await call.pre()
        await call.headers(object())
        self.failing(monkeypatch, host, "append")
        seen = [chunk async for chunk in TestStreams.stream(call, chunks("Yes, it is."))]
        assert len(seen) == 4 and seen[2].startswith(b": this answer could not be kept")
        assert seen[3].choices[0].finish_reason == "stop"

    async def test_a_client_that_leaves_while_it_is_appended_has_its_answer_kept(
        self, host: Host, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        talk = Talk(host)
        store: Any = host.runtime.conversations._store
        append, begun, may_end = store.append, asyncio.Event(), asyncio.Event()

        async def slow(*args: Any, **kwargs: Any) -> Any:
            begun.set()
            await may_end.wait()
            return await append(*args, **kwargs)

        monkeypatch.setattr(store, "append", slow)
        call = talk.call(user("One."))
        await call.pre()
        assert call.state is not None and call.state.kept is not None
        talk.id = call.state.kept.id
        ending = asyncio.ensure_future(call.headers(answer("Yes.")))
        await begun.wait()
        ending.cancel()
        with pytest.raises(asyncio.CancelledError):
            await ending
        may_end.set()
        await asyncio.gather(*(t for t in host.runtime.conversations._tasks if "append" in repr(t)))
        following = await talk.ask(user("Two."))
        assert [m["content"] for m in following.data["messages"]] == ["One.", "Yes.", "Two."]

    @pytest.mark.parametrize("how", ["left", "too late"])
    async def test_one_that_leaves_while_it_is_opened_holds_nobody_up(
        self, host: Host, monkeypatch: pytest.MonkeyPatch, how: str
    ) -> None:
        talk = Talk(host)
        await talk.ask(user("One."))
        store: Any = host.runtime.conversations._store
        open_, opened = store.open, asyncio.Event()

        async def late(*args: Any, **kwargs: Any) -> Any:
            await open_(*args, **kwargs)
            if how == "too late":
                raise StoreError("it did not answer in time")
            opened.set()
            await asyncio.sleep(60)

        with monkeypatch.context() as patched:
            patched.setattr(store, "open", late)
            if how == "too late":
                assert (await refused(talk.call(user("Two.")))).type == "conversation_unavailable"
            else:
                asking = asyncio.ensure_future(talk.call(user("Two.")).pre())
                await opened.wait()
                asking.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await asking
        await drained(host)
        call = await talk.ask(user("Three."))
        assert [m["content"] for m in call.data["messages"]] == ["One.", "Yes.", "Three."]

    async def test_a_turn_is_over_though_another_call_came_between(self, host: Host) -> None:
        talk = Talk(host)
        await talk.ask(user("One."))
        first = talk.call(user("Two."))
        await first.pre()
        assert first.state is not None and first.state.kept is not None
        kept = first.state.kept
        kept.version -= 1
        assert "x-conversation-version" not in (await first.headers(answer("Late.")) or {})
        call = await talk.ask(user("Three."))
        assert [m["content"] for m in call.data["messages"]] == ["One.", "Yes.", "Three."]
