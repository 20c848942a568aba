"""The proxies that the end-to-end tests share, and what they are configured with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tests.lab import Model, Proxy, RedisServer, Upstream
from tests.lab.proxy import proxy_config, start_all

__all__ = ["BAD", "LEASE_SECONDS", "REDIS_SECONDS", "TEAMS", "Fleet", "served"]

LEASE_SECONDS = 2
# A request's own deadline for Redis is tested elsewhere; a busy machine must not fail these tests.
REDIS_SECONDS = 1.0
SUMMARISER = "small"
# Ways in which a summariser fails.
BAD = (
    "failing",
    "limited",
    "empty",
    "only-tags",
    "cut-off",
    "refusing",
    "error-text",
    "tool-call",
    "not-json",
    "hanging",
)
# Each test has a bad summariser of its own: one that failed three times in a row is not asked for ten
# seconds, and the next test that needs it would wait in vain.
DOORS = ("chat", "messages", "responses")
BAD_SUMMARISERS = (
    *(f"{how}-{which}" for how in BAD for which in (*DOORS, "own")),
    *(f"{how}-{door}" for how in ("hanging-waits", "failing-back") for door in DOORS),
)
# LiteLLM falls back from these to another group; one for each door and policy, since a window is learnt.
SMALLER_FIRST = tuple(f"smaller-first-{door}{kind}" for door in DOORS for kind in ("", "-compacts"))
WINDOWS: Mapping[str, int | None] = {
    "chat-2k": 2000,
    "chat-4k": 4000,
    "support-6k": 6000,
    "chat-8k": 8000,
    "agent-16k": 16_000,
    "chat-100k": 100_000,
    "primary-12k": 12_000,
    "third-4k": 4000,
    "unguarded-12k": 12_000,
    "guarded-4k": 4000,
    "unknown-window": None,
    # Nothing refuses a call to it, so no window is learnt.
    "never-refused": None,
    # Of these the upstream takes 3,000 tokens, whatever is declared.
    "wrong-8k": 8_000,
    "wrong-200k": 200_000,
    "wrong-none": None,
    "wrong-claude": 200_000,
    **{f"wrong-{door}{kind}": 8_000 for door in ("messages", "responses") for kind in ("", "-claude")},
    **dict.fromkeys(SMALLER_FIRST, 8_000),
    "larger-next": 64_000,
    "doors-anthropic": 4000,
    "doors-chat": 4000,
    SUMMARISER: 64_000,
    **{f"small-{name}": 64_000 for name in BAD_SUMMARISERS},
}
POLICIES: Mapping[str, Any] = {
    "version": 1,
    "defaults": {
        "mode": "enforce",
        # One call is enough for an extract, and the next one for what a model writes in its place.
        "levels": {"aggressive": {"replace": "at_once"}},
        "summary": {"model": SUMMARISER, "timeout_seconds": 45},
    },
    "policies": [
        {"name": "watch", "match": {"team": "observe"}, "mode": "observe", "summary": {"model": None}},
        {"name": "none", "match": {"team": "off"}, "mode": "off"},
        {"name": "chat-only", "match": {"team": "chat-only"}, "endpoints": ["chat"]},
        {"name": "own", "match": {"team": "own"}, "summary": {"model": None, "share_prefix": True}},
        {"name": "compacts", "match": {"team": "compacts"}, "length_refusals": "compact"},
        {
            "name": "kept",
            "match": {"team": "kept*"},
            "conversation": {"keep": "gateway"},
            "storage": {"content": "full"},
        },
        {
            "name": "told",
            "match": {"team": "told"},
            "conversation": {"keep": "gateway", "stream_event": True},
            "storage": {"content": "full"},
        },
        {
            "name": "days",
            "match": {"team": "days"},
            "storage": {"content": "full"},
            "summary": {"model": "extractive"},
        },
        {"name": "modelless", "match": {"team": "extractive"}, "summary": {"model": "extractive"}},
        *(
            {
                "name": name,
                "match": {"team": name},
                "summary": {"model": f"small-{name}", "timeout_seconds": 1},
            }
            for name in BAD_SUMMARISERS
        ),
    ],
}
TEAMS: Mapping[str, Mapping[str, Any]] = {
    "sk-a-1": {"team_id": "team-a", "key_alias": "a-first"},
    "sk-a-2": {"team_id": "team-a", "key_alias": "a-second"},
    "sk-b-1": {"team_id": "team-b", "key_alias": "b-first"},
    "sk-observe": {"team_id": "observe"},
    "sk-off": {"team_id": "off"},
    "sk-chat-only": {"team_id": "chat-only"},
    "sk-own": {"team_id": "own"},
    "sk-compacts": {"team_id": "compacts"},
    "sk-kept": {"team_id": "kept"},
    "sk-kept-other": {"team_id": "kept-other"},
    "sk-told": {"team_id": "told"},
    "sk-days": {"team_id": "days"},
    "sk-extractive": {"team_id": "extractive"},
    **{f"sk-{name}": {"team_id": name} for name in BAD_SUMMARISERS},
    "sk-metadata-off": {"team_id": "team-m", "team_metadata": {"compaction": {"mode": "off"}}},
}
MASK: dict[str, Any] = {
    "guardrail_name": "mask",
    "litellm_params": {"guardrail": "lab_guard.Mask", "mode": "pre_call", "default_on": True},
}
# Only for the models that name it.
PRIVATE: dict[str, Any] = {
    "guardrail_name": "private",
    "litellm_params": {"guardrail": "lab_guard.MaskPrivate", "mode": "pre_call", "default_on": False},
}
# Deployments of other providers, which calls of other endpoints are translated for: what the upstream sees.
OTHER_PROVIDERS = {
    "doors-anthropic": "anthropic/claude-lab",
    "doors-chat": "hosted_vllm/vllm-lab",
    "wrong-claude": "anthropic/claude-wrong",
    "wrong-messages-claude": "anthropic/claude-wrong-messages",
    "wrong-responses-claude": "anthropic/claude-wrong-responses",
}
PARAMS: Mapping[str, Mapping[str, Any]] = {
    "guarded-4k": {"guardrails": ["private"]},
    **{name: {"model": model} for name, model in OTHER_PROVIDERS.items()},
}
BLOCK: dict[str, Any] = {
    "guardrail_name": "block",
    "litellm_params": {"guardrail": "lab_guard.Block", "mode": "pre_call", "default_on": True},
}
MEANWHILE: dict[str, Any] = {
    "guardrail_name": "meanwhile",
    "litellm_params": {"guardrail": "lab_guard.BlockMeanwhile", "mode": "during_call", "default_on": True},
}
PARALLEL_BLOCK: dict[str, Any] = {
    **BLOCK,
    "litellm_params": {**BLOCK["litellm_params"], "run_in_parallel": True},
}


def served(model: str) -> str:
    """The name by which the upstream knows a model of the fleet."""
    return OTHER_PROVIDERS.get(model, f"openai/gpt-4o-{model}").partition("/")[2]


@dataclass(frozen=True, slots=True)
class Fleet:
    """One proxy without the plugin and two replicas with it, on one Redis.

    The first replica has its guardrails in ``guardrails:``, the second masks with a callback that is listed
    behind the plugin and blocks with a guardrail that runs beside the others.
    """

    plain: Proxy
    first: Proxy
    other: Proxy

    @classmethod
    def build(cls, redis_server: RedisServer, upstream: Upstream) -> Fleet:
        """The proxies, not started."""
        settings: dict[str, Any] = {"redis_url": redis_server.url, "policies": POLICIES, "keys": TEAMS}
        settings["env"] = {
            "GATEWAY_COMPACTION_LEASE_SECONDS": str(LEASE_SECONDS),
            "GATEWAY_COMPACTION_REDIS_TIMEOUT_SECONDS": str(REDIS_SECONDS),
        }
        listed = _config(
            upstream, callbacks_before=["lab_counts.handler"], guardrails=[MASK, PRIVATE, BLOCK, MEANWHILE]
        )
        behind = _config(
            upstream,
            callbacks_after=["lab_guard.mask_logger"],
            guardrails=[PRIVATE, PARALLEL_BLOCK, MEANWHILE],
        )
        return cls(
            Proxy(
                _config(upstream, guardrails=[MASK, PRIVATE, BLOCK, MEANWHILE], plugin=False),
                name="plain",
                keys=TEAMS,
            ),
            Proxy(listed, name="first", **settings),
            Proxy(behind, name="second", **settings),
        )

    def start(self) -> None:
        """Start the plain proxy and the first replica; the second comes up meanwhile."""
        start_all([self.plain, self.first])
        self.other.spawn()

    def second(self) -> Proxy:
        """The second replica, started again if a test killed it."""
        return self.other.wait_ready() if self.other.pid else self.other.start()

    def stop(self) -> None:
        """End all and remove their directories."""
        for proxy in (self.plain, self.first, self.other):
            proxy.stop()
            proxy.remove()

    def logs(self) -> dict[str, str]:
        """The ends of their logs, for a failure's report."""
        return {proxy.name: proxy.tail() for proxy in (self.plain, self.first, self.other)}


def _config(upstream: Upstream, **settings: Any) -> dict[str, Any]:
    models = [Model(name, window, params=PARAMS.get(name, {})) for name, window in WINDOWS.items()]
    router = {
        "fallbacks": [{"primary-12k": ["third-4k"]}, {"unguarded-12k": ["guarded-4k"]}],
        "context_window_fallbacks": [{name: ["larger-next"]} for name in SMALLER_FIRST],
    }
    return proxy_config(models, upstream.url, custom_auth=True, router=router, **settings)
