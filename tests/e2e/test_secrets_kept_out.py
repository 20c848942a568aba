"""Secrets that clients send through a real proxy: none stands in clear in what is stored, summarised, logged,
exported or shown, and the caller's own model gets them as the client wrote them.

The proxy is its own: it stores whole calls, asks a summariser that repeats a key, and lets one team switch
masking off, which shows that the same scan finds what is there.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.core.redaction.test_detector import strings
from tests.e2e.runs import queued
from tests.e2e.test_buffers import run
from tests.engine.test_secrets_stay_out import CAUGHT, KEY, conversation, kept_in
from tests.lab import Client, Message, Model, Proxy, RedisServer, Reply, Seen, Upstream, until
from tests.lab.proxy import MASTER_KEY, proxy_config

GUIDE, NOTES = Model("guide", 9_000), Model("notes", 64_000)
ENFORCED: dict[str, Any] = {
    "mode": "enforce",
    "storage": {"content": "full"},
    "summary": {"model": NOTES.name},
    "levels": {"aggressive": {"replace": "at_once"}},
}
POLICIES = {
    "version": 1,
    "defaults": ENFORCED,
    "policies": [
        {"name": "kept", "match": {"team": "kept"}, "conversation": {"keep": "gateway"}},
        {"name": "open", "match": {"team": "open"}, "redact": {"secrets": False}},
    ],
}
API_PAGE = Path(__file__).resolve().parents[2] / "docs" / "api.md"
TEAMS = ("told", "kept", "open")


@pytest.fixture(scope="module")
def proxy(redis_server: RedisServer, upstream: Upstream) -> Iterator[Proxy]:
    """The proxy of these tests."""
    config = proxy_config([GUIDE, NOTES], upstream.url, custom_auth=True)
    keys = {f"sk-{team}": {"team_id": team} for team in TEAMS}
    with Proxy(config, name="secrets", policies=POLICIES, redis_url=redis_server.url, keys=keys) as proxy:
        yield proxy


def summarise(seen: Seen) -> Reply:
    """Write a summary that holds a key, as of a model that remembers one."""
    return Reply(text=f"<summary>SUMMARY The ships were named one after the other. Token: {KEY}.</summary>")


async def converse(client: Client, upstream: Upstream, messages: list[Message], *, stream: bool) -> str:
    """Send a conversation until a model's summary is used; return its session when that call is on record.

    Where the gateway keeps it, what is asked last is asked again.
    """
    ask, headers = client.stream if stream else client.chat, {"x-session-id": KEY}
    upstream.requests.clear()
    while True:
        answer = await ask(GUIDE.name, messages, headers=headers)
        assert answer.status == 200, answer.body
        if kept := answer.headers.get("x-conversation-id"):
            headers, messages = {"x-conversation-id": kept}, [messages[0], messages[-1]]
        if "SUMMARY" in upstream.seen("gpt-4o-guide")[-1].text:
            break
        await until(lambda: _is_over(client.url), "the summary to be made", seconds=30)
        assert len(upstream.seen("gpt-4o-guide")) < 10, answer.headers
    await until(lambda: _is_over(client.url), "what follows the call")
    session = answer.told("session")
    assert session is not None
    return session


async def _is_over(proxy: str) -> bool:
    return await queued(proxy) == 0


def spelled_out(value: Any) -> str:
    """All texts in what was stored or answered, also those within JSON within a text."""
    texts = list(strings(value))
    for text in texts:
        try:
            inner = json.loads(text)
        except ValueError:
            continue
        if isinstance(inner, dict | list):
            texts += strings(inner)
    return "\n".join(texts)


def stored(redis_server: RedisServer, session: str, leaving_out: str = "none") -> str:
    """All that Redis has, keys too, but for one part of the session."""
    dump = redis_server.dump()
    dump.pop(f"gwc:{{{session}}}:{leaving_out}", None)
    return f"{spelled_out(dump)}\n{dump}"


def readable_routes() -> list[tuple[str, str]]:
    """The routes of the API that only read a session, as docs/api.md lists them: it is made of the code."""
    found = re.findall(r"^### `(GET|POST) (/compaction/\S+)`$", API_PAGE.read_text("utf-8"), re.MULTILINE)
    reading = [(m, p) for m, p in found if m == "GET" or p.endswith(("/preview", "/restore"))]
    return [(m, p) for m, p in reading if not p.endswith("/watch") and "/v1/" not in p]


async def shown(proxy: Proxy, session: str) -> dict[str, str]:
    """What the API and the page tell an operator about a session, by the route or the address."""
    key = {"authorization": f"Bearer {MASTER_KEY}"}
    answers: dict[str, str] = {}
    async with httpx.AsyncClient(base_url=proxy.url, headers=key, trust_env=False, timeout=30) as http:
        # Before a deed of an operator a snapshot is taken.
        pinned = await http.post(f"/compaction/sessions/{session}/pins", json={"text": f"Use {KEY}"})
        assert pinned.status_code == 200, pinned.text
        listed = (await http.get(f"/compaction/sessions/{session}/snapshots")).json()
        latest = (await http.get(f"/compaction/sessions/{session}")).json()["compactions"][-1]["version"]
        names = {"{id}": session, "{number}": str(latest), "{name}": listed[0]["name"]}
        for method, path in readable_routes():
            filled = path
            for name, value in names.items():
                filled = filled.replace(name, value)
            answer = await http.request(method, filled, **({"json": {}} if method == "POST" else {}))
            # Only a kept conversation is told as a whole.
            assert answer.status_code == 200 or path.endswith("/transcript"), (path, answer.text)
            is_json = answer.headers["content-type"].split(";")[0] == "application/json"
            answers[f"{method} {path}"] = answer.text + spelled_out(answer.json() if is_json else "")
        return answers | await walk(http, session)


async def walk(http: httpx.AsyncClient, session: str) -> dict[str, str]:
    """The pages of the operators' page that links and forms lead to, from the list and from a session."""
    pages: dict[str, str] = {}
    left = ["/compaction/ui", "/compaction/ui/sessions", f"/compaction/ui/sessions/{session}"]
    while left:
        address = left.pop()
        answer = await http.get(address)
        assert answer.status_code == 200, (address, answer.text)
        pages[address] = html.unescape(answer.text)
        linked = re.findall(r'(?:href|hx-get|action)="([^"?#]+)"', answer.text)
        left += {link for link in linked if session in link} - {*pages, *left}
    return pages


