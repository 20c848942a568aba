"""``bench``: measure on anyone's own recordings what compaction costs."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.progress import Progress

from gateway_compaction.cli.costs import ConfigCosts
from gateway_compaction.cli.recordings import RecordingError, read_recordings
from gateway_compaction.errors import PolicyError, TranscriptError

if TYPE_CHECKING:
    from gateway_compaction.core.policy.book import PolicyBook
    from gateway_compaction.evaluation.money import Prices
    from gateway_compaction.evaluation.money_report import MoneyRow

app = typer.Typer(help="Measure on your own recordings.", no_args_is_help=True)

WINDOWS = [8000, 16000]
LEAST_WINDOW = 500
WIDTH = 200
PRINTED = Path("-")
LEAST_MESSAGES = 4

FilesOption = Annotated[
    list[Path],
    typer.Argument(metavar="FILE...", help='JSON lines of conversations, {"messages": [...]}.'),
]
WindowOption = Annotated[
    list[int] | None,
    typer.Option(min=LEAST_WINDOW, help="Context window in tokens; repeatable; default: 8000, 16000."),
]
PolicyOption = Annotated[
    Path | None, typer.Option(help="Policy file for this gateway, in place of four policies of ours.")
]
ModelOption = Annotated[
    str, typer.Option(help="Model name: how tokens are counted, and whose prices are shown as well.")
]
AsJsonOption = Annotated[
    Path | None, typer.Option("--json", help="Write the rows to this file; '-' prints them.")
]
AsMarkdownOption = Annotated[
    bool, typer.Option("--markdown", help="Print a Markdown table instead of a drawn one.")
]


@app.callback()
def _group() -> None:
    """Measure on your own recordings."""


@app.command()
def money(
    files: FilesOption,
    window: WindowOption = None,
    policy: PolicyOption = None,
    model: ModelOption = "gpt-4o",
    as_json: AsJsonOption = None,
    as_markdown: AsMarkdownOption = False,
) -> None:
    """Compare bills: each strategy plays the recordings call by call, its summaries are paid for as well.

    A stand-in writes the summaries, as long as the gateway or the plain strategy asks for. Shown beside this
    gateway are no compaction, a sliding window, and one summary of 500 tokens that stays until the window is
    full. See docs/money.md.
    """
    from gateway_compaction.evaluation.money_report import (
        money_row_to_json,
        render_money_markdown,
        render_money_table,
    )

    console = Console(stderr=True)
    try:
        conversations = _read_conversations(files)
        books = partial(_load_policies, policy) if policy else None
        if books is not None:
            books(LEAST_WINDOW)
    except (RecordingError, PolicyError) as error:
        console.print(str(error), style="red", markup=False, highlight=False)
        raise typer.Exit(1) from error
    rows = _play(conversations, sorted(set(window or WINDOWS)), model, books, console)
    title = ", ".join(path.stem for path in files)
    if as_json is not None:
        text = json.dumps([money_row_to_json(row) for row in rows], ensure_ascii=False, indent=1)
        if as_json == PRINTED:
            typer.echo(text)
            return
        as_json.write_text(text + "\n", encoding="utf-8")
    if as_markdown:
        typer.echo(render_money_markdown(title, rows))
        return
    shown = Console() if Console().is_terminal else Console(width=WIDTH)
    shown.print(render_money_table(title, rows))


def _load_policies(path: Path, window: int) -> PolicyBook:
    """Load somebody's policies for a window, on which ``optimize: cost`` depends.

    Raises:
        PolicyError: they cannot be used.
    """
    from gateway_compaction.adapters.policy_file import load_policy_file

    return load_policy_file(path, {"mode": "enforce"}, ConfigCosts(window=window).find_costs)


def _play(
    conversations: list[list[Any]],
    windows: list[int],
    model: str,
    books: Callable[[int], PolicyBook] | None,
    console: Console,
) -> list[MoneyRow]:
    """Play everything, with a line that shows how far it is."""
    from gateway_compaction.evaluation.money_report import compare_bills

    with Progress(console=console, transient=True) as bar:
        task = bar.add_task("playing", total=None)
        progress = partial(bar.update, task)
        work = compare_bills(
            conversations,
            windows,
            model,
            books,
            _list_prices(model),
            lambda done, total: progress(completed=done, total=total),
        )
        return asyncio.run(work)


def _read_conversations(files: list[Path]) -> list[list[Any]]:
    """Return the recordings that are conversations.

    Raises:
        RecordingError: a file cannot be read, or none of them holds a conversation.
    """
    from gateway_compaction.core.conversation.transcript import parse_transcript

    found: list[list[Any]] = []
    for path in files:
        for recording in read_recordings(path):
            try:
                parse_transcript(recording.messages)
            except TranscriptError:
                continue
            if len(recording.messages) >= LEAST_MESSAGES:
                found.append(list(recording.messages))
    if not found:
        raise RecordingError(
            f"no conversation of at least four chat messages in {', '.join(map(str, files))}"
        )
    return found


def _list_prices(model: str) -> dict[str, Prices]:
    """Return the two usual price lists, and the model's own where LiteLLM knows it."""
    from gateway_compaction.evaluation.money import PRICES, find_prices
    from gateway_compaction.evaluation.peers import import_library

    own = find_prices(model, import_library("litellm").model_cost)
    return {**PRICES, **({} if own is None or own in PRICES.values() else {model: own})}
