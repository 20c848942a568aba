"""Offer the commands of ``buffers`` that only look."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Annotated, Any, Literal

import typer
from rich.text import Text

from gateway_compaction.archive import Query, SessionDetail, SessionPage, SessionRow, Sort, State
from gateway_compaction.cli.buffers import act as buffers_act
from gateway_compaction.cli.buffers import watch as buffers_watch
from gateway_compaction.cli.buffers.diff import Change, compare_segments, describe_version
from gateway_compaction.cli.buffers.names import find_session
from gateway_compaction.cli.buffers.reach import PAGE, Invocation, Named, OpenArchive, with_archive_options
from gateway_compaction.cli.buffers.restore import add_restore
from gateway_compaction.cli.buffers.text import format_block, format_cell, pluralize, print_json, to_safe_json
from gateway_compaction.cli.buffers.view import (
    call_table,
    event_table,
    fact_table,
    make_console,
    print_text,
    record_table,
    session_table,
    summary_text,
    version_in_use,
    version_table,
)
from gateway_compaction.core.records.call_snapshot import name_messages, number_messages
from gateway_compaction.core.records.compaction import Compaction
from gateway_compaction.core.summary.statistics import list_summary_records
from gateway_compaction.errors import NotFound, PartNotFound

Level = Literal["light", "medium", "aggressive"]
SPANS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}
COLOURS = {"+": "green", "-": "red", "@": "cyan"}
EVENTS = 50

Full = Annotated[bool, typer.Option("--full", help="Cut nothing.")]

app = typer.Typer(
    name="buffers",
    help="Look into the sessions that the gateway compacts, and act on them.",
    no_args_is_help=True,
)


@app.command("ls")
@with_archive_options
def list_sessions(
    invocation: Invocation,
    team: Annotated[str | None, typer.Option(help="Only of this team: id or alias.")] = None,
    model: Annotated[str | None, typer.Option(help="Only with this model.")] = None,
    level: Annotated[Level | None, typer.Option(help="Only at this level.")] = None,
    state: Annotated[State | None, typer.Option(help="Only in this state.")] = None,
    text: Annotated[str | None, typer.Option(help="Only with this in an id, label or alias.")] = None,
    since: Annotated[
        str | None, typer.Option(help="Only seen since then: 90s, 20m, 2h, 3d, 1w or an ISO time.")
    ] = None,
    sort: Annotated[Sort, typer.Option(help="What is listed first has the most of this.")] = "seen",
    reverse: Annotated[bool, typer.Option("--reverse", help="The least of it first.")] = False,
    limit: Annotated[int, typer.Option(min=1, help="Most sessions listed.")] = 50,
    cursor: Annotated[str | None, typer.Option(help="Go on where --json said that a page ended.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="All pages; --limit does not count.")] = False,
    full: Annotated[bool, typer.Option("--full", help="Whole ids, with the tenant's.")] = False,
) -> None:
    """List sessions, those seen last first."""
    query = Query(team, model, level, state, text, _parse_since(since), None, sort, reverse, cursor)
    page = invocation.run(lambda reached: _read_pages(reached, query, None if everything else limit))
    if invocation.as_json:
        print_json(page)
        return
    out = make_console()
    out.print(session_table(page.rows, width=out.width, full=full))
    number = len(page.rows)
    cut = f"; {number:,} {'is' if number == 1 else 'are'} listed, --all lists them all" if page.cursor else ""
    out.print(f"{pluralize(page.total, 'session')}{cut}", soft_wrap=True)


@app.command()
@with_archive_options
def show(
    invocation: Invocation,
    session: Named,
    version: Annotated[
        int | None, typer.Option(min=1, help="Show this version alone, with its whole text.")
    ] = None,
    full: Full = False,
) -> None:
    """Show one session: state, owner, pins, versions, the last call, the summary that it used."""
    detail = invocation.run(lambda reached: _find_detail(reached, session))
    chosen = _choose_version(invocation, detail, version) if version else None
    if invocation.as_json:
        print_json(chosen or detail)
        return
    out = make_console()
    if chosen is not None:
        for part in summary_text(chosen, full=True):
            print_text(out, part)
        return
    out.print(fact_table(detail))
    if detail.compactions or detail.retired:
        out.print(version_table(detail))
    if detail.last_call is not None:
        out.print(call_table(detail.last_call))
        _print_messages(detail, full)
    used = version_in_use(detail)
    for part in summary_text(used, full=full) if used else ():
        print_text(out, part)


@app.command()
@with_archive_options
def events(
    invocation: Invocation,
    session: Named,
    limit: Annotated[int, typer.Option(min=1, help="Most events listed.")] = EVENTS,
) -> None:
    """List what was decided and done in a session, newest first, deeds of operators among it."""
    detail = invocation.run(lambda reached: _find_detail(reached, session))
    listed = detail.events[:limit]
    if invocation.as_json:
        print_json({"session": detail.row.session, "events": listed})
        return
    make_console().print(event_table(listed))


@app.command()
@with_archive_options
def records(invocation: Invocation, session: Named) -> None:
    """List the parts of the summary: turns, characters before and after, rates asked for and come out."""
    detail = invocation.run(lambda reached: _find_detail(reached, session))
    found = list_summary_records(detail.summary)
    if invocation.as_json:
        print_json(found)
        return
    make_console().print(record_table(found))


@app.command()
@with_archive_options
def diff(
    invocation: Invocation,
    session: Named,
    old: Annotated[
        int | None, typer.Argument(metavar="[A]", min=1, help="Version; default: the parent of B.")
    ] = None,
    new: Annotated[
        int | None, typer.Argument(metavar="[B]", min=1, help="Version; default: the newest in use.")
    ] = None,
    full: Full = False,
) -> None:
    """Compare two versions of a session's summary, segment by segment."""
    detail = invocation.run(lambda reached: _find_detail(reached, session))
    after = _choose_version(invocation, detail, new)
    before = _choose_version(invocation, detail, old) if old else _find_parent(invocation, detail, after)
    found = compare_segments(before, after)
    if invocation.as_json:
        print_json({"from": describe_version(before), "to": describe_version(after), "changes": found})
        return
    _print_diff(before, after, found, full)