def conversation_of(team: str, *, stream: bool) -> list[Message]:
    """Every shape of a secret in a user's message, in a call, in its result or in an answer."""
    system, first, *rest = conversation()
    return [system, {**first, "content": f"{team} {stream}: {first['content']}"}, *rest]


async def converse_as(team: str, proxy: Proxy, upstream: Upstream, *, stream: bool) -> str:
    """Send a team's conversation, with all secrets in it; return its session."""
    upstream.scripts |= {"gpt-4o-guide": lambda seen: Reply(text="Noted."), "gpt-4o-notes": summarise}
    async with Client(proxy, f"sk-{team}") as client:
        return await converse(client, upstream, conversation_of(team, stream=stream), stream=stream)


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
async def test_what_a_client_sends_reaches_its_own_model_alone(
    proxy: Proxy, upstream: Upstream, redis_server: RedisServer, stream: bool
) -> None:
    session = await converse_as("told", proxy, upstream, stream=stream)
    messages = conversation_of("told", stream=stream)
    sent = upstream.seen("gpt-4o-guide")[-1].messages
    assert sent[0] == messages[0] and sent[-1]["content"].endswith(messages[-1]["content"])
    await nothing_is_told(proxy, upstream, redis_server, session)


async def nothing_is_told(
    proxy: Proxy, upstream: Upstream, redis_server: RedisServer, session: str, leaving_out: str = "none"
) -> None:
    """Look for the secrets wherever somebody else than the caller's model may read."""
    told = await shown(proxy, session)
    asked, held = upstream.seen("gpt-4o-notes"), stored(redis_server, session, leaving_out)
    assert asked and "Use [secret: github-token]" in held and "SUMMARY" in held
    assert "SUMMARY" in told["GET /compaction/sessions/{id}/versions/{number}"]
    told |= {
        f"buffers {name}": await run(name, session, "--url", proxy.url)
        for name in ("show", "export", "events")
    }
    told |= {"redis": held, "log": proxy.log.read_text(errors="replace")}
    told |= {f"summariser {n}": spelled_out(seen.body) for n, seen in enumerate(asked)}
    assert {place: kept_in(text) for place, text in told.items() if kept_in(text)} == {}


async def test_what_the_gateway_keeps_for_a_client_is_told_nobody_else(
    proxy: Proxy, upstream: Upstream, redis_server: RedisServer
) -> None:
    session = await converse_as("kept", proxy, upstream, stream=False)
    # What is kept is what the model is sent with the next call: docs/conversations.md says so.
    await nothing_is_told(proxy, upstream, redis_server, session, "kept")
    assert kept_in(stored(redis_server, session)) != []


async def test_the_scan_finds_what_is_not_masked(
    proxy: Proxy, upstream: Upstream, redis_server: RedisServer
) -> None:
    session = await converse_as("open", proxy, upstream, stream=False)
    everything = {*(shape.name for shape in CAUGHT), "KEY"}
    assert {*kept_in(stored(redis_server, session))} == everything
    asked = "".join(spelled_out(seen.body) for seen in upstream.seen("gpt-4o-notes"))
    # What is tried in a call is told to a summariser in part.
    assert len(kept_in(asked)) > len(everything) / 2
    told = await shown(proxy, session)
    assert {*kept_in(told["GET /compaction/sessions/{id}/last-call"])} == everything
    # A document leaves with none that is told by its form, whatever the policy keeps.
    assert [place for place in told if "export" in place and KEY in told[place]] == []
