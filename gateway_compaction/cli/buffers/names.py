"""Find the session that a person names: by its id, the beginning of it, or a label; and shorten ids."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterable, Sequence

from gateway_compaction.archive import Query, SessionRow
from gateway_compaction.cli.buffers.reach import PAGE, OpenArchive, SeveralError
from gateway_compaction.cli.buffers.text import format_age, format_cell, pluralize
from gateway_compaction.core.records.compaction import SessionRef
from gateway_compaction.errors import NotFound

LABEL_CHARS, SHOWN = 200, 5
SHORT_CALLS = (
    "Name one by its id. Calls of fewer than four messages are sessions of their own under the label that"
    " they share with the conversation; that is the one with most calls."
)
SHORT, SHORT_TENANT = 12, 6
WHOLE = re.compile(r"([0-9a-f]{32})\.([0-9a-f]{32})")
PARTS = re.compile(r"([0-9a-f]+)\.([0-9a-f]*)")


async def find_session(reached: OpenArchive, named: str) -> SessionRef:
    """Return the session that a person means: by its whole id, a beginning of it, or a label.

    Raises:
        NotFound: there is none.
        SeveralError: it could be several.
    """
    whole = WHOLE.fullmatch(named)
    if whole:
        return SessionRef(whole[1], whole[2])
    found = [row async for row in _find_candidates(reached, named)]
    # A label cannot take the place of a whole id.
    found = [row for row in found if row.session.key == named] or found
    if not found:
        raise NotFound(
            f"No session has an id or a label {format_cell(named)!r}; ls --text looks inside of them"
        )
    if len(found) > 1:
        found.sort(key=lambda row: row.seen, reverse=True)
        listed = [_describe_row(row) for row in found[:SHOWN]]
        listed += [f"and {len(found) - SHOWN} more"] if len(found) > SHOWN else []
        if any(named[:LABEL_CHARS] in row.labels for row in found):
            listed.append(SHORT_CALLS)
        raise SeveralError(f"{format_cell(named)!r} can mean {pluralize(len(found), 'session')}", listed)
    return found[0].session


def short_ids(sessions: Sequence[SessionRef]) -> list[str]:
    """Return the beginning of each id that is unique among these, with the tenant's where that is needed."""
    tenants: dict[str, list[str]] = {}
    for one in sessions:
        tenants.setdefault(one.key, []).append(one.tenant)
    keys = _unique_beginnings(tenants, SHORT)
    parts = {
        key: _unique_beginnings(found, SHORT_TENANT) for key, found in tenants.items() if len({*found}) > 1
    }
    return [
        f"{parts[one.key][one.tenant]}.{keys[one.key]}" if one.key in parts else keys[one.key]
        for one in sessions
    ]


def _unique_beginnings(names: Iterable[str], least: int) -> dict[str, str]:
    """Return for each name as much of it, and at least so much, as no other name begins with."""
    ordered = sorted({*names})
    found = {}
    for before, name, after in zip(["", *ordered], ordered, [*ordered[1:], ""], strict=False):
        found[name] = name[: max(least, 1 + _shared_length(name, before), 1 + _shared_length(name, after))]
    return found


def _shared_length(one: str, other: str) -> int:
    """Return with how many of the same characters both begin."""
    pairs = zip(one, other, strict=False)
    return next((at for at, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))


def _describe_row(row: SessionRow) -> str:
    labels = f" ({format_cell(', '.join(row.labels))})" if row.labels else ""
    seen = f", last {age}" if (age := format_age(row.seen)) else ""
    named = f"{row.session.session_id} of {format_cell(row.owner.named)}{labels}"
    return f"{named}: {pluralize(row.calls, 'call')}{seen}"


async def _find_candidates(reached: OpenArchive, named: str) -> AsyncIterator[SessionRow]:
    parts = PARTS.fullmatch(named)
    text = (parts[2] or parts[1]) if parts else named
    cursor: str | None = None
    while named:
        query = Query(text=text[:LABEL_CHARS], limit=PAGE, cursor=cursor)
        page = await reached.archive.sessions(reached.scope, query)
        for row in page.rows:
            if _is_meant(row, named):
                yield row
        cursor = page.cursor
        if cursor is None:
            return


def _is_meant(row: SessionRow, named: str) -> bool:
    parts = PARTS.fullmatch(named)
    if parts and row.session.tenant.startswith(parts[1]) and row.session.key.startswith(parts[2]):
        return True
    return row.session.key.startswith(named) or named[:LABEL_CHARS] in row.labels
