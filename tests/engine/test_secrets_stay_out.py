"""Secrets in a conversation: none is stored, summarised, logged, exported or shown, and none is taken from
the caller's own model."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, ClassVar

import pytest

from gateway_compaction.adapters.redis.archive import RedisArchive
from gateway_compaction.adapters.redis.store import RedisStore
from gateway_compaction.archive import Scope
from gateway_compaction.core.records.client_state import ClientState
from gateway_compaction.core.records.compaction import Compaction, Segment
from gateway_compaction.core.records.exchange import to_conversation_id
from gateway_compaction.core.redaction.marks import mask_secrets
from gateway_compaction.engine.request import Planned
from gateway_compaction.errors import SummaryError
from gateway_compaction.runtime import find_detector
from tests.core.redaction.shapes import SHAPES, make
from tests.core.redaction.test_detector import is_caught
from tests.engine.histories import chat, grown, prose
from tests.engine.rig import Rig, events, values

KEY = "ghp_" + make("kept out", 36)
CAUGHT = [shape for shape in SHAPES if is_caught(shape, mask_secrets(shape.text))]
EVERYTHING = Scope(everything=True)


def conversation() -> list[Any]:
    """Every shape in a user's message, in a call or in its result."""
    messages: list[Any] = [{"role": "system", "content": f"You are a guide. The token is {KEY}."}]
    for number, shape in enumerate(CAUGHT):
        call = {"id": f"c{number}", "type": "function"}
        call["function"] = {"name": "run", "arguments": json.dumps({"command": shape.text})}  # type: ignore[assignment]
        filler = prose(shape.name, 12)
        messages += (
            [{"role": "user", "content": f"{filler} {shape.text}"}, {"role": "assistant", "content": filler}],
            [
                {"role": "user", "content": filler},
                {"role": "assistant", "content": None, "tool_calls": [call]},
                {"role": "tool", "tool_call_id": f"c{number}", "content": filler},
                {"role": "assistant", "content": f"Done: {shape.text}"},
            ],
            [
                {"role": "user", "content": [{"type": "text", "text": f"{shape.text}\n{filler}"}]},
                {"role": "assistant", "content": "Yes.", "reasoning_content": f"{KEY} is the token."},
            ],
        )[number % 3]
    return [*messages, {"role": "user", "content": f"And now? {KEY}"}]


def told(messages: Sequence[Any]) -> str:
    """All that messages hold, without JSON's escapes."""
    return json.dumps(messages, ensure_ascii=False).replace("\\\\", "\\").replace('\\"', '"')


def kept_in(text: str) -> list[str]:
    """The shapes of which something is left in a text."""
    return [shape.name for shape in CAUGHT if not is_caught(shape, text)] + (["KEY"] if KEY in text else [])


async def run(rig: Rig, messages: list[Any], **more: Any) -> Planned:
    """Two calls: one that a summary is made behind, and one that uses it."""
    await rig.call(messages, **more)
    decision = await rig.call(messages, **more)
    assert isinstance(decision, Planned)
    return decision


@pytest.mark.parametrize("model", ["small", "extractive"])
async def test_none_is_found_anywhere(
    rigs: Callable[..., Rig], store: RedisStore, caplog: pytest.LogCaptureFixture, model: str
) -> None:
    caplog.set_level(logging.DEBUG)
    policy = {"storage": {"content": "full"}, "summary": {"model": model}}
    rig = rigs(6_000, policy, redis=store)
    messages = conversation()
    decision = await run(rig, messages, headers={"x-session-id": KEY})
    assert decision.used is not None and decision.version
    stored = b"\n".join(await values(rig.redis)).decode("utf-8", "replace")
    assert '"client":[' in stored.replace(" ", "") and "[secret: github-token" in stored
    document = await rig.archive.export(EVERYTHING, decision.session)
    detail = await rig.archive.detail(EVERYTHING, decision.session)
    asked = "\n".join(f"{r.system}\n{r.user}\n{r.prefix}" for r in rig.summarizer.requests)
    assert bool(asked) == (model == "small")
    for text in (stored, told([document]), repr(detail), asked, caplog.text):
        assert kept_in(text.replace("\\\\", "\\").replace('\\"', '"')) == []
    # The caller's own model reads the end of the conversation as the client wrote it.
    assert decision.sent[-1] is messages[-1] and decision.sent[0] is messages[0]


