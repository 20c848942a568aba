"""The ``Archive`` of a running gateway, asked over HTTP: the command line without access to Redis.

What the key may see and do, the gateway decides. Answers are read strictly: a gateway of another version is
told as such, instead of showing half of what it said.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from http import HTTPStatus
from ipaddress import ip_address
from types import TracebackType
from typing import Any, Self, TypeVar
from urllib.parse import quote

import httpx
from pydantic import TypeAdapter, ValidationError

from gateway_compaction.adapters.secrets import find_address_fault
from gateway_compaction.archive import Hour, Query, Scope, SessionDetail, SessionPage, SessionRow
from gateway_compaction.core.records.compaction import SessionRef
from gateway_compaction.core.records.restore_point import RestorePoint
from gateway_compaction.core.records.snapshots import SnapshotLine
from gateway_compaction.errors import ActionRefused, NotFound, StoreError

T = TypeVar("T")

# Longest wait for an answer (a large session, a busy gateway), and for a connection.
ANSWER_SECONDS = 60.0
CONNECT_SECONDS = 5.0

# Longest silence on a watch before its connection counts as dead: the gateway sends keep-alives.
SILENCE_SECONDS = 120.0

# Pause before a watch that the gateway ended is asked for again.
RECONNECT_SECONDS = 0.2

# The event by which a watch says that its store does not answer.
DOWN_EVENT = b"down"

# Most bytes of one event of a watch.
LONGEST_EVENT = 10_000_000

# The content type of the plugin's own errors (RFC 9457); others come from LiteLLM or from a proxy before it.
PROBLEM_TYPE = "application/problem+json"

# Most faults of one answer that are shown.
MOST_FAULTS = 5

# Most characters of a driver's error that are shown.
ERROR_CHARS = 300

# Errors raised before anything was sent. Their texts repeat the address or a header, which may hold a key.
SECRET_ERRORS = (httpx.InvalidURL, httpx.UnsupportedProtocol, httpx.LocalProtocolError)


class GatewayUnreachable(StoreError):
    """Nothing answers at the address, or something that is no gateway with this plugin."""


@dataclass(frozen=True, slots=True)
class _Overview:
    """The part of the gateway's overview from which the rest is computed."""

    hours: tuple[Hour, ...]


@dataclass(frozen=True, slots=True)
class _Erased:
    """The answer to an erasure: how many keys or sessions went."""

    gone: int


@dataclass(frozen=True, slots=True)
class _Imported:
    """The answer to an import: the id of the stored session."""

    session: str


