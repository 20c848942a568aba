"""A call of a conversation that the gateway keeps: opened before the call, appended to after it."""

from __future__ import annotations

import asyncio
import logging
import secrets
import time
import weakref
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from gateway_compaction.core.planning.placement import (
    ID_HEADER,
    Bounds,
    Placement,
    place_call,
    read_wish,
)
from gateway_compaction.core.policy.model import Policy
from gateway_compaction.core.records.compaction import SessionRef
from gateway_compaction.core.records.exchange import (
    Exchange,
    Item,
    KeptConversation,
    read_conversation_id,
    to_conversation_id,
)
from gateway_compaction.errors import ConversationRefused, StoreBusy, StoreError
from gateway_compaction.ports import (
    Addition,
    Appended,
    ConversationStore,
    LoadedSession,
    OpenedConversation,
)

log = logging.getLogger("gateway_compaction")
T = TypeVar("T")

# Seconds between two looks at a conversation that another call holds.
LOOK_SECONDS = 0.1

# A lease is prolonged when this share of it is over; a call that is gone from memory prolongs none.
RENEW_SHARE = 1 / 3

UNREADABLE = "the conversation cannot be read at present; send this call again"

# No call lasts longer: then its lease runs out, whatever has become of it.
LONGEST_CALL = 7_200.0


@dataclass(eq=False)
class KeptCall:
    """One call of a kept conversation, from its opening to its end.

    Attributes:
        session: the session that the conversation is.
        placement: where the call's messages belong.
        version: the version that the call read.
        begun: when the conversation began that it read.
        token: names its lease; empty where it holds none.
        form: the endpoint in whose form the messages are.
        policy: the policy in force.
        key: name of its idempotency key.
        appended: what became of it; None until then, and where nothing was kept.
        is_over: it was appended or given up; nothing more is written for it.
        loaded: the session as it was read with the conversation, until somebody takes it.
    """

    session: SessionRef
    placement: Placement
    version: int
    token: str
    form: str
    policy: Policy
    key: str = ""
    begun: str = ""
    appended: Appended | None = None
    is_over: bool = False
    loaded: LoadedSession | None = field(default=None, repr=False)
    renewal: asyncio.Task[None] | None = field(default=None, repr=False)

    @property
    def id(self) -> str:
        """The id by which clients name the conversation."""
        return to_conversation_id(self.session.key)

    def take_session(self) -> LoadedSession | None:
        """Return the session that was read with the conversation, once: a later decision must ask anew."""
        loaded, self.loaded = self.loaded, None
        return loaded


