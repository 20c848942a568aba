"""Recorded conversations sent call by call through the plugin's hook, always with the same outcome.

``scripts.record_behaviour`` writes down what comes of it. Nothing here depends on the time, on chance or on
what was played before: every run has a process and a store of its own, and summaries are made by rule.
"""

from __future__ import annotations

import asyncio
import gc
import hashlib
import json
import os
import sys
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import cache
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

# LiteLLM would fetch its tables when it is first imported; the copies it ships serve as well.
os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
os.environ["LITELLM_LOCAL_ANTHROPIC_BETA_HEADERS"] = "True"

import litellm
from litellm.exceptions import BadRequestError, ContextWindowExceededError
from litellm.integrations.custom_logger import CustomLogger
from litellm.proxy import proxy_server
from litellm.proxy._types import UserAPIKeyAuth
from litellm.router import Router
from litellm.types.utils import CallTypes

from gateway_compaction.adapters.litellm.models import ProxyModels
from gateway_compaction.adapters.policy_watcher import PolicySource
from gateway_compaction.core.policy.book import PolicyBook
from gateway_compaction.hook import CompactionHook
from gateway_compaction.ports import SummaryAnswer, SummaryRequest
from gateway_compaction.runtime import Runtime, build
from gateway_compaction.settings import Settings
from tests.cases.case import load

__all__ = ["Process", "Run", "calls_of", "digest", "process_for", "runs_of", "talks_in"]

ROOT = Path(__file__).resolve().parents[1]
SHIPPED = ROOT / "config" / "policies.yaml"
# Long conversations reach the limits of large windows; short ones would pass all of these untouched.
LONG_CHARS, LONG_WINDOWS, SHORT_WINDOWS = 40_000, (4_000, 16_000, 64_000), (500, 1_500, 4_000)
MOST_CALLS = 24
DRAIN_SECONDS = 60.0
SMALL = {"model": "small"}


@dataclass(frozen=True, slots=True)
class Policy:
    """What runs are made under: the shipped file where ``defaults`` is None, and for which team.

    With ``watched`` another callback stands behind the hook, so that the deployment hook decides.
    """

    defaults: Mapping[str, Any] | None
    team: str = "research"
    watched: bool = False


# Seven, so that conversations with three windows each come by all of them in turn.
POLICIES: Mapping[str, Policy] = {
    "shipped": Policy(None, "everybody"),
    "extractive": Policy({"summary": {"model": "extractive"}, "storage": {"content": "full"}}),
    "incremental": Policy({"preset": "incremental", "summary": SMALL}),
    "turns": Policy({"preset": "turns", "summary": SMALL}),
    "recall": Policy({"recall": {"max_tokens": 600}, "summary": SMALL, "storage": {"content": "full"}}),
    "shipped-agents": Policy(None, "agents", watched=True),
    "observe": Policy({"mode": "observe", "summary": SMALL, "recall": {"max_tokens": 0}}),
}


@dataclass(frozen=True, slots=True)
class Talk:
    """One recorded conversation; ``fields`` is the rest of its request."""

    source: str
    name: str
    messages: list[Any]
    fields: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Run:
    """One conversation played from its beginning under one policy with one window."""

    number: int
    talk: Talk
    window: int
    policy: str

    @property
    def names(self) -> dict[str, Any]:
        """What its line, and its part of a dump, are found by."""
        return {"file": self.talk.source, "id": self.talk.name, "window": self.window, "policy": self.policy}