class HttpArchive:
    """``Archive`` over HTTP; a context manager. Scopes are not sent: the key's owner is the scope.

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
                timeout=httpx.Timeout(ANSWER_SECONDS, connect=CONNECT_SECONDS),
                trust_env=not is_loopback(url),
            )
        except (ValueError, httpx.InvalidURL) as error:
            # Its text repeats the address, or that of a proxy of the environment.
            fault = find_address_fault(url) or f"{type(error).__name__}, also of a proxy in the environment"
            raise StoreError(f"the address cannot be used: {fault}") from None

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
        values = {name: getattr(query, name) for name in query.__slots__}
        params = {name: value for name, value in values.items() if value is not None}
        return await self._get(SessionPage, "/sessions", params)

    async def detail(self, scope: Scope, session: SessionRef) -> SessionDetail:
        """See ``Archive.detail``."""
        return await self._get(SessionDetail, _build_path(session))

    async def snapshots(self, scope: Scope, session: SessionRef) -> Sequence[SnapshotLine]:
        """See ``Archive.snapshots``."""
        return await self._get(tuple[SnapshotLine, ...], _build_path(session, "snapshots"))

    async def snapshot(self, scope: Scope, session: SessionRef, name: str) -> RestorePoint:
        """See ``Archive.snapshot``."""
        return await self._get(RestorePoint, _build_path(session, f"snapshots/{quote(name, safe='')}"))

    async def transcript(self, scope: Scope, session: SessionRef) -> Sequence[Mapping[str, Any]]:
        """See ``Archive.transcript``."""
        answer = await self._ask("GET", _build_path(session, "transcript"))
        return tuple(_parse(dict[str, Any], line) for line in answer.content.splitlines())

    async def compact(self, scope: Scope, session: SessionRef) -> None:
        """See ``Archive.compact``."""
        await self._ask("POST", _build_path(session, "compact"))

    async def rebuild(self, scope: Scope, session: SessionRef) -> None:
        """See ``Archive.rebuild``."""
        await self._ask("POST", _build_path(session, "rebuild"))

    async def rollback(self, scope: Scope, session: SessionRef, version: int) -> None:
        """See ``Archive.rollback``."""
        await self._ask("POST", _build_path(session, "rollback"), body={"version": version})

    async def pin(self, scope: Scope, session: SessionRef, text: str) -> None:
        """See ``Archive.pin``."""
        await self._ask("POST", _build_path(session, "pins"), body={"text": text})

    async def unpin(self, scope: Scope, session: SessionRef, text: str) -> None:
        """See ``Archive.unpin``."""
        await self._ask("POST", _build_path(session, "unpin"), body={"text": text})

    async def set_rate(
        self, scope: Scope, session: SessionRef, rate: float | None, *, for_key: bool = False
    ) -> None:
        """See ``Archive.set_rate``."""
        more = {"for_key": True} if for_key else {}
        await self._ask("POST", _build_path(session, "rate"), body={"rate": rate, **more})

    async def reset(self, scope: Scope, session: SessionRef) -> None:
        """See ``Archive.reset``."""
        await self._ask("POST", _build_path(session, "reset"))

    async def forget(self, scope: Scope, session: SessionRef) -> int:
        """See ``Archive.forget``."""
        return _parse_answer(_Erased, await self._ask("DELETE", _build_path(session))).gone

    async def forget_tenant(self, scope: Scope, tenant: str) -> int:
        """See ``Archive.forget_tenant``."""
        return _parse_answer(_Erased, await self._ask("DELETE", f"/tenants/{quote(tenant, safe='')}")).gone

    async def export(self, scope: Scope, session: SessionRef) -> Mapping[str, Any]:
        """See ``Archive.export``."""
        document = _parse_json(await self._ask("GET", _build_path(session, "export")))
        if not isinstance(document, dict):
            raise StoreError("it answered with what is no exported session")
        return document

    async def load(self, scope: Scope, document: Mapping[str, Any]) -> SessionRef:
        """See ``Archive.load``."""
        answer = await self._ask("POST", "/import", body=document)
        tenant, _, key = _parse_answer(_Imported, answer).session.partition(".")
        return SessionRef(tenant, key)

    async def watch(self, scope: Scope) -> AsyncGenerator[SessionRow, None]:
        """See ``Archive.watch``; a stream that the gateway ended in good order is asked for again."""
        while True:
            async with aclosing(self._stream()) as rows:
                async for row in rows:
                    yield row
            await asyncio.sleep(RECONNECT_SECONDS)

    async def _stream(self) -> AsyncGenerator[SessionRow, None]:
        timeout = httpx.Timeout(ANSWER_SECONDS, connect=CONNECT_SECONDS, read=SILENCE_SECONDS)
        try:
            async with self._http.stream("GET", "/watch", timeout=timeout) as response:
                if not response.is_success:
                    await response.aread()
                    raise _to_answer_error(response)
                async with aclosing(_read_events(response)) as events:
                    async for name, data in events:
                        if name == DOWN_EVENT:
                            raise StoreError(_read_text(data, "detail") or "its store does not answer")
                        yield _parse(SessionRow, data)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise _to_transport_error(error) from error

    async def _get(self, kind: type[T], path: str, params: Mapping[str, Any] | None = None) -> T:
        return _parse_answer(kind, await self._ask("GET", path, params=params))

    async def _ask(
        self,
        method: str,
        path: str,
        *,
        params: Mapping[str, Any] | None = None,
        body: Mapping[str, Any] | None = None,
    ) -> httpx.Response:
        """Send one request and return its successful answer; all calls but ``watch`` go this way.

        Raises:
            StoreError: there was no answer, or one that says that the gateway or its store failed.
            NotFound: the answer is 404.
            ActionRefused: any other client error.
        """
        # json.dumps escapes everything but ASCII, so that lone surrogates can be sent as well.
        content = None if body is None else json.dumps(body).encode()
        headers = {} if body is None else {"Content-Type": "application/json"}
        try:
            response = await self._http.request(method, path, params=params, content=content, headers=headers)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise _to_transport_error(error) from error
        if not response.is_success:
            raise _to_answer_error(response)
        return response


def _build_path(session: SessionRef, action: str = "") -> str:
    path = f"/sessions/{quote(session.session_id, safe='.')}"
    return f"{path}/{action}" if action else path


def is_loopback(url: str) -> bool:
    """Tell whether an address is this machine's own."""
    host = httpx.URL(url).host
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def _parse_answer(kind: type[T], response: httpx.Response) -> T:
    return _parse(kind, response.content)


