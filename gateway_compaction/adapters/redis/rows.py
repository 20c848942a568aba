"""Rows of the session list: decoded, selected, put in order, and handed out page by page.

A row is one JSON object for each session, kept in its tenant's ``rows`` (see docs/redis.md). Redis cannot
filter or sort them, so they are selected here, thousands at a time.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields as fields_of
from heapq import nlargest, nsmallest
from math import isfinite
from operator import attrgetter, gt, lt
from typing import Any, NamedTuple

from gateway_compaction.adapters.redis.codec import decode_texts
from gateway_compaction.archive import Owner, Query, Scope, SessionRow, State
from gateway_compaction.core.records.compaction import SessionRef
from gateway_compaction.errors import ActionRefused

# The fields of a row by name, as they stand in Redis.
Fields = Mapping[str, Any]

OWNER_FIELDS = tuple(f.name for f in fields_of(Owner))

# Rows of a page, whatever a client asks for.
LONGEST_PAGE = 500

# Readers of JSON that take numbers for floats lose exactness above it.
LARGEST_NUMBER = 2**53

# Rows scanned before yielding to other tasks: a millisecond or two.
ROWS_AT_ONCE = 1_000


class ListedRow(NamedTuple):
    """A row with its sort keys parsed, once for all lists that show it."""

    session: SessionRef
    session_id: str
    owner: Owner
    fields: Fields
    expires: float
    seen: float
    created: float
    saved: float
    tokens: float
    calls: float


def decode_object(raw: bytes | str) -> Fields | None:
    """Return a JSON object (a row, a page of rows, an hour's counts), or None where it is none or empty."""
    try:
        fields = json.loads(raw if isinstance(raw, str) else raw.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None
    return fields if isinstance(fields, dict) and fields else None


def to_session_row(session: SessionRef, fields: Fields, now: float) -> SessionRow:
    """Return a row as operators see it at ``now``; what cannot be read counts as absent."""
    state, reason = _read_state(fields, now)
    return SessionRow(
        session=session,
        owner=read_owner(fields),
        labels=decode_texts(_read_text(fields, "labels") or ""),
        model=_read_text(fields, "model"),
        policy=_read_text(fields, "policy"),
        endpoint=_read_text(fields, "endpoint"),
        level=_read_text(fields, "level"),
        outcome=_read_text(fields, "outcome"),
        state=state,
        reason=reason,
        created=read_number(fields, "created"),
        seen=read_number(fields, "seen") or read_number(fields, "created"),
        calls=int(read_number(fields, "calls")),
        tokens_before=int(read_number(fields, "tokens_before")),
        tokens_after=int(read_number(fields, "tokens_after")),
        window=int(read_number(fields, "window")) or None,
        covers=int(read_number(fields, "covers")),
        saved=int(read_number(fields, "saved")),
        would_save=int(read_number(fields, "would_save")),
        versions=int(read_number(fields, "version")),
    )


def to_listed_row(session: SessionRef, fields: Fields) -> ListedRow:
    """Return a row with the numbers that lists are ordered by."""
    return ListedRow(
        session=session,
        session_id=session.session_id,
        owner=read_owner(fields),
        fields=fields,
        expires=read_number(fields, "expires"),
        seen=read_number(fields, "seen"),
        created=read_number(fields, "created"),
        saved=read_number(fields, "saved"),
        tokens=read_number(fields, "tokens_before"),
        calls=read_number(fields, "calls"),
    )


def read_owner(fields: Fields, prefix: str = "about:") -> Owner:
    """Return the owner that some fields name.

    A fact shared by several users or keys is stored empty, and read as None.
    """
    return Owner(**{name: _read_text(fields, f"{prefix}{name}") for name in OWNER_FIELDS})


def read_number(fields: Fields, name: str) -> float:
    """Return a number of a row; 0 where it is missing or none."""
    try:
        value = float(fields.get(name) or 0)
    except (ValueError, TypeError, OverflowError):
        return 0.0
    return value if isfinite(value) and abs(value) < LARGEST_NUMBER else 0.0


class Selection(NamedTuple):
    """The rows of one page in order, whether others follow them, and how many match in all."""

    page: list[ListedRow]
    has_more: bool
    total: int


async def select_rows(rows: Sequence[ListedRow], scope: Scope, query: Query, now: float) -> Selection:
    """Return the page of rows that a query asks for.

    Raises:
        ActionRefused: the cursor is not one of this list.
    """
    after, size = _decode_cursor(query), page_size(query)
    # Two rows of the same second are told apart by their names: a cursor must mean one place.
    place: Callable[[ListedRow], tuple[float, str]] = attrgetter(query.sort, "session_id")
    matching = await _filter_rows(rows, _build_filter(scope, query, now))
    following = matching
    if after is not None:
        compare = gt if query.ascending else lt
        following = await _filter_rows(matching, lambda row: compare(place(row), after))
    take = nsmallest if query.ascending else nlargest
    # One more than a page shows whether others follow.
    selected = take(size + 1, following, key=place)
    return Selection(selected[:size], len(selected) > size, len(matching))


async def _filter_rows(rows: Sequence[ListedRow], test: Callable[[ListedRow], bool]) -> list[ListedRow]:
    """Return the rows that pass a test, with a turn for other tasks every now and then."""
    passed: list[ListedRow] = []
    for start in range(0, len(rows), ROWS_AT_ONCE):
        passed += filter(test, rows[start : start + ROWS_AT_ONCE])
        await asyncio.sleep(0)
    return passed


def _build_filter(scope: Scope, query: Query, now: float) -> Callable[[ListedRow], bool]:
    """Build the test of a row: it has not expired, may be seen, and is one that the query asks for."""
    text = None if query.text is None else query.text.casefold()
    has_filters = query.has_filters

    def passes(row: ListedRow) -> bool:
        if row.expires <= now or not (scope.everything or scope.allows(row.owner)):
            return False
        return not has_filters or _matches(row, query, text, now)

    return passes


def page_size(query: Query) -> int:
    """Return the rows of one page: those asked for, at least 1 and at most 500."""
    return max(1, min(query.limit, LONGEST_PAGE))


def encode_cursor(row: ListedRow, query: Query) -> str:
    """Return the cursor of the rows behind one: the order, and the row's place in it."""
    place = [query.sort, query.ascending, getattr(row, query.sort), row.session_id]
    return base64.urlsafe_b64encode(json.dumps(place).encode()).decode().rstrip("=")


def _decode_cursor(query: Query) -> tuple[float, str] | None:
    """Return the place that a query's cursor names.

    Raises:
        ActionRefused: it is no cursor, or one of another order.
    """
    if query.cursor is None:
        return None
    try:
        padded = query.cursor + "=" * (-len(query.cursor) % 4)
        sort, ascending, value, session_id = json.loads(base64.urlsafe_b64decode(padded))
        if (sort, ascending) != (query.sort, query.ascending):
            raise ValueError("another order")
        return float(value), str(session_id)
    except (ValueError, TypeError, OverflowError, binascii.Error, RecursionError) as error:
        raise ActionRefused("The cursor is not one of this list; begin without one") from error


def _matches(row: ListedRow, query: Query, text: str | None, now: float) -> bool:
    fields, owner = row.fields, row.owner
    if query.model is not None and fields.get("model") != query.model:
        return False
    if query.level is not None and (fields.get("level") or "none") != query.level:
        return False
    if query.team is not None and query.team not in (owner.team_id, owner.team):
        return False
    if query.since is not None and row.seen < query.since:
        return False
    if query.until is not None and row.seen > query.until:
        return False
    if query.state is not None and _read_state(fields, now)[0] != query.state:
        return False
    return text is None or text in _build_search_text(row)


def _build_search_text(row: ListedRow) -> str:
    """Return all that a query's text is looked for in."""
    owner, labels = row.owner, decode_texts(_read_text(row.fields, "labels") or "")
    names = (owner.team_id, owner.team, owner.user_id, owner.key_alias, owner.end_user)
    return "\n".join((row.session_id, *labels, *(name for name in names if name))).casefold()


def _read_state(fields: Fields, now: float) -> tuple[State, str | None]:
    """Return the state of a session, and why it failed, is bypassed or backs off."""
    pause = read_pause(fields, "bypass", now) or read_pause(fields, "backoff", now)
    reason = pause[1] if pause else None
    if read_number(fields, "claimed") > now * 1000:
        return "summarizing", reason
    if read_number(fields, "failures") > 0:
        return "failed", _read_text(fields, "backoff_reason") or reason
    return "idle", reason


def read_pause(fields: Fields, kind: str, now: float) -> tuple[float, str] | None:
    """Return until when (in seconds) a session is paused, and why; None where it is not.

    Args:
        kind: ``bypass`` or ``backoff``.
    """
    until = read_number(fields, f"{kind}_until") / 1000
    return (until, _read_text(fields, f"{kind}_reason") or "unspecified") if until > now else None


def _read_text(fields: Fields, name: str) -> str | None:
    value = fields.get(name)
    return value if isinstance(value, str) and value else None
