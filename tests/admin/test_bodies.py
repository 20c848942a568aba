"""Bodies and parameters that nobody can use are answered as such, never as a fault of ours."""

from __future__ import annotations

import httpx
import pytest

from gateway_compaction.core.conversation.digest import fingerprint
from gateway_compaction.errors import InvalidDocument
from tests.admin.conftest import bearer
from tests.admin.memory_archive import MemoryArchive
from tests.admin.people import MASTER, RED, hash_of

pytestmark = pytest.mark.usefixtures("keyed")
TYPES = ("application/json", "application/x-www-form-urlencoded", "application/problem+json", "")
DEEP = (b"[" * 60_000, b'{"a":' * 13_000, b"[" * 100_000, b'{"a":' * 50_000)
BODIES = (b'{"text":"\xff"}', *DEEP, b"\xff", b"9" * 5_000)
PATHS = ("sessions/tr.1/pins", "sessions/tr.1/preview", "sessions/tr.1/rollback", "import")


@pytest.mark.parametrize("typed", TYPES)
@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("body", BODIES)
async def test_an_unusable_body_is_the_askers_fault(
    client: httpx.AsyncClient, path: str, body: bytes, typed: str
) -> None:
    headers = {**bearer(MASTER), **({"Content-Type": typed} if typed else {})}
    answer = await client.post(f"/compaction/{path}", content=body, headers=headers)
    too_long = path != "import" and len(body) > 65_536
    assert answer.status_code in ((413,) if too_long else (400, 422)), answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["status"] == answer.status_code


@pytest.mark.parametrize("version", [True, 1.0, "1", -1, 2**53])
async def test_a_version_is_a_whole_number(client: httpx.AsyncClient, version: object) -> None:
    answer = await client.post(
        "/compaction/sessions/tr.1/rollback", json={"version": version}, headers=bearer(MASTER)
    )
    assert answer.status_code == 422 and answer.json()["errors"][0]["at"] == "body.version"


async def test_a_document_that_is_none_is_told_where(
    client: httpx.AsyncClient, archive: MemoryArchive
) -> None:
    archive.refused = InvalidDocument("fields.version", "its value cannot be one")
    answer = await client.post("/compaction/import", json={"v": 1}, headers=bearer(MASTER))
    assert answer.status_code == 422
    assert answer.json()["errors"] == [{"at": "fields.version", "problem": "its value cannot be one"}]


async def test_who_imports_is_told_by_their_own_calls(
    client: httpx.AsyncClient, archive: MemoryArchive
) -> None:
    document = {"v": 1, "id": "new.1", "team": RED}
    answer = await client.post("/compaction/import", json=document, headers=bearer("sk-red-1"))
    assert answer.status_code == 404
    assert answer.json()["detail"].startswith(
        "This key cannot import into the tenant that the document names."
    )
    [scope] = archive.loading
    assert scope.home is not None
    assert scope.home == (fingerprint("tenant", "team", RED, ""), scope.home[1])
    assert (scope.home[1].team_id, scope.home[1].key_hash) == (RED, hash_of("sk-red-1"))
