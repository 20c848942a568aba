"""The page "Continue in a new conversation": what one would be told of this one, now or at a snapshot."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from gateway_compaction.admin.schemas import Restored
from gateway_compaction.admin.ui.text import format_age, format_thousands, format_time, shorten_line
from gateway_compaction.archive import SessionDetail
from gateway_compaction.core.records.client_state import LISTS, LONGEST_VALUE, VALUES, ClientState
from gateway_compaction.core.records.snapshots import PointChange, SnapshotLine

# Characters of the text that are shown; the API gives all of it.
LONGEST_SHOWN = 60_000
PARTS = {
    "told": "the client told it",
    "found": "it was found in the conversation",
    "stored": "it is stored with the session",
}


@dataclass(frozen=True, slots=True)
class Moment:
    """A moment that can be told of: now, where its name is empty, or a snapshot."""

    name: str
    title: str
    note: str
    chosen: bool


@dataclass(frozen=True, slots=True)
class ContinueView:
    """The text that a new conversation would be told, and the call that asks for it."""

    moments: tuple[Moment, ...]
    text: str
    tokens: str
    parts: tuple[tuple[str, str], ...]
    curl: str
    changes: tuple[PointChange, ...]


def make_continue_view(
    detail: SessionDetail,
    snapshots: Sequence[SnapshotLine],
    told: Restored,
    chosen: str,
    changes: Sequence[PointChange],
    now: float,
) -> ContinueView:
    """Show what is told of a session.

    Args:
        detail: the session.
        snapshots: its snapshots, the newest first.
        told: what a new conversation is told.
        chosen: name of the snapshot that this is of, empty for now.
        changes: what has changed since that snapshot.
        now: seconds since 1970.
    """
    moments = [Moment("", "now", "as of the last call", not chosen)]
    for one in snapshots:
        note = ", ".join(part for part in (one.reason, shorten_line(one.plan, 80)) if part)
        title = f"{format_time(one.at)}, {format_age(one.at, now)}"
        moments.append(Moment(one.name, title, note, one.name == chosen))
    return ContinueView(
        moments=tuple(moments),
        text=(told.text or "")[:LONGEST_SHOWN],
        tokens=format_thousands(told.tokens),
        parts=tuple((name, PARTS[source]) for name, source in told.parts.items()),
        curl=build_curl(detail, chosen),
        changes=tuple(changes),
    )


def build_curl(detail: SessionDetail, snapshot: str) -> str:
    """Return the command that begins a conversation where this one is, or was at a snapshot.

    Every value is quoted for a shell: the model's name is the client's word.
    """
    session = detail.row.session.session_id + (f"@{snapshot}" if snapshot else "")
    body = {
        "model": detail.row.model or "MODEL",
        "messages": [{"role": "user", "content": "Where were we?"}],
    }
    lines = (
        'curl "$GATEWAY/v1/chat/completions"',
        '-H "Authorization: Bearer $KEY"',
        f"-H {shlex.quote(f'x-conversation-restore: {session}')}",
        "-H 'Content-Type: application/json'",
        f"-d {shlex.quote(json.dumps(body))}",
    )
    return " \\\n  ".join(lines)


def list_told(state: ClientState | None) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return what a client told of its work, part by part; empty parts are left out."""
    if state is None:
        return ()
    told = [(name, (getattr(state, name),) if getattr(state, name) else ()) for name in VALUES]
    told += [(name, getattr(state, name)) for name in LISTS]
    return tuple(
        (name, tuple(shorten_line(x, LONGEST_VALUE) for x in items)) for name, items in told if items
    )
