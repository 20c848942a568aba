"""The request path's store on Redis: the script that answers each call of ``ports.Store``, and its keys."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from gateway_compaction.adapters.redis.breaker import Breaker
from gateway_compaction.adapters.redis.codec import (
    decode_counts,
    decode_factors,
    decode_rates,
    decode_restored,
    decode_scores,
    decode_windows,
    encode_event,
    encode_restored,
    encode_snapshot,
    encode_text,
    encode_window,
    to_milliseconds,
)
from gateway_compaction.adapters.redis.connection import BACKGROUND_SECONDS, RedisConnection
from gateway_compaction.adapters.redis.index import (
    DAY_SECONDS,
    IndexedCall,
    build_erasure_query,
    build_field_write,
    build_indexing,
    build_restoring_notice,
    count_event,
    encode_owner,
    to_session_fields,
)
from gateway_compaction.adapters.redis.index_writer import (
    IndexWriter,
    find_decision_time,
    is_erased_since,
)
from gateway_compaction.adapters.redis.keys import (
    FACTORS,
    FORGOTTEN,
    MOST_LABELS,
    POLICY_PROBLEMS,
    PROBE,
    PROBE_MILLISECONDS,
    RATES,
    REQUESTED,
    RESTORING,
    SESSION_PARTS,
    VOIDED,
    WINDOWS,
    label_key,
    restored_key,
    restores_key,
    session_keys,
)
from gateway_compaction.adapters.redis.scripts import Command, Script, load_script
from gateway_compaction.adapters.redis.sealing import (
    BOUNDS_FIELD,
    CLIENT_STATE_FIELD,
    REDACT_FIELD,
    conceal_failure,
    decode_session,
    encode_sealed_record,
    find_record_prefix,
    open_restored,
    seal_client_state,
    seal_point,
    seal_restored,
    seal_snapshot,
)
from gateway_compaction.core.records.call_snapshot import CallSnapshot
from gateway_compaction.core.records.compaction import Compaction, SessionRef
from gateway_compaction.core.records.controls import is_stored, read_start
from gateway_compaction.core.records.event import CompactionEvent
from gateway_compaction.core.records.restore_point import RestoredBlock, RestorePoint
from gateway_compaction.core.records.snapshots import SnapshotBounds
from gateway_compaction.core.tokens.windows import LEARNED_SECONDS, LearnedWindow
from gateway_compaction.ports import LONGEST_PAUSE_SECONDS, Buffer, CallRecord, Notices, RecordLimit

LOAD = load_script("load", "read_session")
CLAIM = load_script("claim")
RENEW = load_script("renew")
RELEASE = load_script("release")
PUT = load_script("put")
APPEND = load_script("append")
PAUSE = load_script("pause")
KEEP_POINT = load_script("point")

# Characters of a digest that name it in a load. A long conversation has thousands; the rest is compared here.
DIGEST_CHARS = 16

# So long factors are kept after the last one was learned.
FACTOR_SECONDS = 30 * DAY_SECONDS


class RedisStore:
    """``ports.Store`` on a Redis connection.

    What was decided under a generation is refused by the scripts once that has changed. A session that was
    unknown when a request asked has none to compare: whether it was erased since is looked up before. And
    what was written just when a session was erased is taken back afterwards (see ``IndexWriter``).

    Args:
        connection: also given to the operators' ``RedisArchive``; ``aclose`` closes it.
        timeout_seconds: deadline of ``load``, the only call that a request waits for.
        background_seconds: deadline of all other calls.
        breaker: of this store alone. What operators ask for, indexes and polling pass it by.
    """

    def __init__(
        self,
        connection: RedisConnection,
        *,
        timeout_seconds: float = 0.04,
        background_seconds: float = BACKGROUND_SECONDS,
        breaker: Breaker | None = None,
    ) -> None:
        self.connection = connection
        self._vault = connection.vault
        self._timeout_seconds = timeout_seconds
        self._background_seconds = background_seconds
        self._breaker = breaker or Breaker()
        self._index = IndexWriter(connection, seconds=background_seconds)

    @property
    def state(self) -> Literal["closed", "open"]:
        """``open`` while the breaker keeps calls from the server."""
        return self._breaker.state

    async def load(self, session: SessionRef, digests: Sequence[str]) -> Buffer:
        """See ``Store.load``."""
        if not digests:
            return Buffer()
        names = "\n".join([digest[:DIGEST_CHARS] for digest in digests])
        return await self.connection.run(
            LOAD,
            session_keys(session, "compactions", "claims", "session"),
            [f"\n{names}\n"],
            lambda answer: decode_session(answer, session, frozenset(digests), self._vault),
            seconds=self._timeout_seconds,
            breaker=self._breaker,
        )

    async def claim(
        self, session: SessionRef, digest: str, chain: Sequence[str], seconds: float, generation: str = ""
    ) -> int:
        """See ``Store.claim``; 0 also while the session backs off."""
        others = "\n".join(chain)
        lease, life = to_milliseconds(seconds), to_milliseconds(max(DAY_SECONDS, seconds))
        prefix = find_record_prefix(self._vault)
        args = [digest, f"\n{others}\n", lease, life, prefix, _to_expected(generation)]
        if await self._is_erased(session, generation):
            return 0
        keys = session_keys(session, "compactions", "claims", "session")
        token = await self._run_for_number(CLAIM, keys, args)
        return token if token and await self._index.refresh_row(session, generation) else 0

    async def renew(self, session: SessionRef, digest: str, token: int, seconds: float) -> bool:
        """See ``Store.renew``; a lease that ran out is still its token's until somebody claims."""
        args = [digest, token, to_milliseconds(seconds), to_milliseconds(max(DAY_SECONDS, seconds))]
        renewed = bool(await self._run_for_number(RENEW, session_keys(session, "claims"), args))
        return renewed and await self._index.refresh_row(session)

    async def release(
        self,
        session: SessionRef,
        digest: str,
        token: int,
        *,
        failure: str | None = None,
        ttl: float,
        longest_pause: float = LONGEST_PAUSE_SECONDS,
    ) -> None:
        """See ``Store.release``."""
        told = self._vault.conceal_reason(failure or "") or "unspecified"
        reason = "" if failure is None else encode_text(told)
        args = [digest, token, reason, to_milliseconds(ttl), longest_pause]
        if await self._run_for_number(RELEASE, session_keys(session, "claims", "session"), args):
            await self._index.refresh_row(session)

    async def put(
        self,
        session: SessionRef,
        compaction: Compaction,
        *,
        token: int | None,
        ttl: float,
        limit: RecordLimit | int,
        generation: str = "",
    ) -> int:
        """See ``Store.put``."""
        most = RecordLimit(limit) if isinstance(limit, int) else limit
        keys = session_keys(session, "compactions", "used", "claims", "session")
        record = encode_sealed_record(compaction, session, self._vault)
        args: list[Any] = [compaction.digest, record, compaction.kind]
        args += [compaction.parent or "", "" if token is None else token]
        args += [max(1, most.records), max(1, most.versions), to_milliseconds(ttl), _to_expected(generation)]
        # A token is proof enough: its lease is gone where the session was erased.
        basis = generation if token is None else None
        if basis is not None and await self._is_erased(session, basis):
            return 0
        version = await self._run_for_number(PUT, keys, args)
        return version if version and await self._index.refresh_row(session, basis) else 0

    async def append(
        self,
        session: SessionRef,
        event: CompactionEvent,
        *,
        ttl: float,
        generation: str = "",
        call: CallRecord | None = None,
    ) -> None:
        """See ``Store.append``; two round trips, the second for the indexes."""
        call = call or CallRecord()
        names = [encode_text(label) for label in dict.fromkeys(call.labels) if label][:MOST_LABELS]
        owner, (to_set, to_count) = encode_owner(call.about), to_session_fields(event, call.savings)
        if call.compact:
            to_set = [*to_set, "compact", 1]
        # Up to 2 MB: on a thread, so that other requests go on.
        snapshot = b""
        if call.snapshot is not None:
            snapshot = await asyncio.to_thread(self._encode_snapshot, session, call.snapshot)
        told = seal_client_state(call.client_state, session, self._vault)
        if told:
            to_set = [*to_set, CLIENT_STATE_FIELD, told]
        if call.snapshots is not None:
            to_set = [*to_set, BOUNDS_FIELD, call.snapshots.encode()]
        if call.detector is not None:
            to_set = [*to_set, REDACT_FIELD, call.detector.encode()]
        event = conceal_failure(event, self._vault)
        args: list[Any] = [to_milliseconds(ttl), encode_event(event), call.used or ""]
        args += [_to_expected(generation), call.view or "", snapshot]
        for parts in (names, owner, to_set, to_count):
            args += [len(parts), *parts]
        keys = session_keys(session, *SESSION_PARTS)
        if await self._is_erased(session, generation):
            return
        answer = await self.connection.run(
            APPEND, keys, args, list, seconds=self._background_seconds, breaker=self._breaker
        )
        if not answer:
            return
        row, broken = answer
        counts = count_event(event, call.view, bool(broken), call.savings)
        indexed = IndexedCall(names, owner, counts, event.model or "unknown")
        commands = build_indexing(session, row, ttl, indexed)
        await self._index.write(session, commands, find_decision_time(row, generation), indexed)

    async def keep_snapshot(
        self, session: SessionRef, point: RestorePoint, bounds: SnapshotBounds, generation: str = ""
    ) -> None:
        """See ``Store.keep_snapshot``."""
        if await self._is_erased(session, generation):
            return
        raw = await asyncio.to_thread(seal_point, point, session, self._vault)
        args = [point.name, raw, bounds.number, round(bounds.age), _to_expected(generation)]
        if await self._run_for_number(KEEP_POINT, session_keys(session, *SESSION_PARTS), args):
            await self._index.refresh_row(session, generation)

    async def bypass(self, session: SessionRef, reason: str, seconds: float, generation: str = "") -> None:
        """See ``Store.bypass``."""
        await self._pause(session, "bypass", reason, seconds, generation)

    async def backoff(self, session: SessionRef, reason: str, seconds: float, generation: str = "") -> None:
        """See ``Store.backoff``."""
        await self._pause(session, "backoff", reason, seconds, generation)

    async def notices(self) -> Notices:
        """See ``Store.notices``; without the breaker, which polling would keep open."""
        sets: list[Command] = [
            ("ZRANGE", name, 0, -1, "WITHSCORES") for name in (FORGOTTEN, VOIDED, REQUESTED, RESTORING)
        ]
        commands: list[Command] = [("TIME",), *sets, ("HGETALL", RATES)]
        answers = await self.connection.send(*commands, seconds=self._background_seconds)
        [clock, forgotten, voided, requested, restoring, rates] = answers
        now = float(clock[0])
        return Notices(
            forgotten=decode_scores(forgotten),
            voided=decode_scores(voided),
            requested=frozenset(name for name, until in decode_scores(requested).items() if until > now),
            restoring=frozenset(name for name, until in decode_scores(restoring).items() if until > now),
            rates=decode_rates(rates),
        )

    async def find_labelled(self, tenant: str, label: str) -> Sequence[SessionRef]:
        """See ``Store.find_labelled``."""
        [keys] = await self._send(("ZREVRANGE", label_key(tenant, encode_text(label)), 0, -1))
        return [SessionRef(tenant, key.decode("utf-8", "replace")) for key in keys]

    async def find_restored(self, tenant: str, names: Sequence[str]) -> tuple[str, RestoredBlock] | None:
        """See ``Store.find_restored``; with the deadline of ``load``, since a request waits for it."""
        if not names:
            return None
        keys = [restored_key(tenant, name) for name in names]
        [found] = await self.connection.send(
            ("MGET", *keys), seconds=self._timeout_seconds, breaker=self._breaker
        )
        for name, raw in zip(names, found, strict=True):
            if block := decode_restored(open_restored(raw, tenant, name, self._vault)):
                return name, block
        return None

    async def keep_restored(
        self, tenant: str, names: Sequence[str], block: RestoredBlock, ttl: float
    ) -> None:
        """See ``Store.keep_restored``."""
        life, raw = to_milliseconds(ttl), encode_restored(block)
        kept = {restored_key(tenant, n): seal_restored(raw, tenant, n, self._vault) for n in names}
        told_by = restores_key(SessionRef(tenant, block.session.rpartition(".")[2]))
        # Known to be a copy of the session before it is one: an erasure in between finds it.
        await self._send(
            ("SADD", told_by, *kept),
            ("PEXPIRE", told_by, life),
            *(("SET", key, value, "PX", life) for key, value in kept.items()),
        )
        await self._send(build_restoring_notice(tenant, ttl))
        # The session may have been erased since it was read, and its copies with it.
        told_of = SessionRef(tenant, block.session.rpartition(".")[2])
        [erased] = await self._send(build_erasure_query(told_of))
        if is_erased_since(erased, block.made_at):
            await self._send(("UNLINK", told_by, *kept))

    async def factors(self) -> Mapping[str, float]:
        """See ``Store.factors``."""
        [factors] = await self._send(("HGETALL", FACTORS))
        return decode_factors(factors)

    async def save_factor(self, model: str, factor: float) -> None:
        """See ``Store.save_factor``."""
        await self._send(
            build_field_write(FACTORS, encode_text(model), repr(factor), FACTOR_SECONDS),
        )

    async def windows(self) -> Mapping[str, LearnedWindow]:
        """See ``Store.windows``; what holds no longer is deleted on the way."""
        clock, raw = await self._send(("TIME",), ("HGETALL", WINDOWS))
        found = decode_windows(raw)
        valid = {name: learned for name, learned in found.items() if learned.is_valid(float(clock[0]))}
        outdated = [name for name in raw if name.decode("utf-8", "replace") not in valid]
        if outdated:
            await self._send(("HDEL", WINDOWS, *outdated))
        return valid

    async def save_window(self, deployment: str, learned: LearnedWindow) -> None:
        """See ``Store.save_window``."""
        await self._send(
            build_field_write(WINDOWS, encode_text(deployment), encode_window(learned), LEARNED_SECONDS),
        )

    async def policy_problems(self) -> Mapping[str, int]:
        """See ``Store.policy_problems``; operators ask it, whatever the breaker says."""
        query: Command = ("HGETALL", POLICY_PROBLEMS)
        [raw] = await self.connection.send(query, seconds=self._background_seconds)
        return decode_counts(raw)

    async def add_policy_problem(self, problem: str, requests: int) -> None:
        """See ``Store.add_policy_problem``."""
        await self._send(
            build_field_write(POLICY_PROBLEMS, encode_text(problem), requests, DAY_SECONDS, "add"),
        )

    async def ping(self) -> None:
        """See ``Store.ping``."""
        await self._send(("PING",))

    async def try_write(self) -> None:
        """See ``Store.try_write``; both commands are one round trip."""
        probe: Command = ("SET", PROBE, 1, "PX", PROBE_MILLISECONDS)
        await self.connection.send(probe, ("UNLINK", PROBE), seconds=self._background_seconds)

    async def aclose(self) -> None:
        """See ``Store.aclose``; the breaker has no say in it."""
        await self.connection.aclose(seconds=self._background_seconds)

    async def _pause(
        self,
        session: SessionRef,
        kind: str,
        reason: str,
        seconds: float,
        generation: str,
    ) -> None:
        if await self._is_erased(session, generation):
            return
        text = encode_text(reason or "unspecified")
        pause, life = to_milliseconds(seconds), to_milliseconds(max(DAY_SECONDS, seconds))
        args = [kind, text, pause, life, _to_expected(generation)]
        if await self._run_for_number(PAUSE, session_keys(session, "session"), args):
            await self._index.refresh_row(session, generation)

    def _encode_snapshot(self, session: SessionRef, snapshot: CallSnapshot) -> bytes:
        return seal_snapshot(encode_snapshot(snapshot), session, self._vault)

    async def _is_erased(self, session: SessionRef, generation: str) -> bool:
        """Tell whether a session was erased since a request asked for it and found none, or got no answer.

        The scripts find that out themselves where the request found one.
        """
        if is_stored(generation):
            return False
        [erased] = await self._send(build_erasure_query(session))
        return is_erased_since(erased, read_start(generation))

    async def _run_for_number(self, script: Script, keys: Sequence[str], args: Sequence[Any]) -> int:
        """Run a script that answers with a number, in the background's time."""
        return await self.connection.run(
            script, keys, args, int, seconds=self._background_seconds, breaker=self._breaker
        )

    async def _send(self, *commands: Command) -> list[Any]:
        """Send commands in the background's time."""
        return await self.connection.send(*commands, seconds=self._background_seconds, breaker=self._breaker)


def _to_expected(generation: str) -> str:
    """Return the generation that a script must find, empty where any will do."""
    return generation if is_stored(generation) else ""
