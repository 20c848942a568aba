"""Names of all keys in Redis; docs/redis.md says what each holds.

The part in braces is the cluster hash tag: all keys of a session are in one slot, and so are all keys of a
tenant's lists. Names hold hashes only, never text that a client or an operator wrote.
"""

from __future__ import annotations

import hashlib

from gateway_compaction.adapters.redis.codec import encode_exact_text
from gateway_compaction.core.conversation.digest import fingerprint
from gateway_compaction.core.records.compaction import SessionRef

# The last part of every key that a session has; erasing a session erases these.
SESSION_PARTS = ("session", "claims", "events", "compactions", "used", "retired", "last")

# Tenants by the second in which each was last seen.
TENANTS = "gwc:tenants"

# Sessions of which an operator wants something at their next call, by the second until which that stands.
REQUESTED = "gwc:wishes"

# Sessions whose versions an operator took back lately, by the second in which their generation began.
VOIDED = "gwc:voided"

# Sessions and tenants that were erased lately, by second.
FORGOTTEN = "gwc:forgotten"

# Calibration factors of the token count, by model.
FACTORS = "gwc:factors"

# All sorted sets by which tenants of an owner are found (see ``owner_key``), as a pattern for SCAN.
OWNER_PATTERN = "gwc:owner:*"


def session_keys(session: SessionRef, *parts: str) -> list[str]:
    """Return the keys of a session, one for each of ``parts`` (see ``SESSION_PARTS``)."""
    return [f"gwc:{{{session.session_id}}}:{part}" for part in parts]


def tenant_key(tenant: str, part: str) -> str:
    """Return a key of a tenant: ``sessions``, ``rows``, ``about``, ``hours`` and others."""
    return f"gwc:{{{tenant}}}:{part}"


def label_key(tenant: str, label: bytes) -> str:
    """Return the key of the sessions of a tenant that had a label, given as ``encode_text`` writes it."""
    return tenant_key(tenant, f"label:{hashlib.sha256(label).hexdigest()[:32]}")


def owner_key(kind: str, name: str) -> str:
    """Return the key of the tenants in which somebody has sessions; ``kind`` is team, user or key."""
    return f"gwc:owner:{fingerprint('owner', kind, encode_exact_text(name).decode())}"


def hours_key(tenant: str, key_hash: str) -> str:
    """Return the key of the hourly counts of one API key, for a tenant in which several keys call."""
    return tenant_key(tenant, f"hours:{fingerprint('hours', key_hash)}")
