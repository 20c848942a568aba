"""Stored summaries, written with the product's own store, and what the store knows of a conversation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from gateway_compaction.adapters.redis.store import RedisStore
from gateway_compaction.call_state import tenant_of
from gateway_compaction.core.conversation.digest import OPENING, build_digest_chain, digest_message
from gateway_compaction.core.conversation.transcript import Transcript, parse_transcript
from gateway_compaction.core.records.compaction import Compaction, Segment, SessionRef
from gateway_compaction.ports import Buffer
from tests.cases.case_situation import Stored
from tests.cases.scripts import filler

__all__ = ["Lineage", "covering", "known", "put", "tenants"]

TTL, LIMIT = 3600.0, 100
SHORT = "SUM-STUB the earlier part was settled."
Message = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Lineage:
    """The names that a conversation of a tenant goes by."""

    transcript: Transcript
    chain: tuple[str, ...]
    session: SessionRef

    @classmethod
    def of(cls, tenant: str, messages: Sequence[Message]) -> Lineage:
        """The names of these messages."""
        transcript = parse_transcript(messages)
        names = build_digest_chain(digest_message(m) for m in transcript.history)
        return cls(transcript, names, SessionRef(tenant, names[min(OPENING, len(transcript.history))]))


def tenants(team: str, body: Mapping[str, Any]) -> list[str]:
    """The tenants a request of a team may belong to: an end user that it names narrows it."""
    users = [None, *([body["user"]] if body.get("user") else [])]
    return [tenant_of(SimpleNamespace(team_id=team, end_user_id=user)) for user in users]


def covering(transcript: Transcript, stored: Stored, keep_last: int) -> int | None:
    """How many messages after the preamble a stored summary stands for, None where none can be covered."""
    if stored.turns is not None:
        starts = [i for i, m in enumerate(transcript.history) if m["role"] == "user"]
        cut = starts[stored.turns] if stored.turns < len(starts) else len(transcript.history)
        return cut if cut in transcript.cuts else None
    fitting = [cut for cut in transcript.cuts if cut <= len(transcript.history) - keep_last]
    return fitting[-1] if fitting else None


async def put(
    store: RedisStore, tenant: str, messages: Sequence[Message], stored: Stored, keep_last: int
) -> int | None:
    """Store a summary; returns what it covers, None where nothing could be stored."""
    told = list(messages)
    if stored.edited is not None:
        first = next(i for i, m in enumerate(told) if m["role"] == "user")
        told[first] = {**told[first], "content": f"I want {stored.edited}, as I said before."}
    lineage = Lineage.of(tenant, told)
    covers = covering(lineage.transcript, stored, keep_last)
    if covers is None:
        return None
    text = filler(stored.words) if stored.words else stored.text or SHORT
    if text == stored.text and len(text.split()) == 1:
        text = f"{text} the earlier part was settled."
    record = Compaction(lineage.chain[covers], covers, "model", (Segment(0, covers, text),))
    sessions = {lineage.session}
    if stored.edited is not None:
        # In the request's own session as well: only the digest can tell that it is another history.
        sessions.add(Lineage.of(tenant, messages).session)
    for session in sessions:
        await store.put(session, record, token=None, ttl=TTL, limit=LIMIT)
    return covers


async def known(store: RedisStore, lineage: Lineage) -> Buffer:
    """What the store holds of a conversation, and what is being summarised of it."""
    return await store.load(lineage.session, lineage.chain)
