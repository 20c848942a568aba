"""Make pieces of a session's detail: a version with its diff to the one it was built on, a page of events."""

from __future__ import annotations

from difflib import SequenceMatcher

from gateway_compaction.admin.schemas import Change, EventPage, Version
from gateway_compaction.archive import SessionDetail
from gateway_compaction.core.records.compaction import Compaction
from gateway_compaction.errors import NotFound, PartNotFound

MOST_UNITS = 400
"""Most lines, or segments, that are compared: the cost is the product of both numbers."""


def find_version(detail: SessionDetail, number: int) -> Version:
    """Return everything about one version.

    Raises:
        PartNotFound: there is none of that number.
    """
    known = (*detail.compactions, *detail.retired)
    found = next((c for c in known if c.version == number), None)
    if found is None:
        raise PartNotFound.version(number, detail.versions)
    parent = next((c for c in known if c.digest == found.parent and c.version != number), None)
    return Version(
        compaction=found,
        retired=found in detail.retired,
        parent=parent.version if parent else None,
        rate=round(found.tokens_after / found.tokens_before, 4) if found.tokens_before else None,
        text=found.text,
        diff=diff_texts(parent, found),
    )


def diff_texts(before: Compaction | None, after: Compaction) -> tuple[Change, ...]:
    """Return the diff of two texts: by lines, by segments where there are too many lines, else as a whole."""
    old, new = _split_units(before, after)
    found: list[Change] = []
    for tag, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "equal":
            found.append(Change("same", "\n".join(old[a:b])))
            continue
        if b > a:
            found.append(Change("removed", "\n".join(old[a:b])))
        if d > c:
            found.append(Change("added", "\n".join(new[c:d])))
    return tuple(found)


def _split_units(before: Compaction | None, after: Compaction) -> tuple[list[str], list[str]]:
    texts = ("" if before is None else before.text, after.text)
    lines = [text.split("\n") if text else [] for text in texts]
    segments = [[s.text for s in c.segments] if c else [] for c in (before, after)]
    # A stranger's text must not block the event loop.
    for old, new in (lines, segments):
        if max(len(old), len(new)) <= MOST_UNITS:
            return old, new
    return [texts[0]], [texts[1]]


def events_after(detail: SessionDetail, cursor: str | None, limit: int) -> EventPage:
    """Return a page of events, the latest first.

    Args:
        cursor: where the page begins: the time of the last event given, and how many of that time were.
        limit: most events of the page.

    Raises:
        NotFound: the cursor is none of ours.
    """
    found, before, given = sorted(detail.events, key=lambda e: -e.at), None, 0
    if cursor is not None:
        before, given = _read_cursor(cursor)
        same = [e for e in found if e.at == before]
        found = [*same[given:], *(e for e in found if e.at < before)]
    page = tuple(found[:limit])
    if len(found) <= limit:
        return EventPage(page, None)
    last = page[-1].at
    through = sum(e.at == last for e in page) + (given if last == before else 0)
    return EventPage(page, f"{last!r}~{through}")


def _read_cursor(cursor: str) -> tuple[float, int]:
    at, _, given = cursor.partition("~")
    try:
        return float(at), max(0, int(given))
    except ValueError:
        raise NotFound("no such cursor") from None
