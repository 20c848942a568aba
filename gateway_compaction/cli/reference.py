"""Writes the generated part of docs/cli.md, off the commands themselves.

Run it with ``python -m gateway_compaction.cli.reference`` in a checkout.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Sequence
from enum import Enum
from pathlib import Path
from typing import Any

import typer

__all__ = ["MARK", "PAGE", "commands", "page"]

PAGE = Path(__file__).resolve().parents[2] / "docs" / "cli.md"
MARK = "<!-- Below this line all is generated: python -m gateway_compaction.cli.reference -->"
PROGRAM = "gateway-compaction"
# Told once, above the line.
COMMON = frozenset({"help", "install_completion", "show_completion"})
HEAD = ("| option | | default | environment |", "|---|---|---|---|")


def page(written: str) -> str:
    """The page with its generated part made anew; what stands above the line stays."""
    above, mark, _ = written.partition(MARK)
    if not mark:
        raise ValueError(f"docs/cli.md has no line {MARK}")
    return "\n\n".join([f"{above}{MARK}", *_sections(PROGRAM, _root(), COMMON)]) + "\n"


def commands() -> Iterator[tuple[str, Any]]:
    """Every command and group by what is typed, in the order of the help."""

    def below(name: str, command: Any) -> Iterator[tuple[str, Any]]:
        yield name, command
        for word, inner in _inner(command).items():
            yield from below(f"{name} {word}", inner)

    return below(PROGRAM, _root())


def _root() -> Any:
    from gateway_compaction.cli.main import app

    return typer.main.get_command(app)


def _inner(command: Any) -> dict[str, Any]:
    found: dict[str, Any] = getattr(command, "commands", {})
    return found


def _sections(name: str, command: Any, told: frozenset[str]) -> Iterator[str]:
    inner = _inner(command)
    # What all commands of a group take is told with the group.
    shared = [one for one in next(iter(inner.values())).params if _in_all(one, inner)] if inner else []
    shared = [one for one in shared if one.name not in told]
    yield "\n".join(_section(name, command, told, shared))
    for word, one in inner.items():
        yield from _sections(f"{name} {word}", one, told | {option.name for option in shared})


def _in_all(param: Any, inner: dict[str, Any]) -> bool:
    wanted = (param.name, param.help)
    return all(wanted in [(one.name, one.help) for one in command.params] for command in inner.values())


def _section(name: str, command: Any, told: frozenset[str], shared: Sequence[Any]) -> Iterator[str]:
    params = [one for one in command.params if one.name not in COMMON]
    arguments = [one for one in params if one.param_type_name == "argument"]
    options = [one for one in params if one.param_type_name == "option"]
    usage = [name, *(["[OPTIONS]"] if options else []), *map(_metavar, arguments)]
    yield f"{'#' * (2 + name.count(' '))} `{name}`"
    yield from ("", _prose(command.help))
    yield from ("", "```sh", " ".join([*usage, *(["COMMAND …"] if _inner(command) else [])]), "```")
    if arguments:
        yield from ("", "| argument | |", "|---|---|")
        yield from (f"| `{_metavar(one)}` | {_told(one)} |" for one in arguments)
    own = [one for one in options if one.name not in told]
    if own:
        yield from ("", *HEAD)
        yield from (_row(one, typer.Context(command)) for one in own)
    if shared:
        yield from ("", "All of its commands take these:", "", *HEAD)
        yield from (_row(one, typer.Context(command)) for one in shared)


def _row(option: Any, context: typer.Context) -> str:
    names = ", ".join(f"`{name}`" for name in (*option.opts, *option.secondary_opts))
    kind = option.metavar or option.display_type(context)
    kind = re.sub(r"<list\[(.*)\]>", r"<\1>", kind).replace(" range", "").replace("|", "\\|")
    named = [option.envvar] if isinstance(option.envvar, str) else option.envvar or []
    variables = ", ".join(f"`{name}`" for name in named)
    value = "" if option.is_flag else f" `{kind}`{' …' if option.multiple else ''}"
    return f"| {names}{value} | {_told(option)} | {_default(option)} | {variables} |"


def _default(option: Any) -> str:
    if isinstance(option.show_default, str):
        return f"`{option.show_default}`"
    if option.default is None or option.is_flag or callable(option.default):
        return ""
    return f"`{option.default.value if isinstance(option.default, Enum) else option.default}`"


def _metavar(argument: Any) -> str:
    shown: str = argument.metavar or argument.name.upper()
    return shown if argument.required or shown.startswith("[") else f"[{shown}]"


def _told(param: Any) -> str:
    needed = " Required." if param.param_type_name == "option" and param.required else ""
    return f"{_prose(param.help)}{needed}".replace("|", "\\|")


def _prose(text: str | None) -> str:
    paragraphs = re.split(r"\n\s*\n", inspect.cleandoc(text or ""))
    return "\n\n".join(" ".join(one.split()) for one in paragraphs)


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
