"""A client of the laboratory: one conversation after the other, through one door, with manners or without."""

from __future__ import annotations

import asyncio
import random
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import httpx

from tests.faults.account import Call
from tests.faults.talks import Talk
from tests.lab import Answer, Client
from tests.lab.endpoints import to_anthropic, to_responses

if TYPE_CHECKING:
    from tests.faults.laboratory import Laboratory, Member

__all__ = ["Manners", "Visitor"]

SECRET = re.compile(r"SECRET-\w+")
VERSION, IF_VERSION = "x-conversation-version", "x-conversation-if-version"
PATHS = {"messages": "/v1/messages", "responses": "/v1/responses"}
TURNS_BEFORE = 19
MOST_MESSAGES = 90
PLAIN_SHARE = 0.34
TIMEOUT_SECONDS = 45.0
BLOCKED = "FORBIDDEN-TOPIC"


@dataclass(frozen=True, slots=True)
class Manners:
    """How clients behave: the share of calls after or in which they do something, and words that they say.

    Attributes:
        leave: leave a stream after its first pieces, and send the call again at once.
        parallel: send the same call ten times at once.
        edit: write an earlier question anew.
        branch: go on with the same conversation in two ways.
        slide: drop the oldest messages.
        words: stand in every question.
        forbidden: say what a guardrail blocks.
        pause: seconds between two calls, at most.
    """

    leave: float = 0.0
    parallel: float = 0.0
    edit: float = 0.0
    branch: float = 0.0
    slide: float = 0.0
    words: str = ""
    forbidden: str = ""
    pause: float = 0.7