async def test_an_extract_says_the_same_bytes_when_it_is_made_stored_and_made_elsewhere(
    rigs: Callable[..., Rig],
) -> None:
    policy = {"summary": {"model": "extractive"}}
    messages = [*chat(30), {"role": "user", "content": f"The key is {KEY}, keep it."}, *chat(31, "b")[1:]]
    rig, other = rigs(2_000, policy), rigs(2_000, policy)
    made, elsewhere = await rig.decide(messages), await other.decide(messages)
    assert made.outcome == "fallback" and list(made.sent) == list(elsewhere.sent)
    assert "[secret: github-token #1]" in told(made.sent[:3])
    await rig.call(messages)
    again = await rig.decide(messages)
    assert isinstance(again, Planned) and again.version and list(again.sent) == list(made.sent)


async def test_behind_a_shared_prefix_with_a_secret_the_model_is_asked_in_the_plain_way(
    rigs: Callable[..., Rig],
) -> None:
    policy = {"summary": {"model": None, "share_prefix": True}}
    for secret in ("", KEY):
        rig = rigs(2_000, policy)
        messages = chat(40)
        messages[3] = {**messages[3], "content": f"{messages[3]['content']} {secret}"}
        for call in grown(messages, 30):
            await rig.call(call)
        assert rig.summarizer.requests
        assert bool(rig.summarizer.requests[0].prefix) == (not secret)
        assert KEY not in repr([(r.user, r.prefix) for r in rig.summarizer.requests])


async def test_a_summary_of_before_is_masked_before_a_model_reads_it(rigs: Callable[..., Rig]) -> None:
    rig = rigs(2_000, {"summary": {"strategy": "rolling"}})
    messages = chat(60)
    first = await rig.decide(messages[:20])
    chain = first.context.chain  # type: ignore[union-attr]
    decision = await rig.decide(messages)
    assert isinstance(decision, Planned)
    old = Compaction(chain[10], 10, "model", (Segment(0, 10, f"The key is {KEY}."),), version=1)
    await rig.redis.put(decision.session, old, token=None, ttl=600, limit=9, generation="")
    await rig.call(messages)
    assert "[secret: github-token" in rig.summarizer.requests[0].user
    assert KEY not in repr(rig.summarizer.requests)


@pytest.mark.parametrize("strategy", ["segments", "rolling"])
async def test_what_a_summariser_writes_is_masked(rigs: Callable[..., Rig], strategy: str) -> None:
    rig = rigs(2_000, {"summary": {"strategy": strategy}})
    rig.summarizer.answers = [f"They spoke of ships, and the token was {KEY}, which is kept."] * 9
    for call in grown(chat(59), 40):
        decision = await rig.call(call)
    assert isinstance(decision, Planned) and decision.version and rig.summarizer.requests
    assert "the token was [secret: github-token]" in told(decision.sent)
    assert KEY not in told(decision.sent) and KEY not in b"".join(await values(rig.redis)).decode()


async def test_what_a_provider_repeats_in_its_error_is_masked(
    rig: Rig, caplog: pytest.LogCaptureFixture
) -> None:
    rig.summarizer.answers = [SummaryError(f"Incorrect API key provided: {KEY}")] * 3
    for call in grown(chat(59), 50):
        decision = await rig.call(call)
        if rig.summarizer.requests:
            break
    assert isinstance(decision, Planned)
    reasons = [event["reason"] for event in await events(rig.redis, decision.session)]
    assert any("Incorrect API key provided: [secret: github-token]" in reason for reason in reasons)
    assert KEY not in caplog.text and KEY not in b"".join(await values(rig.redis)).decode()


async def test_pins_of_operators_are_stored_masked_and_taken_back_by_what_was_pinned(rig: Rig) -> None:
    decision = await run(rig, chat(59))
    await rig.archive.pin(EVERYTHING, decision.session, f"Use {KEY}")
    detail = await rig.archive.detail(EVERYTHING, decision.session)
    assert detail.steering.pins == ("Use [secret: github-token]",)
    await rig.archive.unpin(EVERYTHING, decision.session, f"Use {KEY}")


