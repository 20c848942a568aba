"""A TCP address that leads to one server and then to another, as a service address does in a failover."""

from __future__ import annotations

import asyncio
import contextlib
from types import TracebackType
from typing import Self

from tests.lab.ports import HOST

__all__ = ["Forwarder"]


class Forwarder:
    """Forwards connections to ``target``, a port; what is set later holds for connections made later.

    Attributes:
        target: where new connections lead.
        accepted: connections so far.
    """

    def __init__(self, target: int) -> None:
        self.target = target
        self.accepted = 0
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.Task[None]] = set()

    @property
    def port(self) -> int:
        """The port that it listens on."""
        assert self._server is not None
        port: int = self._server.sockets[0].getsockname()[1]
        return port

    async def _forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.accepted += 1
        task = asyncio.current_task()
        assert task is not None
        self._open.add(task)
        with contextlib.suppress(OSError, asyncio.CancelledError):
            there, back = await asyncio.open_connection(HOST, self.target)
            with contextlib.closing(back):
                await asyncio.gather(_copy(reader, back), _copy(there, writer))
        writer.close()
        self._open.discard(task)

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


async def _copy(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while data := await source.read(65536):
            sink.write(data)
            await sink.drain()
    sink.close()