@dataclass(slots=True)
class Visitor:
    """One client; a context manager that closes its connections."""

    lab: Laboratory
    door: str
    clients: dict[str, Client] = field(default_factory=dict)
    talk: Talk = field(default_factory=Talk)
    generation: int = -1

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        for client in self.clients.values():
            await client.aclose()

    async def converse(self, ending: asyncio.Event) -> None:
        """Ask and be answered until the end."""
        while not ending.is_set():
            manners = self.lab.manners
            if self.generation != self.lab.generation or len(self.talk.messages) > MOST_MESSAGES:
                self._begin()
            if self.talk.messages[-1]["role"] != "user":
                self.talk.ask()
            await self._turn(manners)
            await asyncio.sleep(random.uniform(0.1, manners.pause))

    def _begin(self) -> None:
        self.generation = self.lab.generation
        self.talk = Talk(self.lab.manners.words).fill(TURNS_BEFORE)

    async def _turn(self, manners: Manners) -> None:
        """One question, in one of the ways that the manners know."""
        talk, chance = self.talk, random.random
        if manners.forbidden and chance() < 0.3:
            await self._say_what_is_forbidden(manners)
            return
        if self.door == "stream" and chance() < manners.leave:
            await self._call(talk, leave_after=1)
        if self.door == "chat" and chance() < manners.parallel:
            copies = [self._call(talk) for _ in range(9)]
            await asyncio.gather(*copies)
        if self.door == "chat" and chance() < manners.branch:
            other = talk.copy()
            other.number += 5000
            other.messages.pop()
            other.ask()
            await asyncio.gather(self._call(talk), self._call(other))
        call = await self._call(talk)
        text = text_of(self.door, call.answer) if call.is_answered and call.answer else ""
        if not text:
            await self._after_failure(call)
            return
        talk.answer(text)
        # Without a version nothing was kept: what the gateway does not have is sent again with the next call.
        if call.answer is not None and VERSION in call.answer.headers:
            talk.sent, talk.version = len(talk.messages), int(call.answer.headers[VERSION])
        await self._compare(call)
        if self.door != "kept":
            if chance() < manners.edit:
                talk.edit()
            if chance() < manners.slide and len(talk.messages) > 20:
                talk.slide()

    async def _say_what_is_forbidden(self, manners: Manners) -> None:
        """Say what a guardrail blocks; the client takes it back afterwards."""
        other = self.talk.copy()
        other.number += 9000
        other.messages.pop()
        other.words = f"{manners.forbidden} "
        other.ask()
        if self.door not in ("kept", "stream"):
            call = await self._call(other)
            call.excuse = "a guardrail blocks it"

    async def _after_failure(self, call: Call) -> None:
        """Wait a moment, and send it again; a kept conversation that is lost begins anew."""
        lost = call.answer is not None and call.answer.status in (404, 409) and self.door == "kept"
        told = str(call.answer.body) if call.answer else ""
        if lost and "conversation_busy" not in told:
            self._begin()
        await asyncio.sleep(0.3)

    async def _compare(self, call: Call) -> None:
        """Make some of the calls without the plugin too."""
        if self.lab.plain is None or self.door != "chat" or random.random() > PLAIN_SHARE:
            return
        client = self._client("plain", self.lab.plain.url, "chat")
        try:
            answer = await client.chat(self.lab.model, call.messages)
        except httpx.HTTPError:
            call.plain_failed = True
            return
        call.plain_failed = answer.status != 200
        call.plain_seconds = None if call.plain_failed else answer.seconds

    async def _call(self, talk: Talk, *, leave_after: int | None = None) -> Call:
        """One call through a proxy that can be reached."""
        member = self.lab.choose()
        call = Call(talk.tags[-1], expected(talk.messages), self.door, member.name)
        self.lab.calls.append(call)
        if leave_after is not None:
            call.excuse = "the client left"
        try:
            try:
                call.answer = await self._send(member, talk, leave_after)
            except (httpx.ReadError, httpx.RemoteProtocolError):
                # A server may close an idle connection just when it is used again: SDKs then ask once more.
                if not (member.is_reachable and member.proxy.is_running):
                    raise
                call.answer = await self._send(member, talk, leave_after)
        except httpx.HTTPError as error:
            call.error = repr(error)
            # Nobody answers a call in the middle of which its proxy is killed, with the plugin or without it.
            if not (member.is_reachable and member.proxy.is_running):
                call.excuse = "its proxy was killed"
        if self.door == "kept" and call.answer is not None and call.answer.status == 200:
            talk.conversation = call.answer.headers.get("x-conversation-id", talk.conversation)
        return call

    async def _send(self, member: Member, talk: Talk, leave_after: int | None) -> Answer:
        client = self._client(member.name, member.proxy.url, "kept" if self.door == "kept" else "chat")
        model = self.lab.model
        if self.door == "stream":
            return await client.stream(model, talk.messages, leave_after=leave_after)
        if self.door == "kept":
            headers = {"Idempotency-Key": talk.tags[-1]}
            if talk.conversation:
                # Where nobody knows whether the last exchange was kept, a call must not go on blindly.
                headers |= {"x-conversation-id": talk.conversation, IF_VERSION: str(talk.version)}
            new = [talk.messages[0], *talk.messages[talk.sent :]]
            return await client.chat(model, new, headers=headers)
        if self.door in PATHS:
            make = to_anthropic if self.door == "messages" else to_responses
            return await client.ask(PATHS[self.door], {**make(talk.messages), "model": model})
        return await client.chat(model, talk.messages)

    def _client(self, name: str, url: str, key: str) -> Client:
        # By address: a proxy that takes another one's place has its name.
        where = f"{name} {url}"
        if where not in self.clients:
            self.clients[where] = Client(url, self.lab.keys[key], timeout=TIMEOUT_SECONDS)
        return self.clients[where]


def expected(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Messages as the guardrail of the laboratory leaves them."""
    return [{**message, "content": SECRET.sub("[MASKED]", message["content"])} for message in messages]


def text_of(door: str, answer: Answer) -> str:
    """The text of an answer, in the form of its door."""
    body: dict[str, Any] = answer.body
    if door == "messages":
        return "".join(part.get("text") or "" for part in body.get("content") or ())
    if door == "responses":
        items = [item for item in body.get("output") or () if item.get("type") == "message"]
        return "".join(part.get("text") or "" for item in items for part in item["content"])
    # A stream that breaks ends with an error among its chunks.
    return "" if any("error" in chunk for chunk in answer.chunks) else answer.text
