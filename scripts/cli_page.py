"""Write the generated part of docs/cli.md from the commands themselves.

Run it with ``python -m scripts.cli_page`` in a checkout.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Sequence
from enum import Enum
from pathlib import Path
from typing import Any

import typer

PAGE = Path(__file__).resolve().parents[1] / "docs" / "cli.md"
MARK = "<!-- Below this line all is generated: python -m scripts.cli_page -->"
PROGRAM = "gateway-compaction"
# Described once, above the mark.
COMMON = frozenset({"help", "install_completion", "show_completion"})
HEAD = ("| option | | default | environment |", "|---|---|---|---|")


def write_page(written: str) -> str:
    """Return docs/cli.md with its generated part written anew; the text above the mark stays."""
    above, mark, _ = written.partition(MARK)
    if not mark:
        raise ValueError(f"docs/cli.md has no line {MARK}")
    return "\n\n".join([f"{above}{MARK}", *_describe_commands(PROGRAM, _root_command(), COMMON)]) + "\n"


def list_commands() -> Iterator[tuple[str, Any]]:
    """Yield every command and group under the words that are typed, in the order of the help."""

    def below(name: str, command: Any) -> Iterator[tuple[str, Any]]:
        yield name, command
        for word, inner in _subcommands(command).items():
            yield from below(f"{name} {word}", inner)

    return below(PROGRAM, _root_command())


def _root_command() -> Any:
    from gateway_compaction.cli.main import app

    return typer.main.get_command(app)


def _subcommands(command: Any) -> dict[str, Any]:
    found: dict[str, Any] = getattr(command, "commands", {})
    return found


def _describe_commands(name: str, command: Any, inherited: frozenset[str]) -> Iterator[str]:
    inner = _subcommands(command)
    # An option that all commands of a group take is described once, with the group.
    first = next(iter(inner.values())).params if len(inner) > 1 else []
    shared = [one for one in first if _is_shared(one, inner)]
    shared = [one for one in shared if one.name not in inherited]
    yield "\n".join(_describe_command(name, command, inherited, shared))
    for word, one in inner.items():
        yield from _describe_commands(f"{name} {word}", one, inherited | {option.name for option in shared})


def _is_shared(param: Any, inner: dict[str, Any]) -> bool:
    wanted = (param.name, param.help)
    return all(wanted in [(one.name, one.help) for one in command.params] for command in inner.values())


def _describe_command(
    name: str, command: Any, inherited: frozenset[str], shared: Sequence[Any]
) -> Iterator[str]:
    params = [one for one in command.params if one.name not in COMMON]
    arguments = [one for one in params if one.param_type_name == "argument"]
    options = [one for one in params if one.param_type_name == "option"]
    usage = [name, *(["[OPTIONS]"] if options else []), *map(_argument_name, arguments)]
    yield f"{'#' * (2 + name.count(' '))} `{name}`"
    yield from ("", _unwrap(command.help))
    yield from ("", "```sh", " ".join([*usage, *(["COMMAND …"] if _subcommands(command) else [])]), "```")
    if arguments:
        yield from ("", "| argument | |", "|---|---|")
        yield from (f"| `{_argument_name(one)}` | {_help_of(one)} |" for one in arguments)
    own = [one for one in options if one.name not in inherited]
    if own:
        yield from ("", *HEAD)
        yield from (_option_row(one, typer.Context(command)) for one in own)
    if shared:
        yield from ("", "All of its commands take these:", "", *HEAD)
        yield from (_option_row(one, typer.Context(command)) for one in shared)


def _option_row(option: Any, context: typer.Context) -> str:
    names = ", ".join(f"`{name}`" for name in (*option.opts, *option.secondary_opts))
    kind = option.metavar or option.display_type(context)
    kind = re.sub(r"<list\[(.*)\]>", r"<\1>", kind).replace(" range", "").replace("|", "\\|")
    named = [option.envvar] if isinstance(option.envvar, str) else option.envvar or []
    variables = ", ".join(f"`{name}`" for name in named)
    value = "" if option.is_flag else f" `{kind}`{' …' if option.multiple else ''}"
    return f"| {names}{value} | {_help_of(option)} | {_default_value(option)} | {variables} |"


def _default_value(option: Any) -> str:
    if isinstance(option.show_default, str):
        return f"`{option.show_default}`"
    if option.default is None or option.is_flag or callable(option.default):
        return ""
    return f"`{option.default.value if isinstance(option.default, Enum) else option.default}`"


def _argument_name(argument: Any) -> str:
    shown: str = argument.metavar or argument.name.upper()
    return shown if argument.required or shown.startswith("[") else f"[{shown}]"


def _help_of(param: Any) -> str:
    needed = " Required." if param.param_type_name == "option" and param.required else ""
    return f"{_unwrap(param.help)}{needed}".replace("|", "\\|")


def _unwrap(text: str | None) -> str:
    paragraphs = re.split(r"\n\s*\n", inspect.cleandoc(text or ""))
    return "\n\n".join(" ".join(one.split()) for one in paragraphs)


if __name__ == "__main__":
    PAGE.write_text(write_page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
