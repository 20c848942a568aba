"""Storing a session that was exported: whose it becomes, its keys, and its places in the indexes."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any

from gateway_compaction.adapters.redis.codec import (
    milliseconds,
    script,
    session_keys,
    short_text,
    texts_in,
    written_event,
)
from gateway_compaction.adapters.redis.hours import owners_of
from gateway_compaction.adapters.redis.index import PARTS, indexing, owner_facts, owner_key, row_of_now
from gateway_compaction.adapters.redis.store import StoreCalls
from gateway_compaction.adapters.redis.transfer import Document, arguments, read_document
from gateway_compaction.archive import Owner, Scope
from gateway_compaction.core.records.compaction import SessionRef
from gateway_compaction.core.records.event import CompactionEvent
from gateway_compaction.errors import NotThere, Refused

__all__ = ["NO_TENANT", "import_session"]

IMPORT = script("import")
STORED = 1
OF_A_KEY = ("user_id", "key_hash", "key_alias")
NO_TENANT = "There is no such tenant, or it is not yours to see"


async def import_session(
    store: StoreCalls, scope: Scope, document: Mapping[str, Any], event: CompactionEvent, seconds: float
) -> SessionRef:
    """Store a document as a session; ``event`` tells of it.

    Raises:
        BadDocument: it is no exported session.
        NotThere: its tenant is not in scope.
        Refused: there is a session of this name already.
    """
    read = await asyncio.to_thread(read_document, document)
    session = read.ref
    owner, said = await _owner(store, scope, read, seconds)
    facts = owner_facts(owner)
    known = await asyncio.to_thread(arguments, read, facts, said, trusted=scope.everything)
    keys, args = session_keys(session, *PARTS), [milliseconds(read.ttl), written_event(event), *known]
    if await store.run(IMPORT, keys, args, seconds) != STORED:
        raise Refused("There is a session of this name already; forget it first")
    labels = [short_text(label) for label in texts_in(read.fields.get("labels", ""))]
    [row] = await store.send(row_of_now(session), seconds=seconds)
    # What has but a moment to live may have expired by now: then there is nothing to be found.
    if row:
        commands = indexing(session, row, read.ttl, labels=labels, facts=facts, counts={}, model="")
        await store.send(*commands, seconds=seconds)
    return session


async def _owner(
    store: StoreCalls, scope: Scope, document: Document, seconds: float
) -> tuple[Mapping[str, str], Mapping[str, str]]:
    """Whose the session will be: as the document says for who sees everything, else as the store knows it.

    Second, what the document says of the key that made it, where only a call of that key can prove it.
    """
    if scope.everything:
        return {str(name): value for name, value in document.owner.items()}, {}
    [known] = await owners_of(store, [document.tenant], seconds)
    if known == Owner() and scope.home is not None and scope.home[0] == document.tenant:
        # Nothing is left of their own tenant: its name alone, which is theirs, tells whose it is.
        known = scope.home[1]
    if not scope.allows(known):
        raise NotThere(NO_TENANT)
    said: Mapping[str, str] = {}
    if known.team_id in scope.teams:
        known, said = await _made_by(store, document, known, seconds)
    return {name: value or "" for name, value in asdict(known).items()}, said


async def _made_by(
    store: StoreCalls, document: Document, known: Owner, seconds: float
) -> tuple[Owner, Mapping[str, str]]:
    """The owner of a team's session, with the key that the document names, where that is one of the tenant's.

    A key sees what bears its name, so a document alone gives nobody sight of anything: this store must have
    seen calls of that key in this tenant. Else the session is the team's and no key's, until the first call
    of the conversation; if that is the named key's, and only then, the session is.
    """
    said = {name: document.owner[name] for name in OF_A_KEY if document.owner.get(name)}
    name, team = said.get("key_hash"), replace(known, user_id=None, key_hash=None, key_alias=None)
    if name is None:
        return team, {}
    if name == known.key_hash:
        return known, {}
    [called] = await store.send(("ZSCORE", owner_key("key", name), document.tenant), seconds=seconds)
    if called is None:
        return team, said
    # Only the hash is proven: what that key is called, and whose it is, its next call tells.
    return replace(team, key_hash=name), {n: value for n, value in said.items() if n != "key_hash"}
