"""What every Python client says and does; their environments have nothing of ours."""

from __future__ import annotations

import json
import os
from typing import Any

__all__ = ["IMAGE", "MODEL", "PARAMETERS", "SYSTEM", "TOOL", "TURNS", "has_image", "look", "question", "tell"]

MODEL = os.environ["CLIENT_MODEL"]
TURNS = int(os.environ["CLIENT_TURNS"])
SYSTEM = "You look after ships. Look before you answer."
# Conversations that begin alike are one session.
MARK = os.environ["CLIENT_MARK"]
TOOL = "look"
ABOUT = "Look where a ship lies."
PARAMETERS: dict[str, Any] = {
    "type": "object",
    "properties": {"ship": {"type": "integer"}, "words": {"type": "integer"}},
    "required": ["ship", "words"],
    "additionalProperties": False,
}
# A PNG of one pixel.
IMAGE = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="


def question(turn: int) -> str:
    """What the user says in a turn."""
    return (
        f"Where does ship {turn} of {MARK} lie, and who has seen it there? Please be exact about the berth."
    )


def has_image(turn: int) -> bool:
    """Whether the user shows a picture in a turn."""
    return turn == 1


def look(ship: int, words: int) -> str:
    """What the tool answers: so many words, of which the model chose the number."""
    return f"Ship {ship}: " + " ".join(f"berth {ship + number}" for number in range(words // 2))


def tell(text: str | None, **more: Any) -> None:
    """Print what came back in a turn, for the test."""
    print(json.dumps({"text": text, **more}), flush=True)
