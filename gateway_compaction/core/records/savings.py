"""The savings of one call against the history as it came, told apart as a prompt cache prices them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CacheUse:
    """Tokens of one prompt that its provider read from its prompt cache, and those that it wrote to it."""

    read: int = 0
    written: int = 0


@dataclass(frozen=True, slots=True)
class Savings:
    """The history as it came less what was sent; an estimate, since only one of the two was ever sent.

    Attributes:
        tokens: tokens that were not sent; note, pins, opener and quotes count as sent. Negative where they
            are more than what they stand for.
        cached: of these, tokens that the provider would have read from its prompt cache, at a lower price.
            Negative where it read more of what was sent than it would have read of the history.
        written: of these, tokens that it would have written to its prompt cache; negative likewise.
    """

    tokens: int = 0
    cached: int = 0
    written: int = 0


@dataclass(frozen=True, slots=True)
class PromptPrice:
    """Dollars for one prompt token: new, read from the provider's prompt cache, and written to it."""

    new: float
    read: float
    written: float

    def cost(self, tokens: int, read: int, written: int) -> float:
        """Return the dollars for so many tokens, of which some were read from the cache or written to it."""
        return (tokens - read - written) * self.new + read * self.read + written * self.written

    @property
    def cached_share(self) -> float | None:
        """The price of a cached token as a share of a new one's, None where tokens cost nothing."""
        return self.read / self.new if self.new else None
