"""From a key to what is its own."""

from __future__ import annotations

import httpx
import pytest

from tests.admin.conftest import bearer
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


@pytest.mark.parametrize("key", [None, "sk-nobody", "sk-blocked", "sk-team-blocked", "sk-expired"])
async def test_without_a_valid_key_there_is_a_problem_document(
    client: httpx.AsyncClient, key: str | None
) -> None:
    answer = await client.get("/compaction/sessions", headers=bearer(key))
    assert answer.status_code == 401
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["status"] == 401 and "Authorization" in answer.json()["detail"]
