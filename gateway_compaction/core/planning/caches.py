"""Results that depend on nothing but their key, kept for the next request."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, TypeVar

__all__ = ["DerivedCache", "DerivedCaches"]

T = TypeVar("T")


class DerivedCache:
    """A bounded dictionary of pure results; those not used for longest go first. Threads may share it."""

    def __init__(self, entries: int) -> None:
        self.entries = entries
        self._kept: OrderedDict[Hashable, Any] = OrderedDict()

    def __contains__(self, key: Hashable) -> bool:
        return key in self._kept

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """The result for a key, made if it is not there."""
        found = self._kept.get(key)
        if found is None:
            found = make()
            # Each step is one of the interpreter's own; between them another thread may have made room.
            while len(self._kept) >= self.entries:
                with suppress(KeyError):
                    self._kept.popitem(last=False)
            self._kept[key] = found
        else:
            with suppress(KeyError):
                self._kept.move_to_end(key)
        result: T = found
        return result


@dataclass(frozen=True, slots=True)
class DerivedCaches:
    """What outlives a request: frames, summary messages, extracts and recalls by digest; passages, readings
    and rules by message; indexes.

    What is kept was cut to measure by one way of counting: one of these for each model name.
    """

    frames: DerivedCache = field(default_factory=lambda: DerivedCache(4_000))
    passages: DerivedCache = field(default_factory=lambda: DerivedCache(50_000))
    readings: DerivedCache = field(default_factory=lambda: DerivedCache(2_000))
    rules: DerivedCache = field(default_factory=lambda: DerivedCache(50_000))
    # About two megabytes for each hundred thousand tokens.
    indexes: DerivedCache = field(default_factory=lambda: DerivedCache(150))
