"""Answer with values as JSON, in ASCII only, so that any text of strangers (lone surrogates too) arrives as
it was.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import fields, is_dataclass
from typing import Any

from fastapi import Response

UNCACHED = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}


def json_response(value: Any, status: int = 200) -> Response:
    """Return a response that holds a value of the contract."""
    return Response(to_json(value), status, UNCACHED, "application/json")


async def json_response_off_loop(value: Any) -> Response:
    """Return the same for what may be long: a thread writes it, so that requests need not wait for it."""
    return await asyncio.to_thread(json_response, value)


def to_json(value: Any) -> str:
    """Return a value of the contract as one line of JSON."""
    return json.dumps(value, default=_to_plain, separators=(",", ":"))


def _to_plain(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in fields(value)}
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, AbstractSet):
        return sorted(value)
    raise TypeError(f"{type(value).__name__} is no value of the contract")
