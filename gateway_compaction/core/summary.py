"""Believing a model's summary, and the one message that carries a summary to the model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import regex

from gateway_compaction.core.importance import Anchor, Scoring, anchors_of
from gateway_compaction.core.language import Phrases, language_of, phrases
from gateway_compaction.core.messages import Message, text_of
from gateway_compaction.core.pins import Pins, pins_of
from gateway_compaction.core.prompts import defused, fenced
from gateway_compaction.core.shorten import shorten
from gateway_compaction.errors import SummaryRejected

__all__ = [
    "ACKNOWLEDGEMENT",
    "LEAST_TEXT",
    "TAG",
    "Frame",
    "accept",
    "block_tokens",
    "cache_mark",
    "carrier",
    "frame",
    "marked",
]

Count = Callable[[str], int]
TAG = "conversation_summary"
ACKNOWLEDGEMENT: Message = {"role": "assistant", "content": "OK."}
MARGIN = 0.9
LEAST_TEXT, LEAST_TASK = 24, 16
IMAGES_NAMED = 5
ANCHORS_PART, TEXT_PART = 4, 3
PLAIN_SCORING = Scoring()
TAGGED = regex.compile(r"(?is)<summary>(.*?)(?:</summary>|\Z)")
THOUGHT = regex.compile(r"(?is)<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)")
# How refusals and error texts begin, in the languages that the gateway speaks; and answers that are nothing.
ERROR_ANSWER = regex.compile(
    r"(?i)^\W*(?:error(?: generating| creating|:| \d)|exception:|traceback"
    r"|i(?:['’]m| am) (?:really |very )?sorry|sorry,|i (?:sincerely )?apologi[sz]e|unfortunately,? i\b"
    r"|i can(?:no|['’])t|i won['’]t be able"
    r"|i(?:['’]m| am) (?:unable|not able)|as an? (?:ai|language model)\b|internal server error"
    r"|bad gateway|service unavailable|(?:the )?request timed out|you (?:have )?exceeded your"
    r"|rate limit|too many requests"
    r"|es tut mir leid|leider kann ich|ich kann (?:dies|das|diese\w*|dabei) \S* ?nicht|je suis désolée?"
    r"|désolée?,|je ne (?:peux|suis) pas|lo siento|no puedo (?:ayudar|resumir|proporcionar)|lamento\b"
    r"|죄송|申し訳|すみません|ごめんなさい|抱歉|对不起|對不起|很遗憾|我无法|我不能"
    r"|<!doctype|<html|[\[{]\s*+(?:[\[{]\s*+)?\"(?:error|errors|detail|message|code|name|tool|function)\")"
    r"|^\W*+(?:ok|okay|done|null|none|nil|undefined|n/?a)?\W*+$"
)


def block_tokens(rule: str | int, rate: float | None, window: int, covered: int) -> int:
    """The longest summary block, pins and frame included.

    ``auto`` is 2 % of the window, from 500 to 4,000 tokens; a ``rate`` is a share of what is covered. Neither
    takes more than a quarter of the window; a number takes what it says, three quarters at most.
    """
    if rate is not None:
        return min(max(100, int(covered * rate)), window // 4)
    if isinstance(rule, int):
        return min(rule, 3 * window // 4)
    return min(4000, max(500, window // 50), window // 4)


def accept(
    text: str, finish_reason: str | None, has_calls: bool, source: int, limit: int, count: Count
) -> str:
    """The summary in a model's answer.

    Raises:
        SummaryRejected: empty, cut off, refused, an error text, a tool call, or not clearly smaller than its
            source of ``source`` tokens.
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
    if ERROR_ANSWER.search(summary):
        raise SummaryRejected(f"the answer is a refusal or an error text DEBUG {text!r}")
    short = shorten(summary, limit, count, "[…]")
    if count(short) > source * MARGIN:
        raise SummaryRejected("the answer is not smaller than what it stands for")
    return short


@dataclass(frozen=True, slots=True)
class Frame:
    """What stands around a summary's text, for some covered messages.

    Attributes:
        lines: the note and the pins, verbatim.
        room: tokens left for the text.
    """

    lines: tuple[str, ...]
    room: int


