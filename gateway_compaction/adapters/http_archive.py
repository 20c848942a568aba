"""The ``Archive`` of a gateway, asked over HTTP; what the key may see and do, the gateway decides."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from ipaddress import ip_address
from types import TracebackType
from typing import Any, Self, TypeVar
from urllib.parse import quote

import httpx
from pydantic import TypeAdapter, ValidationError

from gateway_compaction.archive import Hour, Query, Scope, SessionDetail, SessionPage, SessionRow
from gateway_compaction.core.records.compaction import SessionRef
from gateway_compaction.errors import NotThere, Refused, StoreError

__all__ = ["HttpArchive", "Unreached"]

T = TypeVar("T")

SECONDS, CONNECT_SECONDS = 60.0, 5.0
# The gateway sends a sign of life on an idle watch; longer silence is a dead connection.
SILENCE_SECONDS = 120.0
AGAIN_SECONDS = 0.2
DOWN = b"down"
LONGEST_EVENT = 10_000_000
PROBLEM = "application/problem+json"
MOST_ERRORS = 5


class Unreached(StoreError):
    """There is nobody at the address, or somebody else."""


@dataclass(frozen=True, slots=True)
class _Overview:
    """The part of the gateway's overview that it is computed from."""

    hours: tuple[Hour, ...]


@dataclass(frozen=True, slots=True)
class _Erased:
    """How much went."""

    gone: int


@dataclass(frozen=True, slots=True)
class _Imported:
    """The id of a stored session."""

    session: str


class HttpArchive:
    """See ``Archive``; a context manager. Scopes are not sent: the key's owner is the scope.

    Args:
        url: the gateway, without ``/v1``.
        key: sent as a bearer token; None for a gateway that asks for none.

    Raises:
        StoreError: the address cannot be used.
    """

    def __init__(self, url: str, key: str | None) -> None:
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        try:
            # A proxy of the environment cannot reach this machine's own loopback.
            self._http = httpx.AsyncClient(
                base_url=f"{url}/compaction",
                headers=headers,
                timeout=httpx.Timeout(SECONDS, connect=CONNECT_SECONDS),
                trust_env=not _is_loopback(url),
            )
        except (ValueError, httpx.InvalidURL) as error:
            raise StoreError(f"the address cannot be used: {error}") from error

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._http.aclose()

    async def overview(self, scope: Scope, hours: int) -> Sequence[Hour]:
        """See ``Archive.overview``."""
        return (await self._get(_Overview, "/overview", {"hours": hours})).hours

    async def sessions(self, scope: Scope, query: Query) -> SessionPage:
        """See ``Archive.sessions``."""
        wanted = {name: getattr(query, name) for name in query.__slots__}
        return await self._get(SessionPage, "/sessions", {k: v for k, v in wanted.items() if v is not None})

    async def detail(self, scope: Scope, session: SessionRef) -> SessionDetail:
        """See ``Archive.detail``."""
        return await self._get(SessionDetail, _path(session))

    async def compact(self, scope: Scope, session: SessionRef) -> None:
        """See ``Archive.compact``."""
        await self._ask("POST", _path(session, "compact"))

    async def rebuild(self, scope: Scope, session: SessionRef) -> None:
        """See ``Archive.rebuild``."""
        await self._ask("POST", _path(session, "rebuild"))

    async def rollback(self, scope: Scope, session: SessionRef, version: int) -> None:
        """See ``Archive.rollback``."""
        await self._ask("POST", _path(session, "rollback"), body={"version": version})

    async def pin(self, scope: Scope, session: SessionRef, text: str) -> None:
        """See ``Archive.pin``."""
        await self._ask("POST", _path(session, "pins"), body={"text": text})

    async def unpin(self, scope: Scope, session: SessionRef, text: str) -> None:
        """See ``Archive.unpin``."""
        await self._ask("POST", _path(session, "unpin"), body={"text": text})

    async def reset(self, scope: Scope, session: SessionRef) -> None:
        """See ``Archive.reset``."""
        await self._ask("POST", _path(session, "reset"))

    async def forget(self, scope: Scope, session: SessionRef) -> int:
        """See ``Archive.forget``."""
        return _read(_Erased, await self._ask("DELETE", _path(session))).gone

    async def forget_tenant(self, scope: Scope, tenant: str) -> int:
        """See ``Archive.forget_tenant``."""
        return _read(_Erased, await self._ask("DELETE", f"/tenants/{quote(tenant, safe='')}")).gone

    async def export(self, scope: Scope, session: SessionRef) -> Mapping[str, Any]:
        """See ``Archive.export``."""
        document = _json(await self._ask("GET", _path(session, "export")))
        if not isinstance(document, dict):
            raise StoreError("it answered with what is no exported session")
        return document

    async def load(self, scope: Scope, document: Mapping[str, Any]) -> SessionRef:
        """See ``Archive.load``."""
        named = _read(_Imported, await self._ask("POST", "/import", body=document)).session
        tenant, _, key = named.partition(".")
        return SessionRef(tenant, key)

    async def watch(self, scope: Scope) -> AsyncGenerator[SessionRow, None]:
        """See ``Archive.watch``; a stream that the gateway ended in good order is asked for again."""
        while True:
            async with aclosing(self._stream()) as rows:
                async for row in rows:
                    yield row
            await asyncio.sleep(AGAIN_SECONDS)

    async def _stream(self) -> AsyncGenerator[SessionRow, None]:
        timeout = httpx.Timeout(SECONDS, connect=CONNECT_SECONDS, read=SILENCE_SECONDS)
        try:
            async with self._http.stream("GET", "/watch", timeout=timeout) as response:
                if not response.is_success:
                    await response.aread()
                    raise _failure(response)
                async with aclosing(_events(response)) as events:
                    async for name, data in events:
                        if name == DOWN:
                            raise StoreError(_text_in(data, "detail") or "its store does not answer")
                        yield _parsed(SessionRow, data)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise _silence(error) from error

    async def _get(self, kind: type[T], path: str, params: Mapping[str, Any] | None = None) -> T:
        return _read(kind, await self._ask("GET", path, params=params))

    async def _ask(
        self,
        method: str,
        path: str,
        *,
        params: Mapping[str, Any] | None = None,
        body: Mapping[str, Any] | None = None,
    ) -> httpx.Response:
        """The one way to the gateway.

        Raises:
            StoreError: it did not answer, or nothing that can be used.
            NotThere: 404.
            Refused: any other fault of the asker's.
        """
        # ASCII only: any text can be sent, lone surrogates too.
        content = None if body is None else json.dumps(body).encode()
        typed = {} if body is None else {"Content-Type": "application/json"}
        try:
            response = await self._http.request(method, path, params=params, content=content, headers=typed)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise _silence(error) from error
        if not response.is_success:
            raise _failure(response)
        return response


