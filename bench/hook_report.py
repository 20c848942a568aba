"""The report of ``bench.hook``: its figures as a section of docs/benchmarks.md."""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

PACKAGES = ("gateway-compaction", "litellm", "tiktoken", "langchain-core")


class Figure(NamedTuple):
    """The CPU of one case.

    Attributes:
        tokens: of the conversation, about.
        messages: of the conversation.
        name: the case, or the other tool.
        outcome: what the plugin did; empty for other tools.
        before: seconds until the request goes to the provider; all of what another tool does.
        after: seconds of what follows the answer.
    """

    tokens: int
    messages: int
    name: str
    outcome: str
    before: float
    after: float


def describe_machine() -> dict[str, str]:
    """Return machine, versions and date: a figure without them cannot be reproduced."""
    cpu = next((line.partition(":")[2].strip() for line in _read_cpu() if line.startswith("model name")), "?")
    described = {"date": f"{datetime.now(UTC):%Y-%m-%d}", "cpu": cpu, "python": platform.python_version()}
    for package in PACKAGES:
        try:
            described[package] = version(package)
        except PackageNotFoundError:
            continue
    return described


def to_markdown(figures: Sequence[Figure], machine: dict[str, str]) -> str:
    """Render the section: a table for the plugin, and one for the same conversations in other tools."""
    ours = [figure for figure in figures if figure.outcome]
    others = [figure for figure in figures if not figure.outcome]
    told = ", ".join(f"{name} {value}" for name, value in machine.items())
    return "\n".join(
        [
            "## In the hook",
            "",
            "CPU of a call in milliseconds, before the request goes out + after the answer, on all threads;",
            "`python -m bench.hook` explains the cases, and `make bench` makes these tables anew.",
            f"Made by: {told}.",
            "",
            *_to_table(ours, lambda f: f"{_to_ms(f.before)} + {_to_ms(f.after)}"),
            "",
            "The same conversations, where they must be brought below three quarters of the window:",
            "",
            *_to_table(others, lambda f: _to_ms(f.before)),
        ]
    )


def _to_table(figures: Iterable[Figure], write: Callable[[Figure], str]) -> list[str]:
    """Render one row for each size of a conversation."""
    rows: list[list[str]] = []
    names: list[str] = []
    for (tokens, messages), group in groupby(figures, key=lambda figure: figure[:2]):
        cells = {figure.name: write(figure) for figure in group}
        names = names or list(cells)
        rows.append([f"{tokens:,}", f"{messages:,}", *(cells.get(name, "") for name in names)])
    head = ["tokens", "messages", *names]
    return [f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *rows)]


def _to_ms(seconds: float) -> str:
    milliseconds = seconds * 1_000
    return f"{milliseconds:.2f}" if milliseconds < 10 else f"{milliseconds:,.0f}"


def _read_cpu() -> list[str]:
    path = Path("/proc/cpuinfo")
    return path.read_text().splitlines() if path.exists() else []
