"""Clients that talk without end, each with a few conversations over and over.

The texts of a conversation are the same each time, so the caches of a proxy are full after the first round,
and what still grows then is a leak. Between two rounds a session expires, so that summaries are made anew.
"""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import httpx

from tests.faults.talks import TAG, Talk
from tests.lab import Answer, Client, Proxy, Reply, Seen
from tests.lab.endpoints import to_anthropic, to_responses

__all__ = ["DOORS", "KEYS", "MODEL", "TTL_SECONDS", "Talker", "answer"]

DOORS = ("chat", "stream", "chat", "messages", "responses", "kept", "leaver", "chat")
KEYS = {"chat": "sk-lab-chat", "kept": "sk-lab-kept"}
MODEL = "chat"
CHAT, MESSAGES, RESPONSES = "/v1/chat/completions", "/v1/messages", "/v1/responses"
# A client comes back to a conversation after longer than that.
TTL_SECONDS = 60
CONVERSATIONS = 3
TURNS_BEFORE = 19
MOST_MESSAGES = 55
# What a client thinks before it asks: as many as there are must not want more than two cores can give.
THINK_SECONDS = 3, 8
# They do not come all at once.
RAMP_SECONDS = 45
# Seconds after which a client leaves a call, at most; most calls take longer.
PATIENCE_SECONDS = 0.2


def answer(seen: Seen) -> Reply:
    """What the upstream answers: the tag that follows that of the question."""
    found = TAG.findall(seen.text)
    return Reply(text=f"{found[-1][0]}-{found[-1][1]}a Noted, and so be it." if found else "ok")


@dataclass(slots=True)
class Talker:
    """One client of several proxies.

    Attributes:
        counts: calls by what became of them, shared by all clients.
    """

    number: int
    proxies: Sequence[Proxy]
    counts: Counter[str]
    clients: list[Client] = field(default_factory=list)
    talk: Talk = field(default_factory=Talk)
    rounds: int = 0

    @property
    def door(self) -> str:
        """The endpoint that it uses, or how."""
        return DOORS[self.number % len(DOORS)]

    async def talk_on(self, ending: asyncio.Event, ramp: float = RAMP_SECONDS) -> None:
        """Ask and be answered until the end."""
        key = KEYS["kept" if self.door == "kept" else "chat"]
        self.clients = [Client(proxy, key, timeout=90) for proxy in self.proxies]
        self._begin()
        try:
            await wait(ending, random.uniform(0, ramp))
            while not ending.is_set():
                await self._turn()
                await wait(ending, random.uniform(*THINK_SECONDS))
        finally:
            for client in self.clients:
                await client.aclose()

    def _begin(self) -> None:
        number = self.rounds % CONVERSATIONS
        self.talk = Talk(mark=f"mk{self.number:04x}{number:04x}").fill(TURNS_BEFORE)
        self.rounds += 1

    async def _turn(self) -> None:
        talk = self.talk
        if len(talk.messages) > MOST_MESSAGES:
            self._begin()
            talk = self.talk
        talk.ask()
        client = random.choice(self.clients)
        try:
            got = await self._send(client)
        except httpx.HTTPError as error:
            self.counts[type(error).__name__] += 1
            talk.messages.pop()
            return
        if got is None:
            self.counts["left"] += 1
            talk.messages.pop()
            return
        self.counts[str(got.status)] += 1
        if got.status != 200:
            self._begin()
            return
        # The same answer in each round, whatever the upstream said.
        talk.answer("Noted, and so be it.")
        if self.door == "kept":
            talk.conversation = got.headers.get("x-conversation-id", "")
            talk.sent = len(talk.messages)

    async def _send(self, client: Client) -> Answer | None:
        talk = self.talk
        body: dict[str, Any] = {"model": MODEL, "messages": talk.messages}
        if self.door == "leaver":
            body["stream"] = random.random() < 0.5
            try:
                return await asyncio.wait_for(client.ask(CHAT, body), random.uniform(0, PATIENCE_SECONDS))
            except TimeoutError:
                return None
        if self.door == "stream":
            return await client.ask(CHAT, {**body, "stream": True})
        if self.door == "messages":
            return await client.ask(MESSAGES, {**to_anthropic(talk.messages), "model": MODEL})
        if self.door == "responses":
            return await client.ask(RESPONSES, {**to_responses(talk.messages), "model": MODEL})
        if self.door == "kept" and talk.conversation:
            body["messages"] = [talk.messages[0], *talk.messages[talk.sent :]]
            return await client.ask(CHAT, body, {"x-conversation-id": talk.conversation})
        return await client.ask(CHAT, body)


async def wait(ending: asyncio.Event, seconds: float) -> None:
    """Wait, but not beyond the end."""
    with suppress(TimeoutError):
        await asyncio.wait_for(ending.wait(), seconds)
