"""Several real Redis servers that belong together: a cluster, and a primary with a replica under Sentinel."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import redis

from tests.lab.ports import HOST, free_port
from tests.lab.redis_server import RedisServer, redis_binary

__all__ = ["Cluster", "SentinelGroup"]

SLOTS = 16_384
# A node of a cluster also listens on its port + 10,000.
HIGHEST_PORT = 55_000
SENTINEL_NAME = "lab"
QUIET_MILLISECONDS = 500


class Cluster:
    """Some nodes, of which the first has all slots at first; ``nodes`` are its servers."""

    def __init__(self, size: int, *options: str) -> None:
        ports = [next(p for p in iter(free_port, None) if p < HIGHEST_PORT) for _ in range(size)]
        self.nodes = [RedisServer(port, "--cluster-enabled", "yes", *options) for port in ports]

    def __enter__(self) -> Self:
        with contextlib.ExitStack() as starting:
            for node in self.nodes:
                starting.enter_context(node)
            first = self.nodes[0]
            _ask(first, "CLUSTER", "ADDSLOTSRANGE", 0, SLOTS - 1)
            for number, node in enumerate(self.nodes, 1):
                # Nodes with the same epoch would first have to agree who is right.
                _ask(node, "CLUSTER", "SET-CONFIG-EPOCH", number)
                _ask(first, "CLUSTER", "MEET", HOST, node.port)
            for node in self.nodes:
                _wait(lambda node=node: self._is_joined(node), "the nodes to know each other")
            self._servers = starting.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._servers.close()

    def move_slots(self, names: Iterable[str], source: int, target: int) -> None:
        """Move the slots of some keys and of all that are there, as ``redis-cli --cluster reshard`` does."""
        old, new = self.nodes[source], self.nodes[target]
        ids = {server: str(_ask(server, "CLUSTER", "MYID")) for server in (old, new)}
        slots = {_ask(old, "CLUSTER", "KEYSLOT", name) for name in [*names, *_ask(old, "KEYS", "*")]}
        for slot in slots:
            _ask(new, "CLUSTER", "SETSLOT", slot, "IMPORTING", ids[old])
            _ask(old, "CLUSTER", "SETSLOT", slot, "MIGRATING", ids[new])
            while keys := _ask(old, "CLUSTER", "GETKEYSINSLOT", slot, 100):
                _ask(old, "MIGRATE", HOST, new.port, "", 0, 5000, "KEYS", *keys)
            for server in (new, old):
                _ask(server, "CLUSTER", "SETSLOT", slot, "NODE", ids[new])

    def move_all_slots(self, source: int, target: int) -> None:
        """Move every slot, and the keys that are there."""
        old, new = self.nodes[source], self.nodes[target]
        self.move_slots([], source, target)
        name = str(_ask(new, "CLUSTER", "MYID"))
        for server in (new, old):
            with server.client() as client:
                connection = client.connection_pool.get_connection()
                words = [("CLUSTER", "SETSLOT", slot, "NODE", name) for slot in range(SLOTS)]
                connection.send_packed_command(connection.pack_commands(words))
                for _ in words:
                    with contextlib.suppress(redis.ResponseError):
                        connection.read_response()

    def _is_joined(self, node: RedisServer) -> bool:
        known = dict(
            line.split(":", 1) for line in str(_ask(node, "CLUSTER", "INFO")).splitlines() if ":" in line
        )
        return known.get("cluster_state") == "ok" and known.get("cluster_known_nodes") == str(len(self.nodes))


class SentinelGroup:
    """A primary, its replica, and a Sentinel (``redis-server --sentinel``) that watches them."""

    def __init__(self, *options: str) -> None:
        self.servers = (RedisServer(None, *options), RedisServer(None, *options))
        self.port = free_port()
        self._directory = Path(tempfile.mkdtemp(prefix="lab-sentinel-"))
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        with contextlib.ExitStack() as starting:
            primary, replica = (starting.enter_context(server) for server in self.servers)
            _ask(replica, "REPLICAOF", HOST, primary.port)
            _wait(lambda: "master_link_status:up" in _info(replica), "the replica to follow")
            starting.callback(shutil.rmtree, self._directory, ignore_errors=True)
            starting.callback(self._stop_sentinel)
            self._start_sentinel(primary.port)
            _wait(lambda: len(self._sentinel("REPLICAS", SENTINEL_NAME)) == 1, "Sentinel to know the replica")
            self._servers = starting.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._servers.close()

    @property
    def primary_port(self) -> int:
        """The port of the primary, by what Sentinel says at present."""
        return int(self._sentinel("GET-MASTER-ADDR-BY-NAME", SENTINEL_NAME)[1])

    def _start_sentinel(self, primary: int) -> None:
        config = self._directory / "sentinel.conf"
        lines = [f"port {self.port}", f"bind {HOST}", f"dir {self._directory}"]
        lines += [f"sentinel monitor {SENTINEL_NAME} {HOST} {primary} 1"]
        lines += [f"sentinel down-after-milliseconds {SENTINEL_NAME} {QUIET_MILLISECONDS}"]
        lines += [f"sentinel failover-timeout {SENTINEL_NAME} 5000"]
        config.write_text("\n".join(lines) + "\n")
        binary = redis_binary()
        assert binary is not None
        self._process = subprocess.Popen(
            [binary, str(config), "--sentinel"], stdout=subprocess.DEVNULL, start_new_session=True
        )
        _wait(self._answers, "Sentinel to answer")

    def _answers(self) -> bool:
        try:
            return bool(self._sentinel("MASTERS"))
        except (redis.RedisError, OSError):
            return False

    def _sentinel(self, *words: str) -> Any:
        with redis.Redis(port=self.port, socket_timeout=5, decode_responses=True) as client:
            # The raw connection: redis-py would read the answers as its own tables.
            connection = client.connection_pool.get_connection()
            connection.send_command("SENTINEL", *words)
            return connection.read_response()

    def _stop_sentinel(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait(10)


def _ask(server: RedisServer, *words: Any) -> Any:
    with server.client() as client:
        connection = client.connection_pool.get_connection()
        connection.send_command(*words)
        return connection.read_response()


def _info(server: RedisServer) -> str:
    return str(_ask(server, "INFO", "replication"))


def _wait(probe: Callable[[], bool], what: str, seconds: float = 15.0) -> None:
    deadline = time.monotonic() + seconds
    while not probe():
        assert time.monotonic() < deadline, f"waited {seconds:g} s for {what}"
        time.sleep(0.05)
