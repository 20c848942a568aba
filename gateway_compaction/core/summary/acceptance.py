"""Which answers of a summariser are taken as summaries."""

from __future__ import annotations

from collections.abc import Iterable

import regex

from gateway_compaction.core.summary.belief import is_question, is_stutter, says_too_little
from gateway_compaction.core.summary.block import Count
from gateway_compaction.core.summary.refusals import is_no_summary
from gateway_compaction.core.text.language import is_foreign_script
from gateway_compaction.core.text.shorten import shorten
from gateway_compaction.errors import SummaryRejected

__all__ = ["accept_summary"]

MARGIN = 0.9


TAGGED = regex.compile(r"(?is)<summary>(.*?)(?:</summary>|\Z)")


THOUGHT = regex.compile(r"(?is)<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)")


def accept_summary(
    text: str,
    finish_reason: str | None,
    has_calls: bool,
    source: int,
    limit: int,
    count: Count,
    said: Iterable[str] = (),
) -> str:
    """The summary in a model's answer.

    ``said`` are the texts that it is to stand for, where their script is to be its own.

    Raises:
        SummaryRejected: empty, cut off, refused, an error text, a tool call, not clearly smaller than its
            source of ``source`` tokens, a question, or no text that could stand for it.
    """
    if finish_reason in ("length", "content_filter", "tool_calls", "function_call"):
        raise SummaryRejected(f"finish_reason is {finish_reason}")
    if has_calls:
        raise SummaryRejected("the answer is a tool call")
    tagged = TAGGED.search(THOUGHT.sub("", text))
    shown = tagged.group(1) if tagged else THOUGHT.sub("", text)
    summary = shown.encode("utf-8", "replace").decode("utf-8").strip()
    if not summary:
        raise SummaryRejected("the answer is empty")
    if is_no_summary(summary, tagged=tagged is not None):
        raise SummaryRejected("the answer is a refusal or an error text")
    short = shorten(summary, limit, count, "[…]")
    if count(short) > source * MARGIN:
        raise SummaryRejected("the answer is not smaller than what it stands for")
    if is_question(summary, tagged=tagged is not None):
        raise SummaryRejected("the answer is a question")
    part = count(short) / source
    if is_stutter(summary) or says_too_little(summary, part, tagged=tagged is not None):
        raise SummaryRejected("the answer says too little")
    if is_foreign_script(summary, said):
        raise SummaryRejected("the answer is in another script than the conversation")
    return short
