"""A gateway in operation: its metrics beside LiteLLM's own, and a policy file that changes under it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.engine.histories import chat
from tests.lab import Client, Model, Proxy, Upstream, until
from tests.lab.proxy import MASTER_KEY, proxy_config

OBSERVE = "version: 1\ndefaults: {mode: observe, summary: {model: extractive}}\n"
ENFORCE = OBSERVE.replace("observe", "enforce")
LONG = chat(61)
WAIT = {"seconds": 60.0, "every": 0.5}


@pytest.fixture(scope="module")
def gateway(upstream: Upstream) -> Iterator[Proxy]:
    """One of its own: its policies change."""
    config = proxy_config(
        [Model("chat", 2_000), Model("doors", 2_000, params={"model": "together_ai/doors"})],
        upstream.url,
        callbacks_before=["prometheus"],
        litellm={"require_auth_for_metrics_endpoint": True},
    )
    target = f"{upstream.url}/v1/chat/completions"
    config["general_settings"]["pass_through_endpoints"] = [{"path": "/elsewhere", "target": target}]
    with Proxy(config, name="operated", policies=OBSERVE) as proxy:
        yield proxy


async def metrics(gateway: Proxy) -> dict[str, float]:
    """Our metrics at LiteLLM's route, summed over their labels."""
    async with httpx.AsyncClient(trust_env=False, follow_redirects=True) as client:
        answer = await client.get(
            f"{gateway.url}/metrics", headers={"Authorization": f"Bearer {MASTER_KEY}"}, timeout=30
        )
    assert answer.status_code == 200, answer.text
    found: dict[str, float] = {}
    for family in text_string_to_metric_families(answer.text):
        for sample in family.samples:
            found[sample.name] = found.get(sample.name, 0.0) + sample.value
    assert "litellm_requests_metric_total" in found or "litellm_proxy_total_requests_metric_total" in found
    return found


async def write(gateway: Proxy, text: str) -> None:
    await asyncio.to_thread((gateway.directory / "policies.yaml").write_text, text)


async def test_metrics_and_policies_while_it_runs(gateway: Proxy) -> None:
    async with Client(gateway) as client:
        assert (await client.chat("chat", LONG)).outcome == "observed"

        async def counted() -> dict[str, float] | None:
            found = await metrics(gateway)
            return found if found.get("gateway_compaction_tokens_before_total") else None

        found = await until(counted, "the call's tokens to be counted", **WAIT) or {}
        assert (
            found["gateway_compaction_requests_total"] == found["gateway_compaction_hook_seconds_count"] == 1
        )
        before = found["gateway_compaction_tokens_before_total"]
        assert 0 < found["gateway_compaction_tokens_after_total"] < before
        loaded = found["gateway_compaction_policy_loaded_timestamp_seconds"]
        assert loaded > 1_000_000_000

        await write(gateway, ENFORCE)

        async def rewritten() -> bool:
            return (await client.chat("chat", LONG)).outcome in ("fallback", "applied")

        await until(rewritten, "the new policies to be in force", **WAIT)

        await write(gateway, "version: 1\ndefaults: {mod: off}\n")

        async def told() -> bool:
            return (await metrics(gateway))["gateway_compaction_policy_problem"] == 1

        await until(told, "the bad file to be told", **WAIT)
        assert (await client.chat("chat", LONG)).outcome in ("fallback", "applied")
        assert (await metrics(gateway))["gateway_compaction_policy_loaded_timestamp_seconds"] > loaded
    log = gateway.log.read_text(errors="replace")
    assert log.count("the last good ones stay in force") == 1
    assert "defaults.mod: unknown key 'mod'. Did you mean 'mode'?" in log


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    ("door", "body"),
    [
        ("/v1/completions", {"prompt": "Hello"}),
        ("/elsewhere", {"messages": LONG}),
    ],
)
async def test_clients_of_doors_that_are_not_covered_are_told(
    gateway: Proxy, door: str, body: dict[str, object], stream: bool
) -> None:
    named = "pass-through" if door == "/elsewhere" else door
    name = f'gateway_compaction_uncovered_requests_total{{door="{named}"}}'
    before = await counted_calls(gateway, name)
    async with httpx.AsyncClient(base_url=gateway.url, trust_env=False, timeout=60) as client:
        answer = await client.post(
            door,
            json={"model": "doors", "stream": stream, **body},
            headers={"Authorization": f"Bearer {MASTER_KEY}"},
        )
    assert answer.status_code == 200, answer.text
    assert answer.headers["x-compaction"] == "uncovered" and named in answer.headers["x-compaction-reason"]
    assert await counted_calls(gateway, name) == before + 1


async def test_counting_tokens_is_no_call_of_a_conversation(gateway: Proxy) -> None:
    talk = [{"role": "user", "content": "word " * 30_000}]
    async with httpx.AsyncClient(base_url=gateway.url, trust_env=False, timeout=60) as client:
        answer = await client.post(
            "/v1/messages/count_tokens",
            json={"model": "doors", "messages": talk},
            headers={"Authorization": f"Bearer {MASTER_KEY}"},
        )
    assert answer.status_code == 200 and answer.json()["input_tokens"] >= 30_000, answer.text
    assert not [name for name in answer.headers if name.startswith("x-compaction")]


async def counted_calls(gateway: Proxy, name: str) -> float:
    """The value of one series at our own route, 0 where it is not there."""
    async with httpx.AsyncClient(base_url=gateway.url, trust_env=False) as client:
        answer = await client.get(
            "/compaction/metrics", headers={"Authorization": f"Bearer {MASTER_KEY}"}, timeout=30
        )
    lines = dict(line.rsplit(" ", 1) for line in answer.text.splitlines() if not line.startswith("#"))
    return float(lines.get(name, 0))
