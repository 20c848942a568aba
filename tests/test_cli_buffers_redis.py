"""``buffers --redis`` on a real server: it shows what is there, does what it says, and erases all."""

from __future__ import annotations

import asyncio
import getpass
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from gateway_compaction.adapters.redis.connection import connect
from gateway_compaction.adapters.redis.store import RedisStore
from gateway_compaction.cli.buffers.reach import Source, open_archive
from gateway_compaction.cli.main import app
from gateway_compaction.core.records.compaction import Segment, SessionRef
from gateway_compaction.errors import StoreError
from gateway_compaction.ports import CallRecord
from tests.buffers_archive import HOSTILE
from tests.lab.ports import HOST, free_port
from tests.lab.redis_server import GarbageServer, HungServer, RedisServer
from tests.store_contract import digest, event, record
from tests.test_cli_buffers import OBEYED

TEAM, OTHER = digest("research"), digest("support")
CHAT = SessionRef(TEAM, "aa" + digest("chat")[2:])
TWIN = SessionRef(TEAM, "ab" + digest("twin")[2:])
FOREIGN = SessionRef(OTHER, "ac" + digest("foreign")[2:])
ALL = (CHAT, TWIN, FOREIGN)
TTL = 3600.0
ROOT = Path(__file__).resolve().parents[1]


async def fill(url: str) -> None:
    """Three sessions of two tenants; the first has two versions, the last was named by a stranger."""
    store = RedisStore(connect(url), timeout_seconds=2.0)
    owner = {"team_id": "7c1f", "team": "research", "user_id": "ana"}
    happened = replace(event(), at=time.time(), model="gpt-4o", tokens_before=9_000, tokens_after=3_000)
    for session, labels, about in (
        (CHAT, ["ticket-4711"], owner),
        (TWIN, ["ticket-4712"], owner),
        (FOREIGN, [HOSTILE], {"team_id": "99", "team": HOSTILE}),
    ):
        await store.append(session, happened, ttl=TTL, call=CallRecord(labels=labels, about=about))
    old = record("first", text="Ana wants the figures.")
    await store.put(CHAT, old, token=None, ttl=TTL, limit=32)
    new = replace(
        record("second", parent="first"), covers=8, segments=(Segment(0, 8, "Ana has the figures."),)
    )
    await store.put(CHAT, new, token=None, ttl=TTL, limit=32)
    await store.put(FOREIGN, record("other", text=HOSTILE), token=None, ttl=TTL, limit=32)
    await store.aclose()


@pytest.fixture(scope="module")
def server() -> Iterator[RedisServer]:
    with RedisServer() as running:
        yield running


