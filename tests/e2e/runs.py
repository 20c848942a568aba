"""Conversations sent call by call, and what must hold for every call."""

from __future__ import annotations

import json
import statistics
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import httpx

from tests.e2e.doors import PATHS, body_of
from tests.e2e.fleet import WINDOWS, served
from tests.lab import (
    Answer,
    Client,
    Message,
    RedisServer,
    Reply,
    Seen,
    Summariser,
    Upstream,
    Window,
    count_request,
    grow,
    until,
    violations,
)
from tests.lab.proxy import MASTER_KEY
from tests.lab.validity import preamble

__all__ = ["Call", "Stage", "can_fit", "check_calls", "lateness"]

FRAME = 60
SHORT_ANSWER = 16
# Clients name conversations with it; here it names a call.
LABEL_HEADER = "x-litellm-session-id"
MEDIUM = 0.88


@dataclass(frozen=True, slots=True)
class Call:
    """What the client sent, what the upstream got, and what came back.

    ``ready`` counts the summaries that had been asked for before the call. ``label`` is the call's own, and
    ``proxy`` the address of who served it.
    """

    history: list[Message]
    sent: Seen
    answer: Answer
    raw_tokens: int
    ready: int
    label: str
    proxy: str


@dataclass(frozen=True, slots=True)
class Stage:
    """One model of the fleet, watched: its upstream enforces its window.

    Histories are those of chats, whichever endpoint (``door``) they are sent through.
    """

    upstream: Upstream
    redis_server: RedisServer
    summariser: Summariser
    model: str
    door: str = "chat"

    @property
    def window(self) -> int:
        """The model's window."""
        window = WINDOWS[self.model]
        assert window is not None
        return window

    def at(self, messages: Sequence[Message], share: float, **body: Any) -> list[Message]:
        """The shortest history of a conversation that uses at least ``share`` of the window."""
        for history in grow(messages):
            if count_request({"messages": history, **body}) >= share * self.window:
                return history
        raise AssertionError(f"the conversation never uses {share:.0%} of {self.window}")

    def open(self, reply: Reply | None = None) -> None:
        """Have the upstream answer, and refuse what is over the window."""
        fixed = reply or Reply(text="Noted.")
        self.upstream.scripts[served(self.model)] = Window(self.window, lambda seen: fixed)

    async def ask(
        self,
        client: Client,
        history: Sequence[Message],
        *,
        stream: bool = False,
        headers: Mapping[str, str] | None = None,
        **body: Any,
    ) -> Answer:
        """One call through the door, whatever comes of it."""
        if self.door == "chat":
            send = client.stream if stream else client.chat
            return await send(self.model, history, headers=headers, **body)
        told = body_of(self.door, self.model, history, stream=stream)
        # A reserve for the answer would fill the window that tests measure shares of.
        reserve = {name: SHORT_ANSWER for name in told if name.startswith("max_")}
        return await client.ask(PATHS[self.door], {**told, **reserve, **body}, headers)

    async def call(
        self,
        client: Client,
        history: Sequence[Message],
        *,
        headers: Mapping[str, str] | None = None,
        **body: Any,
    ) -> Call:
        """One call that must be answered with 200 by exactly one upstream request."""
        before, ready = len(self.upstream.seen(served(self.model))), self.summariser.calls
        label = f"call-{uuid.uuid4().hex}"
        named = {**(headers or {}), LABEL_HEADER: label}
        answer = await self.ask(client, history, headers=named, **body)
        arrived = self.upstream.seen(served(self.model))[before:]
        assert answer.status == 200, (answer.status, answer.body, answer.headers.get("x-compaction"))
        assert len(arrived) == 1, f"{len(arrived)} upstream requests for one call"
        raw = count_request({"messages": list(history), **body})
        return Call(list(history), arrived[0], answer, raw, ready, label, client.url)

    async def settle(self, mark: str) -> None:
        """Wait until every summary that was asked for in a conversation is stored."""
        for seen in self.summariser.about(mark):
            text = self.summariser.mark(self.summariser.asked.index(seen) + 1)
            await until(partial(self._stored, text), f"{text} in Redis")

    def _stored(self, text: str) -> bool:
        return text in self.redis_server.text()

    async def at_rest(self, call: Call) -> None:
        """Wait until a call is on record and no summary of its session is under way.

        The call's label is recorded with its event, and its summary is queued before that.
        """
        session = call.answer.told("session")
        if session is None:
            return

        def recorded() -> bool:
            with self.redis_server.client() as redis:
                labels: Any = redis.hget(f"gwc:{{{session}}}:session", "labels")
                return call.label in json.loads(labels or "[]")

        async def over() -> bool:
            with self.redis_server.client() as redis:
                return await queued(call.proxy) == 0 and not redis.exists(f"gwc:{{{session}}}:claims")

        await until(recorded, "the call to be recorded")
        await until(over, "the call's summary to be stored")

    async def prepare(self, client: Client, history: Sequence[Message], mark: str, **body: Any) -> Call:
        """One call that starts a summary, and the wait until it is stored."""
        asked = len(self.summariser.about(mark))
        call = await self.call(client, history, **body)
        told = (call.answer.outcome, call.answer.told("reason"), call.raw_tokens)
        await until(
            lambda: len(self.summariser.about(mark)) > asked, f"a summary to be asked for after {told}"
        )
        await self.settle(mark)
        return call

    async def replay(
        self, client: Client, messages: Sequence[Message], mark: str, *, stride: int = 1, **body: Any
    ) -> list[Call]:
        """All calls of a conversation, in order; what was prepared is stored before the next one."""
        calls = []
        for history in grow(messages, stride=stride):
            calls.append(await self.call(client, history, **body))
            await self.at_rest(calls[-1])
            await self.settle(mark)
        return calls


