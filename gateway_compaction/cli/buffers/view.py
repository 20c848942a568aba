"""Show sessions, versions and calls on a terminal, or in a pipe."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby

from rich.cells import cell_len
from rich.console import Console, JustifyMethod
from rich.table import Table
from rich.text import Text

from gateway_compaction.archive import CallSnapshot, Owner, SessionDetail, SessionRow
from gateway_compaction.cli.buffers.names import short_ids
from gateway_compaction.cli.buffers.text import format_age, format_block, format_cell, format_span, pluralize
from gateway_compaction.core.records.call_snapshot import name_messages, number_messages
from gateway_compaction.core.records.client_state import ClientState
from gateway_compaction.core.records.compaction import Compaction
from gateway_compaction.core.records.event import CompactionEvent
from gateway_compaction.core.records.snapshots import SnapshotLine
from gateway_compaction.core.summary.statistics import SummaryRecords

# Wider than any table: what is no terminal is not squeezed.
PIPE_WIDTH = 4_000
# What a table draws around a cell.
FRAME = 3
STATES = {"idle": "", "summarizing": "cyan", "failed": "red"}


def make_console() -> Console:
    """Return stdout without markup or guesses; without colours and folding where it is not a terminal."""
    found = Console(markup=False, emoji=False, highlight=False)
    if found.is_terminal:
        return found
    return Console(markup=False, emoji=False, highlight=False, width=PIPE_WIDTH)


def print_text(out: Console, text: Text) -> None:
    """Print running text: folded between words on a terminal, as it is elsewhere."""
    out.print(text, soft_wrap=not out.is_terminal)


def session_table(rows: Iterable[SessionRow], *, width: int = PIPE_WIDTH, full: bool = False) -> Table:
    """Return the session list; on a narrow terminal without the columns that can be missed."""
    listed = [*rows]
    shown = {column: [column.shown(row) for row in listed] for column in COLUMNS}
    sessions = [row.session for row in listed]
    shown[COLUMNS[0]] = [one.session_id for one in sessions] if full else [*short_ids(sessions)]
    columns = _choose_columns(shown, width)
    table = Table()
    for column, widest in columns.items():
        justify: JustifyMethod = "right" if column.right else "left"
        table.add_column(column.name, justify=justify, no_wrap=True, overflow="ellipsis", max_width=widest)
    for cells in zip(*(shown[column] for column in columns), strict=True):
        table.add_row(*cells)
    return table


def fact_table(detail: SessionDetail) -> Table:
    """Return what is to be known of one session, a line each."""
    table = Table.grid(padding=(0, 2))
    for name, value in _list_facts(detail):
        if value:
            table.add_row(Text(name, style="bold"), value if isinstance(value, Text) else Text(value))
    return table


def version_in_use(detail: SessionDetail) -> Compaction | None:
    """Return the version that the last call used, else the newest that can be used."""
    number = detail.last_call.version if detail.last_call else None
    return max(detail.compactions, key=lambda one: (one.version == number, one.version), default=None)


def version_table(detail: SessionDetail) -> Table:
    """Return the versions, the newest first."""
    told = "retired: taken back by a rollback or a rebuild; a rollback to it uses it again"
    caption = told if detail.retired else None
    table = Table(title="Versions", title_justify="left", caption=caption, caption_justify="left")
    for name in ("version", "messages", "tokens", "rate", "segments", "cost"):
        table.add_column(name, justify="right", no_wrap=True)
    for name in ("kind", "model", "made", "from", "used"):
        table.add_column(name, no_wrap=True)
    listed = sorted((*detail.retired, *detail.compactions), key=lambda one: one.version, reverse=True)
    numbers = {one.digest: one.version for one in listed}
    last = detail.last_call.version if detail.last_call else None
    for one in listed:
        used = ["by the last call"] if one.version == last else []
        used += ["retired"] if one in detail.retired else []
        table.add_row(
            str(one.version),
            f"1–{one.covers}",
            f"{one.tokens_before:,} → {one.tokens_after:,}",
            f"{one.tokens_after / one.tokens_before:.0%}" if one.tokens_before else "",
            str(len(one.segments)),
            "" if one.cost is None else f"${one.cost:.4f}",
            format_cell(one.kind),
            format_cell(one.model),
            format_age(one.created_at),
            str(numbers.get(one.parent, "")) if one.parent else "",
            ", ".join(used),
        )
    return table


def summary_text(compaction: Compaction, *, full: bool) -> list[Text]:
    """Return a version's summary: each segment with the messages it stands for."""
    head = f"Version {compaction.version}: {compaction.kind}, for {name_messages(0, compaction.covers)}"
    if not compaction.segments:
        cleared = "long tool results are cleared, the messages stay"
        why = cleared if compaction.kind == "cleared" else "what is pinned stands for them"
        return [Text(f"{head}; it has no text: {why}", style="bold")]
    shown = [Text(head, style="bold")]
    for segment in compaction.segments:
        shown.append(Text(name_messages(segment.start, segment.end), style="dim"))
        shown.append(Text(format_block(segment.text, full=full)))
    return shown


