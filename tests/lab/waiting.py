"""Bounded waits for what happens in the background."""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar, overload

__all__ = ["until"]

T = TypeVar("T")


@overload
async def until(
    probe: Callable[[], Awaitable[T]], what: str, *, seconds: float = 10.0, every: float = 0.03
) -> T: ...
@overload
async def until(probe: Callable[[], T], what: str, *, seconds: float = 10.0, every: float = 0.03) -> T: ...
async def until(probe: Callable[[], Any], what: str, *, seconds: float = 10.0, every: float = 0.03) -> Any:
    """Ask ``probe``, awaited where it must be, until it answers with something true, and return that.

    Raises:
        AssertionError: it did not within ``seconds``; names ``what`` and the last answer.
    """
    deadline = time.monotonic() + seconds
    while True:
        answer = probe()
        if inspect.isawaitable(answer):
            answer = await answer
        if answer:
            return answer
        if time.monotonic() > deadline:
            raise AssertionError(f"waited {seconds:g} s for {what}; last answer {answer!r:.300}")
        await asyncio.sleep(every)
