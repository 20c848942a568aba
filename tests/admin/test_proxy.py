"""The API on a real proxy, over the real store: every route with every role on sessions made by calls."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from typing import Any

import httpx
import pytest

from tests.admin.conftest import bearer
from tests.admin.test_roles import MISSING, OTHERS, ROUTES
from tests.e2e.talks import chat
from tests.lab import Client, Model, Proxy, RedisServer, Reply, Upstream
from tests.lab.client import LIMITS
from tests.lab.proxy import MASTER_KEY, proxy_config, start_all

POLICIES = {
    "version": 1,
    "defaults": {"mode": "enforce", "summary": {"model": "extractive"}, "storage": {"content": "full"}},
}
MEMBER = {"team_member": {"user_id": "ann", "role": "admin"}, "user_id": "ann"}
KEYS: Mapping[str, Mapping[str, Any]] = {
    "sk-viewer": {"user_role": "proxy_admin_viewer", "user_id": "auditor"},
    "sk-red-admin": {"team_id": "red", "key_alias": "red-lead", **MEMBER},
    "sk-red-1": {"team_id": "red", "team_alias": "Red", "key_alias": "red-1"},
    "sk-red-2": {"team_id": "red", "team_alias": "Red", "key_alias": "red-2"},
    "sk-blue-1": {"team_id": "blue", "key_alias": "blue-1", "user_id": "bea"},
    "sk-bea": {"user_id": "bea"},
    "sk-blocked": {"team_id": "red", "blocked": True},
    "sk-calls-only": {"team_id": "red", "allowed_routes": ["llm_api_routes"]},
}
ASKING = (MASTER_KEY, *KEYS, None, "sk-nobody")
TALKS: list[str] = []
CALLING = ("sk-red-1", "sk-red-2", "sk-blue-1", "sk-bea")
SEEN = {
    MASTER_KEY: set(CALLING),
    "sk-viewer": set(CALLING),
    "sk-red-admin": {"sk-red-1", "sk-red-2"},
    **{key: {key} for key in CALLING},
}


@pytest.fixture(scope="module")
def proxies(redis_server: RedisServer, upstream: Upstream) -> Iterator[tuple[Proxy, Proxy]]:
    """One proxy that checks keys and routes as with a database, one that asks nobody for a key."""
    upstream.scripts["gpt-4o-admin"] = lambda seen: Reply(text="noted")
    models = [Model("admin", 2000)]
    keyed = proxy_config(models, upstream.url, custom_auth=True)
    keyed["general_settings"]["custom_auth_run_common_checks"] = True
    unkeyed = proxy_config(models, upstream.url)
    unkeyed["general_settings"] = {"dangerously_permit_weak_or_unset_master_key": True}
    settings: dict[str, Any] = {"policies": POLICIES, "redis_url": redis_server.url}
    # The test is not about a busy machine.
    settings["env"] = {"GATEWAY_COMPACTION_REDIS_TIMEOUT_SECONDS": "2"}
    made = Proxy(keyed, name="admin", keys=KEYS, **settings), Proxy(unkeyed, name="open", **settings)
    redis_server.flush()
    try:
        start_all(made)
        for proxy in made:
            # The first of everything takes longest: it is not what is waited for below.
            body = {"model": "admin", "messages": chat(f"warm {proxy.name}", 11)}
            url = f"{proxy.url}/v1/chat/completions"
            httpx.post(url, json=body, headers=bearer("sk-red-1"), timeout=60, trust_env=False)
        yield made
    finally:
        for proxy in made:
            proxy.stop()
            proxy.remove()


def visit(proxy: Proxy) -> httpx.AsyncClient:
    """A client that waits as long as a busy machine takes: LiteLLM's own document is seconds of work."""
    return httpx.AsyncClient(base_url=proxy.url, trust_env=False, timeout=120, limits=LIMITS)


@pytest.fixture
async def client(proxies: tuple[Proxy, Proxy]) -> AsyncIterator[httpx.AsyncClient]:
    """A client of the proxy that checks keys."""
    async with visit(proxies[0]) as client:
        yield client


