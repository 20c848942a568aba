"""Lines of the session list: read, chosen, put in order, and handed out page by page."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Iterable, Mapping, Sequence
from math import isfinite
from typing import Any

from gateway_compaction.adapters.indexing import OWNER_FIELDS
from gateway_compaction.adapters.records import texts_in
from gateway_compaction.archive import Owner, Query, Scope, SessionRow, State
from gateway_compaction.core.compaction import SessionRef
from gateway_compaction.errors import Refused

__all__ = ["Fields", "Found", "chosen", "cursor_of", "owner_in", "page_size", "read_row", "row_of"]

Fields = Mapping[str, Any]
Found = tuple[SessionRef, Fields]
COLUMNS = {
    "seen": "seen",
    "created": "created",
    "saved": "saved",
    "tokens": "tokens_before",
    "calls": "calls",
}
LONGEST_PAGE = 500


def read_row(raw: bytes | str) -> Fields | None:
    """A row as it stands in Redis, or None for what is none."""
    try:
        found = json.loads(raw)
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
        created=_number(fields, "created"),
        seen=_number(fields, "seen") or _number(fields, "created"),
        calls=int(_number(fields, "calls")),
        tokens_before=int(_number(fields, "tokens_before")),
        tokens_after=int(_number(fields, "tokens_after")),
        window=int(_number(fields, "window")) or None,
        covers=int(_number(fields, "covers")),
        saved=int(_number(fields, "saved")),
        would_save=int(_number(fields, "would_save")),
        versions=int(_number(fields, "version")),
    )


def owner_in(fields: Fields, prefix: str = "about:") -> Owner:
    """Whose something is; what several share is nobody's."""
    return Owner(**{name: _text(fields, f"{prefix}{name}") for name in OWNER_FIELDS})


def chosen(found: Iterable[Found], scope: Scope, query: Query, now: float) -> tuple[list[Found], int]:
    """The rows of a page, one more where others follow, and how many match in all."""
    after = _cursor(query)
    keyed = [
        ((_number(fields, COLUMNS[query.sort]), session.slot), (session, fields))
        for session, fields in found
        if _number(fields, "expires") > now
        and scope.allows(owner_in(fields))
        and _matches(session, fields, query, now)
    ]
    keyed.sort(key=lambda pair: pair[0], reverse=not query.ascending)
    left = keyed
    if after is not None:
        left = [p for p in keyed if (p[0] > after if query.ascending else p[0] < after)]
    return [row for _, row in left[: page_size(query) + 1]], len(keyed)


def page_size(query: Query) -> int:
    """Rows of one page: those asked for, 500 at most."""
    return max(1, min(query.limit, LONGEST_PAGE))


def cursor_of(row: Found, query: Query) -> str:
    """What asks for the rows behind one."""
    place = [query.sort, query.ascending, _number(row[1], COLUMNS[query.sort]), row[0].slot]
    return base64.urlsafe_b64encode(json.dumps(place).encode()).decode().rstrip("=")


def _cursor(query: Query) -> tuple[float, str] | None:
    if query.cursor is None:
        return None
    try:
        padded = query.cursor + "=" * (-len(query.cursor) % 4)
        sort, ascending, value, slot = json.loads(base64.urlsafe_b64decode(padded))
        if (sort, ascending) != (query.sort, query.ascending):
            raise ValueError("another order")
        return float(value), str(slot)
    except (ValueError, TypeError, binascii.Error, RecursionError) as error:
        raise Refused("the cursor is not one of this list; begin without one") from error


def _matches(session: SessionRef, fields: Fields, query: Query, now: float) -> bool:
    if query.model is not None and fields.get("model") != query.model:
        return False
    if query.level is not None and (fields.get("level") or "none") != query.level:
        return False
    if query.team is not None and query.team not in (
        fields.get("about:team_id"),
        fields.get("about:team"),
    ):
        return False
    seen = _number(fields, "seen")
    if (query.since is not None and seen < query.since) or (query.until is not None and seen > query.until):
        return False
    if query.state is not None and _state(fields, now)[0] != query.state:
        return False
    return query.text is None or query.text.casefold() in _searched(session, fields)


def _searched(session: SessionRef, fields: Fields) -> str:
    named = (fields.get(f"about:{name}") or "" for name in OWNER_FIELDS if name != "key_hash")
    labels: Sequence[str] = texts_in(_text(fields, "labels") or "")
    return "\n".join((session.slot, *labels, *map(str, named))).casefold()


def _state(fields: Fields, now: float) -> tuple[State, str | None]:
    paused = None
    for kind in ("bypass", "backoff"):
        if paused is None and _number(fields, f"{kind}_until") > now * 1000:
            paused = _text(fields, f"{kind}_reason") or "unspecified"
    if _number(fields, "claimed") > now * 1000:
        return "summarizing", paused
    if _number(fields, "failures") > 0:
        return "failed", _text(fields, "backoff_reason") or paused
    return "idle", paused


def _text(fields: Fields, name: str) -> str | None:
    value = fields.get(name)
    return value if isinstance(value, str) and value else None


def _number(fields: Fields, name: str) -> float:
    try:
        value = float(fields.get(name) or 0)
    except (ValueError, TypeError):
        return 0.0
    return value if isfinite(value) else 0.0
