"""A question to the chat's own model behind the very messages it has just read: its prompt cache serves.

The messages are as they were sent: not fenced, and with the caller's tools. An opt-in, never the default.
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
from gateway_compaction.core.summary.prompts import SYSTEM, build_order, instructions_of, to_words
from gateway_compaction.core.text.language import detect_conversation_language

__all__ = ["SharedPrefix", "find_shared_prefix"]

SHARING = ("segments", "rolling")


@dataclass(frozen=True, slots=True)
class SharedPrefix:
    """What the model has read of what is to be summarised.

    Attributes:
        messages: the beginning of the request as it was sent, up to the last message to be summarised.
        tools: the caller's ``tools`` (or ``functions``), which stand before the messages in every prompt.
        summarised: whether the first of them is a summary that the new one follows.
    """

    messages: tuple[Message, ...]
    tools: Mapping[str, Any]
    summarised: bool

    def question(self, policy: Policy, limit: int) -> str:
        """The user message that asks for a summary of at most ``limit`` tokens."""
        summary = policy.summary
        first = "Stop here. " + SYSTEM + " Summarise the conversation above."
        if self.summarised and summary.strategy == "rolling":
            first += " It begins with a summary of what came before: merge it, drop nothing of it."
        elif self.summarised:
            first += " It begins with a summary of what came before: leave that out, it stays as it is."
        code = detect_conversation_language(self.messages)
        keys, keep = summary.preserve_keys, instructions_of(policy)
        return build_order(first + " Use no tool.", keep, keys, code, to_words(limit))


def find_shared_prefix(
    s: RequestContext,
    job: SummaryJob,
    used: Compaction | None,
    sent: Sequence[Message],
    body: Mapping[str, Any],
) -> SharedPrefix | None:
    """The part of ``sent`` that holds exactly what the job's summary will stand for.

    ``used`` is the compaction that was sent. None where the policy does not share, where the job builds on
    another one (then the model has not read what is to be summarised, or more than that), and where the
    question would stand behind a user's message.
    """
    summary, behind = s.policy.summary, len(s.transcript.history) - job.covers
    if not summary.share_prefix or summary.model is not None or summary.strategy not in SHARING:
        return None
    built_on, shown = job.base.digest if job.base else None, used.digest if used else None
    if built_on != shown or not 0 < behind < len(sent) or (used is not None and used.clip is not None):
        return None
    if declared_role(s.transcript.history[job.covers - 1]) == "user":
        return None
    return SharedPrefix(tuple(sent[: len(sent) - behind]), tools_of(body), job.base is not None)
