"""The one implementation of ``Store``: Redis, or an in-process Redis when no server is named.

Every key starts with ``gwc:`` and expires; the keys of a session share a cluster slot. The layout is
described in docs/redis.md.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Literal, TypeVar

from redis.asyncio import ConnectionPool, Redis
from redis.asyncio.connection import parse_url
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import NoScriptError, RedisError, ResponseError

from gateway_compaction.adapters.breaker import Breaker, deadline
from gateway_compaction.adapters.records import (
    BEGINNING,
    Script,
    milliseconds,
    read_buffer,
    read_factors,
    script,
    session_keys,
    short_text,
    unversioned,
)
from gateway_compaction.core.compaction import Compaction, SessionRef
from gateway_compaction.core.events import CompactionEvent
from gateway_compaction.errors import StoreError
from gateway_compaction.ports import Buffer

__all__ = ["RedisStore", "connect"]

T = TypeVar("T")

CONNECTIONS = 32
BACKGROUND_SECONDS = 1.0
DAY = 86_400.0
EVENTS, LABELS, LINEAGE = 200, 8, 16
LABELLED, INDEXED = 100, 10_000

# All that the driver, the network and an unreadable answer can raise: nothing else leaves a store.
FAULTS = (RedisError, OSError, EOFError, ValueError, TypeError, LookupError, AttributeError, RuntimeError)

LOAD, CLAIM, RENEW, RELEASE = (script(name) for name in ("load", "claim", "renew", "release"))
PUT, APPEND, INDEX, PAUSE = (script(name) for name in ("put", "append", "index", "pause"))


def connect(url: str | None, *, timeout_seconds: float = 0.05) -> RedisStore:
    """A store for ``redis://``, ``rediss://`` or ``unix://``, or an in-process one; does not connect yet.

    Args:
        timeout_seconds: deadline of what a request waits for (``load``); background calls have 1 s.

    Raises:
        StoreError: the URL cannot be used.
    """
    if url is None:
        # Slow to import, and not needed where a server is named.
        from fakeredis import FakeAsyncRedis, FakeServer

        client = FakeAsyncRedis(server=FakeServer(), protocol=2, max_connections=CONNECTIONS)
        return RedisStore(client, timeout_seconds=timeout_seconds, embedded=True)
    try:
        named = parse_url(url)
    except ValueError as error:
        raise StoreError(f"the Redis URL cannot be used: {error}") from error
    options: dict[str, Any] = {
        **named,
        "max_connections": CONNECTIONS,
        "socket_connect_timeout": BACKGROUND_SECONDS,
        # The deadline is `_ask`'s. One more inside the driver would run through `asyncio.wait_for`, which in
        # Python 3.11 can swallow the cancellation that `_ask` sends.
        "socket_timeout": None,
        "retry": Retry(NoBackoff(), 0),
        "retry_on_timeout": False,
        "retry_on_error": [],
        "health_check_interval": 0,
        "protocol": 2,
        "decode_responses": False,
    }
    return RedisStore(Redis.from_pool(ConnectionPool(**options)), timeout_seconds=timeout_seconds)


class RedisStore:
    """A ``Store`` on a redis-py client with at least 32 connections and undecoded answers.

    Args:
        client: the store's own from now on: ``aclose`` closes it.
        embedded: the client talks to an in-process server, which must be reminded of expired keys.

    Attributes:
        round_trips: how often the server was asked, since the start.
    """

    def __init__(
        self,
        client: Redis,
        *,
        timeout_seconds: float = 0.05,
        background_seconds: float = BACKGROUND_SECONDS,
        breaker: Breaker | None = None,
        embedded: bool = False,
    ) -> None:
        self._client: Any = client  # the driver's own annotations are incomplete
        self._seconds, self._background = timeout_seconds, background_seconds
        self._breaker = breaker or Breaker()
        self._embedded = embedded
        # Waiting here can be cancelled safely; the driver's pools raise when full, or lose connections.
        self._gate = asyncio.Semaphore(CONNECTIONS)
        self.round_trips = 0

    @property
    def state(self) -> Literal["closed", "open"]:
        """``open`` while the breaker keeps calls from the server."""
        return self._breaker.state

    async def load(self, session: SessionRef, digests: Sequence[str]) -> Buffer:
        """See ``Store.load``."""
        if not digests:
            return Buffer()
        names = "\n".join([digest[:16] for digest in digests])
        keys = session_keys(session, "compactions", "claims", "session")

        async def call() -> Buffer:
            return read_buffer(await self._eval(LOAD, keys, [f"\n{names}\n"]), frozenset(digests))

        return await self._ask(call, self._seconds)

    async def claim(self, session: SessionRef, digest: str, chain: Sequence[str], seconds: float) -> int:
        """See ``Store.claim``; 0 also while the session backs off."""
        others = "\n".join(chain)
        args = [digest, f"\n{others}\n", milliseconds(seconds), milliseconds(max(DAY, seconds)), BEGINNING]
        return await self._number(CLAIM, session_keys(session, "compactions", "claims", "session"), args)

    async def renew(self, session: SessionRef, digest: str, token: int, seconds: float) -> bool:
        """See ``Store.renew``; a lease that ran out is still its token's until somebody claims."""
        args = [digest, token, milliseconds(seconds), milliseconds(max(DAY, seconds))]
        return bool(await self._number(RENEW, session_keys(session, "claims"), args))

    async def release(
        self, session: SessionRef, digest: str, token: int, *, failure: str | None = None, ttl: float
    ) -> None:
        """See ``Store.release``."""
        reason = "" if failure is None else short_text(failure or "unspecified")
        args = [digest, token, reason, milliseconds(ttl)]
        await self._number(RELEASE, session_keys(session, "claims", "session"), args)

    async def put(
        self, session: SessionRef, compaction: Compaction, *, token: int | None, ttl: float, limit: int
    ) -> int:
        """See ``Store.put``; 16 records at most along one line of parents."""
        keys = session_keys(session, "compactions", "used", "claims", "session")
        args: list[Any] = [compaction.digest, unversioned(compaction), compaction.kind]
        args += [compaction.parent or "", "" if token is None else token]
        return await self._number(PUT, keys, [*args, max(1, limit), LINEAGE, milliseconds(ttl)])

    async def append(
        self,
        session: SessionRef,
        event: CompactionEvent,
        *,
        ttl: float,
        used: str | None = None,
        labels: Sequence[str] = (),
        about: Mapping[str, str] | None = None,
    ) -> None:
        """See ``Store.append``; two round trips, the second for the indexes."""
        named = [short_text(label) for label in dict.fromkeys(labels) if label][:LABELS]
        facts = [short_text(part) for pair in (about or {}).items() for part in pair]
        text = json.dumps(event.to_dict(), separators=(",", ":"))
        args = [milliseconds(ttl), text, used or "", EVENTS, LABELS]
        keys = session_keys(session, "session", "events", "compactions", "used", "claims")
        await self._number(APPEND, keys, [*args, len(named), *named, *facts])
        await self._index(session, ttl, [hashlib.sha256(label).hexdigest()[:32] for label in named], facts)

    async def bypass(self, session: SessionRef, reason: str, seconds: float) -> None:
        """See ``Store.bypass``."""
        await self._pause(session, "bypass", reason, seconds)

    async def backoff(self, session: SessionRef, reason: str, seconds: float) -> None:
        """See ``Store.backoff``."""
        await self._pause(session, "backoff", reason, seconds)

    async def factors(self) -> Mapping[str, float]:
        """See ``Store.factors``."""

        async def call() -> Mapping[str, float]:
            [found] = await self._send(("HGETALL", "gwc:factors"))
            return read_factors(found)

        return await self._ask(call, self._background)

    async def save_factor(self, model: str, factor: float) -> None:
        """See ``Store.save_factor``."""
        await self._commands(
            ("HSET", "gwc:factors", short_text(model), repr(factor)),
            ("PEXPIRE", "gwc:factors", milliseconds(30 * DAY)),
        )

    async def ping(self) -> None:
        """See ``Store.ping``."""
        await self._commands(("PING",))

    async def aclose(self) -> None:
        """See ``Store.aclose``; the breaker has no say in it."""
        try:
            async with asyncio.timeout(self._background):
                await self._client.aclose()
        except FAULTS as error:
            raise StoreError(_said(error)) from error

    async def _index(
        self, session: SessionRef, ttl: float, labels: Sequence[str], facts: Sequence[bytes]
    ) -> None:
        tenant = f"gwc:{{{session.tenant}}}"
        life = [milliseconds(ttl), int(max(ttl, 30 * DAY))]
        hashes = [f"{tenant}:about"] if facts else []
        sets = [f"{tenant}:label:{label}" for label in labels]
        calls: list[list[Any]] = [
            [1 + len(hashes), f"{tenant}:sessions", *hashes, session.key, *life, INDEXED, 1, *facts],
            [1, "gwc:tenants", session.tenant, *life, INDEXED, 1],
        ]
        if sets:
            calls.append([len(sets), *sets, session.key, *life, LABELLED, len(sets)])
        # In full, not by hash: a pipeline cannot send a script again that the server turned out not to know.
        commands: list[tuple[Any, ...]] = [("EVAL", INDEX.text, *call) for call in calls]
        # The in-process server drops expired keys when it counts its keys, and at no other time.
        await self._commands(*commands, *([("DBSIZE",)] if self._embedded else []))

    async def _pause(self, session: SessionRef, kind: str, reason: str, seconds: float) -> None:
        text = short_text(reason or "unspecified")
        args = [kind, text, milliseconds(seconds), milliseconds(max(DAY, seconds))]
        await self._number(PAUSE, session_keys(session, "session"), args)

    async def _number(self, named: Script, keys: Sequence[str], args: Sequence[Any]) -> int:
        async def call() -> int:
            return int(await self._eval(named, keys, args))

        return await self._ask(call, self._background)

    async def _commands(self, *commands: tuple[Any, ...]) -> None:
        async def call() -> None:
            await self._send(*commands)

        await self._ask(call, self._background)

    async def _eval(self, named: Script, keys: Sequence[str], args: Sequence[Any]) -> Any:
        self.round_trips += 1
        try:
            return await self._client.execute_command("EVALSHA", named.sha, len(keys), *keys, *args)
        except NoScriptError:
            self.round_trips += 1
            return await self._client.execute_command("EVAL", named.text, len(keys), *keys, *args)

    async def _send(self, *commands: tuple[Any, ...]) -> list[Any]:
        self.round_trips += 1
        async with self._client.pipeline(transaction=False) as pipeline:
            for command in commands:
                pipeline.execute_command(*command)
            answers: list[Any] = await pipeline.execute(raise_on_error=False)
        for answer in answers:
            if isinstance(answer, Exception):
                raise answer
        return answers

    async def _ask(self, call: Callable[[], Awaitable[T]], seconds: float) -> T:
        """The one way to the server: breaker, deadline, and every failure as a ``StoreError``."""
        probe, asked = self._breaker.enter(), False
        try:
            async with deadline(seconds), self._gate:
                asked = True
                answer = await call()
        except ResponseError as error:
            # It answered: a server that only refuses to write (full, or a replica) stays readable.
            self._breaker.succeeded(probe)
            raise StoreError(_said(error)) from error
        except FAULTS as error:
            if asked:
                self._breaker.failed(probe)
            raise StoreError(_said(error)) from error
        else:
            self._breaker.succeeded(probe)
            return answer
        finally:
            self._breaker.left(probe)


def _said(error: BaseException) -> str:
    return f"{type(error).__name__}: {str(error)[:200]}"
