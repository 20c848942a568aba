"""The laboratory itself: that it measures what it says it measures."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import httpx
import pytest
import redis

from tests.lab import (
    Answer,
    Client,
    GarbageServer,
    HungServer,
    Message,
    Model,
    Proxy,
    RedisServer,
    Reply,
    Summariser,
    Upstream,
    Window,
    count_request,
    grow,
    until,
    violations,
)
from tests.lab.fork_server import ROOT
from tests.lab.proxy import FORK_SERVER, proxy_config
from tests.lab.rules import SENT, broken_by_gateway, remember
from tests.lab.scripts import tool_call

HELLO: list[Message] = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hello"}]
CALLS: list[Message] = [
    {"role": "user", "content": "go"},
    {"role": "assistant", "content": None, "tool_calls": [tool_call("f", {}, "a"), tool_call("f", {}, "b")]},
    {"role": "tool", "tool_call_id": "a", "content": "1"},
    {"role": "tool", "tool_call_id": "b", "content": "2"},
]


@pytest.fixture
async def direct(upstream: Upstream) -> AsyncIterator[Client]:
    async with Client(upstream.url.removesuffix("/v1")) as client:
        yield client


async def test_redis_stops_freezes_and_comes_back_on_its_port() -> None:
    with RedisServer() as server:
        with server.client() as client:
            client.hset("h", "field", "value")
        assert "field" in server.text()
        server.pause()
        with redis.Redis(port=server.port, socket_timeout=0.2) as frozen, pytest.raises(redis.TimeoutError):
            frozen.ping()
        server.resume()
        server.stop()
        with server.client() as gone, pytest.raises(redis.ConnectionError):
            gone.ping()
        server.start()
        assert server.dump() == {}


@pytest.mark.parametrize("kind", [HungServer, GarbageServer])
def test_servers_that_are_not_redis(kind: type[HungServer] | type[GarbageServer]) -> None:
    with kind() as server, redis.Redis(port=server.port, socket_timeout=0.3) as client:
        with pytest.raises((redis.RedisError, ValueError)):
            client.ping()
        assert server.accepted >= 1


async def test_the_upstream_answers_streams_fails_and_enforces_a_window(
    upstream: Upstream, direct: Client
) -> None:
    upstream.scripts["lab-window"] = Window(60, lambda seen: Reply(text="안녕 world", chunks=3))
    plain = await direct.chat("lab-window", HELLO)
    assert plain.text == "안녕 world"
    assert plain.body["usage"]["prompt_tokens"] == count_request({"messages": HELLO})
    streamed = await direct.stream("lab-window", HELLO, stream_options={"include_usage": True})
    assert streamed.text == plain.text
    assert streamed.chunks[-1]["usage"]["prompt_tokens"] == plain.body["usage"]["prompt_tokens"]
    over = await direct.chat("lab-window", [*HELLO, {"role": "user", "content": "word " * 100}])
    assert (over.status, over.body["error"]["code"]) == (400, "context_length_exceeded")
    assert [seen.body["model"] for seen in upstream.seen("lab-window")] == ["lab-window"] * 3


async def test_the_upstream_can_cut_an_answer(upstream: Upstream, direct: Client) -> None:
    upstream.scripts["lab-cut"] = lambda seen: Reply(text="a b c d", cut_after=2)
    with pytest.raises(httpx.RemoteProtocolError):
        await direct.stream("lab-cut", HELLO)
    with pytest.raises(httpx.RemoteProtocolError):
        await direct.chat("lab-cut", HELLO)


async def test_the_summariser_numbers_its_answers(upstream: Upstream, direct: Client) -> None:
    summariser = Summariser()
    upstream.scripts["lab-summary"] = summariser
    texts = [(await direct.chat("lab-summary", HELLO)).text for _ in range(2)]
    assert summariser.calls == 2 and len(summariser.about("Hello")) == 2
    assert all(summariser.mark(n) in text for n, text in enumerate(texts, 1))


def test_a_forked_process_says_how_it_ended(tmp_path: Path) -> None:
    log = tmp_path / "log"
    wanted = {**os.environ, "LITELLM_LOCAL_MODEL_COST_MAP": "True", "PYTHONPATH": str(ROOT)}
    told = FORK_SERVER.start_proxy(["--version"], wanted, tmp_path, log)
    assert told.wait(120) == 0 and "LiteLLM" in log.read_text()
    refused = FORK_SERVER.start_proxy(["--no-such-option"], wanted, tmp_path, log)
    assert refused.wait(60) == 2 and "no-such-option" in log.read_text()


def test_garbage_is_collected_between_steps_alone() -> None:
    script = """
import gc, time, weakref
from tests.lab.fork_server import collect_between_steps

class Circle:
    pass

collect_between_steps()
circles = [Circle() for _ in range(100_000)]
gone = []
for circle in circles:
    circle.itself = circle
