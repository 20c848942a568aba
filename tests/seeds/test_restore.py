"""The fifth document: a session is primed with what an earlier one knew, as its checklist says.

Work on day one; on day two a new conversation with a smaller model, which sends nothing but its question.
docs/presets.md shows it. With ``WRITE_PAGES=1`` in the environment the test of the story writes it anew.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import litellm
import pytest
from litellm.proxy._types import UserAPIKeyAuth

from gateway_compaction.archive import Scope
from gateway_compaction.core.policy.model import Policy
from gateway_compaction.core.summary.restore import RestoreBounds, compute_restore_bounds
from tests.engine.histories import chat
from tests.engine.host import Host, proxy_server
from tests.engine.rig import ANSWERED, Clock, Rig, encodings
from tests.seeds.page import PAGE
from tests.store_contract import now

BLOCK = re.compile(r"(?s)(?<=```json restored\n).*?(?=\n```)")
KOREAN, ENGLISH, WINDOW, HALF_AN_HOUR = 400, 700, 800, 1_800
"""Characters of the running summary in each language, tokens of the recent window, and seconds between two
snapshots: the document's figures."""

ANN = UserAPIKeyAuth(api_key="ann", team_id="research")
DAY_ONE = [
    {"role": "user", "content": "Restore sessions in app/workflow.py."},
    {"role": "assistant", "content": "We decided to keep the API compatible; docs/cli.md comes next."},
    {"role": "user", "content": "Always answer in one sentence."},
    {"role": "assistant", "content": "I shall."},
    *(
        {"role": role, "content": f"{role} message {n} about step {n} of the plan. " * 8}
        for n in range(16)
        for role in ("user", "assistant")
    ),
    {"role": "user", "content": "That is all for today."},
]


def test_the_figures_are_the_seeds() -> None:
    for window in (None, 4_096, 32_768):
        found = compute_restore_bounds(window)
        assert (found.dense_chars, found.summary_chars) == (KOREAN, ENGLISH)
        assert found.recent_tokens == WINDOW
    assert RestoreBounds().recent_tokens == WINDOW


async def test_a_snapshot_is_taken_every_thirty_minutes_of_activity(rigs: Callable[..., Rig]) -> None:
    assert Policy().storage.snapshots.interval == HALF_AN_HOUR
    rig = rigs(2_000, {"note": "all"})
    start = await now(rig.redis)
    for number, minute in ((5, 0), (6, 29), (7, 31), (8, 60), (9, 62)):
        decision = await rig.decide(chat(number))
        rig.make_post_call(Clock(start + 60 * minute)).follow(decision, ANSWERED)
        await rig.settle()
    assert decision.session is not None
    lines = await rig.archive.snapshots(Scope(everything=True), decision.session)
    assert [line.messages for line in reversed(lines)] == [7, 9]


def show(before: list[Any], after: list[Any]) -> str:
    """The messages of a request before and after, as the page shows them: without day and name."""
    texts = [json.dumps(messages, indent=2, ensure_ascii=False) for messages in (before, after)]
    told = f"{texts[0]}\n\nwent upstream as\n\n{texts[1]}".replace("\\n", "\n")
    return re.sub(r"conversation [0-9a-f]{12}, [0-9-]{10} [0-9:]{5} UTC", "conversation 2f1c…, day one", told)


async def played(host: Host, messages: list[Any], answer: str, **how: Any) -> list[Any]:
    call = host.call(messages, auth=ANN, **how)
    await call.pre()
    sent: list[Any] = (await call.deploy(how.get("chosen", "big")))["messages"]
    await call.headers()
    said = {"choices": [{"message": {"role": "assistant", "content": answer}}]}
    response = SimpleNamespace(usage=SimpleNamespace(prompt_tokens=None), model_dump=lambda: said)
    await host.hook.async_log_success_event(call.logging.model_call_details, response, None, None)
    await host.runtime.worker.drain(20.0)
    return sent


async def test_what_was_known_on_day_one_is_told_on_day_two(monkeypatch: pytest.MonkeyPatch) -> None:
    encodings()

    async def shutdown() -> None:
        pass

    monkeypatch.setattr(proxy_server, "proxy_shutdown_event", shutdown)
    host = Host(note="all", storage={"content": "full"})
    monkeypatch.setattr(litellm, "callbacks", [host.hook])
    try:
        for end in (*range(3, len(DAY_ONE), 6), len(DAY_ONE)):
            await played(host, DAY_ONE[:end], "Noted.", headers={"x-session-id": "day-1"})
        question = [{"role": "user", "content": "Where were we yesterday?"}]
        sent = await played(host, question, "At docs/cli.md.", headers={"x-conversation-restore": "day-1"})
        told = sent[0]["content"]
        summary = told.partition("<summary>\n")[2].partition("\n</summary>")[0]
        recent = told.partition("<recent_dialog>\n")[2].partition("\n</recent_dialog>")[0]
        assert 0 < len(summary) <= ENGLISH
        assert recent.endswith("USER: That is all for today.")
        assert 0 < host.runtime.counter.raw_tokens(recent, "gpt-4o") <= WINDOW
        assert "ACTIVE TASK (found): Restore sessions in app/workflow.py." in told
        assert "- We decided to keep the API compatible; docs/cli.md comes next." in told
        assert "- app/workflow.py" in told and "- Always answer in one sentence." in told
        assert sent[1:] == [{"role": "assistant", "content": "OK."}, *question]
        shown, page = show(question, sent), PAGE.read_text("utf-8")
        if os.environ.get("WRITE_PAGES"):
            PAGE.write_text(BLOCK.sub(lambda _: shown, page), "utf-8")
        else:
            assert BLOCK.findall(page) == [shown], (
                "write it anew: WRITE_PAGES=1 pytest tests/seeds/test_restore.py"
            )
        later = [*question, {"role": "assistant", "content": "At docs/cli.md."}, *question]
        assert (await played(host, later, "x"))[:3] == sent[:3]
    finally:
        await proxy_server.proxy_shutdown_event()
        await host.runtime.aclose()
