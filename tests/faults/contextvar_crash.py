"""Crashes Python before 3.12 with nothing but LiteLLM: ``python -m tests.faults.contextvar_crash``.

A coroutine that is abandoned inside of LiteLLM's ``service_target`` is ended by the garbage collector, and
sets a ``ContextVar`` then. Before Python 3.12 that may happen in the middle of another ``set``, which
goes on in memory that is free by then (CPython issue 148891). Of ten runs a few end with a segmentation
fault, by ``PYTHONHASHSEED``; docs/reliability.md tells of it.
"""

from __future__ import annotations

import faulthandler
import gc
import sys
from collections.abc import Iterator
from contextvars import ContextVar
from typing import Any

from litellm._internal_context import service_target

ROUNDS = 60_000
OTHERS = [ContextVar[object](f"other {number}") for number in range(20)]


class Pause:
    """Something to wait for that never comes."""

    def __await__(self) -> Iterator[None]:
        yield


async def abandon(held: list[Any]) -> None:
    """Wait for ever, in a circle of references: only the collector ends it."""
    with service_target("cooldown"):
        held.append(sys._getframe())
        await Pause()


def main() -> None:
    """Abandon coroutines, and set variables meanwhile."""
    faulthandler.enable()
    # So often that it happens within seconds what takes a busy proxy hours.
    gc.set_threshold(3, 1, 1)
    for number in range(ROUNDS):
        held: list[Any] = []
        coroutine = abandon(held)
        held.append(coroutine)
        coroutine.send(None)
        del coroutine, held
        with service_target("health"):
            pass
        OTHERS[number % len(OTHERS)].set(object())
    print(f"Python {sys.version.split()[0]} survived")


if __name__ == "__main__":
    main()
