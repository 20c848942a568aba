"""Reach what ``buffers`` shows, by the gateway's API or in Redis itself; turn failures into exit codes."""

from __future__ import annotations

import asyncio
import getpass
import inspect
import re
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from dataclasses import dataclass
from functools import wraps
from io import TextIOWrapper
from typing import Annotated, Any, NoReturn, TypeVar

import typer

from gateway_compaction.adapters.secrets import find_address_fault, hide_password
from gateway_compaction.archive import Archive, Query, Scope
from gateway_compaction.cli.buffers.text import escape_terminal, print_json
from gateway_compaction.errors import ActionRefused, ArchiveError, StoreError

T = TypeVar("T")
Opener = Callable[["Source"], AbstractAsyncContextManager[Archive]]

USUAL_PORT, URL_VARIABLE = 4000, "GATEWAY_COMPACTION_URL"
DEFAULT_URL = f"http://localhost:{USUAL_PORT}"
REFUSED, UNREACHED = 1, 3
GREETING_SECONDS = 4.0
PAGE = 200
MESSAGE = 1_000

_Url = Annotated[
    str | None,
    typer.Option(
        help="The gateway, with or without /v1.",
        envvar=URL_VARIABLE,
        show_default=DEFAULT_URL,
        metavar="URL",
    ),
]
_Port = Annotated[
    int | None,
    typer.Option(
        help="The gateway's port on this machine, instead of --url.",
        show_default=False,
        min=1,
        max=65_535,
    ),
]
_Key = Annotated[
    str | None,
    typer.Option(
        help="The key to show to the gateway; better in the environment than on a command line.",
        envvar=["GATEWAY_COMPACTION_KEY", "LITELLM_MASTER_KEY", "OPENAI_API_KEY"],
        show_default=False,
    ),
]
_Redis = Annotated[
    str | None,
    typer.Option(
        help="Read and write this Redis itself, without a gateway, every tenant's sessions in it; one that"
        f" the environment names gives way to --url and {URL_VARIABLE}.",
        envvar="GATEWAY_COMPACTION_REDIS_URL",
        show_default=False,
        metavar="URL",
    ),
]
_AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")]
Named = Annotated[
    str,
    typer.Argument(
        metavar="SESSION", help="An id as ls shows it, any unambiguous beginning of it, or a label."
    ),
]


class SeveralError(ActionRefused):
    """The name can mean several sessions; ``listed`` has a line for each, harmless for a terminal."""

    def __init__(self, problem: str, listed: Sequence[str]) -> None:
        super().__init__(problem)
        self.listed = listed


@dataclass(frozen=True, slots=True)
class Source:
    """The place where sessions are: in ``redis`` where it is given, else behind the gateway at ``url``."""

    url: str
    key: str | None = None
    redis: str | None = None

    @property
    def name(self) -> str:
        """The place as messages name it, without passwords."""
        where = self.redis or self.url
        return f"{'Redis' if self.redis else 'the gateway'} at {escape_terminal(hide_password(where))}"


@dataclass(frozen=True, slots=True)
class OpenArchive:
    """An archive, and the scope in which it is asked; a gateway sees for itself whose the key is."""

    archive: Archive
    scope: Scope


@dataclass(frozen=True, slots=True)
class Invocation:
    """One command as it was typed: its source, and whether it answers in JSON."""

    source: Source
    as_json: bool
    opener: Opener

    def run(self, action: Callable[[OpenArchive], Awaitable[T]]) -> T:
        """Run something on the archive; a failure ends the command with a sentence and its exit code."""

        async def run() -> T:
            async with self.opener(self.source) as archive:
                return await action(OpenArchive(archive, Scope(everything=True, actor=_actor_name())))

        with self.report_failures():
            return asyncio.run(run())
        raise AssertionError("telling() ends the command")

    @contextmanager
    def report_failures(self) -> Iterator[None]:
        """Turn every failure of ours into a sentence on stderr and an exit code."""
        try:
            yield
        except StoreError as error:
            _exit_with(f"No usable answer from {self.source.name}: {_describe_failure(error)}", UNREACHED)
        except SeveralError as error:
            _exit_with("\n  ".join([_describe_failure(error), *error.listed]), REFUSED)
        except ArchiveError as error:
            _exit_with(_describe_failure(error), REFUSED)

    def report(self, document: Mapping[str, Any], sentence: str) -> None:
        """Print what was done: the document with ``--json``, else the sentence."""
        if self.as_json:
            print_json(document)
        else:
            typer.echo(f"{sentence}.")

    def confirm(self, question: str) -> None:
        """Ask a person, on stderr; anything but yes ends the command."""
        typer.echo(f"{question} [y/N]: ", nl=False, err=True)
        # Typer's own question leaves a space on stdout, where nothing but the document belongs.
        if sys.stdin.readline().strip().lower() not in ("y", "yes"):
            _exit_with("Nothing was changed; --yes does not ask.", REFUSED)


