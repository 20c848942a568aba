"""Values as JSON. ASCII only, so that any text of strangers (lone surrogates too) arrives as it was."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import fields, is_dataclass
from typing import Any

from fastapi import Response

__all__ = ["UNCACHED", "answer", "answer_beside", "as_json"]

UNCACHED = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}


def answer(value: Any, status: int = 200) -> Response:
    """A response that holds a value of the contract."""
    return Response(as_json(value), status, UNCACHED, "application/json")


async def answer_beside(value: Any) -> Response:
    """The same of what may be long, written beside the loop: requests must not wait for it."""
    return await asyncio.to_thread(answer, value)


def as_json(value: Any) -> str:
    """A value of the contract in one line."""
    return json.dumps(value, default=_plain, separators=(",", ":"))


def _plain(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in fields(value)}
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, AbstractSet):
        return sorted(value)
    raise TypeError(f"{type(value).__name__} is no value of the contract")
