"""One call as operators look at it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["LastCall"]


@dataclass(frozen=True, slots=True)
class LastCall:
    """What the client sent and what the model got at the latest call that was looked at closely.

    Attributes:
        at: seconds since 1970.
        sent: per message of the client: role, tokens, and what became of it: ``verbatim``, ``covered``,
            ``cleared``, ``shortened``, ``recalled`` (covered, and quoted) or ``preamble``.
        saw: per message of the model: role, tokens, and its origin: ``verbatim``, ``preamble``, ``summary``,
            ``acknowledgement``, ``opener``, ``cleared``, ``shortened`` or ``quoting``.
        client, model: the messages themselves, only where ``storage.content`` is ``full``.
        levels: tokens of the three level lines: light, medium, aggressive.
        fixed: tokens of tools, response format and output reserve.
        cuts: indexes in ``sent`` at which the history may be divided.
        omitted: the messages were too large to be kept.
    """

    at: float
    sent: tuple[tuple[str, int, str], ...]
    saw: tuple[tuple[str, int, str], ...]
    client: tuple[Mapping[str, Any], ...] | None = None
    model: tuple[Mapping[str, Any], ...] | None = None
    levels: tuple[int, int, int] = (0, 0, 0)
    window: int = 0
    fixed: int = 0
    covers: int = 0
    version: int | None = None
    cuts: tuple[int, ...] = ()
    omitted: bool = False