def with_archive_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options that say where sessions are, and hand it what they come to."""

    @wraps(command)
    def typed(
        *,
        ctx: typer.Context,
        url: str | None,
        port: int | None,
        key: str | None,
        redis: str | None,
        **given: Any,
    ) -> None:
        for stream in (sys.stdout, sys.stderr):
            # A terminal that is not UTF-8 gets escapes, not an exception.
            if isinstance(stream, TextIOWrapper):
                stream.reconfigure(errors="backslashreplace")
        source, in_json = _resolve_source(ctx, _choose_url(ctx, url, port), key, redis), given.pop("as_json")
        command(Invocation(source, in_json, ctx.obj or open_archive), **given)

    own = list(inspect.signature(command, eval_str=True).parameters.values())[1:]
    shared = inspect.signature(_shared_options, eval_str=True).parameters.values()
    context = inspect.Parameter("ctx", inspect.Parameter.KEYWORD_ONLY, annotation=typer.Context)
    listed = [context, *(one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in (*own, *shared))]
    # Typer reads a command's options off its signature.
    typed.__signature__ = inspect.Signature(listed)  # type: ignore[attr-defined]
    typed.__annotations__ = {one.name: one.annotation for one in listed}
    return typed


def _shared_options(
    url: _Url = None,
    port: _Port = None,
    key: _Key = None,
    redis: _Redis = None,
    as_json: _AsJson = False,
) -> None:
    """Return the options that every command has."""


def _choose_url(ctx: typer.Context, url: str | None, port: int | None) -> str | None:
    """Return the gateway's address: a port that is typed is stronger than an address of the environment.

    Raises:
        typer.BadParameter: address and port are both on the command line.
    """
    if port is None:
        return url
    if _is_typed(ctx, "url"):
        raise typer.BadParameter("either an address or a port, not both", param_hint="--url, --port")
    return f"http://localhost:{port}"


def _resolve_source(ctx: typer.Context, url: str | None, key: str | None, redis: str | None) -> Source:
    """Return the source that the command line and the environment come to.

    Raises:
        typer.BadParameter: both are on the command line, or one of them cannot be used.
    """
    if url and redis:
        to_gateway, to_redis = _is_typed(ctx, "url") or _is_typed(ctx, "port"), _is_typed(ctx, "redis")
        if to_gateway and to_redis:
            raise typer.BadParameter("either the gateway or Redis, not both", param_hint="--url, --redis")
        # Of two variables, that of the gateway is there for these commands alone.
        url, redis = (None, redis) if to_redis else (url, None)
    if key and not (key.isascii() and key.isprintable()):
        raise typer.BadParameter("a key has printable ASCII characters only", param_hint="--key")
    base = (url or DEFAULT_URL).rstrip("/").removesuffix("/v1").rstrip("/")
    if not re.match(r"https?://[^/\s]", base):
        raise typer.BadParameter("not an http address; write http://host:4000", param_hint="--url")
    if fault := find_address_fault(base):
        raise typer.BadParameter(fault, param_hint="--url")
    return Source(base, key or None, redis or None)


def _is_typed(ctx: typer.Context, name: str) -> bool:
    origin = ctx.get_parameter_source(name)
    return origin is not None and origin.name == "COMMANDLINE"


@asynccontextmanager
async def open_archive(source: Source) -> AsyncIterator[Archive]:
    """Connect, and close in the end; what is slow to import is imported here."""
    if source.redis:
        from gateway_compaction.adapters.redis.archive import RedisArchive
        from gateway_compaction.runtime import open_vault
        from gateway_compaction.settings import Settings

        async with RedisArchive.open(source.redis, open_vault(Settings())) as archive:
            await _ping(archive)
            yield archive
    else:
        from gateway_compaction.adapters.http_archive import GatewayUnreachable, HttpArchive

        async with HttpArchive(source.url, source.key) as archive:
            try:
                yield archive
            except GatewayUnreachable as error:
                where = f"--url or {URL_VARIABLE} says where the gateway is"
                raise StoreError(f"{_describe_failure(error)} {where}") from error


async def _ping(archive: Archive) -> None:
    """Ask what costs nothing, for nobody: a Redis that hangs is given up within seconds.

    The store's own deadlines begin anew while the machine is busy, so they are not enough.

    Raises:
        StoreError: there is no answer.
    """
    try:
        async with asyncio.timeout(GREETING_SECONDS):
            await archive.sessions(Scope(), Query(limit=1))
    except TimeoutError as error:
        raise StoreError(f"it did not answer within {GREETING_SECONDS:.0f} seconds") from error


def _actor_name() -> str:
    try:
        return f"{getpass.getuser()} (command line)"
    except (KeyError, OSError, ImportError):
        return "command line"


def _describe_failure(error: Exception) -> str:
    text = escape_terminal(str(error) or type(error).__name__)
    text = text if len(text) <= MESSAGE else f"{text[:MESSAGE]}…"
    return text if text.endswith((".", "!", "?", "…")) else f"{text}."


def _exit_with(message: str, code: int) -> NoReturn:
    typer.echo(message, err=True)
    raise typer.Exit(code)
