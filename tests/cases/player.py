"""One pass of a case through the proxy: the calls, and waiting for what they start."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Mapping, Sequence
from typing import Any

import httpx

from gateway_compaction.adapters.redis.keys import session_keys
from tests.cases.evidence import Call, Evidence
from tests.cases.prepared import Pass, served
from tests.cases.scripts import MainModel, SummariserModel
from tests.cases.seeds import Lineage, known, put, tenants
from tests.cases.stage import Stage
from tests.lab import Answer, Proxy, Seen

__all__ = ["Player"]

Message = Mapping[str, Any]
EVENT_SECONDS, SETTLE_SECONDS, QUIET_SECONDS = 2.0, 20.0, 0.15
KEEP_LAST = 10


class Player:
    """Sends a case's requests for one pass, and keeps what is seen."""

    def __init__(self, stage: Stage, evidence: Evidence, run: Pass) -> None:
        self.stage, self.evidence, self.run = stage, evidence, run
        self.prepared, self.context = evidence.prepared, evidence.prepared.context
        self.messages = list(self.prepared.case.messages)
        self.proxy: Proxy = stage.first
        self.main = MainModel(always=self.context.main_failure)
        self.summariser = SummariserModel(run.summariser)
        self.has_store = True
        evidence.asked[run.number] = self.summariser.asked
        scripts = stage.upstream.scripts
        scripts[served(self.prepared.group)] = self.main
        scripts[served(self.prepared.summariser_group)] = self.summariser
        if self.prepared.fallback_group:
            scripts[served(self.prepared.fallback_group)] = MainModel()

    @property
    def team(self) -> str:
        """Whose requests these are, in the team's short name."""
        return self.context.team or ""

    @property
    def keep_last(self) -> int:
        """Messages that are kept."""
        return self.context.keep_last or KEEP_LAST

    async def seed(self) -> None:
        """Store the summaries that are there before the first request."""
        for stored in self.run.stored:
            name = stored.team if stored.team is not None else self.team
            covers: int | None = None
            for tenant in tenants(self.prepared.team(self.run.number, name), self.prepared.body):
                covers = await put(self.stage.store, tenant, self.messages, stored, self.keep_last)
            self.evidence.covered[self.run.number] = covers
            if covers is None:
                self.evidence.note("nothing of it can be covered, so nothing is stored")

    async def call(
        self,
        messages: Sequence[Message],
        *,
        judged: bool = True,
        name: str | None = None,
        proxy: Proxy | None = None,
        headers: Mapping[str, str] | None = None,
        leave_after: int | None = None,
        **extra: Any,
    ) -> Call:
        """One request of the client, with what reached the upstream."""
        key = self.prepared.key(self.run.number, self.team if name is None else name)
        client = self.stage.client(proxy or self.proxy, key)
        body = {**self.prepared.body, **extra}
        start = len(self.stage.upstream.requests)
        model, sent = self.prepared.group, list(messages)
        asked, began = dict(headers or {}, **self._probe_header()), time.monotonic()
        try:
            if body.pop("stream", False) or leave_after is not None:
                answer = await client.stream(model, sent, headers=asked, leave_after=leave_after, **body)
            else:
                answer = await client.chat(model, sent, headers=asked, **body)
        except httpx.HTTPError as error:
            # A proxy that does not answer is a finding, and the other cases still want to be played.
            answer = Answer(0, {"text": repr(error)}, {}, time.monotonic() - began)
        first = not any(c.judged and c.number == self.run.number for c in self.evidence.calls)
        upstream = self._arrived(start, sent)
        call = Call(sent, body, answer, upstream, self.run.number, began, judged, first)
        self.evidence.calls.append(call)
        return call

    async def settle(self, messages: Sequence[Message] | None = None, *, name: str | None = None) -> None:
        """Wait until what a request started in the background is done."""
        if not self.has_store:
            await asyncio.sleep(2 * QUIET_SECONDS)
            return
        team = self.prepared.team(self.run.number, self.team if name is None else name)
        lineages = [Lineage.of(t, messages or self.messages) for t in tenants(team, self.prepared.body)]
        await self._recorded(lineages)
        deadline, since, before = time.monotonic() + SETTLE_SECONDS, time.monotonic(), self._progress()
        while time.monotonic() < deadline and time.monotonic() - since < QUIET_SECONDS:
            buffers = [await known(self.stage.store, lineage) for lineage in lineages]
            if any(b.in_flight for b in buffers) or self._progress() != before:
                since, before = time.monotonic(), self._progress()
            await asyncio.sleep(0.02)

    def events(self, lineage: Lineage) -> list[dict[str, Any]]:
        """The events that are stored of a conversation, the newest first."""
        with self.stage.redis.client() as client:
            found = client.lrange(session_keys(lineage.session, "events")[0], 0, -1)
        return [json.loads(str(text)) for text in found]

    async def finish(self) -> None:
        """Keep what is stored of each conversation at the end."""
        if self.has_store:
            for index, call in enumerate(self.evidence.calls):
                if call.judged and call.number == self.run.number and index not in self.evidence.records:
                    self.evidence.records[index] = await self._records(call)
            self._look_at_the_store()
        self.summariser.closed = True
        self.summariser.held.clear()
        self.stage.upstream.release()

    def _look_at_the_store(self) -> None:
        facts, mine = self.evidence.facts, [c for c in self.evidence.calls if c.number == self.run.number]
        if any(check.startswith("redis_keys") for check in self.prepared.case.checks):
            with self.stage.redis.client() as client:
                facts["keys"] = sorted({*facts.get("keys", ()), *map(str, client.scan_iter(count=1000))})
        facts["refused by the cluster"] = "CROSSSLOT" in self.stage.logs()
        counted = [c for c in mine if c.judged and c.answer.headers.get("x-compaction-session")]
        counted = [c for c in counted if not c.body.get("no-log")]
        recorded, expected = facts.get("request events", (0, 0))
        if counted:
            lineages = [
                Lineage.of(tenant, counted[0].sent)
                for tenant in tenants(self.prepared.team(self.run.number, self.team), self.prepared.body)
            ]
            events = [e for lineage in lineages for e in self.events(lineage) if e.get("type") == "request"]
            recorded, expected = recorded + len(events), expected + len(counted)
        facts["request events"] = recorded, expected

    async def _records(self, call: Call) -> tuple[Any, ...]:
        team = self.prepared.team(self.run.number, self.team)
        found = [
            await known(self.stage.store, Lineage.of(tenant, call.sent))
            for tenant in tenants(team, self.prepared.body)
        ]
        return tuple(record for buffer in found for record in buffer.compactions)

    def _arrived(self, start: int, sent: Sequence[Message]) -> list[Seen]:
        groups = {self.prepared.group, self.prepared.fallback_group} - {None}
        mine = {served(str(group)) for group in groups}
        arrived = [s for s in self.stage.upstream.requests[start:] if s.model in mine]
        # Of simultaneous requests, those that end as this one does.
        ending = [
            s for s in arrived if s.messages and s.messages[-1].get("content") == sent[-1].get("content")
        ]
        return ending or arrived

    def _probe_header(self) -> dict[str, str]:
        probes = list(self.context.probes)
        if "input_not_mutated" in self.prepared.case.checks:
            probes.append("watch")
        return {"x-case-probe": " ".join(probes)} if probes else {}

    def _progress(self) -> int:
        return len(self.summariser.asked)

    async def _recorded(self, lineages: Sequence[Lineage]) -> None:
        """Wait for the event of the last call: with it the summary it asks for was submitted."""
        last = next((c for c in reversed(self.evidence.calls) if c.number == self.run.number), None)
        if (
            last is None
            or last.answer.headers.get("x-compaction-session") is None
            or last.answer.outcome == "bypassed"
        ):
            return
        deadline = time.monotonic() + (0.5 if last.body.get("no-log") else EVENT_SECONDS)
        key = last.answer.headers["x-compaction-session"]
        mine = [c for c in self.evidence.calls if c.answer.headers.get("x-compaction-session") == key]
        calls = len([c for c in mine if c.number == self.run.number])
        while time.monotonic() < deadline:
            found = [sum(e.get("type") == "request" for e in self.events(lineage)) for lineage in lineages]
            if sum(found) >= calls:
                return
            await asyncio.sleep(0.02)
