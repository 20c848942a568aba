"""What stands in Redis may be anything: cut off, of the future, of another type, or written by hand.

A record that cannot be read is absent. Requests go on, operators see what is left or are told, the log says
it without an end of lines, and what is used is what was stored. ``FUZZ_STEPS`` says how often.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from random import Random
from typing import Any

import pytest

from gateway_compaction.archive import Query, Scope
from gateway_compaction.core.records.compaction import SessionRef
from gateway_compaction.engine.request import Planned
from gateway_compaction.errors import ActionRefused, InvalidDocument, NotFound, StoreError
from tests.engine.histories import chat, grown
from tests.engine.rig import Rig, encodings

ROUNDS = max(16, int(os.environ.get("FUZZ_STEPS", "0")) // 100)
ADMIN = Scope(everything=True, actor="admin")
DEFAULTS = {"storage": {"content": "full"}, "recall": {"max_tokens": 200}}
JUNK = (b"", b"null", b"[]", b"{}", b"-1", b"9" * 400, b"nan", b"\xff\xfe", b"[" * 50_000, b"\x00", b"1e999")
# Lines of the log in one round, however often what is spoilt is read in it.
MOST_LINES = 30


def spoil(chance: Random, value: bytes) -> bytes:
    """Another value in the place of one."""
    how = chance.randrange(6)
    if how == 0 or not value:
        return chance.choice(JUNK)
    if how == 1:
        return value[: chance.randrange(len(value))]
    if how == 2:
        at = chance.randrange(len(value))
        return value[:at] + chance.randbytes(1) + value[at + 1 :]
    if how == 3:
        return value.replace(b'"v":', b'"v":9', 1)
    if how == 4:
        return value + value
    with suppress(ValueError):
        told = json.loads(value)
        if isinstance(told, dict) and told:
            told[chance.choice(sorted(told))] = chance.choice((None, -1, "x", [], {}, True, 1e308))
            return json.dumps(told).encode()
    return chance.randbytes(20)


async def spoil_a_key(chance: Random, rig: Rig) -> str:
    """Spoil one value that is stored; return where it stood."""
    client = rig.client
    keys = sorted(await client.keys("gwc:*"))
    key = chance.choice(keys)
    kind = (await client.type(key)).decode()
    if chance.random() < 0.05:
        await client.delete(key)
        await client.set(key, b"of another type")
    elif kind == "hash":
        fields = sorted((await client.hgetall(key)).items())
        field, value = chance.choice(fields)
        await client.hset(key, field, spoil(chance, value))
    elif kind == "list":
        at = chance.randrange(await client.llen(key))
        await client.lset(key, at, spoil(chance, await client.lindex(key, at)))
    elif kind == "zset":
        await client.zadd(key, {spoil(chance, b"member"): chance.choice((0, -1, 1e308, 9e12))})
    elif kind == "set":
        await client.sadd(key, spoil(chance, b"member"))
    else:
        await client.set(key, spoil(chance, await client.get(key)))
    return f"{key!r}"


class Lines(logging.Handler):
    """Counts what is logged, and keeps what tells of a fault of ours."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.count, self.faults = 0, list[str]()

    def emit(self, record: logging.LogRecord) -> None:
        self.count += 1
        if record.levelno >= logging.ERROR:
            self.faults.append(self.format(record))


def list_looks(rig: Rig, ref: SessionRef) -> Mapping[str, Callable[[], Any]]:
    """All that an operator may look at, and do."""
    archive = rig.archive
    return {
        "overview": lambda: archive.overview(ADMIN, 24),
        "sessions": lambda: archive.sessions(ADMIN, Query()),
        "detail": lambda: archive.detail(ADMIN, ref),
        "snapshots": lambda: archive.snapshots(ADMIN, ref),
        "transcript": lambda: archive.transcript(ADMIN, ref),
        "export": lambda: archive.export(ADMIN, ref),
        "pin": lambda: archive.pin(ADMIN, ref, "keep this"),
        "rollback": lambda: archive.rollback(ADMIN, ref, 1),
        "reset": lambda: archive.reset(ADMIN, ref),
        "forget": lambda: archive.forget(ADMIN, ref),
    }


@pytest.mark.parametrize("seed", range(2))
async def test_what_cannot_be_read_is_absent(seed: int) -> None:
    encodings()
    chance = Random(seed if ROUNDS == 16 else None)
    calls = list(grown(chat(71), 31))
    lines = Lines()
    logger = logging.getLogger("gateway_compaction")
    logger.addHandler(lines)
    rig = Rig(2_000, DEFAULTS)
    try:
        for _ in range(ROUNDS // 2):
            await rig.client.flushall()
            rig = Rig(2_000, DEFAULTS, redis=rig.redis)
            for call in calls[:4]:
                decision = await rig.call(call)
            assert isinstance(decision, Planned)
            told = [await spoil_a_key(chance, rig) for _ in range(chance.choice((1, 1, 3)))]
            lines.count = 0
            other = Rig(2_000, DEFAULTS, redis=rig.redis)
            for call in calls[4:8]:
                decided = await other.call(call)
                assert decided.outcome != "failed", (told, decided.reason)
            for name, look in list_looks(other, decision.session).items():
                with suppress(NotFound, StoreError, ActionRefused, InvalidDocument):
                    await look()
                assert not lines.faults, (told, name, lines.faults)
            assert lines.count <= MOST_LINES, (told, lines.count)
    finally:
        logger.removeHandler(lines)
        await rig.aclose()


def spoil_document(chance: Random, value: Any, depth: int = 0) -> Any:
    """A document with one of its values changed, at any depth."""
    if isinstance(value, dict) and value and (depth == 0 or chance.random() < 0.8):
        name = chance.choice(sorted(value))
        return {**value, name: spoil_document(chance, value[name], depth + 1)}
    if isinstance(value, list) and value and chance.random() < 0.8:
        at = chance.randrange(len(value))
        return [*value[:at], spoil_document(chance, value[at], depth + 1), *value[at + 1 :]]
    odd = (None, -1, "x" * 300, [], {}, True, 1e308, float("nan"), "\ud800", 2**60, [[[]]], {"v": 99}, "")
    return chance.choice(odd)


@pytest.mark.parametrize("seed", range(2))
async def test_a_document_is_taken_or_refused_with_a_reason(seed: int) -> None:
    """Whatever is imported can be looked at, served from and exported again, or was refused."""
    encodings()
    chance = Random(seed if ROUNDS == 16 else None)
    rig = Rig(2_000, DEFAULTS)
    calls = list(grown(chat(71), 31))
    for call in calls[:4]:
        decision = await rig.call(call)
    assert isinstance(decision, Planned)
    whole = json.loads(json.dumps(await rig.archive.export(ADMIN, decision.session)))
    taken = 0
    for _ in range(ROUNDS * 4):
        document = spoil_document(chance, whole)
        await rig.client.flushall()
        try:
            ref = await rig.archive.load(ADMIN, document)
        except (InvalidDocument, ActionRefused, NotFound):
            continue
        taken += 1
        await rig.archive.detail(ADMIN, ref)
        again = await rig.archive.export(ADMIN, ref)
        await rig.client.flushall()
        await rig.archive.load(ADMIN, json.loads(json.dumps(again)))
        decided = await Rig(2_000, DEFAULTS, redis=rig.redis).call(calls[5])
        assert decided.outcome != "failed", document
    assert taken
    await rig.aclose()