@pytest.fixture
async def made(proxies: tuple[Proxy, Proxy], client: httpx.AsyncClient) -> dict[str, str]:
    """One compacted session of each calling key: its id."""
    # What earlier tests left; the conversations are new ones, since a proxy remembers the old.
    for row in (await client.get("/compaction/sessions", headers=bearer(MASTER_KEY))).json()["rows"]:
        session_id = f"{row['session']['tenant']}.{row['session']['key']}"
        await client.delete(f"/compaction/sessions/{session_id}", headers=bearer(MASTER_KEY))
    TALKS.append(f"talk{len(TALKS)}")
    found, calls = dict[str, str](), 0

    async def stored() -> object:
        page = (await client.get("/compaction/sessions", headers=bearer(MASTER_KEY))).json()
        kept = {label: (r["calls"], r["versions"] > 0) for r in page["rows"] for label in r["labels"]}
        return True if kept == dict.fromkeys(CALLING, (calls, True)) else page

    for turns in (11, 12, 13):
        calls += 1
        for key in CALLING:
            async with Client(proxies[0], key) as caller:
                answer = await caller.chat(
                    "admin", chat(f"{TALKS[-1]}-{key}", turns), headers={"x-session-id": key}
                )
            assert answer.status == 200, answer.body
            found[key] = str(answer.told("session"))
        await eventually(stored, "every call is in the list")
    return found


async def eventually(probe: Callable[[], Awaitable[object]], what: str) -> None:
    """Ask until the answer is True."""
    for _ in range(200):
        answer = await probe()
        if answer is True:
            return
        await asyncio.sleep(0.05)
    raise AssertionError(f"not in 10 s: {what}, but {answer!r:.3000}")


# Parts that these sessions lack: no deed has made a snapshot, and their clients keep the conversation.
PARTS = {route for route in ROUTES if "{name}" in route[1] or route[1].endswith("/transcript")}


async def ask(
    client: httpx.AsyncClient, key: str | None, route: tuple[str, str], name: str
) -> httpx.Response:
    """One call of a route that names a session."""
    path = route[1].replace("{id}", name).replace("{number}", "1")
    return await client.request(route[0], path, headers=bearer(key), **ROUTES[route][0])


async def test_every_route_with_every_role(client: httpx.AsyncClient, made: dict[str, str]) -> None:
    for key in ASKING:
        own = SEEN.get(str(key), set())
        foreign = next((name for owner, name in made.items() if owner not in own), None)
        theirs = next((name for owner, name in made.items() if owner in own), None)
        for route, (_, changes) in ROUTES.items():
            missing = await ask(client, key, route, MISSING[0])
            refused = key == "sk-viewer" and changes
            assert missing.status_code == (_refusal(key) or (403 if refused else 404)), (
                key,
                route,
                missing.text,
            )
            assert missing.headers["content-type"] == "application/problem+json"
            for name in {foreign, theirs if refused else None} - {None}:
                answer = await ask(client, key, route, str(name))
                assert (answer.status_code, answer.content) == (missing.status_code, missing.content)
            if theirs and not changes:
                answer = await ask(client, key, route, theirs)
                assert answer.status_code == (404 if route in PARTS else 200), (key, route, answer.text)
                assert route not in PARTS or answer.content != missing.content
    for name in made.values():
        detail = (await client.get(f"/compaction/sessions/{name}", headers=bearer(MASTER_KEY))).json()
        assert detail["row"]["calls"] == 3 and not any(e["type"] == "audit" for e in detail["events"])


def _refusal(key: str | None) -> int | None:
    if key in (None, "sk-nobody", "sk-blocked"):
        return 401
    return 403 if key == "sk-calls-only" else None


async def test_lists_counts_and_overviews_hold_what_is_one_s_own(
    client: httpx.AsyncClient, made: dict[str, str]
) -> None:
    for key, own in SEEN.items():
        expected = {made[owner] for owner in own}
        for query in (
            "",
            "?team=red",
            "?text=harbour",
            "?text=sk-",
            "?sort=tokens",
            f"?text={made['sk-blue-1']}",
        ):
            page = (await client.get(f"/compaction/sessions{query}", headers=bearer(key))).json()
            found = {f"{r['session']['tenant']}.{r['session']['key']}" for r in page["rows"]}
            assert found <= expected and page["total"] == len(found)
            assert query not in ("", "?text=sk-", "?sort=tokens") or found == expected
        overview = (await client.get("/compaction/overview", headers=bearer(key))).json()
        assert overview["sessions"] == len(own) and overview["totals"]["requests"] >= 3 * len(own)
        assert overview["totals"]["saved"] > 0


async def test_nobody_else_s_words_are_in_any_answer(client: httpx.AsyncClient, made: dict[str, str]) -> None:
    for path in ("overview", "sessions", "policy", "health", f"sessions/{made['sk-red-1']}"):
        answer = await client.get(f"/compaction/{path}", headers=bearer("sk-red-1"))
        assert answer.status_code == 200
        for other in ("red-2", "blue", "bea", "sk-red-2"):
            assert other not in answer.text.replace("overridden", "")


