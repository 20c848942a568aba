"""Requests of operators about a session, and the memory that their actions make void.

Every process remembers compactions. Where an operator takes one back, each memory of it must end without a
word between the processes: so whatever is remembered bears the generation it was made under, and the next
call brings the session's present one.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SessionControls:
    """Requests of operators about a session, with its generation.

    Attributes:
        generation: changes with every action of an operator and with a new beginning; what a process
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
    """Tell whether a generation is that of a session that the store did not know."""
    return generation.startswith("+")


def void_before(at: float) -> str:
    """Return the generation that begins where what was made before ``at`` is void.

    Args:
        at: seconds since 1970 by the store's clock.
    """
    return f"{at:.6f}*"


def is_valid_under(made_under: str, generation: str) -> bool:
    """Tell whether what was made under one generation holds under another.

    An empty generation is compared with nothing. What was made before the store knew the session holds in
    what began with it, but not after an operator's action.
    """
    if not generation or made_under == generation:
        return True
    return (not made_under or is_unstored(made_under)) and not generation.endswith("*")


def start_of(generation: str) -> float:
    """Return the start of a generation in seconds since 1970 by the store's clock; 0 where it is unknown."""
    try:
        return float(generation.strip("+*"))
    except ValueError:
        return 0.0
