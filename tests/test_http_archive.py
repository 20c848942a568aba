"""The archive over HTTP: what it sends, and what it makes of good, bad and broken answers."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from gateway_compaction.adapters.http_archive import HttpArchive
from gateway_compaction.archive import Query, Scope, SessionPage
from gateway_compaction.core.records.compaction import SessionRef
from gateway_compaction.errors import ActionRefused, NotFound, StoreError
from tests.buffers_archive import FIRST, HOSTILE, sessions
from tests.lab.ports import HOST, free_port

NOBODY = Scope()
PROBLEM = "application/problem+json"
ROOT = Path(__file__).resolve().parents[1]


@dataclass(slots=True)
class Canned:
    """A server that gives one answer after the other, the last one for ever, and keeps what it was asked."""

    answers: list[bytes]
    port: int = 0
    asked: list[tuple[str, dict[str, str], bytes]] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://{HOST}:{self.port}"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One request."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        line, *rest = head.strip().split("\r\n")
        headers = {name.lower(): value for name, _, value in (one.partition(": ") for one in rest)}
        self.asked.append((line, headers, await reader.readexactly(int(headers.get("content-length", 0)))))
        writer.write(self.answers.pop(0) if len(self.answers) > 1 else self.answers[0])
        writer.close()


def answer(body: Any, status: str = "200 OK", kind: str = "application/json") -> bytes:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    head = f"Content-Type: {kind}\r\nConnection: close\r\nContent-Length: {len(raw)}"
    return f"HTTP/1.1 {status}\r\n{head}\r\n\r\n".encode() + raw


def problem(status: int, detail: str, **more: Any) -> bytes:
    return answer({"status": status, "detail": detail, **more}, f"{status} Sorry", PROBLEM)


def stream(text: str) -> bytes:
    head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
    return f"{head}{text}".encode("utf-8", "surrogatepass")


@asynccontextmanager
async def served(*answers: bytes, key: str | None = "sk-1") -> AsyncIterator[tuple[HttpArchive, Canned]]:
    canned = Canned(list(answers))
    server = await asyncio.start_server(canned.serve, HOST, 0)
    canned.port = server.sockets[0].getsockname()[1]
    async with server, HttpArchive(canned.url, key) as archive:
        yield archive, canned


async def test_every_value_of_the_contract_comes_over_whole() -> None:
    for detail in sessions():
        async with served(answer(asdict(detail))) as (archive, canned):
            assert await archive.detail(NOBODY, detail.row.session) == detail
        assert canned.asked[0][0] == f"GET /compaction/sessions/{detail.row.session.session_id} HTTP/1.1"
        assert canned.asked[0][1]["authorization"] == "Bearer sk-1"


async def test_half_a_surrogate_pair_is_shown_as_a_question_mark() -> None:
    row = replace(sessions()[0].row, labels=("a\ud800b",))
    page = SessionPage((row,), None, 1)
    async with served(answer(asdict(page))) as (archive, _):
        assert (await archive.sessions(NOBODY, Query())).rows[0].labels == ("a?b",)


async def test_a_query_is_sent_as_it_is() -> None:
    async with served(answer({"rows": [], "cursor": None, "total": 0}), key=None) as (archive, canned):
        await archive.sessions(NOBODY, Query(text="a&b=ü", since=1.5, ascending=True, limit=7))
    line, headers, _ = canned.asked[0]
    assert line.split()[1].startswith("/compaction/sessions?") and "authorization" not in headers
    assert "text=a%26b%3D%C3%BC" in line and "limit=7" in line and "ascending=true" in line
    assert "team" not in line and "cursor" not in line


DONE = answer({"deed": "x", "detail": "y"})
ACTIONS: list[tuple[Callable[[HttpArchive], Any], bytes, str, Any]] = [
    (lambda a: a.compact(NOBODY, FIRST), DONE, f"POST /compaction/sessions/{FIRST.session_id}/compact", None),
    (lambda a: a.rebuild(NOBODY, FIRST), DONE, f"POST /compaction/sessions/{FIRST.session_id}/rebuild", None),
    (lambda a: a.reset(NOBODY, FIRST), DONE, f"POST /compaction/sessions/{FIRST.session_id}/reset", None),
    (
        lambda a: a.rollback(NOBODY, FIRST, 3),
        DONE,
        f"POST /compaction/sessions/{FIRST.session_id}/rollback",
        {"version": 3},
    ),
    (
        lambda a: a.pin(NOBODY, FIRST, HOSTILE),
        DONE,
        f"POST /compaction/sessions/{FIRST.session_id}/pins",
        {"text": HOSTILE},
    ),
    (
        lambda a: a.unpin(NOBODY, FIRST, "é"),
        DONE,
        f"POST /compaction/sessions/{FIRST.session_id}/unpin",
        {"text": "é"},
    ),
    (
        lambda a: a.forget(NOBODY, FIRST),
        answer({"gone": 5, "detail": ""}),
        f"DELETE /compaction/sessions/{FIRST.session_id}",
        5,
    ),
    (
        lambda a: a.forget_tenant(NOBODY, "t/.."),
        answer({"gone": 2, "detail": ""}),
        "DELETE /compaction/tenants/t%2F..",
        2,
    ),
    (
        lambda a: a.load(NOBODY, {"v": "\ud800"}),
        answer({"session": "t.k"}, "201 Created"),
        "POST /compaction/import",
        SessionRef("t", "k"),
    ),
    (
        lambda a: a.export(NOBODY, FIRST),
        answer({"a": [1]}),
        f"GET /compaction/sessions/{FIRST.session_id}/export",
        {"a": [1]},
    ),
    (
        lambda a: a.overview(NOBODY, 3),
        answer({"hours": [], "since": 1}),
        "GET /compaction/overview?hours=3",
        (),
    ),
]


@pytest.mark.parametrize(("action", "answered", "line", "expected"), ACTIONS)
async def test_deeds(action: Callable[[HttpArchive], Any], answered: bytes, line: str, expected: Any) -> None:
    async with served(answered) as (archive, canned):
        found = await action(archive)
    [(asked, headers, body)] = canned.asked
    assert asked == f"{line} HTTP/1.1"
    if asked.startswith("POST") and isinstance(expected, dict):
        assert json.loads(body) == expected and headers["content-type"] == "application/json"
    elif expected is not None:
        assert found == expected


@pytest.mark.parametrize(
    ("answered", "error", "says"),
    [
        (problem(404, "no such session"), NotFound, "no such session"),
        (problem(409, "too many pins"), ActionRefused, "too many pins"),
        (problem(403, "look only"), ActionRefused, "look only"),
        (problem(401, "send a key"), ActionRefused, "^This proxy does not accept that key$"),
        (answer({"error": 1}, "401 Unauthorized"), ActionRefused, "401 Unauthorized"),
        (
            problem(422, "bad.", errors=[{"at": "query.limit", "problem": "too large"}]),
            ActionRefused,
            "query.limit: too large",
        ),
        (problem(503, "The store does not answer"), StoreError, "The store does not answer"),
        (answer({"detail": "Not Found"}, "404 Not Found"), StoreError, "no gateway with this plugin"),
        (answer(b"<html>", "502 Bad Gateway", "text/html"), StoreError, "502 Bad Gateway"),
        (answer(b"", "302 Found", "text/html"), StoreError, "302 Found"),
        (answer({"error": 1}, "400 Bad Request"), ActionRefused, "400 Bad Request"),
        (answer(b"[" * 100_000, "409 Conflict", PROBLEM), ActionRefused, "409 Conflict"),
        (answer([1], "409 Conflict", PROBLEM), ActionRefused, "409 Conflict"),
        (answer(b"not json"), StoreError, "no JSON"),
        (answer(b"[" * 100_000), StoreError, "no JSON"),
        (answer({"rows": 3}), StoreError, "rows"),
        (answer(b"\xff\xfe"), StoreError, "no JSON"),
        (b"SSH-2.0-OpenSSH\r\n", StoreError, "RemoteProtocolError"),
        (b"", StoreError, "RemoteProtocolError"),
        (answer({})[:-1], StoreError, "RemoteProtocolError"),
    ],
)
async def test_what_is_no_good_answer(answered: bytes, error: type[Exception], says: str) -> None:
    async with served(answered) as (archive, _):
        with pytest.raises(error, match="(?s)" + says.replace("(", "\\(")):
            await archive.sessions(NOBODY, Query())


async def test_a_key_that_was_not_sent_is_asked_for() -> None:
    async with served(problem(401, "send a key"), key=None) as (archive, _):
        with pytest.raises(ActionRefused, match=r"^send a key$"):
            await archive.sessions(NOBODY, Query())


async def test_nobody_there() -> None:
    async with HttpArchive(f"http://{HOST}:{free_port()}", None) as archive:
        with pytest.raises(StoreError, match="ConnectError"):
            await archive.sessions(NOBODY, Query())
        with pytest.raises(StoreError, match="ConnectError"):
            await anext(aiter(archive.watch(NOBODY)))


@pytest.mark.parametrize("url", ["http://[::1", "http://\x00", "http://a:b"])
async def test_an_address_that_is_none(url: str) -> None:
    with pytest.raises(StoreError, match="cannot be used"):
        HttpArchive(url, None)


class TestWatch:
    """Server-sent events."""

    async def test_rows_come_one_by_one_and_the_stream_is_asked_for_again(self) -> None:
        first, second = (replace(one.row, labels=("a\u2028b\x85c",)) for one in sessions())
        text = f"retry: 2000\n\n: still here\n\nevent: session\ndata: {dumped(first)}\n\n"
        windows = f"event: session\r\ndata: {dumped(second)}\r\n\r\ndata: cut off"
        async with served(stream(text), stream(windows), problem(503, "gone")) as (archive, canned):
            rows = aiter(archive.watch(NOBODY))
            assert await anext(rows) == first
            assert await anext(rows) == second
            with pytest.raises(StoreError, match="gone"):
                await anext(rows)
        assert [line for line, _, _ in canned.asked] == ["GET /compaction/watch HTTP/1.1"] * 3

    async def test_a_store_that_goes_down_ends_it(self) -> None:
        async with served(stream('event: down\ndata: {"detail": "the store is away"}\n\n')) as (archive, _):
            with pytest.raises(StoreError, match="the store is away"):
                await anext(aiter(archive.watch(NOBODY)))

    @pytest.mark.parametrize("text", ["data: {}\n\n", "data: x\n\n", "data: " + "x" * 10_100_000])
    async def test_what_is_no_row(self, text: str) -> None:
        async with served(stream(text)) as (archive, _):
            with pytest.raises(StoreError):
                await anext(aiter(archive.watch(NOBODY)))

    async def test_a_refusal(self) -> None:
        async with served(problem(403, "not yours")) as (archive, _):
            with pytest.raises(ActionRefused, match="not yours"):
                await anext(aiter(archive.watch(NOBODY)))

    async def test_a_command_that_has_seen_enough_closes_a_stream_that_is_still_open(self) -> None:
        row = sessions()[0].row

        async def unending(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.readuntil(b"\r\n\r\n")
            writer.write(stream(f"event: session\ndata: {dumped(row)}\n\n: still here\n\n"))
            await reader.read()
            writer.close()

        server = await asyncio.start_server(unending, HOST, 0)
        url = f"http://{HOST}:{server.sockets[0].getsockname()[1]}"
        command = ("-m", "gateway_compaction.cli", "buffers", "watch", "--count", "1", "--url", url)
        env = {"PYTHONPATH": str(ROOT), "PATH": "", "LITELLM_MODE": "PRODUCTION"}
        pipe = asyncio.subprocess.PIPE
        async with server:
            watching = await asyncio.create_subprocess_exec(
                sys.executable, *command, env=env, stdout=pipe, stderr=pipe
            )
            told, complaints = await asyncio.wait_for(watching.communicate(), 60)
        assert complaints == b"" and watching.returncode == 0 and told.startswith(FIRST.session_id.encode())


def dumped(row: Any) -> str:
    """A row in one line, other line ends of Unicode as they are."""
    return json.dumps(asdict(row), ensure_ascii=False)
