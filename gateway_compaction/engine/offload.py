"""Keeping the event loop free: what is quick runs on it, what would hold up other requests on a thread.

A proxy serves all its requests on one loop. Work on a long history takes tens of milliseconds, in which
nobody else's request would move; handing short work to a thread would cost more than the work.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from typing import Any, TypeVar

from gateway_compaction.core.conversation.body import PlainSize
from gateway_compaction.core.conversation.digest import count_characters
from gateway_compaction.core.conversation.messages import Message, plain_text_of
from gateway_compaction.engine.request import Decision, Measured, Planned

T = TypeVar("T")

# Each bound stands for about two milliseconds of work.
LARGE_HISTORY = 1_000
"""Messages from which on a history is parsed and hashed off the loop."""

LARGE_CHARS = 1_000_000
"""Characters from which on a history is hashed off the loop."""

LARGE_UNCOUNTED_CHARS = 20_000
"""Characters that were never counted from which on counting leaves the loop."""

LARGE_TOKENS = 8_000
"""Tokens from which on planning and rendering leave the loop, and what goes through all messages again."""


class Offloader:
    """Runs work on the loop or on the one thread that is kept for requests."""

    def __init__(self, executor: Executor) -> None:
        self._executor = executor

    async def run(self, is_large: bool, work: Callable[..., T], *args: Any) -> T:
        """Return what the work returns; large work runs on the thread.

        Each step asks whether its own input is large: a long history whose messages were counted before is
        quick to count and slow to hash.
        """
        if not is_large:
            return work(*args)
        return await asyncio.get_running_loop().run_in_executor(self._executor, work, *args)


def is_large_decision(decision: Decision | None) -> bool:
    """Tell whether going through the messages of a counted request once more would hold up other requests.

    Few tokens may be many characters: an image has the price of its size in pixels.
    """
    if not isinstance(decision, Measured | Planned):
        return False
    context, size = decision.context, decision.request.size
    return context.measure.total > LARGE_TOKENS or is_large_history(context.transcript.history, size)


def is_large_history(history: Sequence[Message], size: PlainSize | None = None) -> bool:
    """Tell whether hashing these messages would hold up other requests; by their size where it is known."""
    if len(history) > LARGE_HISTORY:
        return True
    return (sum(map(_count_characters, history)) if size is None else size.bytes) > LARGE_CHARS


def _count_characters(message: Message) -> int:
    text = plain_text_of(message)
    return count_characters(message) if text is None else len(text)
