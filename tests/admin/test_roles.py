"""Every route with every role: never foreign data, never a fault, and foreign ids look like missing ones."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from fastapi.routing import APIRoute

from gateway_compaction.admin.routes import API
from tests.admin.conftest import bearer
from tests.admin.memory_archive import MemoryArchive
from tests.admin.people import KEYS, MASTER

pytestmark = pytest.mark.usefixtures("keyed")

# Where it stands; what it sends; whether it changes something.
ROUTES: dict[tuple[str, str], tuple[dict[str, Any], bool]] = {
    ("GET", "/compaction/sessions/{id}"): ({}, False),
    ("GET", "/compaction/sessions/{id}/events"): ({}, False),
    ("GET", "/compaction/sessions/{id}/versions/{number}"): ({}, False),
    ("GET", "/compaction/sessions/{id}/last-call"): ({}, False),
    ("GET", "/compaction/sessions/{id}/records"): ({}, False),
    ("GET", "/compaction/sessions/{id}/snapshots"): ({}, False),
    ("GET", "/compaction/sessions/{id}/snapshots/{name}"): ({}, False),
    ("GET", "/compaction/sessions/{id}/snapshots/{name}/diff"): ({}, False),
    ("GET", "/compaction/sessions/{id}/transcript"): ({}, False),
    ("GET", "/compaction/sessions/{id}/export"): ({}, False),
    ("POST", "/compaction/sessions/{id}/preview"): ({"json": {"target": 0.3}}, False),
    ("POST", "/compaction/sessions/{id}/restore"): ({"json": {}}, False),
    ("POST", "/compaction/sessions/{id}/compact"): ({}, True),
    ("POST", "/compaction/sessions/{id}/rebuild"): ({}, True),
    ("POST", "/compaction/sessions/{id}/rollback"): ({"json": {"version": 1}}, True),
    ("POST", "/compaction/sessions/{id}/pins"): ({"json": {"text": "keep this"}}, True),
    ("POST", "/compaction/sessions/{id}/unpin"): ({"json": {"text": "never deploy on Fridays"}}, True),
    ("POST", "/compaction/sessions/{id}/rate"): ({"json": {"rate": 0.2}}, True),
    ("POST", "/compaction/sessions/{id}/reset"): ({}, True),
    ("DELETE", "/compaction/sessions/{id}"): ({}, True),
}
# Those that name no session; each has tests of its own below.
OTHERS = {
    ("GET", "/compaction/overview"),
    ("GET", "/compaction/sessions"),
    ("GET", "/compaction/policy"),
    ("GET", "/compaction/metrics"),
    ("GET", "/compaction/health"),
    ("GET", "/compaction/watch"),
    ("DELETE", "/compaction/tenants/{tenant}"),
    ("POST", "/compaction/import"),
    # Of no session: tests/admin/test_summarize.py.
    ("POST", "/compaction/v1/summarize"),
    # Conversations are a tenant's: tests/admin/test_conversations.py.
    ("POST", "/compaction/v1/conversations"),
    ("GET", "/compaction/v1/conversations/{id}"),
    ("DELETE", "/compaction/v1/conversations/{id}"),
    ("GET", "/compaction/v1/conversations/{id}/items"),
    ("POST", "/compaction/v1/conversations/{id}/items"),
    ("GET", "/compaction/v1/conversations/{id}/items/{item}"),
}
OWN = {
    MASTER: {"tr.1", "tr.2", "tb.1", "tu.1"},
    "sk-viewer": {"tr.1", "tr.2", "tb.1", "tu.1"},
    "sk-red-admin": {"tr.1", "tr.2"},
    "sk-red-1": {"tr.1"},
    "sk-red-2": {"tr.2"},
    "sk-blue-1": {"tb.1"},
    "sk-ruth": {"tu.1"},
    "sk-looks": {"tu.1"},
    "sk-claims": set[str](),
    "sk-named": set[str](),
}
LOOK_ONLY = {"sk-viewer", "sk-looks"}
REFUSED = {None: 401, "sk-nobody": 401, "sk-blocked": 401, "sk-team-blocked": 401, "sk-expired": 401}
REFUSED |= {"sk-calls-only": 403}
EXISTING = ("tr.1", "tr.2", "tb.1", "tu.1")
MISSING = (
    "tr.9",
    "zz.1",
    "tr.1.2",
    "tr",
    "x",
    "..%2F..",
    "t%00.1",
    "tr.*",
    "{tr}.1",
    "тр.1",
    "%F0%9F%92%A9.1",
)


def declared() -> set[tuple[str, str]]:
    """Method and path of every route there is."""
    return {
        (method, route.path)
        for router in API
        for route in router.routes
        if isinstance(route, APIRoute)
        for method in route.methods or ()
    }


async def ask(
    client: httpx.AsyncClient, key: str | None, route: tuple[str, str], name: str, body: dict[str, Any]
) -> httpx.Response:
    """One call of a route that names a session."""
    path = route[1].replace("{id}", name).replace("{number}", "1").replace("{name}", "1")
    return await client.request(route[0], path, headers=bearer(key), **body)


def test_every_route_is_walked() -> None:
    assert declared() == set(ROUTES) | OTHERS
    assert set(KEYS) == set(OWN) | set(REFUSED) - {None, "sk-nobody"}


@pytest.mark.parametrize("route", ROUTES, ids=" ".join)
@pytest.mark.parametrize("key", OWN)
async def test_a_session_is_there_for_its_own_and_missing_for_others(
    client: httpx.AsyncClient, archive: MemoryArchive, route: tuple[str, str], key: str
) -> None:
    body, changes = ROUTES[route]
    missing = await ask(client, key, route, MISSING[0], body)
    refused = changes and key in LOOK_ONLY
    assert missing.status_code == (403 if refused else 404), missing.text
    for name in EXISTING:
        kept = archive.known[name]
        answer = await ask(client, key, route, name, body)
        if refused or name not in OWN[key]:
            assert (answer.status_code, answer.content) == (missing.status_code, missing.content)
            assert answer.headers["content-type"] == "application/problem+json"
            assert archive.known[name] is kept
        else:
            assert answer.status_code == 200, answer.text
    touched = {name for _, name, _ in archive.actions}
    assert touched == (OWN[key] if changes and not refused else set())


@pytest.mark.parametrize("route", ROUTES, ids=" ".join)
@pytest.mark.parametrize("name", MISSING[1:])
async def test_what_can_be_no_id_looks_missing_too(
    client: httpx.AsyncClient, route: tuple[str, str], name: str
) -> None:
    answer = await ask(client, "sk-red-1", route, name, ROUTES[route][0])
    assert answer.status_code == 404
    assert answer.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize("route", sorted(set(ROUTES) | OTHERS), ids=" ".join)
@pytest.mark.parametrize("key", REFUSED)
async def test_without_a_valid_key_nothing_is_told(
    client: httpx.AsyncClient, archive: MemoryArchive, route: tuple[str, str], key: str | None
) -> None:
    path = (route[0], route[1].replace("{tenant}", "tr"))
    answers = [
        await ask(client, key, path, name, ROUTES.get(route, ({}, False))[0]) for name in ("tr.1", "x.9")
    ]
    assert {a.status_code for a in answers} == {REFUSED[key]}
    assert answers[0].content == answers[1].content
    assert answers[0].headers["content-type"] == "application/problem+json"
    assert not archive.actions


@pytest.mark.parametrize("key", OWN)
async def test_an_audit_names_who_did_it_and_never_a_key(
    client: httpx.AsyncClient, archive: MemoryArchive, key: str
) -> None:
    for name in OWN[key] - ({*EXISTING} if key in LOOK_ONLY else set()):
        assert (await client.post(f"/compaction/sessions/{name}/compact", headers=bearer(key))).is_success
    actors = {actor for _, _, actor in archive.actions}
    assert len(actors) == bool(OWN[key] and key not in LOOK_ONLY)
    assert all(KEYS[key].get("key_alias") or KEYS[key]["user_id"] in actor for actor in actors)
    assert not any("sk-" in actor for actor in actors)


class TestList:
    """Search, filters, counts and cursors."""

    @pytest.mark.parametrize("key", ["sk-red-1", "sk-claims", "sk-blue-1"])
    @pytest.mark.parametrize(
        "query", ["team=red", "team=Red", "text=label", "text=tr", "text=tr.2", "text=red-2", "model=gpt"]
    )
    async def test_no_filter_finds_or_counts_what_is_foreign(
        self, client: httpx.AsyncClient, key: str, query: str
    ) -> None:
        answer = (await client.get(f"/compaction/sessions?{query}", headers=bearer(key))).json()
        found = {f"{r['session']['tenant']}.{r['session']['key']}" for r in answer["rows"]}
        assert found <= OWN[key] and answer["total"] == len(found)

    async def test_a_cursor_of_somebody_else_shows_no_more(self, client: httpx.AsyncClient) -> None:
        theirs = (await client.get("/compaction/sessions?limit=1", headers=bearer(MASTER))).json()["cursor"]
        answer = await client.get(f"/compaction/sessions?cursor={theirs}", headers=bearer("sk-red-1"))
        assert answer.json()["rows"] == []

    async def test_pages_add_up(self, client: httpx.AsyncClient) -> None:
        found, cursors = [], [""]
        for cursor in cursors:
            url = f"/compaction/sessions?limit=3{cursor}"
            page = (await client.get(url, headers=bearer(MASTER))).json()
            found += [str(row["session"]) for row in page["rows"]]
            cursors += [f"&cursor={page['cursor']}"] if page["cursor"] else []
        assert len(cursors) == 2 and len(found) == 4 == len(set(found))


async def test_the_overview_counts_only_what_is_in_scope(client: httpx.AsyncClient) -> None:
    totals = {}
    for key in ("sk-red-1", "sk-red-admin", "sk-claims", MASTER):
        answer = (await client.get("/compaction/overview", headers=bearer(key))).json()
        totals[key] = answer["sessions"], answer["totals"]["saved"], [t["name"] for t in answer["teams"]]
    assert totals == {
        "sk-red-1": (1, 1000, ["Red"]),
        "sk-red-admin": (2, 2000, ["Red"]),
        "sk-claims": (0, 0, []),
        MASTER: (4, 8000, ["Blue", "Red", "ruth"]),
    }


class TestTenants:
    """Erasure of a whole tenant."""

    @pytest.mark.parametrize(
        ("key", "tenant", "status"),
        [
            (MASTER, "tr", 200),
            ("sk-red-admin", "tr", 200),
            ("sk-red-admin", "tb", 404),
            ("sk-red-admin", "zz", 404),
            ("sk-red-1", "tr", 403),
            ("sk-red-1", "zz", 403),
            ("sk-ruth", "tu", 403),
            ("sk-viewer", "tr", 403),
            (MASTER, "*", 404),
        ],
    )
    async def test_is_for_admins(
        self, client: httpx.AsyncClient, archive: MemoryArchive, key: str, tenant: str, status: int
    ) -> None:
        answer = await client.delete(f"/compaction/tenants/{tenant}", headers=bearer(key))
        assert answer.status_code == status
        assert len(archive.known) == (2 if status == 200 else 4)

    async def test_a_foreign_tenant_looks_missing(self, client: httpx.AsyncClient) -> None:
        one, other = [
            await client.delete(f"/compaction/tenants/{t}", headers=bearer("sk-red-admin"))
            for t in ("tb", "zz")
        ]
        assert one.content == other.content


class TestImport:
    """Documents from elsewhere."""

    async def test_comes_back_under_its_own_id(
        self, client: httpx.AsyncClient, archive: MemoryArchive
    ) -> None:
        document = (await client.get("/compaction/sessions/tr.1/export", headers=bearer(MASTER))).json()
        twice = await client.post("/compaction/import", json=document, headers=bearer(MASTER))
        assert twice.status_code == 409 and "already" in twice.json()["detail"]
        del archive.known["tr.1"]
        answer = await client.post("/compaction/import", json=document, headers=bearer(MASTER))
        assert (answer.status_code, answer.json()) == (201, {"session": "tr.1"})

    @pytest.mark.parametrize("key", ["sk-red-1", "sk-blue-1", "sk-viewer"])
    async def test_nobody_writes_into_another_team(
        self, client: httpx.AsyncClient, archive: MemoryArchive, key: str
    ) -> None:
        document = {"v": 1, "id": "tr.7", "team": "red"}
        answer = await client.post("/compaction/import", json=document, headers=bearer(key))
        assert answer.status_code in (403, 404) and len(archive.known) == 4


class TestPolicy:
    """What holds for whom, and who may know."""

    async def test_a_key_is_told_what_holds_for_itself(self, client: httpx.AsyncClient) -> None:
        answer = await client.get("/compaction/policy?model=gpt", headers=bearer("sk-red-1"))
        mode = next(v for v in answer.json()["values"] if v["path"] == "mode")
        assert mode["value"] == "enforce" and "for red" in mode["source"]
        assert "secret plan" not in answer.text

    @pytest.mark.parametrize("key", ["sk-red-1", "sk-red-admin", "sk-ruth", "sk-claims"])
    @pytest.mark.parametrize(
        "query", ["team=blue", "team=Blue", "team=nowhere", "key=blue-1", "team=blue&key=x"]
    )
    async def test_nobody_asks_about_others(self, client: httpx.AsyncClient, key: str, query: str) -> None:
        answer = await client.get(f"/compaction/policy?{query}", headers=bearer(key))
        assert answer.status_code == 403 and "secret plan" not in answer.text

    @pytest.mark.parametrize("key", [MASTER, "sk-viewer"])
    async def test_proxy_admins_ask_about_anybody(self, client: httpx.AsyncClient, key: str) -> None:
        answer = (await client.get("/compaction/policy?team=blue", headers=bearer(key))).json()
        assert [p["matched"] for p in answer["policies"]] == [False, True]
        assert next(v["value"] for v in answer["values"] if v["path"] == "mode") == "off"


class TestMetrics:
    """All tenants' metrics are for proxy admins."""

    @pytest.mark.parametrize("key", OWN)
    async def test_for_proxy_admins(self, client: httpx.AsyncClient, key: str) -> None:
        answer = await client.get("/compaction/metrics", headers=bearer(key))
        assert answer.status_code == (200 if key in (MASTER, "sk-viewer") else 403)
        assert ("requests_total" in answer.text) == answer.is_success

    async def test_for_everybody_where_it_was_said_so(self, app: FastAPI, client: httpx.AsyncClient) -> None:
        app.state.gateway_compaction = replace(app.state.gateway_compaction, metrics_public=True)
        answer = await client.get("/compaction/metrics")
        assert answer.status_code == 200 and answer.headers["content-type"].startswith("text/plain")


@pytest.mark.parametrize("key", OWN)
async def test_health_tells_of_the_process_only_to_proxy_admins(client: httpx.AsyncClient, key: str) -> None:
    answer = await client.get("/compaction/health", headers=bearer(key))
    assert answer.status_code == 200
    assert (answer.json()["process"] is not None) == (key in (MASTER, "sk-viewer"))