@pytest.fixture
def url(server: RedisServer, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("LITELLM_MODE", "PRODUCTION")
    monkeypatch.setenv("GATEWAY_COMPACTION_REDIS_URL", server.url)
    server.flush()
    asyncio.run(fill(server.url))
    return server.url


def run(*arguments: str, **how: Any) -> Result:
    return CliRunner().invoke(app, ["buffers", *arguments], catch_exceptions=False, **how)


def good(*arguments: str, **how: Any) -> str:
    result = run(*arguments, **how)
    assert result.exit_code == 0, result.output
    return result.stdout


def document(*arguments: str) -> Any:
    return json.loads(good(*arguments, "--json"))


def keys_of(server: RedisServer, session: SessionRef) -> list[str]:
    """Every key and every member of a key that names the session."""
    return [line for line in server.text().splitlines() if session.key in line]


def test_it_lists_and_filters(url: str) -> None:
    assert document("ls")["total"] == 3
    for arguments in (["--team", "research"], ["--team", "7c1f"], ["--text", "ticket-47"]):
        found = document("ls", *arguments, "--limit", "1")
        assert (found["total"], len(found["rows"])) == (2, 1)
        assert len(document("ls", *arguments, "--all")["rows"]) == 2
    assert document("ls", "--since", "2h", "--model", "gpt-4o", "--level", "medium")["total"] == 3
    assert document("ls", "--model", "other")["total"] == document("ls", "--state", "failed")["total"] == 0
    assert not OBEYED.search(good("ls", "--full"))


@pytest.mark.parametrize("named", ["ticket-4711", "aa", CHAT.key, CHAT.session_id, f"{TEAM[:4]}.aa"])
def test_it_finds_and_shows(url: str, named: str) -> None:
    shown = good("show", named)
    for part in (
        CHAT.session_id,
        "research (7c1f)",
        "ticket-4711",
        "Ana has the figures.",
        "9,000 from the client",
    ):
        assert part in shown
    assert run("show", "a").exit_code == 1


def test_it_compares(url: str) -> None:
    lines = good("diff", "aa").splitlines()
    assert "-Ana wants the figures." in lines and "+Ana has the figures." in lines


def test_deeds_are_done_and_recorded(url: str) -> None:
    good("pin", "aa", "Amounts are in euro.")
    good("compact", "ticket-4711")
    controls = document("show", "aa")["steering"]
    assert controls["pins"] == ["Amounts are in euro."] and controls["compact"]
    good("unpin", "aa", "1")
    good("rollback", "aa", "1")
    detail = document("show", "aa")
    assert [one["version"] for one in detail["compactions"]] == [1]
    assert [one["version"] for one in detail["retired"]] == [2]
    assert "retired" in good("show", "aa")
    good("rollback", "aa", "2")
    good("rebuild", "aa")
    assert document("show", "aa")["compactions"] == []
    good("reset", "aa", "--yes")
    actions = [
        (one["outcome"], one["by"]) for one in document("events", "aa")["events"] if one["type"] == "audit"
    ]
    me = f"{getpass.getuser()} (command line)"
    names = ["reset", "rebuild", "rollback", "rollback", "unpin", "compact", "pin"]
    assert actions == [(name, me) for name in names]
    assert me in good("events", "aa")


def test_refusals(url: str) -> None:
    for arguments in (
        ["rollback", "aa", "9"],
        ["unpin", "aa", "none"],
        ["pin", "aa", "x" * 401],
        ["pin", "aa", " "],
    ):
        result = run(*arguments, "--json")
        assert (result.exit_code, result.stdout) == (1, "") and len(result.stderr.splitlines()) == 1


def test_what_is_erased_is_gone(url: str, server: RedisServer) -> None:
    assert keys_of(server, CHAT)
    assert document("forget", "ticket-4711", "--yes")["keys"] > 3
    assert run("show", CHAT.session_id).exit_code == 1
    left = [line for line in keys_of(server, CHAT) if "forgotten" not in line]
    assert left == [] and document("ls")["total"] == 2
    assert document("forget", "--tenant", TEAM[:6], "--yes") == {
        "done": "forget",
        "tenant": TEAM,
        "sessions": 1,
    }
    assert [row["session"]["key"] for row in document("ls")["rows"]] == [FOREIGN.key]


def test_out_and_in_again(url: str, server: RedisServer, tmp_path: Path) -> None:
    for session in (CHAT, FOREIGN):
        file = tmp_path / f"{session.key}.json"
        file.write_text(good("export", session.session_id), encoding="utf-8")
        before = document("show", session.session_id)
        assert not OBEYED.search(file.read_text(encoding="utf-8"))
        assert run("import", str(file)).exit_code == 1
        good("forget", session.session_id, "--yes")
        assert document("import", str(file))["session"] == {"tenant": session.tenant, "key": session.key}
        after = document("show", session.session_id)
        assert after["compactions"] == before["compactions"]
        assert (
            after["row"]["labels"] == before["row"]["labels"]
            and after["row"]["owner"] == before["row"]["owner"]
        )


def test_texts_of_strangers(url: str) -> None:
    for arguments in (["show", "ac"], ["show", "ac", "--full"], ["events", "ac"], ["ls", "--team", "99"]):
        assert not OBEYED.search(good(*arguments))
    assert "␛[2J" in good("show", "ac")
    # The store keeps at most 200 characters of a label, and finds it by them.
    assert document("show", HOSTILE)["row"]["session"]["key"] == FOREIGN.key


def test_watch_tells_of_changes(url: str) -> None:
    command = [sys.executable, "-c", "from gateway_compaction.cli.main import app; app()"]
    env = {"PYTHONPATH": str(ROOT), "PATH": "", "LITELLM_MODE": "PRODUCTION"}
    arguments = ["buffers", "watch", "--json", "--count", "1", "--redis", url]
    pipe = subprocess.PIPE
    with subprocess.Popen([*command, *arguments], env=env, stdout=pipe, stderr=pipe, text=True) as watching:
        try:
            assert watching.stdout is not None and watching.stderr is not None
            # What is watched begins now; when that is, only its output can tell.
            for _ in range(60):
                good("compact", "aa")
                if watching.poll() is not None:
                    break
                time.sleep(0.5)
            assert watching.wait(10) == 0
            assert json.loads(watching.stdout.read())["session"]["key"] == CHAT.key
            assert watching.stderr.read() == ""
        finally:
            watching.kill()


class TestDown:
    """A Redis that does not answer, or is none."""

    @pytest.mark.parametrize(
        "arguments", [["ls"], ["show", "aa", "--json"], ["forget", CHAT.session_id, "--yes"], ["watch"]]
    )
    def test_nobody_there(self, arguments: list[str]) -> None:
        url = f"redis://user:secret@{HOST}:{free_port()}/3"
        result = run(*arguments, "--redis", url)
        assert (result.exit_code, result.stdout) == (3, "")
        assert result.stderr.startswith("No usable answer from Redis at redis://user:***@")
        assert len(result.stderr.splitlines()) == 1 and "secret" not in result.stderr

    @pytest.mark.parametrize("kind", [HungServer, GarbageServer])
    def test_something_else_is_there(self, kind: Any) -> None:
        port = free_port()
        with kind(port):
            result = run("ls", "--redis", f"redis://{HOST}:{port}")
        assert (result.exit_code, result.stdout) == (3, "") and len(result.stderr.splitlines()) == 1

    async def test_one_that_hangs_is_given_up_however_busy_the_machine_is(self) -> None:
        async def busy() -> None:
            while True:
                time.sleep(0.3)  # noqa: ASYNC251 - the loop stands still: deadlines of the store begin anew
                await asyncio.sleep(0.1)

        port, standing = free_port(), asyncio.create_task(busy())
        with (
            HungServer(port),
            pytest.raises(StoreError, match="it did not answer"),
        ):
            async with open_archive(Source("", redis=f"redis://{HOST}:{port}")):
                pytest.fail("it must not be used before it has answered")
        standing.cancel()

    def test_an_address_that_is_none(self) -> None:
        assert run("ls", "--redis", "cache:6379").exit_code == 3
        unreadable = run("ls", "--redis", "redis://:secret@[cache")
        assert unreadable.exit_code == 3 and "secret" not in unreadable.stderr


@pytest.mark.parametrize("value", ["9" * 400, "1e300", "many", "-1", "\u00b2", "[]"])
def test_values_that_somebody_broke_are_shown_as_absent(url: str, value: str) -> None:
    names = (
        "bypass_until",
        "backoff_until",
        "created",
        "seen",
        "calls",
        "window",
        "version",
        "pins",
        "labels",
    )

    async def broken() -> None:
        store = RedisStore(connect(url), timeout_seconds=2.0)
        key = f"gwc:{{{CHAT.session_id}}}"
        fields = [part for name in names for part in (name, value)]
        await store.connection.send(
            ("HSET", f"{key}:session", *fields),
            ("HSET", f"{key}:claims", "x", f"1:{value}"),
            ("LPUSH", f"{key}:events", value, '{"type":[],"at":1e300,"outcome":{},"reason":3}'),
            ("SET", f"{key}:last", value),
        )
        await store.aclose()

    asyncio.run(broken())
    assert CHAT.session_id in good("show", CHAT.session_id)
    assert document("show", CHAT.session_id)["bypass"] is None
    assert document("ls")["total"] == 3
    assert "usage" in good("events", CHAT.session_id)
    assert "is erased" in good("forget", CHAT.session_id, "--yes")
