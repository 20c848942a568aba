"""Offer the command that tells an earlier conversation as a new one can be told of it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import typer
from rich.text import Text

from gateway_compaction.archive import SessionDetail
from gateway_compaction.cli.buffers.names import find_session
from gateway_compaction.cli.buffers.reach import Invocation, Named, OpenArchive, with_archive_options
from gateway_compaction.cli.buffers.text import format_block, format_cell, print_json
from gateway_compaction.cli.buffers.view import make_console, print_text, snapshot_table
from gateway_compaction.core.records.restore_point import RestorePoint
from gateway_compaction.core.records.snapshots import NAME, PointChange, SnapshotLine, compare_points
from gateway_compaction.core.summary.restore import (
    build_restored_messages,
    build_restored_text,
    compute_restore_bounds,
    describe_source,
    list_parts,
)


@with_archive_options
def restore(
    invocation: Invocation,
    session: Named,
    window: Annotated[
        int | None,
        typer.Option(min=200, help="Tokens of the new model's window; a larger one is told more."),
    ] = None,
    model: Annotated[str | None, typer.Option(help="The new model, to count tokens by.")] = None,
    summary_chars: Annotated[
        int | None, typer.Option(min=0, help="Characters of the running summary, as in the policy.")
    ] = None,
    recent_tokens: Annotated[
        int | None, typer.Option(min=0, help="Tokens of the last messages, as in the policy.")
    ] = None,
) -> None:
    """Print what a new conversation is told of this one, or of its snapshot: SESSION@NAME.

    --json gives it as messages too.
    """

    # A help text must not wait for the tokeniser.
    from gateway_compaction.core.tokens.counter import TokenCounter
    from gateway_compaction.runtime import use_bundled_encodings

    async def action(reached: OpenArchive) -> tuple[SessionDetail, RestorePoint | None]:
        name, at, moment = session.rpartition("@")
        is_snapshot = bool(at) and NAME.fullmatch(moment) is not None
        ref = await find_session(reached, name if is_snapshot else session)
        detail = await reached.archive.detail(reached.scope, ref)
        return detail, await reached.archive.snapshot(reached.scope, ref, moment) if is_snapshot else None

    detail, taken = invocation.run(action)
    point, counted = taken or detail.make_restore_point(), model or detail.row.model or ""
    use_bundled_encodings()
    counter = TokenCounter()
    bounds = compute_restore_bounds(
        window or detail.row.window,
        "auto" if summary_chars is None else summary_chars,
        "auto" if recent_tokens is None else recent_tokens,
    )
    text = build_restored_text(point, bounds, lambda said: counter.raw_tokens(said, counted))
    if invocation.as_json:
        told = {
            "session": point.session,
            "source": describe_source(point),
            "messages": build_restored_messages(text),
            "text": text,
            "tokens": counter.raw_tokens(text, counted),
            "parts": list_parts(point),
        }
        print_json(told)
        return
    print_text(make_console(), Text(format_block(text, full=True)))


@with_archive_options
def snapshots(
    invocation: Invocation,
    session: Named,
    old: Annotated[
        str | None, typer.Argument(metavar="[A]", help="Compare this snapshot with a later moment.")
    ] = None,
    new: Annotated[str | None, typer.Argument(metavar="[B]", help="That moment; default: now.")] = None,
) -> None:
    """List the snapshots of a session, newest first; with names, compare two of them."""

    async def action(reached: OpenArchive) -> tuple[Sequence[SnapshotLine], Sequence[PointChange]]:
        ref = await find_session(reached, session)
        archive, scope = reached.archive, reached.scope
        if old is None:
            return await archive.snapshots(scope, ref), ()
        before = await archive.snapshot(scope, ref, old)
        if new is not None:
            return (), compare_points(before, await archive.snapshot(scope, ref, new))
        return (), compare_points(before, (await archive.detail(scope, ref)).make_restore_point())

    listed, changes = invocation.run(action)
    if invocation.as_json:
        print_json({"snapshots": listed} if old is None else {"changes": changes})
        return
    out = make_console()
    if old is None:
        out.print(snapshot_table(listed))
        return
    for change in changes:
        out.print(Text(change.part, style="bold"))
        for mark, lines in (("-", change.removed), ("+", change.added)):
            for line in lines:
                print_text(out, Text(f"{mark} {format_cell(line, 200)}"))
    if not changes:
        out.print("Nothing that a later conversation is told has changed.")


@with_archive_options
def transcript(invocation: Invocation, session: Named) -> None:
    """Print all messages of a conversation that the gateway keeps, one line of JSON each."""

    async def action(reached: OpenArchive) -> Sequence[Mapping[str, Any]]:
        ref = await find_session(reached, session)
        return await reached.archive.transcript(reached.scope, ref)

    for message in invocation.run(action):
        # JSON escapes what a terminal would obey.
        print(json.dumps(message))


def add_restore(app: typer.Typer) -> None:
    """Add the commands to the command line."""
    app.command()(restore)
    app.command()(snapshots)
    app.command()(transcript)
