"""Recorded conversations in the forms of Messages and Responses, call by call through the hook itself."""

from __future__ import annotations

import copy
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from types import SimpleNamespace
from typing import Any

import pytest
from litellm.proxy._types import UserAPIKeyAuth

from gateway_compaction.call_state import KEY, CallState
from gateway_compaction.engine.request import Planned
from tests.engine.host import Host
from tests.lab.counting import count_request
from tests.lab.data import load
from tests.lab.endpoints import anthropic_violations, responses_violations, to_anthropic, to_responses

WINDOW = 6_000
# Of a long conversation so many pairs of neighbouring calls are sent, the last two among them.
MOST_PAIRS = 2
CHAT_FILES = (
    "beam_100k", "coding_agents_tools", "dialogstudio", "korean", "locomo", "mt_bench_101",
    "multilingual_short", "swe_mini_agent", "swe_mini_agent_tools", "tau_bench_airline",
)  # fmt: skip
CALL_TYPES = {"messages": "anthropic_messages", "responses": "aresponses"}
FIELDS = {"messages": "messages", "responses": "input"}
WRITERS = {"messages": to_anthropic, "responses": to_responses}
KEPT = {"messages": "anthropic_bodies", "responses": "responses_bodies"}
BOTH = ["messages", "responses"]


async def sent_through(host: Host, endpoint: str, body: dict[str, Any]) -> tuple[CallState, dict[str, Any]]:
    """One whole call through the hook: what the hooks share, and the body that goes on."""
    logging = SimpleNamespace(model_call_details={})
    auth = UserAPIKeyAuth(api_key="hash", team_id="research")
    data = {**body, "model": "chat", "litellm_metadata": {}, "litellm_logging_obj": logging}
    await host.hook.async_pre_call_hook(auth, None, data, CALL_TYPES[endpoint])
    state = logging.model_call_details[KEY]
    headers = await host.hook.async_post_call_response_headers_hook(data, auth, "an answer")
    assert headers and headers["x-compaction"] not in ("failed", ""), headers
    assert headers["x-compaction-reason"], headers
    usage = SimpleNamespace(usage=SimpleNamespace(prompt_tokens=None))
    await host.hook.async_log_success_event(dict(logging.model_call_details), usage, None, None)
    await host.runtime.worker.drain(20.0)
    return state, {name: data[name] for name in body}


def kinds_of(endpoint: str, body: Mapping[str, Any]) -> Counter[str]:
    """The rules that a body breaks, each as often as it does."""
    found = anthropic_violations(body) if endpoint == "messages" else responses_violations(body)
    return Counter(item.partition(": ")[2].partition(" (")[0] for item in found)


def histories(messages: list[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    """Some of the calls that made a conversation, in order."""
    ends = [i for i, m in enumerate(messages) if m["role"] == "assistant" and i] or [len(messages)]
    step = max(2, -(-len(ends) // MOST_PAIRS))
    lasts = range(len(ends) - 1, -1, -step)
    yield from (messages[: ends[i]] for i in sorted({j for i in lasts for j in (i - 1, i) if j >= 0}))


def used_by(state: CallState) -> tuple[Any, ...] | None:
    """What stands for the beginning of the conversation, while an epoch lasts."""
    decision = state.decision
    if not isinstance(decision, Planned) or decision.used is None:
        return None
    used = decision.used
    return used.digest, used.kind, used.text, used.clip


def check(endpoint: str, state: CallState, body: dict[str, Any], sent: dict[str, Any], told: str) -> None:
    """What must hold of each call."""
    decision = state.decision
    assert decision is not None
    newly = kinds_of(endpoint, sent) - kinds_of(endpoint, body)
    assert not newly, (told, newly)
    assert "_origin" not in json.dumps(sent)
    if decision.level in (None, "light") and decision.messages is None:
        assert sent == body, told
    if isinstance(decision, Planned) and decision.messages is not None:
        last = body[FIELDS[endpoint]][-1]
        assert count_request(sent) < count_request(body), told
        # What cannot be left out may be too long alone: the instructions, the question and what answers it.
        if decision.tokens_after <= WINDOW:
            assert count_request(sent) <= WINDOW, told
        else:
            assert "does not fit" in decision.reason or decision.level == "aggressive", told
        assert json.dumps(last)[-40:] in json.dumps(sent) or decision.level == "aggressive", told


@pytest.mark.parametrize("endpoint", BOTH)
@pytest.mark.parametrize("name", CHAT_FILES)
async def test_recorded_conversations(hosts: Callable[..., Host], name: str, endpoint: str) -> None:
    host = hosts(context_window=WINDOW)
    rewritten = same_epoch = 0
    for record in load(name):
        before: tuple[Any, list[Any]] | None = None
        for history in histories(record["messages"]):
            body = WRITERS[endpoint](history)
            if not body[FIELDS[endpoint]]:
                continue
            came = copy.deepcopy(body)
            state, sent = await sent_through(host, endpoint, body)
            assert body == came, "a client's message was changed in place"
            check(endpoint, state, body, sent, f"{record['id']} {len(history)}")
            used, items = used_by(state), sent[FIELDS[endpoint]]
            rewritten += used is not None
            if before is not None and used is not None and used == before[0]:
                same_epoch += 1
                # The last message may have grown since: results are joined to it.
                kept = before[1][:-1]
                assert json.dumps(items[: len(kept)]) == json.dumps(kept), record["id"]
            before = used, items
    lengths = [count_request({"messages": record["messages"]}) for record in load(name)]
    assert bool(rewritten) == bool(same_epoch)
    assert rewritten or max(lengths) < WINDOW


@pytest.mark.parametrize("endpoint", BOTH)
async def test_recorded_bodies(hosts: Callable[..., Host], endpoint: str) -> None:
    host = hosts(context_window=WINDOW)
    for record in load(KEPT[endpoint]):
        body = record["body"]
        came = copy.deepcopy(body)
        state, sent = await sent_through(host, endpoint, {k: v for k, v in body.items() if k != "model"})
        assert body == came
        if isinstance(body[FIELDS[endpoint]], list):
            check(endpoint, state, {k: v for k, v in body.items() if k != "model"}, sent, record["id"])