async def test_documents_of_before_are_masked_when_they_go_and_when_they_come(
    rigs: Callable[..., Rig],
) -> None:
    policy = {
        "redact": {"secrets": False},
        "storage": {"content": "full"},
        "summary": {"model": "extractive"},
    }
    rig, other = rigs(2_000, policy), rigs(2_000, policy)
    messages = [*chat(30), {"role": "user", "content": f"The key is {KEY}, keep it."}, *chat(31, "b")[1:]]
    decision = await run(rig, messages, headers={"x-session-id": KEY})
    before = b"\n".join(await values(rig.redis)).decode()
    assert before.count(KEY) >= 2
    document = json.loads(json.dumps(await rig.archive.export(EVERYTHING, decision.session)))
    assert KEY not in json.dumps(document)
    # One that another version wrote comes as it is.
    raw = json.loads(json.dumps(document).replace("[secret: github-token]", KEY))
    own = to_conversation_id("0" * 32)
    raw["fields"] |= {"pins": json.dumps([f"Use {KEY}"]), "labels": json.dumps([KEY, own])}
    raw["events"] = [
        json.dumps({**json.loads(raw["events"][0]), "reason": f"failed: {KEY}"}, separators=(",", ":"))
    ]
    await other.archive.load(EVERYTHING, raw)
    after = b"\n".join(await values(other.redis)).decode()
    assert KEY not in after and "failed: [secret: github-token]" in after
    row = (await other.archive.detail(EVERYTHING, decision.session)).row
    assert row.labels == ("[secret: github-token]", own)


async def test_a_policy_that_switches_it_off_keeps_everything(rigs: Callable[..., Rig]) -> None:
    rig = rigs(2_000, {"redact": {"secrets": False}})
    messages = [*chat(30), {"role": "user", "content": f"The key is {KEY}."}, *chat(31, "b")[1:]]
    await rig.call(messages)
    assert any(KEY in request.user for request in rig.summarizer.requests)


class TestOwnPatterns:
    """What a policy's patterns match is kept out of the same places as the secrets that everybody knows."""

    POLICY: ClassVar[dict[str, Any]] = {
        "redact": {"patterns": ["PIER-[0-9]+"]},
        "storage": {"content": "full"},
        "summary": {"model": "extractive"},
    }

    async def test_labels_pins_documents_and_what_is_told_of_the_work(self, rigs: Callable[..., Rig]) -> None:
        rig = rigs(2_000, self.POLICY)
        messages = [*chat(30), {"role": "user", "content": "Meet at PIER-77."}, *chat(31, "b")[1:]]
        told = ClientState(plan="Unload at PIER-77.")
        decision = await run(rig, messages, body_labels=("ticket PIER-77",), client_state=told)
        session = decision.session
        await rig.archive.pin(EVERYTHING, session, "Never use PIER-77")
        document = await rig.archive.export(EVERYTHING, session)
        assert "PIER-77" not in b"".join(await values(rig.redis)).decode()
        detail = await rig.archive.detail(EVERYTHING, session)
        assert detail.row.labels == ("ticket [secret: pattern]",)
        assert detail.steering.pins == ("Never use [secret: pattern]",)
        assert "PIER-77" not in repr((detail, document))
        await rig.archive.unpin(EVERYTHING, session, "Never use PIER-77")

    async def test_documents_that_an_earlier_version_wrote(self, rigs: Callable[..., Rig]) -> None:
        rig = rigs(2_000, {**self.POLICY, "redact": {}})
        messages = [*chat(30), {"role": "user", "content": "Meet at PIER-77."}, *chat(31, "b")[1:]]
        decision = await run(rig, messages)
        document = json.loads(json.dumps(await rig.archive.export(EVERYTHING, decision.session)))
        assert "PIER-77" in json.dumps(document)
        other = rigs(2_000, self.POLICY)
        archive = RedisArchive(
            other.redis.connection, find_detector=partial(find_detector, lambda: other.book)
        )
        await archive.load(EVERYTHING, document)
        assert "PIER-77" not in b"".join(await values(other.redis)).decode()
        await archive.pin(EVERYTHING, decision.session, "Never use PIER-77")
        assert "PIER-77" not in b"".join(await values(other.redis)).decode()

    async def test_what_a_provider_repeats_in_its_error(self, rigs: Callable[..., Rig]) -> None:
        rig = rigs(2_000, {**self.POLICY, "summary": {"model": "small"}})
        rig.summarizer.answers = [SummaryError("Refused: PIER-77")] * 3
        for call in grown(chat(59), 50):
            decision = await rig.call(call)
            if rig.summarizer.requests:
                break
        assert isinstance(decision, Planned)
        reasons = [event["reason"] for event in await events(rig.redis, decision.session)]
        assert any("Refused: [secret: pattern]" in reason for reason in reasons)

    async def test_the_id_of_a_kept_conversation_is_no_secret(self, rigs: Callable[..., Rig]) -> None:
        rig = rigs(2_000, {**self.POLICY, "redact": {"patterns": ["[0-9a-f]{32}"]}})
        label = to_conversation_id("0" * 32)
        decision = await rig.decide(chat(20), conversation="0" * 32, body_labels=(label, "f" * 32))
        assert decision.labels == (label, "[secret: pattern]")
