"""The one implementation of ``Store``: Redis, or an in-process Redis when no server is named.

Every key starts with ``gwc:`` and expires; the keys of a session share a cluster slot. The layout is
described in docs/redis.md.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Literal, TypeVar

from redis.asyncio import ConnectionPool, Redis
from redis.asyncio.connection import parse_url
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import NoScriptError, RedisError, ResponseError
from redis.exceptions import TimeoutError as SlowError

from gateway_compaction.adapters.redis.breaker import Breaker, deadline
from gateway_compaction.adapters.redis.codec import Script
from gateway_compaction.adapters.redis.index import Command
from gateway_compaction.adapters.redis.store import StoreCalls
from gateway_compaction.errors import StoreError

__all__ = ["RedisStore", "connect"]

log = logging.getLogger("gateway_compaction")
T = TypeVar("T")

CONNECTIONS = 32
BACKGROUND_SECONDS = 1.0

# All that the driver, the network and an unreadable answer can raise: nothing else leaves a store.
FAULTS = (RedisError, OSError, EOFError, ValueError, TypeError, LookupError, AttributeError, RuntimeError)


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


class RedisStore(StoreCalls):
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

    async def aclose(self) -> None:
        """See ``Store.aclose``; the breaker has no say in it."""
        try:
            async with asyncio.timeout(self._background):
                await self._client.aclose()
        except FAULTS as error:
            raise StoreError(_said(error)) from error

    async def _eval(self, named: Script, keys: Sequence[str], args: Sequence[Any]) -> Any:
        self.round_trips += 1
        try:
            return await self._client.execute_command("EVALSHA", named.sha, len(keys), *keys, *args)
        except NoScriptError:
            self.round_trips += 1
            return await self._client.execute_command("EVAL", named.text, len(keys), *keys, *args)

    async def _send(self, *commands: Command) -> list[Any]:
        answers = await self._pipelined([_by_hash(command) for command in commands])
        unknown = [i for i, answer in enumerate(answers) if isinstance(answer, NoScriptError)]
        if unknown:
            sent = await self._pipelined([_in_full(commands[i]) for i in unknown])
            answers = [sent.pop(0) if i in unknown else answer for i, answer in enumerate(answers)]
        for answer in answers:
            if isinstance(answer, Exception):
                raise answer
        return answers

    async def _pipelined(self, commands: Sequence[Command]) -> list[Any]:
        self.round_trips += 1
        async with self._client.pipeline(transaction=False) as pipeline:
            for command in commands:
                pipeline.execute_command(*command)
            answers: list[Any] = await pipeline.execute(raise_on_error=False)
        return answers

    async def _ask(self, call: Callable[[], Awaitable[T]], seconds: float, *, counts: bool = True) -> T:
        """The one way to the server: breaker, deadline, and every failure as a ``StoreError``.

        What does not count neither minds the breaker nor moves it.
        """
        breaker = self._breaker if counts else Breaker()
        probe, asked = breaker.enter(), False
        try:
            async with deadline(seconds) as waiting, self._gate:
                asked = True
                answer = await call()
        except ResponseError as error:
            # It answered: a server that only refuses to write (full, or a replica) stays readable.
            self._succeeded(breaker, probe)
            raise StoreError(_said(error)) from error
        except FAULTS as error:
            # Our own loop's delay says nothing about the server.
            if asked and (probe or not (isinstance(error, TimeoutError) and waiting.stalled)):
                self._failed(breaker, probe, error)
            raise StoreError(_said(error)) from error
        else:
            self._succeeded(breaker, probe)
            return answer
        finally:
            breaker.left(probe)

    @staticmethod
    def _failed(breaker: Breaker, probe: bool, error: BaseException) -> None:
        """One line when it opens, and one for each probe that fails."""
        before = breaker.state
        breaker.failed(probe)
        if breaker.state == "open" and (probe or before == "closed"):
            told = "store: %s; not asked for %.0f s, requests go on without it"
            log.warning(told, _said(error), breaker.pause)

    @staticmethod
    def _succeeded(breaker: Breaker, probe: bool) -> None:
        before = breaker.state
        breaker.succeeded(probe)
        if before == "open" and breaker.state == "closed":
            log.warning("store: it answers again")


def _by_hash(command: Command) -> Command:
    name, *rest = command
    return ("EVALSHA", rest[0].sha, *rest[1:]) if name == "EVAL" else command


def _in_full(command: Command) -> Command:
    return ("EVAL", command[1].text, *command[2:])


def _said(error: BaseException) -> str:
    if isinstance(error, TimeoutError | SlowError):
        return "it did not answer in time"
    return f"{type(error).__name__}{f': {error}' if str(error) else ''}"[:200]
