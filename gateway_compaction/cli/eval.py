"""``eval``: measure what survives compaction on recorded conversations, by strategy and budget."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

import typer
from rich.console import Console
from rich.progress import Progress

from gateway_compaction.cli.buffers.text import pluralize
from gateway_compaction.cli.costs import ConfigCosts
from gateway_compaction.cli.recordings import RecordingError, read_recordings
from gateway_compaction.errors import PolicyError

if TYPE_CHECKING:
    from gateway_compaction.evaluation.compare import Comparison, PlayedComparison, Wanted

T = TypeVar("T")

BUDGETS = [2000, 4000]
PLAYED_BUDGETS = [8000, 16000]
WIDTH = 200
PRINTED = Path("-")
CONVERSATION = (
    'JSON lines of conversations, {"messages": [...], "qa": [{"question": "...", "answer": "...", "evidence":'
    " [3, 7]}]}, or one list of messages. Evidence are the messages that hold the answer, counted from 0;"
    " qa may be absent, fields about something else (id, source) may stand beside it."
)

FilesOption = Annotated[
    list[Path],
    typer.Argument(metavar="FILE...", help=CONVERSATION),
]
BudgetOption = Annotated[
    list[int] | None,
    typer.Option(
        min=200, help="Context window in tokens; repeatable; default: 2000, 4000; played: 8000, 16000."
    ),
]
StrategyOption = Annotated[
    list[str] | None, typer.Option(help="Only strategies with this in their name; repeatable.")
]
QuestionOption = Annotated[
    Literal["known", "unknown", "both"],
    typer.Option(help="Last message: the question (known), a neutral one (unknown), or one after the other."),
]
LimitOption = Annotated[
    int | None, typer.Option(min=1, help="Most questions or probes of each conversation.")
]
PolicyOption = Annotated[
    Path | None, typer.Option(help="Policy file for this gateway, in place of the policies above.")
]
ModelOption = Annotated[str, typer.Option(help="Model name: how tokens are counted, what policies match.")]
PerFileOption = Annotated[
    bool, typer.Option("--per-file", help="A table for each file instead of one for all.")
]
AsJsonOption = Annotated[
    Path | None, typer.Option("--json", help="Write the rows to this file; '-' prints them.")
]
AsMarkdownOption = Annotated[
    bool, typer.Option("--markdown", help="Print Markdown tables instead of drawn ones.")
]
PlayedOption = Annotated[
    bool,
    typer.Option("--played", help="Send each conversation call by call, and ask its questions on the way."),
]
SeedOption = Annotated[int, typer.Option(help="With --played: which questions are asked, and where.")]
PlotOption = Annotated[Path | None, typer.Option(help="Draw a chart into this SVG file.")]
JudgeOption = Annotated[
    str | None, typer.Option(help="Let this model answer the questions and mark its answers.")
]
JudgeBaseUrlOption = Annotated[
    str | None, typer.Option(help="OpenAI-compatible server of the judge; default: LiteLLM's choice.")
]
JudgeKeyOption = Annotated[
    str | None, typer.Option(help="Key for the judge; default: what LiteLLM finds in the environment.")
]


def evaluate(
    files: FilesOption,
    budget: BudgetOption = None,
    strategy: StrategyOption = None,
    question: QuestionOption = "both",
    limit: LimitOption = None,
    policy: PolicyOption = None,
    model: ModelOption = "gpt-4o",
    per_file: PerFileOption = False,
    as_json: AsJsonOption = None,
    as_markdown: AsMarkdownOption = False,
    plot: PlotOption = None,
    judge: JudgeOption = None,
    judge_base_url: JudgeBaseUrlOption = None,
    judge_key: JudgeKeyOption = None,
    played: PlayedOption = False,
    seed: SeedOption = 0,
) -> None:
    """Measure what survives compaction: evidence, answers, identifiers, the task, rules.

    A budget is a context window; everything that is sent counts: summary, marks, labels. Requests that fit
    as they are are left out, unless all of them fit; a note below the table says so. Conversations without
    questions are asked for sentences of their own, in changed words.

    This gateway runs the code that serves requests, without a model. Question known: recall may take three
    quarters of what the preamble leaves. Question unknown: the summary may take three quarters of the budget,
    recall is off, the last messages stay that fit beside it. See docs/memory.md.

    With --played a conversation grows call by call, with the defaults or the policy file's, and one question
    for each five messages of its user is asked somewhere behind its evidence: what is kept of the evidence,
    and what the calls cost with a prompt cache.
    """
    console = Console(stderr=True)
    _check_output_folders(as_json, plot)
    if played and (plot or judge):
        raise typer.BadParameter("--played draws no chart and asks no judge")
    try:
        sets = _read_sets(files, limit, per_file)
        windows = budget or (PLAYED_BUDGETS if played else BUDGETS)
        asks = _make_judge(judge, judge_base_url, judge_key)
        wanted = replace(_make_choices(windows, strategy, question, policy, model, asks), seed=seed)
        if played:
            _print_played(_run_played(sets, wanted, console), as_json, as_markdown)
            return
        made = _run_comparisons(sets, wanted, console)
    except (RecordingError, PolicyError) as error:
        console.print(str(error), style="red", markup=False, highlight=False)
        raise typer.Exit(1) from error
    _print_comparisons(made, as_json, as_markdown)
    _write_files(made, as_json, plot, console)


def _make_judge(model: str | None, base_url: str | None, key: str | None) -> Any:
    if model is None:
        return None
    from gateway_compaction.evaluation.judge import Judge

    return Judge(model, base_url, key)


def _make_choices(
    budgets: Sequence[int],
    names: Sequence[str] | None,
    question: str,
    policy: Path | None,
    model: str,
    judge: Any,
) -> Wanted:
    from gateway_compaction.adapters.policy_file import load_policy_file
    from gateway_compaction.evaluation.compare import Wanted

    return Wanted(
        sorted(set(budgets)),
        tuple(names or ()),
        question != "unknown",
        question != "known",
        model,
        load_policy_file(policy, {"mode": "enforce"}, ConfigCosts().find_costs) if policy else None,
        judge,
    )


def _read_sets(files: Sequence[Path], limit: int | None, per_file: bool) -> dict[str, list[Any]]:
    from gateway_compaction.evaluation.material import conversation_of

    found: dict[str, list[Any]] = {}
    for path in files:
        kept = found.setdefault(path.stem if per_file else ", ".join(p.stem for p in files), [])
        for number, recording in enumerate(read_recordings(path, asking=True)):
            name = f"{path}:{number}"
            made = conversation_of(name, recording.messages, recording.questions, limit)
            if made is not None:
                kept.append(made)
    if not all(found.values()):
        raise RecordingError(
            "no conversation of at least four chat messages in " + _describe_source(files, found)
        )
    return found


def _describe_source(files: Sequence[Path], found: dict[str, list[Any]]) -> str:
    empty = [name for name, kept in found.items() if not kept]
    return ", ".join(empty or map(str, files))


def _run_comparisons(sets: dict[str, list[Any]], wanted: Wanted, console: Console) -> list[Comparison]:
    from gateway_compaction.evaluation.compare import compare

    made = _measure(partial(compare, sets, wanted), console)
    if wanted.judge is not None and wanted.judge.failures:
        times = pluralize(wanted.judge.failures, "time")
        told = f"The judge gave no answer {times}; what it was asked is not marked."
        console.print(told, style="yellow", markup=False, highlight=False)
    return made


def _run_played(sets: dict[str, list[Any]], wanted: Wanted, console: Console) -> list[PlayedComparison]:
    from gateway_compaction.evaluation.compare import compare_played

    return _measure(partial(compare_played, sets, wanted), console)


def _measure(work: Callable[[Callable[[int, int], None]], Coroutine[Any, Any, T]], console: Console) -> T:
    """Run a measurement to its end, with a line that shows how far it is."""
    from gateway_compaction.evaluation.compare import NoStrategyError

    with Progress(console=console, transient=True) as bar:
        task = bar.add_task("measuring", total=None)
        progress = partial(bar.update, task)
        try:
            return asyncio.run(work(lambda done, total: progress(completed=done, total=total)))
        except NoStrategyError as error:
            raise typer.BadParameter(str(error)) from error


def _print_played(made: Sequence[PlayedComparison], as_json: Path | None, as_markdown: bool) -> None:
    from gateway_compaction.evaluation.played_report import (
        played_row_to_json,
        render_played_markdown,
        render_played_table,
    )

    if as_json is not None:
        rows = [{**played_row_to_json(row), "set": one.title} for one in made for row in one.rows]
        text = json.dumps(rows, ensure_ascii=False, indent=1)
        if as_json == PRINTED:
            typer.echo(text)
            return
        as_json.write_text(text + "\n", encoding="utf-8")
    console = Console() if Console().is_terminal else Console(width=WIDTH)
    for one in made:
        if as_markdown:
            typer.echo(render_played_markdown(one.title, one.rows, one.absent) + "\n")
        else:
            console.print(render_played_table(one.title, one.rows, one.absent))


def _print_comparisons(made: Sequence[Comparison], as_json: Path | None, as_markdown: bool) -> None:
    from gateway_compaction.evaluation.report import render_markdown, render_table

    if as_json == PRINTED:
        typer.echo(_to_json(made))
        return
    # A table that is not shown on a terminal must not be squeezed into 80 columns.
    console = Console() if Console().is_terminal else Console(width=WIDTH)
    for one in made:
        if as_markdown:
            typer.echo(render_markdown(one.title, one.rows, one.absent, one.unasked) + "\n")
        else:
            console.print(render_table(one.title, one.rows, one.absent, one.unasked))


def _check_output_folders(*paths: Path | None) -> None:
    """Find out now, and not when all has been measured, whether results can be written.

    Raises:
        typer.BadParameter: there is no such folder.
    """
    for path in paths:
        if path is not None and path != PRINTED and not path.parent.is_dir():
            raise typer.BadParameter(f"{path}: there is no folder {path.parent}")


def _write_files(
    made: Sequence[Comparison], as_json: Path | None, plot: Path | None, console: Console
) -> None:
    from gateway_compaction.evaluation.plot import draw_chart

    try:
        if as_json is not None and as_json != PRINTED:
            as_json.write_text(_to_json(made) + "\n", encoding="utf-8")
        if plot is not None:
            plot.write_text(draw_chart([(one.title, one.rows) for one in made]), encoding="utf-8")
    except OSError as error:
        console.print(f"{error.filename}: {error.strerror}", style="red", markup=False, highlight=False)
        raise typer.Exit(1) from error


def _to_json(made: Sequence[Comparison]) -> str:
    from gateway_compaction.evaluation.report import row_to_json

    rows = [{**row_to_json(row), "set": one.title} for one in made for row in one.rows]
    return json.dumps(rows, ensure_ascii=False, indent=1)
