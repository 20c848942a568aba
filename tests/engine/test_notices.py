"""Every process learns what operators did."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from gateway_compaction.archive import Query, Scope
from gateway_compaction.core.text.identifiers import find_identifiers
from gateway_compaction.core.text.terms import extract_terms
from gateway_compaction.engine.polling import POLL_SECONDS, NoticePoller
from gateway_compaction.errors import StoreError
from gateway_compaction.ports import Notices
from tests.engine.histories import chat, grown
from tests.engine.rig import Rig
from tests.lab.waiting import until

ADMIN = Scope(everything=True, actor="zoe")
LABEL = "ticket-4711"


async def test_once_erased_nothing_that_holds_text_is_left(rig: Rig) -> None:
    last = None
    for call in grown(chat(59)):
        last = await rig.call(call, headers={"x-session-id": LABEL})
    assert last is not None and last.session is not None
    await rig.archive.sessions(ADMIN, Query())
    extract_terms("vaulting")
    find_identifiers("src/vault.py")
    said = "chat 0: "
    remembered = (said, "Summary number 2", "vaulting", "src/vault.py", LABEL)
    assert [text for text in remembered if not rig.remembers(text)] == []
    await rig.notice_poller.poll()
    assert [text for text in remembered if not rig.remembers(text)] == [], "only an erasure clears it"
    await rig.archive.forget(ADMIN, last.session)
    await rig.notice_poller.poll()
    assert [text for text in remembered if rig.remembers(text)] == []
    await rig.decide(chat(59))
    await rig.notice_poller.poll()
    assert rig.remembers(said), "each erasure clears it once"


async def test_it_asks_again_when_the_store_did_not_answer(rig: Rig) -> None:
    rig.store.fail(StoreError("down"), "notices")
    with pytest.raises(StoreError):
        await rig.notice_poller.poll()
    store: Any = rig.store
    notice_poller = NoticePoller(store, rig.worker, rig.compactor, rig.local, seconds=0.01)
    running = asyncio.create_task(notice_poller.run())
    await until(lambda: rig.store.calls["notices"] > 3, "it to ask again")
    assert not running.done()
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)


async def test_a_store_that_does_not_answer_is_no_fault_of_who_did_something(rig: Rig) -> None:
    rig.store.fail(StoreError("down"), "notices")
    await rig.notice_poller.try_poll()
    assert rig.store.calls["notices"] == 1


async def test_an_older_answer_takes_no_newer_one_s_place(rig: Rig) -> None:
    asked, heard = asyncio.Event(), list[frozenset[str]]()
    answers = [frozenset({"wanted"}), frozenset[str]()]

    class Slow:
        async def notices(self) -> Notices:
            requested = answers.pop()
            if answers:
                asked.set()
                # Longer on its way than everything that is asked behind it.
                for _ in range(20):
                    await asyncio.sleep(0)
            return Notices(requested=requested)

    class Hearing:
        def set_requested(self, requested: frozenset[str]) -> None:
            heard.append(requested)

        def set_key_rates(self, rates: Mapping[str, float]) -> None:
            assert rates == {}

    store, compactor = Slow(), Hearing()
    notice_poller = NoticePoller(store, rig.worker, compactor, rig.local)  # type: ignore[arg-type]
    first = asyncio.create_task(notice_poller.poll())
    await asked.wait()
    await notice_poller.try_poll()
    await first
    assert heard == [frozenset(), frozenset({"wanted"})]


def test_the_page_says_how_long_it_takes() -> None:
    page = Path(__file__).parents[2] / "docs" / "redis.md"
    assert f"every {POLL_SECONDS:.0f} seconds" in page.read_text(encoding="utf-8")
