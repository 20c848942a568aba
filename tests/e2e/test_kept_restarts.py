"""A client without a memory: 200 messages with tools, two replicas, a restart of all but the client.

The client is a program of ``tests/clients/programs``: in Python here, in Node where ``make clients`` runs it.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.clients.stage import PROGRAMS, environment, installed
from tests.e2e.fleet import Fleet, served
from tests.lab import Client, RedisServer, Reply, Seen, Summariser, Upstream, until
from tests.lab.proxy import start_all
from tests.lab.scripts import tool_call

MODEL, TURNS = "chat-100k", 50
# A tool was asked for before the restart, and its result is sent after it.
PAUSE = 51
TOOL = {"type": "function", "function": {"name": "look", "parameters": {"type": "object", "properties": {}}}}
SYSTEM = {"role": "system", "content": "You look after ships."}
PYTHON = [sys.executable, str(PROGRAMS / "kept_openai.py")]
NODE = [installed("node", "kept_openai.mjs")] if "CLIENTS_HOME" in os.environ else []


def reply(seen: Seen) -> Reply:
    """Look first, then answer; every third time with a word beside the call."""
    number, last = len(seen.messages), seen.messages[-1]
    if last["role"] == "tool":
        return Reply(text=f"{last['content']}. 여기 있습니다.")
    call = tool_call("look", {"ship": number}, f"call_{number}")
    return Reply(text="I look it up." if number % 3 == 0 else None, tool_calls=[call])


async def tell_whole_histories(client: Client, upstream: Upstream) -> list[bytes]:
    """Play the same conversation as a client that sends all of it with each call; the upstream's bodies."""
    history: list[dict[str, Any]] = [SYSTEM]
    number, sent = 0, list[bytes]()
    for turn in range(TURNS):
        history.append({"role": "user", "content": f"Where does ship {turn} lie? 어디에 있나요?"})
        while history[-1]["role"] != "assistant":
            streamed = number % 5 < 2
            ask = client.stream if streamed else client.chat
            # The SDKs put `stream` where the caller has it: behind the tools.
            answer = await ask(MODEL, history, tools=[TOOL], **({} if streamed else {"stream": False}))
            assert answer.status == 200, answer.body
            seen = upstream.seen(served(MODEL))[-1]
            sent, number = [*sent, seen.raw], number + 1
            history.append(reply(seen).as_message)
            for call in history[-1].get("tool_calls", ()):
                result = {"role": "tool", "tool_call_id": call["id"]}
                history.append({**result, "content": f"Ship {turn}: berth {turn + 7}"})
    return sent


@pytest.fixture
def lasting(redis_server: RedisServer) -> Iterator[RedisServer]:
    """The fleet's Redis with an append-only file, as an operator's has one."""
    with redis_server.client() as client:
        client.config_set("appendonly", "yes")
        while client.info("persistence")["aof_rewrite_in_progress"]:
            pass
    yield redis_server
    with redis_server.client() as client:
        client.config_set("appendonly", "no")


@pytest.mark.parametrize("command", [PYTHON, *NODE], ids=["python", "node"][: 1 + len(NODE)])
async def test_a_client_without_a_memory_outlives_everything(
    fleet: Fleet,
    upstream: Upstream,
    summariser: Summariser,
    lasting: RedisServer,
    command: list[str],
    tmp_path: Path,
) -> None:
    replicas = [fleet.first, fleet.second()]
    upstream.scripts[served(MODEL)] = reply
    async with Client(fleet.first, "sk-a-1") as client:
        whole = await tell_whole_histories(client, upstream)
    upstream.requests.clear()
    told = {
        **environment(fleet.first.url, "", MODEL, tmp_path),
        "OPENAI_API_KEY": "sk-kept",
        "CLIENT_URLS": ",".join(f"{replica.url}/v1" for replica in replicas),
        "CLIENT_TURNS": str(TURNS),
        "CLIENT_PAUSE": str(PAUSE),
    }
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(*command, env=told, stdin=pipe, stdout=pipe, stderr=pipe)
    assert process.stdin and process.stdout and process.stderr
    lines = list[dict[str, Any]]()
    try:
        while line := await asyncio.wait_for(process.stdout.readline(), 120):
            lines.append(json.loads(line))
            if "paused" in lines[-1]:
                for replica in replicas:
                    replica.stop()
                lasting.stop()
                lasting.start("--appendonly", "yes")
                await asyncio.to_thread(start_all, replicas)
                process.stdin.write(b"go on\n")
                await process.stdin.drain()
        errors = (await process.stderr.read()).decode()
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()
    assert lines.pop(TURNS // 2) == {"paused": PAUSE}, errors
    assert [line["text"] for line in lines] == [
        f"Ship {turn}: berth {turn + 7}. 여기 있습니다." for turn in range(TURNS)
    ], errors
    sent = upstream.seen(served(MODEL))
    assert len(sent[-1].messages) == 4 * TURNS and [seen.raw for seen in sent] == whole
    await until(lambda: "x:100" in lasting.text(), "the last exchange")