def snapshot_table(listed: Sequence[SnapshotLine]) -> Table:
    """Return the snapshots of a session, the newest first."""
    table = Table(title="Snapshots", title_justify="left", caption_justify="left")
    table.caption = "buffers restore SESSION@NAME tells of one; buffers snapshots SESSION NAME compares"
    table.add_column("name", no_wrap=True)
    table.add_column("taken", no_wrap=True)
    for name in ("messages", "version"):
        table.add_column(name, justify="right", no_wrap=True)
    for name in ("why", "plan or task"):
        table.add_column(name)
    for one in listed:
        version = str(one.version) if one.version else ""
        told = (format_cell(one.reason), format_cell(one.plan))
        table.add_row(one.name, format_age(one.at), str(one.messages), version, *told)
    return table


def record_table(found: SummaryRecords) -> Table:
    """Return the parts of a summary in order, with what was asked of each and what came out; then totals."""
    totals = found.totals
    table = Table(title="Records of the summary", title_justify="left", caption_justify="left")
    table.caption = (
        f"in all {pluralize(totals.turns, 'turn')}, {totals.original_chars:,} → {totals.summary_chars:,}"
        f" characters; {totals.tokens_before:,} → {totals.tokens_after:,} tokens with note and pins:"
        f" {totals.saved:.0%} saved"
    )
    for name in ("turns", "messages"):
        table.add_column(name, no_wrap=True)
    for name in ("characters", "aimed at", "rate asked for", "rate"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("made", no_wrap=True)
    for one in found.records:
        original = "?" if one.original_chars is None else f"{one.original_chars:,}"
        table.add_row(
            _number_range(one.turns) if one.turns else "",
            f"{one.start + 1}–{one.end}",
            f"{original} → {one.summary_chars:,}",
            "" if one.target_chars is None else f"{one.target_chars:,}",
            "" if one.requested_rate is None else f"{one.requested_rate:g}",
            "" if one.actual_rate is None else f"{one.actual_rate:.2f}",
            format_age(one.created_at),
        )
    return table


def call_table(call: CallSnapshot) -> Table:
    """Return what the client sent and what the model saw; neighbours of one fate in one line."""
    through = f", through {format_cell(call.endpoint)}" if call.endpoint else ""
    title = Text(f"Last call looked at: {_format_time(call.at)} UTC{through}")
    table = Table("messages", "role", "tokens", "became", title=title, title_justify="left")
    table.columns[2].justify = "right"
    both = zip(("client sent", "model saw"), (call.sent, call.saw), number_messages(call), strict=True)
    for head, listed, numbered in both:
        total = sum(tokens for _, tokens, _ in listed)
        table.add_section()
        table.add_row(Text(head, style="bold"), pluralize(len(listed), "message"), f"{total:,}", "")
        at = 0
        for fate, found in groupby(listed, key=lambda one: one[2]):
            run = list(found)
            roles = ", ".join(dict.fromkeys(role for role, _, _ in run))
            tokens = f"{sum(tokens for _, tokens, _ in run):,}"
            table.add_row(
                _number_range(numbered[at : at + len(run)]), format_cell(roles), tokens, format_cell(fate)
            )
            at += len(run)
    return table


def _number_range(numbered: Sequence[int | None]) -> str:
    """Return the numbers of messages in a row, empty where they have none."""
    first, last = numbered[0], numbered[-1]
    return "" if first is None else str(first) if first == last else f"{first}–{last}"


def event_table(events: Sequence[CompactionEvent]) -> Table:
    """Return decisions, summaries and actions, newest first."""
    table = Table()
    for name in ("when (UTC)", "what", "endpoint", "outcome", "level"):
        table.add_column(name, no_wrap=True)
    for name in ("client → model", "version", "seconds", "cost"):
        table.add_column(name, justify="right", no_wrap=True)
    for name in ("reason", "by"):
        table.add_column(name, overflow="fold")
    for one in events:
        tokens = f"{one.tokens_before:,} → {one.tokens_after:,}" if one.tokens_before else ""
        table.add_row(
            _format_time(one.at),
            format_cell(one.type),
            format_cell(one.endpoint),
            format_cell(one.outcome),
            format_cell(one.level),
            tokens,
            "" if one.version is None else str(one.version),
            "" if one.seconds is None else f"{one.seconds:.2f}",
            "" if one.cost is None else f"${one.cost:.4f}",
            format_cell(one.reason, 200),
            format_cell(one.by, 100),
        )
    return table


def _list_told(state: ClientState) -> Iterable[tuple[str, str]]:
    """Yield what the client told of its work, a line each."""
    for name in ("project", "plan", "task", "cwd"):
        yield f"told: {name}", format_cell(getattr(state, name), 200)
    for name in ("decisions", "files"):
        yield f"told: {name}", "; ".join(format_cell(one, 200) for one in getattr(state, name))


def _list_facts(detail: SessionDetail) -> Iterable[tuple[str, str | Text]]:
    row, owner, controls = detail.row, detail.row.owner, detail.steering
    yield "session", row.session.session_id
    yield from ((f"label {n}", format_cell(label, 200)) for n, label in enumerate(row.labels, 1))
    yield "team", format_cell(_format_team(owner))
    yield "user", format_cell(owner.user_id)
    yield "key", format_cell(" ".join(part for part in (owner.key_alias, owner.key_hash) if part), 120)
    yield "end user", format_cell(owner.end_user)
    yield "model", format_cell(row.model)
    yield "policy", format_cell(row.policy)
    yield "endpoint", format_cell(row.endpoint)
    reason = f": {format_cell(row.reason, 200)}" if row.reason else ""
    yield "state", _format_state(row).append(reason, style="default")
    if row.outcome:
        yield "latest call", f"{format_cell(row.outcome)}{f', {format_cell(row.level)}' if row.level else ''}"
    window = f" of {row.window:,}" if row.window else ""
    went = "would have gone to the model" if row.outcome == "observed" else "to the model"
    yield "tokens", f"{row.tokens_before:,} from the client, {row.tokens_after:,} {went}{window}"
    yield "covered", pluralize(row.covers, "message") if row.covers else ""
    yield "saved", f"{_format_saved(row)} tokens in {pluralize(row.calls, 'call')} (an estimate)"
    if detail.client_state is not None:
        yield from _list_told(detail.client_state)
    yield "begun", format_age(row.created)
    yield "seen", format_age(row.seen)
    yield "kept for", f"{format_span(detail.ttl)} more" if detail.ttl > 0 else ""
    for name, pause in (("bypassed", detail.bypass), ("backs off", detail.backoff)):
        yield name, f"until {_format_time(pause[0])} UTC: {format_cell(pause[1], 200)}" if pause else ""
    for _, until in detail.claims:
        yield "in the making", f"a summary, claimed until {_format_time(until)} UTC"
    yield "asked for", ", ".join(name for name in ("compact", "rebuild") if getattr(controls, name))
    rate, of_key = (controls.rate, "") if controls.rate is not None else (detail.key_rate, " of its key")
    yield "rate", "" if rate is None else f"{rate:g}, set for the next summaries{of_key}"
    yield from ((f"pin {n}", format_cell(pin, 400)) for n, pin in enumerate(controls.pins, 1))


def _format_team(owner: Owner) -> str | None:
    both = owner.team and owner.team_id and owner.team != owner.team_id
    return f"{owner.team} ({owner.team_id})" if both else owner.team or owner.team_id


def _format_saved(row: SessionRow) -> str:
    would = f"(would: {row.would_save:,})" if row.would_save else ""
    return f"{row.saved:,} {would}".strip()


def _format_state(row: SessionRow) -> Text:
    return Text(row.state, style=STATES.get(row.state, ""))


@dataclass(frozen=True, slots=True)
class _Column:
    """A column of the session list.

    Attributes:
        rank: the highest goes first where the terminal is too narrow; 0 stays.
        least: the least width that it may be cut to; None where it must not be cut.
    """

    name: str
    shown: Callable[[SessionRow], str | Text]
    rank: int = 0
    right: bool = False
    least: int | None = None


COLUMNS = (
    _Column("session", lambda row: row.session.session_id),
    _Column("labels", lambda row: format_cell(", ".join(row.labels)), 1, least=20),
    _Column("owner", lambda row: format_cell(row.owner.named), 2, least=10),
    _Column("model", lambda row: format_cell(row.model), 7, least=10),
    _Column("endpoint", lambda row: format_cell(row.endpoint, 12), 10),
    _Column("state", _format_state),
    _Column("level", lambda row: format_cell(row.level, 12), 6),
    _Column("calls", lambda row: f"{row.calls:,}", 8, right=True),
    _Column("client → model", lambda row: f"{row.tokens_before:,} → {row.tokens_after:,}", 3, right=True),
    _Column("saved", _format_saved, 5, right=True),
    _Column("versions", lambda row: str(row.versions or ""), 9, right=True),
    _Column("seen", lambda row: format_age(row.seen), 4, right=True),
)


def _choose_columns(shown: dict[_Column, list[str | Text]], width: int) -> dict[_Column, int | None]:
    """Return the columns that there is room for, each with the most it may take; None for all it needs.

    Labels go last: they are the names that people know a session by, and type.
    """
    columns, widths = list(shown), {column: _column_width(column, cells) for column, cells in shown.items()}
    while True:
        least = {c: widths[c] if c.least is None else min(widths[c], c.least) for c in columns}
        room = width - sum(least.values()) - FRAME * len(columns) - 1
        last = max(columns, key=lambda column: column.rank)
        if room >= 0 or last.rank == 0:
            break
        columns.remove(last)
    chosen: dict[_Column, int | None] = dict.fromkeys(columns)
    # What is left is shared evenly, and what the narrowest do not need is the others'.
    flexible = sorted((c for c in columns if c.least is not None), key=lambda column: widths[column])
    for number, column in enumerate(flexible):
        more = min(max(0, room) // (len(flexible) - number), widths[column] - least[column])
        chosen[column] = least[column] + more
        room -= more
    return chosen


def _column_width(column: _Column, cells: Iterable[str | Text]) -> int:
    return max(map(cell_len, (column.name, *map(str, cells))))


def _format_time(at: float) -> str:
    try:
        return f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d %H:%M:%S}"
    except (OverflowError, ValueError, OSError):
        return "?"