async def _read_pages(reached: OpenArchive, query: Query, most: int | None) -> SessionPage:
    rows: list[SessionRow] = []
    while True:
        size = PAGE if most is None else min(PAGE, most - len(rows))
        page = await reached.archive.sessions(reached.scope, replace(query, limit=size))
        rows += page.rows
        if page.cursor is None or len(rows) == most:
            return replace(page, rows=tuple(rows))
        query = replace(query, cursor=page.cursor)


async def _find_detail(reached: OpenArchive, named: str) -> SessionDetail:
    return await reached.archive.detail(reached.scope, await find_session(reached, named))


def _parse_since(text: str | None) -> float | None:
    if text is None:
        return None
    span = re.fullmatch(r"(\d{1,9})([smhdw])", text.strip())
    if span:
        return time.time() - int(span[1]) * SPANS[span[2]]
    try:
        return datetime.fromisoformat(text.strip()).timestamp()
    except (ValueError, OverflowError, OSError):
        fault = f"{format_cell(text)!r} is neither a span (90s, 20m, 2h, 3d, 1w) nor an ISO time"
        raise typer.BadParameter(fault, param_hint="--since") from None


def _choose_version(invocation: Invocation, detail: SessionDetail, number: int | None) -> Compaction:
    """Return the version of that number, retired or not; without a number the newest in use."""
    listed = (*detail.compactions, *detail.retired) if number else detail.compactions
    fitting = [one for one in listed if number in (None, one.version)]
    with invocation.report_failures():
        if not fitting:
            raise PartNotFound.version(number, detail.versions)
    return max(fitting, key=lambda one: one.version)


def _find_parent(invocation: Invocation, detail: SessionDetail, child: Compaction) -> Compaction:
    for one in (*detail.compactions, *detail.retired):
        if one.digest == child.parent:
            return one
    with invocation.report_failures():
        raise NotFound(f"Version {child.version} has no parent in the store; name two versions")


def _print_messages(detail: SessionDetail, full: bool) -> None:
    """Print the messages themselves, where the policy lets them be kept and they are asked for."""
    call, out = detail.last_call, make_console()
    if call is not None and call.omitted:
        out.print("The messages themselves were too large to be kept.", soft_wrap=True)
    if call is None or call.client is None or call.model is None:
        return
    if not full:
        out.print("The messages themselves are kept too; --full shows them.", soft_wrap=True)
        return
    both = zip(("Client sent", "Model saw"), (call.client, call.model), number_messages(call), strict=True)
    for head, listed, numbered in both:
        print_text(out, Text(head, style="bold"))
        # Contents and structure were written together; were they not, none is numbered as another.
        known = numbered if len(numbered) == len(listed) else (None,) * len(listed)
        for number, message in zip(known, listed, strict=True):
            role = format_cell(str(message.get("role")))
            print_text(out, Text(f"{number} {role}" if number else role, style="dim"))
            print_text(out, Text(format_block(_format_content(message), full=True)))


def _format_content(message: Any) -> str:
    rest = {name: value for name, value in message.items() if name != "role"}
    if set(rest) == {"content"} and isinstance(rest["content"], str):
        return rest["content"]
    return to_safe_json(rest)


def _print_diff(before: Compaction, after: Compaction, found: Sequence[Change], full: bool) -> None:
    out = make_console()
    for mark, one in (("---", before), ("+++", after)):
        line = f"{mark} version {one.version}: {one.kind}, {name_messages(0, one.covers)}"
        out.print(Text(f"{line}, {one.tokens_after:,} tokens", style="bold"), soft_wrap=True)
    for change in found:
        ranges = [
            name_messages(part[0].start, part[-1].end) if part else "none"
            for part in (change.before, change.after)
        ]
        where = ranges[0] if ranges[0] == ranges[1] else " → ".join(ranges)
        note = " unchanged" if change.op == "equal" else ""
        out.print(Text(f"@@ {where}{note} @@", style="cyan"), soft_wrap=True)
        shown = format_block("\n".join(change.lines), full=full)
        for line in shown.split("\n") if change.lines else ():
            out.print(Text(line, style=COLOURS.get(line[:1], "")), soft_wrap=True)


buffers_act.add_actions(app)
add_restore(app)
buffers_watch.add_watch(app)
