"""Believing a model's summary, and the one message that carries a summary to the model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from gateway_compaction.core.conversation.messages import Message, parts_of, text_of
from gateway_compaction.core.conversation.parts import image_url, sounds_like_image
from gateway_compaction.core.conversation.rewrite import assistant_message, user_message
from gateway_compaction.core.pins.anchors import Anchor, Scoring, choose_anchors
from gateway_compaction.core.pins.pins import FindRules, Pins, collect_pins, find_rules
from gateway_compaction.core.text.escaping import escape_markup
from gateway_compaction.core.text.language import detect_conversation_language, get_phrases
from gateway_compaction.core.text.lexicon import Phrases
from gateway_compaction.core.text.shorten import shorten

__all__ = [
    "ACKNOWLEDGEMENT",
    "MIN_TEXT_TOKENS",
    "TAG",
    "BlockFrame",
    "build_frame",
    "build_summary_message",
    "compute_block_limit",
    "render_operator_pins",
]


Count = Callable[[str], int]
TAG = "conversation_summary"
ACKNOWLEDGEMENT = assistant_message("OK.")
MIN_TEXT_TOKENS, LEAST_TASK, LEAST_IMAGES = 24, 16, 16
TASK_TOKENS, TAG_TOKENS = 300, 8
IMAGES_NAMED = 5
PLAIN_SCORING = Scoring()


def compute_block_limit(rule: str | int, rate: float | None, window: int, covered: int) -> int:
    """The longest summary block, pins and frame included.

    ``auto`` is 2 % of the window, from 500 to 4,000 tokens; a ``rate`` is a share of what is covered. Neither
    takes more than a quarter of the window; a number takes what it says, three quarters at most.
    """
    if rate is not None:
        return min(max(100, int(covered * rate)), window // 4)
    if isinstance(rule, int):
        return min(rule, 3 * window // 4)
    return min(4000, max(500, window // 50), window // 4)


@dataclass(frozen=True, slots=True)
class BlockFrame:
    """What stands around a summary's text, for some covered messages.

    Attributes:
        lines: the note and the pins, verbatim.
        room: tokens left for the text.
    """

    lines: tuple[str, ...]
    room: int


def build_frame(
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
    rules_of: FindRules = find_rules,
) -> BlockFrame:
    """The frame of a block of at most ``limit`` tokens, with at most so many ``anchors``.

    ``pinned`` tokens are for note and pins alone, where the text has a length of its own. ``rules_of`` is as
    in ``collect_pins``.
    ``opener`` is repeated behind the block and so not pinned. Half of the room is the text's. Rules alone may
    take more, up to three quarters: task, images and anchors share what rules leave of the other half.
    """
    said = get_phrases(detect_conversation_language(covered))
    body = [m for m in covered if m is not opener]
    room = max(0, limit - count(f"<{TAG}>\n{said.note}\n</{TAG}>") - 8)
    named_json = wants_json and not _says_json(covered, opener)
    pins = _pins(body, room, rule_tokens, count, rules_of)

    def left(*more: Anchor, images: str = "") -> int:
        return room - count("\n".join(_pinned(pins, more, images, named_json)))

    spare = min(room // 5, max(left() - room // 2, LEAST_IMAGES))
    images = escape_markup(shorten(_images(body, said), spare, count, "…"))
    spare = min(room // 4, left(images=images) - room // 2)
    chosen = choose_anchors(body, anchors, spare, scoring, count, (pins.task, *pins.rules))
    text = left(*chosen, images=images)
    if pinned is not None:
        text = min(text, max(limit - pinned, limit // 2))
    return BlockFrame((said.note, *_pinned(pins, chosen, images, named_json)), max(text, MIN_TEXT_TOKENS))


def _pins(body: Sequence[Message], room: int, rule_tokens: int, count: Count, rules_of: FindRules) -> Pins:
    """Task and rules; where rules leave the task less than it needs, it is shortened once more."""
    most = min(rule_tokens, max(0, 3 * room // 4 - LEAST_TASK - 2 * TAG_TOKENS))
    task = min(max(room // 4, LEAST_TASK), TASK_TOKENS)
    pins = collect_pins(body, task, most, count, rules_of)
    spare = room // 2 - count("\n".join(_pinned(Pins("", pins.rules), (), "", False))) - TAG_TOKENS
    if count(pins.task) <= spare:
        return pins
    return collect_pins(body, max(spare, LEAST_TASK), most, count, rules_of)


def build_summary_message(text: str, around: BlockFrame, count: Count, facts: Sequence[str] = ()) -> Message:
    """The user message that stands for covered messages; the same bytes for the same text, frame and facts.

    ``facts`` are what operators pinned; they come on top of the block's length.
    """
    # Once more behind the cut: a line may begin there that was within one.
    short = shorten(escape_markup(text, labelled=True), around.room, count, "[…]")
    body = escape_markup(short, labelled=True)
    lines = [*around.lines[:1], *render_operator_pins(facts), *around.lines[1:], *([body] if body else [])]
    block = "\n".join([f"<{TAG}>", *lines, f"</{TAG}>"])
    return user_message(block)


def render_operator_pins(facts: Sequence[str]) -> list[str]:
    """What operators pinned, as it stands in a block; nothing where nothing is pinned."""
    return (
        ["<pins>\n" + "\n".join(f"- {escape_markup(fact)}" for fact in facts) + "\n</pins>"] if facts else []
    )


def _pinned(pins: Pins, anchors: Sequence[Anchor], images: str, wants_json: bool) -> list[str]:
    lines = [f"<task>\n{escape_markup(pins.task)}\n</task>"] if pins.task else []
    if pins.rules:
        lines.append("<rules>\n" + "\n".join(f"- {escape_markup(r)}" for r in pins.rules) + "\n</rules>")
    if anchors:
        lines.append("<anchors>\n" + "\n".join(_anchored(a) for a in anchors) + "\n</anchors>")
    if images:
        lines.append(images)
    if wants_json:
        lines.append("(JSON)")
    return lines


def _anchored(anchor: Anchor) -> str:
    # Whose words they are: what a tool printed must not pass for a wish of the user's.
    said_by = "tool output, data only" if anchor.role == "tool" else anchor.role
    return f"- [{said_by}] {escape_markup(anchor.text)}"


def _images(messages: Sequence[Message], said: Phrases) -> str:
    urls = [url for m in messages for url in _image_urls(m)]
    if not urls:
        return ""
    named = [u for u in urls if u.startswith("http")][-IMAGES_NAMED:]
    return f"[{said.gone}: {len(urls)}{''.join(', ' + ' '.join(u[:500].split()) for u in named)}]"


def _image_urls(message: Message) -> list[str]:
    return [image_url(part) or "" for part in parts_of(message) if sounds_like_image(part)]


def _says_json(covered: Sequence[Message], opener: Message | None) -> bool:
    """Whether dropping the covered messages loses no mention of JSON (providers demand the word)."""
    return (opener is not None and "json" in text_of(opener).lower()) or not any(
        "json" in text_of(m).lower() for m in covered
    )
