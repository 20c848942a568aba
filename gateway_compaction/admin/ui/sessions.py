"""Show the session list as values: the form above it, and a line for each session."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args
from urllib.parse import urlencode

from gateway_compaction.admin.ui.text import (
    format_age,
    format_compact,
    format_percent,
    format_time,
    shorten_line,
)
from gateway_compaction.archive import Query, SessionPage, SessionRow, Sort, State

AGES: Mapping[str, tuple[str, float]] = {
    "1h": ("last hour", 3600),
    "24h": ("last 24 hours", 86_400),
    "7d": ("last 7 days", 7 * 86_400),
    "older": ("older than 7 days", -7 * 86_400),
}
LEVELS = ("light", "medium", "aggressive")
STATES: tuple[State, ...] = get_args(State)
SORTS: tuple[Sort, ...] = get_args(Sort)
PAGE = 50
FILTER_CHARS = 200
CALLS_HINT = "Those near their window; smaller ones pass without being recorded"
SESSION_SAVED_HINT = (
    "An estimate, added up over these calls: what the client sent, by our count, less all that was sent in"
    " its place: summary, note, pins and quotes. In shadow mode: what would have been saved."
)


@dataclass(frozen=True, slots=True)
class SessionFilter:
    """The form above the list as somebody filled it in; empty text where nothing was asked."""

    team: str = ""
    model: str = ""
    level: str = ""
    state: str = ""
    age: str = ""
    text: str = ""
    sort: Sort = "seen"
    ascending: bool = False
    cursor: str = ""

    def to_query(self, now: float) -> Query:
        """Return the same for the archive."""
        seconds = AGES[self.age][1] if self.age else 0.0
        state: State | None = next((known for known in STATES if known == self.state), None)
        return Query(
            team=self.team or None,
            model=self.model or None,
            level=self.level or None,
            state=state,
            text=self.text or None,
            since=now - seconds if seconds > 0 else None,
            until=now + seconds if seconds < 0 else None,
            sort=self.sort,
            ascending=self.ascending,
            cursor=self.cursor or None,
            limit=PAGE,
        )

    def to_link(self, **changes: Any) -> str:
        """Return the query string of this form with changes; another order or filter starts at the first
        page.
        """
        values = {name: getattr(self, name) for name in ("team", "model", "level", "state", "age", "text")}
        values |= {"sort": self.sort, "dir": "up" if self.ascending else "down", "cursor": ""} | changes
        if values["sort"] == "seen" and values["dir"] == "down":
            values |= {"sort": "", "dir": ""}
        return urlencode({name: value for name, value in values.items() if value}, errors="replace")

    @property
    def here(self) -> str:
        """The query string of exactly this page of the list."""
        return self.to_link(cursor=self.cursor)

    @property
    def filtered(self) -> bool:
        """Whether anything was asked for."""
        return any((self.team, self.model, self.level, self.state, self.age, self.text))


@dataclass(frozen=True, slots=True)
class Column:
    """A heading of the list; ``to_link`` orders by it (the other way round where it already does).

    ``hint`` says what is counted.
    """

    name: str
    link: str | None = None
    order: str = "none"
    number: bool = False
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Line:
    """One session as the list shows it."""

    path: str
    name: str
    id: str
    owner: str
    model: str
    endpoint: str
    level: str
    outcome: str
    state: str
    reason: str
    seen: str
    seen_at: str
    calls: int
    before: str
    after: str
    share: int
    usage: str
    saved: str
    would: bool
    versions: int


@dataclass(frozen=True, slots=True)
class Listing:
    """The whole list."""

    asked: SessionFilter
    columns: tuple[Column, ...]
    lines: tuple[Line, ...]
    total: int
    next: str | None
    first: str | None
    teams: tuple[str, ...] = ()
    models: tuple[str, ...] = ()


def read_filter(form: Mapping[str, str]) -> SessionFilter:
    """Read the form as sent by a browser; what it cannot have offered counts as not asked."""
    text = {
        name: form.get(name, "").strip()[:FILTER_CHARS]
        for name in ("team", "model", "text", "level", "state", "age")
    }
    sort: Sort = next((known for known in SORTS if known == form.get("sort")), "seen")
    return SessionFilter(
        text["team"],
        text["model"],
        text["level"] if text["level"] in LEVELS else "",
        text["state"] if text["state"] in STATES else "",
        text["age"] if text["age"] in AGES else "",
        text["text"],
        sort,
        form.get("dir") == "up",
        form.get("cursor", "")[:1000],
    )


def make_listing(
    page: SessionPage, form: SessionFilter, now: float, teams: Sequence[str] = (), models: Sequence[str] = ()
) -> Listing:
    """Show the list as values."""
    return Listing(
        form,
        _make_columns(form),
        tuple(make_line(row, now) for row in page.rows),
        page.total,
        form.to_link(cursor=page.cursor) if page.cursor else None,
        form.to_link() if form.cursor else None,
        tuple(teams),
        tuple(models),
    )


def make_line(row: SessionRow, now: float) -> Line:
    """Show one session as values."""
    saved = row.saved or row.would_save
    return Line(
        row.session.session_id,
        shorten_line(row.labels[0]) if row.labels else row.session.key[:12],
        row.session.key[:12],
        shorten_line(row.owner.named),
        shorten_line(row.model or "unknown"),
        shorten_line(row.endpoint or "", 20),
        row.level or "",
        row.outcome or "",
        row.state,
        shorten_line(row.reason or "", 200),
        format_age(row.seen, now),
        format_time(row.seen),
        row.calls,
        format_compact(row.tokens_before),
        format_compact(row.tokens_after),
        _sent_share(row),
        format_percent(row.tokens_after / row.window) if row.window else "",
        format_compact(saved) if saved else "–",
        bool(row.would_save) and not row.saved,
        row.versions,
    )


def _sent_share(row: SessionRow) -> int:
    """Return what the model got of what the client sent, in per cent."""
    return max(1, min(100, round(100 * row.tokens_after / row.tokens_before))) if row.tokens_before else 100


def _make_columns(form: SessionFilter) -> tuple[Column, ...]:
    def ordered(name: str, sort: Sort, hint: str = "") -> Column:
        now = form.sort == sort
        link = form.to_link(sort=sort, dir="down" if not now or form.ascending else "up")
        order = ("ascending" if form.ascending else "descending") if now else "none"
        return Column(name, link, order, sort != "seen", hint)

    return (
        Column("Session"),
        Column("Owner"),
        Column("Model"),
        Column("Level"),
        Column("State"),
        ordered("Last seen", "seen"),
        ordered("Calls", "calls", CALLS_HINT),
        ordered("Sent → got", "tokens"),
        ordered("Saved", "saved", SESSION_SAVED_HINT),
    )
