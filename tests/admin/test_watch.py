"""Sessions as they change, on a stream that ends."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from gateway_compaction.admin import watch_routes as watching
from gateway_compaction.admin.watch_routes import to_frames
from gateway_compaction.archive import Scope, SessionRow
from gateway_compaction.errors import StoreError
from tests.admin.conftest import bearer
from tests.admin.memory_archive import MemoryArchive
from tests.admin.people import HOSTILE, MASTER, hash_of


async def given(*rows: SessionRow | Exception, then_wait: bool = True) -> AsyncIterator[SessionRow]:
    """Rows, then silence."""
    for row in rows:
        if isinstance(row, Exception):
            raise row
        yield row
    if then_wait:
        await asyncio.Event().wait()


async def read(lines: AsyncIterator[str], number: int) -> list[str]:
    """The first frames of a stream, which is then left."""
    found = [await anext(lines) for _ in range(number)]
    await lines.aclose()  # type: ignore[attr-defined]
    return found


class TestFrames:
    """Rows as text."""

    async def test_a_row_is_one_event_in_one_line(self, archive: MemoryArchive) -> None:
        row = archive.known["tr.1"].row
        hostile = SessionRow(row.session, row.owner, labels=(f"{HOSTILE}\n\ndata: forged",))
        _, frame = await read(to_frames(given(hostile)), 2)
        name, data, *rest = frame.split("\n")
        assert name == "event: session" and rest == ["", ""]
        assert json.loads(data.removeprefix("data: "))["labels"] == [f"{HOSTILE}\n\ndata: forged"]

    async def test_silence_keeps_the_line_open_and_loses_nothing(self, archive: MemoryArchive) -> None:
        lines = to_frames(archive.watch(Scope(everything=True)), beat=0.01)
        assert (await anext(lines)).startswith("retry")
        assert await anext(lines) == ": still here\n\n"
        archive.rows.put_nowait(archive.known["tr.1"].row)
        found = await anext(lines)
        while found.startswith(":"):
            found = await anext(lines)
        assert found.startswith("event: session")

    async def test_it_ends_in_good_order(self) -> None:
        assert [f async for f in to_frames(given(then_wait=False))] == ["retry: 2000\n\n"]
        beats = [f async for f in to_frames(given(), beat=0.01, longest=0.05)]
        assert beats[-1] == ": still here\n\n"

    async def test_a_store_that_goes_down_is_told(self) -> None:
        found = [f async for f in to_frames(given(StoreError("redis://10.0.0.7")))]
        assert found[-1].startswith("event: down\ndata: ") and "10.0.0.7" not in found[-1]

    async def test_who_goes_away_leaves_nothing_behind(self) -> None:
        before = len(asyncio.all_tasks())
        for _ in range(3):
            await read(to_frames(given(), beat=0.01), 2)
        await asyncio.sleep(0)
        assert len(asyncio.all_tasks()) == before


@pytest.mark.usefixtures("keyed")
class TestRoute:
    """The stream behind authentication."""

    async def test_only_rows_in_scope_are_sent(self, app: FastAPI, archive: MemoryArchive) -> None:
        for name in ("tb.1", "tr.2", "tr.1"):
            archive.rows.put_nowait(archive.known[name].row)
        scope = Scope(key_hash=hash_of("sk-red-1"))
        _, frame = await read(to_frames(archive.watch(scope)), 2)
        assert json.loads(frame.split("data: ")[1])["session"] == {"tenant": "tr", "key": "1"}

    async def test_it_is_a_stream(self, client: httpx.AsyncClient, archive: MemoryArchive) -> None:
        # The client in this process reads a stream as a whole: a store that goes down ends it.
        archive.goes_down_watching = True
        answer = await client.get("/compaction/watch", headers=bearer(MASTER))
        assert answer.headers["content-type"].startswith("text/event-stream")
        assert "event: down" in answer.text

    async def test_there_is_a_most_of_them(
        self, client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(watching.streams, "open", 50)
        answer = await client.get("/compaction/watch", headers=bearer(MASTER))
        assert answer.status_code == 503 and "50 streams" in answer.json()["detail"]

    async def test_many_at_once_are_no_more(self, client: httpx.AsyncClient, archive: MemoryArchive) -> None:
        archive.hangs = True
        asked = [
            asyncio.create_task(client.get("/compaction/watch", headers=bearer(key)))
            for key in (MASTER, "sk-viewer", "sk-red-admin", "sk-red-2", "sk-blue-1", "sk-looks")
            for _ in range(10)
        ]
        done, waiting = set[asyncio.Task[httpx.Response]](), set(asked)
        async with asyncio.timeout(30):
            # Those that got a place wait for the store, which never answers.
            while len(done) < 10:
                some, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
                done |= some
        assert [task.result().status_code for task in done] == [503] * 10
        assert watching.streams.open == len(archive.scopes) == 50 == watching.streams.of.total()
        for task in asked:
            task.cancel()
        await asyncio.wait(asked)
        assert watching.streams.open == 0 and not watching.streams.of

    async def test_one_key_leaves_places_for_others(
        self, client: httpx.AsyncClient, archive: MemoryArchive
    ) -> None:
        archive.hangs = True
        asked = [
            asyncio.create_task(client.get("/compaction/watch", headers=bearer("sk-red-2")))
            for _ in range(12)
        ]
        refused, waiting = set[asyncio.Task[httpx.Response]](), set(asked)
        async with asyncio.timeout(30):
            while len(refused) < 2:
                some, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
                refused |= some
        assert {task.result().status_code for task in refused} == {429}
        assert "10 streams" in refused.pop().result().json()["detail"]
        assert watching.streams.of.most_common() == [(archive.scopes[0].actor, 10)]
        for task in asked:
            task.cancel()
        await asyncio.wait(asked)
        archive.hangs, archive.goes_down_watching = False, True
        answer = await client.get("/compaction/watch", headers=bearer("sk-red-2"))
        assert answer.status_code == 200

    async def test_a_place_is_free_again(self, client: httpx.AsyncClient, archive: MemoryArchive) -> None:
        archive.goes_down_watching = True
        for _ in range(2):  # it ends by itself; then it does not even begin
            answer = await client.get("/compaction/watch", headers=bearer(MASTER))
            assert watching.streams.open == 0
        assert answer.status_code == 503

    async def test_who_goes_away_frees_a_place(self, app: FastAPI) -> None:
        told, gone = list[dict[str, Any]](), asyncio.Event()

        async def receive() -> dict[str, Any]:
            await gone.wait()
            return {"type": "http.disconnect"}

        async def send(message: Any) -> None:
            told.append(message)
            if message.get("body"):
                assert watching.streams.open == 1
                gone.set()

        scope: dict[str, Any] = {"type": "http", "http_version": "1.1", "method": "GET"}
        scope |= {"asgi": {"version": "3.0"}, "scheme": "http"}
        scope |= {"path": "/compaction/watch", "raw_path": b"/compaction/watch"}
        scope |= {"query_string": b"", "root_path": "", "client": ("127.0.0.1", 1), "server": ("h", 80)}
        scope["headers"] = [(b"host", b"localhost"), (b"authorization", f"Bearer {MASTER}".encode())]
        async with asyncio.timeout(30):
            await app(scope, receive, send)
        assert told[0]["status"] == 200 and gone.is_set() and watching.streams.open == 0
