"""The page's cookie, and other pages that ask in somebody's name."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from fastapi import Request, Response

from gateway_compaction.admin.dependencies import Parts
from gateway_compaction.admin.origin import COOKIE, CSRF_HEADER, csrf_token, set_sign_in_cookie
from gateway_compaction.admin.sign_ins import SIGN_IN_SECONDS
from tests.admin.conftest import bearer
from tests.admin.memory_archive import MemoryArchive
from tests.admin.people import MASTER

LIST, ACTION = "/compaction/sessions", "/compaction/sessions/tr.1/compact"
SAME: dict[str, str] = {"Sec-Fetch-Site": "same-origin"}
ELSEWHERE: list[dict[str, str]] = [
    {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site"},
    {"Sec-Fetch-Site": "cross-site", "Origin": "http://localhost:4000"},
    {"Origin": "https://evil.example"},
    {"Origin": "null"},
    {"Origin": "http://localhost:4001"},
    {"Origin": "http://localhost:4000.evil.example"},
    {"Origin": "http://[::1"},
    {"Origin": ""},
]
HERE: list[dict[str, str]] = [{}, SAME, {"Sec-Fetch-Site": "none"}, {"Origin": "http://localhost:4000"}]


def cookie(secret: str) -> dict[str, str]:
    """What a browser sends by itself."""
    return {"Cookie": f"{COOKIE}={secret}"}


@pytest.fixture
async def signed_in(parts: Parts) -> str:
    """The secret that the browser of a proxy admin holds."""
    return await parts.sign_ins.begin(MASTER)


@pytest.mark.usefixtures("keyed")
class TestCookie:
    """A sign-in that the browser holds."""

    async def test_stands_for_its_key(self, client: httpx.AsyncClient, parts: Parts) -> None:
        secret = await parts.sign_ins.begin("sk-red-1")
        rows = (await client.get(LIST, headers=cookie(secret))).json()["rows"]
        assert [row["session"]["key"] for row in rows] == ["1"]

    async def test_a_header_comes_first(self, client: httpx.AsyncClient, signed_in: str) -> None:
        headers = {**cookie(signed_in), **bearer("sk-red-1")}
        assert (await client.get(LIST, headers=headers)).json()["total"] == 1
        wrong = {**cookie(signed_in), "x-api-key": "sk-none"}
        assert (await client.get(LIST, headers=wrong)).status_code == 401

    @pytest.mark.parametrize("wrong", ["", "sk-nobody", MASTER, "x" * 43, "x" * 5000, "../" * 10])
    async def test_a_key_or_anything_else_is_no_sign_in(self, client: httpx.AsyncClient, wrong: str) -> None:
        assert (await client.get(LIST, headers=cookie(wrong))).status_code == 401

    async def test_ends_with_the_key_that_it_stands_for(
        self, client: httpx.AsyncClient, parts: Parts
    ) -> None:
        secret = await parts.sign_ins.begin("sk-was-taken-back")
        assert (await client.get(LIST, headers=cookie(secret))).status_code == 401

    @pytest.mark.parametrize("origin", HERE)
    async def test_our_own_pages_may_look(
        self, client: httpx.AsyncClient, signed_in: str, origin: dict[str, str]
    ) -> None:
        assert (await client.get(LIST, headers={**cookie(signed_in), **origin})).status_code == 200

    @pytest.mark.parametrize("origin", ELSEWHERE)
    async def test_other_pages_may_not_even_look(
        self, client: httpx.AsyncClient, archive: MemoryArchive, signed_in: str, origin: dict[str, str]
    ) -> None:
        answer = await client.get(LIST, headers={**cookie(signed_in), **origin})
        assert answer.status_code == 403 and "labels" not in answer.text
        headers = {**cookie(signed_in), **origin, CSRF_HEADER: csrf_token(signed_in)}
        assert (await client.post(ACTION, headers=headers)).status_code == 403
        assert not archive.actions

    async def test_a_link_from_elsewhere_opens(self, client: httpx.AsyncClient, signed_in: str) -> None:
        origin = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
        assert (await client.get(LIST, headers={**cookie(signed_in), **origin})).status_code == 200
        headers = {**cookie(signed_in), **origin, CSRF_HEADER: csrf_token(signed_in)}
        assert (await client.post(ACTION, headers=headers)).status_code == 403

    @pytest.mark.parametrize("token", [None, "", csrf_token(MASTER), "cut", "ü"])
    async def test_a_change_needs_what_only_the_page_knows(
        self, client: httpx.AsyncClient, archive: MemoryArchive, signed_in: str, token: str | None
    ) -> None:
        token = csrf_token(signed_in)[:-1] if token == "cut" else token
        headers: dict[str, Any] = {**cookie(signed_in), **SAME}
        if token is not None:
            headers[CSRF_HEADER] = token.encode()
        answer = await client.post(ACTION, headers=headers)
        assert answer.status_code == 403 and CSRF_HEADER in answer.json()["detail"]
        assert not archive.actions

    async def test_with_it_the_change_is_made(
        self, client: httpx.AsyncClient, archive: MemoryArchive, signed_in: str
    ) -> None:
        headers = {**cookie(signed_in), **SAME, CSRF_HEADER: csrf_token(signed_in)}
        assert (await client.post(ACTION, headers=headers)).status_code == 200
        assert len(archive.actions) == 1

    @pytest.mark.parametrize("origin", ELSEWHERE)
    async def test_a_key_in_a_header_is_asked_from_anywhere(
        self, client: httpx.AsyncClient, origin: dict[str, str]
    ) -> None:
        assert (await client.get(LIST, headers={**bearer(MASTER), **origin})).status_code == 200


@pytest.mark.parametrize(("scheme", "secure"), [("http", False), ("https", True)])
def test_the_cookie_is_kept_from_scripts_and_other_paths(scheme: str, secure: bool) -> None:
    request = Request({"type": "http", "scheme": scheme, "path": "/", "headers": [], "root_path": "/llm"})
    response = Response()
    set_sign_in_cookie(response, request, "a-secret")
    set_sign_in_cookie(response, request, None)
    for said in response.headers.getlist("set-cookie"):
        assert "HttpOnly" in said and "SameSite=strict" in said and "Path=/llm/compaction" in said
        assert ("Secure" in said) == secure
    former, kept, _, ended = response.headers.getlist("set-cookie")
    assert former.startswith('gateway_compaction_key="";') and "Max-Age=0" in former
    assert kept.startswith(f"{COOKIE}=a-secret;") and f"Max-Age={SIGN_IN_SECONDS}" in kept
    assert ended.startswith(f'{COOKIE}="";') and "Max-Age=0" in ended


@pytest.mark.usefixtures("unkeyed")
class TestOpenProxy:
    """A proxy that asks nobody for a key serves everybody who sits before it, and no page of the web."""

    @pytest.mark.parametrize("key", [None, "sk-anything"])
    async def test_everybody_sees_everything(
        self, client: httpx.AsyncClient, archive: MemoryArchive, key: str | None
    ) -> None:
        assert (await client.get(LIST, headers=bearer(key))).json()["total"] == 4
        assert (await client.post(ACTION, headers=bearer(key))).status_code == 200
        assert [actor for _, _, actor in archive.actions] == ["anybody (no key is asked for)"]

    @pytest.mark.parametrize("origin", ELSEWHERE)
    @pytest.mark.parametrize("key", [None, "sk-anything"])
    async def test_but_for_other_pages(
        self, client: httpx.AsyncClient, archive: MemoryArchive, origin: dict[str, str], key: str | None
    ) -> None:
        headers = {**bearer(key), **origin}
        assert (await client.get(LIST, headers=headers)).status_code == 403
        assert (await client.post(ACTION, headers=headers)).status_code == 403
        assert not archive.actions

    @pytest.mark.parametrize(
        ("host", "status"),
        [
            ("localhost:4000", 200),
            ("app.localhost", 200),
            ("127.0.0.1:4000", 200),
            ("[::1]:4000", 200),
            ("10.1.2.3", 200),
            ("gateway:4000", 200),
            ("rebound.evil.example:4000", 403),
            ("127.0.0.1.evil.example", 403),
            ("localhost.evil.example", 403),
            ("", 403),
            ("[evil.example]", 403),
        ],
    )
    async def test_no_name_that_others_can_point_here(
        self, client: httpx.AsyncClient, host: str, status: int
    ) -> None:
        assert (await client.get(LIST, headers={"Host": host})).status_code == status
