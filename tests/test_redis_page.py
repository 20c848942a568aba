"""Runs what docs/redis.md tells operators to type, and compares the answers with those it prints."""

from __future__ import annotations

import asyncio
import re
import shlex
from contextlib import suppress
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from redis.asyncio import Redis

from gateway_compaction.adapters.redis.archive import RedisArchive
from gateway_compaction.adapters.redis.connection import connect
from gateway_compaction.adapters.redis.store import RedisStore
from gateway_compaction.adapters.redis_sign_ins import RedisSignIns
from gateway_compaction.archive import Scope
from gateway_compaction.core.records.call_snapshot import CallSnapshot
from gateway_compaction.core.records.compaction import SessionRef
from gateway_compaction.errors import StoreError
from gateway_compaction.ports import CallRecord
from tests.lab.redis_server import RedisServer
from tests.store_contract import digest, everything_an_operator_does, fill, raw, record, session
from tests.store_contract import event as happened

PAGE = Path(__file__).parent.parent / "docs" / "redis.md"
REMEDY = "write the answers anew: python -m tests.test_redis_page"
LABEL = "ticket-4711"
TENANT, OTHER = digest("research"), digest("support")
SESSION = SessionRef(TENANT, digest("first conversation"))
WEEK = 7 * 86_400.0


async def answered(page: str, url: str) -> str:
    """The page with every command of its ``redis`` blocks run, in order, and the answers put below them."""
    client = Redis.from_url(url, decode_responses=True, protocol=2)
    client.response_callbacks.clear()

    async def block(text: str) -> str:
        lines: list[str] = []
        for command in re.findall(r"^> (.*)$", text, re.MULTILINE):
            answer: Any = await client.execute_command(*shlex.split(command))  # type: ignore[no-untyped-call]
            assert answer, command
            lines += [f"> {command}", shown(answer)]
        return "\n".join(lines)

    parts = re.split(r"(?<=^```redis\n)(.*?)(?=^```$)", page, flags=re.MULTILINE | re.DOTALL)
    for index in range(1, len(parts), 2):
        parts[index] = f"{await block(parts[index])}\n"
    await client.aclose()
    return "".join(parts)


def shown(answer: Any, indent: str = "") -> str:
    """An answer as ``redis-cli`` prints it."""
    if isinstance(answer, int):
        return f"(integer) {answer}"
    if answer == "OK":
        return "OK"
    if not isinstance(answer, list):
        escaped = answer.replace("\\", "\\\\").replace('"', '\\"')
        return f'"{escaped}"'
    width = len(str(len(answer)))
    lines: list[str] = []
    for number, item in enumerate(answer, 1):
        lead = f"{number:>{width}}) "
        lines.append(f"{indent if lines else ''}{lead}{shown(item, indent + ' ' * len(lead))}")
    return "\n".join(lines) or "(empty array)"


def timeless(text: str) -> str:
    """Without what differs between two servers: times, sizes and what is derived from them."""
    return re.sub(r"(?<![\w.])\d{3,}(\.\d+)?(?!\w)", "#", text)


async def prepare(url: str) -> None:
    """The conversations that the page looks at."""
    store = RedisStore(connect(url), timeout_seconds=2.0)
    event = replace(happened(), at=1_795_000_000.0, model="gpt-4o", tokens_before=91_408, tokens_after=33_120)
    about = {"team_id": "7c1f", "team": "research"}
    last = CallSnapshot(1_795_000_000.0, (("user", 900, "covered"),), (("user", 90, "summary"),), covers=1)
    await store.put(SESSION, record("first", "cleared"), token=None, ttl=WEEK, limit=32)
    token = await store.claim(SESSION, digest("second"), [], 60)
    whole = record("second", parent="first", text="Ana wants the March figures by region.")
    await store.put(SESSION, whole, token=token, ttl=WEEK, limit=32)
    await store.claim(SESSION, digest("third"), [], 60)
    await store.bypass(SESSION, "the provider answered 400", 300)
    call = CallRecord(used=digest("second"), labels=[LABEL], about=about, snapshot=last)
    await store.append(SESSION, event, ttl=WEEK, call=call)
    second = SessionRef(TENANT, digest("second conversation"))
    await store.append(second, event, ttl=WEEK, call=CallRecord(labels=["ticket-4712"], about=about))
    await store.append(SessionRef(OTHER, digest("third conversation")), event, ttl=WEEK)
    client = raw(store)
    [now, _] = await client.time()
    await client.zadd("gwc:tenants", {TENANT: now, OTHER: now - 5000})
    await client.zadd(f"gwc:{{{TENANT}}}:sessions", {SESSION.key: now, second.key: now - 1000})
    await store.aclose()


@pytest.fixture
async def prepared(quiet_server: RedisServer) -> str:
    quiet_server.flush()
    await prepare(quiet_server.url)
    return quiet_server.url


async def test_every_command_of_the_page_answers_as_printed(prepared: str) -> None:
    assert PAGE.read_text(encoding="utf-8").count("\n> ") > 15
    page = PAGE.read_text(encoding="utf-8")
    assert timeless(await answered(page, prepared)) == timeless(page), REMEDY


