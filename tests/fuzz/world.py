"""Two replicas, their store and some conversations, with what must be true of them after every step.

It knows what each client has said, which summaries an operator took back, and what was erased. Whatever is
sent is compared with that by the accountant of ``tests/faults``.
"""

from __future__ import annotations

import asyncio
import atexit
import json
import logging
import random
from collections import defaultdict
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from gateway_compaction.adapters.redis.connection import connect
from gateway_compaction.adapters.redis.store import RedisStore
from gateway_compaction.archive import Scope
from gateway_compaction.core.endpoints.wire import EndpointName
from gateway_compaction.core.policy.book import PolicyBook
from gateway_compaction.core.records.compaction import SessionRef
from gateway_compaction.core.summary.restore import insert_restored
from gateway_compaction.engine.post_call import Ending
from gateway_compaction.engine.request import Decision, Planned
from gateway_compaction.engine.restoring import HEADER, ConversationRestorer
from gateway_compaction.errors import ActionRefused, NotFound, SourceNotFound, StoreError
from tests.engine.rig import Fixed, Rig, encodings
from tests.faults.account import SESSION, check_sent
from tests.faults.talks import TAG, Talk, marks_in
from tests.fuzz.talking import Asked, Teller, read, write
from tests.lab.redis_server import RedisServer
from tests.policy_books import book

__all__ = ["ENDINGS", "POLICIES", "TENANTS", "World"]

WINDOW = 1_000
SHORTENED = "[…]"
TENANTS = ("a" * 32, "b" * 32)
ADMIN = Scope(everything=True, actor="admin")
ENDINGS: tuple[Ending, ...] = (
    Ending("answered"),
    Ending("answered"),
    Ending("answered"),
    Ending("cached"),
    Ending("disconnected"),
    Ending("refused"),
    Ending("refused", 1_100, too_long=True),
)
BASE: dict[str, Any] = {"mode": "enforce", "summary": {"model": "small"}, "storage": {"content": "full"}}
POLICIES: tuple[dict[str, Any], ...] = (
    BASE,
    {**BASE, "levels": {"aggressive": {"replace": "later"}}},
    {**BASE, "recall": {"max_tokens": 200}},
    {**BASE, "summary": {"model": "small", "strategy": "rolling"}},
    {**BASE, "summary": {"model": "extractive"}},
    {**BASE, "mode": "observe"},
    {**BASE, "mode": "off"},
    {**BASE, "storage": {"content": "none"}},
    {**BASE, "storage": {"content": "summaries", "max_compactions": 2}},
    {**BASE, "triggers": {"turns": 4}},
)


def make_book(defaults: dict[str, Any]) -> PolicyBook:
    """A book as ``Rig`` makes it."""
    recall = {"recall": {"max_tokens": 0}}
    return book({**recall, **defaults})


@dataclass(frozen=True, slots=True)
class LastCall:
    """What a client's last call sent, and what the next one must then begin with.

    Attributes:
        under: all that may change the beginning on purpose; the next call is compared where it is the same.
        said: the client's own messages.
        sent: what went upstream.
        rig: the process that decided.
        is_alone: that process could not reach its store.
    """

    under: tuple[Any, ...]
    said: list[Any]
    sent: list[str]
    rig: Rig
    is_alone: bool


@dataclass(eq=False)
class Client:
    """One conversation as its client knows it.

    Attributes:
        sources: the marks of conversations that it may tell of as well.
        before: its last call, if anything but the raw history was sent.
    """

    tenant: str
    talk: Talk
    sources: set[str] = field(default_factory=set)
    restore: str = ""
    session: SessionRef | None = None
    before: LastCall | None = None


class Replica(Rig):
    """A process of the gateway."""

    def __init__(self, url: str, policies: PolicyBook, teller: Teller) -> None:
        redis = RedisStore(connect(url), timeout_seconds=10.0, background_seconds=10.0)
        models = Fixed(WINDOW, small=4_000)
        super().__init__(WINDOW, redis=redis, models=models, policy_book=policies)
        self.pipeline.summarizer = teller
        self.restorer = ConversationRestorer(
            self.parts, self.archive, lambda model, policy: WINDOW, self.background
        )


