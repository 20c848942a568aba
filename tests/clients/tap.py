"""A TCP address before the gateway that notes what clients are told, which most of them do not show."""

from __future__ import annotations

import asyncio
import contextlib
import re
from types import TracebackType
from typing import Self

from tests.lab.ports import HOST

__all__ = ["Tap"]

TOLD = re.compile(rb"\r\nx-compaction: (\w+)\r\n", re.IGNORECASE)
NAMED = re.compile(rb"\r\nuser-agent: ([^\r]+)\r\n", re.IGNORECASE)
REASON = re.compile(rb"\r\nx-compaction-reason: ([^\r]+)\r\n", re.IGNORECASE)
STATUS = re.compile(rb"HTTP/1\.1 (\d{3}) ")
HEAD_LIMIT = 64 * 1024


class Tap:
    """Forwards connections to a port and reads the heads that pass.

    Attributes:
        outcomes: the values of ``x-compaction``, in the order in which answers began.
        reasons: those of ``x-compaction-reason``.
        agents: the values of ``user-agent``, each once.
        statuses: the status of each answer.
    """

    def __init__(self, target: int) -> None:
        self.target = target
        self.outcomes: list[str] = []
        self.reasons: list[str] = []
        self.statuses: list[int] = []
        self.agents: dict[str, None] = {}
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.Task[None]] = set()

    @property
    def url(self) -> str:
        """The address, without ``/v1``."""
        assert self._server is not None
        return f"http://{HOST}:{self._server.sockets[0].getsockname()[1]}"

    async def _forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._open.add(task)
        with contextlib.suppress(OSError, asyncio.CancelledError):
            there, back = await asyncio.open_connection(HOST, self.target)
            with contextlib.closing(back):
                await asyncio.gather(
                    self._copy(reader, back, self._asked), self._copy(there, writer, self._answered)
                )
        writer.close()
        self._open.discard(task)

    async def _copy(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter, note: object) -> None:
        with contextlib.suppress(OSError):
            while data := await source.read(HEAD_LIMIT):
                note(data)  # type: ignore[operator]
                sink.write(data)
                await sink.drain()
        sink.close()

    def _asked(self, data: bytes) -> None:
        self.agents |= {agent.decode("latin-1"): None for agent in NAMED.findall(data)}

    def _answered(self, data: bytes) -> None:
        """A head comes in one piece: uvicorn writes it at once."""
        if STATUS.match(data):
            head = data.partition(b"\r\n\r\n")[0] + b"\r\n"
            self.statuses += [int(status) for status in STATUS.findall(head)]
            self.reasons += [reason.decode("latin-1") for reason in REASON.findall(head)]
            self.outcomes += [outcome.decode() for outcome in TOLD.findall(head)]

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._forward, HOST, 0)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._server is not None
        self._server.close()
        for task in list(self._open):
            task.cancel()
