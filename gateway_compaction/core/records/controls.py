"""What operators asked of a session, and what their deeds make void."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["SessionControls", "is_unstored", "is_valid_under", "start_of", "void_before"]


@dataclass(frozen=True, slots=True)
class SessionControls:
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


def is_unstored(generation: str) -> bool:
    """Whether it is that of a session that the store did not know."""
    return generation.startswith("+")


def void_before(at: float) -> str:
    """The generation that begins where what was made before ``at`` is void."""
    return f"{at:.6f}*"


def is_valid_under(made_under: str, generation: str) -> bool:
    """Whether what was made under a generation holds under another; an empty one is compared with nothing.

    What was made before the store knew the session holds in what began with it, but not after a deed.
    """
    if not generation or made_under == generation:
        return True
    return (not made_under or is_unstored(made_under)) and not generation.endswith("*")


def start_of(generation: str) -> float:
    """When a generation began, in seconds since 1970 by the store's clock; 0 where that is unknown."""
    try:
        return float(generation.strip("+*"))
    except ValueError:
        return 0.0