class World:
    """Everything of one example; ``aclose`` ends it."""

    server: RedisServer | None = None
    books: tuple[PolicyBook, ...] = ()

    def __init__(self, seed: int) -> None:
        encodings()
        if World.server is None:
            World.server = RedisServer().start()
            atexit.register(World.server.__exit__, None, None, None)
            World.books = tuple(map(make_book, POLICIES))
        self.url = World.server.url
        World.server.flush()
        self.chance = random.Random(seed)
        self.loop = asyncio.new_event_loop()
        self.teller = Teller()
        self.teller.gate.set()
        self.policy = 0
        self.replicas = [self.make_replica(), self.make_replica()]
        self.clients: list[Client] = []
        self.faults = _Faults()
        logging.getLogger("gateway_compaction").addHandler(self.faults)
        self.deeds = 0
        self.is_excused = False
        self.taken_back: dict[str, set[int]] = defaultdict(set)
        self.told: dict[str, set[str]] = defaultdict(set)
        self.erased: dict[str, SessionRef] = {}

    # The parts

    def make_replica(self) -> Replica:
        """A process of the gateway, with a store of its own on the one server."""
        return Replica(self.url, World.books[self.policy], self.teller)

    def run(self, work: Coroutine[Any, Any, Any]) -> Any:
        """Let the loop do something."""
        return self.loop.run_until_complete(work)

    def aclose(self) -> None:
        """End the example, and see what is left of it."""
        try:
            self.teller.gate.set()
            self.teller.mood = "good"
            self.settle()
            self.check_store()
        finally:
            logging.getLogger("gateway_compaction").removeHandler(self.faults)
            for rig in self.replicas:
                self.run(rig.aclose())
            self.run(asyncio.sleep(0))
            left = asyncio.all_tasks(self.loop)
            self.loop.close()
        assert not left, left

    # What clients do

    def begin(self, tenant: int, turns: int, restore: int | None = None) -> Client:
        """Begin a conversation, perhaps where another one ended."""
        mark = f"mk{self.chance.getrandbits(32):08x}"
        client = Client(TENANTS[tenant], Talk(mark=mark).fill(turns), {mark})
        if restore is not None and self.clients:
            source = self.clients[restore % len(self.clients)]
            if source.session is not None:
                client.restore = source.session.key
                client.sources |= source.sources if source.tenant == client.tenant else set()
        self.clients.append(client)
        return client

    def call(
        self,
        client: Client,
        replica: int,
        door: EndpointName,
        ending: Ending,
        wish: str = "",
        *,
        again: bool = False,
    ) -> None:
        """Ask, be answered, and go on; ``again`` sends what was sent before."""
        talk = client.talk
        if talk.messages[-1]["role"] != "user":
            if again and len(talk.messages) > 2:
                talk.messages.pop()
                talk.number -= 1
            else:
                talk.ask()

        async def one() -> None:
            decision = await self.decide(client, replica, door, wish)
            self.replicas[replica].post_call.follow(decision, ending)

        self.run(one())
        if ending.kind == "answered":
            talk.answer()
        self.after()

    def call_twice(self, client: Client, door: EndpointName) -> None:
        """The same call at once through both replicas, each ignorant of the other."""
        if client.talk.messages[-1]["role"] != "user":
            client.talk.ask()

        async def both() -> None:
            decisions = await asyncio.gather(*(self.decide(client, n, door) for n in (0, 1)))
            for rig, decision in zip(self.replicas, decisions, strict=True):
                rig.post_call.follow(decision, ENDINGS[0])

        self.run(both())
        client.talk.answer()
        client.before = None
        self.after()

    async def decide(self, client: Client, replica: int, door: EndpointName, wish: str = "") -> Decision:
        """Decide about a client's call, and look at what is sent."""
        rig, history = self.replicas[replica], list(client.talk.messages)
        wire = read(door, history)
        headers = {"x-compaction": wish} if wish else {}
        more = {"tenant": client.tenant, "body": wire.body, "endpoint": door, "size": wire.size}
        messages: Any = wire.messages
        if client.restore and len(history) > 2:
            request = rig.request(messages, headers={HEADER: client.restore}, **more)
            try:
                restored = await rig.restorer.find(request, rig.book.resolve(request.identity))
            except (SourceNotFound, StoreError):
                restored = None
            if restored is not None:
                assert len(client.sources) > 1, "a conversation of another tenant was restored"
                messages, more["size"] = insert_restored(messages, restored.block.text), None
                history = [*insert_restored(history, restored.block.text)]
        decision = await rig.decide(messages, headers=headers, **more)
        assert decision.outcome != "failed", decision.reason
        self.check_sent(client, rig, decision, history, write(wire, door, decision.sent))
        return decision

    # What becomes of processes, and of what they need

    def settle(self) -> None:
        """Wait for the background, where nobody holds it."""
        if self.teller.gate.is_set():
            for rig in self.replicas:
                self.run(rig.settle())

    def crash(self, replica: int) -> None:
        """Kill a process: nothing of it reaches the store any more. Another takes its place."""
        rig = self.replicas[replica]
        rig.store.fail(StoreError("killed"))
        rig.store.faults = dict.fromkeys(
            [*rig.store.faults, "keep_snapshot", "keep_restored", "save_window"], StoreError("killed")
        )
        self.run(rig.aclose())
        self.replicas[replica] = self.make_replica()
        self.is_excused = True
        self.deeds += 1

    def end_leases(self) -> None:
        """Let the claims of killed processes run out."""
        assert World.server is not None
        with World.server.client() as client:
            for key in client.scan_iter("gwc:*:claims"):
                client.delete(key)
        self.is_excused = True

    def lose_store(self, replica: int, lost: bool) -> None:
        """Let a process lose its store, or find it again."""
        store = self.replicas[replica].store
        if lost:
            store.fail(StoreError("no answer"))
            self.is_excused = True
        else:
            store.faults = {}
        self.deeds += 1

    def evict(self, number: int) -> None:
        """Take one key away, as a server does that has too little memory."""
        assert World.server is not None
        with World.server.client() as client:
            keys = sorted(client.scan_iter("gwc:*"))
            if keys:
                client.delete(keys[number % len(keys)])
        self.is_excused = True
        self.deeds += 1

    def change_policy(self, number: int) -> None:
        """Save another policy file."""
        self.policy = number % len(POLICIES)
        for rig in self.replicas:
            rig.book = World.books[self.policy]
        self.is_excused = True
        self.deeds += 1

    # What operators do

    def act(self, client: Client, deed: str, number: int) -> None:
        """Do something to a client's session."""
        ref = client.session
        if ref is None:
            return
        archive = self.replicas[number % 2].archive
        text = f"PINNED {number} by hand"
        deeds: dict[str, Callable[[], Coroutine[Any, Any, Any]]] = {
            "compact": lambda: archive.compact(ADMIN, ref),
            "rebuild": lambda: archive.rebuild(ADMIN, ref),
            "pin": lambda: archive.pin(ADMIN, ref, text),
            "unpin": lambda: archive.unpin(ADMIN, ref, text),
            "rate": lambda: archive.set_rate(ADMIN, ref, 0.2),
            "reset": lambda: archive.reset(ADMIN, ref),
            "forget": lambda: archive.forget(ADMIN, ref),
            "forget tenant": lambda: archive.forget_tenant(ADMIN, ref.tenant),
            "rollback": lambda: self.roll_back(ref, number),
            "export": lambda: archive.export(ADMIN, ref),
        }
        self.deeds += 1
        made = len(self.teller.asked)
        with suppress(NotFound, ActionRefused):
            self.run(deeds[deed]())
            if deed in ("reset", "forget", "forget tenant"):
                names = {ref.session_id}
                if deed == "forget tenant":
                    names = {
                        c.session.session_id for c in self.clients if c.session and c.tenant == ref.tenant
                    }
                for name in names:
                    self.taken_back[name] |= set(range(1, made + 1))
                if deed != "reset":
                    self.erased |= dict.fromkeys(names, ref)
            if deed not in ("pin", "unpin", "export", "compact"):
                self.is_excused = True
        for rig in self.replicas:
            # The poller is told at once where something was done, elsewhere within seconds.
            with suppress(StoreError):
                self.run(rig.notice_poller.poll())
        self.after()

    async def roll_back(self, ref: SessionRef, number: int) -> None:
        """Go back to one of the versions that there are."""
        archive = self.replicas[0].archive
        versions = sorted((await archive.detail(ADMIN, ref)).versions)
        if versions:
            await archive.rollback(ADMIN, ref, versions[number % len(versions)])
            self.taken_back[ref.session_id].clear()

    # What must be true

    def check_sent(self, client: Client, rig: Rig, decision: Decision, history: list[Any], seen: Any) -> None:
        """Look at what one call sends."""
        marks = {match.group(1) for match in TAG.finditer(seen.text)}
        assert marks <= client.sources, f"{marks - client.sources} in a call of {client.talk.mark}"
        if isinstance(decision, Planned):
            client.session = decision.session
            self.erased.pop(decision.session.session_id, None)
            self.told[decision.session.session_id] |= client.sources
        if decision.messages is None:
            assert decision.policy.mode != "enforce" or decision.sent is decision.request.messages
            client.before = None
            return
        assert decision.policy.mode == "enforce"
        used = decision.used
        assert used is not None
        if len(client.sources) == 1:
            problems, _ = check_sent(client.talk.messages, seen)
            shortened = SHORTENED in seen.text or any(SHORTENED in one.text for one in self.teller.asked)
            if used.kind != "model" or shortened:
                # An extract need not quote how a message begins; what was shortened tells not all of it.
                unfit = ("summary that ends early", "summary that does not fit")
                problems = [problem for problem in problems if not problem.startswith(unfit)]
            assert not problems, (problems, used.kind, used.covers, used.text)
        if not rig.store.faults:
            numbers = {
                int(part.split(":")[0]) for part in used.text.split("SUMMARY ")[1:] if part[:1].isdigit()
            }
            taken = self.taken_back[decision.session.session_id] & numbers
            assert not taken, f"summaries {taken} were taken back"
        self.check_prefix(client, rig, decision, seen)

    def check_prefix(self, client: Client, rig: Rig, decision: Planned, seen: Any) -> None:
        """As long as nothing has happened, a call begins with what the one before it sent.

        A process without its store may not know what operators have pinned, so it is compared with itself
        alone.
        """
        used = decision.used
        assert used is not None
        under = (used.digest, used.kind, used.text, used.clip, self.deeds, self.policy, seen.path)
        sent = [json.dumps(item, sort_keys=True) for item in seen.items]
        now = LastCall(under, list(client.talk.messages), sent, rig, bool(rig.store.faults))
        before, client.before = client.before, now
        if before is None or before.under != under or decision.level == "aggressive":
            return
        if before.rig is not rig and (before.is_alone or now.is_alone):
            return
        if now.said[: len(before.said)] == before.said:
            apart = [(old, new) for old, new in zip(before.sent, sent, strict=False) if old != new]
            assert sent[: len(before.sent)] == before.sent, f"the prefix changed within an epoch: {apart[:1]}"

    def check_store(self) -> None:
        """Look at all that the server holds."""
        assert World.server is not None
        stored = World.server.dump()
        for key, value in stored.items():
            if match := SESSION.search(key):
                strange = marks_in([repr(value)]) - self.told[match.group(1)]
                assert not strange, f"{key} holds texts of {strange}"
        for name, ref in self.erased.items():
            left = [key for key in stored if name in key]
            assert not left, f"{left} of the erased session {ref.session_id}"

    def after(self) -> None:
        """Look at what the step left behind."""
        assert not self.faults.found, self.faults.found
        # Of a store that keeps no summary each process makes its own.
        keeps = POLICIES[self.policy].get("storage", {}).get("content") != "none"
        if keeps and not self.is_excused:
            twice = find_asked_twice(self.teller.asked)
            assert not twice, f"asked twice: {twice[0][-300:]}"


def find_asked_twice(asked: Sequence[Asked]) -> list[str]:
    """Return the questions that were answered well twice, with no failure between the two.

    A summary of several parts of which one fails is asked for anew, with the parts that were answered.
    """
    known: dict[str, int] = {}
    failures, twice = 0, list[str]()
    for one in asked:
        failures += not one.good
        if one.good and known.get(one.text) == failures:
            twice.append(one.text)
        elif one.good:
            known[one.text] = failures
    return twice


class _Faults(logging.Handler):
    """Collects the log lines that tell of a fault of ours."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.found: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.found.append(self.format(record))