def _path(session: SessionRef, action: str = "") -> str:
    return f"/sessions/{quote(session.session_id, safe='.')}{'/' if action else ''}{action}"


def _is_loopback(url: str) -> bool:
    host = httpx.URL(url).host
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def _read(kind: type[T], response: httpx.Response) -> T:
    return _parsed(kind, response.content)


def _json(response: httpx.Response) -> Any:
    try:
        return json.loads(response.content)
    except (ValueError, RecursionError) as error:
        raise StoreError("it answered with what is no JSON") from error


def _parsed(kind: type[T], raw: bytes) -> T:
    try:
        # Half a surrogate pair is no text to pydantic, and is somebody's label all the same.
        text = json.dumps(json.loads(raw), ensure_ascii=False).encode("utf-8", "replace")
        return TypeAdapter(kind).validate_json(text)
    except (ValidationError, ValueError, RecursionError) as error:
        where = _places(error) if isinstance(error, ValidationError) else "no JSON"
        raise StoreError(f"it answered with what cannot be read ({where}); is it another version?") from error


def _places(error: ValidationError) -> str:
    found = error.errors(include_input=False, include_url=False)[:MOST_ERRORS]
    return ", ".join(".".join(map(str, one["loc"])) or one["type"] for one in found)


def _failure(response: httpx.Response) -> Exception:
    """What an answer that is no success means."""
    status = response.status_code
    problem = response.headers.get("content-type", "").startswith(PROBLEM)
    detail = _detail(response) if problem else ""
    if status == 404 and not problem:
        return Unreached("it has no /compaction: it is no gateway with this plugin, or the API is off")
    if status >= 500 or status < 400:
        return StoreError(detail or f"it answered with {status} {response.reason_phrase}")
    if status == 404:
        return NotThere(detail)
    if status == 401 and problem and "Authorization" in response.request.headers:
        # Its own words ask for a key, as if none had been sent.
        return Refused("This proxy does not accept that key")
    return Refused(detail or f"The gateway refuses: {status} {response.reason_phrase}")


def _detail(response: httpx.Response) -> str:
    try:
        listed = [f"{one['at']}: {one['problem']}" for one in response.json().get("errors", ())[:MOST_ERRORS]]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        listed = []
    said = _text_in(response.content, "detail") or f"{response.status_code} {response.reason_phrase}"
    return f"{said} {'; '.join(listed)}".strip()


def _text_in(raw: bytes, name: str) -> str:
    """A member of a JSON object, empty where there is none."""
    try:
        return str(json.loads(raw)[name])
    except (ValueError, LookupError, TypeError, RecursionError):
        return ""


async def _events(response: httpx.Response) -> AsyncGenerator[tuple[bytes, bytes], None]:
    """Names and data of server-sent events; only line feeds end a line, whatever Unicode calls one."""
    rest, name, data = b"", b"", b""
    async for part in response.aiter_bytes():
        *lines, rest = (rest + part).split(b"\n")
        for line in lines:
            field, _, value = line.removesuffix(b"\r").partition(b":")
            value = value.removeprefix(b" ")
            if not field and not value and data:
                yield name, data
                name, data = b"", b""
            name = value if field == b"event" else name
            data = data + value if field == b"data" else data
        if len(rest) + len(data) > LONGEST_EVENT:
            raise StoreError("it sends an event without an end")


def _silence(error: Exception) -> StoreError:
    """What no answer at all means."""
    if isinstance(error, httpx.TimeoutException):
        return StoreError("it did not answer in time")
    said = f"{type(error).__name__}{f': {error}' if str(error) else ''}"[:300]
    return Unreached(said) if isinstance(error, httpx.ConnectError) else StoreError(said)