class KeptConversations:
    """Opens kept conversations and appends to them. One for each process; what is kept is in the store.

    Args:
        lease_seconds: how long a lease holds; that of a replica that was killed runs out after it.
    """

    def __init__(
        self, store: ConversationStore, lease_seconds: float, clock: Callable[[], float] = time.time
    ) -> None:
        self._store, self._lease_seconds, self._clock = store, lease_seconds, clock
        self._tasks: set[asyncio.Task[Any]] = set()

    async def open(
        self,
        tenant: str,
        headers: Mapping[str, str],
        metadata_id: str,
        items: Sequence[Item],
        form: str,
        policy: Policy,
    ) -> KeptCall:
        """Open the conversation of a call, or begin one, in one round trip.

        Raises:
            ConversationRefused: the call cannot be answered; says why.
        """
        wish = read_wish(headers, metadata_id, tenant)
        name, begin = _find_name(wish.conversation, wish.key), None
        if not wish.conversation:
            begin = float(policy.storage.ttl)
        session = SessionRef(tenant, name)
        token = "" if policy.conversation.parallel == "branch" else secrets.token_hex(8)
        try:
            opened = await self._open_free(session, token, begin, policy)
        except BaseException:
            # The client left, or the store's answer came too late: the lease may be there all the same.
            self._run_later(self._release_soon(session, token))
            raise
        if opened.status == "none":
            raise ConversationRefused(404, "conversation_not_found", "no such conversation")
        if opened.status == "busy":
            problem = "another call of this conversation is being answered; send this one again"
            raise ConversationRefused(409, "conversation_busy", problem)
        bounds = Bounds(policy.storage.max_messages, policy.storage.max_bytes)
        try:
            placement = place_call(opened.kept, wish, items, form, bounds)
        except ConversationRefused:
            await self._release(session, token)
            raise
        call = KeptCall(session, placement, opened.kept.version, token, form, policy, wish.key)
        call.begun, call.loaded = opened.kept.begun, opened.session
        if token:
            renewing = self._renew(weakref.ref(call), session, token)
            call.renewal = self._run_later(renewing)
        return call

    async def append(self, call: KeptCall, sent: Sequence[Item], answer: Sequence[Item]) -> Appended | None:
        """Append what a call brought and was answered, once; None where nothing was kept.

        A client that leaves meanwhile does not stop it: the answer is whole.

        Args:
            sent: all that the call sent, as guardrails left it, before compaction.
            answer: the model's, as the client gets it.
        """
        if call.is_over:
            return call.appended
        call.is_over = True
        if call.renewal is not None:
            call.renewal.cancel()
        placement, policy = call.placement, call.policy
        preamble, brought = placement.read_brought(sent)
        exchange = Exchange(
            parent=placement.parent,
            start=placement.start,
            messages=(*brought, *answer),
            brought=len(brought),
            preamble=preamble,
            key=call.key,
            digest=placement.digest,
            at=self._clock(),
        )
        may_branch = policy.conversation.parallel == "branch"
        addition = Addition(exchange, call.form, call.version, placement.replaces, may_branch, call.begun)
        await asyncio.shield(self._run_later(self._append(call, addition)))
        return call.appended

    async def _append(self, call: KeptCall, addition: Addition) -> None:
        """Append an exchange, again where that failed and it is not there; then free the conversation."""
        problem = "it was forgotten, or has gone on since the call read it"
        ttl = float(call.policy.storage.ttl)
        for is_last in (False, True):
            try:
                call.appended = await self._store.append(call.session, addition, token=call.token, ttl=ttl)
                break
            except StoreError as error:
                problem = str(error)
            call.appended = await self._find_appended(call.session, addition.exchange)
            if call.appended is not None:
                break
            if is_last:
                self._run_later(self._release_soon(call.session, call.token))
        if call.appended is None:
            log.warning("conversation: %s not appended: %s", call.id, problem)

    async def begin(self, tenant: str, policy: Policy) -> SessionRef:
        """Begin a conversation without a message, to which a later call brings the first one.

        Raises:
            ConversationRefused: the store does not answer.
        """
        session = SessionRef(tenant, _find_name("", ""))
        await self._open_free(session, "", float(policy.storage.ttl), policy)
        return session

    async def read(self, session: SessionRef) -> KeptConversation:
        """Return a conversation as it is kept.

        Raises:
            ConversationRefused: there is none, or the store does not answer.
        """
        try:
            opened = await self._store.open(session, token="", seconds=0.0)
        except StoreError as error:
            raise ConversationRefused(503, "conversation_unavailable", UNREADABLE) from error
        if opened.status != "open":
            raise ConversationRefused(404, "conversation_not_found", "no such conversation")
        return opened.kept

    async def add(
        self, tenant: str, conversation: str, items: Sequence[Item], form: str, policy: Policy
    ) -> SessionRef:
        """Append messages for which no model is asked, or begin a conversation with them.

        Raises:
            ConversationRefused: they cannot be appended; says why.
        """
        headers = {ID_HEADER: conversation} if conversation else {}
        call = await self.open(tenant, headers, "", items, form, policy)
        if await self.append(call, items, ()) is None:
            problem = "the messages could not be appended; send them again"
            raise ConversationRefused(503, "conversation_unavailable", problem)
        return call.session

    async def give_up(self, call: KeptCall) -> None:
        """Append nothing, and let the next call go on with the conversation.

        It is awaited before the client sees why its call failed, so that its next one is not refused as busy.
        """
        if call.is_over:
            return
        call.is_over = True
        if call.renewal is not None:
            call.renewal.cancel()
        # A client that leaves meanwhile does not stop it.
        if not await asyncio.shield(self._run_later(self._release(call.session, call.token))):
            self._run_later(self._release_soon(call.session, call.token))

    async def _find_appended(self, session: SessionRef, exchange: Exchange) -> Appended | None:
        """Look for an exchange whose append failed: it is there where only the store's answer came too late.

        Told that it was not kept, the client would bring its messages again, and the model would read them
        twice.
        """
        try:
            kept = (await self._store.open(session, token="", seconds=0.0)).kept
        except StoreError:
            return None
        last = kept.exchanges.get(kept.head)
        if last is None or (last.at, last.digest) != (exchange.at, exchange.digest):
            return None
        return Appended(kept.head, kept.version)

    async def _open_free(
        self, session: SessionRef, token: str, begin: float | None, policy: Policy
    ) -> OpenedConversation:
        """Open a conversation; where another call holds it, wait as long as the policy says."""
        is_patient = policy.conversation.parallel == "wait"
        patience = policy.conversation.wait_seconds if is_patient else 0.0
        loop = asyncio.get_running_loop()
        until = loop.time() + patience
        while True:
            try:
                opened = await self._open_once_more(session, token, begin)
            except StoreError as error:
                raise ConversationRefused(503, "conversation_unavailable", UNREADABLE) from error
            if opened.status != "busy" or loop.time() >= until:
                return opened
            await asyncio.sleep(LOOK_SECONDS)

    async def _open_once_more(
        self, session: SessionRef, token: str, begin: float | None
    ) -> OpenedConversation:
        """Open a conversation, and try again where that failed: the call would be refused otherwise.

        The first try may meet a connection that a restarted server has closed, or a process that has just
        started and stands still for seconds. Its lease is this call's own, so the second one finds it free.
        """
        try:
            return await self._store.open(session, token=token, seconds=self._lease_seconds, begin=begin)
        except StoreBusy:
            raise
        except StoreError as error:
            log.debug("conversation: asked for once more: %s", error)
        return await self._store.open(session, token=token, seconds=self._lease_seconds, begin=begin)

    async def _renew(self, call: weakref.ref[KeptCall], session: SessionRef, token: str) -> None:
        """Prolong a lease as long as its call is there and not over."""
        loop = asyncio.get_running_loop()
        end = loop.time() + LONGEST_CALL
        while loop.time() < end:
            await asyncio.sleep(self._lease_seconds * RENEW_SHARE)
            held = call()
            if held is None or held.is_over:
                break
            del held
            try:
                if not await self._store.hold(session, token, self._lease_seconds):
                    return
            except StoreError as error:
                log.debug("conversation: lease not prolonged: %s", error)
        await self._release(session, token)

    async def _release_soon(self, session: SessionRef, token: str) -> None:
        """Give a lease back as soon as the store answers, or until it has run out."""
        for _ in range(max(1, round(self._lease_seconds / LOOK_SECONDS))):
            if await self._release(session, token):
                return
            await asyncio.sleep(LOOK_SECONDS)

    async def _release(self, session: SessionRef, token: str) -> bool:
        """Give a lease back; False where the store did not answer."""
        try:
            if token:
                await self._store.hold(session, token, 0.0)
        except StoreError as error:
            log.debug("conversation: lease not given back: %s", error)
            return False
        return True

    def _run_later(self, work: Coroutine[object, object, T]) -> asyncio.Task[T]:
        """Run work beside the call; a task that nobody keeps would be collected in the middle."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def aclose(self) -> None:
        """End what runs beside calls."""
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


def _find_name(conversation: str, key: str) -> str:
    """Return the name of the session that an id stands for, or one for a new conversation.

    A call that begins one with an idempotency key and is repeated finds the same one.

    Raises:
        ConversationRefused: it is no id of ours, so there is no such conversation.
    """
    if not conversation:
        return key or secrets.token_hex(16)
    name = read_conversation_id(conversation)
    if name is None:
        raise ConversationRefused(404, "conversation_not_found", "no such conversation")
    return name
