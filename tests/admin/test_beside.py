"""What may be long is gone through beside the loop: by the thread that reads it, not by the time it takes."""

from __future__ import annotations

import threading
from dataclasses import fields, replace
from typing import Any

import httpx
import pytest

from tests.admin.conftest import bearer
from tests.admin.memory_archive import MemoryArchive
from tests.admin.people import MASTER

pytestmark = pytest.mark.usefixtures("keyed")


class Readers:
    """Values that note which thread reads one of their fields."""

    def __init__(self) -> None:
        self.threads: list[threading.Thread] = []

    def noting(self, value: Any, field: str) -> Any:
        """The same value; whoever reads ``field`` of it is noted."""
        threads, kind = self.threads, type(value)

        class Noted(kind):  # type: ignore[misc,valid-type]
            __slots__ = ()

            def __getattribute__(self, name: str) -> Any:
                if name == field:
                    threads.append(threading.current_thread())
                return kind.__getattribute__(self, name)

        return Noted(*(getattr(value, f.name) for f in fields(value)))


@pytest.fixture
def readers(archive: MemoryArchive) -> Readers:
    """An archive whose hours, row, events, compactions and last call note their readers."""
    made, detail = Readers(), archive.known["tr.1"]
    archive.hours = [made.noting(hour, "requests") for hour in archive.hours]
    assert detail.last_call is not None
    archive.add(
        replace(
            detail,
            row=made.noting(detail.row, "would_save"),
            compactions=tuple(made.noting(c, "tokens_after") for c in detail.compactions),
            events=tuple(made.noting(e, "reason") for e in detail.events),
            last_call=made.noting(detail.last_call, "saw"),
        )
    )
    return made


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "overview"),
        ("GET", "sessions"),
        ("GET", "sessions/tr.1"),
        ("GET", "sessions/tr.1/events"),
        ("GET", "sessions/tr.1/versions/2"),
        ("GET", "sessions/tr.1/last-call"),
        ("POST", "sessions/tr.1/preview"),
        ("GET", "ui"),
        ("GET", "ui/live"),
        ("GET", "ui/sessions"),
        ("GET", "ui/sessions/tr.1"),
        ("GET", "ui/sessions/tr.1/live"),
        ("GET", "ui/sessions/tr.1/versions/2"),
        ("GET", "ui/sessions/tr.1/preview?target=0.2"),
    ],
)
async def test_no_long_value_is_gone_through_on_the_loop(
    client: httpx.AsyncClient, readers: Readers, method: str, path: str
) -> None:
    body: dict[str, Any] = {"json": {}} if method == "POST" else {}
    answer = await client.request(method, f"/compaction/{path}", headers=bearer(MASTER), **body)
    assert answer.status_code == 200, answer.text
    assert readers.threads and threading.current_thread() not in readers.threads


@pytest.mark.parametrize("path", ["overview", "ui"])
async def test_each_sum_is_made_once(client: httpx.AsyncClient, readers: Readers, path: str) -> None:
    await client.get(f"/compaction/{path}", headers=bearer(MASTER))
    # Four hours, each in all, by owner and by model; the API gives the hours themselves as well.
    assert len(readers.threads) == 4 * 3 + (4 if path == "overview" else 0)
