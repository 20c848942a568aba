"""Storing a session that was exported: whose it becomes, its keys, and its places in the indexes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from functools import partial
from typing import Any

from gateway_compaction.adapters.redis.codec import (
    decode_texts,
    encode_event,
    encode_text,
    to_milliseconds,
)
from gateway_compaction.adapters.redis.connection import RedisConnection
from gateway_compaction.adapters.redis.hours import fetch_owners
from gateway_compaction.adapters.redis.index import (
    IndexedCall,
    build_indexing,
    build_row_query,
    encode_owner,
)
from gateway_compaction.adapters.redis.index_writer import IndexWriter, read_revision
from gateway_compaction.adapters.redis.keys import SESSION_KEYS, SESSION_PARTS, owner_key, session_keys
from gateway_compaction.adapters.redis.masking import LABELS, mask_field
from gateway_compaction.adapters.redis.scripts import load_script
from gateway_compaction.adapters.redis.sealing import seal_items
from gateway_compaction.adapters.redis.transfer import Document, build_import_items, read_document
from gateway_compaction.archive import Owner, Scope
from gateway_compaction.core.records.compaction import SessionRef
from gateway_compaction.core.records.event import CompactionEvent
from gateway_compaction.core.redaction.detector import Detector
from gateway_compaction.errors import ActionRefused, NotFound

IMPORT = load_script("import")

# The answer of ``import.lua`` where there was no session of this name.
STORED = 1

# Fields of an owner that are an API key's, not its team's.
KEY_FIELDS = ("user_id", "key_hash", "key_alias")

FindDetector = Callable[[Mapping[str, str], str], Detector]
"""Tells what finds the secrets that the policy of an owner's calls of a model masks."""

NO_TENANT = "There is no such tenant, or it is not yours to see"


async def import_session(
    connection: RedisConnection,
    scope: Scope,
    document: Mapping[str, Any],
    event: CompactionEvent,
    find_detector: FindDetector,
) -> SessionRef:
    """Store a document as a session, with an audit event that tells of it.

    Args:
        find_detector: tells what is masked of an owner's calls of a model.

    Raises:
        InvalidDocument: it is no exported session.
        NotFound: its tenant is not in scope.
        ActionRefused: there is a session of this name already.
    """
    checked = await asyncio.to_thread(read_document, document)
    session = checked.ref
    names, unproven = await _find_owner(connection, scope, checked)
    owner = encode_owner(names)
    detector = find_detector(names, checked.fields.get("model", "")).with_secrets()
    build = partial(build_import_items, trusted=scope.everything, detector=detector)
    plain = await asyncio.to_thread(build, checked, owner, unproven)
    items = await asyncio.to_thread(seal_items, plain, session, connection.vault)
    args: list[Any] = [to_milliseconds(checked.ttl), encode_event(event)]
    for part, values in items.items():
        args += [part, SESSION_KEYS[part].write, SESSION_KEYS[part].item_size, len(values), *values]
    if await connection.run(IMPORT, session_keys(session, *SESSION_PARTS), args, int) != STORED:
        raise ActionRefused("There is a session of this name already; forget it first")
    masked = mask_field(LABELS, checked.fields.get(LABELS, ""), detector)
    labels = [encode_text(label) for label in decode_texts(masked)]
    [row] = await connection.send(build_row_query(session))
    # A session with but a moment left to live may have expired by now: then there is nothing to index.
    if row:
        call = IndexedCall(labels, owner)
        commands = build_indexing(session, row, checked.ttl, call)
        await IndexWriter(connection).write(session, commands, read_revision(row), call)
    return session


async def _find_owner(
    connection: RedisConnection, scope: Scope, document: Document
) -> tuple[Mapping[str, str], Mapping[str, str]]:
    """Return whose the session will be, by field, and what is still to be proven of its key.

    For a proxy admin the owner is the document's word, for anybody else what the store knows of the tenant.
    The second mapping has the fields of the key that the document names, where only that key's next call can
    prove that it made the session.

    Raises:
        NotFound: its tenant is not in scope.
    """
    if scope.everything:
        return {str(name): value for name, value in document.owner.items()}, {}
    [owner] = await fetch_owners(connection, [document.tenant])
    if owner == Owner() and scope.home is not None and scope.home[0] == document.tenant:
        # Nothing is left of their own tenant: its name alone, which is theirs, tells whose it is.
        owner = scope.home[1]
    if not scope.allows(owner):
        raise NotFound(NO_TENANT)
    unproven: Mapping[str, str] = {}
    if owner.team_id in scope.teams:
        owner, unproven = await _attribute_to_key(connection, document, owner)
    return {name: value or "" for name, value in asdict(owner).items()}, unproven


async def _attribute_to_key(
    connection: RedisConnection, document: Document, owner: Owner
) -> tuple[Owner, Mapping[str, str]]:
    """Return the owner of a team's session, with the document's key if it calls there, and what is unproven.

    A key sees what bears its name, so a document alone gives nobody sight of anything: this store must have
    seen calls of that key in this tenant. Else the session is the team's and no key's, until the first call
    of the conversation; if that is the named key's, and only then, the session is. The mapping has the fields
    of the key that are left for that call to prove.
    """
    named = {name: document.owner[name] for name in KEY_FIELDS if document.owner.get(name)}
    key_hash = named.get("key_hash")
    team = replace(owner, user_id=None, key_hash=None, key_alias=None)
    if key_hash is None:
        return team, {}
    if key_hash == owner.key_hash:
        return owner, {}
    [called] = await connection.send(("ZSCORE", owner_key("key", key_hash), document.tenant))
    if called is None:
        return team, named
    # Only the hash is proven: what that key is called, and whose it is, its next call tells.
    return replace(team, key_hash=key_hash), {n: v for n, v in named.items() if n != "key_hash"}
