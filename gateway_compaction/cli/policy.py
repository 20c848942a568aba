"""``policy``: check policy files, explain what holds for whom, print the schema."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from gateway_compaction.adapters.policy_file import load_policy_file, read_env_overrides
from gateway_compaction.cli.costs import ConfigCosts
from gateway_compaction.cli.findings import describe_default_mode, describe_modes
from gateway_compaction.cli.launch import POLICIES, find_policies_beside, program_name
from gateway_compaction.core.endpoints.wire import EndpointName
from gateway_compaction.core.policy.book import ExplainedValue, Identity, MatchReport, PolicyBook
from gateway_compaction.core.policy.document import build_policy_schema
from gateway_compaction.core.policy.fields import UNIT_SECONDS
from gateway_compaction.core.summary.prompts import preview_prompt
from gateway_compaction.errors import PolicyError

CONFIG, TTL = Path("config/litellm.yaml"), "storage.ttl"
WHERE = f"Default: ${POLICIES}, else policies.yaml beside the config."

ConfigOption = Annotated[
    Path, typer.Option(help="LiteLLM's config file, beside which the policy file is looked for.")
]

app = typer.Typer(
    name="policy", help="Check policy files and explain what they come to.", no_args_is_help=True
)


@app.command()
def check(
    files: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[FILE]...", help=WHERE),
    ] = None,
    config: ConfigOption = CONFIG,
) -> None:
    """Check policy files, with the overrides of the environment; exit 1 if anything is wrong."""
    sound, overrides = True, dict[str, Any]()
    try:
        overrides = read_env_overrides(os.environ)
    except PolicyError as error:
        sound = _print_errors(error)
    found = files or [path for path in [_find_policy_file(config)] if path is not None]
    if not found:
        typer.echo(f"{_describe_missing(config)} Name a file, or write one with: {program_name()} init")
        sound = False
    for file in found:
        try:
            book = load_policy_file(file, overrides)
        except PolicyError as error:
            sound = _print_errors(error)
            continue
        held = f"mode {book.resolve(Identity()).mode}, {_count_names(book.names)}"
        typer.echo(". ".join([f"{file}: ok, {held}", *describe_modes(book)]))
        unwritten = describe_default_mode(book)
        if unwritten:
            typer.echo(f"{file}: warning: {unwritten}")
        _print_prompts(file, book)
    raise typer.Exit(0 if sound else 1)


@app.command()
def explain(
    file: Annotated[Path | None, typer.Option(help=f"Policy file. {WHERE}")] = None,
    config: ConfigOption = CONFIG,
    team: Annotated[str | None, typer.Option(help="Team id or alias.")] = None,
    key: Annotated[str | None, typer.Option(help="Alias of the virtual key.")] = None,
    model: Annotated[str | None, typer.Option(help="Model group that the request names.")] = None,
    user: Annotated[str | None, typer.Option(help="User id.")] = None,
    tag: Annotated[list[str] | None, typer.Option(help="Request tag; may be repeated.")] = None,
    endpoint: Annotated[EndpointName | None, typer.Option(help="Endpoint that the request comes to.")] = None,
    team_block: Annotated[
        str | None, typer.Option(metavar="JSON", help="The compaction entry of the team's metadata.")
    ] = None,
    key_block: Annotated[
        str | None, typer.Option(metavar="JSON", help="The compaction entry of the key's metadata.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")] = False,
) -> None:
    """Show every value that holds for a request, where it was written, and which policies matched."""
    identity = Identity(
        team_id=team,
        key_alias=key,
        user_id=user,
        model=model,
        tags=tuple(tag or ()),
        endpoint=endpoint,
        team_block=_parse_json_option("--team-block", team_block),
        key_block=_parse_json_option("--key-block", key_block),
    )
    path = file or _find_policy_file(config)
    if path is None:
        typer.echo(_describe_missing(config), err=True)
    try:
        costs = ConfigCosts(config).find_costs
        book = load_policy_file(path, read_env_overrides(os.environ), costs)
        matches, values = book.report_matches(identity), book.explain(identity)
    except PolicyError as error:
        _print_errors(error, to_stderr=True)
        raise typer.Exit(1) from None
    if as_json:
        typer.echo(json.dumps(_to_json(matches, values), indent=2))
    else:
        _print_tables(matches, values)


@app.command()
def schema() -> None:
    """Print the JSON schema of a policy file, for editors."""
    typer.echo(json.dumps(build_policy_schema(), indent=2))


def _find_policy_file(config: Path) -> Path | None:
    """Return the file that ``serve`` would take."""
    named = os.environ.get(POLICIES)
    return Path(named) if named else find_policies_beside(config)


def _describe_missing(config: Path) -> str:
    looked = config.parent / "policies.yaml"
    return f"No policy file: ${POLICIES} is not set, and there is no {looked}."


def _parse_json_option(name: str, text: str | None) -> Any:
    try:
        return None if text is None else json.loads(text)
    except (ValueError, RecursionError) as error:
        raise typer.BadParameter(f"not JSON: {error}", param_hint=name) from None


def _print_prompts(file: Path, book: PolicyBook) -> None:
    """Print what a summariser is asked by each prompt file, with everything that stands around its text."""
    for place, policy in book.list_prompt_files():
        typer.echo(f"{file}: {place}: summary.prompt {policy.summary.prompt} asks a summariser this:")
        typer.echo("\n".join(f"  | {line}".rstrip() for line in preview_prompt(policy).splitlines()))


def _print_errors(error: PolicyError, *, to_stderr: bool = False) -> bool:
    """Print one line per problem, and return False: what was checked is not sound."""
    for problem in (error, *error.others):
        typer.echo(str(problem), err=to_stderr)
    return False


def _count_names(names: tuple[str, ...]) -> str:
    return f"{len(names)} {'policy' if len(names) == 1 else 'policies'}"


def _to_json(matches: tuple[MatchReport, ...], values: tuple[ExplainedValue, ...]) -> dict[str, Any]:
    return {
        "policies": [
            {
                "path": match.path,
                "name": match.name,
                "rank": match.rank,
                "matched": match.reason is None,
                "reason": match.reason,
            }
            for match in matches
        ],
        "values": [{"path": one.path, "value": one.value, "source": one.source} for one in values],
    }


def _print_tables(matches: tuple[MatchReport, ...], values: tuple[ExplainedValue, ...]) -> None:
    console = Console(markup=False, emoji=False, highlight=False)
    held = Table("policy", "rank", "matched", "why not", title="Policies", title_justify="left")
    for match in matches:
        matched = "yes" if match.reason is None else "no"
        held.add_row(f"{match.path} {match.name}", match.rank, matched, match.reason or "")
    if matches:
        console.print(held)
    table = Table(title="What holds", title_justify="left")
    table.add_column("path", no_wrap=True)
    table.add_column("value", overflow="fold")
    table.add_column("source", overflow="fold")
    for one in values:
        table.add_row(one.path, _format_value(one), one.source)
    console.print(table)


def _format_value(one: ExplainedValue) -> str:
    """Return a value as it is written in a file; JSON has seconds."""
    if one.path == TTL and isinstance(one.value, int):
        size, unit = max((n, unit) for unit, n in UNIT_SECONDS.items() if one.value % n == 0)
        return f"{one.value // size}{unit}"
    return one.value if isinstance(one.value, str) else json.dumps(one.value)
