"""Custom authentication of a lab proxy: API keys are looked up in ``keys.json`` beside this file."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from fastapi import Request
from litellm.proxy._types import ProxyException, UserAPIKeyAuth

__all__ = ["authenticate"]

KEYS: dict[str, dict[str, Any]] = json.loads(Path(__file__).with_name("keys.json").read_text())


async def authenticate(request: Request, api_key: str) -> UserAPIKeyAuth:
    """The identity of a key; an unknown key is refused with 401."""
    fields = KEYS.get(api_key.removeprefix("Bearer "))
    if fields is None:
        raise ProxyException(message="unknown key", type="auth_error", param="api_key", code=401)
    return UserAPIKeyAuth(api_key=hashlib.sha256(api_key.encode()).hexdigest(), **fields)
