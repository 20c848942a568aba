"""The engine on a bench: every part real but the summariser, the models' windows and, at will, the store."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from typing import Any

from gateway_compaction.adapters.redis.archive import RedisArchive
from gateway_compaction.adapters.redis.connection import connect
from gateway_compaction.adapters.redis.store import RedisStore
from gateway_compaction.core.policy.book import Identity, PolicyBook
from gateway_compaction.core.records.compaction import SessionRef
from gateway_compaction.core.text import identifiers, terms
from gateway_compaction.engine.compactor import Compactor
from gateway_compaction.engine.length_refusals import LengthRefusals
from gateway_compaction.engine.local_buffer import LocalBuffer
from gateway_compaction.engine.parts import EngineParts
from gateway_compaction.engine.polling import NoticePoller
from gateway_compaction.engine.post_call import Ending, PostCall
from gateway_compaction.engine.request import Decision, Request
from gateway_compaction.engine.summary_pipeline import SummaryPipeline
from gateway_compaction.engine.worker import Limits, Worker
from gateway_compaction.errors import StoreError
from gateway_compaction.ports import Caller, ModelFacts, Store, SummaryAnswer, SummaryRequest
from gateway_compaction.runtime import use_bundled_encodings
from tests.lab.holding import holds
from tests.policy_books import book
from tests.store_contract import raw

__all__ = ["ANSWERED", "Clock", "FaultyStore", "Fixed", "Rig", "Scripted", "encodings", "events", "values"]

ANSWERED = Ending("answered")
MODEL = "gpt-4o"
Answer = SummaryAnswer | Exception | str


def encodings() -> None:
    """Let the token counter find its files."""
    use_bundled_encodings()


class Clock:
    """Time that only moves when a test says so."""

    def __init__(self, now: float = 1_000.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


class Fixed:
    """``Models`` with windows by name."""

    def __init__(self, default: int | None, **windows: int | None) -> None:
        self.default, self.windows = default, windows

    def facts(self, model: str) -> ModelFacts:
        return ModelFacts(self.windows.get(model, self.default), model)


class Scripted:
    """A ``Summarizer`` that answers from a list, then with a numbered sentence; ``gate`` holds it back."""

    def __init__(self, *answers: Answer) -> None:
        self.answers = list(answers)
        self.requests: list[SummaryRequest] = []
        self.gate = asyncio.Event()
        self.gate.set()
        self.running, self.most = 0, 0

    async def complete(self, request: SummaryRequest) -> SummaryAnswer:
        self.requests.append(request)
        number = len(self.requests)
        self.running += 1
        self.most = max(self.most, self.running)
        try:
            await self.gate.wait()
        finally:
            self.running -= 1
        answer = self.answers.pop(0) if self.answers else f"Summary number {number}: all went well."
        if isinstance(answer, Exception):
            raise answer
        return answer if isinstance(answer, SummaryAnswer) else SummaryAnswer(answer, "stop", request.model)


class FaultyStore:
    """The store, with calls that fail by name; ``calls`` counts those that were made."""

    def __init__(self, inner: Store) -> None:
        self.inner = inner
        self.faults: dict[str, StoreError] = {}
        self.calls: dict[str, int] = {}

    def __getattr__(self, name: str) -> Any:
        call = getattr(self.inner, name)

        async def guarded(*args: Any, **kwargs: Any) -> Any:
            self.calls[name] = self.calls.get(name, 0) + 1
            if name in self.faults:
                raise self.faults[name]
            return await call(*args, **kwargs)

        return guarded

    def fail(self, error: StoreError, *names: str) -> None:
        """Let these calls fail from now on; without names, all of them."""
        every = ("load", "claim", "renew", "release", "put", "append", "bypass", "backoff", "save_factor")
        self.faults = dict.fromkeys(names or every, error)


class Rig:
    """One process of a gateway; ``client`` looks at what the store holds.

    Args:
        defaults: keys of the policy file's ``defaults``; where they name no summariser, it is ``small``,
            whose window is large. Recall is off, and a model replaces an extract at once.
        redis: the server of another rig, to be its replica.
    """

    def __init__(
        self,
        window: int | None = 2_000,
        defaults: Mapping[str, Any] | None = None,
        *policies: Any,
        redis: RedisStore | None = None,
        models: Fixed | None = None,
        limits: Limits | None = None,
        policy_book: PolicyBook | None = None,
        executor: ThreadPoolExecutor | None = None,
    ) -> None:
        self.redis = redis or RedisStore(connect(None), timeout_seconds=5.0)
        self.client = raw(self.redis)
        self.store = FaultyStore(self.redis)
        self.summarizer = Scripted()
        self.models = models or Fixed(window, small=100_000)
        self.clock = Clock()
        self.executor = executor or ThreadPoolExecutor(max_workers=1)
        self.background: Executor = ThreadPoolExecutor(max_workers=1)
        store: Any = self.store
        self.local = LocalBuffer(self.clock)
        self.parts = EngineParts(store, local=self.local)
        self.counter = self.parts.counter
        defaults = dict(defaults or {})
        # One call is enough for an extract, and the next one for what a model writes in its place.
        at_once = {"aggressive": {"replace": "at_once"}}
        defaults = {"recall": {"max_tokens": 0}, "levels": at_once, **defaults}
        defaults["summary"] = {"model": "small", **defaults.get("summary", {})}
        self.book = policy_book or book(defaults, *policies)
        self.pipeline = SummaryPipeline(self.summarizer, self.models, self.background, self.clock, 0.0)
        # Tests of a store that fails need not wait until it is given up.
        limits = limits or Limits(write_pauses=())
        self.worker = Worker(self.parts, self.pipeline.make_summary, limits)
        self.compactor = Compactor(self.parts, self.worker, lambda: self.book, self.models, self.executor)
        self.post_call = self.make_post_call()
        self.refusals = LengthRefusals(self.parts, self.compactor, self.worker, self.background)
        self.archive = RedisArchive(self.redis.connection)
        self.notice_poller = NoticePoller(
            store, self.worker, self.compactor, self.local, [self.archive.clear]
        )

    def make_post_call(self, clock: Callable[[], float] = time.time) -> PostCall:
        """Make what follows calls; with another clock if one is given."""
        return PostCall(self.parts, self.worker, self.background, clock)

    def request(
        self,
        messages: Sequence[Any],
        *,
        model: str = MODEL,
        tenant: str = "t" * 32,
        team: str | None = None,
        body: Mapping[str, Any] | None = None,
        identity: Identity | None = None,
        **more: Any,
    ) -> Request:
        """A request as the hook hands it over."""
        identity = identity or Identity(team_id=team, model=model)
        return Request(list(messages), body or {}, model, tenant, identity, Caller(model), **more)

    async def decide(self, messages: Sequence[Any], **more: Any) -> Decision:
        """Decide, and let nothing follow."""
        return await self.compactor.compact(self.request(messages, **more))

    async def call(
        self, messages: Sequence[Any], ending: Ending = ANSWERED, *, settle: bool = True, **more: Any
    ) -> Decision:
        """Decide, answer, and wait for what follows in the background."""
        decision = await self.decide(messages, **more)
        self.post_call.follow(decision, ending)
        if settle:
            await self.settle()
        return decision

    async def settle(self) -> None:
        """Wait for the background."""
        await self.worker.drain(20.0)

    def remembers(self, text: str) -> bool:
        """Whether what requests leave in the process holds a text; no store, no summariser."""
        roots = (self.compactor, self.local, self.archive, *vars(identifiers).values(), *vars(terms).values())
        return holds(roots, text, apart=(self.store, self.redis, self.client, self.summarizer))

    async def aclose(self) -> None:
        """Give up what still runs, and close."""
        await self.worker.drain(0.0)
        for executor in (self.executor, self.background):
            executor.shutdown(wait=True, cancel_futures=True)
        await self.redis.aclose()


async def events(redis: RedisStore, session: SessionRef) -> list[dict[str, Any]]:
    """The events of a session, oldest first."""
    told = await raw(redis).lrange(f"gwc:{{{session.session_id}}}:events", 0, -1)
    return [json.loads(text) for text in reversed(told)]


async def values(redis: RedisStore) -> list[bytes]:
    """Every value in the store, and every key."""
    client = raw(redis)
    read: dict[bytes, Callable[[bytes], Any]] = {
        b"hash": client.hgetall,
        b"list": lambda key: client.lrange(key, 0, -1),
        b"zset": lambda key: client.zrange(key, 0, -1),
        b"string": client.get,
        b"set": client.smembers,
    }
    found: list[bytes] = []
    for key in await client.keys("*"):
        value = await read[await client.type(key)](key)
        pairs = [*value.keys(), *value.values()] if isinstance(value, dict) else value
        found += [key, *(pairs if isinstance(pairs, list | set) else [pairs])]
    return found
