"""Checks of the summaries: how they are asked for, and how they stand among the messages."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise
from typing import Any

from gateway_compaction.core.summary.block import TAG
from gateway_compaction.core.text.language import PHRASES
from tests.cases.evidence import Call, Evidence
from tests.cases.texts import carriers, dumped, text_of, whole_text
from tests.cases.verdict import Verdict, check, every, failed, passed
from tests.cases.weights import counted
from tests.lab import Seen

__all__: list[str] = []

ROLE_LINE = re.compile(r"(?im)^\s*(user|assistant|system|human)\s*:")
DEFAULT_TRIGGER, TARGET = 0.85, 0.25
LANGUAGES = (
    ("[\uac00-\ud7a3]", "Korean|한국어"),
    ("[\u3040-\u30ff]", "Japanese|日本語"),
    ("[\u4e00-\u9fff]", "Chinese|中文"),
    ("[\u0400-\u04ff]", "Russian|русск"),
    ("[\u0600-\u06ff]", "Arabic|العربية"),
    ("[\u0e00-\u0e7f]", "Thai|ไทย"),
    ("[\u0900-\u097f]", "Hindi|हिन्दी"),
)
ANY_LANGUAGE = r"language of the (?:conversation|transcript)|(?:Write|write|Answer|answer) in [A-Z]\w+"


def asked(evidence: Evidence, problem: Callable[[Seen], str | None]) -> Verdict:
    """The summariser was asked, and nothing is wrong with any request to it."""
    found = evidence.all_asked
    if not found:
        return failed("the summariser was never asked")
    problems = [text for seen in found if (text := problem(seen))]
    return failed(problems[0]) if problems else passed(f"{len(found)} asked")


@check("summariser_sees")
def summariser_sees(evidence: Evidence, argument: str) -> Verdict:
    """Some request to the summariser holds the text."""
    if any(argument in whole_text(seen.messages) for seen in evidence.all_asked):
        return passed()
    return failed(f"{len(evidence.all_asked)} requests to the summariser, none holds it")


@check("summariser_not_sees")
def summariser_not_sees(evidence: Evidence, argument: str) -> Verdict:
    """No request to the summariser holds the text."""
    return asked(evidence, lambda seen: "it is there" if argument in whole_text(seen.messages) else None)


@check("summariser_request_plain")
def summariser_request_plain(evidence: Evidence, argument: str) -> Verdict:
    """One system and one user message, both texts, no tools; the order stands behind the material."""

    def problem(seen: Seen) -> str | None:
        shape = [(m.get("role"), type(m.get("content")).__name__) for m in seen.messages]
        if shape != [("system", "str"), ("user", "str")]:
            return f"the messages are {shape}"
        fields = sorted({"tools", "tool_choice", "functions", "function_call"} & set(seen.body))
        if fields or any(m.get("tool_calls") for m in seen.messages):
            return f"it has {fields or 'calls'}"
        return (
            None if re.search(r"</\w+>\s*\S", seen.messages[1]["content"]) else "no order behind the material"
        )

    return asked(evidence, problem)


@check("summariser_request_lacks")
def summariser_request_lacks(evidence: Evidence, argument: str) -> Verdict:
    """No request to the summariser has any of these fields."""
    fields = [field.strip() for field in argument.split(",")]

    def problem(seen: Seen) -> str | None:
        held = [field for field in fields if seen.body.get(field) not in (None, False)]
        extra = [field for field in fields if field in (seen.body.get("extra_body") or {})]
        return f"it has {held + extra}" if held or extra else None

    return asked(evidence, problem)


@check("summariser_told_language")
def summariser_told_language(evidence: Evidence, argument: str) -> Verdict:
    """Every request to the summariser names the conversation's language, behind the material."""
    said = whole_text(evidence.prepared.case.messages)
    counts = [(len(re.findall(script, said)), names) for script, names in LANGUAGES]
    most, names = max(counts)
    pattern = names if most > len(said) / 10 else ANY_LANGUAGE

    def problem(seen: Seen) -> str | None:
        order = re.split(r"</\w+>", text_of(seen.messages[-1]), maxsplit=1)[-1] + text_of(seen.messages[0])
        return None if re.search(pattern, order) else f"no {pattern} in its order"

    return asked(evidence, problem)


