"""Show the page of one session as values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gateway_compaction.admin.ui.actions import pin_mark
from gateway_compaction.admin.ui.charts import (
    CallTokens,
    FirstUse,
    LevelTokens,
    Strip,
    TokenChart,
    VersionCover,
    choose_labelled,
    make_strip,
    make_token_chart,
)
from gateway_compaction.admin.ui.contents import Comparison, compare_contents
from gateway_compaction.admin.ui.continuing import list_told
from gateway_compaction.admin.ui.history import (
    KINDS,
    Card,
    RecordsView,
    Statistics,
    make_cards,
    make_records_view,
    make_statistics,
    preamble_length,
)
from gateway_compaction.admin.ui.overview import Tile
from gateway_compaction.admin.ui.sessions import CALLS_HINT, SESSION_SAVED_HINT, Line, make_line
from gateway_compaction.admin.ui.text import (
    format_age,
    format_compact,
    format_money,
    format_percent,
    format_span,
    format_thousands,
    format_time,
    shorten_line,
)
from gateway_compaction.archive import CallSnapshot, SessionDetail
from gateway_compaction.core.records.event import CompactionEvent

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
OBSERVED = "observed"
VERSIONS_SHOWN = 6
CALLS_SHOWN = 200


@dataclass(frozen=True, slots=True)
class Fate:
    """The messages that met one fate: how many, and their share of the tokens."""

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
    """The page of a session, without the policy."""

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
    records: RecordsView | None
    strip: Strip | None
    fates: tuple[Fate, ...]
    comparison: Comparison | None
    looked_at: str
    events: tuple[EventLine, ...]
    pins: tuple[tuple[str, str], ...]
    told: tuple[tuple[str, tuple[str, ...]], ...]


def make_session_view(detail: SessionDetail, now: float) -> SessionView:
    """Show ``detail``, ``now`` in seconds since 1970."""
    row, call = detail.row, detail.last_call
    return SessionView(
        line=make_line(row, now),
        tenant=row.session.tenant,
        key=row.session.key,
        labels=row.labels,
        facts=_list_facts(detail, now),
        notices=_list_notices(detail, now),
        tiles=_make_tiles(detail),
        chart=_make_chart(detail),
        cards=make_cards(detail, now),
        statistics=make_statistics(detail),
        records=make_records_view(detail, now),
        strip=_make_strip(detail),
        fates=_sum_fates(call),
        comparison=compare_contents(call) if call else None,
        looked_at=_describe_look(call, now) if call else "",
        events=tuple(_make_event_line(event, now) for event in detail.events),
        pins=tuple((pin, pin_mark(pin)) for pin in detail.steering.pins),
        told=list_told(detail.client_state),
    )


def _describe_look(call: CallSnapshot, now: float) -> str:
    """Tell when the last call was looked at, and through which endpoint it came."""
    through = f", through {shorten_line(call.endpoint, 20)}" if call.endpoint else ""
    return f"{format_time(call.at)}, {format_age(call.at, now)}{through}"


def _list_facts(detail: SessionDetail, now: float) -> tuple[tuple[str, str], ...]:
    row = detail.row
    owner = row.owner
    facts = {
        "Team": owner.team or owner.team_id or "",
        "User": owner.user_id or "",
        "Key": owner.key_alias or (owner.key_hash or "")[:12],
        "End user": owner.end_user or "",
        "Model": row.model or "",
        "Policy": row.policy or "",
        "Endpoint": row.endpoint or "",
        "Began": format_time(row.created) if row.created else "",
        "Kept for": format_span(detail.ttl) if detail.ttl > 0 else "",
    }
    return tuple((name, shorten_line(value, 120)) for name, value in facts.items() if value)


def _list_notices(detail: SessionDetail, now: float) -> tuple[tuple[str, str], ...]:
    """Return class and sentence of everything unusual."""
    row, found = detail.row, list[tuple[str, str]]()
    if row.state == "failed":
        found.append(
            ("bad", f"The last summary failed: {shorten_line(row.reason or 'no reason was given', 300)}")
        )
    if row.state == "summarizing" or detail.claims:
        found.append(("busy", "A summary is being made now."))
    if detail.bypass and detail.bypass[0] > now:
        found.append(
            (
                "warn",
                f"Left alone for {format_span(detail.bypass[0] - now)}:"
                f" {shorten_line(detail.bypass[1], 300)}",
            )
        )
    if detail.backoff and detail.backoff[0] > now:
        wait = format_span(detail.backoff[0] - now)
        found.append(("warn", f"No summary is started for {wait}: {shorten_line(detail.backoff[1], 300)}"))
    if detail.steering.compact:
        found.append(("info", "Asked to compact from the next call on, below every level too."))
    if detail.steering.rate is not None:
        found.append(("info", f"Rate {detail.steering.rate:g} was set for the next summaries."))
    elif detail.key_rate is not None:
        found.append(("info", f"Rate {detail.key_rate:g} was set for the next summaries of its key."))
    if detail.steering.rebuild:
        found.append(("info", "Asked to rebuild the summary from what the next call brings."))
    return tuple(found)


def _make_tiles(detail: SessionDetail) -> tuple[Tile, ...]:
    row = detail.row
    would = bool(row.would_save) and not row.saved
    saved = row.would_save if would else row.saved
    got = f"{format_percent(row.tokens_after / row.tokens_before)} of it" if row.tokens_before else ""
    of = (
        f" · {format_percent(row.tokens_after / row.window)} of {format_compact(row.window)}"
        if row.window
        else ""
    )
    cost = sum(event.cost or 0.0 for event in detail.events)
    named = "Would have saved" if would else "Saved"
    paid = f"{format_money(cost)} paid lately" if cost else "at no cost"
    kept = f"in use, {format_thousands(len(detail.retired))} taken back; " if detail.retired else ""
    return (
        Tile("Calls", format_thousands(row.calls), _describe_outcome(row.outcome), hint=CALLS_HINT),
        Tile(
            "Client sent",
            format_compact(row.tokens_before),
            "tokens with room for the answer, at the last call",
        ),
        Tile(
            "Model would have got" if row.outcome == OBSERVED else "Model got",
            format_compact(row.tokens_after),
            f"{got}{of}".strip(" ·"),
        ),
        Tile(
            named,
            format_compact(saved),
            "tokens, over all calls; an estimate",
            "good" if saved else "",
            SESSION_SAVED_HINT,
        ),
        Tile("Summaries", format_thousands(len(detail.compactions)), f"{kept}{paid}"),
    )


def _describe_outcome(outcome: str | None) -> str:
    """Say what was done to the latest call; words that are none of ours are shown as they are."""
    return (
        f"the last one {OUTCOMES.get(outcome, shorten_line(outcome, 40))}"
        if outcome
        else "none is decided yet"
    )


def _list_calls(detail: SessionDetail) -> list[CompactionEvent]:
    """Return requests, oldest first."""
    return [event for event in reversed(detail.events) if event.type == "request"][-CALLS_SHOWN:]


def _make_chart(detail: SessionDetail) -> TokenChart | None:
    calls = _list_calls(detail)
    drawn = list[CallTokens]()
    first_uses, last = list[FirstUse](), None
    for index, event in enumerate(calls):
        got = event.tokens_after or event.tokens_before
        words = (
            f"call {index + 1}, {format_time(event.at)}: client sent {format_thousands(event.tokens_before)}"
        )
        verb = "would have got" if event.outcome == OBSERVED else "got"
        words += f" tokens, model {verb} {format_thousands(got)} ({event.outcome})"
        drawn.append(CallTokens(event.tokens_before, got, words, got < event.tokens_before))
        if event.version and event.version != last:
            sentence = f"version {event.version} first sent at call {index + 1}"
            first_uses.append(FirstUse(index, f"v{event.version}", sentence))
        last = event.version or last
    return make_token_chart(drawn, _list_levels(detail), first_uses, _name_calls([e.at for e in calls]))


def _name_calls(times: Sequence[float]) -> list[str]:
    """Name calls for the axis: by minute, by second or by number, whichever first tells the labels apart.

    Calls on several days are named with the day.
    """
    told = [format_time(at) for at in times]
    start = 11 if len({text[:10] for text in told}) == 1 else 5
    shown = choose_labelled(len(told))
    for end in (16, 19):
        if len({told[i][start:end] for i in shown}) == len(shown):
            return [text[start:end] for text in told]
    return [f"call {number}" for number in range(1, len(told) + 1)]


def _list_levels(detail: SessionDetail) -> list[LevelTokens]:
    call = detail.last_call
    window = (call.window if call else 0) or detail.row.window or 0
    found = [LevelTokens(window, "window", "window")] if window else []
    levels = zip(call.levels, LEVEL_NAMES, strict=True) if call else ()
    return found + [LevelTokens(value, name, name) for value, name in levels if value]


def _make_strip(detail: SessionDetail) -> Strip | None:
    call = detail.last_call
    if call is None or not call.sent:
        return None
    start = preamble_length(call)
    newest = sorted(detail.compactions, key=lambda c: -c.version)[:VERSIONS_SHOWN]
    versions = [
        VersionCover(start, start + c.covers, f"v{c.version}", c.version == call.version)
        for c in newest
        if start + c.covers <= len(call.sent)
    ]
    return make_strip(call.sent, versions, call.cuts)


def _sum_fates(call: CallSnapshot | None) -> tuple[Fate, ...]:
    if call is None:
        return ()
    number, tokens = Counter[str](), Counter[str]()
    for _, size, fate in call.sent:
        number[fate] += 1
        tokens[fate] += size
    total = sum(tokens.values()) or 1
    names: Sequence[str] = [*FATES, *sorted(set(number) - set(FATES))]
    return tuple(
        Fate(name, number[name], format_compact(tokens[name]), format_percent(tokens[name] / total))
        for name in names
        if number[name]
    )


def _make_event_line(event: CompactionEvent, now: float) -> EventLine:
    notes = [
        KINDS.get(event.reason, ""),
        event.endpoint or "",
        event.by or "",
        f"{event.seconds:.1f} s" if event.seconds else "",
        format_money(event.cost) if event.cost else "",
    ]
    return EventLine(
        format_time(event.at),
        format_age(event.at, now),
        event.type,
        event.outcome,
        event.level or "",
        shorten_line(event.reason, 300),
        format_compact(event.tokens_before) if event.tokens_before else "",
        format_compact(event.tokens_after) if event.tokens_after else "",
        f"v{event.version}" if event.version else "",
        shorten_line(", ".join(note for note in notes if note), 200),
    )
