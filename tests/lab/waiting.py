"""Bounded waits for what happens in the background."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import TypeVar

__all__ = ["until"]

T = TypeVar("T")


async def until(probe: Callable[[], T], what: str, *, seconds: float = 10.0, every: float = 0.03) -> T:
    """Ask ``probe`` until it answers with something true, and return that.

    Raises:
        AssertionError: it did not within ``seconds``; names ``what`` and the last answer.
    """
    deadline = time.monotonic() + seconds
    while True:
        answer = probe()
        if answer:
            return answer
        if time.monotonic() > deadline:
            raise AssertionError(f"waited {seconds:g} s for {what}; last answer {answer!r:.300}")
        await asyncio.sleep(every)
