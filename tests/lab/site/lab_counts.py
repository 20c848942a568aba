"""A callback of a lab proxy that tells what its process holds: ``GET /lab/counts``.

``?trim=1`` collects garbage and gives free memory back to the system first: what is left then is in use, and
the difference was fragmentation.
"""

from __future__ import annotations

import asyncio
import ctypes
import gc
import os
import threading
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

from litellm.integrations.custom_logger import CustomLogger
from litellm.proxy.proxy_server import app

__all__ = ["count_all", "handler"]

PAGE = os.sysconf("SC_PAGE_SIZE")


def _resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * PAGE


async def count_all(trim: int = 0) -> dict[str, Any]:
    """Return the resident bytes, and the numbers of threads, open files and tasks by their coroutine."""
    if trim:
        gc.collect()
        # Only glibc has it.
        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).malloc_trim(0)
    tasks = Counter(getattr(t.get_coro(), "__qualname__", "?") for t in asyncio.all_tasks())
    return {
        "rss": _resident_bytes(),
        "threads": threading.active_count(),
        "files": len(os.listdir("/proc/self/fd")),
        "tasks": dict(tasks),
    }


app.add_api_route("/lab/counts", count_all)
handler = CustomLogger()