@check("max_summariser_calls")
def max_summariser_calls(evidence: Evidence, argument: str) -> Verdict:
    """The summariser model is called at most N times, retries included."""
    most = max((len(found) for found in evidence.asked.values()), default=0)
    return passed(f"{most}") if most <= int(argument) else failed(f"{most} calls")


@check("labelled_summary")
def labelled_summary(evidence: Evidence, argument: str) -> Verdict:
    """One message carries the summary, says that it is background, and stands before the kept messages."""
    notes = [phrases.note for phrases in PHRASES.values()]

    def problem(call: Call) -> str | None:
        found = carriers(call.messages)
        if len(found) != 1:
            return f"{len(found)} messages carry a summary"
        text = text_of(call.messages[found[0]])
        if not any(note in text for note in notes):
            return f"its note is {text[:160]}"
        before = [m["role"] for m in call.messages[: found[0]]]
        is_in_place = found[0] < len(call.messages) - 1 and set(before) <= {"system", "developer"}
        return None if is_in_place else f"it stands behind {before}"

    return every(evidence, problem)


@check("summary_markers_le")
def summary_markers_le(evidence: Evidence, argument: str) -> Verdict:
    """At most N summary frames in the messages, and none in what is to be summarised."""
    nested = [seen for seen in evidence.all_asked if f"<{TAG}" in whole_text(seen.messages)]
    if nested:
        return failed("a summary's frame is given to the summariser")

    def problem(call: Call) -> str | None:
        frames = whole_text(call.messages).count(f"<{TAG}")
        return f"{frames} frames" if frames > int(argument) else None

    return every(evidence, problem)


@check("fake_not_own_message")
def fake_not_own_message(evidence: Evidence, argument: str) -> Verdict:
    """The text stands in the summary's message only, and no line of that begins like a turn."""

    def problem(call: Call) -> str | None:
        found = carriers(call.messages)
        others = [m for i, m in enumerate(call.messages) if i not in found and argument in text_of(m)]
        if others:
            return f"{dumped(others[0])[:120]} holds it"
        lines = [ROLE_LINE.search(text_of(call.messages[i])) for i in found]
        return next((f"a line begins with {line.group()!r}" for line in lines if line), None)

    return every(evidence, problem)


@check("user_count_not_increased_by")
def user_count_not_increased_by(evidence: Evidence, argument: str) -> Verdict:
    """Fewer than N user messages more than the client sent."""

    def problem(call: Call) -> str | None:
        more = sum(m["role"] == "user" for m in call.messages) - sum(m["role"] == "user" for m in call.sent)
        return f"{more} more" if more >= int(argument) else None

    return every(evidence, problem)


@check("image_kept_or_noted")
def image_kept_or_noted(evidence: Evidence, argument: str) -> Verdict:
    """Every picture is still there, or the summary's message says that it is no longer visible."""
    notes = [phrases.gone for phrases in PHRASES.values()]

    def problem(call: Call) -> str | None:
        kept, sent = (dumped(messages).count('"image_url": {') for messages in (call.messages, call.sent))
        told = "".join(text_of(call.messages[i]) for i in carriers(call.messages))
        return (
            None if kept >= sent or any(note in told for note in notes) else f"{kept} of {sent} and no note"
        )

    return every(evidence, problem)


@check("stable_prefix_between_updates")
def stable_prefix_between_updates(evidence: Evidence, argument: str) -> Verdict:
    """Each request extends the one before; breaks: one per (trigger - target) tokens of growth at most."""
    worst = ""
    for number in evidence.asked:
        calls = [call for call in evidence.judged if call.number == number]
        window = evidence.prepared.window or 1
        first, last = (counted(call.sent, call.body, window) for call in (calls[0], calls[-1]))
        trigger = evidence.prepared.context.rewrites_at or DEFAULT_TRIGGER
        allowed = 1 + int((last - first) / ((trigger - TARGET) * window))
        pairs = pairwise(calls)
        breaks = sum(not _extends(after.messages, before.messages) for before, after in pairs)
        # Not counted: a stored summary that is there from the start needs no first one.
        allowed -= 1 if evidence.covered.get(number) is not None else 0
        worst += f"{breaks} of {allowed} breaks in pass {number + 1}; "
        if breaks > allowed:
            return failed(worst)
    return passed(worst.strip("; "))


def _extends(now: list[dict[str, Any]], before: list[dict[str, Any]]) -> bool:
    return now[: len(before)] == before
