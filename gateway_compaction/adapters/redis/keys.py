"""Names of all keys in Redis; docs/redis.md says what each holds.

The part in braces is the cluster hash tag: all keys of a session are in one slot, and so are all keys of a
tenant's lists. Names hold hashes only, never text that a client or an operator wrote.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gateway_compaction.adapters.redis.codec import encode_exact_text
from gateway_compaction.core.conversation.digest import fingerprint
from gateway_compaction.core.records.compaction import SessionRef


@dataclass(frozen=True, slots=True)
class Part:
    """The type of a session's key, by the commands that read it and write it as a whole.

    Attributes:
        read: the command that reads all of it: its name, and what stands behind the key.
        write: the command that adds an item to it.
        item_size: arguments of an item, such as 2 for a field and its value.
    """

    read: tuple[str, *tuple[Any, ...]]
    write: str
    item_size: int


# Every key of a session, by the last part of its name. To add one:
# 1. Add it here, at any place. Then it is erased with its session, handed to the scripts that take a whole
#    session (they find it by name: ``part('…')``), and expires with each call that is recorded.
# 2. Encode and decode its values in ``codec``, and write it in a script of ``lua/``. Where an operator takes
#    versions back and that voids it too, add it to ``VERSION_PARTS`` of ``lua/prelude.lua``.
# 3. To show it: ``DETAIL_PARTS`` of ``detail``, and a field of ``archive.SessionDetail``.
# 4. To export it, as all but leases are: a field of ``transfer.Document``, ``transfer.build_document``,
#    ``transfer.build_import_items``, and a check of its values in ``transfer_checks``.
# 5. Where a request needs it: ``lua/load.lua`` and ``ports.Buffer``. Where a call brings it:
#    ``lua/append.lua`` and ``ports.CallRecord``.
# 6. Write it in ``fill`` of tests/store_contract.py: what that leaves out, no test sees expire, be erased or
#    be exported. Describe it in docs/redis.md; ``python -m tests.test_redis_page`` makes its answers anew.
SESSION_KEYS: Mapping[str, Part] = {
    "session": Part(("HGETALL",), "HSET", 2),
    "claims": Part(("HGETALL",), "HSET", 2),
    "events": Part(("LRANGE", 0, -1), "RPUSH", 1),
    "compactions": Part(("HGETALL",), "HSET", 2),
    "used": Part(("ZRANGE", 0, -1, "WITHSCORES"), "ZADD", 2),
    "retired": Part(("HGETALL",), "HSET", 2),
    "last": Part(("GET",), "SET", 1),
    "kept": Part(("HGETALL",), "HSET", 2),
    "points": Part(("HGETALL",), "HSET", 2),
}
SESSION_PARTS = tuple(SESSION_KEYS)

# Leases are of a worker that runs now: in a copy of the session nobody holds them.
EXPORTED_PARTS = tuple(part for part in SESSION_PARTS if part != "claims")

# Events and labels that a session keeps, the latest.
MOST_EVENTS = 200
MOST_LABELS = 8

# Tenants by the second in which each was last seen.
TENANTS = "gwc:tenants"

# Sessions of which an operator wants something at their next call, by the second until which that stands.
REQUESTED = "gwc:wishes"

# Sessions whose versions an operator took back lately, by the second in which their generation began.
VOIDED = "gwc:voided"

# Sessions and tenants that were erased lately, by second.
FORGOTTEN = "gwc:forgotten"

# Tenants with conversations that began where others ended, by the second until which one of them is kept.
RESTORING = "gwc:restoring"

# Calibration factors of the token count, by model.
FACTORS = "gwc:factors"

# Rates of the next summaries that operators set for all sessions of a key, by the hash of the key.
RATES = "gwc:rates"

# What refusals have taught of windows, by deployment.
WINDOWS = "gwc:windows"

# Requests that were left alone because their policy cannot be used, by the problem.
POLICY_PROBLEMS = "gwc:policy-problems"

# Who is signed in to the page: a key of the proxy, sealed with what only a browser has, by name.
SIGN_INS = "gwc:sign-ins"

# Attempts to sign in of the present minute that did not succeed, by a hash of the address they came from.
SIGN_IN_ATTEMPTS = "gwc:sign-ins:attempts"

# Written and taken away to see whether the server takes what is written, and its life should that fail.
PROBE = "gwc:probe"
PROBE_MILLISECONDS = 1_000

# All sorted sets by which tenants of an owner are found (see ``owner_key``), as a pattern for SCAN.
OWNER_PATTERN = "gwc:owner:*"


def session_keys(session: SessionRef, *parts: str) -> list[str]:
    """Return the keys of a session, one for each of ``parts`` (see ``SESSION_PARTS``)."""
    return [f"gwc:{{{session.session_id}}}:{part}" for part in parts]


def build_part_query(session: SessionRef, part: str) -> tuple[Any, ...]:
    """Build the command that reads a part of a session as a whole."""
    command, *rest = SESSION_KEYS[part].read
    return (command, *session_keys(session, part), *rest)


def tenant_key(tenant: str, part: str) -> str:
    """Return a key of a tenant: ``sessions``, ``rows``, ``about``, ``hours`` and others."""
    return f"gwc:{{{tenant}}}:{part}"


def label_key(tenant: str, label: bytes) -> str:
    """Return the key of the sessions of a tenant that had a label, given as ``encode_text`` writes it."""
    return tenant_key(tenant, f"label:{hashlib.sha256(label).hexdigest()[:32]}")


def restored_key(tenant: str, name: str) -> str:
    """Return the key of the block that a conversation begins with, by a name of that conversation."""
    return tenant_key(tenant, f"restored:{name}")


def restores_key(session: SessionRef) -> str:
    """Return the key of the keys of all blocks that tell of a session: they are erased with it."""
    return tenant_key(session.tenant, f"restores:{session.key}")


def owner_key(kind: str, name: str) -> str:
    """Return the key of the tenants in which somebody has sessions; ``kind`` is team, user or key."""
    return f"gwc:owner:{fingerprint('owner', kind, encode_exact_text(name).decode())}"


def hours_key(tenant: str, key_hash: str) -> str:
    """Return the key of the hourly counts of one API key, for a tenant in which several keys call."""
    return tenant_key(tenant, f"hours:{fingerprint('hours', key_hash)}")
