"""A chat whose deployment LiteLLM asks through the Responses API: it is compacted before it is translated."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from tests.e2e.talks import chat
from tests.lab import Client, Model, Proxy, Upstream, count_request
from tests.lab.proxy import proxy_config

BRIDGED = Model("bridged", 2_000, params={"model": "openai/responses/gpt-4o-bridged"})
POLICIES = {"version": 1, "defaults": {"mode": "enforce", "summary": {"model": "extractive"}}}


@pytest.fixture(scope="module")
def proxy(upstream: Upstream) -> Iterator[Proxy]:
    """A proxy of its own, with one such deployment."""
    config = proxy_config([BRIDGED], upstream.url)
    with Proxy(config, name="bridged", policies=POLICIES) as proxy:
        yield proxy


@pytest.mark.parametrize("stream", [False, True])
async def test_it_gets_what_fits(proxy: Proxy, upstream: Upstream, stream: bool) -> None:
    told = chat(f"bridge {stream}", 40, words=60)
    async with Client(proxy) as client:
        answer = await (client.stream if stream else client.chat)(BRIDGED.name, told)
    assert answer.status == 200 and answer.outcome == "fallback", (answer.body, dict(answer.headers))
    [seen] = upstream.seen(containing=f"bridge {stream}")
    assert seen.path.endswith("/responses")
    sent = json.dumps(seen.body, ensure_ascii=False)
    assert told[-1]["content"] in sent and told[0]["content"] in sent
    assert (
        count_request({"messages": [{"role": "user", "content": sent}]})
        < 2_000
        < count_request({"messages": told})
    )