weakref.finalize(circles[0], gone.append, 1)
del circle, circles
assert not gc.isenabled() and not gone
time.sleep(3)
assert gone
"""
    subprocess.run([sys.executable, "-c", script], cwd=ROOT, check=True)


async def test_waiting_gives_up_and_says_what_for() -> None:
    with pytest.raises(AssertionError, match="for a miracle"):
        await until(lambda: False, "a miracle", seconds=0.1)


def test_a_conversation_grows_as_a_client_sends_it() -> None:
    talk: list[Message] = [
        *HELLO,
        {"role": "assistant", "content": "Hi"},
        *CALLS,
        {"role": "assistant", "content": "3"},
    ]
    assert [len(history) for history in grow(talk)] == [2, 4, 7]
    assert [len(history) for history in grow(talk, stride=2)] == [2, 7]


def test_violations_are_seen() -> None:
    assert violations(CALLS) == []
    assert violations(CALLS, CALLS) == []
    assert any("results" in v for v in violations(CALLS[:3]))
    assert any("orphan tool" in v for v in violations([*CALLS[:1], *CALLS[2:]]))
    assert any("no messages" in v for v in violations([]))
    doubled: list[Message] = [*HELLO, {"role": "user", "content": "x"}, {"role": "user", "content": "Hello"}]
    assert any("collide" in v for v in violations(doubled, HELLO))
    assert any("preamble changed" in v for v in violations(HELLO[1:], HELLO))
    assert any("user message changed" in v for v in violations([*HELLO[:1], *CALLS[:1]], HELLO))
    with_recall: list[Message] = [HELLO[0], {"role": "user", "content": "<recall/>\nHello"}]
    assert violations(with_recall, HELLO) == []


@pytest.fixture(scope="module")
def proxy(upstream: Upstream) -> Iterator[Proxy]:
    models = [Model("lab-proxied", 4000, upstream="lab-proxied")]
    config = proxy_config(models, upstream.url, plugin=False, custom_auth=True)
    with Proxy(config, name="lab", keys={"sk-team-a-1": {"team_id": "team-a"}}) as running:
        yield running


async def test_a_proxy_serves_the_upstream_and_knows_its_keys(upstream: Upstream, proxy: Proxy) -> None:
    upstream.scripts["lab-proxied"] = lambda seen: Reply(text="from upstream")

    async def ask(key: str) -> Answer:
        async with Client(proxy, key) as client:
            assert (await client.stream("lab-proxied", HELLO)).status in (200, 401)
            return await client.chat("lab-proxied", HELLO)

    known, unknown = await ask("sk-team-a-1"), await ask("sk-nobody")
    assert (known.status, known.text, unknown.status) == (200, "from upstream", 401)
    assert len(upstream.seen("lab-proxied")) == 2
    assert upstream.seen("lab-proxied")[0].messages == HELLO


ANSWERED: list[Message] = [
    *HELLO,
    {"role": "assistant", "content": "Hi"},
    {"role": "user", "content": "Go on"},
]


@pytest.mark.parametrize(
    ("messages", "broken"),
    [
        (ANSWERED, []),
        # A quote may stand before the last words, and LiteLLM may make a text of a part.
        ([*ANSWERED[:-1], {"role": "user", "content": [{"type": "text", "text": "<recall/>\nGo on"}]}], []),
        # LiteLLM itself may change a role.
        ([*HELLO, {"role": "user", "content": "Hi"}, ANSWERED[-1]], []),
        ([HELLO[0], {"role": "user", "content": "<summary/>"}, *HELLO[1:2], ANSWERED[-1]], ["alternation"]),
        ([HELLO[0], {"role": "assistant", "content": "Hi"}, ANSWERED[-1]], ["first_role"]),
        # What no client sent is a summariser's, if it is as short.
        ([{"role": "system", "content": "Sum up."}, {"role": "user", "content": "<transcript/>"}], []),
        ([{"role": "system", "content": "Sum up."}, {"role": "user", "content": ""}], ["no_empty_text"]),
        ([*HELLO, {"role": "user", "content": "nobody's"}], []),
    ],
)
def test_what_the_gateway_breaks_is_seen(messages: list[Message], broken: list[str]) -> None:
    # What other tests have sent could be what the body came of.
    SENT.clear()
    remember({"messages": ANSWERED})
    found = broken_by_gateway({"messages": messages})
    assert [name.partition(":")[0] for name in found] == broken


async def test_an_upstream_judges_what_reaches_it() -> None:
    with Upstream() as own:
        async with Client(own.url.removesuffix("/v1")) as client:
            await client.chat("lab-judged", ANSWERED)
            assert own.broken == []
            async with httpx.AsyncClient(trust_env=False) as http:
                body = {"model": "lab-judged", "messages": [*ANSWERED[2:]]}
                await http.post(f"{own.url}/chat/completions", json=body)
        assert own.broken == ["lab-judged: first_role: 0 is of assistant"]
