"""What ``Store`` promises, as questions to a Redis: which script, which keys, what the answer means."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, TypeVar

from gateway_compaction.adapters.redis.codec import (
    BEGINNING,
    Script,
    milliseconds,
    read_buffer,
    read_factors,
    script,
    session_keys,
    short_text,
    unversioned,
    written_event,
    written_last,
)
from gateway_compaction.adapters.redis.index import (
    FORGOTTEN,
    REQUESTED,
    VOIDED,
    Command,
    by_second,
    counted,
    dropping,
    indexing,
    label_key,
    latest,
    life_of,
    listing,
    noted,
    owner_facts,
    row_of_now,
    vacating,
)
from gateway_compaction.adapters.redis.rows import number_in, read_row
from gateway_compaction.core.records.call_snapshot import CallSnapshot
from gateway_compaction.core.records.compaction import Compaction, SessionRef
from gateway_compaction.core.records.controls import start_of
from gateway_compaction.core.records.event import CompactionEvent
from gateway_compaction.errors import StoreError
from gateway_compaction.ports import Buffer, Notices

__all__ = ["StoreCalls"]

T = TypeVar("T")
DAY, EVENTS, LABELS, LINEAGE = 86_400.0, 200, 8, 16
LOAD, CLAIM, RENEW, RELEASE = (script(name) for name in ("load", "claim", "renew", "release"))
PUT, APPEND, PAUSE = (script(name) for name in ("put", "append", "pause"))


class StoreCalls:
    """The contract, for whoever can ask: ``RedisStore`` adds the connection.

    What was decided under a generation is refused by the scripts once that has changed. A session that was
    unknown when a request asked has none to compare: whether it was forgotten since is looked up before. And
    what was written just when a session was forgotten is taken back afterwards.
    """

    _seconds: float
    _background: float
    _embedded: bool

    async def _ask(self, call: Callable[[], Awaitable[T]], seconds: float, *, counts: bool = True) -> T:
        raise NotImplementedError

    async def _eval(self, named: Script, keys: Sequence[str], args: Sequence[Any]) -> Any:
        raise NotImplementedError

    async def _send(self, *commands: Command) -> list[Any]:
        raise NotImplementedError

    async def load(self, session: SessionRef, digests: Sequence[str]) -> Buffer:
        """See ``Store.load``."""
        if not digests:
            return Buffer()
        names = "\n".join([digest[:16] for digest in digests])
        keys = session_keys(session, "compactions", "claims", "session")

        async def call() -> Buffer:
            return read_buffer(await self._eval(LOAD, keys, [f"\n{names}\n"]), frozenset(digests))

        return await self._ask(call, self._seconds)

    async def claim(
        self, session: SessionRef, digest: str, chain: Sequence[str], seconds: float, generation: str = ""
    ) -> int:
        """See ``Store.claim``; 0 also while the session backs off."""
        others = "\n".join(chain)
        args = [digest, f"\n{others}\n", milliseconds(seconds), milliseconds(max(DAY, seconds)), BEGINNING]
        keys = session_keys(session, "compactions", "claims", "session")
        if await self._forgotten(session, generation):
            return 0
        token = await self._number(CLAIM, keys, [*args, _expected(generation)])
        return token if token and await self.listed(session, generation) else 0

    async def renew(self, session: SessionRef, digest: str, token: int, seconds: float) -> bool:
        """See ``Store.renew``; a lease that ran out is still its token's until somebody claims."""
        args = [digest, token, milliseconds(seconds), milliseconds(max(DAY, seconds))]
        renewed = bool(await self._number(RENEW, session_keys(session, "claims"), args))
        return renewed and await self.listed(session)

    async def release(
        self, session: SessionRef, digest: str, token: int, *, failure: str | None = None, ttl: float
    ) -> None:
        """See ``Store.release``."""
        reason = "" if failure is None else short_text(failure or "unspecified")
        args = [digest, token, reason, milliseconds(ttl)]
        if await self._number(RELEASE, session_keys(session, "claims", "session"), args):
            await self.listed(session)

    async def put(
        self,
        session: SessionRef,
        compaction: Compaction,
        *,
        token: int | None,
        ttl: float,
        limit: int,
        generation: str = "",
    ) -> int:
        """See ``Store.put``; 16 records at most along one line of parents."""
        keys = session_keys(session, "compactions", "used", "claims", "session")
        args: list[Any] = [compaction.digest, unversioned(compaction), compaction.kind]
        args += [compaction.parent or "", "" if token is None else token]
        args += [max(1, limit), LINEAGE, milliseconds(ttl), _expected(generation)]
        # A token is proof enough: its lease is gone where the session was forgotten.
        basis = generation if token is None else None
        if basis is not None and await self._forgotten(session, basis):
            return 0
        version = await self._number(PUT, keys, args)
        return version if version and await self.listed(session, basis) else 0

    async def append(
        self,
        session: SessionRef,
        event: CompactionEvent,
        *,
        ttl: float,
        used: str | None = None,
        labels: Sequence[str] = (),
        about: Mapping[str, str] | None = None,
        generation: str = "",
        view: str | None = None,
        last: CallSnapshot | None = None,
    ) -> None:
        """See ``Store.append``; two round trips, the second for the indexes."""
        named = [short_text(label) for label in dict.fromkeys(labels) if label][:LABELS]
        facts, (fields, counts) = owner_facts(about), latest(event)
        kept = b"" if last is None else await asyncio.to_thread(written_last, last)
        args: list[Any] = [milliseconds(ttl), written_event(event), used or "", EVENTS, LABELS]
        args += [_expected(generation), view or "", kept]
        args += [part for parts in (named, facts, fields, counts) for part in (len(parts), *parts)]
        keys = session_keys(session, "session", "claims", "events", "compactions", "used", "retired", "last")
        if await self._forgotten(session, generation):
            return
        answer = await self.run(APPEND, keys, args)
        if not answer:
            return
        row, broken = answer
        counts_up, model = counted(event, view, bool(broken)), event.model or "unknown"
        commands = indexing(session, row, ttl, labels=named, facts=facts, counts=counts_up, model=model)
        await self._traced(session, commands, _basis(row, generation), named, facts)

    async def bypass(self, session: SessionRef, reason: str, seconds: float, generation: str = "") -> None:
        """See ``Store.bypass``."""
        await self._pause(session, "bypass", reason, seconds, generation)

    async def backoff(self, session: SessionRef, reason: str, seconds: float, generation: str = "") -> None:
        """See ``Store.backoff``."""
        await self._pause(session, "backoff", reason, seconds, generation)

    async def notices(self) -> Notices:
        """See ``Store.notices``; beside the breaker, which polling would keep open."""
        read = (("ZRANGE", name, 0, -1, "WITHSCORES") for name in (FORGOTTEN, VOIDED, REQUESTED))
        [clock, forgotten, voided, requested] = await self.send(("TIME",), *read, seconds=self._background)
        return Notices(
            forgotten=by_second(forgotten),
            voided=by_second(voided),
            requested=frozenset(
                name for name, until in by_second(requested).items() if until > float(clock[0])
            ),
        )

    async def factors(self) -> Mapping[str, float]:
        """See ``Store.factors``."""

        async def call() -> Mapping[str, float]:
            [found] = await self._send(("HGETALL", "gwc:factors"))
            return read_factors(found)

        return await self._ask(call, self._background)

    async def save_factor(self, model: str, factor: float) -> None:
        """See ``Store.save_factor``."""
        await self.send(
            ("HSET", "gwc:factors", short_text(model), repr(factor)),
            ("PEXPIRE", "gwc:factors", milliseconds(30 * DAY)),
        )

    async def ping(self) -> None:
        """See ``Store.ping``."""
        await self.send(("PING",))

    async def run(
        self, named: Script, keys: Sequence[str], args: Sequence[Any] = (), seconds: float | None = None
    ) -> Any:
        """Run a script; with ``seconds`` beside the breaker: for operators, and what requests never need."""

        async def call() -> Any:
            return await self._eval(named, keys, args)

        return await self._ask(call, seconds or self._background, counts=seconds is None)

    async def send(self, *commands: Command, seconds: float | None = None) -> list[Any]:
        """Ask several things at once; ``EVAL`` takes a ``Script``. For ``seconds`` see ``run``."""

        async def call() -> list[Any]:
            return await self._send(*commands)

        return await self._ask(call, seconds or self._background, counts=seconds is None)

    async def _pause(
        self, session: SessionRef, kind: str, reason: str, seconds: float, generation: str
    ) -> None:
        if await self._forgotten(session, generation):
            return
        text = short_text(reason or "unspecified")
        args = [kind, text, milliseconds(seconds), milliseconds(max(DAY, seconds)), _expected(generation)]
        if await self._number(PAUSE, session_keys(session, "session"), args):
            await self.listed(session, generation)

    async def listed(self, session: SessionRef, generation: str | None = None) -> bool:
        """Renew a session's row; False where the session was forgotten meanwhile.

        A list that is not renewed is no reason to fail: the next event brings it up to date.
        """
        with contextlib.suppress(StoreError):
            [row] = await self.send(row_of_now(session), seconds=self._background)
            basis = _basis(row, "*" if generation is None else generation)
            return bool(row) and await self._traced(session, listing(session, row, life_of(row)), basis)
        return True

    async def _forgotten(self, session: SessionRef, generation: str) -> bool:
        """Whether a session was forgotten since a request asked for it and found none, or got no answer."""
        if _expected(generation):
            return False
        [erased] = await self.send(noted(session))
        return _since(erased, start_of(generation))

    async def _traced(
        self,
        session: SessionRef,
        commands: Sequence[Command],
        basis: float,
        labels: Sequence[bytes] = (),
        facts: Sequence[bytes] = (),
    ) -> bool:
        """Write indexes of what was decided at ``basis``; take all back if it was forgotten since or is gone:
        one that began anew may have been erased with what was left of the old one.

        Requests do not need them: their failing says nothing to the breaker.
        """
        # The in-process server drops expired keys when it counts its keys, and at no other time.
        counting: list[Command] = [("DBSIZE",)] if self._embedded else []
        asked = [*commands, noted(session), ("EXISTS", *session_keys(session, "session")), *counting]
        erased, there, *_ = (await self.send(*asked, seconds=self._background))[len(commands) :]
        if there and not _since(erased, basis):
            return True
        names = [label_key(session.tenant, label) for label in labels]
        _, left, *_ = await self.send(*dropping(session, names), seconds=self._background)
        if not left:
            await self.send(*vacating(session.tenant, facts), seconds=self._background)
        return False

    async def _number(self, named: Script, keys: Sequence[str], args: Sequence[Any]) -> int:
        async def call() -> int:
            return int(await self._eval(named, keys, args))

        return await self._ask(call, self._background)


def _since(scores: Sequence[Any], basis: float) -> bool:
    return any(score is not None and float(score) >= basis for score in scores)


def _expected(generation: str) -> str:
    """The generation that a script must find, empty where any will do."""
    return "" if generation.startswith("+") else generation


def _basis(row: bytes, generation: str) -> float:
    """When what was written was decided: of a known generation the moment of writing, else of asking."""
    if generation and not generation.startswith("+"):
        return number_in(read_row(row) or {}, "rev")
    return start_of(generation)
