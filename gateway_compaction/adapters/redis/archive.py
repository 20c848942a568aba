"""``Archive`` on Redis: what operators see of sessions, and what they do to them."""

from __future__ import annotations

import asyncio
import logging
import re
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Any, Self

from gateway_compaction.adapters.redis.codec import (
    decode_texts,
    encode_event,
    encode_rate,
    encode_text,
)
from gateway_compaction.adapters.redis.connection import RedisConnection, connect
from gateway_compaction.adapters.redis.detail import (
    NO_SESSION,
    decode_detector,
    fetch_detail,
    fetch_fields,
    open_kept,
)
from gateway_compaction.adapters.redis.erase import erase_session, erase_tenant, note_voided
from gateway_compaction.adapters.redis.hours import fetch_hours, fetch_owners
from gateway_compaction.adapters.redis.importing import NO_TENANT, FindDetector, import_session
from gateway_compaction.adapters.redis.index import (
    MOST_FIELDS,
    build_field_write,
    build_request_notice,
    build_unlisting,
    encode_owner,
)
from gateway_compaction.adapters.redis.index_writer import IndexWriter
from gateway_compaction.adapters.redis.keys import (
    EXPORTED_PARTS,
    RATES,
    REQUESTED,
    SESSION_PARTS,
    TENANTS,
    build_part_query,
    owner_key,
    session_keys,
)
from gateway_compaction.adapters.redis.row_cache import RowCache
from gateway_compaction.adapters.redis.rows import (
    OWNER_FIELDS,
    ListedRow,
    encode_cursor,
    read_number,
    select_rows,
    to_session_row,
)
from gateway_compaction.adapters.redis.scripts import Command, Script, load_script
from gateway_compaction.adapters.redis.sealing import (
    BOUNDS_FIELD,
    PIN,
    REDACT_FIELD,
    open_parts,
    open_point,
    seal_point,
)
from gateway_compaction.adapters.redis.transfer import build_document
from gateway_compaction.adapters.redis.transfer_checks import LONGEST_PIN, MOST_PINS
from gateway_compaction.adapters.vault import Vault
from gateway_compaction.archive import Hour, Query, Scope, SessionDetail, SessionPage, SessionRow
from gateway_compaction.core.records.compaction import SessionRef
from gateway_compaction.core.records.controls import LEAST_RATE, MOST_RATE
from gateway_compaction.core.records.event import CompactionEvent
from gateway_compaction.core.records.restore_point import RestorePoint
from gateway_compaction.core.records.snapshots import (
    SnapshotBounds,
    SnapshotLine,
    compare_points,
    describe_snapshot,
)
from gateway_compaction.core.redaction.detector import Detector
from gateway_compaction.core.redaction.marks import mask_message, mask_text
from gateway_compaction.errors import ActionRefused, NotFound, PartNotFound

log = logging.getLogger("gateway_compaction")

ROLLBACK = load_script("rollback")
STEER = load_script("steer")
RESET = load_script("reset")
KEEP_POINT = load_script("point")

# Answers of these scripts; 1 is success.
NO_SESSION_ANSWER = 0
NO_PART_ANSWER = -1
FULL_ANSWER = -2

# How often a watch asks what has changed.
WATCH_SECONDS = 1.0

# How far back a watch looks, so that a late row is not missed, and how long it remembers what it told.
WATCH_OVERLAP_SECONDS = 3
WATCH_MEMORY_SECONDS = 60

# Versions that are kept after they were taken back.
MOST_RETIRED = 50

TENANT_NAME = re.compile(r"[0-9A-Za-z]{1,64}")


# So long the rate of a key is kept after the last one of any key was set.
RATE_SECONDS = 365 * 86_400.0


@dataclass(frozen=True, slots=True)
class _Action:
    """Something that an operator does to a session.

    Attributes:
        script: does it.
        name: what it is called in the audit event and the log.
        reason: more about it, for the audit event.
        args: what the script takes behind the event.
        version: the version that is rolled back to, for the audit event and for errors.
    """

    script: Script
    name: str
    reason: str
    args: Sequence[Any] = ()
    version: int | None = None


