"""The model that clients of these tests talk to: it chooses how fast the conversation grows."""

from __future__ import annotations

import contextlib
import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tests.lab import RedisServer, Reply, Seen, Summariser, until
from tests.lab.scripts import tool_call

__all__ = ["Model", "look_for"]

NEAR = 0.55
# The share of the window of results that no prepared summary makes room for.
JUMP = 0.68

Called = Callable[[int, int], tuple[str, Mapping[str, Any]]]


def look_for(number: int, words: int) -> tuple[str, Mapping[str, Any]]:
    """A call of the tool that the tests' own programs have."""
    return "look", {"ship": number, "words": words}


class Model:
    """Answers call by call: a text, one call, a text, parallel calls, and so on.

    The results that it asks for are large until the window is half full, small until a summary was used, and
    once so large that nothing fits any more: so ``light``, ``medium`` and ``aggressive`` all come up. From
    ``light`` on it waits for the summary that the gateway makes, so that the next request finds it.

    Attributes:
        seen: what arrived.
        said: the texts with which it ended the user's turns.
        calls: how many calls of tools it asked for.
        parallel: how often it asked for several at once.
        jumped_at: the place in ``seen`` of the first request with the results that do not fit.
    """

    def __init__(
        self,
        window: int,
        summariser: Summariser,
        redis_server: RedisServer,
        outcomes: Sequence[str],
        name: str,
        *,
        called: Called = look_for,
        loop: int = 0,
        ending: Called | None = None,
        largest: int = 1_000_000,
        texts: bool = False,
    ) -> None:
        """Build it; ``outcomes`` grows as the client is told them, and ``name`` is in each text.

        ``largest`` is the size in tokens of the largest result that a client does not shorten itself.
        Clients without tools are answered with long ``texts`` instead. Agents that work alone
        ``loop`` through so many calls before they get a text, or the call ``ending``.
        """
        self.window = window
        self.seen: list[Seen] = []
        self.said: list[str] = []
        self.calls = 0
        self.parallel = 0
        self._summariser, self._redis_server = summariser, redis_server
        self._outcomes, self._name = outcomes, name
        self._called, self._loop, self._ending = called, loop, ending
        self._largest, self._texts = largest, texts
        self._ids = itertools.count()
        self._steps = itertools.cycle((0, 1, 0, 2))
        self.jumped_at: int | None = None

    async def __call__(self, seen: Seen) -> Reply:
        share = seen.tokens / self.window
        if seen.tokens > self.window:
            self.seen.append(seen)
            return Reply.over_window(seen.tokens, self.window)
        if "prepared" in self._outcomes:
            await self._until_stored()
        self.seen.append(seen)
        if self._texts:
            return self._write(share, seen)
        if not self._asks_tools(seen):
            return Reply(text="Noted.")
        if self._loop:
            return self._work(share, seen)
        if self._is_result(seen):
            return self._say()
        if self._summariser.name in seen.text and self.jumped_at is None:
            return self._jump(2)
        calls = next(self._steps)
        return self._call(self._sizes(calls, share)) if calls else self._say()

    def _work(self, share: float, seen: Seen) -> Reply:
        if self._summariser.name in seen.text and self.jumped_at is None:
            return self._jump(1)
        if self.calls < self._loop:
            return self._call(self._sizes(1, share))
        return self._say() if self._ending is None else self._call([0], self._ending)

    def _jump(self, calls: int) -> Reply:
        self.jumped_at = len(self.seen)
        return self._call(self._divided(JUMP, calls))

    def _sizes(self, calls: int, share: float) -> list[int]:
        """Tokens of each result."""
        return self._divided(0.16 if share < NEAR else 0.05, calls)

    def _divided(self, share: float, calls: int) -> list[int]:
        """Results that take a share of the window together, none larger than clients keep whole."""
        tokens = share * self.window
        calls = max(calls, math.ceil(tokens / self._largest))
        return [int(tokens / calls)] * calls

    def _say(self) -> Reply:
        text = f"It lies at berth {len(self.said)}, as three captains have seen. {self._name}"
        self.said.append(text)
        return Reply(text=text)

    def _write(self, share: float, seen: Seen) -> Reply:
        """A text instead of calls, as long as the results would be."""
        size = 0.16 if share < NEAR else 0.05
        if self._summariser.name in seen.text and self.jumped_at is None:
            self.jumped_at, size = len(self.seen), JUMP
        berths = range(int(size * self.window / 3))
        self.said.append(f"{self._name} " + " ".join(f"berth {len(self.said) + berth}" for berth in berths))
        return Reply(text=self.said[-1])

    def _call(self, sizes: list[int], called: Called | None = None) -> Reply:
        made = []
        self.parallel += len(sizes) > 1
        for size in sizes:
            self.calls += 1
            name, arguments = (called or self._called)(self.calls, size)
            made.append(tool_call(name, arguments, f"call_{next(self._ids)}"))
        return Reply(text="I look." if self.calls % 2 else None, tool_calls=made)

    @staticmethod
    def _asks_tools(seen: Seen) -> bool:
        return bool(seen.body.get("tools"))

    @staticmethod
    def _is_result(seen: Seen) -> bool:
        last = (seen.body.get("input") or seen.messages)[-1]
        kinds = [part.get("type") for part in last.get("content") or () if isinstance(part, dict)]
        return (
            last.get("role") == "tool" or last.get("type") == "function_call_output" or "tool_result" in kinds
        )

    async def _until_stored(self) -> None:
        """Wait until a summary was stored. That none comes is for the test to see."""
        mark = self._summariser.mark(1)
        with contextlib.suppress(AssertionError):
            await until(lambda: mark in self._redis_server.text(), "a summary")
