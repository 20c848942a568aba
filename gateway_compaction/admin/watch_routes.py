"""Send sessions as they change, as server-sent events."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator
from dataclasses import dataclass, field
from typing import Annotated, Any

from fastapi import Depends, Response
from fastapi.responses import StreamingResponse

from gateway_compaction.admin.access import Reader, new_router
from gateway_compaction.admin.dependencies import PartsDep
from gateway_compaction.admin.json_response import UNCACHED, to_json
from gateway_compaction.admin.problems import STORE_DOWN, Problem
from gateway_compaction.archive import Query, SessionRow
from gateway_compaction.errors import StoreError

router = new_router()
BEAT_SECONDS = 15.0
# A key that was blocked meanwhile must not see more: browsers and our command line connect again.
LONGEST_SECONDS = 300.0
MOST_STREAMS, MOST_OF_ONE = 50, 10
OWN_FULL = f"{MOST_OF_ONE} streams are open for you at this process already; close one, or ask for pages."
FULL = f"This process serves {MOST_STREAMS} streams already; ask for pages instead."
HEADERS = {**UNCACHED, "X-Accel-Buffering": "no"}
STREAM: dict[int | str, dict[str, Any]] = {
    200: {
        "content": {"text/event-stream": {}},
        "description": "Events `session` whose data is a row of the session list, `down` when the store"
        " stops answering; comments keep the line open. Ends after five minutes: connect again. A process has"
        f" {MOST_STREAMS} of them at once, {MOST_OF_ONE} for one key.",
    }
}


@dataclass(slots=True)
class _StreamCounts:
    """The number of streams that this process serves, in all (``open``) and to each operator (``of``)."""

    open: int = 0
    of: Counter[str] = field(default_factory=Counter)


streams = _StreamCounts()


async def _take_place(viewer: Reader) -> AsyncGenerator[None, None]:
    """Take one of the places, from before the first wait of a stream until FastAPI is done with it."""
    who = viewer.scope.actor
    # Nobody takes the places of all others.
    if streams.of[who] >= MOST_OF_ONE:
        raise Problem(429, OWN_FULL)
    if streams.open >= MOST_STREAMS:
        raise Problem(503, FULL)
    streams.open += 1
    streams.of[who] += 1
    try:
        yield
    finally:
        streams.open -= 1
        streams.of[who] -= 1
        if not streams.of[who]:
            del streams.of[who]


@router.get("/watch", operation_id="compaction_watch", response_class=StreamingResponse, responses=STREAM)
async def watch(viewer: Reader, parts: PartsDep, _: Annotated[None, Depends(_take_place)]) -> Response:
    """Send rows of sessions as they change, from now on."""
    # Once the stream has begun, nothing but the stream can say that the store is down.
    await parts.archive.sessions(viewer.scope, Query(limit=1))
    lines = to_frames(parts.archive.watch(viewer.scope))
    return StreamingResponse(lines, 200, HEADERS, "text/event-stream")


async def to_frames(
    rows: AsyncIterator[SessionRow], beat: float = BEAT_SECONDS, longest: float = LONGEST_SECONDS
) -> AsyncIterator[str]:
    """Yield rows as text of a stream, with a comment where nothing happens for ``beat`` seconds."""
    until = time.monotonic() + longest
    coming: asyncio.Task[SessionRow] | None = None
    try:
        yield "retry: 2000\n\n"
        while time.monotonic() < until:
            coming = coming or asyncio.ensure_future(_next_row(rows))
            done, _ = await asyncio.wait({coming}, timeout=min(beat, longest))
            if not done:
                yield ": still here\n\n"
                continue
            row, coming = coming.result(), None
            yield f"event: session\ndata: {to_json(row)}\n\n"
    except StopAsyncIteration:
        return
    except StoreError:
        yield f"event: down\ndata: {to_json({'detail': STORE_DOWN})}\n\n"
    finally:
        if coming is not None:
            coming.cancel()
            await asyncio.wait({coming})
        if isinstance(rows, AsyncGenerator):
            await rows.aclose()


async def _next_row(rows: AsyncIterator[SessionRow]) -> SessionRow:
    return await anext(rows)
