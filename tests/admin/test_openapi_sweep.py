"""Every operation of the OpenAPI document, asked what nobody expects: no answer is a fault of ours.

What is sent is drawn from the document's own schemas, and from junk; behind the routes is a real archive, so
that what a route lets through reaches the store. ``FUZZ_STEPS`` says how many questions are asked.
"""

from __future__ import annotations

import json
import os
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from random import Random
from typing import Any
from urllib.parse import quote

import httpx
import pytest
from fastapi import FastAPI

from gateway_compaction.adapters.redis.archive import RedisArchive
from gateway_compaction.adapters.redis.connection import connect
from gateway_compaction.adapters.redis.store import RedisStore
from gateway_compaction.admin.dependencies import STATE, Parts
from tests.admin.conftest import bearer
from tests.admin.people import KEYS, MASTER
from tests.store_contract import digest, event, record, session

pytestmark = pytest.mark.usefixtures("keyed")
QUESTIONS = max(400, int(os.environ.get("FUZZ_STEPS", "0")) // 100)
S = session()
JUNK: tuple[Any, ...] = (
    None,
    True,
    -1,
    0,
    2**53,
    1e308,
    "",
    " ",
    "\x00",
    "\ud800",
    "..%2f..",
    "a" * 5_000,
    "🇰🇷",
    "x\r\ny: z",
    "%",
    "'\"><script>",
    [],
    {},
    [[[]]],
    {"v": 1},
    "9" * 400,
)
# It is answered without an end.
STREAMED = "/compaction/watch"


@pytest.fixture
async def sweeping(app: FastAPI, parts: Parts, client: httpx.AsyncClient) -> AsyncIterator[httpx.AsyncClient]:
    """The client, with a session in a real archive behind the routes."""
    store = RedisStore(connect(None), timeout_seconds=5.0)
    token = await store.claim(S, digest("a"), [], 60)
    await store.put(S, record("a"), token=token, ttl=600, limit=9)
    await store.append(S, event(), ttl=600)
    setattr(app.state, STATE, replace(parts, archive=RedisArchive(store.connection)))
    yield client
    await store.aclose()


def draw(chance: Random, schema: Mapping[str, Any], schemas: Mapping[str, Any], depth: int = 0) -> Any:
    """A value of a schema, now and then of none."""
    if chance.random() < 0.2 or depth > 4:
        return chance.choice(JUNK)
    if "$ref" in schema:
        return draw(chance, schemas[schema["$ref"].rpartition("/")[2]], schemas, depth + 1)
    for word in ("anyOf", "oneOf", "allOf"):
        if word in schema:
            return draw(chance, chance.choice(schema[word]), schemas, depth + 1)
    if "enum" in schema:
        return chance.choice(schema["enum"])
    kind = schema.get("type")
    if kind == "object":
        properties = schema.get("properties", {})
        return {
            name: draw(chance, one, schemas, depth + 1)
            for name, one in properties.items()
            if chance.random() < 0.8
        }
    if kind == "array":
        return [draw(chance, schema.get("items", {}), schemas, depth + 1) for _ in range(chance.randrange(4))]
    if kind in ("integer", "number"):
        return chance.choice((schema.get("minimum", 0), schema.get("maximum", 1), 0.2, 1, 10**9, -5))
    if kind == "boolean":
        return chance.random() < 0.5
    return chance.choice(("", S.session_id, S.key, "medium", "2026-01-01T00:00:00", "words of a person"))


def to_text(value: Any) -> str:
    """A value as it stands in an address."""
    text = value if isinstance(value, str) else json.dumps(value)
    return text.encode("utf-8", "replace").decode()


async def ask(
    chance: Random, client: httpx.AsyncClient, document: Mapping[str, Any], path: str, method: str
) -> httpx.Response:
    """Ask one operation something."""
    operation, schemas = document["paths"][path][method], document["components"]["schemas"]
    query, headers = {}, bearer(chance.choice((MASTER, MASTER, MASTER, *KEYS, None, "sk-nobody")))
    for parameter in operation.get("parameters", ()):
        value = draw(chance, parameter.get("schema", {}), schemas)
        if parameter["in"] == "path":
            known = chance.random() < 0.6
            text = S.session_id if known and parameter["name"] == "id" else to_text(value)
            path = path.replace(f"{{{parameter['name']}}}", quote(text, safe="") or "-")
        elif parameter["in"] == "query" and chance.random() < 0.7:
            query[parameter["name"]] = to_text(value)
    content = None
    if "requestBody" in operation:
        [(kind, body), *_] = operation["requestBody"]["content"].items()
        value = draw(chance, body.get("schema", {}), schemas)
        content = json.dumps(value).encode() if chance.random() < 0.9 else chance.randbytes(40)
        headers["Content-Type"] = chance.choice((kind, kind, kind, "text/plain"))
    return await client.request(method.upper(), path, params=query, headers=headers, content=content)


@pytest.mark.parametrize("seed", range(4))
async def test_no_question_is_answered_with_a_fault(
    sweeping: httpx.AsyncClient, mounted: FastAPI, seed: int
) -> None:
    document = mounted.openapi()
    operations = [(path, method) for path, known in document["paths"].items() for method in known]
    operations = [one for one in operations if one[0].startswith("/compaction/") and one[0] != STREAMED]
    assert len(operations) > 25
    chance = Random(seed if "CI" in os.environ or QUESTIONS == 400 else None)
    for number in range(QUESTIONS // 4):
        path, method = operations[number % len(operations)]
        answer = await ask(chance, sweeping, document, path, method)
        told = f"{answer.request.method} {answer.request.url} {answer.request.content!r}: {answer.text[:500]}"
        assert answer.status_code < 500, told
        if answer.status_code >= 400:
            assert answer.headers["content-type"] == "application/problem+json", told
            assert answer.json()["status"] == answer.status_code, told
