"""Random histories of kept conversations against a model: nothing is lost, doubled, reordered or leaked.

Calls overlap, fail, are sent again, go through two replicas and are left hanging by one that was killed.
Tests play 25 examples; ``KEPT_EXAMPLES=1000 pytest tests/engine/test_kept_machine.py`` plays more.
"""

from __future__ import annotations

import asyncio
import itertools
import os
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, initialize, multiple, rule

from gateway_compaction.adapters.redis.connection import connect
from gateway_compaction.adapters.redis_conversations import RedisConversations
from gateway_compaction.core.policy.model import Policy
from gateway_compaction.engine.kept_conversations import KeptCall, KeptConversations
from gateway_compaction.errors import ConversationRefused

KEPT: dict[str, Any] = {
    "conversation": {"keep": "gateway"},
    "storage": {"content": "full", "max_messages": 40},
}
POLICY = Policy.model_validate(KEPT)
TENANTS = ("a" * 32, "b" * 32)
LEASE_SECONDS = 600.0


@dataclass(eq=False)
class Known:
    """A conversation as its client knows it."""

    id: str
    tenant: str
    texts: list[str] = field(default_factory=list)
    version: int = 0
    open: Running | None = None


@dataclass(eq=False)
class Running:
    """A call that is being answered."""

    talk: Known
    replica: KeptConversations
    call: KeptCall
    text: str
    base: list[str]


class Machine(RuleBasedStateMachine):
    """Each step is a request, its end, or what becomes of a replica."""

    talks = Bundle("talks")
    running = Bundle("running")

    @initialize()
    def start(self) -> None:
        self.loop = asyncio.new_event_loop()
        self.connection = connect(None)
        self.store = RedisConversations(self.connection, seconds=30.0)
        self.replicas = [KeptConversations(self.store, LEASE_SECONDS) for _ in range(2)]
        self.numbers = itertools.count()

    def teardown(self) -> None:
        if not hasattr(self, "loop"):
            return
        for replica in self.replicas:
            self.run(replica.aclose())
        self.run(self.connection.aclose())
        self.loop.close()

    def run(self, work: Any) -> Any:
        return self.loop.run_until_complete(work)

    def open(
        self, replica: int, tenant: str, name: str, text: str, **headers: str
    ) -> tuple[KeptConversations, KeptCall]:
        chosen = self.replicas[replica]
        named = {"x-conversation-id": name} if name else {}
        named |= {key.replace("_", "-"): value for key, value in headers.items()}
        items = [{"role": "user", "content": text}]
        return chosen, self.run(chosen.open(tenant, named, "", items, "chat", POLICY))

    def finish(self, run: Running, reply: str) -> None:
        answer = [{"role": "assistant", "content": reply}]
        appended = self.run(run.replica.append(run.call, run.call.placement.sent, answer))
        if run.talk.open is run:
            assert appended is not None and appended.version == run.talk.version + 1
            run.talk.texts = [*run.base, run.text, reply]
            run.talk.version, run.talk.open = appended.version, None
        else:
            # Its lease was lost: another one has gone on meanwhile, or may.
            assert appended is None

    @rule(target=talks, replica=st.integers(0, 1), tenant=st.sampled_from(TENANTS))
    def begin(self, replica: int, tenant: str) -> Known:
        text = f"q{next(self.numbers)}"
        chosen, call = self.open(replica, tenant, "", text)
        talk = Known(call.id, tenant)
        talk.open = Running(talk, chosen, call, text, [])
        self.finish(talk.open, f"r{next(self.numbers)}")
        return talk

    @rule(target=running, talk=talks, replica=st.integers(0, 1), at=st.none() | st.integers(0, 8))
    def called(self, talk: Known, replica: int, at: int | None) -> Any:
        return self.call(talk, replica, at)

    def call(self, talk: Known, replica: int, at: int | None) -> Any:
        text = f"q{next(self.numbers)}"
        headers = {} if at is None else {"x_conversation_at": str(at)}
        try:
            chosen, call = self.open(replica, talk.tenant, talk.id, text, **headers)
        except ConversationRefused as refused:
            if refused.code == "conversation_busy":
                assert talk.open is not None
            elif refused.code == "message_not_found":
                assert at is not None and at > len(talk.texts)
            else:
                assert refused.code == "conversation_full" and len(talk.texts) > 30
            return multiple()
        assert talk.open is None, "two calls at once"
        base = talk.texts if at is None else talk.texts[:at]
        assert [m["content"] for m in call.placement.sent] == [*base, text]
        talk.open = Running(talk, chosen, call, text, list(base))
        return talk.open

    @rule(talk=talks, data=st.data())
    def edited_and_answered(self, talk: Known, data: st.DataObject) -> None:
        """Three times: a branch of a branch leaves it where another one has gone on."""
        for _ in range(3):
            if talk.open is None and len(talk.texts) < 30:
                run = self.call(talk, 0, data.draw(st.integers(0, len(talk.texts))))
                self.finish(run, f"r{next(self.numbers)}")

    @rule(run=consumes(running))
    def answered(self, run: Running) -> None:
        self.finish(run, f"r{next(self.numbers)}")

    @rule(run=consumes(running), replica=st.integers(0, 1), keyed=st.booleans())
    def answered_and_sent_again(self, run: Running, replica: int, keyed: bool) -> None:
        """The client did not get the answer."""
        run.call.key = "k" * 32 if keyed else ""
        mine = run.talk.open is run
        self.finish(run, f"lost{next(self.numbers)}")
        if not mine:
            return
        chosen, call = self.open(replica, run.talk.tenant, run.talk.id, run.text, x_stainless_retry_count="1")
        assert [m["content"] for m in call.placement.sent] == [*run.base, run.text]
        run.talk.open = Running(run.talk, chosen, call, run.text, run.base)
        self.finish(run.talk.open, f"r{next(self.numbers)}")

    @rule(run=consumes(running))
    def failed(self, run: Running) -> None:
        async def give_up() -> None:
            await run.replica.give_up(run.call)
            await asyncio.sleep(0)
            await asyncio.gather(*(t for t in run.replica._tasks if "_release" in repr(t)))

        self.run(give_up())
        if run.talk.open is run:
            run.talk.open = None

    @rule(run=running)
    def its_lease_ran_out(self, run: Running) -> None:
        """Its replica was killed, or could not reach the store; its answer may still come."""
        if run.talk.open is not run:
            return
        key = f"gwc:{{{run.call.session.session_id}}}:kept"
        self.run(self.connection.send(("HDEL", key, "lease")))
        text = f"q{next(self.numbers)}"
        chosen, call = self.open(0, run.talk.tenant, run.talk.id, text)
        run.talk.open = Running(run.talk, chosen, call, text, list(run.talk.texts))
        self.finish(run.talk.open, f"r{next(self.numbers)}")

    @rule(talk=talks)
    def another_tenant_knows_nothing_of_it(self, talk: Known) -> None:
        other = next(tenant for tenant in TENANTS if tenant != talk.tenant)
        with pytest.raises(ConversationRefused) as refused:
            self.open(0, other, talk.id, "?")
        assert refused.value.status == 404


TestMachine = Machine.TestCase
EXAMPLES = int(os.environ.get("KEPT_EXAMPLES", "25"))
TestMachine.settings = settings(max_examples=EXAMPLES, stateful_step_count=30, deadline=None)
