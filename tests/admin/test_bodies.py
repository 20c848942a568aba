"""Bodies and parameters that nobody can use are answered as such, never as a fault of ours."""

from __future__ import annotations

import httpx
import pytest

from tests.admin.conftest import bearer
from tests.admin.people import MASTER

pytestmark = pytest.mark.usefixtures("keyed")
TYPES = ("application/json", "application/x-www-form-urlencoded", "text/plain", "application/problem+json", "")
PATHS = ("sessions/tr.1/pins", "sessions/tr.1/preview", "sessions/tr.1/rollback", "import")


@pytest.mark.parametrize("typed", TYPES)
@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("body", [b'{"text":"\xff"}', b"[" * 100_000, b'{"a":' * 50_000, b"\xff", b"9" * 5_000])
async def test_an_unusable_body_is_the_askers_fault(
    client: httpx.AsyncClient, path: str, body: bytes, typed: str
) -> None:
    headers = {**bearer(MASTER), **({"Content-Type": typed} if typed else {})}
    answer = await client.post(f"/compaction/{path}", content=body, headers=headers)
    assert answer.status_code in (400, 422), answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["status"] == answer.status_code
