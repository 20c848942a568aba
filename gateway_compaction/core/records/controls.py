"""Operators' standing wishes for a session, and the generation that voids older memory.

Every process remembers compactions. Where an operator takes one back, each memory of it must end without a
word between the processes: so whatever is remembered bears the generation it was made under, and the next
call brings the session's present one. A generation is a text in one of these forms:

===========  =======================================================================================
``s``        the session is stored; it began at ``s``, and no operator has acted on it since
``s*``       an operator acted at ``s``: everything made under another generation is void
``s**``      the same, of a second action within the same microsecond (the store writes it)
``+s``       the store knew no such session when it was asked at ``s``
(empty)      unknown: the store did not answer, or the generation does not matter
===========  =======================================================================================

``s`` is in seconds since 1970 by the store's clock, with six decimals. A store writes all forms but the last.
"""

from __future__ import annotations

from dataclasses import dataclass

UNSTORED_MARK, ACTION_MARK = "+", "*"
# The rates that an operator may set: those of a policy.
LEAST_RATE, MOST_RATE = 0.1, 0.5


@dataclass(frozen=True, slots=True)
class SessionControls:
    """The standing wishes of operators for a session, with its generation.

    Attributes:
        generation: changes with every action of an operator and with a new beginning; what a process
            remembers of another generation is void. It names the second in which it began; ``*`` behind that
            says that an operator acted then, ``+`` before it that the store did not know the session. Empty
            where the store did not answer.
        pins: facts that stand in every summary block, verbatim.
        compact: compact from the next call on, below every level too, where that makes it smaller.
        rebuild: make a summary from the source that the next call brings.
        rate: the length of the next summaries, in place of the policy's ``summary.rate``; None where that
            holds. What is written already stays as it is.
    """

    generation: str = ""
    pins: tuple[str, ...] = ()
    compact: bool = False
    rebuild: bool = False
    rate: float | None = None


def is_stored(generation: str) -> bool:
    """Tell whether a generation is that of a stored session: neither unknown nor marked as not stored."""
    return bool(generation) and not generation.startswith(UNSTORED_MARK)


def make_generation(at: float) -> str:
    """Return the generation that an operator's action at ``at`` begins.

    Args:
        at: seconds since 1970 by the store's clock.
    """
    return f"{at:.6f}{ACTION_MARK}"


def is_valid_under(made_under: str, generation: str) -> bool:
    """Tell whether a record made under one generation may be used under another.

    An unknown generation voids nothing. A record made before the session was stored stays valid until an
    operator acts: the store cannot have named the generation that began with it.
    """
    if not generation or made_under == generation:
        return True
    return not is_stored(made_under) and not generation.endswith(ACTION_MARK)


def read_start(generation: str) -> float:
    """Return the start of a generation in seconds since 1970 by the store's clock; 0 where it is unknown."""
    try:
        return float(generation.strip(UNSTORED_MARK + ACTION_MARK))
    except ValueError:
        return 0.0
