"""``buffers watch``: follow a gateway at work."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Annotated

import typer
from rich.console import Group
from rich.live import Live
from rich.text import Text

from gateway_compaction.archive import Query, SessionRow
from gateway_compaction.cli.buffers.reach import Invocation, OpenArchive, with_archive_options
from gateway_compaction.cli.buffers.text import format_cell, pluralize, print_json
from gateway_compaction.cli.buffers.view import make_console, session_table
from gateway_compaction.core.records.compaction import SessionRef

TICK = 0.5
# Lines of the terminal that the table's frame, the counts and the prompt take.
FRAME = 7


@dataclass(slots=True)
class _SeenSessions:
    """The sessions by their latest change, the latest last, and what came of them since the start."""

    rows: dict[SessionRef, SessionRow] = field(default_factory=dict)
    before: dict[SessionRef, SessionRow] = field(default_factory=dict)
    begun: float = field(default_factory=time.time)
    changes: int = 0

    def add_initial(self, row: SessionRow) -> None:
        """Take a session as it was at the start."""
        self.rows[row.session] = self.before[row.session] = row

    def add_change(self, row: SessionRow) -> None:
        """Take a change."""
        self.changes += 1
        self.before.setdefault(row.session, SessionRow(row.session, row.owner))
        self.rows.pop(row.session, None)
        self.rows[row.session] = row

    def counts_line(self) -> str:
        """Return the counts as one line."""
        moved = [(row, self.before[ref]) for ref, row in self.rows.items() if row != self.before[ref]]
        calls = sum(row.calls - old.calls for row, old in moved)
        saved = sum(row.saved - old.saved for row, old in moved)
        seconds = int(time.time() - self.begun)
        moves = f"{pluralize(calls, 'call')} in {pluralize(len(moved), 'session')}"
        return f"{seconds:,} s: {moves}, about {pluralize(saved, 'token')} not sent; Ctrl-C ends"


@with_archive_options
def watch(
    invocation: Invocation,
    count: Annotated[int | None, typer.Option(min=1, help="End after this many changes.")] = None,
) -> None:
    """Follow the sessions as they change, until Ctrl-C; with --json, or in a pipe, a line for each change."""
    live = make_console().is_terminal and not invocation.as_json
    try:
        invocation.run(
            lambda reached: _show_live(reached, count) if live else _print_changes(reached, count, invocation)
        )
    except KeyboardInterrupt:
        raise typer.Exit(0) from None


def add_watch(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command()(watch)


async def _print_changes(reached: OpenArchive, count: int | None, invocation: Invocation) -> None:
    async with aclosing(_read_changes(reached, count)) as changes:
        async for row in changes:
            if invocation.as_json:
                print_json(row, indent=None)
            else:
                typer.echo(_describe_change(row))
            # A pipe is a block behind otherwise.
            sys.stdout.flush()


async def _show_live(reached: OpenArchive, count: int | None) -> None:
    seen, out = _SeenSessions(), make_console()
    most = max(5, out.height - FRAME)
    page = await reached.archive.sessions(reached.scope, Query(limit=most))
    for row in reversed(page.rows):
        seen.add_initial(row)
    changing = asyncio.create_task(_follow_changes(reached, count, seen))

    def shown() -> Group:
        rows = list(seen.rows.values())[: -most - 1 : -1]
        return Group(session_table(rows, width=out.width), Text(seen.counts_line()))

    with Live(shown(), console=out, auto_refresh=False) as live:
        while not changing.done():
            live.update(shown(), refresh=True)
            await asyncio.wait({changing}, timeout=TICK)
        live.update(shown(), refresh=True)
    await changing


async def _follow_changes(reached: OpenArchive, count: int | None, seen: _SeenSessions) -> None:
    async with aclosing(_read_changes(reached, count)) as changes:
        async for row in changes:
            seen.add_change(row)


async def _read_changes(reached: OpenArchive, count: int | None) -> AsyncGenerator[SessionRow, None]:
    number, rows = 0, reached.archive.watch(reached.scope)
    try:
        async for row in rows:
            yield row
            number += 1
            if number == count:
                return
    finally:
        # Left to the end of the loop, a stream that is still open would complain on stderr.
        if isinstance(rows, AsyncGenerator):
            await rows.aclose()


def _describe_change(row: SessionRow) -> str:
    labels = f" ({format_cell(', '.join(row.labels))})" if row.labels else ""
    tokens = f"{row.tokens_before:,} → {row.tokens_after:,} tokens"
    parts = (row.state, format_cell(row.outcome), format_cell(row.level), tokens, f"version {row.versions}")
    return f"{row.session.session_id}{labels}: {', '.join(part for part in parts if part)}"
