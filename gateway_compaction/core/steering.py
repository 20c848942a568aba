"""What operators asked of a session."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Steering", "moment_of"]


@dataclass(frozen=True, slots=True)
class Steering:
    """What operators asked of a session.

    Attributes:
        generation: changes with every deed of an operator and with a new beginning; what a process
            remembers of another generation is void. Of a session that the store does not know it begins
            with ``+`` and names the moment of the question; empty where the store did not answer.
        pins: facts that stand in every summary block, verbatim.
        compact: compact at the next call, whatever its usage.
        rebuild: make a summary from the source that the next call brings.
    """

    generation: str = ""
    pins: tuple[str, ...] = ()
    compact: bool = False
    rebuild: bool = False


def moment_of(generation: str) -> float:
    """When a generation began, in seconds since 1970 by the store's clock; 0 where that is unknown."""
    try:
        return float(generation.strip("+*"))
    except ValueError:
        return 0.0
