"""Results that depend on nothing but their key, kept for the next request.

A conversation comes again with every call, a little longer. Without these caches each call would pay for the
whole of it.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, TypeVar

T = TypeVar("T")


class DerivedCache:
    """A bounded dictionary of pure results; those not used for longest go first. Threads may share it."""

    def __init__(self, entries: int) -> None:
        self.entries = entries
        self._results: OrderedDict[Hashable, Any] = OrderedDict()

    def __contains__(self, key: Hashable) -> bool:
        return key in self._results

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return the result for a key; it is made if it is not there."""
        result: T | None = self._results.get(key)
        if result is None:
            result = make()
            # Each step is one of the interpreter's own; between them another thread may have made room.
            while len(self._results) >= self.entries:
                with suppress(KeyError):
                    self._results.popitem(last=False)
            self._results[key] = result
        else:
            with suppress(KeyError):
                self._results.move_to_end(key)
        return result


@dataclass(frozen=True, slots=True)
class DerivedCaches:
    """The caches that outlive a request, for all requests to one model.

    What is kept was cut to measure by one way of counting, so each model name has caches of its own.

    Attributes:
        frames: what stands around summaries, summary messages, extracts and quotes, by what they are made of.
        passages: the parts of a message that can be quoted, by its digest.
        readings: what an extract needs of a message, by its digest.
        rules: the rules that a user's message lays down, by its digest.
        findings: the secrets of a message, by its digest.
        indexes: search indexes, by the digest of the messages; about two megabytes for each hundred thousand
            tokens.
    """

    frames: DerivedCache = field(default_factory=lambda: DerivedCache(4_000))
    passages: DerivedCache = field(default_factory=lambda: DerivedCache(50_000))
    readings: DerivedCache = field(default_factory=lambda: DerivedCache(2_000))
    rules: DerivedCache = field(default_factory=lambda: DerivedCache(50_000))
    findings: DerivedCache = field(default_factory=lambda: DerivedCache(50_000))
    indexes: DerivedCache = field(default_factory=lambda: DerivedCache(150))
