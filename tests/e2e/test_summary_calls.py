"""The summariser's calls and an auto-router through a real proxy that routes by tags."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.e2e.doors import EVERY_DOOR, PATHS, body_of
from tests.e2e.runs import SHORT_ANSWER
from tests.e2e.talks import chat, marker
from tests.lab import Client, Model, Proxy, Reply, Seen, Upstream, Window, until
from tests.lab.proxy import proxy_config

THOUGHTS = 1_500
"""Tokens that the model ``thinker`` thinks before it writes."""

TIERS = {"SIMPLE": "tier-small", "MEDIUM": "tier-small", "COMPLEX": "tier-large", "REASONING": "tier-large"}
ROUTER = {
    "model_name": "auto",
    "litellm_params": {
        "model": "auto_router/complexity_router",
        "complexity_router_config": {"tiers": TIERS, "context_compaction": False},
    },
}
POLICIES = {
    "version": 1,
    "defaults": {"mode": "enforce", "summary": {"model": "thinker"}},
    "policies": [{"name": "strict", "match": {"model": "asked-strictly"}, "summary": {"model": "strict"}}],
}


@pytest.fixture(scope="module")
def proxy(upstream: Upstream) -> Iterator[Proxy]:
    """One proxy for this page: none of its deployments has a tag, and it routes by tags."""
    models = [
        Model("chat", 4_000),
        Model("asked-strictly", 4_000),
        Model("thinker", 60_000),
        Model("strict", 60_000),
        Model("tier-small", 4_000),
        Model("tier-large", 16_000),
    ]
    config = proxy_config(models, upstream.url, router={"enable_tag_filtering": True})
    config["model_list"].append(ROUTER)
    with Proxy(config, name="summary-calls", policies=POLICIES) as running:
        yield running


def thinking(seen: Seen) -> Reply:
    """A model whose thoughts take up the room of a short answer."""
    if seen.body.get("max_tokens", 0) < THOUGHTS + 200:
        return Reply(text="", finish_reason="length")
    return Reply(text="<summary>They counted lanterns in the harbour.</summary>")


def refusing(seen: Seen) -> Reply:
    """A model that wants the newer name of a parameter."""
    if "max_tokens" in seen.body:
        return Reply.bad_request(
            "Unsupported parameter: 'max_tokens' is not supported with this model."
            " Use 'max_completion_tokens' instead."
        )
    return Reply(text="<summary>They counted lanterns in the harbour.</summary>")


@EVERY_DOOR
@pytest.mark.parametrize(("model", "asked"), [("chat", "thinker"), ("asked-strictly", "strict")])
async def test_a_summary_is_made_and_used(
    proxy: Proxy, upstream: Upstream, model: str, asked: str, door: str
) -> None:
    upstream.reset()
    upstream.scripts["gpt-4o-thinker"], upstream.scripts["gpt-4o-strict"] = thinking, refusing
    upstream.scripts[f"gpt-4o-{model}"] = Window(4_000)
    body = body_of(door, model, chat(marker(), 24), stream=False, reserve=SHORT_ANSWER)
    async with Client(proxy) as client:
        answer = await client.ask(PATHS[door], body)
        assert answer.status == 200, answer.body
        # What was learnt of the model by a call through the first door holds for all.
        times = 2 if door == "chat" else 1
        await until(lambda: len(upstream.seen(f"gpt-4o-{asked}")) >= times, "the summariser to be asked")

        async def sends_the_summary() -> bool:
            return (await client.ask(PATHS[door], body)).told("reason") == "model"

        for _ in range(100):
            if await sends_the_summary():
                break
        else:
            raise AssertionError("the summary is not used")
    assert "lanterns in the harbour" in upstream.seen(f"gpt-4o-{model}")[-1].text
    bodies = [seen.body for seen in upstream.seen(f"gpt-4o-{asked}")[:2]]
    assert door != "chat" or bodies[0] != bodies[1], "what was refused is not sent again as it was"


@EVERY_DOOR
async def test_no_call_through_an_auto_router_is_refused(proxy: Proxy, upstream: Upstream, door: str) -> None:
    upstream.reset()
    upstream.scripts["gpt-4o-thinker"] = thinking
    upstream.scripts["gpt-4o-tier-small"], upstream.scripts["gpt-4o-tier-large"] = (
        Window(4_000),
        Window(16_000),
    )
    whole = chat(marker(), 40)
    async with Client(proxy) as client:
        for turn in range(14, 40, 2):
            answer = await client.ask(PATHS[door], body_of(door, "auto", whole[: 2 * turn], stream=False))
            assert answer.status == 200, answer.body
    assert answer.outcome in ("applied", "fallback")
