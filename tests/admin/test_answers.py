"""What comes back: texts of strangers as they were, failures as sentences."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from fastapi.routing import APIRoute
from pydantic import TypeAdapter

from gateway_compaction.admin.problems import NOT_THERE
from gateway_compaction.admin.routes import API
from gateway_compaction.archive import Owner, Scope, SessionControls
from gateway_compaction.core.records.compaction import Compaction, Segment
from gateway_compaction.core.records.event import CompactionEvent
from gateway_compaction.errors import StoreError
from tests.admin.conftest import bearer
from tests.admin.memory_archive import MemoryArchive
from tests.admin.people import HOSTILE, MASTER, session
from tests.admin.test_roles import ROUTES, ask

pytestmark = pytest.mark.usefixtures("keyed")
NAMELESS = {
    ("GET", "/compaction/overview"): {},
    ("GET", "/compaction/sessions"): {},
    ("GET", "/compaction/health"): {},
    ("GET", "/compaction/watch"): {},
    ("DELETE", "/compaction/tenants/tr"): {},
    ("POST", "/compaction/import"): {"json": {"v": 1}},
}


@pytest.mark.parametrize("route", [*ROUTES, *NAMELESS], ids=" ".join)
async def test_with_the_store_down_a_sentence_says_so(
    client: httpx.AsyncClient, archive: MemoryArchive, route: tuple[str, str]
) -> None:
    archive.down = True
    body: dict[str, Any] = NAMELESS[route] if route in NAMELESS else ROUTES[route][0]
    answer = await ask(client, MASTER, route, "tr.1", body)
    assert answer.status_code == 503
    assert "The store does not answer" in answer.text
    assert "10.0.0.7" not in answer.text


async def test_health_does_not_wait_for_a_store_that_hangs(
    client: httpx.AsyncClient, archive: MemoryArchive
) -> None:
    archive.hangs = True
    async with asyncio.timeout(30):
        answer = await client.get("/compaction/health", headers=bearer(MASTER))
    assert answer.status_code == 503 and answer.json()["ok"] is False


async def test_health_reads_no_lists(client: httpx.AsyncClient, archive: MemoryArchive) -> None:
    answer = await client.get("/compaction/health", headers=bearer(MASTER))
    assert answer.status_code == 200 and archive.scopes == [Scope()]
    assert answer.json()["store"].endswith("takes what is written.")


async def test_health_tells_a_store_that_takes_nothing(app: FastAPI, client: httpx.AsyncClient) -> None:
    async def refuse() -> None:
        raise StoreError("READONLY You can't write against a read only replica: 10.0.0.7")

    app.state.gateway_compaction = replace(app.state.gateway_compaction, try_write=refuse)
    answer = await client.get("/compaction/health", headers=bearer(MASTER))
    told = answer.json()
    assert answer.status_code == 503 and told["ok"] is False and told["process"] is not None
    assert "takes nothing that is written" in told["store"] and "10.0.0.7" not in answer.text


async def test_a_part_that_is_not_there_is_told_of_to_who_may_see_the_session(
    client: httpx.AsyncClient, archive: MemoryArchive
) -> None:
    asked: tuple[tuple[str, str, Any, str], ...] = (
        ("POST", "rollback", {"version": 9}, "The session has no version 9; there are: 2, 1."),
        ("POST", "unpin", {"text": "x"}, "The session has no such pin; it has 1 pin."),
        ("GET", "versions/9", None, "The session has no version 9; there are: 2, 1."),
    )
    for method, path, body, told in asked:
        for key, said in ((MASTER, told), ("sk-blue-1", NOT_THERE)):
            answer = await client.request(
                method, f"/compaction/sessions/tr.1/{path}", json=body, headers=bearer(key)
            )
            assert (answer.status_code, answer.json()["detail"]) == (404, said)
    assert archive.actions == []


async def test_what_needs_no_store_answers_without_it(
    client: httpx.AsyncClient, archive: MemoryArchive
) -> None:
    archive.down = True
    for path in ("policy", "metrics"):
        assert (await client.get(f"/compaction/{path}", headers=bearer(MASTER))).status_code == 200


@pytest.mark.parametrize(
    ("method", "path", "extra"),
    [
        ("GET", "sessions?limit=0", {}),
        ("GET", "sessions?limit=many", {}),
        ("GET", "sessions?sort=colour", {}),
        ("GET", "sessions?state=sleepy", {}),
        ("GET", "sessions?since=nan", {}),
        ("GET", "sessions?since=-1", {}),
        ("GET", f"sessions?text={'x' * 201}", {}),
        ("GET", "overview?hours=0", {}),
        ("GET", "overview?hours=193", {}),
        ("GET", "overview?hours=99999999", {}),
        ("GET", "sessions/tr.1/versions/x", {}),
        ("GET", "sessions/tr.1/versions/99999999999999999999", {}),
        ("POST", "sessions/tr.1/rollback", {"json": {}}),
        ("POST", "sessions/tr.1/rollback", {"json": {"version": -1}}),
        ("POST", "sessions/tr.1/rollback", {"json": {"version": 1, "force": True}}),
        ("POST", "sessions/tr.1/rollback", {"content": b"{not json"}),
        ("POST", "sessions/tr.1/pins", {"json": {"text": ""}}),
        ("POST", "sessions/tr.1/pins", {"json": {"text": "x" * 401}}),
        ("POST", "sessions/tr.1/preview", {"json": {"rate": 0.9}}),
        ("POST", "sessions/tr.1/preview", {"json": {"colour": "red"}}),
        ("POST", "import", {"json": []}),
        ("POST", "import", {}),
    ],
)
async def test_what_cannot_be_used_is_named(
    client: httpx.AsyncClient, archive: MemoryArchive, method: str, path: str, extra: dict[str, Any]
) -> None:
    headers = {**bearer(MASTER), "Content-Type": "application/json"}
    answer = await client.request(method, f"/compaction/{path}", headers=headers, **extra)
    assert answer.status_code == 422, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["errors"][0]["at"] and not archive.actions


@pytest.mark.parametrize(
    ("method", "path"), [("GET", "nothing"), ("PUT", "sessions"), ("POST", "sessions/tr.1")]
)
async def test_what_is_nowhere_is_a_problem_too(client: httpx.AsyncClient, method: str, path: str) -> None:
    answer = await client.request(method, f"/compaction/{path}")
    assert answer.status_code == 404 and answer.headers["content-type"] == "application/problem+json"


async def test_bodies_have_a_longest_length(client: httpx.AsyncClient, archive: MemoryArchive) -> None:
    small = dict.fromkeys(("sessions/tr.1/pins", "sessions/tr.1/preview"), 65_536)
    for path, most in {"import": 32_000_000, **small}.items():
        for length, refused in ((most, False), (most + 1, True)):
            headers = {**bearer(MASTER), "Content-Length": str(length)}
            answer = await client.post(f"/compaction/{path}", content=b"{}", headers=headers)
            assert (answer.status_code == 413) is refused

    async def endless() -> Any:
        yield b"{}"

    answer = await client.post("/compaction/import", content=endless(), headers=bearer(MASTER))
    assert answer.status_code == 411


async def test_a_fault_of_ours_is_a_problem_that_tells_nothing(
    client: httpx.AsyncClient, archive: MemoryArchive, caplog: pytest.LogCaptureFixture
) -> None:
    archive.hours = [object()]  # type: ignore[list-item]
    answer = await client.get("/compaction/overview", headers=bearer(MASTER))
    assert answer.status_code == 500 and "object" not in answer.text
    assert "a fault while answering" in caplog.text


async def test_refusals_of_the_archive_are_told(client: httpx.AsyncClient, archive: MemoryArchive) -> None:
    full = replace(archive.known["tr.1"], steering=SessionControls("g", tuple(map(str, range(20)))))
    archive.add(full)
    answer = await client.post("/compaction/sessions/tr.1/pins", json={"text": "x"}, headers=bearer(MASTER))
    assert answer.status_code == 409 and "20 pins" in answer.json()["detail"]
    answer = await client.get("/compaction/sessions?cursor=none", headers=bearer(MASTER))
    assert answer.status_code == 409


async def test_texts_of_strangers_arrive_as_they_were(
    client: httpx.AsyncClient, archive: MemoryArchive
) -> None:
    long = HOSTILE * 20_000
    summary = Compaction("d", 1, "model", (Segment(0, 1, long),), version=1)
    detail = session("th", "1", Owner(team_id=HOSTILE), labels=(HOSTILE,), reason=HOSTILE, policy=HOSTILE)
    last = detail.last_call
    assert last is not None
    archive.add(
        replace(
            detail,
            compactions=(summary,),
            steering=SessionControls("g", (HOSTILE,)),
            events=(CompactionEvent("audit", 1.0, "pin", HOSTILE),),
            last_call=replace(last, client=({"role": "user", "content": HOSTILE},)),
        )
    )
    answer = await client.get("/compaction/sessions/th.1", headers=bearer(MASTER))
    assert answer.content.isascii()
    found = json.loads(answer.content)
    assert found["row"]["labels"] == [HOSTILE]
    assert found["compactions"][0]["segments"][0]["text"] == long
    assert found["steering"]["pins"] == [HOSTILE]
    assert found["last_call"]["client"][0]["content"] == HOSTILE
    version = await client.get("/compaction/sessions/th.1/versions/1", headers=bearer(MASTER))
    assert json.loads(version.content)["text"] == long
    for text, status in ((HOSTILE.replace("\ud800", ""), 200), (HOSTILE, 422)):
        content, typed = json.dumps({"text": text}), {"Content-Type": "application/json", **bearer(MASTER)}
        answer = await client.post("/compaction/sessions/tr.1/pins", content=content, headers=typed)
        assert answer.status_code == status
        assert (text in archive.known["tr.1"].steering.pins) == (status == 200)


async def test_nothing_is_kept_by_browsers_or_guessed_at(client: httpx.AsyncClient) -> None:
    for key in (MASTER, None):
        answer = await client.get("/compaction/sessions", headers=bearer(key))
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["x-content-type-options"] == "nosniff"


async def test_every_answer_keeps_what_its_schema_says(client: httpx.AsyncClient) -> None:
    """Answers are not validated on their way out, so a test holds them to the published models."""
    checked = 0
    for route in (r for router in API for r in router.routes if isinstance(r, APIRoute)):
        method = min(route.methods or {""})
        if route.response_model is None or method == "DELETE" or route.path.endswith("import"):
            continue
        if "/v1/" in route.path:
            # Of no session; tests/admin/test_conversations.py and test_summarize.py ask them.
            continue
        body = ROUTES.get((method, route.path), ({}, False))[0]
        answer = await ask(client, MASTER, (method, route.path), "tr.1", body)
        assert answer.status_code == 200, answer.text
        TypeAdapter(route.response_model).validate_json(answer.content)
        checked += 1
    assert checked == 22
