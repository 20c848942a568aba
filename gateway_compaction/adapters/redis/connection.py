"""The connection to Redis, or to an in-process Redis where no server is named.

This is the only module that knows the driver. It turns commands into one round trip under a deadline, and
every failure into a ``StoreError``, so that nothing above it has to know what redis-py, the network or an
unreadable answer can raise. ``RedisStore`` (the request path) and ``RedisArchive`` (operators) are given it.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, TypeVar

from redis.asyncio import ConnectionPool, Redis
from redis.asyncio.connection import parse_url
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import (
    BusyLoadingError,
    ClusterDownError,
    MovedError,
    NoScriptError,
    ReadOnlyError,
    RedisError,
    ResponseError,
)
from redis.exceptions import TimeoutError as SlowError

from gateway_compaction.adapters.redis.breaker import Breaker, deadline
from gateway_compaction.adapters.redis.scripts import Command, Script
from gateway_compaction.adapters.secrets import find_address_fault
from gateway_compaction.adapters.vault import Vault
from gateway_compaction.errors import StoreError

log = logging.getLogger("gateway_compaction")
T = TypeVar("T")

# How the URL of a server begins.
SCHEMES = ("redis://", "rediss://", "unix://")

# Connections of one process. More callers than that wait their turn.
CONNECTIONS = 32

# Deadline of what the background waits for.
BACKGROUND_SECONDS = 1.0

# Deadline of connecting, for those who wait for longer. The driver's own timer takes a loop that stands still
# for a server that does not answer; so it is longer than any such delay, and the deadline is `_ask`'s.
CONNECT_SECONDS = 4.0

# Deadline of what an operator waits for: where the server hangs, page and command line say so in a second.
# Each question is bounded, and takes a server milliseconds.
OPERATOR_SECONDS = 0.8

# Answers of a server that is not, or no longer, the one to ask: after a failover the address may lead to
# another one, but a connection that is open stays with the old one.
MISPLACED = (ReadOnlyError, BusyLoadingError, ClusterDownError, MovedError)

# The same in what a script answered: Redis 6 puts a text of its own and a dash before it.
MISPLACED_ANSWER = re.compile(
    r"(?:^|[ -])(?:READONLY|LOADING|MASTERDOWN|CLUSTERDOWN|MOVED|NOREPLICAS)(?= |$)"
)

# So often connections are closed at most for such an answer: where it lasts, calls need not all connect anew.
RENEWAL_SECONDS = 1.0

# All that the driver, the network and an unreadable answer can raise: nothing else leaves a connection.
FAULTS = (RedisError, OSError, EOFError, ValueError, TypeError, LookupError, AttributeError, RuntimeError)


def connect(url: str | None, vault: Vault | None = None) -> RedisConnection:
    """Return a connection to ``redis://``, ``rediss://`` or ``unix://``, or to an in-process server.

    Nothing is sent yet. Texts of conversations are sealed with the vault's key, where it has one.

    Raises:
        StoreError: the URL cannot be used.
    """
    if url is None:
        # Slow to import, and not needed where a server is named.
        from fakeredis import FakeAsyncRedis, FakeServer

        client = FakeAsyncRedis(server=FakeServer(), protocol=2, max_connections=CONNECTIONS)
        return RedisConnection(client, embedded=True, vault=vault)
    options: dict[str, Any] = {
        **_parse_url(url),
        "max_connections": CONNECTIONS,
        "socket_connect_timeout": CONNECT_SECONDS,
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
    pool: Any = ConnectionPool(**options)
    try:
        pool.make_connection()
    except (TypeError, ValueError, RedisError):
        # The driver's own error, which comes with the first call, repeats a part of the URL.
        problem = "an option behind its ? is unknown, or has no such value"
        raise StoreError(f"the Redis URL cannot be used: {problem}") from None
    return RedisConnection(Redis.from_pool(pool), vault=vault)


def _parse_url(url: str) -> Mapping[str, Any]:
    """Return the options that a URL stands for.

    Raises:
        StoreError: it cannot be used. The text repeats nothing of it, and the driver's error is not chained:
            both may end in a log.
    """
    fault = None if url.startswith(SCHEMES) else f"it must begin with {', '.join(SCHEMES)}"
    fault = fault or find_address_fault(url)
    if fault is not None:
        raise StoreError(f"the Redis URL cannot be used: {fault}")
    try:
        options: Mapping[str, Any] = parse_url(url)
    except ValueError:
        raise StoreError("the Redis URL cannot be used: an option behind its ? has no such value") from None
    return options


class RedisConnection:
    """A pool of connections, asked by whoever is given it.

    ``send`` and ``run`` take ``seconds``, the deadline (by default an operator's), and ``breaker``: with
    one, the call is refused while it is open, and counts as its success or failure. Without one, the call
    neither minds a breaker nor moves it: operators must be told that the store is down, and what they ask
    for must not keep requests from it.

    Args:
        client: a redis-py client with undecoded answers and at least 32 connections; it is the connection's
            own from now on, and ``aclose`` closes it.
        embedded: the client talks to an in-process server.
        vault: seals and opens the texts of whoever uses the connection.

    Attributes:
        embedded: as above; such a server drops expired keys only when it is reminded of them.
        round_trips: how often the server was asked since the start.
    """

    def __init__(self, client: Redis, *, embedded: bool = False, vault: Vault | None = None) -> None:
        self._client: Any = client  # the driver's own annotations are incomplete
        self.embedded = embedded
        self.vault = vault or Vault()
        self.round_trips = 0
        # Waiting here can be cancelled safely; the driver's pools raise when full, or lose connections.
        self._gate = asyncio.Semaphore(CONNECTIONS)
        self._renewed_at = -RENEWAL_SECONDS
        self._connecting: asyncio.Task[None] | None = None

    async def send(
        self, *commands: Command, seconds: float = OPERATOR_SECONDS, breaker: Breaker | None = None
    ) -> list[Any]:
        """Send several commands in one round trip and return their answers, in order.

        Scripts that the server does not know are sent again in full, in a second round trip.

        Raises:
            StoreError: one of them failed, or there was no answer in time; ``StoreBusy`` where the breaker
                is open.
        """

        async def call() -> list[Any]:
            answers = await self._send_pipeline([_to_evalsha(command) for command in commands])
            unknown = [i for i, answer in enumerate(answers) if isinstance(answer, NoScriptError)]
            if unknown:
                again = await self._send_pipeline([_to_eval(commands[i]) for i in unknown])
                for i, answer in zip(unknown, again, strict=True):
                    answers[i] = answer
            for answer in answers:
                if isinstance(answer, Exception):
                    raise answer
            return answers

        return await self._ask(call, seconds, breaker)

    async def run(
        self,
        script: Script,
        keys: Sequence[str],
        args: Sequence[Any],
        decode: Callable[[Any], T],
        *,
        seconds: float = OPERATOR_SECONDS,
        breaker: Breaker | None = None,
    ) -> T:
        """Run one script and return its answer as ``decode`` reads it.

        Raises:
            StoreError: it failed, there was no answer in time, or ``decode`` could not read it;
                ``StoreBusy`` where the breaker is open.
        """

        async def call() -> T:
            self.round_trips += 1
            try:
                answer = await self._client.execute_command("EVALSHA", script.sha, len(keys), *keys, *args)
            except NoScriptError:
                self.round_trips += 1
                answer = await self._client.execute_command("EVAL", script.text, len(keys), *keys, *args)
            return decode(answer)

        return await self._ask(call, seconds, breaker)

    async def fetch_info(self, *, seconds: float = OPERATOR_SECONDS) -> Mapping[str, Any]:
        """Return what the server tells of itself (``INFO``).

        Raises:
            StoreError: it did not answer in time, or this user may not ask.
        """
        info: Mapping[str, Any] = await self._ask(self._client.info, seconds, None)
        return info

    async def aclose(self, *, seconds: float = BACKGROUND_SECONDS) -> None:
        """Close all connections.

        Raises:
            StoreError: that did not work, or not in time.
        """
        if self._connecting is not None:
            self._connecting.cancel()
        try:
            async with asyncio.timeout(seconds):
                await self._client.aclose()
        except FAULTS as error:
            raise StoreError(_describe(error)) from error

    async def _send_pipeline(self, commands: Sequence[Command]) -> list[Any]:
        """Return the answers to some commands; an error is an answer too."""
        self.round_trips += 1
        async with self._client.pipeline(transaction=False) as pipeline:
            for command in commands:
                pipeline.execute_command(*command)
            answers: list[Any] = await pipeline.execute(raise_on_error=False)
        return answers

    async def _ask(self, call: Callable[[], Awaitable[T]], seconds: float, breaker: Breaker | None) -> T:
        """Make a call, with a deadline, the breaker's leave, and every failure as a ``StoreError``.

        This is the only way to the server.
        """
        # A new breaker lets one call through, and nobody else ever sees it.
        breaker = breaker or Breaker()
        probe, asked = breaker.enter(), False
        try:
            async with deadline(seconds) as wait, self._gate:
                asked = True
                answer = await self._call_and_renew(call)
        except ResponseError as error:
            # It answered: a server that only refuses to write (full, or a replica) stays readable.
            _record_success(breaker, probe)
            raise StoreError(_describe(error)) from error
        except FAULTS as error:
            # Our own loop's delay says nothing about the server.
            if asked and (probe or not (isinstance(error, TimeoutError) and wait.stalled)):
                _record_failure(breaker, probe, error)
            if isinstance(error, TimeoutError):
                self._connect_ahead()
            raise StoreError(_describe(error)) from error
        else:
            _record_success(breaker, probe)
            return answer
        finally:
            breaker.leave(probe)

    def _connect_ahead(self) -> None:
        """Have a connection made beside the requests, for the next of them.

        A request's deadline may be too short for a handshake (TLS, a server far away), and cuts it off each
        time. Where a failure has closed all connections, no probe of the breaker would ever be answered.
        """
        if self._connecting is None or self._connecting.done():
            self._connecting = asyncio.get_running_loop().create_task(self._connect())

    async def _connect(self) -> None:
        with contextlib.suppress(*FAULTS):
            async with asyncio.timeout(CONNECT_SECONDS), self._gate:
                await self._client.ping()

    async def _call_and_renew(self, call: Callable[[], Awaitable[T]]) -> T:
        """Make a call; where another server is to be asked, close the connections to this one.

        A pool keeps its connections as long as they answer. After a failover they lead to the old primary,
        which refuses every write, and nothing but a restart would end that.
        """
        try:
            return await call()
        except RedisError as error:
            if _is_misplaced(error):
                await self._renew_connections(error)
            raise

    async def _renew_connections(self, error: RedisError) -> None:
        """Close idle connections now, and those in use once their answer is there."""
        now = asyncio.get_running_loop().time()
        if now - self._renewed_at < RENEWAL_SECONDS:
            return
        self._renewed_at = now
        log.warning("store: %s; its connections are closed, the next call connects anew", _describe(error))
        pool = self._client.connection_pool
        await pool.update_active_connections_for_reconnect()
        await pool.disconnect(inuse_connections=False)


def _is_misplaced(error: RedisError) -> bool:
    """Tell whether an answer says that another server is the one to ask."""
    return isinstance(error, MISPLACED) or MISPLACED_ANSWER.search(str(error)) is not None


def _record_success(breaker: Breaker, probe: bool) -> None:
    """Tell the breaker of an answer; log the one that closes it."""
    before = breaker.state
    breaker.record_success(probe)
    if before == "open" and breaker.state == "closed":
        log.warning("store: it answers again")


def _record_failure(breaker: Breaker, probe: bool, error: BaseException) -> None:
    """Tell the breaker of a failure; log the one that opens it, and each probe that fails."""
    before = breaker.state
    breaker.record_failure(probe)
    if breaker.state == "open" and (probe or before == "closed"):
        text = "store: %s; not asked for %.0f s, requests go on without it"
        log.warning(text, _describe(error), breaker.pause)


def _to_evalsha(command: Command) -> Command:
    """Name a script by its hash, which most servers know already, instead of its text."""
    if command[0] != "EVAL":
        return command
    return ("EVALSHA", command[1].sha, *command[2:])


def _to_eval(command: Command) -> Command:
    """Write a script out in full."""
    return ("EVAL", command[1].text, *command[2:])


def _describe(error: BaseException) -> str:
    if isinstance(error, TimeoutError | SlowError):
        return "it did not answer in time"
    return f"{type(error).__name__}{f': {error}' if str(error) else ''}"[:200]
