"""CPU of the hook's work for one call, by endpoint, on the same conversation, next to the same call of chat.

Two figures. "decide": read the body, decide, write what is sent, before the call. "whole": all hooks of the
call as LiteLLM calls them (before it, for the deployment, for the answer's headers, after it) and what
follows in the background: learning from the reported usage, the event, the store (a Redis server, whose own
time does not count), the index.

Each conversation is an agent's. The process is warm, as in a gateway that has seen the call before; the
endpoints take turns within each round, and of all rounds the least counts, since other work on the machine
only adds to it. What a proxy does besides is not in it: several times as much for each of the endpoints.
Run: python -m bench.endpoints
"""

from __future__ import annotations

import asyncio
import gc
import json
import time
from collections.abc import Awaitable, Callable
from typing import Any

from bench.hook_calls import AUTH, CALL_TYPES, MODEL, OneModel, build_hook, play_call
from gateway_compaction.call_state import tenant_of
from gateway_compaction.core.endpoints.read import read_conversation
from gateway_compaction.core.endpoints.wire import EndpointName
from gateway_compaction.core.policy.book import Identity
from gateway_compaction.engine.request import Request
from gateway_compaction.ports import Caller
from gateway_compaction.runtime import Runtime, use_bundled_encodings
from tests.lab.endpoints import to_anthropic, to_responses
from tests.lab.redis_server import RedisServer

ROUNDS = 60
# Calls of tools, and the window: below every level, and compacted.
CASES = ((20, 200_000), (20, 8_000), (200, 1_000_000), (200, 32_000))


def _talk(rounds: int) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = [{"role": "system", "content": "You look after ships. " * 40}]
    for number in range(rounds):
        function = {"name": "look", "arguments": json.dumps({"ship": number, "deck": "lower"})}
        call = {"id": f"toolu_{number + 1}", "type": "function", "function": function}
        messages += [
            {"role": "user", "content": f"Where does ship {number} lie? Never guess. " + "Look again. " * 10},
            {"role": "assistant", "content": f"I look for ship {number}.", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": call["id"], "content": f"berth {number}, crane 4; " * 60},
            {"role": "assistant", "content": f"Ship {number} lies at berth {number}. " * 6},
        ]
    return [*messages, {"role": "user", "content": "And where does ship 1 lie?"}]


def _body(endpoint: EndpointName, messages: list[dict[str, Any]]) -> dict[str, Any]:
    if endpoint == "chat":
        return {"messages": messages, "max_tokens": 512}
    return to_anthropic(messages) if endpoint == "messages" else to_responses(messages)


async def _decide(runtime: Runtime, endpoint: EndpointName, body: dict[str, Any]) -> None:
    wire = read_conversation(endpoint, body)
    identity, caller = Identity(model=MODEL, endpoint=endpoint), Caller(MODEL)
    request = Request(
        wire.messages, wire.body, MODEL, tenant_of(AUTH), identity, caller, endpoint=endpoint, size=wire.size
    )
    decision = await runtime.compactor.compact(request)
    if decision.messages is not None:
        wire.write(decision.messages)


async def _least_seconds(
    calls: dict[EndpointName, Callable[[dict[str, Any]], Awaitable[object]]],
    bodies: dict[EndpointName, dict[str, Any]],
) -> dict[EndpointName, float]:
    """Return the CPU of a call by endpoint, on all threads; the endpoints take turns."""
    least = dict.fromkeys(calls, float("inf"))
    for _ in range(ROUNDS):
        for endpoint, call in calls.items():
            # A client sends JSON: what is read anew is hashed and counted anew.
            fresh = json.loads(json.dumps(bodies[endpoint]))
            started = time.process_time()
            await call(fresh)
            least[endpoint] = min(least[endpoint], time.process_time() - started)
    return least


async def _measure(rounds: int, window: int, redis_url: str) -> None:
    runtime, hook = build_hook(OneModel(window), redis_url)
    bodies = {endpoint: _body(endpoint, _talk(rounds)) for endpoint in CALL_TYPES}
    outcomes = {}
    for _ in range(3):
        for endpoint, body in bodies.items():
            call = await play_call(runtime, hook, endpoint, json.loads(json.dumps(body)))
            outcomes[endpoint] = call.outcome
    gc.freeze()
    decide = await _least_seconds({e: lambda b, e=e: _decide(runtime, e, b) for e in CALL_TYPES}, bodies)
    whole = await _least_seconds(
        {e: lambda b, e=e: play_call(runtime, hook, e, b) for e in CALL_TYPES}, bodies
    )
    await runtime.aclose()
    for endpoint in CALL_TYPES:
        ratios = (figures[endpoint] / figures["chat"] for figures in (decide, whole))
        print(
            f"{4 * rounds + 2:>5} messages  {outcomes[endpoint]:<10} {endpoint:<10}"
            f" decide {1e3 * decide[endpoint]:6.2f} ms {next(ratios):.2f} x chat"
            f"   whole {1e3 * whole[endpoint]:6.2f} ms {next(ratios):.2f} x chat"
        )


def main() -> None:
    """Print a line for each endpoint and conversation."""
    use_bundled_encodings()
    with RedisServer() as server:
        for rounds, window in CASES:
            asyncio.run(_measure(rounds, window, server.url))


if __name__ == "__main__":
    main()