def _parse_json(response: httpx.Response) -> Any:
    try:
        return json.loads(response.content)
    except (ValueError, RecursionError) as error:
        raise StoreError("it answered with what is no JSON") from error


def _parse(kind: type[T], raw: bytes) -> T:
    """Return a JSON text as a value of a type.

    Raises:
        StoreError: it is no value of that type; says which parts are wrong, never what they hold.
    """
    try:
        # A label may hold half a surrogate pair, which pydantic refuses: it is replaced by a question mark.
        text = json.dumps(json.loads(raw), ensure_ascii=False).encode("utf-8", "replace")
        return TypeAdapter(kind).validate_json(text)
    except (ValidationError, ValueError, RecursionError) as error:
        where = _format_places(error) if isinstance(error, ValidationError) else "no JSON"
        raise StoreError(f"it answered with what cannot be read ({where}); is it another version?") from error


def _format_places(error: ValidationError) -> str:
    faults = error.errors(include_input=False, include_url=False)[:MOST_FAULTS]
    return ", ".join(".".join(map(str, one["loc"])) or one["type"] for one in faults)


def _to_answer_error(response: httpx.Response) -> Exception:
    """Map an unsuccessful answer to the exception that its status means."""
    status = response.status_code
    is_ours = response.headers.get("content-type", "").startswith(PROBLEM_TYPE)
    detail = _read_detail(response) if is_ours else ""
    if status == HTTPStatus.NOT_FOUND and not is_ours:
        return GatewayUnreachable(
            "it has no /compaction: it is no gateway with this plugin, or the API is off"
        )
    if not response.is_client_error:
        return StoreError(detail or f"it answered with {status} {response.reason_phrase}")
    if status == HTTPStatus.NOT_FOUND:
        return NotFound(detail)
    if status == HTTPStatus.UNAUTHORIZED and is_ours and "Authorization" in response.request.headers:
        # Its own words ask for a key, as if none had been sent.
        return ActionRefused("This proxy does not accept that key")
    return ActionRefused(detail or f"The gateway refuses: {status} {response.reason_phrase}")


def _read_detail(response: httpx.Response) -> str:
    """Return what the gateway says of an error, with the first faults it found."""
    try:
        errors = response.json().get("errors", ())[:MOST_FAULTS]
        faults = [f"{one['at']}: {one['problem']}" for one in errors]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        faults = []
    detail = _read_text(response.content, "detail") or f"{response.status_code} {response.reason_phrase}"
    return f"{detail} {'; '.join(faults)}".strip()


def _read_text(raw: bytes, name: str) -> str:
    """Return a member of a JSON object, empty where there is none."""
    try:
        return str(json.loads(raw)[name])
    except (ValueError, LookupError, TypeError, RecursionError):
        return ""


async def _read_events(response: httpx.Response) -> AsyncGenerator[tuple[bytes, bytes], None]:
    """Yield names and data of server-sent events.

    Only line feeds end a line; httpx's own lines also end where Unicode sees an end, within somebody's label.

    Raises:
        StoreError: an event has no end.
    """
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


def _to_transport_error(error: Exception) -> StoreError:
    """Map a transport error (there was no answer) to the exception that callers expect."""
    if isinstance(error, httpx.TimeoutException):
        return StoreError("it did not answer in time")
    detail = "" if isinstance(error, SECRET_ERRORS) else str(error)
    text = f"{type(error).__name__}{f': {detail}' if detail else ''}"[:ERROR_CHARS]
    return GatewayUnreachable(text) if isinstance(error, httpx.ConnectError) else StoreError(text)
