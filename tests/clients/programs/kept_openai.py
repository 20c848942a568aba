"""The OpenAI SDK for Python as a client without a memory: it sends what is new, the gateway keeps the rest.

``CLIENT_URLS`` names the replicas, which the calls go to by turns; before the call ``CLIENT_PAUSE`` the
program says so and waits for a line on its standard input.
"""

from __future__ import annotations

import json
import os
from typing import Any

from openai import OpenAI, Stream
from openai.lib.streaming.chat import ChatCompletionStreamState

TOOL = {"type": "function", "function": {"name": "look", "parameters": {"type": "object", "properties": {}}}}
CLIENTS = [OpenAI(base_url=url) for url in os.environ["CLIENT_URLS"].split(",")]
conversation, number = "", 0


def ask(new: list[Any]) -> Any:
    """Send the new messages; the answer's message."""
    global conversation, number
    if number == int(os.environ["CLIENT_PAUSE"]):
        print(json.dumps({"paused": number}), flush=True)
        input()
    raw = CLIENTS[number // 3 % len(CLIENTS)].chat.completions.with_raw_response.create(
        model=os.environ["CLIENT_MODEL"],
        messages=new,
        tools=[TOOL],
        stream=number % 5 < 2,
        extra_headers={"x-conversation-id": conversation} if conversation else {},
    )
    conversation, number = raw.headers["x-conversation-id"], number + 1
    answer = raw.parse()
    return (gather(answer) if isinstance(answer, Stream) else answer).choices[0].message


def gather(stream: Stream[Any]) -> Any:
    """Read a stream to its end; the whole answer."""
    state = ChatCompletionStreamState()
    for chunk in stream:
        state.handle_chunk(chunk)
    return state.get_final_completion()


for turn in range(int(os.environ["CLIENT_TURNS"])):
    preamble = [] if turn else [{"role": "system", "content": "You look after ships."}]
    message = ask([*preamble, {"role": "user", "content": f"Where does ship {turn} lie? 어디에 있나요?"}])
    while message.tool_calls:
        message = ask(
            [
                {"role": "tool", "tool_call_id": call.id, "content": f"Ship {turn}: berth {turn + 7}"}
                for call in message.tool_calls
            ]
        )
    print(json.dumps({"text": message.content}), flush=True)
