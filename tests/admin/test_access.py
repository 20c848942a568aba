"""From a key to what is its own."""

from __future__ import annotations

import logging

import httpx
import pytest
from litellm._logging import verbose_proxy_logger
from litellm.proxy import proxy_server

from tests.admin.conftest import REFUSED_WITH, bearer
from tests.admin.memory_archive import MemoryArchive
from tests.admin.people import MASTER

pytestmark = pytest.mark.usefixtures("keyed")
ALL = {"tr.1", "tr.2", "tb.1", "tu.1"}


async def seen_by(client: httpx.AsyncClient, key: str | None) -> set[str]:
    """Ids of the sessions that a key is shown."""
    answer = await client.get("/compaction/sessions", headers=bearer(key))
    assert answer.status_code == 200, answer.text
    rows = answer.json()["rows"]
    assert answer.json()["total"] == len(rows)
    return {f"{row['session']['tenant']}.{row['session']['key']}" for row in rows}


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        (MASTER, ALL),
        ("sk-viewer", ALL),
        ("sk-red-admin", {"tr.1", "tr.2"}),
        ("sk-red-1", {"tr.1"}),
        ("sk-red-2", {"tr.2"}),
        ("sk-blue-1", {"tb.1"}),
        ("sk-ruth", {"tu.1"}),
        ("sk-looks", {"tu.1"}),
        ("sk-claims", set()),
    ],
)
async def test_each_key_sees_its_own(client: httpx.AsyncClient, key: str, expected: set[str]) -> None:
    assert await seen_by(client, key) == expected


@pytest.mark.parametrize(
    ("key", "named"),
    [
        (MASTER, "proxy admin, user default_user_id"),
        ("sk-viewer", "proxy admin viewer, user auditor"),
        ("sk-red-admin", "team admin, key red-lead"),
        ("sk-red-1", "key red-1"),
        ("sk-looks", "user ruth"),
    ],
)
async def test_who_it_is_is_said_once(
    client: httpx.AsyncClient, archive: MemoryArchive, key: str, named: str
) -> None:
    await seen_by(client, key)
    assert [scope.actor for scope in archive.scopes] == [named]
    page = await client.get("/compaction/ui", headers=bearer(key))
    assert f'title="Signed in as {named}"' in page.text


@pytest.mark.parametrize("key", [None, "sk-nobody", "sk-blocked", "sk-team-blocked", "sk-expired"])
async def test_without_a_valid_key_there_is_a_problem_document(
    client: httpx.AsyncClient, key: str | None
) -> None:
    answer = await client.get("/compaction/sessions", headers=bearer(key))
    assert answer.status_code == 401
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["status"] == 401 and "Authorization" in answer.json()["detail"]


@pytest.mark.parametrize("path", ["/compaction/ui", "/compaction/sessions"])
async def test_who_has_not_signed_in_yet_is_no_error_in_the_log(
    client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    told: list[str] = []
    keeper = logging.Handler()
    keeper.emit = lambda record: told.append(record.getMessage())  # type: ignore[method-assign]
    monkeypatch.setattr(proxy_server, "user_custom_auth", None)
    monkeypatch.setattr(verbose_proxy_logger, "handlers", [keeper])
    assert (await client.get(path)).status_code in (303, 401)
    assert told == []
    # A key that is wrong is still told of.
    assert (await client.get(path, headers=bearer("sk-wrong"))).status_code in (303, 401)
    assert told


@pytest.mark.parametrize(
    ("code", "status", "title"),
    [
        ("auth_error", 401, "Unauthorized"),
        ("", 401, "Unauthorized"),
        ("200", 401, "Unauthorized"),
        ("99999", 401, "Unauthorized"),
        ("-500", 401, "Unauthorized"),
        ("٤٠٣", 401, "Unauthorized"),
        ("403", 403, "Forbidden"),
        ("429", 429, "Too Many Requests"),
        ("499", 499, "Refused"),
        ("599", 599, "Failed"),
    ],
)
async def test_a_refusal_may_name_any_code(
    client: httpx.AsyncClient, code: str, status: int, title: str
) -> None:
    # As bytes: a key need not be ASCII.
    key = {"Authorization": f"Bearer {REFUSED_WITH}{code}".encode()}
    answer = await client.get("/compaction/sessions", headers=key)
    assert answer.status_code == status and answer.headers["content-type"] == "application/problem+json"
    assert (answer.json()["status"], answer.json()["title"]) == (status, title)
    page = await client.get("/compaction/ui/sessions", headers=key)
    assert page.status_code == (303 if status == 401 else status)
    assert status == 401 or page.headers["content-type"] == "text/html; charset=utf-8"
