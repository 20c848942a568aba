"""``replay``: show what the policy would have done to recorded conversations, call by call, offline."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from rich import box
from rich.console import Console
from rich.progress import Progress
from rich.table import Table
from rich.text import Text

from gateway_compaction.cli.buffers.text import format_block, format_cell, pluralize
from gateway_compaction.cli.costs import ConfigCosts
from gateway_compaction.cli.launch import apply_defaults
from gateway_compaction.cli.recordings import Recording, RecordingError, read_recordings, split_into_calls
from gateway_compaction.errors import PolicyError

SummarizerName = Literal["extractive", "scripted", "model"]
# Tokens, where neither the command line nor a policy names a window: that of most present models.
DEFAULT_WINDOW = 128_000
SummarizerOption = Annotated[
    SummarizerName,
    typer.Option(
        help="extractive: no model, an extract stands in for the policy's; scripted: a stand-in;"
        " model: a real one."
    ),
]
ShowOption = Annotated[
    bool, typer.Option("--show-summaries", help="Print the text of every summary as well.")
]
NOTHING = (
    "nothing to replay: no call is recorded in it. A call is what an assistant message answers, or a"
    " conversation whose last message awaits its answer"
)
ASKS = "--summarizer model asks a model"
# Left out of what is printed as JSON: messages, and hashes of the replay's own.
UNTOLD = ("upstream", "session")


@dataclass(frozen=True, slots=True)
class _ReplayOptions:
    """The choices that a replay depends on, as they were typed."""

    window: int | None
    policy: Path | None
    summarizer: SummarizerName
    model: str
    team: str | None


@dataclass(frozen=True, slots=True)
class _ReplayResult:
    """A conversation, its calls, and the summaries that were made on the way."""

    recording: Recording
    calls: Sequence[Any]
    summaries: Sequence[Any]


def replay(
    file: Annotated[
        Path,
        typer.Argument(help="JSON lines of conversations or of request bodies, or one list of messages."),
    ],
    window: Annotated[
        int | None,
        typer.Option(min=200, help="Context window in tokens; default: the policy's, else 128000."),
    ] = None,
    policy: Annotated[
        Path | None, typer.Option(help="Policy file; default: the built-in defaults in enforce mode.")
    ] = None,
    summarizer: SummarizerOption = "extractive",
    model: Annotated[
        str, typer.Option(help="Model name: what policies match, how tokens are counted, who is asked.")
    ] = "gpt-4o",
    team: Annotated[str | None, typer.Option(help="Team that policies match.")] = None,
    only: Annotated[list[str] | None, typer.Option(help="Ids of conversations; default: all.")] = None,
    show_summaries: ShowOption = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON document instead of tables.")
    ] = False,
) -> None:
    """Send recorded conversations through the real pipeline, call by call, with a store in the process.

    What the policy only observes is shown as it would be if it were enforced.
    """
    console = Console(stderr=True)
    try:
        recordings = [r for r in read_recordings(file) if not only or r.id in only]
        if only and not recordings:
            raise RecordingError(f"{file}: no conversation with an id of {', '.join(only)}")
        if not any(True for one in recordings for _ in split_into_calls(one)):
            raise RecordingError(f"{file}: {NOTHING}")
        options = _ReplayOptions(window, policy, summarizer, model, team)
        notes, results = asyncio.run(_replay_all(recordings, options, console))
    except (RecordingError, PolicyError) as error:
        for problem in (error, *getattr(error, "others", ())):
            console.print(str(problem), style="red", markup=False, highlight=False, soft_wrap=True)
        raise typer.Exit(1) from error
    _print_results(notes, results, as_json, show_summaries)


async def _replay_all(
    recordings: Sequence[Recording], options: _ReplayOptions, console: Console
) -> tuple[Sequence[str], list[_ReplayResult]]:
    from gateway_compaction.core.policy.book import Identity
    from gateway_compaction.replay import (
        FixedModels,
        build_replay_runtime,
        collect_summaries,
        identity_for_replay,
    )
    from gateway_compaction.replay import replay_conversation as run

    model, summarizer = options.model, options.summarizer
    book, extract = _load_policies(options.policy, summarizer, options.window), summarizer == "extractive"
    identity, notes = identity_for_replay(
        book, Identity(team_id=options.team, model=model), extract=extract, asks=ASKS
    )
    models = FixedModels(options.window or DEFAULT_WINDOW, model)
    runtime = build_replay_runtime(models, _make_summarizer(summarizer, model), book)
    results = []
    with Progress(console=console, transient=True) as progress:
        task = progress.add_task("replaying", total=sum(len(list(split_into_calls(r))) for r in recordings))
        for number, recording in enumerate(recordings):
            calls = []
            told = {name: getattr(recording, name) for name in ("endpoint", "left_alone", "managed")}
            came_in = replace(identity, endpoint=recording.endpoint)
            split = split_into_calls(recording)
            async for call in run(runtime, split, recording.body, came_in, f"{number}", **told):
                calls.append(call)
                progress.advance(task)
            results.append(_ReplayResult(recording, calls, await collect_summaries(runtime, calls)))
    await runtime.aclose()
    return notes, results


def _print_results(
    notes: Sequence[str], results: Sequence[_ReplayResult], as_json: bool, show_summaries: bool
) -> None:
    for note in notes:
        typer.echo(note, err=as_json)
    if as_json:
        plain = [_result_to_json(one, show_summaries) for one in results]
        typer.echo(json.dumps(plain, ensure_ascii=False, indent=1))
        return
    for one in results:
        _print_calls(one.recording, one.calls)
        if show_summaries:
            _print_summaries(one.summaries)
    _print_total(results)


def _load_policies(policy: Path | None, summarizer: SummarizerName, window: int | None) -> Any:
    from gateway_compaction.adapters.policy_file import load_policy_file

    overrides: dict[str, Any] = {}
    if policy is None:
        summary = {"model": "extractive" if summarizer == "extractive" else None}
        overrides |= {"mode": "enforce", "summary": summary}
    if window is not None:
        overrides["context_window"] = window
    return load_policy_file(policy, overrides, ConfigCosts().find_costs)


def _make_summarizer(name: SummarizerName, model: str) -> Any:
    from gateway_compaction.replay import NoSummarizer, ScriptedSummarizer

    if name == "model":
        apply_defaults(os.environ)
        from gateway_compaction.adapters.litellm.models import DirectSummarizer

        return DirectSummarizer(model)
    return NoSummarizer() if name == "extractive" else ScriptedSummarizer()


def _result_to_json(one: _ReplayResult, with_summaries: bool) -> dict[str, Any]:
    rows = [{k: v for k, v in asdict(c).items() if k not in UNTOLD} for c in one.calls]
    told = {"summaries": [_summary_to_json(s) for s in one.summaries]} if with_summaries else {}
    return {"id": one.recording.id, "endpoint": one.recording.endpoint, "calls": rows, **told}


def _summary_to_json(made: Any) -> dict[str, Any]:
    fields = ("version", "kind", "model", "covers", "tokens_before", "tokens_after", "text")
    return {name: getattr(made, name) for name in fields}


def _print_calls(recording: Recording, calls: Sequence[Any]) -> None:
    title = Text(
        f"{format_cell(recording.id)} ({pluralize(len(recording.messages), 'message')})", "table.title"
    )
    # Narrow enough for 80 columns: what was done must be readable there.
    table = Table(
        title=title, title_justify="left", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False
    )
    for name in ("call", "messages", "client", "upstream", "level", "outcome", "covers", "version"):
        left = name in ("level", "outcome")
        table.add_column(name, justify="left" if left else "right", no_wrap=left)
    for c in calls:
        size = (
            f"{c.messages_client}"
            if c.messages_client == c.messages_upstream
            else (f"{c.messages_client} → {c.messages_upstream}")
        )
        cells = (c.number, size, f"{c.tokens_client:,}", f"{c.tokens_upstream:,}", c.level or "", c.outcome)
        table.add_row(*map(str, cells), str(c.covers or ""), str(c.version or ""))
    Console().print(table)


def _print_summaries(summaries: Sequence[Any]) -> None:
    for made in summaries:
        by = f"{made.kind} ({format_cell(made.model)})" if made.model else made.kind
        typer.echo(
            f"Version {made.version}: {by}, messages 1 to {made.covers} after the system prompt,"
            f" {made.tokens_before:,} tokens -> {made.tokens_after:,}"
        )
        no_text = "(no text: old tool results are cleared)" if made.kind == "cleared" else "(no text is kept)"
        typer.echo(f"{format_block(made.text, full=True) or no_text}\n")


def _print_total(results: Sequence[_ReplayResult]) -> None:
    calls = [c for one in results for c in one.calls]
    client, upstream = sum(c.tokens_client for c in calls), sum(c.tokens_upstream for c in calls)
    saved = 100 * (client - upstream) / client if client else 0.0
    Console().print(
        f"{pluralize(len(results), 'conversation')}, {pluralize(len(calls), 'call')}:"
        f" {client:,} tokens sent by the client, {upstream:,} sent upstream ({saved:.1f} % less);"
        f" rewritten calls: {sum(c.messages_upstream != c.messages_client for c in calls)}"
    )
