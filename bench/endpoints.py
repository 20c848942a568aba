"""CPU of the hook's work for one call, by endpoint, on the same conversation: read, decide, write.

Each conversation is an agent's. The process is warm, as in a gateway that has seen the call before; the
endpoints take turns, and of all rounds the least counts, since other work on the machine only adds to it.
Run: python -m bench.endpoints
"""

from __future__ import annotations

import asyncio
import json
import time
from typing import Any

from gateway_compaction.core.endpoints.read import read_conversation
from gateway_compaction.core.endpoints.wire import EndpointName
from gateway_compaction.core.policy.book import Identity
from gateway_compaction.engine.post_call import Ending
from gateway_compaction.engine.request import Request
from gateway_compaction.ports import Caller
from gateway_compaction.replay import FixedModels, NoSummarizer, build_replay_runtime
from gateway_compaction.runtime import Runtime, use_bundled_encodings
from tests.lab.endpoints import to_anthropic, to_responses
from tests.policy_books import book

MODEL, ROUNDS = "gpt-4o", 60
# Calls of tools, and the window: below every level, and compacted.
CASES = ((20, 200_000), (20, 8_000), (200, 1_000_000), (200, 32_000))
ENDPOINTS: tuple[EndpointName, ...] = ("chat", "messages", "responses")


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


async def _call(runtime: Runtime, endpoint: EndpointName, body: dict[str, Any], *, follow: bool) -> str:
    wire = read_conversation(endpoint, body)
    identity = Identity(model=MODEL, endpoint=endpoint)
    caller = Caller(MODEL)
    request = Request(
        wire.messages, wire.body, MODEL, "t" * 32, identity, caller, endpoint=endpoint, size=wire.size
    )
    decision = await runtime.compactor.compact(request)
    if decision.messages is not None:
        wire.write(decision.messages)
    if follow:
        runtime.post_call.follow(decision, Ending("answered"))
        await runtime.worker.drain(60.0)
    return decision.outcome


async def _measure(rounds: int, window: int) -> None:
    defaults = {"summary": {"model": "extractive"}}
    runtime = build_replay_runtime(FixedModels(window, MODEL), NoSummarizer(), book(defaults))
    bodies = {endpoint: _body(endpoint, _talk(rounds)) for endpoint in ENDPOINTS}
    outcomes = {}
    for endpoint, body in bodies.items():
        for _ in range(3):
            outcomes[endpoint] = await _call(runtime, endpoint, body, follow=True)
    least = dict.fromkeys(ENDPOINTS, float("inf"))
    for _ in range(ROUNDS):
        for endpoint, body in bodies.items():
            # A client sends JSON: what is read anew is hashed and counted anew.
            fresh = json.loads(json.dumps(body))
            started = time.process_time()
            await _call(runtime, endpoint, fresh, follow=False)
            least[endpoint] = min(least[endpoint], time.process_time() - started)
    await runtime.aclose()
    for endpoint in ENDPOINTS:
        ratio = least[endpoint] / least["chat"]
        print(
            f"{4 * rounds + 2:>5} messages  {outcomes[endpoint]:<10} {endpoint:<10}"
            f" {1e3 * least[endpoint]:7.2f} ms  {ratio:.2f} x chat"
        )


def main() -> None:
    """Print a line for each endpoint and conversation."""
    use_bundled_encodings()
    for rounds, window in CASES:
        asyncio.run(_measure(rounds, window))


if __name__ == "__main__":
    main()
