"""Lua scripts and commands as values, ready to be sent by ``RedisConnection``.

Everything that reads before it writes is a script in ``lua/``: Redis runs a script as one step, so two
processes of the gateway can never interleave within it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from gateway_compaction.adapters.redis.keys import MOST_EVENTS, MOST_LABELS, SESSION_PARTS

# One Redis command with its arguments. Where the command is EVAL, its first argument is a ``Script``.
Command = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Script:
    """A Lua script, and the SHA-1 by which a server that has seen it knows it."""

    text: str
    sha: str

    def build_call(self, keys: Sequence[Any], *args: Any) -> Command:
        """Return the command that runs the script on these keys."""
        return ("EVAL", self, len(keys), *keys, *args)


def load_script(name: str, *shared: str) -> Script:
    """Return ``lua/<name>.lua`` behind the constants and ``lua/prelude.lua``, which all scripts share.

    Args:
        shared: other files of functions that stand before it.
    """
    folder = files(__package__).joinpath("lua")
    parts = ("prelude", *shared, name)
    text = _build_constants()
    text += "".join(folder.joinpath(f"{part}.lua").read_text(encoding="utf-8") for part in parts)
    return Script(text, hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest())


def _build_constants() -> str:
    """Build the lines of Lua that tell the scripts what Python knows: bounds, and the places of keys."""
    places = ", ".join(f"{part} = {place}" for place, part in enumerate(SESSION_PARTS, 1))
    return f"local MOST_EVENTS, MOST_LABELS = {MOST_EVENTS}, {MOST_LABELS}\nlocal PLACES = {{{places}}}\n"
