"""Writes support_chat.json: a made-up conversation of 82 messages for trying `gateway-compaction replay`."""

from __future__ import annotations

import json
import random
from pathlib import Path

ROOMS = ("kitchen", "hall", "study", "nursery", "attic", "cellar", "bathroom", "porch")
GOODS = ("oak shelf", "ceiling lamp", "wool rug", "folding desk", "linen curtain", "steel trolley", "mirror")
WISHES = ("measured before it is ordered", "delivered on a weekday", "in a warm white", "under the budget")


def conversation() -> list[dict[str, str]]:
    """A customer furnishes a house, room by room; a rule is set in the second message."""
    dice = random.Random(7)
    messages = [{"role": "system", "content": "You help customers of a furniture shop. Be brief and exact."}]
    for turn in range(40):
        room, good, number = ROOMS[turn % 8], dice.choice(GOODS), f"FX-{dice.randint(1000, 9999)}"
        opening = "Always quote prices with tax. " if turn == 0 else ""
        width, price = dice.randint(40, 220), dice.randint(20, 900)
        ask = (
            f"{opening}For the {room} I am looking at the {good} {number}. The wall there is {width} cm wide"
            f" and"
            f" I want it {dice.choice(WISHES)}. We spoke about {dice.choice(ROOMS)} before; keep that order"
            f" apart"
            f" from this one. Is it in stock, and what would it cost together with the fitting?"
        )
        answer = (
            f"The {good} {number} is in stock in {dice.randint(2, 30)} pieces. It costs {price} euros with"
            f" tax,"
            f" the"
            f" fitting is {price // 5} euros with tax. At {width} cm there is room for one piece in the"
            f" {room};"
            f" a second one would need {width // 2} cm more. I have noted it under order {number}-{turn:02d}"
            f" and"
            f" left the other rooms as they were. Delivery is possible on the {dice.randint(1, 28)}th."
        )
        messages += [{"role": "user", "content": ask}, {"role": "assistant", "content": answer}]
    messages.append(
        {"role": "user", "content": "Which order number did you note for the first lamp, and when?"}
    )
    return messages


if __name__ == "__main__":
    path = Path(__file__).with_name("support_chat.json")
    path.write_text(json.dumps(conversation(), indent=1) + "\n", encoding="utf-8")
