"""``replay``: what the policy would have done to recorded conversations, call by call, offline."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from gateway_compaction.cli.recordings import Recording, RecordingError, calls_of, read_recordings
from gateway_compaction.errors import PolicyError

__all__ = ["replay"]

SummarizerName = Literal["extractive", "scripted", "model"]


def replay(
    file: Annotated[Path, typer.Argument(help="JSON lines of conversations, or one list of messages.")],
    window: Annotated[
        int | None,
        typer.Option(min=200, help="Context window in tokens; default: the policy's, else 128000."),
    ] = None,
    policy: Annotated[
        Path | None, typer.Option(help="Policy file; default: the built-in defaults in enforce mode.")
    ] = None,
    summarizer: Annotated[
        SummarizerName, typer.Option(help="extractive: no model; scripted: a stand-in; model: a real one.")
    ] = "extractive",
    model: Annotated[
        str, typer.Option(help="Model name: what policies match, how tokens are counted, who is asked.")
    ] = "gpt-4o",
    team: Annotated[str | None, typer.Option(help="Team that policies match.")] = None,
    only: Annotated[list[str] | None, typer.Option(help="Ids of conversations; default: all.")] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON document instead of tables.")
    ] = False,
) -> None:
    """Send recorded conversations through the real pipeline, call by call, with a store in the process."""
    console = Console(stderr=True)
    try:
        recordings = [r for r in read_recordings(file) if not only or r.id in only]
        if only and not recordings:
            raise RecordingError(f"{file}: no conversation with an id of {', '.join(only)}")
        results = asyncio.run(_all(recordings, window, policy, summarizer, model, team, console))
    except (RecordingError, PolicyError) as error:
        for problem in (error, *getattr(error, "others", ())):
            console.print(str(problem), style="red", markup=False, highlight=False, soft_wrap=True)
        raise typer.Exit(1) from error
    if as_json:
        typer.echo(json.dumps([_plain(r, calls) for r, calls in results], ensure_ascii=False, indent=1))
    else:
        for recording, calls in results:
            _print(recording, calls)
        _print_total(results)


async def _all(
    recordings: Sequence[Recording],
    window: int | None,
    policy: Path | None,
    summarizer: SummarizerName,
    model: str,
    team: str | None,
    console: Console,
) -> list[tuple[Recording, list[Any]]]:
    from gateway_compaction.core.policy_book import Identity
    from gateway_compaction.replaying import FixedModels, replay_runtime
    from gateway_compaction.replaying import replay as run

    book = _book(policy, summarizer, window)
    runtime = replay_runtime(FixedModels(window or 128_000, model), _summarizer(summarizer, model), book)
    identity = Identity(team_id=team, model=model)
    results = []
    with Progress(console=console, transient=True) as progress:
        task = progress.add_task("replaying", total=sum(len(list(calls_of(r))) for r in recordings))
        for number, recording in enumerate(recordings):
            calls = []
            async for call in run(runtime, calls_of(recording), recording.body, identity, f"{number}"):
                calls.append(call)
                progress.advance(task)
            results.append((recording, calls))
    await runtime.aclose()
    return results


def _book(policy: Path | None, summarizer: SummarizerName, window: int | None) -> Any:
    from gateway_compaction.policy_files import load_policy_file

    overrides: dict[str, Any] = {}
    if summarizer == "extractive":
        overrides["summary"] = {"model": "extractive"}
    elif summarizer == "model" or policy is None:
        overrides["mode"] = "enforce"
    if policy is None:
        overrides["mode"] = "enforce"
        overrides.setdefault("summary", {"model": None})
    if window is not None:
        overrides["context_window"] = window
    return load_policy_file(policy, overrides)


def _summarizer(name: SummarizerName, model: str) -> Any:
    from gateway_compaction.replaying import NoSummarizer, ScriptedSummarizer

    if name == "model":
        from gateway_compaction.adapters.litellm_models import DirectSummarizer

        return DirectSummarizer(model)
    return NoSummarizer() if name == "extractive" else ScriptedSummarizer()


def _plain(recording: Recording, calls: Sequence[Any]) -> dict[str, Any]:
    rows = [{k: v for k, v in asdict(c).items() if k != "upstream"} for c in calls]
    return {"id": recording.id, "calls": rows}


def _print(recording: Recording, calls: Sequence[Any]) -> None:
    table = Table(title=f"{recording.id} ({len(recording.messages)} messages)", title_justify="left")
    for name in ("call", "messages", "client", "upstream", "level", "outcome", "covers", "version"):
        table.add_column(name, justify="left" if name in ("level", "outcome") else "right")
    for c in calls:
        size = (
            f"{c.messages_client}"
            if c.messages_client == c.messages_upstream
            else (f"{c.messages_client} → {c.messages_upstream}")
        )
        cells = (c.number, size, f"{c.tokens_client:,}", f"{c.tokens_upstream:,}", c.level or "", c.outcome)
        table.add_row(*map(str, cells), str(c.covers or ""), str(c.version or ""))
    Console().print(table)


def _print_total(results: Sequence[tuple[Recording, Sequence[Any]]]) -> None:
    calls = [c for _, made in results for c in made]
    client, upstream = sum(c.tokens_client for c in calls), sum(c.tokens_upstream for c in calls)
    saved = 100 * (client - upstream) / client if client else 0.0
    Console().print(
        f"{len(results)} conversations, {len(calls)} calls: {client:,} tokens sent by the client,"
        f" {upstream:,} sent upstream ({saved:.1f} % less); rewritten calls:"
        f" {sum(c.messages_upstream != c.messages_client for c in calls)}"
    )
