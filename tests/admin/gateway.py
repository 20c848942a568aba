"""A real proxy with the demo model, and conversations that the OpenAI SDK sends it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from openai import AsyncOpenAI

from tests.lab import Proxy, grow
from tests.lab.proxy import MASTER_KEY

__all__ = ["KEYS", "converse", "converse_kept", "demo_gateway", "example"]

ROOT = Path(__file__).resolve().parents[2]
KEYS: dict[str, dict[str, Any]] = {
    "sk-support-1": {"team_id": "team-2b90", "team_alias": "support", "key_alias": "helpdesk"},
    "sk-research-1": {"team_id": "team-7c1f", "team_alias": "research", "key_alias": "ann-laptop"},
    "sk-legal-1": {"team_id": "team-99aa", "team_alias": "legal", "key_alias": "contracts"},
    "sk-sales-1": {"team_id": "team-5e11", "team_alias": "sales", "key_alias": "counter"},
}
POLICIES = {
    "version": 1,
    "defaults": {
        "mode": "enforce",
        "context_window": 4000,
        "output_reserve": 400,
        "summary": {"model": "demo", "max_tokens": 400},
        "storage": {"content": "full"},
    },
    "policies": [
        {"name": "only watch", "match": {"team": "legal"}, "mode": "observe"},
        {"name": "kept here", "match": {"team": "sales"}, "conversation": {"keep": "gateway"}},
        {"name": "research", "match": {"team": "research"}, "levels": {"medium": {"keep_last": 6}}},
    ],
}
CONFIG: dict[str, Any] = {
    "model_list": [
        {
            "model_name": "demo",
            "litellm_params": {
                "model": "demo/demo",
                "input_cost_per_token": 2.5e-6,
                "output_cost_per_token": 1e-5,
            },
            "model_info": {"max_input_tokens": 4000},
        }
    ],
    "litellm_settings": {
        "telemetry": False,
        "num_retries": 0,
        "callbacks": ["gateway_compaction.hook.handler"],
        "custom_provider_map": [
            {"provider": "demo", "custom_handler": "gateway_compaction.adapters.demo_model.demo"}
        ],
    },
    "router_settings": {"num_retries": 0, "disable_cooldowns": True},
    "general_settings": {"master_key": MASTER_KEY, "custom_auth": "lab_auth.authenticate"},
}


def demo_gateway(redis_url: str | None = None) -> Proxy:
    """The proxy, not started yet."""
    return Proxy(CONFIG, name="page", policies=POLICIES, redis_url=redis_url, keys=KEYS)


def example(about: str, length: int | None = None) -> list[dict[str, Any]]:
    """The conversation that the documentation uses; ``about`` makes it one of its own."""
    loaded: list[dict[str, Any]] = json.loads((ROOT / "docs/examples/support_chat.json").read_text())
    loaded[1]["content"] = f"{about}. {loaded[1]['content']}"
    return loaded[:length]


async def converse(
    proxy: Proxy,
    key: str,
    messages: Sequence[Mapping[str, Any]],
    label: str,
    *,
    pause: float = 0.3,
    begin: int = 0,
) -> None:
    """Send a conversation call by call, as a chat client does.

    Args:
        pause: seconds between calls, in which a summary may become ready.
        begin: leave out the calls with fewer messages.
    """
    async with AsyncOpenAI(base_url=f"{proxy.url}/v1", api_key=key, max_retries=0) as client:
        for history in grow(messages):
            if len(history) < begin:
                continue
            await client.chat.completions.create(
                model="demo",
                messages=list(history),  # type: ignore[arg-type]
                extra_headers={"x-session-id": label},
            )
            await asyncio.sleep(pause)


async def converse_kept(proxy: Proxy, messages: Sequence[Mapping[str, Any]]) -> str:
    """Say what a client says in a conversation, as one whose conversation the gateway keeps; its id."""
    conversation = ""
    async with AsyncOpenAI(base_url=f"{proxy.url}/v1", api_key="sk-sales-1", max_retries=0) as client:
        for message in messages:
            if message["role"] == "user":
                raw = await client.chat.completions.with_raw_response.create(
                    model="demo",
                    messages=[message],  # type: ignore[list-item]
                    extra_headers={"x-conversation-id": conversation} if conversation else {},
                )
                conversation = raw.headers["x-conversation-id"]
    return conversation
