"""The page of one session as values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gateway_compaction.admin.ui.actions import pin_mark
from gateway_compaction.admin.ui.charts import Strip, TokenChart, strip, token_chart
from gateway_compaction.admin.ui.contents import Comparison, comparison
from gateway_compaction.admin.ui.history import KINDS, Card, Statistics, cards, preamble_of, statistics
from gateway_compaction.admin.ui.overview import Tile
from gateway_compaction.admin.ui.sessions import CALLS_HINT, Line, line
from gateway_compaction.admin.ui.text import ago, compact, money, percent, short, span, stamp, thousands
from gateway_compaction.archive import CallSnapshot, SessionDetail
from gateway_compaction.core.records.event import CompactionEvent

__all__ = ["EventLine", "Fate", "SessionView", "session_view"]

LEVEL_NAMES = ("light", "medium", "aggressive")
FATES = ("preamble", "covered", "recalled", "cleared", "shortened", "verbatim")
OUTCOMES: Mapping[str, str] = {
    "none": "was sent as it came",
    "prepared": "was sent as it came, and a summary begun after it",
    "applied": "was sent with the summary that was ready",
    "fallback": "was made smaller without a model",
    "passthrough": "was sent as it came, though long",
    "bypassed": "was left alone",
    "observed": "was only watched",
}
VERSIONS_SHOWN = 6
CALLS_SHOWN = 200


@dataclass(frozen=True, slots=True)
class Fate:
    """How many messages met one fate, and their share of the tokens."""

    name: str
    messages: int
    tokens: str
    share: str


@dataclass(frozen=True, slots=True)
class EventLine:
    """One event in a table."""

    at: str
    ago: str
    type: str
    outcome: str
    level: str
    reason: str
    before: str
    after: str
    version: str
    note: str


@dataclass(frozen=True, slots=True)
class SessionView:
    """All that the page shows of a session but the policy."""

    line: Line
    tenant: str
    key: str
    labels: tuple[str, ...]
    facts: tuple[tuple[str, str], ...]
    notices: tuple[tuple[str, str], ...]
    tiles: tuple[Tile, ...]
    chart: TokenChart | None
    cards: tuple[Card, ...]
    statistics: Statistics | None
    strip: Strip | None
    fates: tuple[Fate, ...]
    comparison: Comparison | None
    looked_at: str
    events: tuple[EventLine, ...]
    pins: tuple[tuple[str, str], ...]


def session_view(detail: SessionDetail, now: float) -> SessionView:
    """The page of ``detail``, ``now`` in seconds since 1970."""
    row, call = detail.row, detail.last_call
    return SessionView(
        line(row, now),
        row.session.tenant,
        row.session.key,
        row.labels,
        _facts(detail, now),
        _notices(detail, now),
        _tiles(detail),
        _chart(detail),
        cards(detail, now),
        statistics(detail),
        _strip(detail),
        _fates(call),
        comparison(call) if call else None,
        f"{stamp(call.at)}, {ago(call.at, now)}" if call else "",
        tuple(_event(event, now) for event in detail.events),
        tuple((pin, pin_mark(pin)) for pin in detail.steering.pins),
    )


def _facts(detail: SessionDetail, now: float) -> tuple[tuple[str, str], ...]:
    row = detail.row
    owner = row.owner
    facts = {
        "Team": owner.team or owner.team_id or "",
        "User": owner.user_id or "",
        "Key": owner.key_alias or (owner.key_hash or "")[:12],
        "End user": owner.end_user or "",
        "Model": row.model or "",
        "Policy": row.policy or "",
        "Began": stamp(row.created) if row.created else "",
        "Kept for": span(detail.ttl) if detail.ttl > 0 else "",
    }
    return tuple((name, short(value, 120)) for name, value in facts.items() if value)


def _notices(detail: SessionDetail, now: float) -> tuple[tuple[str, str], ...]:
    """Class and sentence of everything unusual."""
    row, found = detail.row, list[tuple[str, str]]()
    if row.state == "failed":
        found.append(("bad", f"The last summary failed: {short(row.reason or 'no reason was given', 300)}"))
    if row.state == "summarizing" or detail.claims:
        found.append(("busy", "A summary is being made now."))
    if detail.bypass and detail.bypass[0] > now:
        found.append(
            ("warn", f"Left alone for {span(detail.bypass[0] - now)}: {short(detail.bypass[1], 300)}")
        )
    if detail.backoff and detail.backoff[0] > now:
        wait = span(detail.backoff[0] - now)
        found.append(("warn", f"No summary is started for {wait}: {short(detail.backoff[1], 300)}"))
    if detail.steering.compact:
        found.append(("info", "Asked to compact at the next call, whatever its usage."))
    if detail.steering.rebuild:
        found.append(("info", "Asked to rebuild the summary from what the next call brings."))
    return tuple(found)


def _tiles(detail: SessionDetail) -> tuple[Tile, ...]:
    row = detail.row
    would = bool(row.would_save) and not row.saved
    saved = row.would_save if would else row.saved
    got = f"{percent(row.tokens_after / row.tokens_before)} of it" if row.tokens_before else ""
    of = f" · {percent(row.tokens_after / row.window)} of {compact(row.window)}" if row.window else ""
    cost = sum(event.cost or 0.0 for event in detail.events)
    named = "Would have saved" if would else "Saved"
    paid = f"{money(cost)} paid lately" if cost else "at no cost"
    return (
        Tile("Calls", thousands(row.calls), _last(row.outcome), hint=CALLS_HINT),
        Tile("Client sent", compact(row.tokens_before), "tokens, at the last call"),
        Tile("Model got", compact(row.tokens_after), f"{got}{of}".strip(" ·")),
        Tile(named, compact(saved), "tokens, over all calls", "good" if saved else ""),
        Tile("Summaries", thousands(len(detail.compactions)), paid),
    )


def _last(outcome: str | None) -> str:
    """What was done to the latest call; words that are none of ours are shown as they are."""
    return f"the last one {OUTCOMES.get(outcome, short(outcome, 40))}" if outcome else "none is decided yet"


def _calls(detail: SessionDetail) -> list[CompactionEvent]:
    """Requests, oldest first."""
    return [event for event in reversed(detail.events) if event.type == "request"][-CALLS_SHOWN:]


def _chart(detail: SessionDetail) -> TokenChart | None:
    calls = _calls(detail)
    drawn = list[tuple[int, int, str, bool]]()
    marks, last = list[tuple[int, str, str]](), None
    for index, event in enumerate(calls):
        got = event.tokens_after or event.tokens_before
        words = f"call {index + 1}, {stamp(event.at)}: client sent {thousands(event.tokens_before)}"
        words += f" tokens, model got {thousands(got)} ({event.outcome})"
        drawn.append((event.tokens_before, got, words, got < event.tokens_before))
        if event.version and event.version != last:
            marks.append(
                (index, f"v{event.version}", f"version {event.version} first sent at call {index + 1}")
            )
        last = event.version or last
    return token_chart(drawn, _lines(detail), marks, [stamp(event.at)[11:16] for event in calls])


def _lines(detail: SessionDetail) -> list[tuple[int, str, str]]:
    call = detail.last_call
    window = (call.window if call else 0) or detail.row.window or 0
    lines = [(window, "window", "window")] if window else []
    levels = zip(call.levels, LEVEL_NAMES, strict=True) if call else ()
    return lines + [(value, name, name) for value, name in levels if value]


def _strip(detail: SessionDetail) -> Strip | None:
    call = detail.last_call
    if call is None or not call.sent:
        return None
    start = preamble_of(call)
    newest = sorted(detail.compactions, key=lambda c: -c.version)[:VERSIONS_SHOWN]
    versions = [
        (start, start + c.covers, f"v{c.version}", c.version == call.version)
        for c in newest
        if start + c.covers <= len(call.sent)
    ]
    return strip(call.sent, versions, call.cuts)


def _fates(call: CallSnapshot | None) -> tuple[Fate, ...]:
    if call is None:
        return ()
    number, tokens = Counter[str](), Counter[str]()
    for _, size, fate in call.sent:
        number[fate] += 1
        tokens[fate] += size
    total = sum(tokens.values()) or 1
    names: Sequence[str] = [*FATES, *sorted(set(number) - set(FATES))]
    return tuple(
        Fate(name, number[name], compact(tokens[name]), percent(tokens[name] / total))
        for name in names
        if number[name]
    )


def _event(event: CompactionEvent, now: float) -> EventLine:
    notes = [
        KINDS.get(event.reason, ""),
        event.by or "",
        f"{event.seconds:.1f} s" if event.seconds else "",
        money(event.cost) if event.cost else "",
    ]
    return EventLine(
        stamp(event.at),
        ago(event.at, now),
        event.type,
        event.outcome,
        event.level or "",
        short(event.reason, 300),
        compact(event.tokens_before) if event.tokens_before else "",
        compact(event.tokens_after) if event.tokens_after else "",
        f"v{event.version}" if event.version else "",
        short(", ".join(note for note in notes if note), 200),
    )
