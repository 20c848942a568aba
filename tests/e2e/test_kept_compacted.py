"""A kept conversation that is compacted: the upstream gets what a client gets that keeps its whole history.

Both have the same policy. Its calls wait for their summaries, which no model writes, so that what is sent
does not hang on how fast the background is. The proxies are its own: no call waits that a guardrail may
block.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AsyncExitStack
from typing import Any

import pytest

from tests.lab import Client, Model, Proxy, RedisServer, Reply, Seen, Upstream
from tests.lab.proxy import proxy_config, start_all
from tests.lab.scripts import tool_call

MODEL = Model("chat", 60_000)
SYSTEM = {"role": "system", "content": "You look after ships."}
TOOL = {"type": "function", "function": {"name": "look", "parameters": {"type": "object", "properties": {}}}}
COMPACTS: dict[str, Any] = {
    "preset": "turns",
    "triggers": {"wait_seconds": 60},
    "summary": {"model": "extractive"},
    "storage": {"content": "full"},
}
POLICIES: dict[str, Any] = {
    "version": 1,
    "policies": [
        {"name": "own", "match": {"team": "own"}, "note": "all", **COMPACTS},
        {"name": "kept", "match": {"team": "kept"}, "conversation": {"keep": "gateway"}, **COMPACTS},
    ],
}


@pytest.fixture(scope="module")
def replicas(redis_server: RedisServer, upstream: Upstream) -> Iterator[list[Proxy]]:
    """Two proxies without guardrails."""
    keys = {f"sk-{name}": {"team_id": name} for name in ("own", "kept")}
    config = proxy_config([MODEL], upstream.url, custom_auth=True)
    made = [
        Proxy(config, name=name, policies=POLICIES, redis_url=redis_server.url, keys=keys)
        for name in ("compacts-1", "compacts-2")
    ]
    try:
        start_all(made)
        yield made
    finally:
        for proxy in made:
            proxy.stop()


def reply(seen: Seen) -> Reply:
    """Look a ship up, then answer."""
    last = seen.messages[-1]
    if last["role"] == "tool":
        return Reply(text=f"{last['content']}. 여기 있습니다. " + "It unloads grain until Friday. " * 6)
    return Reply(text=None, tool_calls=[tool_call("look", {"at": str(last["content"])[-30:]}, "call_1")])


@pytest.mark.parametrize("stream", [False, True])
async def test_the_upstream_gets_the_bytes_of_a_whole_history_compacted(
    replicas: list[Proxy], upstream: Upstream, stream: bool
) -> None:
    name = MODEL.entry(upstream.url)["litellm_params"]["model"].rpartition("/")[2]
    upstream.scripts[name] = reply
    history, told, outcomes, calls = [SYSTEM], dict[str, str](), list[str](), 0
    async with AsyncExitStack() as stack:
        kept = [await stack.enter_async_context(Client(proxy, "sk-kept")) for proxy in replicas]
        own = await stack.enter_async_context(Client(replicas[0], "sk-own"))

        async def send(client: Client, messages: list[dict[str, Any]], headers: dict[str, str]) -> Any:
            ask = client.stream if stream else client.chat
            answer = await ask(MODEL.name, messages, tools=[TOOL], headers=headers)
            assert answer.status == 200, answer.body
            return answer, upstream.seen(name)[-1]

        for turn in range(12):
            question = f"Where does ship {turn} of {stream} lie, and until when? "
            new: list[dict[str, Any]] = [{"role": "user", "content": question * 5 + "어디에 있나요?"}]
            while new:
                history += new
                answer, seen = await send(kept[calls % 2], [SYSTEM, *new], told)
                told = {"x-conversation-id": answer.headers["x-conversation-id"]}
                whole, expected = await send(own, history, {})
                assert seen.raw == expected.raw, f"turn {turn}"
                assert answer.outcome == whole.outcome
                outcomes, calls = [*outcomes, answer.outcome], calls + 1
                said = dict(reply(seen).as_message)
                history.append(said)
                new = [
                    {"role": "tool", "tool_call_id": call["id"], "content": f"Ship {turn}: berth {turn + 7}"}
                    for call in said.get("tool_calls") or ()
                ]
    assert len(seen.messages) < len(history) - 20 and "[turns 7" in str(seen.messages)
    assert outcomes.count("applied") >= 12, outcomes
