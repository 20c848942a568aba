"""Playing conversations through one door to one kind of upstream."""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import httpx

from tests.lab import Answer, Client, Reply, Seen, Upstream
from tests.lab.counting import count_request
from tests.recorded.checks import PlayedCall, breaks_rules, find_faults, find_new_faults, is_same_epoch
from tests.recorded.material import Recording

__all__ = ["PATHS", "Account", "Lane"]

PATHS: Mapping[str, str] = {
    "chat": "/v1/chat/completions",
    "messages": "/v1/messages",
    "responses": "/v1/responses",
}
# Clients name conversations with it; here it names a call.
LABEL_HEADER = "x-litellm-session-id"


@dataclass(slots=True)
class Account:
    """What became of the calls of one lane.

    Attributes:
        sources: by set, how many conversations and how many of their calls were played.
        outcomes: by what the client was told.
        alike: untouched calls whose body was compared with LiteLLM's own.
        same: pairs of calls in one epoch whose prefixes were compared.
        left_alone: calls that go on as they came however long they are, for a reason that is documented.
        too_long: calls over the window whose least is over it too: they are sent as small as can be.
        refused: calls that LiteLLM refuses without the plugin too.
        only_compacted: calls that LiteLLM refuses without the plugin, and takes as they are compacted.
        accepted: the recordings of which no call was refused or left alone.
        faults: what must not be.
    """

    sources: dict[str, list[int]] = field(default_factory=dict)
    outcomes: Counter[str] = field(default_factory=Counter)
    alike: int = 0
    same: int = 0
    left_alone: int = 0
    too_long: int = 0
    refused: int = 0
    only_compacted: int = 0
    accepted: list[Recording] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    @property
    def calls(self) -> int:
        """How many were played."""
        return sum(self.outcomes.values()) + self.refused


class Lane:
    """One door and one upstream's models: what is played here is played call by call.

    Args:
        clients: of the proxy with the plugin, and of the one without it.
        model: the model group for a window, and the name by which the upstream knows it.
        settle: waits until what a call started is over.
        revive: starts a proxy that has ended by itself, and tells whether there was one.
    """

    def __init__(
        self,
        door: str,
        clients: tuple[Client, Client],
        upstream: Upstream,
        model: Callable[[int | None], tuple[str, str, int]],
        settle: Callable[[PlayedCall], Awaitable[None]] | None = None,
        revive: Callable[[], Awaitable[bool]] | None = None,
    ) -> None:
        self.door, self.account = door, Account()
        self._client, self._plain = clients
        self._upstream, self._model = upstream, model
        self._settle, self._revive = settle, revive
        self._arrived: list[Seen] = []
        self.calls: list[PlayedCall] = []

    async def play(self, recording: Recording) -> None:
        """Play one conversation; ``calls`` are its calls afterwards."""
        group, served, window = self._model(recording.window)
        self._upstream.scripts[served] = self._answer
        count = self.account.sources.setdefault(recording.source, [0, 0])
        count[0] += 1
        self.calls = []
        before = self.account.refused + self.account.left_alone
        for place, history in enumerate(recording.histories):
            body = {**recording.body(self.door, history), "model": group}
            if not body["input" if self.door == "responses" else "messages"]:
                continue
            if place % 2:
                body["stream"] = True
            count[1] += 1
            least = count_request(recording.least(self.door, history))
            where = f"{recording.name} call {place}"
            try:
                call = await self._call(body, least, window, where)
            except httpx.TransportError as error:
                if self._revive is None or not await self._revive():
                    self.account.faults.append(f"{where}: no answer, {error!r}")
                    continue
                call = await self._call(body, least, window, where)
            if call is not None:
                self._judge(call, where)
                if self._settle is not None:
                    await self._settle(call)
        if self.account.refused + self.account.left_alone == before:
            self.account.accepted.append(recording)

    def _answer(self, seen: Seen) -> Reply:
        self._arrived.append(seen)
        return Reply(text="Noted.")

    async def _ask(self, client: Client, body: Mapping[str, Any], label: str) -> tuple[Answer, list[Seen]]:
        self._arrived.clear()
        answer = await client.ask(PATHS[self.door], body, {LABEL_HEADER: label})
        arrived = [*self._arrived]
        # They are large, and nobody reads them a second time.
        self._upstream.requests.clear()
        return answer, arrived

    async def _call(self, body: Mapping[str, Any], least: int, window: int, where: str) -> PlayedCall | None:
        """Make one call; None where it is refused without the plugin too."""
        label = f"call-{uuid.uuid4().hex}"
        answer, arrived = await self._ask(self._client, body, label)
        call = None
        if answer.status == 200 and len(arrived) == 1:
            call = PlayedCall(body, least, answer, arrived[0], None, window, label, self._client.url)
            # The same call without the plugin is made where there is something to compare.
            if not (call.is_untouched or breaks_rules(call.seen)):
                return call
        told, plainly = await self._ask(self._plain, body, label)
        if call is not None and len(plainly) == 1:
            return replace(call, plain=plainly[0])
        if call is not None and not call.is_untouched and told.status != 200:
            # What LiteLLM itself does not take stood among what was left out.
            self.account.only_compacted += 1
            return call
        if answer.status == told.status and len(arrived) == len(plainly):
            self.account.refused += 1
            if not (answer.outcome and answer.told("reason")):
                self.account.faults.append(f"{where}: no header says what was done: {answer.status}")
            return None
        self.account.faults.append(
            f"{where}: {answer.status} with {len(arrived)} requests upstream, and without the plugin"
            f" {told.status} with {len(plainly)}: {str(answer.body)[:300]}"
        )
        return None

    def _judge(self, call: PlayedCall, where: str) -> None:
        account = self.account
        account.outcomes[str(call.answer.outcome)] += 1
        account.alike += call.is_untouched
        account.left_alone += call.is_left_alone
        account.too_long += call.is_too_long and call.seen.tokens > call.window
        account.faults += [f"{where}: {fault}" for fault in find_faults(call)]
        if self.calls:
            account.same += is_same_epoch(self.calls[-1], call)
            account.faults += [f"{where}: {fault}" for fault in find_new_faults(self.calls[-1], call)]
        self.calls.append(call)