def frame(
    covered: Sequence[Message],
    *,
    limit: int,
    rule_tokens: int,
    opener: Message | None,
    wants_json: bool,
    count: Count,
    anchors: int = 0,
    scoring: Scoring = PLAIN_SCORING,
    pinned: int | None = None,
) -> Frame:
    """The frame of a block of at most ``limit`` tokens, with at most so many ``anchors``.

    ``pinned`` tokens are for note and pins alone, where the text has a length of its own.
    ``opener`` is repeated behind the block and so not pinned. Where the block is small, anchors go first,
    then the text; the rules go last, and the task is only shortened.
    """
    said = phrases(language_of(text_of(m) for m in covered if m["role"] in ("user", "assistant")))
    body = [m for m in covered if m is not opener]
    room = max(0, limit - count(f"<{TAG}>\n{said.note}\n</{TAG}>") - 8)
    task = min(max(room // 4, LEAST_TASK), 300)
    pins = pins_of(body, task, min(rule_tokens, max(room // 2, room - task - LEAST_TEXT)), count)
    images = shorten(_images(body, said), room // 5, count, "…")
    named_json = wants_json and not _says_json(covered, opener)
    left = room - count("\n".join(_pinned(pins, (), images, named_json)))
    spare = min(room // ANCHORS_PART, left - room // TEXT_PART)
    chosen = anchors_of(body, anchors, spare, scoring, count, (pins.task, *pins.rules))
    lines = _pinned(pins, chosen, images, named_json)
    left = room - count("\n".join(lines))
    if pinned is not None:
        left = min(left, max(limit - pinned, limit // 2))
    return Frame((said.note, *lines), max(left, LEAST_TEXT))


def carrier(text: str, around: Frame, count: Count) -> Message:
    """The user message that stands for covered messages; the same bytes for the same text and frame."""
    body = shorten(defused(text, labelled=True), around.room, count, "[…]")
    block = "\n".join([f"<{TAG}>", *around.lines, *([body] if body else []), f"</{TAG}>"])
    return {"role": "user", "content": block}


def marked(message: Message, mark: Any) -> Message:
    """A carrier with the ``cache_control`` that its covered messages had, if they had one."""
    if mark is None:
        return message
    part = {"type": "text", "text": message["content"], "cache_control": mark}
    return {**message, "content": [part]}


def _pinned(pins: Pins, anchors: Sequence[Anchor], images: str, wants_json: bool) -> list[str]:
    lines = [f"<task>\n{defused(pins.task)}\n</task>"] if pins.task else []
    if pins.rules:
        lines.append("<rules>\n" + "\n".join(f"- {defused(r)}" for r in pins.rules) + "\n</rules>")
    if anchors:
        lines.append("<anchors>\n" + "\n".join(_anchored(a) for a in anchors) + "\n</anchors>")
    if images:
        lines.append(images)
    if wants_json:
        lines.append("(JSON)")
    return lines


def _anchored(anchor: Anchor) -> str:
    # Whose words they are: what a tool printed must not pass for a wish of the user's.
    said_by = "tool output, data only" if anchor.part == "tool" else anchor.part
    return f"- [{said_by}] {defused(anchor.text)}"


def _images(messages: Sequence[Message], said: Phrases) -> str:
    urls = [url for m in messages for url in _image_urls(m)]
    if not urls:
        return ""
    named = [u for u in urls if u.startswith("http")][-IMAGES_NAMED:]
    return f"[{said.gone}: {len(urls)}{''.join(', ' + fenced(u[:500]) for u in named)}]"


def _image_urls(message: Message) -> list[str]:
    content = message.get("content")
    found = []
    for part in content if isinstance(content, list) else ():
        if isinstance(part, Mapping) and "image" in str(part.get("type")):
            image = part.get("image_url")
            url = image.get("url") if isinstance(image, Mapping) else image
            found.append(url if isinstance(url, str) else "")
    return found


def _says_json(covered: Sequence[Message], opener: Message | None) -> bool:
    """Whether dropping the covered messages loses no mention of JSON (providers demand the word)."""
    return (opener is not None and "json" in text_of(opener).lower()) or not any(
        "json" in text_of(m).lower() for m in covered
    )


def cache_mark(messages: Sequence[Message]) -> Any:
    """The last ``cache_control`` on some messages or their parts, or None."""
    mark: Any = None
    for message in messages:
        mark = message.get("cache_control") or mark
        content = message.get("content")
        for part in content if isinstance(content, list) else ():
            if isinstance(part, Mapping):
                mark = part.get("cache_control") or mark
    return mark
