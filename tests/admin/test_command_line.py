"""The command line over HTTP against the real routes and LiteLLM's own authentication."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest
import uvicorn
from fastapi import FastAPI
from typer.testing import CliRunner

from gateway_compaction.adapters.http_archive import HttpArchive
from gateway_compaction.archive import Query, Scope
from gateway_compaction.cli.buffers.commands import app as buffers
from gateway_compaction.core.records.compaction import SessionRef
from gateway_compaction.errors import ActionRefused, NotFound, StoreError
from tests.admin.memory_archive import MemoryArchive
from tests.admin.people import HOSTILE, MASTER
from tests.lab.ports import HOST
from tests.lab.waiting import until

NOBODY = Scope()
RED, BLUE = SessionRef("tr", "1"), SessionRef("tb", "1")


@pytest.fixture
async def url(app: FastAPI, keyed: None) -> AsyncIterator[str]:
    """The routes on a socket."""
    server = uvicorn.Server(uvicorn.Config(app, HOST, 0, log_level="error", lifespan="off"))
    serving = asyncio.create_task(server.serve())
    await until(lambda: server.started, "the server")
    [socket] = server.servers[0].sockets
    yield f"http://{HOST}:{socket.getsockname()[1]}"
    server.should_exit = True
    await serving


async def run(url: str, *arguments: str, key: str | None = MASTER, code: int = 0) -> str:
    """What a command prints."""

    def invoke() -> str:
        env = {"GATEWAY_COMPACTION_REDIS_URL": "", "GATEWAY_COMPACTION_KEY": key or ""}
        typed = [*arguments, "--url", url]
        result = CliRunner().invoke(buffers, typed, env=env, catch_exceptions=False)
        assert result.exit_code == code, result.output
        return result.stdout if code == 0 else result.stderr

    return await asyncio.to_thread(invoke)


async def test_every_method_of_the_contract(url: str, archive: MemoryArchive) -> None:
    detail = archive.known[RED.session_id]
    async with HttpArchive(url, MASTER) as remote:
        assert await remote.overview(NOBODY, 24) == tuple(archive.hours)
        page = await remote.sessions(NOBODY, Query(limit=2))
        assert page == await archive.sessions(Scope(everything=True), Query(limit=2)) and page.cursor
        rest = await remote.sessions(NOBODY, Query(cursor=page.cursor))
        assert len(page.rows) + len(rest.rows) == page.total == 4
        assert await remote.detail(NOBODY, RED) == detail
        await remote.compact(NOBODY, RED)
        await remote.rebuild(NOBODY, RED)
        await remote.rollback(NOBODY, RED, 1)
        await remote.pin(NOBODY, RED, "a fact")
        await remote.unpin(NOBODY, RED, "a fact")
        await remote.reset(NOBODY, RED)
        document = await remote.export(NOBODY, RED)
        assert await remote.forget(NOBODY, RED) == 3
        assert await remote.load(NOBODY, document) == RED
        assert await remote.forget_tenant(NOBODY, "tb") == 1
    names = ["compact", "rebuild", "rollback", "pin", "unpin", "reset", "forget", "forget"]
    assert [action for action, _, _ in archive.actions] == names


async def test_errors_mean_what_they_meant(url: str, archive: MemoryArchive) -> None:
    async with HttpArchive(url, MASTER) as remote:
        with pytest.raises(NotFound):
            await remote.rollback(NOBODY, RED, 9)
        with pytest.raises(ActionRefused, match="not an exported session"):
            await remote.load(NOBODY, {"v": 2})
        with pytest.raises(ActionRefused, match="400"):
            await remote.pin(NOBODY, RED, "x" * 401)
        archive.down = True
        with pytest.raises(StoreError, match="The store does not answer"):
            await remote.detail(NOBODY, RED)
        with pytest.raises(StoreError, match="The store does not answer"):
            await anext(aiter(remote.watch(NOBODY)))
    async with HttpArchive(url, "sk-unknown") as remote:
        with pytest.raises(ActionRefused, match=r"^This proxy does not accept that key$"):
            await remote.sessions(NOBODY, Query())
        with pytest.raises(ActionRefused, match=r"^This proxy does not accept that key$"):
            await anext(aiter(remote.watch(NOBODY)))
    async with HttpArchive(url, None) as remote:
        with pytest.raises(ActionRefused, match="Send a key"):
            await remote.sessions(NOBODY, Query())


async def test_a_key_sees_what_is_its_own(url: str) -> None:
    listed = json.loads(await run(url, "ls", "--json", key="sk-red-1"))
    assert [row["session"] for row in listed["rows"]] == [{"tenant": "tr", "key": "1"}]
    assert len(json.loads(await run(url, "ls", "--all", "--json"))["rows"]) == 4
    for arguments in (["show", "label-tb-1"], ["forget", "label-tb-1", "--yes"], ["export", "label-tb-1"]):
        assert "No session has an id or a label" in await run(url, *arguments, key="sk-red-1", code=1)
    assert "look" in await run(url, "compact", "label-tu-1", key="sk-viewer", code=1)
    assert "Send a key" in await run(url, "ls", key=None, code=1)


async def test_texts_of_strangers(url: str, archive: MemoryArchive) -> None:
    detail = archive.known[RED.session_id]
    archive.add(replace(detail, row=replace(detail.row, labels=(HOSTILE,), reason=HOSTILE)))
    for arguments in (["ls"], ["show", "label-tr-2"], ["ls", "--json"]):
        shown = await run(url, *arguments)
        assert "\x1b" not in shown and "\u202e" not in shown


async def test_deeds(url: str, archive: MemoryArchive) -> None:
    assert "has the pin" in await run(url, "pin", "label-tr-1", "Be kind.")
    assert json.loads(await run(url, "forget", "label-tr-1", "--yes", "--json"))["keys"] == 3
    assert json.loads(await run(url, "forget", "--tenant", "tb", "-y", "--json"))["sessions"] == 1
    assert [action for action, _, _ in archive.actions] == ["pin", "forget", "forget"]
    assert all("proxy admin" in actor for _, _, actor in archive.actions)


async def test_a_gateway_whose_store_is_down_is_one_sentence(url: str, archive: MemoryArchive) -> None:
    archive.down = True
    said = await run(url, "ls", code=3)
    assert said.startswith(f"No usable answer from the gateway at {url}: The store does not answer")
    assert len(said.splitlines()) == 1


async def test_a_server_without_the_api(url: str) -> None:
    assert "no gateway with this plugin" in await run(f"{url}/elsewhere", "ls", code=3)


async def test_watch(url: str, archive: MemoryArchive) -> None:
    changed: list[Any] = [archive.known[RED.session_id].row, archive.known[BLUE.session_id].row]
    for row in changed:
        archive.rows.put_nowait(row)
    [line] = (await run(url, "watch", "--json", "--count", "1", key="sk-blue-1")).splitlines()
    assert json.loads(line)["session"] == {"tenant": "tb", "key": "1"}