class RuleSummarizer:
    """Answers by rule from what it is asked, so that every run gets the same summaries; or declines to."""

    def __init__(self) -> None:
        self.declines = False

    async def complete(self, request: SummaryRequest) -> SummaryAnswer:
        """See ``ports.Summarizer``."""
        if self.declines:
            return SummaryAnswer("I'm sorry, but I can't help with that.", "stop", request.model)
        shown = request.user.split("<transcript>", 1)[-1].split("</transcript>")[0]
        number = int(digest(request.system, request.user)[:8], 16)
        # Every other word from some place on, and at times an identifier that the source does not hold.
        told = " ".join(shown.split()[number % 3 :: 2])[: min(len(shown) // 3, request.max_tokens * 3)]
        if number % 4 == 0:
            told += f" TICKET-{number}"
        return SummaryAnswer(f"<summary>Until now: {told}</summary>", "stop", request.model, 0.001)


class Bystander(CustomLogger):
    """A callback of somebody else that reads requests before they are sent."""

    async def async_pre_call_hook(self, *args: Any, **kwargs: Any) -> None:
        """Change nothing."""


def digest(*values: Any) -> str:
    """Name values by their content; what is no JSON counts by its text."""
    text = json.dumps(values, sort_keys=True, ensure_ascii=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def talks_in(shared: Path) -> Iterator[Talk]:
    """Give every conversation of the recordings and of the cases, in a fixed order."""
    for path in sorted((shared / "data").glob("*.jsonl")):
        skipped = 0
        for line in path.read_text(encoding="utf-8").splitlines():
            record = json.loads(line)
            body = record.get("body") or record
            messages = body.get("messages") or body.get("input")
            if not isinstance(messages, list) or (
                "body" in record and not all(isinstance(m, dict) and "role" in m for m in messages)
            ):
                skipped += 1
                continue
            fields = {"tools": body["tools"]} if body.get("tools") else {}
            yield Talk(path.name, str(record["id"]), messages, fields)
        if skipped:
            print(f"{path.name}: {skipped} records skipped, which have no chat messages", file=sys.stderr)
    for path in sorted((shared / "cases").glob("cases*.jsonl")):
        for case in load(path):
            fields = {k: v for k, v in case.request.items() if k not in ("model", "stream")}
            yield Talk(path.name, case.name, list(case.messages), fields)


def runs_of(talks: Iterable[Talk]) -> list[Run]:
    """Rotate the policies over the conversations of each file until each policy has seen each file."""
    by_source: dict[str, list[Talk]] = {}
    for talk in talks:
        by_source.setdefault(talk.source, []).append(talk)
    runs: list[Run] = []
    names = list(POLICIES)
    for members in by_source.values():
        turn = count()
        played = 0
        while played < len(POLICIES):
            for talk in members:
                is_long = len(json.dumps(talk.messages)) > LONG_CHARS
                for window in LONG_WINDOWS if is_long else SHORT_WINDOWS:
                    runs.append(Run(len(runs), talk, window, names[next(turn) % len(names)]))
                    played += 1
    return runs


def calls_of(messages: list[Any]) -> list[int]:
    """Say how many messages each call has: up to a user's message or the last of several tool results.

    Of a long conversation the first calls are kept, some in a row from its middle, and the last ones.
    """
    roles = [m.get("role") if isinstance(m, dict) else None for m in messages]
    ends = [
        i
        for i, (role, following) in enumerate(zip(roles, [*roles[1:], None], strict=True), 1)
        if role == "user" or (role == "tool" and following != "tool")
    ]
    if messages and (not ends or ends[-1] != len(messages)):
        ends.append(len(messages))
    if len(ends) <= MOST_CALLS:
        return ends
    row = MOST_CALLS // 3
    middle = (len(ends) - row) // 2
    return [*ends[:row], *ends[middle : middle + row], *ends[-row:]]


@cache
def router_for(window: int) -> Router:
    """Make a router with one group for chats, whose second deployment is smaller, and one for summaries."""
    sizes = {"chat": window, "little": window * 3 // 5, "small": 128_000}
    # LiteLLM keeps a window for each model name, hence names of our own.
    return Router(
        model_list=[
            {
                "model_name": name,
                "litellm_params": {"model": f"openai/gpt-4o-{name}-{window}", "api_key": "sk-none"},
                "model_info": {"id": f"{name}-{window}", "max_input_tokens": size},
            }
            for name, size in sizes.items()
        ]
    )


class Process:
    """One process of a gateway for one run: the hook and its parts, in LiteLLM's place."""

    def __init__(self, run: Run, redis_url: str) -> None:
        self.run, self.policy = run, POLICIES[run.policy]
        self.summarizer = RuleSummarizer()
        models = ProxyModels(lambda: router_for(run.window))
        settings = Settings(redis_url=redis_url, redis_timeout_seconds=20.0)
        self.runtime: Runtime = build(settings, models, self.summarizer, policies_of(run.policy))
        self.hook = CompactionHook(self.runtime, models)
        self.auth = UserAPIKeyAuth(
            api_key=f"hash-{run.number}", key_alias=f"key-{run.number}", team_id=self.policy.team
        )

    async def call(self, messages: list[Any], number: int, *, refused: bool = False) -> dict[str, Any]:
        """Send one call with all the hooks that LiteLLM would call, and wait for what follows it."""
        run, details = self.run, SimpleNamespace(model_call_details={})
        headers = {"x-session-id": f"chat-{run.number}"} | (
            {"x-compaction": "off"} if number % 13 == 6 else {}
        )
        body = {"model": "chat", "messages": list(messages), **run.talk.fields}
        data: dict[str, Any] = {
            **body,
            "metadata": {},
            "proxy_server_request": {"headers": headers, "body": body},
            "litellm_logging_obj": details,
        }
        data = await self.hook.async_pre_call_hook(self.auth, None, data, "acompletion") or data
        upstream = (await self._deployed(data, "little" if number % 5 == 4 else "chat"))["messages"]
        told: Mapping[str, str] | None = None
        logged = dict(details.model_call_details)
        if refused:
            kind = ContextWindowExceededError if number % 2 else BadRequestError
            logged["exception"] = kind("refused", model="chat", llm_provider="openai")
            await self.hook.async_log_failure_event(logged, None, None, None)
        else:
            told = await self.hook.async_post_call_response_headers_hook(data, self.auth, "an answer")
            logged["cache_hit"] = number % 7 == 5
            logged["litellm_params"] = {"metadata": {"client_disconnected": number % 11 == 8}}
            # Providers count otherwise than we do: this is what corrects our count.
            usage = SimpleNamespace(prompt_tokens=len(json.dumps(upstream, default=str)) // 4)
            await self.hook.async_log_success_event(logged, SimpleNamespace(usage=usage), None, None)
        await self.settle()
        outcome = "refused" if refused else (told or {}).get("x-compaction")
        return {
            "messages": len(messages),
            "sent": len(upstream),
            "upstream": digest(upstream),
            "headers": digest(told),
            "outcome": outcome,
        }

    async def _deployed(self, data: dict[str, Any], group: str) -> dict[str, Any]:
        window = self.run.window
        kwargs = {
            **data,
            "model": f"openai/gpt-4o-{group}-{window}",
            "model_info": {"id": f"{group}-{window}"},
            "metadata": {**data["metadata"], "model_group": group},
        }
        for callback in litellm.callbacks:
            if isinstance(callback, CustomLogger):
                changed = await callback.async_pre_call_deployment_hook(kwargs, CallTypes.acompletion)
                kwargs = changed if changed is not None else kwargs
        return kwargs

    async def settle(self) -> None:
        """Wait for everything in the background, on threads too."""
        await self.runtime.worker.drain(DRAIN_SECONDS)
        for executor in self.runtime.executors:
            await asyncio.wrap_future(executor.submit(int))
        await self.runtime.worker.drain(DRAIN_SECONDS)


@cache
def policies_of(name: str) -> Callable[[], PolicyBook]:
    """Give the policies in force, as the runtime asks for them."""
    defaults = POLICIES[name].defaults
    if defaults is None:
        return PolicySource(SHIPPED)
    book = PolicyBook({"version": 1, "defaults": defaults}, "recorded")
    return lambda: book


@asynccontextmanager
async def process_for(run: Run, redis_url: str) -> AsyncIterator[Process]:
    """Let a process begin, with LiteLLM's list of callbacks set up for it, and end."""

    async def shutdown(*args: Any, **kwargs: Any) -> None:
        pass

    process = Process(run, redis_url)
    litellm.callbacks = [process.hook, Bystander()] if process.policy.watched else [process.hook]
    proxy_server.proxy_shutdown_event = shutdown
    try:
        yield process
    finally:
        await proxy_server.proxy_shutdown_event()
        await process.runtime.aclose()
        # The hook freezes what is there when it starts; here that would be the garbage of all runs.
        gc.unfreeze()
