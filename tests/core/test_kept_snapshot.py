"""The snapshot of a call of a kept conversation: its messages are stored once, and put in when it is read."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from gateway_compaction.core.planning.plan import make_plan
from gateway_compaction.core.planning.snapshot import build_snapshot, fill_snapshot
from gateway_compaction.core.records.call_snapshot import CallSnapshot
from gateway_compaction.core.redaction.detector import Detector
from tests.core.builders import Bench, policy, sent_by, stored
from tests.core.redaction.shapes import SHAPES
from tests.core.weights import chat

SECRET = SHAPES[0].value
SYSTEM = {"role": "system", "content": SHAPES[0].text}
TALK: list[dict[str, Any]] = [
    {"role": "user", "content": f"{SHAPES[0].text} The pier is PIER-77."},
    {"role": "assistant", "content": "Noted."},
    {"role": "user", "content": "And now?"},
]


def shot(exchange: int = 2, endpoint: str | None = "chat", **paths: Any) -> CallSnapshot:
    """The snapshot of the second call, as it is stored."""
    context = Bench(100_000, policy(**{"storage__content": "full", **paths})).context([SYSTEM, *TALK])
    return build_snapshot(context, make_plan(context), None, 1.0, endpoint, exchange)


@pytest.mark.parametrize("paths", [{}, {"redact__patterns": ("PIER-[0-9]+",)}, {"redact__secrets": False}])
def test_read_again_it_is_what_would_have_been_stored(paths: dict[str, Any]) -> None:
    short, whole = shot(**paths), shot(exchange=0, **paths)
    assert (len(short.client or ()), short.model) == (1, None) and "PIER" not in str(short)
    redact = policy(**paths).redact
    detector = Detector.decode(Detector(redact.secrets, redact.pii, redact.patterns).encode())
    assert fill_snapshot(short, TALK, detector) == whole
    assert (SECRET in str(whole)) == (not redact.secrets)
    assert ("PIER-77" in str(whole)) == (not redact.patterns)


def test_what_was_compacted_is_stored_as_it_was_sent() -> None:
    setup = Bench(2_000, policy(storage__content="full", recall__max_tokens=0))
    messages = chat(40, 60)
    context = setup.context(messages)
    context = setup.context(messages, [stored(context, 20)])
    plan = make_plan(context)
    call = build_snapshot(context, plan, sent_by(plan, context), 1.0, "chat", 7)
    assert plan.view.compaction is not None
    assert (call.exchange, len(call.client or ())) == (0, len(messages)) and call.model


def test_without_contents_there_is_nothing_to_put_in() -> None:
    call = shot(storage__content="summaries")
    assert (call.exchange, call.client, call.model) == (0, None, None)


@pytest.mark.parametrize(
    "found",
    [
        None,
        [],
        TALK[:2],
        [TALK[0], TALK[2], TALK[1]],
        [*TALK[:2], {"role": "system", "content": "More."}, TALK[2]],
        [{"content": "no role"}, *TALK[1:]],
    ],
)
def test_of_other_messages_than_were_counted_only_the_counts_are_shown(found: Any) -> None:
    call = shot()
    bare = replace(call, client=None, model=None, exchange=0)
    assert fill_snapshot(call, found, Detector()) == bare


@pytest.mark.parametrize("text", ["", "{", "[]", "[1, 2]", '["a", true, 3]', "[" * 10_000])
def test_a_detector_that_cannot_be_read_is_the_usual_one(text: str) -> None:
    assert Detector.decode(text) == Detector() and Detector().encode() == ""
