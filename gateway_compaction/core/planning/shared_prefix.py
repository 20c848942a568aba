"""A summary asked of the chat's own model behind the very messages it has just read.

The provider's prompt cache then pays for most of the question. The price is that the messages stand there as
they were sent, not fenced as data and with the caller's tools: so it is an opt-in, never the default.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gateway_compaction.core.conversation.body import tools_of
from gateway_compaction.core.conversation.messages import Message, declared_role
from gateway_compaction.core.planning.context import RequestContext
from gateway_compaction.core.planning.summary_job import SummaryJob
from gateway_compaction.core.policy.model import Policy
from gateway_compaction.core.records.compaction import Compaction
from gateway_compaction.core.summary.prompts import SYSTEM, SummaryBrief
from gateway_compaction.core.text.language import detect_conversation_language

SHARING = ("segments", "rolling")
"""Strategies whose summaries begin where the request begins; the others divide the messages first."""


@dataclass(frozen=True, slots=True)
class SharedPrefix:
    """The beginning of a request, which the model has read and is to summarise.

    Attributes:
        messages: the beginning of the request as it was sent, up to the last message to be summarised.
        tools: the caller's ``tools`` (or ``functions``), which stand before the messages in every prompt.
        summarised: the first of them is a summary that the new one follows.
    """

    messages: tuple[Message, ...]
    tools: Mapping[str, Any]
    summarised: bool

    def write_question(self, policy: Policy, limit: int) -> str:
        """Return the user message that asks for a summary of at most ``limit`` tokens."""
        summary = policy.summary
        first = "Stop here. " + SYSTEM + " Summarise the conversation above."
        if self.summarised and summary.strategy == "rolling":
            first += " It begins with a summary of what came before: merge it, drop nothing of it."
        elif self.summarised:
            first += " It begins with a summary of what came before: leave that out, it stays as it is."
        code = detect_conversation_language(self.messages)
        return SummaryBrief.from_policy(policy, limit).write_behind(first + " Use no tool.", code)


def find_shared_prefix(
    context: RequestContext,
    job: SummaryJob,
    used: Compaction | None,
    sent: Sequence[Message],
    body: Mapping[str, Any],
) -> SharedPrefix | None:
    """Return the part of what was sent that holds exactly what the job's summary will stand for.

    Args:
        context: the request.
        job: the summary to be made.
        used: the compaction that was sent.
        sent: the messages that were sent.
        body: the request's body, for the caller's tools.

    Returns:
        None where the policy does not share, where the job builds on another compaction than was sent (then
        the model has not read what is to be summarised, or more than that), and where the question would
        stand behind a user's message.
    """
    summary, history = context.policy.summary, context.transcript.history
    if not summary.share_prefix or summary.model is not None or summary.strategy not in SHARING:
        return None
    tail = len(history) - job.covers
    base_digest = job.base.digest if job.base else None
    used_digest = used.digest if used else None
    is_clipped = used is not None and used.clip is not None
    if base_digest != used_digest or is_clipped or not 0 < tail < len(sent):
        return None
    if declared_role(history[job.covers - 1]) == "user":
        return None
    return SharedPrefix(tuple(sent[: len(sent) - tail]), tools_of(body), job.base is not None)
