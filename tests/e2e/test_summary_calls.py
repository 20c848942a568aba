"""The summariser's calls and an auto-router through a real proxy that routes by tags."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

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


@pytest.mark.parametrize(("model", "asked"), [("chat", "thinker"), ("asked-strictly", "strict")])
async def test_a_summary_is_made_and_used(proxy: Proxy, upstream: Upstream, model: str, asked: str) -> None:
    upstream.reset()
    upstream.scripts["gpt-4o-thinker"], upstream.scripts["gpt-4o-strict"] = thinking, refusing
    upstream.scripts[f"gpt-4o-{model}"] = Window(4_000)
    history = chat(marker(), 24)
    async with Client(proxy) as client:
        answer = await client.chat(model, history)
        assert answer.status == 200, answer.body
        await until(lambda: len(upstream.seen(f"gpt-4o-{asked}")) >= 2, "the summariser to be asked again")

        async def sends_the_summary() -> bool:
            return (await client.chat(model, history)).told("reason") == "model"

        for _ in range(100):
            if await sends_the_summary():
                break
        else:
            raise AssertionError("the summary is not used")
    assert "lanterns in the harbour" in upstream.seen(f"gpt-4o-{model}")[-1].text
    first, second = upstream.seen(f"gpt-4o-{asked}")[:2]
    assert first.body != second.body, "what was refused is not sent again as it was"


async def test_no_call_through_an_auto_router_is_refused(proxy: Proxy, upstream: Upstream) -> None:
    upstream.reset()
    upstream.scripts["gpt-4o-thinker"] = thinking
    upstream.scripts["gpt-4o-tier-small"], upstream.scripts["gpt-4o-tier-large"] = (
        Window(4_000),
        Window(16_000),
    )
    whole = chat(marker(), 40)
    async with Client(proxy) as client:
        for turn in range(14, 40, 2):
            answer = await client.chat("auto", whole[: 2 * turn])
            assert answer.status == 200, answer.body
    assert answer.outcome in ("applied", "fallback")
