"""``buffers watch``: a gateway at work."""

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
from gateway_compaction.cli.buffers.reach import Invocation, Reached, on_archive
from gateway_compaction.cli.buffers.text import cell, plural, print_json
from gateway_compaction.cli.buffers.view import console, row_table
from gateway_compaction.core.records.compaction import SessionRef

TICK = 0.5
# Lines of the terminal that the table's frame, the counts and the prompt take.
FRAME = 7


@dataclass(slots=True)
class _Seen:
    """The sessions by their latest change, the latest last, and what came of them since the start."""

    rows: dict[SessionRef, SessionRow] = field(default_factory=dict)
    before: dict[SessionRef, SessionRow] = field(default_factory=dict)
    begun: float = field(default_factory=time.time)
    changes: int = 0

    def begin(self, row: SessionRow) -> None:
        """Take a session as it was at the start."""
        self.rows[row.session] = self.before[row.session] = row

    def take(self, row: SessionRow) -> None:
        """Take a change."""
        self.changes += 1
        self.before.setdefault(row.session, SessionRow(row.session, row.owner))
        self.rows.pop(row.session, None)
        self.rows[row.session] = row

    def line(self) -> str:
        """The counts."""
        moved = [(row, self.before[ref]) for ref, row in self.rows.items() if row != self.before[ref]]
        calls = sum(row.calls - old.calls for row, old in moved)
        saved = sum(row.saved - old.saved for row, old in moved)
        seconds = int(time.time() - self.begun)
        moves = f"{plural(calls, 'call')} in {plural(len(moved), 'session')}"
        return f"{seconds:,} s: {moves}, {plural(saved, 'token')} not sent; Ctrl-C ends"


@on_archive
def watch(
    invocation: Invocation,
    count: Annotated[int | None, typer.Option(min=1, help="End after this many changes.")] = None,
) -> None:
    """Follow the sessions as they change, until Ctrl-C; with --json, or in a pipe, a line for each change."""
    live = console().is_terminal and not invocation.as_json
    try:
        invocation.work(lambda reached: _live(reached, count) if live else _lines(reached, count, invocation))
    except KeyboardInterrupt:
        raise typer.Exit(0) from None


def add_to(app: typer.Typer) -> None:
    """Offer it as a command."""
    app.command()(watch)


async def _lines(reached: Reached, count: int | None, invocation: Invocation) -> None:
    async with aclosing(_changes(reached, count)) as changes:
        async for row in changes:
            if invocation.as_json:
                print_json(row, indent=None)
            else:
                typer.echo(_line(row))
            # A pipe is a block behind otherwise.
            sys.stdout.flush()


async def _live(reached: Reached, count: int | None) -> None:
    seen, out = _Seen(), console()
    most = max(5, out.height - FRAME)
    page = await reached.archive.sessions(reached.scope, Query(limit=most))
    for row in reversed(page.rows):
        seen.begin(row)
    changing = asyncio.create_task(_follow(reached, count, seen))

    def shown() -> Group:
        rows = list(seen.rows.values())[: -most - 1 : -1]
        return Group(row_table(rows, width=out.width), Text(seen.line()))

    with Live(shown(), console=out, auto_refresh=False) as live:
        while not changing.done():
            live.update(shown(), refresh=True)
            await asyncio.wait({changing}, timeout=TICK)
        live.update(shown(), refresh=True)
    await changing


async def _follow(reached: Reached, count: int | None, seen: _Seen) -> None:
    async with aclosing(_changes(reached, count)) as changes:
        async for row in changes:
            seen.take(row)


async def _changes(reached: Reached, count: int | None) -> AsyncGenerator[SessionRow, None]:
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


def _line(row: SessionRow) -> str:
    labels = f" ({cell(', '.join(row.labels))})" if row.labels else ""
    tokens = f"{row.tokens_before:,} → {row.tokens_after:,} tokens"
    parts = (row.state, cell(row.outcome), cell(row.level), tokens, f"version {row.versions}")
    return f"{row.session.session_id}{labels}: {', '.join(part for part in parts if part)}"
