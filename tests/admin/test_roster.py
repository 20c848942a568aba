"""Admins of teams, as LiteLLM's own cache and database know them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
from litellm.proxy import proxy_server
from litellm.proxy._types import LiteLLM_TeamTableCachedObj, LiteLLM_UserTable, UserAPIKeyAuth

from gateway_compaction.admin.teams import find_administered_teams, load_team_block


class NoRows:
    """A database that is connected and knows nobody; what is known stands in LiteLLM's cache."""

    def __getattr__(self, name: str) -> Any:
        raise ConnectionError(name)


def team(name: str, *members: tuple[str, str], **more: Any) -> LiteLLM_TeamTableCachedObj:
    """A team with members by id and role."""
    listed = [{"user_id": user, "role": role} for user, role in members]
    return LiteLLM_TeamTableCachedObj(team_id=name, members_with_roles=listed, **more)


@pytest.fixture
async def database() -> AsyncIterator[None]:
    """Ann administers red, is in blue, and once was in a team that is gone."""
    host: Any = proxy_server
    before = host.prisma_client
    host.prisma_client = NoRows()
    cache: Any = host.user_api_key_cache
    user = LiteLLM_UserTable(user_id="ann", teams=["red", "blue", "gone"], max_budget=None, user_email=None)
    red = team("red", ("ann", "admin"), ("ruth", "user"), metadata={"compaction": {"mode": "off"}})
    await cache.async_set_cache("ann", user)
    await cache.async_set_cache("team_id:red", red)
    await cache.async_set_cache("team_id:blue", team("blue", ("ann", "user"), ("bob", "admin")))
    yield
    host.prisma_client = before
    cache.flush_cache()


@pytest.mark.usefixtures("database")
class TestDatabase:
    """With a database."""

    async def test_teams_whose_list_says_admin(self) -> None:
        assert await find_administered_teams(UserAPIKeyAuth(user_id="ann")) == {"red"}

    async def test_whatever_the_key_s_own_team_is(self) -> None:
        assert await find_administered_teams(UserAPIKeyAuth(user_id="ann", team_id="blue")) == {"red"}

    @pytest.mark.parametrize("auth", [{"user_id": "nobody"}, {"team_id": "red"}, {}])
    async def test_nobody_else(self, auth: dict[str, Any]) -> None:
        assert not await find_administered_teams(UserAPIKeyAuth(**auth))

    async def test_a_team_s_block(self) -> None:
        assert await load_team_block("red") == {"mode": "off"}
        assert await load_team_block("blue") is None
        assert await load_team_block("gone") is None


class TestWithout:
    """Without a database the authenticated identity is all there is."""

    @pytest.mark.parametrize(
        ("role", "team_id", "expected"),
        [("admin", "red", {"red"}), ("user", "red", set()), ("admin", None, set())],
    )
    async def test_what_the_identity_says(self, role: str, team_id: str | None, expected: set[str]) -> None:
        member = {"user_id": "ann", "role": role}
        auth = UserAPIKeyAuth(user_id="ann", team_id=team_id, team_member=member)
        assert await find_administered_teams(auth) == expected

    async def test_metadata_give_no_rights(self) -> None:
        auth = UserAPIKeyAuth(team_id="red", metadata={"compaction": {"admin": True}, "role": "admin"})
        assert not await find_administered_teams(auth)

    async def test_no_block(self) -> None:
        assert await load_team_block("red") is None
