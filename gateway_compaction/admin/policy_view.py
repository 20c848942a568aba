"""Explain the policies in force: to proxy admins for anybody, to others for themselves."""

from __future__ import annotations

from typing import Any

from gateway_compaction.admin.access import Viewer
from gateway_compaction.admin.problems import Problem
from gateway_compaction.admin.schemas import Explanation, MatchedPolicy, Value
from gateway_compaction.admin.teams import load_team_block
from gateway_compaction.archive import SessionRow
from gateway_compaction.call_state import BLOCK
from gateway_compaction.core.policy.book import Identity, PolicyBook

NOT_YOURS = "Leave team and key out, or name your own: what holds for others is for proxy admins."


async def identity_for(viewer: Viewer, team: str | None, key: str | None, model: str | None) -> Identity:
    """Return the identity that a question is about: the asking key itself where nothing is named.

    Raises:
        Problem: 403 for what is somebody else's.
    """
    auth = viewer.auth
    own = Identity(
        team_id=auth.team_id,
        team_alias=auth.team_alias,
        key_alias=auth.key_alias,
        user_id=auth.user_id,
        model=model,
        team_block=_block(auth.team_metadata),
        key_block=_block(auth.metadata),
    )
    own_team = team is None or team in (auth.team_id, auth.team_alias)
    own_key = key is None or key == auth.key_alias
    if own_team and own_key and not viewer.scope.everything:
        return own
    if not viewer.scope.everything and not (team in viewer.scope.teams and (key is None or own_team)):
        raise Problem(403, NOT_YOURS)
    block = await load_team_block(team) if team else None
    return Identity(team_id=team, key_alias=key, model=model, team_block=_mapping(block))


async def identity_of_session(row: SessionRow) -> Identity:
    """Return the identity of a stored session; its tags and its key's metadata are not known any more."""
    owner = row.owner
    block = await load_team_block(owner.team_id) if owner.team_id else None
    return Identity(
        owner.team_id, owner.team, owner.key_alias, owner.user_id, row.model, team_block=_mapping(block)
    )


def explain_policy(book: PolicyBook, identity: Identity, *, everything: bool) -> Explanation:
    """Return values with their origin; the names of policies that do not hold are for proxy admins."""
    policies = (
        MatchedPolicy(m.path, m.name, m.rank, m.reason is None, m.reason)
        for m in book.report_matches(identity)
        if everything or m.reason is None
    )
    values = (Value(v.path, v.value, v.source) for v in book.explain(identity))
    return Explanation(tuple(policies), tuple(values))


def _block(metadata: Any) -> Any:
    return _mapping(metadata.get(BLOCK)) if isinstance(metadata, dict) else None


def _mapping(block: Any) -> Any:
    return block if isinstance(block, dict) else None