async def queued(proxy: str) -> int:
    """How many summaries a proxy has waiting or under way."""
    async with httpx.AsyncClient(trust_env=False, timeout=10) as http:
        key = {"authorization": f"Bearer {MASTER_KEY}"}
        told = await http.get(f"{proxy}/compaction/health", headers=key)
    number: int = told.json()["process"]["queued"]
    return number


def can_fit(call: Call, window: int) -> bool:
    """Whether preamble, last user message and the last four messages fit, with the frame around them."""
    history = call.history
    start = max(0, len(history) - 4)
    while start and history[start].get("role") in ("tool", "function"):
        start -= 1
    kept = [*preamble(history), *history[start:]]
    users = [m for m in history if m.get("role") == "user"]
    if users and users[-1] not in history[start:]:
        kept.append(users[-1])
    rest = {k: v for k, v in call.sent.body.items() if k != "messages"}
    return count_request({**rest, "messages": kept}) + FRAME <= window


def check_calls(calls: Sequence[Call], window: int, summary: str | None = None) -> None:
    """Window, validity, a prefix that stays within an epoch; ``summary`` must be used once it is ready."""
    for number, call in enumerate(calls):
        told = dict(call.answer.headers)
        where = (
            f"call {number} ({len(call.history)} messages, raw {call.raw_tokens}): {told.get('x-compaction')}"
        )
        if can_fit(call, window):
            assert call.sent.tokens <= window, f"{where}: {call.sent.tokens} tokens sent to {window}"
        assert violations(call.sent.messages, call.history) == [], where
        if summary and call.raw_tokens > MEDIUM * window and call.ready:
            assert summary in call.sent.text, f"{where}: no prepared summary in what was sent"
    changed = breaks(calls)
    assert not changed, f"the prefix changed within an epoch: {changed}"
    epochs = sum(not _extends(a, b) for a, b in pairwise(calls))
    assert epochs <= len(calls) // 2, f"{epochs} cold prompt caches in {len(calls)} calls"


def breaks(calls: Sequence[Call]) -> list[str]:
    """Calls whose messages do not extend those of the call before, though the compaction is the same."""
    found = []
    for number, (a, b) in enumerate(pairwise(calls), 1):
        versions = [c.answer.told("version") for c in (a, b)]
        made_now = b.answer.outcome == "fallback"
        if versions[0] == versions[1] and not _extends(a, b) and not made_now:
            outcomes = [(c.answer.outcome, c.answer.told("reason")) for c in (a, b)]
            found.append(f"call {number}: version {versions[0]}, {outcomes}")
    return found


def _extends(a: Call, b: Call) -> bool:
    return b.sent.messages[: len(a.sent.messages)] == a.sent.messages


async def lateness(
    plain: Client, client: Client, stage: Stage, histories: Sequence[Sequence[Message]]
) -> tuple[float, float]:
    """How much later the second client is answered: by the median, and at worst, in seconds.

    The two are asked in turn, so that the machine's other work meets both.
    """
    without: list[float] = []
    with_plugin: list[float] = []
    for history in histories:
        for asked, seconds in ((plain, without), (client, with_plugin)):
            answer = await stage.ask(asked, history)
            assert answer.status == 200, (answer.status, answer.body)
            seconds.append(answer.seconds)
    usual = statistics.median(without)
    return statistics.median(with_plugin) - usual, max(with_plugin) - max(without)
