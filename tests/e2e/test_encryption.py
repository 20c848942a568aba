"""Encryption at rest, through real proxies: what a scan of Redis finds, and what a change of keys costs."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

import pytest

from gateway_compaction.adapters.vault import SEALED, name_key
from tests.e2e.runs import queued
from tests.e2e.talks import chat
from tests.lab import Answer, Client, Message, Model, Proxy, RedisServer, Reply, Seen, Upstream, until
from tests.lab.proxy import proxy_config, start_all

CHAT, NOTES = Model("sealed", 3_000), Model("sealing", 64_000)
# A planted sentence: no word of it may be found.
SENTENCE = "Marzipan elephants juggle seventeen turquoise umbrellas"
OLD, NEW = b"o" * 32, b"n" * 32
POLICIES = {
    "version": 1,
    "defaults": {
        "mode": "enforce",
        "storage": {"content": "full"},
        "summary": {"model": NOTES.name},
        "levels": {"aggressive": {"replace": "at_once"}},
    },
}


def ring(*keys: bytes) -> str:
    """Keys as the environment holds them."""
    return ",".join(base64.b64encode(key).decode() for key in keys)


def talk(name: str) -> list[Message]:
    """A conversation that says the planted sentence where a summary will cover it."""
    told = chat(name, 40, words=60)
    return [told[0], {**told[1], "content": f"{SENTENCE}. {told[1]['content']}"}, *told[2:]]


def summarise(seen: Seen) -> Reply:
    """Say the planted sentence in a summary, and whose it is."""
    [name] = [name for name in ("earlier", "later", "meanwhile") if f"{name} question" in seen.text]
    return Reply(text=f"<summary>SUMMARY of {name}: {SENTENCE}, and the ships went on.</summary>")


@pytest.fixture
def models(upstream: Upstream, redis_server: RedisServer) -> Iterator[Upstream]:
    """The upstream with both models, and an empty Redis."""
    upstream.reset()
    redis_server.flush()
    upstream.scripts |= {"gpt-4o-sealed": lambda seen: Reply(text="Noted."), "gpt-4o-sealing": summarise}
    yield upstream
    upstream.reset()


async def send(proxy: Proxy, models: Upstream, messages: Sequence[Message]) -> tuple[Answer, Seen]:
    """Make one call, wait for what follows it, and return what its model was sent beside the answer."""

    async def is_over() -> bool:
        return await queued(proxy.url) == 0

    async with Client(proxy) as client:
        answer = await client.chat(CHAT.name, messages)
        assert answer.status == 200, answer.body
        await until(is_over, "what follows the call", seconds=30)
    return answer, models.seen("gpt-4o-sealed")[-1]


async def summarised(proxy: Proxy, models: Upstream, messages: Sequence[Message]) -> None:
    """Send a history until a model's summary of it is used."""
    for _ in range(5):
        answer, sent = await send(proxy, models, messages)
        if "SUMMARY" in sent.text:
            return
    raise AssertionError(f"no summary is used: {dict(answer.headers)}")


async def uses_what_is_stored(proxy: Proxy, models: Upstream, *names: str) -> None:
    """Check that the next call of each conversation is served by the summary that there is."""
    asked = len(models.seen("gpt-4o-sealing"))
    for name in names:
        _, sent = await send(proxy, models, talk(name))
        assert f"SUMMARY of {name}: {SENTENCE}" in sent.text, f"{proxy.name} lost {name}"
    assert len(models.seen("gpt-4o-sealing")) == asked, "a summary was made again"


def no_word_is_stored(redis_server: RedisServer, *keys: bytes) -> None:
    """Check that Redis holds texts that these keys sealed, and no word of the sentence."""
    stored = redis_server.text()
    assert [word for word in SENTENCE.split() if word in stored] == []
    assert all(f"{SEALED}{name_key(key)}" in stored for key in keys)


async def test_a_change_of_keys_loses_nothing(
    redis_server: RedisServer, models: Upstream, tmp_path: Path
) -> None:
    config, file = proxy_config([CHAT, NOTES], models.url), tmp_path / "keys"
    file.write_text(ring(OLD), "utf-8")

    def proxy(name: str, variable: str, value: str) -> Proxy:
        env = {f"GATEWAY_COMPACTION_ENCRYPTION_{variable}": value}
        return Proxy(config, name=name, policies=POLICIES, redis_url=redis_server.url, env=env)

    first, other = proxy("first", "KEYS", ring(NEW, OLD)), proxy("other", "KEY_FILE", str(file))
    with ExitStack() as stack:
        for one in (first, other):
            stack.callback(one.remove)
            stack.callback(one.stop)
        # The first replica has the new key already: what it seals, the other one cannot open for a while.
        start_all([first, other])
        await summarised(other, models, talk("earlier"))
        await uses_what_is_stored(first, models, "earlier")
        no_word_is_stored(redis_server, OLD)
        for name in ("later", "meanwhile"):
            await summarised(first, models, talk(name))
        await uses_what_is_stored(other, models, "earlier")
        for _ in range(2):
            await send(other, models, talk("meanwhile"))
        told = [line for line in other.log.read_text("utf-8").splitlines() if "counts as absent" in line]
        assert len(told) == 1 and f"key {name_key(NEW)}, which is not given" in told[0]
        no_word_is_stored(redis_server, OLD, NEW)
        # Then the other one.
        file.write_text(f"{ring(NEW)}\n{ring(OLD)}\n", "utf-8")
        other.stop()
        other.start()
        await uses_what_is_stored(other, models, "earlier", "later", "meanwhile")
        await uses_what_is_stored(first, models, "earlier", "later", "meanwhile")
        no_word_is_stored(redis_server, OLD, NEW)
        for one in (first, other):
            assert SENTENCE not in one.log.read_text("utf-8")