async def test_deeds_are_done_and_leave_the_name_of_who_did_them(
    client: httpx.AsyncClient, made: dict[str, str]
) -> None:
    name = made["sk-red-2"]
    actions = ["compact", "rollback", "pins", "unpin", "rebuild", "reset"]
    bodies = {"pins": {"text": "berth 7"}, "unpin": {"text": "berth 7"}, "rollback": {"version": 0}}
    for key, action in zip(["sk-red-admin", "sk-red-2", MASTER_KEY] * 2, actions, strict=True):
        path = f"/compaction/sessions/{name}/{action}"
        answer = await client.post(path, headers=bearer(key), json=bodies.get(action))
        assert answer.status_code == 200, (action, answer.text)
        assert answer.json()["detail"]
    events = (await client.get(f"/compaction/sessions/{name}/events", headers=bearer(MASTER_KEY))).json()
    audits = [e["by"] for e in events["events"] if e["type"] == "audit"]
    expected = ["team admin, key red-lead", "key red-2", "proxy admin, key #"] * 2
    assert len(audits) == 6
    assert all(found.startswith(said) for found, said in zip(reversed(audits), expected, strict=True))


@pytest.mark.parametrize("path", ["sessions/{}/compact", "ui/sessions/{}/do/compact"])
async def test_the_very_next_call_of_this_process_knows_of_a_wish(
    client: httpx.AsyncClient, proxies: tuple[Proxy, Proxy], made: dict[str, str], path: str
) -> None:
    name = made["sk-red-1"]
    typed = {"Content-Type": "application/x-www-form-urlencoded"}
    async with Client(proxies[0], "sk-red-1") as caller:
        small = chat(f"{TALKS[-1]}-sk-red-1", 6)
        before = await caller.chat("admin", small)
        wished = await client.post(
            f"/compaction/{path.format(name)}", headers={**bearer("sk-red-1"), **typed}, content="x=1"
        )
        after = await caller.chat("admin", small)
    assert wished.status_code in (200, 303), wished.text
    assert (before.outcome, after.outcome) == ("none", "applied"), after.headers
    assert after.told("session") == name


async def test_a_label_of_every_script_is_shown_as_it_was_sent(
    client: httpx.AsyncClient, made: dict[str, str]
) -> None:
    label = "Ärzte 배송 \u202e!"
    body = {"model": "admin", "messages": chat(f"{TALKS[-1]}-sk-bea", 14)}
    headers = [("Authorization", b"Bearer sk-bea"), ("x-session-id", label.encode())]
    answer = await client.post("/v1/chat/completions", json=body, headers=headers)
    assert answer.status_code == 200, answer.text

    async def listed() -> object:
        path = f"/compaction/sessions/{made['sk-bea']}"
        labels = (await client.get(path, headers=bearer("sk-bea"))).json()["row"]["labels"]
        return True if labels == [label, "sk-bea"] else labels

    await eventually(listed, "the label is there")
    page = (await client.get("/compaction/ui/sessions", headers=bearer("sk-bea"))).text
    assert "Ärzte 배송" in page and "\u202e" not in page


async def test_a_session_goes_out_and_comes_back(client: httpx.AsyncClient, made: dict[str, str]) -> None:
    path = f"/compaction/sessions/{made['sk-blue-1']}"
    document = await client.get(f"{path}/export", headers=bearer("sk-blue-1"))
    typed = {"Content-Type": "application/json"}
    for key in ("sk-red-1", "sk-red-admin"):
        refused = await client.post(
            "/compaction/import", content=document.content, headers={**typed, **bearer(key)}
        )
        assert refused.status_code in (404, 409)
    gone = await client.delete(path, headers=bearer("sk-blue-1"))
    assert gone.status_code == 200 and gone.json()["gone"] > 0
    assert (await client.get(path, headers=bearer(MASTER_KEY))).status_code == 404
    headers = {**typed, **bearer(MASTER_KEY)}
    back = await client.post("/compaction/import", content=document.content, headers=headers)
    assert back.status_code == 201 and back.json()["session"] == made["sk-blue-1"]
    assert (await client.get(path, headers=bearer("sk-blue-1"))).status_code == 200
    second = await client.get(f"{path}/export", headers=bearer(MASTER_KEY))
    kept, come = document.json(), second.json()
    # It lives as long as it would have, and one event says that it was brought in.
    assert come.pop("ttl") <= kept.pop("ttl")
    assert json.loads(come["events"].pop(0))["outcome"] == "import"
    assert come == kept


