"""The limits of docs/sizing.md: each is as high as the source says, and a test reaches it; here are those of
what grows with the names of models, with the calls, and with what all replicas share."""

from __future__ import annotations

import ast
import asyncio
import re
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from threading import Event
from types import SimpleNamespace
from typing import Any

import pytest

from gateway_compaction.adapters.hedged_summarizer import MOST_MODELS, HedgedSummarizer
from gateway_compaction.adapters.litellm import parameters
from gateway_compaction.adapters.litellm.models import MOST_FACTS, ProxyModels
from gateway_compaction.adapters.litellm.prices import MOST_GROUPS, PromptPrices
from gateway_compaction.adapters.redis.archive import RedisArchive
from gateway_compaction.adapters.redis.connection import connect
from gateway_compaction.adapters.redis.index import MOST_FIELDS, build_request_notice
from gateway_compaction.adapters.redis.store import RedisStore
from gateway_compaction.archive import Scope
from gateway_compaction.call_state import LONGEST_HEADER, _to_header
from gateway_compaction.core.records.compaction import SessionRef
from gateway_compaction.core.records.event import CompactionEvent
from gateway_compaction.core.tokens.windows import LearnedWindow
from gateway_compaction.engine.measuring import MODELS_KEPT
from gateway_compaction.engine.post_call import MOST_APART, PostCall
from gateway_compaction.engine.session_surpluses import SessionSurpluses
from gateway_compaction.engine.summary_pipeline import MOST_ROOMY
from gateway_compaction.engine.worker import Limits
from gateway_compaction.errors import ActionRefused
from gateway_compaction.ports import CallRecord
from gateway_compaction.telemetry import CacheBreakDetector, PromptCacheDetector
from tests.engine.rig import Rig, raw

ROOT = Path(__file__).resolve().parents[2]
SECTION = (ROOT / "docs" / "sizing.md").read_text("utf-8").partition("## Limits")[2]
ROWS = [line for line in SECTION.splitlines() if line.startswith("| ") and not line.startswith("| what")]
CONSTANT = re.compile(r"`(?P<name>[A-Z_]+)` of `(?P<file>[\w/]+)\.py`")
TEST = re.compile(r"`(?P<file>tests/[\w/]+\.py)::(?P<name>test_\w+)`")
SESSION = SessionRef("t" * 32, "s" * 32)


@cache
def find_tests(file: str) -> set[str]:
    """The names of all tests of a file."""
    text = (ROOT / file).read_text("utf-8")
    return set(re.findall(r"(?m)^\s*(?:async )?def (test_\w+)\(", text))


@cache
def read_constants(file: str) -> dict[str, Any]:
    """The numbers that a module of the source gives names; importing some of them would start a proxy."""
    found: dict[str, Any] = {}
    for node in ast.parse((ROOT / "gateway_compaction" / f"{file}.py").read_text("utf-8")).body:
        if isinstance(node, ast.Assign):
            [target] = node.targets
            names = target.elts if isinstance(target, ast.Tuple) else [target]
            values = node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]
            for name, value in zip(names, values, strict=False):
                if isinstance(name, ast.Name) and isinstance(value, ast.Constant):
                    found[name.id] = value.value
    return found


@pytest.mark.parametrize("row", ROWS, ids=[row.split("|")[1].strip()[:40] for row in ROWS])
def test_a_row_names_the_limit_that_is_in_force_and_a_test_that_exists(row: str) -> None:
    _, _, limit, where, test, _ = row.split("|")
    for found in CONSTANT.finditer(where):
        assert f"{read_constants(found['file'])[found['name']]:,}" in limit
    named = list(TEST.finditer(test))
    assert named and all(one["name"] in find_tests(one["file"]) for one in named)


def test_the_table_is_there() -> None:
    assert len(ROWS) >= 40


@pytest.fixture
async def store() -> AsyncIterator[RedisStore]:
    """A store of its own."""
    store = RedisStore(connect(None), timeout_seconds=5.0)
    yield store
    await store.aclose()


