"""Find who administers which team, in LiteLLM's database."""

from __future__ import annotations

import logging

from litellm.proxy._types import LiteLLM_TeamTable, UserAPIKeyAuth
from litellm.proxy.auth.auth_checks import get_team_object, get_user_object
from litellm.proxy.management.teams.authz import is_team_admin

from gateway_compaction.call_state import BLOCK

log = logging.getLogger("gateway_compaction")
MOST_TEAMS = 200
"""Teams of one user that are looked up: each may cost a query of LiteLLM's database."""


async def find_administered_teams(auth: UserAPIKeyAuth) -> frozenset[str]:
    """Return the ids of the teams that the key's user is an admin of; without a database, what the key itself
    says.

    LiteLLM fills ``team_member`` from the team's own list of members, and custom authentication may. A key's
    metadata are not trusted: whoever makes the key writes them.
    """
    teams = set[str]()
    if auth.team_id and auth.team_member is not None and auth.team_member.role == "admin":
        teams.add(auth.team_id)
    for team_id in await _load_teams(auth):
        team = None if team_id in teams else await _load_team(team_id)
        if team is not None and is_team_admin(auth, team):
            teams.add(team_id)
    return frozenset(teams)


async def load_team_block(team_id: str) -> object:
    """Return the ``compaction`` entry of a team's metadata, None where there is none or no database."""
    team = await _load_team(team_id)
    return (team.metadata or {}).get(BLOCK) if team is not None else None


async def _load_teams(auth: UserAPIKeyAuth) -> list[str]:
    from litellm.proxy import proxy_server

    if not auth.user_id or proxy_server.prisma_client is None:
        return []
    try:
        user = await get_user_object(
            auth.user_id,
            proxy_server.prisma_client,
            proxy_server.user_api_key_cache,
            user_id_upsert=False,
            proxy_logging_obj=proxy_server.proxy_logging_obj,
        )
    except Exception as error:  # LiteLLM raises bare exceptions for users it does not know
        log.debug("admin: the teams of a user are not known: %s", type(error).__name__)
        return []
    return list(user.teams or ())[:MOST_TEAMS] if user is not None else []


async def _load_team(team_id: str) -> LiteLLM_TeamTable | None:
    from litellm.proxy import proxy_server

    if proxy_server.prisma_client is None:
        return None
    try:
        return await get_team_object(
            team_id,
            proxy_server.prisma_client,
            proxy_server.user_api_key_cache,
            proxy_logging_obj=proxy_server.proxy_logging_obj,
        )
    except Exception as error:  # LiteLLM raises bare exceptions for teams it does not know
        log.debug("admin: a team is not known: %s", type(error).__name__)
        return None
