"""The OpenAI SDK on the Responses API, which is sent the history with each call."""

from __future__ import annotations

import json
from typing import Any

import talk
from openai import OpenAI

TOOL = {"type": "function", "name": talk.TOOL, "description": talk.ABOUT, "parameters": talk.PARAMETERS}
ASK: dict[str, Any] = {"model": talk.MODEL, "instructions": talk.SYSTEM, "tools": [TOOL], "store": False}


def said(turn: int) -> dict[str, Any]:
    """The user's message of a turn."""
    parts = [{"type": "input_text", "text": talk.question(turn)}]
    if talk.has_image(turn):
        parts.append({"type": "input_image", "image_url": f"data:image/png;base64,{talk.IMAGE}"})
    return {"role": "user", "content": parts}


def ask(client: OpenAI, items: list[Any], number: int) -> Any:
    """One call."""
    if number % 3 == 0:
        return client.responses.create(input=items, **ASK)
    if number % 3 == 1:
        with client.responses.stream(input=items, **ASK) as stream:
            for _ in stream:
                pass
            return stream.get_final_response()
    done = None
    for event in client.responses.create(input=items, stream=True, **ASK):
        done = event.response if event.type == "response.completed" else done
    return done


def play() -> None:
    """The conversation."""
    items: list[Any] = []
    number = 0
    with OpenAI() as client:
        for turn in range(talk.TURNS):
            items.append(said(turn))
            while True:
                response = ask(client, items, number)
                number += 1
                items += [item.to_dict() for item in response.output]
                for item in items:
                    item.pop("parsed_arguments", None)
                    for part in item["content"] if isinstance(item.get("content"), list) else ():
                        part.pop("parsed", None)
                calls = [item for item in response.output if item.type == "function_call"]
                items += [
                    {
                        "type": "function_call_output",
                        "call_id": call.call_id,
                        "output": talk.look(**json.loads(call.arguments)),
                    }
                    for call in calls
                ]
                if not calls:
                    break
            talk.tell(response.output_text)


if __name__ == "__main__":
    play()
