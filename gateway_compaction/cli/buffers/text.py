"""Make strangers' text harmless for a terminal; and print JSON that is harmless as it is.

Ids, labels and summaries are written by clients and models. They may hold escape sequences that move the
cursor or retitle the window, marks that turn the reading direction, Rich's markup, or a megabyte.
"""

from __future__ import annotations

import json
import sys
import time
from dataclasses import fields, is_dataclass
from math import isfinite
from typing import Any

import regex
import typer

CELL, BLOCK = 40, 2_000
SPANS = ((86_400.0, "d"), (3_600.0, "h"), (60.0, "min"), (1.0, "s"))
MARKS = 8
# Control, format and surrogate characters, and the line ends that only Unicode knows.
HARMFUL = regex.compile(r"[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]")
# Joiners that Persian, Hindi and emoji are written with; harmless in running text.
JOINERS = "\u200c\u200d"
# More than these on one letter paint over the lines above it.
HEAP = regex.compile(rf"(\p{{M}}{{{MARKS}}})\p{{M}}+")
PICTURES = 0x2400
DELETE = 0x7F


def escape_terminal(text: str, *, lines: bool = False) -> str:
    """Return ``text`` with everything that a terminal would obey shown as a visible symbol.

    Args:
        lines: keep line ends and what joins letters; else the text stays in one line.
    """
    if lines:
        text = text.replace("\r\n", "\n").replace("\t", "    ")
    kept = f"\n{JOINERS}" if lines else ""
    shown = HARMFUL.sub(lambda found: found[0] if found[0] in kept else _visible_symbol(found[0]), text)
    return HEAP.sub(r"\1…", shown)


def format_cell(text: str | None, limit: int = CELL) -> str:
    """Return ``text`` as one line for a table, at most ``limit`` characters and a note of the rest."""
    if not text:
        return ""
    if len(text) <= limit:
        return escape_terminal(text)
    return f"{escape_terminal(text[:limit])}… ({len(text):,} characters)"


def format_block(text: str, *, full: bool = False) -> str:
    """Return ``text`` as paragraphs, cut with a note unless it is asked for in ``full``."""
    if full or len(text) <= BLOCK:
        return escape_terminal(text, lines=True)
    left = len(text) - BLOCK
    return f"{escape_terminal(text[:BLOCK], lines=True)}…\n[{left:,} more characters; --full shows them]"


def pluralize(number: int, word: str) -> str:
    """Return a number with its word."""
    return f"{number:,} {word}{'' if number == 1 else 's'}"


def format_age(at: float) -> str:
    """Say how long ago that was; empty for never."""
    return f"{format_span(time.time() - at)} ago" if at > 0 else ""


def format_span(seconds: float) -> str:
    """Say how long that is, in the largest unit of which it has two."""
    if not isfinite(seconds):
        return "?"
    for size, name in SPANS:
        if seconds >= 2 * size or size == 1.0:
            return f"{max(0, round(seconds / size)):,} {name}"
    raise AssertionError(seconds)


def to_safe_json(value: Any, *, indent: int | None = 1) -> str:
    """Return ``value`` as JSON that reads back the same, with all that a terminal would obey escaped.

    Args:
        value: of plain JSON types and the contract's.
    """
    return HARMFUL.sub(_escape_match, json.dumps(value, default=_to_plain, ensure_ascii=False, indent=indent))


def print_json(value: Any, *, indent: int | None = 1) -> None:
    """Print a document, in ASCII where stdout is not UTF-8."""
    text = to_safe_json(value, indent=indent)
    if (sys.stdout.encoding or "").lower().replace("-", "") != "utf8":
        text = json.dumps(json.loads(text), indent=indent)
    typer.echo(text)


def _visible_symbol(character: str) -> str:
    code = ord(character)
    if code < 0x20:
        return chr(PICTURES + code)
    return "␡" if code == DELETE else f"‹U+{code:04X}›"


def _escape_match(found: regex.Match[str]) -> str:
    character = found[0]
    # Inside strings JSON has escaped line ends already: what is left of them is the indentation.
    if character == "\n":
        return character
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))


def _to_plain(value: Any) -> dict[str, Any]:
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in fields(value)}
    raise TypeError(f"{type(value).__name__} is no value of the contract")
