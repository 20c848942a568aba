"""Lines of the session list: read, chosen, put in order, and handed out page by page."""

from __future__ import annotations

import asyncio
import base64
import binascii
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields as fields_of
from heapq import nlargest, nsmallest
from math import isfinite
from operator import attrgetter
from typing import Any, NamedTuple

from gateway_compaction.adapters.redis.codec import texts_in
from gateway_compaction.archive import Owner, Query, Scope, SessionRow, State
from gateway_compaction.core.records.compaction import SessionRef
from gateway_compaction.errors import Refused

__all__ = [
    "OWNER_FIELDS",
    "Fields",
    "Line",
    "chosen",
    "cursor_of",
    "line_of",
    "number_in",
    "owner_in",
    "page_size",
    "read_row",
    "row_of",
]

Fields = Mapping[str, Any]
OWNER_FIELDS = tuple(f.name for f in fields_of(Owner))
LONGEST_PAGE = 500
LARGEST = 2**53
# So many are looked at before others have their turn: a millisecond or two.
AT_ONCE = 1_000


class Line(NamedTuple):
    """A row, and what is needed of each to choose and order thousands."""

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


def read_row(raw: bytes | str) -> Fields | None:
    """A row as it stands in Redis, or None for what is none."""
    try:
        found = json.loads(raw if isinstance(raw, str) else raw.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) and found else None


def row_of(session: SessionRef, fields: Fields, now: float) -> SessionRow:
    """A row as operators see it at ``now``; what cannot be read counts as absent."""
    state, reason = _state(fields, now)
    return SessionRow(
        session=session,
        owner=owner_in(fields),
        labels=texts_in(_text(fields, "labels") or ""),
        model=_text(fields, "model"),
        policy=_text(fields, "policy"),
        level=_text(fields, "level"),
        outcome=_text(fields, "outcome"),
        state=state,
        reason=reason,
        created=number_in(fields, "created"),
        seen=number_in(fields, "seen") or number_in(fields, "created"),
        calls=int(number_in(fields, "calls")),
        tokens_before=int(number_in(fields, "tokens_before")),
        tokens_after=int(number_in(fields, "tokens_after")),
        window=int(number_in(fields, "window")) or None,
        covers=int(number_in(fields, "covers")),
        saved=int(number_in(fields, "saved")),
        would_save=int(number_in(fields, "would_save")),
        versions=int(number_in(fields, "version")),
    )


def owner_in(fields: Fields, prefix: str = "about:") -> Owner:
    """Whose something is; what several share is nobody's."""
    return Owner(**{name: _text(fields, f"{prefix}{name}") for name in OWNER_FIELDS})


def line_of(session: SessionRef, fields: Fields) -> Line:
    """A row, read once for all lists it will be in."""
    names = ("expires", "seen", "created", "saved", "tokens_before", "calls")
    return Line(
        session, session.session_id, owner_in(fields), fields, *(number_in(fields, name) for name in names)
    )


async def chosen(lines: Sequence[Line], scope: Scope, query: Query, now: float) -> tuple[list[Line], int]:
    """The rows of a page, one more where others follow, and how many match in all.

    Raises:
        Refused: the cursor is not one of this list.
    """
    after, up = _cursor(query), query.ascending
    plain = query == Query(sort=query.sort, ascending=up, cursor=query.cursor, limit=query.limit)
    text = None if query.text is None else query.text.casefold()
    place: Callable[[Line], tuple[float, str]] = attrgetter(query.sort, "session_id")
    left: list[Line] = []
    total = 0
    for start in range(0, len(lines), AT_ONCE):
        for line in lines[start : start + AT_ONCE]:
            if line.expires <= now or not (scope.everything or scope.allows(line.owner)):
                continue
            if not (plain or _matches(line, query, text, now)):
                continue
            total += 1
            if after is None or (place(line) > after if up else place(line) < after):
                left.append(line)
        await asyncio.sleep(0)
    return (nsmallest if up else nlargest)(page_size(query) + 1, left, key=place), total


def page_size(query: Query) -> int:
    """Rows of one page: those asked for, 500 at most."""
    return max(1, min(query.limit, LONGEST_PAGE))


def cursor_of(line: Line, query: Query) -> str:
    """What asks for the rows behind one."""
    place = [query.sort, query.ascending, getattr(line, query.sort), line.session_id]
    return base64.urlsafe_b64encode(json.dumps(place).encode()).decode().rstrip("=")


def _cursor(query: Query) -> tuple[float, str] | None:
    if query.cursor is None:
        return None
    try:
        padded = query.cursor + "=" * (-len(query.cursor) % 4)
        sort, ascending, value, session_id = json.loads(base64.urlsafe_b64decode(padded))
        if (sort, ascending) != (query.sort, query.ascending):
            raise ValueError("another order")
        return float(value), str(session_id)
    except (ValueError, TypeError, OverflowError, binascii.Error, RecursionError) as error:
        raise Refused("The cursor is not one of this list; begin without one") from error


def _matches(line: Line, query: Query, text: str | None, now: float) -> bool:
    fields, owner = line.fields, line.owner
    if query.model is not None and fields.get("model") != query.model:
        return False
    if query.level is not None and (fields.get("level") or "none") != query.level:
        return False
    if query.team is not None and query.team not in (owner.team_id, owner.team):
        return False
    if (query.since is not None and line.seen < query.since) or (
        query.until is not None and line.seen > query.until
    ):
        return False
    if query.state is not None and _state(fields, now)[0] != query.state:
        return False
    return text is None or text in _searched(line)


def _searched(line: Line) -> str:
    owner, labels = line.owner, texts_in(_text(line.fields, "labels") or "")
    named = (owner.team_id, owner.team, owner.user_id, owner.key_alias, owner.end_user)
    return "\n".join((line.session_id, *labels, *(name for name in named if name))).casefold()


def _state(fields: Fields, now: float) -> tuple[State, str | None]:
    paused = None
    for kind in ("bypass", "backoff"):
        if paused is None and number_in(fields, f"{kind}_until") > now * 1000:
            paused = _text(fields, f"{kind}_reason") or "unspecified"
    if number_in(fields, "claimed") > now * 1000:
        return "summarizing", paused
    if number_in(fields, "failures") > 0:
        return "failed", _text(fields, "backoff_reason") or paused
    return "idle", paused


def _text(fields: Fields, name: str) -> str | None:
    value = fields.get(name)
    return value if isinstance(value, str) and value else None


def number_in(fields: Fields, name: str) -> float:
    """A number of a row; 0 for what is none."""
    try:
        value = float(fields.get(name) or 0)
    except (ValueError, TypeError, OverflowError):
        return 0.0
    # Greater ones are no count, time or size, and not every reader of JSON can take them.
    return value if isfinite(value) and abs(value) < LARGEST else 0.0