async def test_the_page_names_every_kind_of_key_and_every_field(prepared: str) -> None:
    page = PAGE.read_text(encoding="utf-8")
    store = RedisStore(connect(prepared), timeout_seconds=2.0)
    await fill(store)
    archive, everything = RedisArchive(store.connection), Scope(everything=True, actor="somebody")
    await archive.rollback(everything, session(), 0)
    await archive.rebuild(everything, session())
    await archive.compact(everything, session())
    await archive.pin(everything, session(), "a fact")
    await archive.set_rate(everything, session(), 0.2, for_key=True)
    await store.put(session(), record("a", "cleared"), token=None, ttl=WEEK, limit=32)
    await store.claim(session(), digest("c"), [], 60)
    await archive.forget(everything, SESSION)
    sign_ins = RedisSignIns(store.connection)
    await sign_ins.keep("a", "sealed", 60.0)
    await sign_ins.count_attempt("b", 1)
    names = [key.decode() for key in await raw(store).keys("gwc:*")]
    kinds = [re.sub(r"\{\w+\.\w+\}", "{tenant.session}", name) for name in names]
    kinds = [re.sub(r"\{\w+\}", "{tenant}", kind) for kind in kinds]
    documented = set(re.findall(r"^\| `(gwc:[^`]+)` \|", page, re.MULTILINE))
    assert {
        re.sub(r":(label|hours|owner|restored|restores):\w+", r":\1:<hash>", kind) for kind in kinds
    } == documented
    fields = await raw(store).hkeys(f"gwc:{{{session().session_id}}}:session")
    for field in {field.decode().split(":")[0] for field in fields}:
        assert f"`{field}" in page, field
    await store.aclose()


def test_the_label_of_the_page_hashes_to_the_name_of_the_page() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert f"printf %s {LABEL} | sha256sum | cut -c1-32" in page
    assert f":label:{sha256(LABEL.encode()).hexdigest()[:32]}" in page


async def test_the_rights_of_the_page_are_enough(quiet_server: RedisServer, prepared: str) -> None:
    await answered(PAGE.read_text(encoding="utf-8"), prepared)
    with quiet_server.client() as client:
        client.acl_log_reset()
    store = gateway_at(prepared)
    await everything_at_all(store)
    # What fails in silence, as a list that is not renewed does, is seen here.
    assert denied(quiet_server) == set()
    for refused in (
        ("FLUSHALL",),
        ("SET", "other", "x"),
        ("GET", "other"),
        ("GETDEL", "gwc:x"),
        ("KEYS", "*"),
        ("CONFIG", "GET", "*"),
    ):
        with pytest.raises(StoreError, match="NoPermission"):
            await store.connection.send(refused)
    await store.aclose()


async def test_each_right_of_the_page_is_needed(quiet_server: RedisServer, prepared: str) -> None:
    [line] = re.findall(r"^> (ACL SETUSER .*)$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    words = shlex.split(line)
    for right in [word for word in words if word.startswith("+")]:
        with quiet_server.client() as client:
            client.flushall()
            client.script_flush()
            client.execute_command("ACL", "DELUSER", "gateway")
            client.execute_command(*(word for word in words if word != right))
            client.acl_log_reset()
        store = gateway_at(prepared)
        with suppress(StoreError, AssertionError):
            await everything_at_all(store)
        await store.aclose()
        assert denied(quiet_server), right


def gateway_at(url: str) -> RedisStore:
    """A store as the page's user."""
    return RedisStore(connect(url.replace("//", "//gateway:secret@")), timeout_seconds=2.0)


def denied(server: RedisServer) -> set[str]:
    """What was refused for want of rights; the driver's name for itself is nothing to us."""
    with server.client() as client:
        return {one["object"] for one in client.acl_log()} - {"client|setinfo"}


async def everything_at_all(store: RedisStore) -> None:
    """Each question of a request, of the background and of an operator once."""
    await store.ping()
    await fill(store)
    assert (await store.load(session(), [digest("a")])).compactions
    token = await store.claim(session("other"), digest("x"), [], 60)
    await store.release(session("other"), digest("x"), token, failure="late", ttl=WEEK)
    assert await store.factors() == {"gpt": 1.1}
    assert [one.told for one in (await store.windows()).values()] == [3_000]
    assert (await store.notices()).requested == frozenset()
    assert await store.find_restored(session().tenant, [digest("r")]) is not None
    assert await store.find_labelled(session().tenant, "tkt-ID 7") == [session()]
    await everything_an_operator_does(RedisArchive(store.connection))
    sign_ins = RedisSignIns(store.connection)
    await sign_ins.keep("a", "sealed", 60.0)
    assert await sign_ins.find("a") == "sealed" and await sign_ins.count_attempt("b", 1) == 1
    await sign_ins.remove("a")


async def write() -> None:
    """Put the answers of a real server below the page's commands."""
    with RedisServer() as running:
        await prepare(running.url)
        PAGE.write_text(await answered(PAGE.read_text(encoding="utf-8"), running.url), encoding="utf-8")


if __name__ == "__main__":
    asyncio.run(write())
