"""A summary of messages that a client names, asked of the summariser of its policy; nothing is stored."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any

from fastapi import Response
from pydantic import BaseModel, ConfigDict, Field

from gateway_compaction.admin.access import Doer, Viewer, new_router
from gateway_compaction.admin.dependencies import PartsDep, SummarizeParts
from gateway_compaction.admin.json_response import json_response
from gateway_compaction.admin.problems import Problem, limit_body
from gateway_compaction.call_state import identity_of
from gateway_compaction.core.conversation.messages import Message, told_text_of
from gateway_compaction.core.conversation.transcript import parse_transcript
from gateway_compaction.core.extractive.extract import build_extract
from gateway_compaction.core.planning.context import build_detector
from gateway_compaction.core.policy.model import Policy
from gateway_compaction.core.redaction.marks import mask_message, mask_text
from gateway_compaction.core.summary.acceptance import accept_summary
from gateway_compaction.core.summary.prompts import (
    ShownLimit,
    SummaryBrief,
    build_prompt,
    split_messages,
)
from gateway_compaction.engine.summary_pipeline import (
    LEAST_SHOWN,
    PROMPT_SHARE,
    THINKING_TOKENS,
    UNKNOWN_WINDOW,
)
from gateway_compaction.errors import (
    SummaryDenied,
    SummaryError,
    SummaryLimited,
    SummaryTimeout,
    TranscriptError,
)
from gateway_compaction.ports import Caller, SummaryRequest

router = new_router()
LARGEST = 4_000_000
"""Bytes of a request."""
AUTO_TOKENS = 500
"""Tokens of a summary whose length neither the request nor the policy says."""
SWITCHED_OFF = "The policy of this key says off."
NO_MODEL = "Say model: the policy has the request's own model summarise (summary.model: null)."
NOT_SERVED = "This process asks no summariser."
STATUSES: tuple[tuple[type[SummaryError], int], ...] = (
    (SummaryDenied, 403),
    (SummaryLimited, 429),
    (SummaryTimeout, 504),
)


class SummarizeBody(BaseModel):
    """The messages to summarise, in the form of Chat Completions."""

    model_config = ConfigDict(extra="forbid")

    messages: Annotated[list[dict[str, Any]], Field(min_length=1, max_length=10_000)]
    previous_summary: Annotated[
        str, Field(max_length=200_000, description="A summary of what came before; the new one contains it.")
    ] = ""
    model: Annotated[
        str | None, Field(max_length=200, description="The chat's model, by which the policy is chosen.")
    ] = None
    max_tokens: Annotated[
        int | None, Field(ge=50, le=100_000, description="In place of summary.max_tokens.")
    ] = None


@dataclass(frozen=True, slots=True)
class SummarizeAnswer:
    """A summary and who wrote it.

    Attributes:
        model: the model that answered, as its provider names it; `extractive` where none was asked.
        tokens_before: of the messages and the summary before.
        cost: dollars, null where the proxy does not know.
    """

    summary: str
    model: str
    messages: int
    tokens_before: int
    tokens_after: int
    characters_before: int
    characters_after: int
    cost: float | None


@dataclass(frozen=True, slots=True)
class _Job:
    """The messages of a request, masked, and how they are to be summarised."""

    messages: tuple[Message, ...]
    previous: str
    policy: Policy
    limit: int
    caller: Caller
    count: Callable[[str], int]


@router.post("/v1/summarize", operation_id="compaction_summarize", response_model=SummarizeAnswer)
@limit_body(LARGEST)
async def summarize(viewer: Doer, parts: PartsDep, body: SummarizeBody) -> Response:
    """Summarise messages now, with the summariser, the prompt and the length of the key's policy.

    Nothing is stored. Secrets are masked before the summariser reads them. An answer that is no summary (a
    refusal, an error text, a question) is not passed on: the next model of `summary.fallbacks` is asked.
    """
    if parts.summaries is None:
        raise Problem(503, NOT_SERVED)
    identity = replace(identity_of(viewer.auth, body.model or "", {}), model=body.model, endpoint="chat")
    policy = parts.policies().resolve(identity)
    if policy.mode == "off":
        raise Problem(409, SWITCHED_OFF)
    try:
        history = (await asyncio.to_thread(parse_transcript, body.messages)).history
    except TranscriptError as error:
        raise Problem(422, f"The messages are no conversation: {error}.") from error
    if not history:
        raise Problem(422, "There is nothing to summarise beside the preamble.")
    name = body.model or policy.summary.model or ""
    wanted, detector = body.max_tokens or policy.summary.max_tokens, build_detector(policy)
    job = _Job(
        messages=tuple(mask_message(message, detector) for message in history),
        previous=mask_text(body.previous_summary, detector),
        policy=policy,
        limit=wanted if isinstance(wanted, int) else AUTO_TOKENS,
        caller=Caller(name, _describe_caller(viewer)),
        count=lambda text: parts.count(text, name),
    )
    text, model, cost = await _write(job, parts.summaries, body.model)
    sources = [told_text_of(message) for message in history] + [body.previous_summary]
    before, after = await asyncio.to_thread(lambda: (sum(map(job.count, sources)), job.count(text)))
    characters = sum(map(len, sources))
    told = SummarizeAnswer(text, model, len(history), before, after, characters, len(text), cost)
    return json_response(told)


async def _write(job: _Job, parts: SummarizeParts, own: str | None) -> tuple[str, str, float | None]:
    """Return a summary, the model that wrote it and what it cost.

    Raises:
        Problem: no model gave one.
    """
    summary = job.policy.summary
    if summary.model == "extractive" or summary.strategy == "window":
        text = await asyncio.to_thread(build_extract, job.messages, job.limit, job.count, None, job.previous)
        return "\n\n".join(part for part in (job.previous, text) if part), "extractive", None
    models = [name for name in (summary.model or own, *summary.fallbacks) if name]
    if not models:
        raise Problem(422, NO_MODEL)
    problem = SummaryError("no model was asked")
    for model in models:
        try:
            return await _ask(job, parts, model)
        except SummaryError as error:
            problem = error
    status = next((code for kind, code in STATUSES if isinstance(problem, kind)), 502)
    told = mask_text(str(problem), build_detector(job.policy))[:300]
    raise Problem(status, f"No usable summary came back: {told}.") from problem


async def _ask(job: _Job, parts: SummarizeParts, model: str) -> tuple[str, str, float | None]:
    """Ask a model, part by part where the messages exceed its window; each answer holds the ones before."""
    window = parts.models.facts(model).window or UNKNOWN_WINDOW
    room = max(2 * LEAST_SHOWN, int(window * PROMPT_SHARE) - job.limit)
    shown = ShownLimit.from_policy(job.policy, max(LEAST_SHOWN, room // 4))
    brief = SummaryBrief.from_policy(job.policy, job.limit)
    runs = await asyncio.to_thread(split_messages, job.messages, room, job.policy, job.count)
    thinking = job.policy.summary.thinking_tokens
    most = 2 * job.limit + (THINKING_TOKENS if thinking == "auto" else thinking)
    text, answered, cost, start = job.previous, model, None, 0
    source = job.count(text)
    for run, tokens in runs:
        prompts = await asyncio.to_thread(build_prompt, run, text, start, brief, shown, job.count)
        timeout = job.policy.summary.timeout_seconds
        answer = await parts.summarizer.complete(SummaryRequest(model, *prompts, most, timeout, job.caller))
        source += tokens
        texts: Sequence[str] = () if job.policy.summary.prompt_text else [*map(told_text_of, run), text]
        text = await asyncio.to_thread(accept_summary, answer, source, job.limit, job.count, texts)
        answered, start = answer.model, start + len(run)
        cost = answer.cost if cost is None else cost + (answer.cost or 0.0)
    return text, answered, cost


def _describe_caller(viewer: Viewer) -> dict[str, Any]:
    """Return what the router and the spend logs know a key's calls by."""
    auth = viewer.auth
    known = {
        "user_api_key": auth.api_key,
        "user_api_key_hash": auth.api_key,
        "user_api_key_alias": auth.key_alias,
        "user_api_key_user_id": auth.user_id,
        "user_api_key_team_id": auth.team_id,
        "user_api_key_team_alias": auth.team_alias,
        "user_api_key_org_id": auth.org_id,
        "user_api_key_end_user_id": auth.end_user_id,
    }
    return {**known, "user_api_key_auth": auth}
