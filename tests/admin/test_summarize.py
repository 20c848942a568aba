"""Summaries on demand: the summariser, prompt and length of the key's policy; nothing is stored."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from gateway_compaction.admin.dependencies import STATE, Parts, SummarizeParts
from gateway_compaction.core.policy.book import PolicyBook
from gateway_compaction.errors import SummaryDenied, SummaryError, SummaryLimited, SummaryTimeout
from gateway_compaction.ports import SummaryAnswer, SummaryRequest
from gateway_compaction.replay import FixedModels
from tests.admin.conftest import bearer
from tests.admin.people import BLUE, RED
from tests.core.redaction.shapes import SHAPES
from tests.engine.rig import encodings

pytestmark = pytest.mark.usefixtures("keyed")
URL = "/compaction/v1/summarize"
POLICIES = {
    "version": 1,
    "defaults": {"preset": "incremental", "summary": {"model": "haiku", "fallbacks": ["sonnet"]}},
    "policies": [
        {"name": "blue", "match": {"team": BLUE}, "mode": "off"},
        {"name": "own", "match": {"model": "chat"}, "summary": {"model": None, "fallbacks": []}},
        {"name": "none", "match": {"model": "plain"}, "summary": {"model": "extractive"}},
        {"name": "masked", "match": {"model": "secret"}, "redact": {"patterns": ["PIER-[0-9]+"]}},
    ],
}
SAID = [
    {"role": "system", "content": "Be brief."},
    *(
        {
            "role": role,
            "content": f"We talk about berth {n} of the harbour, and who has seen the ship there. " * 9,
        }
        for n in range(6)
        for role in ("user", "assistant")
    ),
]
ANSWER = "<summary>They talked about six berths of the harbour and who has seen the ship there.</summary>"


@dataclass
class Asked:
    """A summariser that answers as it is told, and remembers what it was asked."""

    answers: list[Any] = field(default_factory=lambda: [ANSWER])
    requests: list[SummaryRequest] = field(default_factory=list)

    async def complete(self, request: SummaryRequest) -> SummaryAnswer:
        self.requests.append(request)
        answer = self.answers[min(len(self.requests), len(self.answers)) - 1]
        if isinstance(answer, Exception):
            raise answer
        return SummaryAnswer(answer, "stop", f"{request.model}-2026", cost=0.25)


@pytest.fixture
def asked(mounted: FastAPI, parts: Parts, client: httpx.AsyncClient) -> Asked:
    encodings()
    made, book = Asked(), PolicyBook(POLICIES, "policies.yaml")
    summaries = SummarizeParts(made, FixedModels(8_000, "gpt-4o"))
    setattr(mounted.state, STATE, replace(parts, policies=lambda: book, summaries=summaries))
    return made


async def post(client: httpx.AsyncClient, key: str | None = "sk-red-1", **body: Any) -> httpx.Response:
    return await client.post(URL, json={"messages": SAID, **body}, headers=bearer(key))


async def test_the_policys_summariser_is_asked(client: httpx.AsyncClient, asked: Asked) -> None:
    answer = await post(client)
    assert answer.status_code == 200, answer.text
    told, [request] = answer.json(), asked.requests
    assert told["summary"] == ANSWER[9:-10] and (told["model"], told["cost"]) == ("haiku-2026", 0.25)
    assert told["messages"] == 12 and told["tokens_before"] > told["tokens_after"] > 0
    assert told["characters_after"] == len(told["summary"]) < told["characters_before"]
    # The preset's figures: 1,024 tokens, 60 seconds; the preamble is no part of the conversation.
    assert "in at most 665 words" in request.user and request.timeout_seconds == 60
    assert "Be brief." not in request.user and "berth 5 of the harbour" in request.user
    auth = request.caller.metadata["user_api_key_auth"]
    assert (auth.team_id, request.caller.metadata["user_api_key_team_id"]) == (RED, RED)


async def test_a_summary_before_goes_into_the_new_one(client: httpx.AsyncClient, asked: Asked) -> None:
    await post(client, previous_summary="They chose pier seven.", max_tokens=100)
    [request] = asked.requests
    assert "<previous_summary>\nThey chose pier seven.\n</previous_summary>" in request.user
    assert "in at most 65 words" in request.user


async def test_what_exceeds_its_window_is_asked_part_by_part(client: httpx.AsyncClient, asked: Asked) -> None:
    asked.answers = [ANSWER.replace("six", "some"), ANSWER]
    long = [{**m, "content": m["content"] * 5} for m in SAID[1:]]
    answer = await post(client, messages=long)
    assert answer.status_code == 200 and len(asked.requests) >= 2
    assert answer.json()["cost"] == 0.25 * len(asked.requests)
    assert "They talked about some berths" in asked.requests[1].user


async def test_a_message_of_3000_characters_is_shown_whole_and_a_longer_one_is_not(
    client: httpx.AsyncClient, asked: Asked
) -> None:
    for length, whole in ((3_000, True), (3_001, False)):
        await post(
            client, messages=[{"role": "user", "content": "word " * (length // 5) + "x" * (length % 5)}]
        )
        assert ("characters left out" not in asked.requests[-1].user) is whole


async def test_the_next_model_is_asked_where_one_gives_none(client: httpx.AsyncClient, asked: Asked) -> None:
    asked.answers = ["I cannot help with that.", ANSWER]
    assert (await post(client)).json()["model"] == "sonnet-2026"
    assert [r.model for r in asked.requests] == ["haiku", "sonnet"]


async def test_secrets_are_masked_before_anybody_reads_them(client: httpx.AsyncClient, asked: Asked) -> None:
    secret = SHAPES[0].value
    await post(
        client,
        messages=[*SAID, {"role": "user", "content": f"Keep {secret}."}],
        previous_summary=f"It is {secret}.",
    )
    assert secret not in asked.requests[0].user and "[secret:" in asked.requests[0].user


async def test_what_the_policys_own_patterns_match_is_masked(client: httpx.AsyncClient, asked: Asked) -> None:
    asked.answers = [SummaryError("Refused: PIER-77")] * 2
    answer = await post(
        client,
        model="secret",
        messages=[*SAID, {"role": "user", "content": "Meet at PIER-77."}],
        previous_summary="It is PIER-77.",
    )
    assert asked.requests and "[secret: pattern" in asked.requests[0].user
    assert "PIER-77" not in f"{asked.requests} {answer.text}" and "[secret: pattern" in answer.text


async def test_the_chats_own_model_where_the_policy_names_none(
    client: httpx.AsyncClient, asked: Asked
) -> None:
    assert (await post(client, model="chat")).json()["model"] == "chat-2026"


async def test_without_a_model_it_is_an_extract(client: httpx.AsyncClient, asked: Asked) -> None:
    told = (
        await post(client, model="plain", previous_summary="They chose pier seven.", max_tokens=80)
    ).json()
    assert told["model"] == "extractive" and asked.requests == []
    assert told["summary"].startswith("They chose pier seven.") and "berth" in told["summary"]


@pytest.mark.parametrize(
    ("problem", "status"),
    [
        (SummaryDenied("no budget"), 403),
        (SummaryLimited("slower"), 429),
        (SummaryTimeout("late"), 504),
        (SummaryError("broken"), 502),
        ("Sorry, I cannot do that.", 502),
    ],
)
async def test_no_usable_summary_is_said(
    client: httpx.AsyncClient, asked: Asked, problem: Any, status: int
) -> None:
    asked.answers = [problem]
    answer = await post(client)
    assert answer.status_code == status and "No usable summary came back" in answer.json()["detail"]


@pytest.mark.parametrize(
    ("key", "body", "status"),
    [
        (None, {}, 401),
        ("sk-looks", {}, 403),
        ("sk-blue-1", {}, 409),
        ("sk-red-1", {"messages": []}, 422),
        ("sk-red-1", {"messages": SAID[:1]}, 422),
        ("sk-red-1", {"messages": [{"role": 3}]}, 422),
        ("sk-red-1", {"messages": ["text"]}, 422),
        ("sk-red-1", {"max_tokens": 1}, 422),
        ("sk-red-1", {"strange": 1}, 422),
    ],
)
async def test_what_is_refused(
    client: httpx.AsyncClient, asked: Asked, key: str | None, body: Any, status: int
) -> None:
    answer = await post(client, key, **body)
    assert answer.status_code == status, answer.text
    assert asked.requests == []


async def test_a_model_must_be_named_where_the_policy_names_none(
    client: httpx.AsyncClient, asked: Asked, mounted: FastAPI
) -> None:
    book = PolicyBook({"version": 1, "defaults": {"summary": {"model": None}}}, "policies.yaml")
    setattr(mounted.state, STATE, replace(getattr(mounted.state, STATE), policies=lambda: book))
    assert (await post(client)).status_code == 422


async def test_a_process_that_asks_nobody_says_so(client: httpx.AsyncClient) -> None:
    assert (await post(client)).status_code == 503
