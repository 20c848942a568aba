"""The API in this process, with LiteLLM's own authentication before it and an archive in memory behind."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import AsyncIterator, Iterator
from typing import Any

import httpx
import pytest
from fastapi import FastAPI, Request

with warnings.catch_warnings():
    # LiteLLM's own modules warn as they are imported; what is imported later must not.
    warnings.simplefilter("ignore")
    from litellm.proxy import proxy_server

from litellm.proxy._types import ProxyException, UserAPIKeyAuth

from gateway_compaction.admin.access import declare_routes
from gateway_compaction.admin.dependencies import STATE, Parts
from gateway_compaction.admin.routes import include_routes
from gateway_compaction.admin.sign_ins import SignIns
from gateway_compaction.archive import Owner
from gateway_compaction.core.policy.book import PolicyBook
from gateway_compaction.core.records.savings import PromptPrice
from tests.admin.memory_archive import MemoryArchive, MemorySignIns
from tests.admin.people import BLUE, KEYS, MASTER, RED, hash_of, hour, session

POLICIES = {
    "version": 1,
    "defaults": {"mode": "observe"},
    "policies": [
        {"name": "for red", "match": {"team": RED}, "mode": "enforce"},
        {"name": "secret plan for blue", "match": {"team": BLUE}, "mode": "off"},
    ],
}
REFUSED_WITH = "sk-refused-with-"
"""Before a code: the key that is refused with it."""


async def authenticated(request: Request, api_key: str) -> UserAPIKeyAuth:
    """Custom authentication, as a proxy's config may name it."""
    if api_key.startswith(REFUSED_WITH):
        code = api_key.removeprefix(REFUSED_WITH)
        raise ProxyException(message="not today", type="auth_error", param=None, code=code or None)
    fields = KEYS.get(api_key)
    if fields is None:
        raise ProxyException(message="unknown key", type="auth_error", param="api_key", code=401)
    return UserAPIKeyAuth(api_key=hashlib.sha256(api_key.encode()).hexdigest(), **fields)


@pytest.fixture
def keyed() -> Iterator[None]:
    """A proxy with a master key and custom authentication, whose common checks are on."""
    before = (proxy_server.master_key, proxy_server.user_custom_auth, dict(proxy_server.general_settings))
    host: Any = proxy_server
    host.master_key, host.user_custom_auth = MASTER, authenticated
    proxy_server.general_settings["custom_auth_run_common_checks"] = True
    declare_routes()
    yield
    proxy_server.master_key, proxy_server.user_custom_auth = before[:2]
    proxy_server.general_settings.clear()
    proxy_server.general_settings.update(before[2])


@pytest.fixture
def unkeyed() -> Iterator[None]:
    """A proxy that asks nobody for a key."""
    before = proxy_server.master_key, proxy_server.user_custom_auth
    proxy_server.master_key = proxy_server.user_custom_auth = None
    yield
    proxy_server.master_key, proxy_server.user_custom_auth = before


@pytest.fixture
def archive() -> MemoryArchive:
    """Sessions of two keys of team red, one key of team blue, and one person without a team."""
    red_1 = Owner(team_id=RED, team="Red", key_hash=hash_of("sk-red-1"), key_alias="red-1")
    red_2 = Owner(team_id=RED, team="Red", key_hash=hash_of("sk-red-2"), key_alias="red-2")
    blue = Owner(team_id=BLUE, team="Blue", key_hash=hash_of("sk-blue-1"), key_alias="blue-1")
    ruth = Owner(user_id="ruth", key_hash=hash_of("sk-ruth"))
    made = MemoryArchive()
    for tenant, key, owner in (("tr", "1", red_1), ("tr", "2", red_2), ("tb", "1", blue), ("tu", "1", ruth)):
        made.add(session(tenant, key, owner, labels=(f"label-{tenant}-{key}",)))
    made.hours = [hour(red_1), hour(red_2), hour(blue, saved=5000), hour(ruth, model="unknown")]
    return made


@pytest.fixture
def parts(archive: MemoryArchive) -> Parts:
    """All parts, the metrics and prices among them constants."""
    book = PolicyBook(POLICIES, "policies.yaml")
    return Parts(
        archive,
        lambda: book,
        lambda model: PromptPrice(0.001, 0.001, 0.001) if model == "gpt" else None,
        lambda: (b"gateway_compaction_requests_total 7\n", "text/plain; version=0.0.4"),
        lambda: {"queued": 0},
        lambda text, model: len(text) // 4 + 1,
        SignIns(MemorySignIns()),
    )


@pytest.fixture(scope="session")
def mounted() -> FastAPI:
    """An application with nothing but our routes; making them takes longer than most tests."""
    app = FastAPI()
    include_routes(app)
    return app


@pytest.fixture
def app(mounted: FastAPI, parts: Parts) -> FastAPI:
    """The application with the parts of this test."""
    setattr(mounted.state, STATE, parts)
    return mounted


@pytest.fixture
async def client(app: FastAPI) -> AsyncIterator[httpx.AsyncClient]:
    """A client without a key, as curl is one."""
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    async with httpx.AsyncClient(
        transport=transport, base_url="http://localhost:4000", trust_env=False
    ) as client:
        yield client


def bearer(key: str | None) -> dict[str, Any]:
    """The header that carries a key."""
    return {} if key is None else {"Authorization": f"Bearer {key}"}
