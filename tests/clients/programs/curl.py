"""The program ``curl``, on the endpoint that is named: every other answer is streamed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import talk

FUNCTION = {"name": talk.TOOL, "description": talk.ABOUT}


def post(path: str, body: dict[str, Any]) -> str:
    """What curl prints."""
    command = ["curl", "--silent", "--show-error", "--fail-with-body", "--no-buffer", "--data", "@-"]
    command += ["-H", "content-type: application/json"]
    command += ["-H", f"authorization: Bearer {os.environ['CLIENT_KEY']}"]
    command.append(f"{os.environ['CLIENT_URL']}{path}")
    done = subprocess.run(command, input=json.dumps(body), capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"curl: {done.returncode} {done.stdout} {done.stderr}")
    return done.stdout


def chat(messages: list[Any], stream: bool) -> tuple[str, list[dict[str, Any]]]:
    """One call of Chat Completions, with tools only where the answer is whole."""
    body: dict[str, Any] = {"model": talk.MODEL, "stream": stream}
    tool = {"type": "function", "function": {**FUNCTION, "parameters": talk.PARAMETERS}}
    body |= {"messages": [{"role": "system", "content": talk.SYSTEM}, *messages], "tools": [tool]}
    printed = post("/v1/chat/completions", body)
    text, calls = "", dict[int, dict[str, Any]]()
    if not stream:
        message = json.loads(printed)["choices"][0]["message"]
        text, calls = message.get("content") or "", dict(enumerate(message.get("tool_calls") or ()))
    for event in events(printed) if stream else ():
        for choice in event["choices"]:
            text += choice["delta"].get("content") or ""
            for piece in choice["delta"].get("tool_calls") or ():
                calls.setdefault(piece["index"], {k: v for k, v in piece.items() if k != "index"})
    said: dict[str, Any] = {"role": "assistant", "content": text or None}
    messages.append({**said, "tool_calls": [*calls.values()]} if calls else said)
    for call in calls.values():
        result = talk.look(**json.loads(call["function"]["arguments"]))
        messages.append({"role": "tool", "tool_call_id": call["id"], "content": result})
    return text, [*calls.values()]


def messages_(messages: list[Any], stream: bool) -> tuple[str, list[dict[str, Any]]]:
    """One call of Messages."""
    body: dict[str, Any] = {"model": talk.MODEL, "max_tokens": 512, "system": talk.SYSTEM, "stream": stream}
    body |= {"messages": messages, "tools": [{**FUNCTION, "input_schema": talk.PARAMETERS}]}
    printed = post("/v1/messages", body)
    blocks: list[dict[str, Any]] = [] if stream else json.loads(printed)["content"]
    for event in events(printed) if stream else ():
        if event["type"] == "content_block_start":
            blocks.append({**event["content_block"], "json": ""})
        if event["type"] == "content_block_delta":
            blocks[-1]["json"] += event["delta"].get("partial_json") or ""
            if "text" in blocks[-1]:
                blocks[-1]["text"] += event["delta"].get("text") or ""
    for block in blocks:
        written = block.pop("json", "")
        if block["type"] == "tool_use" and written:
            block["input"] = json.loads(written)
    blocks = [{k: v for k, v in block.items() if k in WANTED} for block in blocks]
    calls = [block for block in blocks if block["type"] == "tool_use"]
    messages.append({"role": "assistant", "content": blocks})
    results = [
        {"type": "tool_result", "tool_use_id": call["id"], "content": talk.look(**call["input"])}
        for call in calls
    ]
    if results:
        messages.append({"role": "user", "content": results})
    return "".join(block.get("text") or "" for block in blocks), calls


WANTED = ("type", "text", "id", "name", "input")


def responses(items: list[Any], stream: bool) -> tuple[str, list[dict[str, Any]]]:
    """One call of Responses."""
    body: dict[str, Any] = {"model": talk.MODEL, "instructions": talk.SYSTEM, "stream": stream}
    body |= {"input": items, "tools": [{"type": "function", **FUNCTION, "parameters": talk.PARAMETERS}]}
    printed = post("/v1/responses", {**body, "store": False})
    ended = (event["response"] for event in events(printed) if event["type"] == "response.completed")
    output = next(ended)["output"] if stream else json.loads(printed)["output"]
    calls = [item for item in output if item["type"] == "function_call"]
    items += output
    items += [
        {
            "type": "function_call_output",
            "call_id": call["call_id"],
            "output": talk.look(**json.loads(call["arguments"])),
        }
        for call in calls
    ]
    parts = [part for item in output for part in item.get("content") or ()]
    return "".join(part.get("text") or "" for part in parts), calls


def events(printed: str) -> list[dict[str, Any]]:
    """The data of server-sent events."""
    lines = [line.partition(":")[2].strip() for line in printed.splitlines() if line.startswith("data:")]
    return [json.loads(line) for line in lines if line.startswith("{")]


def play(ask: Any) -> None:
    """The conversation."""
    history: list[Any] = []
    number = 0
    for turn in range(talk.TURNS):
        history.append({"role": "user", "content": talk.question(turn)})
        while True:
            text, calls = ask(history, number % 2 == 1)
            number += 1
            if not calls:
                break
        talk.tell(text)


if __name__ == "__main__":
    play({"chat": chat, "messages": messages_, "responses": responses}[sys.argv[1]])
