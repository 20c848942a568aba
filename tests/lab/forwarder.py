"""A TCP address in front of a server that may lead elsewhere, be slow, hold back, or break connections."""

from __future__ import annotations

import asyncio
import contextlib
import random
import ssl
from types import TracebackType
from typing import Self

from tests.lab.ports import HOST

__all__ = ["Forwarder"]


class Forwarder:
    """Forwards connections to ``target``, a port; what is set later holds for connections made later.

    With ``tls`` clients speak TLS to it, and it speaks plainly to the server.

    Attributes:
        target: where new connections lead.
        accepted: connections so far.
        delay: least and most seconds that each piece of an answer is late.
        break_after: bytes of an answer after which its connection breaks; None for never.
        held: pieces of requests that are held back at present.
        delivered: pieces of requests that reached the server.
    """

    def __init__(self, target: int, *, tls: ssl.SSLContext | None = None) -> None:
        self.target = target
        self._tls = tls
        self.accepted = 0
        self.delay = (0.0, 0.0)
        self.break_after: int | None = None
        self.held = 0
        self.delivered = 0
        self._open_road = asyncio.Event()
        self._open_road.set()
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.Task[None]] = set()

    @property
    def port(self) -> int:
        """The port that it listens on."""
        assert self._server is not None
        port: int = self._server.sockets[0].getsockname()[1]
        return port

    @property
    def url(self) -> str:
        """What a client of Redis connects to."""
        return f"redis://{HOST}:{self.port}/0"

    def hold(self) -> None:
        """Keep back what clients send from now on; it arrives after ``resume``, whatever became of them."""
        self._open_road.clear()

    def resume(self) -> None:
        """Deliver what was held back."""
        self._open_road.set()

    def cut(self) -> None:
        """Break all connections."""
        for task in list(self._open):
            task.cancel()

    async def _forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.accepted += 1
        task = asyncio.current_task()
        assert task is not None
        self._open.add(task)
        with contextlib.suppress(OSError, asyncio.CancelledError):
            there, back = await asyncio.open_connection(HOST, self.target)
            with contextlib.closing(back):
                await asyncio.gather(self._send_on(reader, back), self._answer(there, writer))
        writer.close()
        self._open.discard(task)

    async def _send_on(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        """Bring the server what a client sends."""
        with contextlib.suppress(OSError):
            while data := await source.read(65536):
                if not self._open_road.is_set():
                    self.held += 1
                    await self._open_road.wait()
                    self.held -= 1
                sink.write(data)
                await sink.drain()
                self.delivered += 1
        sink.close()

    async def _answer(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        """Bring a client the server's answers."""
        with contextlib.suppress(OSError):
            while data := await source.read(65536):
                if self.delay[1]:
                    await asyncio.sleep(random.uniform(*self.delay))
                if self.break_after is not None and len(data) > self.break_after:
                    sink.write(data[: self.break_after])
                    await sink.drain()
                    break
                sink.write(data)
                await sink.drain()
        sink.close()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._forward, HOST, 0, ssl=self._tls)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._server is not None
        self._server.close()
        self.cut()