async def test_a_session_comes_back_to_its_key_through_an_admin_of_the_team(
    client: httpx.AsyncClient, proxies: tuple[Proxy, Proxy], made: dict[str, str]
) -> None:
    path = f"/compaction/sessions/{made['sk-red-2']}"
    seen = (await client.get(path, headers=bearer("sk-red-2"))).json()["row"]["owner"]
    document = (await client.get(f"{path}/export", headers=bearer("sk-red-2"))).json()
    assert (await client.delete(path, headers=bearer("sk-red-admin"))).status_code == 200
    own = await client.post("/compaction/import", json=document, headers=bearer("sk-red-2"))
    assert own.status_code == 404 and "any other key only where" in own.json()["detail"]
    back = await client.post("/compaction/import", json=document, headers=bearer("sk-red-admin"))
    assert back.status_code == 201, back.text
    # What the key is called is only said until it calls.
    for turns, told in ((13, {**seen, "key_alias": None, "user_id": None}), (14, seen)):

        async def owned(told: object = told) -> bool:
            found = await client.get(path, headers=bearer("sk-red-2"))
            return found.status_code == 200 and found.json()["row"]["owner"] == told

        await eventually(owned, f"the session is its key's, told as {told}")
        assert (await client.get(path, headers=bearer("sk-red-1"))).status_code == 404
        async with Client(proxies[0], "sk-red-2") as caller:
            answer = await caller.chat("admin", chat(f"{TALKS[-1]}-sk-red-2", turns))
        assert answer.told("session") == made["sk-red-2"]


async def test_a_whole_tenant_goes(client: httpx.AsyncClient, made: dict[str, str]) -> None:
    red, blue = (made[key].partition(".")[0] for key in ("sk-red-1", "sk-blue-1"))
    for key, tenant, status in (
        ("sk-red-admin", blue, 404),
        ("sk-red-1", red, 403),
        ("sk-viewer", red, 403),
        ("sk-red-admin", red, 200),
        (MASTER_KEY, red, 404),
    ):
        answer = await client.delete(f"/compaction/tenants/{tenant}", headers=bearer(key))
        assert answer.status_code == status, (key, answer.text)
    left = (await client.get("/compaction/sessions", headers=bearer(MASTER_KEY))).json()
    assert {r["session"]["tenant"] for r in left["rows"]} == {made[k].partition(".")[0] for k in CALLING[2:]}


async def test_an_open_stream_follows_one_s_own_calls(
    proxies: tuple[Proxy, Proxy], client: httpx.AsyncClient, made: dict[str, str]
) -> None:
    async def call(key: str) -> None:
        async with Client(proxies[0], key) as caller:
            await caller.chat("admin", chat(f"{TALKS[-1]}-{key}", 14))

    rows: list[dict[str, Any]] = []

    async def follow() -> None:
        async with client.stream("GET", "/compaction/watch", headers=bearer("sk-red-1")) as response:
            assert response.headers["content-type"].startswith("text/event-stream")
            started.set()
            async for line in response.aiter_lines():
                if line.startswith("data: "):
                    rows.append(json.loads(line.removeprefix("data: ")))
                    if rows[-1]["calls"] == 4:
                        return

    started = asyncio.Event()
    following = asyncio.ensure_future(follow())
    await asyncio.wait_for(started.wait(), 10)
    await asyncio.gather(call("sk-blue-1"), call("sk-red-2"))
    await call("sk-red-1")
    await asyncio.wait_for(following, 20)
    assert {f"{r['session']['tenant']}.{r['session']['key']}" for r in rows} == {made["sk-red-1"]}


async def test_the_proxy_s_own_document_holds_the_routes(client: httpx.AsyncClient) -> None:
    document = (await client.get("/openapi.json")).json()
    for method, path in set(ROUTES) | OTHERS:
        assert method.lower() in document["paths"][path]
    assert "/chat/completions" in document["paths"]


async def test_metrics_are_for_proxy_admins(client: httpx.AsyncClient, made: dict[str, str]) -> None:
    assert (await client.get("/compaction/metrics", headers=bearer("sk-red-admin"))).status_code == 403
    answer = await client.get("/compaction/metrics", headers=bearer(MASTER_KEY))
    assert answer.status_code == 200 and "gateway_compaction_" in answer.text
    assert not any(key in answer.text for key in (*CALLING, "red-1", "bea"))


class TestOpenProxy:
    """A proxy without a master key."""

    async def test_shows_everything_here_and_nothing_to_other_pages(
        self, proxies: tuple[Proxy, Proxy]
    ) -> None:
        proxy = proxies[1]
        async with Client(proxy, "sk-anything") as caller:
            answer = await caller.chat("admin", chat("open", 11))
        name = answer.told("session")
        async with visit(proxy) as client:

            async def there() -> object:
                answer = await client.get(f"/compaction/sessions/{name}")
                return answer.status_code == 200 or answer.text

            await eventually(there, "the session can be seen without a key")
            other = {"Origin": "https://evil.example"}
            assert (await client.get("/compaction/sessions", headers=other)).status_code == 403
            action = f"/compaction/sessions/{name}/reset"
            assert (await client.post(action, headers={**other, **bearer("sk-x")})).status_code == 403
            assert (await client.post(action)).status_code == 200
