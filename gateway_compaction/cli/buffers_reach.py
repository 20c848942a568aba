"""How ``buffers`` reaches what it shows: the gateway's API or Redis itself, and what its exit code says."""

from __future__ import annotations

import asyncio
import getpass
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import Annotated, NoReturn, TypeVar

import typer

from gateway_compaction.archive import Archive, Query, Scope, SessionRow
from gateway_compaction.cli.buffers_text import as_json, cell, defused
from gateway_compaction.cli.launch import without_password
from gateway_compaction.core.compaction import SessionRef
from gateway_compaction.errors import ArchiveError, NotThere, Refused, StoreError

__all__ = [
    "AsJson",
    "Key",
    "Named",
    "Opener",
    "Reached",
    "Redis",
    "Source",
    "Url",
    "find",
    "print_json",
    "source_of",
    "telling",
    "work",
]

T = TypeVar("T")
Opener = Callable[["Source"], AbstractAsyncContextManager[Archive]]

DEFAULT_URL = "http://localhost:4000"
REFUSED, UNREACHED = 1, 3
LABEL_CHARS, PAGE, SHOWN = 200, 200, 5
MESSAGE = 600
HASH = r"[0-9a-f]{32}"
WHOLE = re.compile(rf"({HASH})\.({HASH})")
PARTS = re.compile(r"([0-9a-f]+)\.([0-9a-f]*)")

Url = Annotated[
    str | None,
    typer.Option(help="The gateway, with or without /v1.", show_default=DEFAULT_URL, metavar="URL"),
]
Key = Annotated[
    str | None,
    typer.Option(
        help="The key to show to the gateway; better in the environment than on a command line.",
        envvar=["GATEWAY_COMPACTION_KEY", "LITELLM_MASTER_KEY", "OPENAI_API_KEY"],
        show_default=False,
    ),
]
Redis = Annotated[
    str | None,
    typer.Option(
        help="Read and write this Redis itself, without a gateway; sees every tenant. --url overrides the"
        " environment's.",
        envvar="GATEWAY_COMPACTION_REDIS_URL",
        show_default=False,
        metavar="URL",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of tables.")]
Named = Annotated[
    str,
    typer.Argument(
        metavar="SESSION", help="An id as ls shows it, any unambiguous beginning of it, or a label."
    ),
]


@dataclass(frozen=True, slots=True)
class Source:
    """Where sessions are read from: ``redis`` where it is given, else the gateway at ``url``."""

    url: str
    key: str | None = None
    redis: str | None = None

    @property
    def name(self) -> str:
        """For messages, without passwords."""
        where = self.redis or self.url
        return f"{'Redis' if self.redis else 'the gateway'} at {defused(without_password(where))}"


@dataclass(frozen=True, slots=True)
class Reached:
    """An archive, and as whom it is asked. The gateway itself sees who the key's owner is."""

    archive: Archive
    scope: Scope


def source_of(ctx: typer.Context, url: str | None, key: str | None, redis: str | None) -> Source:
    """What the command line and the environment come to.

    Raises:
        typer.BadParameter: both are on the command line, or one of them cannot be used.
    """
    if url and redis:
        origin = ctx.get_parameter_source("redis")
        if origin is not None and origin.name == "COMMANDLINE":
            raise typer.BadParameter("either the gateway or Redis, not both", param_hint="--url, --redis")
        redis = None
    if key and not (key.isascii() and key.isprintable()):
        raise typer.BadParameter("a key has printable ASCII characters only", param_hint="--key")
    base = (url or DEFAULT_URL).rstrip("/").removesuffix("/v1").rstrip("/")
    if not re.match(r"https?://[^/\s]", base):
        raise typer.BadParameter(f"not an http address: {cell(base)}", param_hint="--url")
    return Source(base, key or None, redis or None)


@asynccontextmanager
async def open_archive(source: Source) -> AsyncIterator[Archive]:
    """Connect, and close in the end; what is slow to import is imported here."""
    if source.redis:
        from gateway_compaction.adapters.redis_archive import RedisArchive

        async with RedisArchive.at(source.redis) as archive:
            yield archive
    else:
        from gateway_compaction.adapters.http_archive import HttpArchive

        async with HttpArchive(source.url, source.key) as archive:
            yield archive


def work(ctx: typer.Context, source: Source, deed: Callable[[Reached], Awaitable[T]]) -> T:
    """Do something with the archive; what goes wrong ends the command with a sentence and its code."""
    opener: Opener = ctx.obj or open_archive

    async def run() -> T:
        async with opener(source) as archive:
            return await deed(Reached(archive, Scope(everything=True, actor=_actor())))

    with telling(source):
        return asyncio.run(run())


@contextmanager
def telling(source: Source) -> Iterator[None]:
    """Every failure of ours as a sentence on stderr and an exit code."""
    try:
        yield
    except StoreError as error:
        _end(f"No usable answer from {source.name}: {_sentence(error)}", UNREACHED)
    except ArchiveError as error:
        _end(_sentence(error), REFUSED)


def print_json(value: object, *, indent: int | None = 1) -> None:
    """The one document on stdout."""
    typer.echo(as_json(value, indent=indent))


async def find(reached: Reached, named: str) -> SessionRef:
    """The session that a person means: by its whole id, a beginning of it, or a label.

    Raises:
        NotThere: there is none.
        Refused: several could be meant.
    """
    whole = WHOLE.fullmatch(named.lower())
    if whole:
        return SessionRef(whole[1], whole[2])
    found: list[SessionRow] = []
    async for row in _candidates(reached, named):
        if row.session.key == named.lower():
            return row.session
        found.append(row)
    if not found:
        raise NotThere(f"No session has an id or a label {cell(named)!r}; ls --text looks inside of them")
    if len(found) > 1:
        listed = "; ".join(f"{row.session.slot} ({cell(', '.join(row.labels))})" for row in found[:SHOWN])
        more = f"; and {len(found) - SHOWN} more" if len(found) > SHOWN else ""
        raise Refused(f"{cell(named)!r} can mean {listed}{more}")
    return found[0].session


async def _candidates(reached: Reached, named: str) -> AsyncIterator[SessionRow]:
    parts = PARTS.fullmatch(named.lower())
    text = (parts[2] or parts[1]) if parts else named
    cursor: str | None = None
    while named:
        query = Query(text=text, limit=PAGE, cursor=cursor)
        page = await reached.archive.sessions(reached.scope, query)
        for row in page.rows:
            if _means(row, named):
                yield row
        cursor = page.cursor
        if cursor is None:
            return


def _means(row: SessionRow, named: str) -> bool:
    begun = named.lower()
    parts = PARTS.fullmatch(begun)
    if parts and row.session.tenant.startswith(parts[1]) and row.session.key.startswith(parts[2]):
        return True
    return row.session.key.startswith(begun) or named[:LABEL_CHARS] in row.labels


def _actor() -> str:
    try:
        return f"{getpass.getuser()} (command line)"
    except (KeyError, OSError, ImportError):
        return "command line"


def _sentence(error: Exception) -> str:
    text = defused(str(error) or type(error).__name__)
    text = text if len(text) <= MESSAGE else f"{text[:MESSAGE]}…"
    return text if text.endswith((".", "!", "?", "…")) else f"{text}."


def _end(message: str, code: int) -> NoReturn:
    typer.echo(message, err=True)
    raise typer.Exit(code)
