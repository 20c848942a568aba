"""Checks of what the messages say and how much they weigh."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.cases.evidence import Call, Evidence
from tests.cases.texts import carriers, dumped, is_preamble, text_of, whole_text
from tests.cases.verdict import Verdict, check, every
from tests.cases.weights import roughly, weight
from tests.lab import count_request

__all__: list[str] = []

Message = Mapping[str, Any]


@check("contains")
def contains(evidence: Evidence, argument: str) -> Verdict:
    """The text is somewhere in the messages."""
    return every(evidence, lambda call: None if argument in whole_text(call.messages) else f"no {argument}")


@check("not_contains")
def not_contains(evidence: Evidence, argument: str) -> Verdict:
    """The text is nowhere in the messages; ``None``: no message consists of that word."""

    def problem(call: Call) -> str | None:
        if evidence.facts.get("stored answer") and argument == evidence.prepared.context.cut_stream:
            return "it is in the store"
        if argument == "None":
            return "a message says None" if any(text_of(m).strip() == "None" for m in call.messages) else None
        found = [m for m in call.messages if argument in dumped(m) or argument in text_of(m)]
        return f"it is in {dumped(found[0])[:160]}" if found else None

    return every(evidence, problem)


@check("order")
def order(evidence: Evidence, argument: str) -> Verdict:
    """Both texts are there, the one before ``<`` first."""
    before, _, after = argument.partition("<")

    def problem(call: Call) -> str | None:
        text = whole_text(call.messages)
        places = text.find(before), text.find(after)
        return None if 0 <= places[0] < places[1] else f"they stand at {places}"

    return every(evidence, problem)


@check("no_empty_text", always=True)
def no_empty_text(evidence: Evidence, argument: str) -> Verdict:
    """No message or block that the gateway made has an empty text."""

    def problem(call: Call) -> str | None:
        made = [m for m in call.messages if m not in call.sent]
        return next((dumped(m)[:120] for m in made if _is_blank(m)), None)

    return every(evidence, problem)


def _is_blank(message: Message) -> bool:
    content = message.get("content")
    if isinstance(content, list):
        return any(not str(part.get("text", "x")).strip() for part in content)
    has_calls = message.get("tool_calls") or message.get("function_call")
    return not (content or "").strip() and not has_calls


@check("utf8_clean", always=True)
def utf8_clean(evidence: Evidence, argument: str) -> Verdict:
    """Everything can be written as UTF-8."""

    def problem(call: Call) -> str | None:
        try:
            dumped(call.messages).encode("utf-8")
        except UnicodeEncodeError as error:
            return str(error)
        return None

    return every(evidence, problem)


@check("cache_marks_le", always=True)
def cache_marks_le(evidence: Evidence, argument: str) -> Verdict:
    """At most N cache marks."""

    def problem(call: Call) -> str | None:
        marks = dumped(call.messages).count('"cache_control"')
        return f"{marks} marks" if marks > int(argument) else None

    return every(evidence, problem)


@check("no_media_added", always=True)
def no_media_added(evidence: Evidence, argument: str) -> Verdict:
    """Not more pictures than the client sent."""

    def problem(call: Call) -> str | None:
        now, before = (dumped(messages).count("image_url") for messages in (call.messages, call.sent))
        return f"{now} instead of {before}" if now > before else None

    return every(evidence, problem)


@check("inj_not_in_system", always=True)
def inj_not_in_system(evidence: Evidence, argument: str) -> Verdict:
    """No system or developer message holds the text."""

    def problem(call: Call) -> str | None:
        held = any(is_preamble(m) and argument in text_of(m) for m in call.messages)
        return "one does" if held else None

    return every(evidence, problem)


@check("under_window")
def under_window(evidence: Evidence, argument: str) -> Verdict:
    """The request fits the window, by a rough estimate and by an independent count."""
    window = evidence.prepared.window or 0

    def problem(call: Call) -> str | None:
        tokens = weight(call.messages, call.body)
        return f"{tokens} tokens in a window of {window}" if tokens > window else None

    return every(evidence, problem)


@check("under_tokens")
def under_tokens(evidence: Evidence, argument: str) -> Verdict:
    """At most N tokens, by a rough estimate and by an independent count."""

    def problem(call: Call) -> str | None:
        tokens = weight(call.messages, call.body)
        return f"{tokens} tokens" if tokens > int(argument) else None

    return every(evidence, problem)


@check("compacted")
@check("smaller_than_input")
def smaller(evidence: Evidence, argument: str) -> Verdict:
    """Fewer tokens than the client sent, by a rough estimate and by an independent count."""

    def problem(call: Call) -> str | None:
        pairs = [
            (roughly(call.messages, {}), roughly(call.sent, {})),
            (count_request({"messages": call.messages}), count_request({"messages": call.sent})),
        ]
        return None if all(now < before for now, before in pairs) else f"(now, before) {pairs}"

    return every(evidence, problem)


@check("summary_tokens_le")
def summary_tokens_le(evidence: Evidence, argument: str) -> Verdict:
    """The message that carries the summary has at most N tokens."""

    def problem(call: Call) -> str | None:
        heavy = [weight([call.messages[i]], {}) for i in carriers(call.messages)]
        return f"{max(heavy)} tokens" if heavy and max(heavy) > int(argument) else None

    return every(evidence, problem)
