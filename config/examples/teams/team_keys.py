"""Keys with a team and a user, without a database: to try team policies.

Real keys do not belong in a file.
"""

from __future__ import annotations

import os

from fastapi import Request
from litellm.proxy._types import ProxyException, UserAPIKeyAuth

KEYS = {
    "sk-try-ann": {"team_id": "research", "user_id": "ann", "key_alias": "ann"},
    "sk-try-lee": {"team_id": "support", "user_id": "lee", "key_alias": "lee"},
    "sk-try-kim": {"team_id": "legal", "user_id": "kim", "key_alias": "kim"},
}


async def authenticate(request: Request, api_key: str) -> UserAPIKeyAuth:
    """Who a key is; LiteLLM calls it with every request."""
    if api_key and api_key == os.environ.get("LITELLM_MASTER_KEY"):
        return UserAPIKeyAuth(api_key=api_key, user_role="proxy_admin", user_id="admin")
    if api_key not in KEYS:
        raise ProxyException(message="unknown key", type="auth_error", param="api_key", code=401)
    return UserAPIKeyAuth(api_key=api_key, **KEYS[api_key])