@pytest.mark.parametrize("key", ["gwc:factors", "gwc:windows", "gwc:policy-problems", "gwc:rates"])
async def test_a_hash_that_all_replicas_share_takes_no_more_than_ten_thousand(
    store: RedisStore, key: str
) -> None:
    archive, client = RedisArchive(store.connection), raw(store)
    owner = {"key_hash": "k" * 32}
    call = CallRecord(about=owner)
    await store.append(SESSION, CompactionEvent("request", 1.0, "applied", "model"), ttl=600, call=call)

    async def write(name: str) -> None:
        if key == "gwc:factors":
            await store.save_factor(name, 1.5)
        elif key == "gwc:windows":
            await store.save_window(name, LearnedWindow(9_000, at=(4e9,)))
        elif key == "gwc:policy-problems":
            await store.add_policy_problem(name, 2)
        else:
            await archive.set_rate(Scope(everything=True), SESSION, 0.3, for_key=True)

    name = owner["key_hash"] if key == "gwc:rates" else "new"
    await client.hset(key, mapping={f"n{number}": "1" for number in range(MOST_FIELDS)})
    if key == "gwc:rates":
        with pytest.raises(ActionRefused, match="take one back"):
            await write(name)
    else:
        await write(name)
    assert await client.hlen(key) == MOST_FIELDS and not await client.hexists(key, name)
    await client.hdel(key, "n0")
    await write(name)
    await write(name)
    assert await client.hlen(key) == MOST_FIELDS and await client.hexists(key, name)
    assert await client.pttl(key) > 0


async def test_notices_are_the_latest_ten_thousand(store: RedisStore) -> None:
    client = raw(store)
    await client.zadd("gwc:wishes", {f"s{number}": 4e9 + number for number in range(10_005)})
    await store.connection.send(build_request_notice(SESSION, 600))
    assert await client.zcard("gwc:wishes") == 10_000


async def test_writes_that_a_slow_store_does_not_take_are_dropped(
    rigs: Callable[..., Rig], caplog: pytest.LogCaptureFixture
) -> None:
    worker = rigs(limits=Limits(writes=3)).worker
    gate, done = asyncio.Event(), list[int]()

    async def write(number: int) -> None:
        await gate.wait()
        done.append(number)

    for number in range(5):
        worker.run_later(write(number))
    assert caplog.text.count("background write dropped") == 2
    gate.set()
    await worker.drain(5.0)
    worker.run_later(write(9))
    await worker.drain(5.0)
    assert done == [0, 1, 2, 9]


async def test_no_more_than_some_readings_wait_for_the_background(rigs: Callable[..., Rig]) -> None:
    rig = rigs()
    gate, done = Event(), list[int]()
    with ThreadPoolExecutor(1) as executor:
        post_call = PostCall(rig.parts, rig.worker, executor)
        for number in range(MOST_APART + 5):
            post_call._run_apart(lambda number: (gate.wait(), done.append(number)), number)
        gate.set()
    assert done == list(range(MOST_APART)) and not post_call._apart


async def test_models_that_summarise_are_remembered_up_to_a_thousand(rigs: Callable[..., Rig]) -> None:
    pipeline = rigs().pipeline
    hedged = HedgedSummarizer(SimpleNamespace(complete=lambda request: asyncio.sleep(0, "answer")))  # type: ignore[arg-type]
    corrections = parameters.Corrections()
    for number in range(MOST_ROOMY + 5):
        request: Any = SimpleNamespace(model=f"m{number}")
        assert pipeline.get_breaker(request.model).failures == 0
        await hedged._ask(request)
        corrections.remember(request.model, parameters.Correction())
    assert 0 < len(pipeline.breakers) <= MOST_ROOMY
    assert 0 < len(hedged.answer_seconds) <= MOST_MODELS
    assert 0 < len(corrections._known) <= parameters.MOST_MODELS


def test_facts_and_prices_of_models_are_remembered_up_to_a_thousand() -> None:
    models, prices = ProxyModels(lambda: None), PromptPrices(lambda: None)
    for number in range(max(MOST_FACTS, MOST_GROUPS) + 5):
        models.facts(f"invented-{number}")
        prices(f"invented-{number}")
    assert 0 < len(models._facts) <= MOST_FACTS and 0 < len(prices._known) <= MOST_GROUPS


def test_caches_are_kept_for_fifty_models(rig: Rig) -> None:
    for number in range(MODELS_KEPT + 5):
        rig.compactor._meter._get_caches(f"invented-{number}")
    assert 0 < len(rig.compactor._meter._caches) <= MODELS_KEPT


def test_what_is_remembered_of_sessions_is_bounded() -> None:
    breaks, reports, surpluses = CacheBreakDetector(3), PromptCacheDetector(3), SessionSurpluses(3)
    surplus: Any = None
    for number in range(9):
        assert breaks.record_sent(f"s{number}", "d", "model")
        assert reports.record_report("t", f"m{number}", 1)
        surpluses.keep(SessionRef("t", f"s{number}"), "m", surplus, larger=True)
    assert (len(breaks._sent), len(reports._seen), len(surpluses._known)) == (3, 3, 3)
    assert surpluses._larger == {"t": 3}


def test_a_header_has_at_most_two_hundred_characters() -> None:
    assert len(_to_header("x" * 999)) == LONGEST_HEADER
