"""Keys of every role, and sessions of theirs."""

from __future__ import annotations

import hashlib
from typing import Any

from gateway_compaction.archive import CallSnapshot, Hour, Owner, SessionControls, SessionDetail, SessionRow
from gateway_compaction.core.conversation.digest import fingerprint
from gateway_compaction.core.records.compaction import Compaction, Segment, SessionRef
from gateway_compaction.core.records.event import CompactionEvent

__all__ = ["BLUE", "HOSTILE", "KEYS", "MASTER", "RED", "call", "hash_of", "hour", "session"]

MASTER = "sk-admin-master-93b1"
RED, BLUE = "red", "blue"
# What ends a string early, what browsers and terminals obey, and what is no Unicode text.
HOSTILE = "</script><script>alert(1)</script>\u202e\x1b[2J\x00\ud800\"'{{7*7}}"


def member(role: str, user: str) -> dict[str, Any]:
    """LiteLLM's own word for who somebody is in a team."""
    return {"team_member": {"user_id": user, "role": role}, "user_id": user}


KEYS: dict[str, dict[str, Any]] = {
    MASTER: {"user_role": "proxy_admin", "user_id": "default_user_id"},
    "sk-viewer": {"user_role": "proxy_admin_viewer", "user_id": "auditor"},
    "sk-red-admin": {"team_id": RED, "team_alias": "Red", "key_alias": "red-lead", **member("admin", "ann")},
    "sk-red-1": {"team_id": RED, "team_alias": "Red", "key_alias": "red-1", **member("user", "ruth")},
    "sk-red-2": {"team_id": RED, "team_alias": "Red", "key_alias": "red-2"},
    "sk-blue-1": {"team_id": BLUE, "team_alias": "Blue", "key_alias": "blue-1"},
    "sk-ruth": {"user_id": "ruth", "key_alias": "ruth-private"},
    "sk-looks": {"user_id": "ruth", "user_role": "internal_user_viewer"},
    "sk-claims": {
        "team_id": RED,
        "key_alias": "claims",
        "metadata": {"compaction": {"admin": True}, "compaction_admin": True},
    },
    "sk-calls-only": {"team_id": RED, "key_alias": "app", "allowed_routes": ["llm_api_routes"]},
    "sk-named": {"team_id": RED, "key_alias": "dash", "allowed_routes": ["/compaction/*"]},
    "sk-blocked": {"team_id": RED, "blocked": True, "user_role": "proxy_admin"},
    "sk-team-blocked": {"team_id": RED, "team_blocked": True},
    "sk-expired": {"team_id": RED, "expires": "2020-01-01T00:00:00Z"},
}


def hash_of(key: str) -> str:
    """The name that sessions know a key by."""
    return fingerprint(hashlib.sha256(key.encode()).hexdigest())


def session(tenant: str, key: str, owner: Owner, **row: Any) -> SessionDetail:
    """A session with two versions, one of them taken back, some events and a pin."""
    first = Compaction("d1", 4, "model", (Segment(0, 4, "one\ntwo"),), version=1, tokens_before=400)
    second = Compaction(
        "d2", 8, "model", (Segment(0, 8, "one\nthree"),), parent="d1", version=2, tokens_before=800,
        tokens_after=200, model="small",
    )  # fmt: skip
    events = tuple(CompactionEvent("request", float(at), "applied", f"call {at}") for at in (9, 8, 8, 7))
    line = SessionRow(SessionRef(tenant, key), owner, **{"model": "gpt", "seen": 5e9, **row})
    return SessionDetail(
        line,
        compactions=(second,),
        retired=(first,),
        events=events,
        steering=SessionControls("g1", ("never deploy on Fridays",)),
        last_call=call(),
    )


def call(turns: int = 20, tokens: int = 40, window: int = 2000) -> CallSnapshot:
    """A long call: a preamble of 50 tokens, then questions and answers of ``tokens`` each."""
    history = [("user" if i % 2 == 0 else "assistant", tokens, "verbatim") for i in range(2 * turns)]
    sent = (("system", 50, "preamble"), *history)
    saw = (("system", 50, "preamble"), ("user", 100, "summary"), *history[-10:])
    return CallSnapshot(
        at=9.0,
        sent=sent,
        saw=saw,
        window=window,
        fixed=100,
        covers=30,
        version=2,
        cuts=tuple(range(2, 2 * turns + 1)),
    )


def hour(owner: Owner, model: str = "gpt", **counts: Any) -> Hour:
    """An hour of an owner."""
    return Hour(3600, owner, model, **{"requests": 10, "saved": 1000, **counts})
