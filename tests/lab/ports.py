"""Loopback ports and the answers on them."""

from __future__ import annotations

import socket
import time

__all__ = ["HOST", "accepts", "free_port"]

HOST = "127.0.0.1"


def free_port() -> int:
    """A port that nobody listens on at this moment."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port: int = probe.getsockname()[1]
        return port


def accepts(port: int, *, seconds: float = 0.0) -> bool:
    """Whether something accepts connections on ``port``, waiting up to ``seconds`` for it."""
    deadline = time.monotonic() + seconds
    while True:
        with socket.socket() as probe:
            probe.settimeout(0.5)
            if probe.connect_ex((HOST, port)) == 0:
                return True
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
