"""Offer the command that tells an earlier conversation as a new one can be told of it."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.text import Text

from gateway_compaction.archive import SessionDetail
from gateway_compaction.cli.buffers.names import find_session
from gateway_compaction.cli.buffers.reach import Invocation, Named, OpenArchive, with_archive_options
from gateway_compaction.cli.buffers.text import format_block, print_json
from gateway_compaction.cli.buffers.view import make_console, print_text
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
    """Print what a new conversation is told of this one; --json gives it as messages too."""

    # A help text must not wait for the tokeniser.
    from gateway_compaction.core.tokens.counter import TokenCounter
    from gateway_compaction.runtime import use_bundled_encodings

    async def action(reached: OpenArchive) -> SessionDetail:
        return await reached.archive.detail(reached.scope, await find_session(reached, session))

    detail = invocation.run(action)
    point, counted = detail.make_restore_point(), model or detail.row.model or ""
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


def add_restore(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command()(restore)