class RedisArchive:
    """See ``Archive``. It asks with a deadline of its own and without the request path's breaker.

    Args:
        connection: shared with the request path; closed by its owner. ``open`` makes one of its own.
        clock: of the audit events.
        find_detector: tells what is masked in documents that come in; the usual secrets where nobody tells.
    """

    def __init__(
        self,
        connection: RedisConnection,
        clock: Callable[[], float] = time.time,
        find_detector: FindDetector = lambda owner, model: Detector(),
    ) -> None:
        self._connection, self._find_detector = connection, find_detector
        self._clock = clock
        self._cache = RowCache(connection)
        self._index = IndexWriter(connection)
        self._owns_connection = False

    @classmethod
    def open(cls, url: str, vault: Vault | None = None) -> Self:
        """Return an archive with a connection of its own, as a context manager that closes it.

        Raises:
            StoreError: the URL cannot be used.
        """
        archive = cls(connect(url, vault))
        archive._owns_connection = True
        return archive

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._owns_connection:
            await self._connection.aclose()

    def clear(self) -> None:
        """Forget what is kept of lists: something of it was erased."""
        self._cache.clear()

    async def overview(self, scope: Scope, hours: int) -> Sequence[Hour]:
        """See ``Archive.overview``."""
        return await fetch_hours(self._connection, scope, await self._fetch_tenants(scope), hours)

    async def sessions(self, scope: Scope, query: Query) -> SessionPage:
        """See ``Archive.sessions``."""
        tenants, now = await self._fetch_tenants(scope), await self._fetch_time()
        rows = await self._cache.fetch_rows(tenants)
        page, has_more, total = await select_rows(rows, scope, query, now)
        existing = await self._drop_evicted(page)
        return SessionPage(
            rows=tuple(to_session_row(row.session, row.fields, now) for row in existing),
            cursor=encode_cursor(page[-1], query) if has_more and page else None,
            total=total - (len(page) - len(existing)),
        )

    async def detail(self, scope: Scope, session: SessionRef) -> SessionDetail:
        """See ``Archive.detail``."""
        return await fetch_detail(self._connection, scope, session)

    async def snapshots(self, scope: Scope, session: SessionRef) -> Sequence[SnapshotLine]:
        """See ``Archive.snapshots``."""
        await fetch_fields(self._connection, scope, session)
        return tuple(map(describe_snapshot, await self._fetch_points(session)))

    async def snapshot(self, scope: Scope, session: SessionRef, name: str) -> RestorePoint:
        """See ``Archive.snapshot``."""
        await fetch_fields(self._connection, scope, session)
        [raw] = await self._connection.send(("HGET", *session_keys(session, "points"), encode_text(name)))
        point = await asyncio.to_thread(open_point, raw, session, self._connection.vault)
        if point is None:
            raise PartNotFound(f"There is no snapshot {name[:20]!r}; the session's snapshots are listed")
        return point

    async def transcript(self, scope: Scope, session: SessionRef) -> Sequence[Mapping[str, Any]]:
        """See ``Archive.transcript``; of the branch that the next call goes on from."""
        await fetch_fields(self._connection, scope, session)
        stored, detector = await self._fetch_masked(session, build_part_query(session, "kept"))
        if not stored:
            raise PartNotFound("The gateway does not keep this conversation: its client does")
        return await asyncio.to_thread(self._build_transcript, stored, session, detector)

    async def compact(self, scope: Scope, session: SessionRef) -> None:
        """See ``Archive.compact``."""
        await self._act(
            scope, session, _Action(STEER, "compact", "from the next call on", ["compact", "", 0])
        )

    async def rebuild(self, scope: Scope, session: SessionRef) -> None:
        """See ``Archive.rebuild``."""
        args = [0, MOST_RETIRED, "rebuild"]
        await self._act(scope, session, _Action(ROLLBACK, "rebuild", "every version retired", args))

    async def rollback(self, scope: Scope, session: SessionRef, version: int) -> None:
        """See ``Archive.rollback``; 50 retired versions are kept."""
        reason = f"to version {version}" if version else "every version retired"
        args = [version, MOST_RETIRED, ""]
        await self._act(scope, session, _Action(ROLLBACK, "rollback", reason, args, version))

    async def pin(self, scope: Scope, session: SessionRef, text: str) -> None:
        """See ``Archive.pin``; runs of blanks become one, and a pin that is there already moves behind.

        It is stored, so a secret in it is masked.
        """
        pin = await self._mask_pin(session, text)
        if not 0 < len(pin) <= LONGEST_PIN:
            raise ActionRefused(f"A pin has 1 to {LONGEST_PIN} characters")
        stored = await self._find_stored_pin(session, pin)
        action = _Action(STEER, "pin", f"{len(pin)} characters", ["pin", stored, MOST_PINS])
        await self._act(scope, session, action)

    async def unpin(self, scope: Scope, session: SessionRef, text: str) -> None:
        """See ``Archive.unpin``."""
        pin = await self._mask_pin(session, text)
        stored = await self._find_stored_pin(session, pin)
        action = _Action(STEER, "unpin", f"{len(pin)} characters", ["unpin", stored, 0])
        await self._act(scope, session, action)

    async def set_rate(
        self, scope: Scope, session: SessionRef, rate: float | None, *, for_key: bool = False
    ) -> None:
        """See ``Archive.set_rate``; a rate of a key is kept for a year after it was set."""
        if rate is not None and not LEAST_RATE <= rate <= MOST_RATE:
            raise ActionRefused(f"A rate is from {LEAST_RATE} to {MOST_RATE}")
        told = "that of the policy" if rate is None else f"{encode_rate(rate)}, from the next summary on"
        if not for_key:
            await self._act(scope, session, _Action(STEER, "rate", told, ["rate", encode_rate(rate), 0]))
            return
        fields = await fetch_fields(self._connection, scope, session)
        key = str(fields.get("about:key_hash", "") or "")
        if not key:
            raise ActionRefused("It is not known that the session is of one key alone")
        if rate is None:
            await self._connection.send(("HDEL", RATES, key))
        else:
            write = build_field_write(RATES, key, encode_rate(rate), RATE_SECONDS)
            if not (await self._connection.send(write))[0]:
                raise ActionRefused(f"{MOST_FIELDS} keys have a rate of their own already; take one back")
        await self._act(scope, session, _Action(STEER, "rate", f"for its key: {told}", ["rate", "", 0]))

    async def reset(self, scope: Scope, session: SessionRef) -> None:
        """See ``Archive.reset``."""
        await self._act(scope, session, _Action(RESET, "reset", "as if it had never been compacted"))
        await self._connection.send(("ZREM", REQUESTED, session.session_id))

    async def forget(self, scope: Scope, session: SessionRef) -> int:
        """See ``Archive.forget``; the log alone tells who did it."""
        fields = await fetch_fields(self._connection, scope, session)
        owner = {name: str(fields.get(f"about:{name}", "")) for name in OWNER_FIELDS}
        gone = await erase_session(self._connection, session, encode_owner(owner))
        self.clear()
        log.info("forgotten: session=%s keys=%d by=%s", session.session_id, gone, _format_actor(scope))
        return gone

    async def forget_tenant(self, scope: Scope, tenant: str) -> int:
        """See ``Archive.forget_tenant``; its hourly counts go too."""
        if not TENANT_NAME.fullmatch(tenant):
            raise NotFound(NO_TENANT)
        [owner] = await fetch_owners(self._connection, [tenant])
        [listed_at] = await self._connection.send(("ZSCORE", TENANTS, tenant))
        # What is known of a tenant may have been evicted, and begun anew with one key of several.
        rows = await self._cache.fetch_rows([tenant])
        allowed = scope.allows(owner) and all(scope.allows(row.owner) for row in rows)
        if not allowed or (listed_at is None and not scope.everything):
            raise NotFound(NO_TENANT)
        gone = await erase_tenant(self._connection, tenant)
        self.clear()
        if listed_at is None and gone is None:
            raise NotFound(NO_TENANT)
        log.info("forgotten: tenant=%s sessions=%d by=%s", tenant, gone or 0, _format_actor(scope))
        return gone or 0

    async def export(self, scope: Scope, session: SessionRef) -> Mapping[str, Any]:
        """See ``Archive.export``."""
        await fetch_fields(self._connection, scope, session)
        questions = [build_part_query(session, part) for part in EXPORTED_PARTS]
        life: Command = ("PTTL", *session_keys(session, "session"))
        *answers, milliseconds = await self._connection.send(*questions, life)
        parts = dict(zip(EXPORTED_PARTS, answers, strict=True))
        stored = await asyncio.to_thread(open_parts, parts, session, self._connection.vault)
        mask = decode_detector(stored["session"].get(REDACT_FIELD.encode())).with_secrets()
        return await asyncio.to_thread(build_document, session, stored, milliseconds / 1000, mask)

    async def load(self, scope: Scope, document: Mapping[str, Any]) -> SessionRef:
        """See ``Archive.load``."""
        event = self._build_audit_event(scope, "import", "from a document")
        return await import_session(self._connection, scope, document, event, self._find_detector)

    async def watch(self, scope: Scope) -> AsyncIterator[SessionRow]:
        """See ``Archive.watch``; asks every second."""
        start = await self._fetch_time()
        last_written: dict[str, float] = {}
        while True:
            now = await self._fetch_time()
            since = int(now) - WATCH_OVERLAP_SECONDS
            for tenant in await self._fetch_active_tenants(scope, since):
                for row in reversed(await self._cache.fetch_changed_rows(tenant, since)):
                    written = read_number(row.fields, "rev")
                    is_new = written > max(start, last_written.get(row.session_id, 0.0))
                    if is_new and scope.allows(row.owner):
                        last_written[row.session_id] = written
                        yield to_session_row(row.session, row.fields, now)
            oldest = now - WATCH_MEMORY_SECONDS
            last_written = {name: written for name, written in last_written.items() if written > oldest}
            await asyncio.sleep(WATCH_SECONDS)

    async def _act(self, scope: Scope, session: SessionRef, action: _Action) -> None:
        """Do something to a session, and let everybody know.

        Raises:
            NotFound: there is no such session, version or pin.
            ActionRefused: it has too many pins.
        """
        await self._keep_snapshot(scope, session, f"before {action.name}")
        keys = session_keys(session, *SESSION_PARTS)
        event = self._build_audit_event(scope, action.name, action.reason, action.version)
        answer = await self._connection.run(action.script, keys, [encode_event(event), *action.args], int)
        if answer == NO_SESSION_ANSWER:
            raise NotFound(NO_SESSION)
        if answer == NO_PART_ANSWER:
            raise await self._build_part_error(scope, session, action.version)
        if answer == FULL_ANSWER:
            raise ActionRefused(f"There are {MOST_PINS} pins already; unpin one first")
        if action.script is not STEER:
            await note_voided(self._connection, session)
        if action.name in ("compact", "rebuild"):
            [left] = await self._connection.send(("PTTL", *session_keys(session, "session")))
            # Erased meanwhile, it wants nothing.
            if left > 0:
                await self._connection.send(build_request_notice(session, left / 1000))
        await self._index.refresh_row(session)
        log.info("%s: session=%s by=%s", action.name, session.session_id, _format_actor(scope))

    def _build_transcript(
        self, stored: Mapping[bytes, bytes], session: SessionRef, detector: Detector
    ) -> tuple[Mapping[str, Any], ...]:
        kept = open_kept(stored, session, self._connection.vault)
        items = (*kept.find_preamble(kept.head), *kept.list_messages(kept.head))
        return tuple(mask_message(item, detector) for item in items if isinstance(item, dict))

    async def _fetch_masked(self, session: SessionRef, query: Command) -> tuple[Any, Detector]:
        """Return an answer, and what finds the secrets that the session's policy has masked."""
        mask: Command = ("HGET", *session_keys(session, "session"), REDACT_FIELD)
        answer, raw = await self._connection.send(query, mask)
        return answer, decode_detector(raw).with_secrets()

    async def _keep_snapshot(self, scope: Scope, session: SessionRef, reason: str) -> None:
        """Keep the present state of a session to go back to, where that differs from the last snapshot.

        Raises:
            NotFound: there is no such session.
        """
        detail = await self.detail(scope, session)
        [raw] = await self._connection.send(("HGET", *session_keys(session, "session"), BOUNDS_FIELD))
        bounds = SnapshotBounds.decode((raw or b"").decode("utf-8", "replace"))
        if not bounds.number:
            return
        point = await asyncio.to_thread(detail.make_restore_point)
        newest = next(iter(await self._fetch_points(session)), None)
        if newest is not None and not compare_points(newest, point):
            return
        taken = replace(point, at=await self._fetch_time(), reason=reason)
        raw_point = seal_point(taken, session, self._connection.vault)
        args = [taken.name, raw_point, bounds.number, round(bounds.age), detail.steering.generation]
        await self._connection.run(KEEP_POINT, session_keys(session, *SESSION_PARTS), args, int)

    async def _fetch_points(self, session: SessionRef) -> list[RestorePoint]:
        """Return the snapshots that can be read, the newest first."""
        [stored] = await self._connection.send(build_part_query(session, "points"))
        opened = (open_point(raw, session, self._connection.vault) for raw in stored.values())
        found = await asyncio.to_thread(list, opened)
        return sorted((p for p in found if p is not None), key=lambda point: -point.at)

    async def _mask_pin(self, session: SessionRef, text: str) -> str:
        """Return the text of a pin as it may be stored."""
        [raw] = await self._connection.send(("HGET", *session_keys(session, "session"), REDACT_FIELD))
        return await asyncio.to_thread(mask_text, _to_one_line(text), decode_detector(raw).with_secrets())

    async def _find_stored_pin(self, session: SessionRef, pin: str) -> str:
        """Return a pin as it is stored: in the form that is there, which another key may have sealed."""
        vault = self._connection.vault
        [raw] = await self._connection.send(("HGET", *session_keys(session, "session"), "pins"))
        known = decode_texts((raw or b"").decode("utf-8", "replace"))
        same = (stored for stored in known if vault.open(stored, session, PIN) == pin)
        return next(same, vault.seal(pin, session, PIN))

    async def _build_part_error(self, scope: Scope, session: SessionRef, version: int | None) -> NotFound:
        """Build what to say of a version, or (without one) a pin, that a session does not have."""
        detail = await self.detail(scope, session)
        if version is None:
            return PartNotFound.pin(len(detail.steering.pins))
        return PartNotFound.version(version, detail.versions)

    def _build_audit_event(
        self, scope: Scope, name: str, reason: str, version: int | None = None
    ) -> CompactionEvent:
        actor = _format_actor(scope)
        return CompactionEvent("audit", self._clock(), name, reason, version=version, by=actor)

    async def _fetch_tenants(self, scope: Scope) -> list[str]:
        """Return the tenants with sessions that may be in scope, the latest first; nobody else's are read."""
        keys = [TENANTS] if scope.everything else _find_owner_keys(scope)
        commands = [("ZREVRANGE", key, 0, -1) for key in keys]
        answers = await self._connection.send(*commands) if commands else []
        return list(dict.fromkeys(name.decode("utf-8", "replace") for answer in answers for name in answer))

    async def _fetch_active_tenants(self, scope: Scope, since: int) -> list[str]:
        """Return those of them in which something was done since: each end user of a team may be a tenant."""
        [names] = await self._connection.send(("ZREVRANGEBYSCORE", TENANTS, "+inf", since))
        if not scope.everything and names:
            # An action does not touch the owners' lists: they say whose a tenant is, not when.
            commands = [("ZMSCORE", key, *names) for key in _find_owner_keys(scope)]
            scores = await self._connection.send(*commands) if commands else []
            names = [name for name, *own in zip(names, *scores, strict=True) if any(own)]
        return [name.decode("utf-8", "replace") for name in names]

    async def _fetch_time(self) -> float:
        """Return the time by the clock of Redis, in seconds since 1970."""
        [(second, microseconds)] = await self._connection.send(("TIME",))
        return int(second) + int(microseconds) / 1e6

    async def _drop_evicted(self, page: Sequence[ListedRow]) -> list[ListedRow]:
        """Return the rows whose sessions still exist; what Redis evicted leaves the list."""
        if not page:
            return []
        questions = [("EXISTS", *session_keys(row.session, "session")) for row in page]
        answers = await self._connection.send(*questions)
        gone = [build_unlisting(row.session) for row, exists in zip(page, answers, strict=True) if not exists]
        if gone:
            await self._connection.send(*gone)
        return [row for row, exists in zip(page, answers, strict=True) if exists]


def _find_owner_keys(scope: Scope) -> list[str]:
    """Return the keys of the tenants of all for whom somebody may see sessions."""
    names = [("team", team) for team in sorted(scope.teams)]
    if scope.user_id:
        names.append(("user", scope.user_id))
    if scope.key_hash:
        names.append(("key", scope.key_hash))
    return [owner_key(kind, name) for kind, name in names]


def _to_one_line(text: str) -> str:
    """Return a text without control characters and line breaks, with one blank where there were several."""
    plain = "".join(c if c.isprintable() else " " for c in text)
    return " ".join(plain.encode("utf-8", "ignore").decode().split())


def _format_actor(scope: Scope) -> str:
    return encode_text(_to_one_line(scope.actor)).decode() or "unknown"
