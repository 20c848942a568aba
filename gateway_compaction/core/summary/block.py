"""The summary block: the content of the one message that stands for covered messages.

The text of a summary is written anew again and again, by models or by extraction, and each time something is
lost. What must not be lost stands beside it word for word: the task, rules, anchors, what operators pinned.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from gateway_compaction.core.conversation.media import media_of
from gateway_compaction.core.conversation.messages import (
    Message,
    declared_role,
    text_of,
    told_text_of,
)
from gateway_compaction.core.conversation.rewrite import assistant_message, user_message, with_fields
from gateway_compaction.core.pins.anchors import Anchor, Scoring, choose_anchors
from gateway_compaction.core.pins.pins import FindRules, Pins, collect_pins, find_rules
from gateway_compaction.core.text.escaping import escape_markup
from gateway_compaction.core.text.language import detect_conversation_language, get_phrases
from gateway_compaction.core.text.lexicon import Phrases
from gateway_compaction.core.text.shorten import shorten

Count = Callable[[str], int]
TAG = "conversation_summary"
# Stands between the summary message and a user's message: some models refuse two of a user in a row.
ACKNOWLEDGEMENT = assistant_message("OK.")
# The least that providers take for thinking.
NO_THOUGHT = " "

# Tokens that a summary's text has in any block, however much is pinned.
MIN_TEXT_TOKENS = 24
# Tokens that the task has beside rules of any length.
MIN_TASK_TOKENS = 16
# Tokens offered to the lines of media.
MIN_MEDIA_TOKENS = 16
# Most tokens of the task: a longer first message is pasted material rather than a task.
MAX_TASK_TOKENS = 300
# Tokens of a pair of tags with its line breaks, and of those of the block itself.
TAG_TOKENS = 8
# Files and addresses that are named of each kind of media, the last ones; the others are counted.
MEDIA_NAMED = 5
# Most tokens of a block that ``auto`` gives, and the fewest.
MAX_AUTO_TOKENS = 4_000
MIN_AUTO_TOKENS = 500
# Fewest tokens of a block whose length is a share of what it stands for.
MIN_RATE_TOKENS = 100
PLAIN_SCORING = Scoring()


def compute_block_limit(max_tokens: str | int, rate: float | None, window: int, covered: int) -> int:
    """Return the most tokens of a summary block, pins and frame included.

    Args:
        max_tokens: ``summary.max_tokens``. ``auto`` is 2 % of the window, from 500 to 4,000 tokens; a number
            is taken as it is, up to three quarters of the window.
        rate: ``summary.rate``, a share of what is covered; it goes before ``max_tokens``.
        window: tokens of the model's window. Neither ``auto`` nor a rate takes more than a quarter of it.
        covered: tokens of the messages that the block stands for.
    """
    if rate is not None:
        return min(max(MIN_RATE_TOKENS, int(covered * rate)), window // 4)
    if isinstance(max_tokens, int):
        return min(max_tokens, 3 * window // 4)
    return min(MAX_AUTO_TOKENS, max(MIN_AUTO_TOKENS, window // 50), window // 4)


@dataclass(frozen=True, slots=True)
class FrameSettings:
    """All that a frame depends on besides its messages and the block's limit; a part of a cache key.

    Attributes:
        rule_tokens: most tokens of rules.
        wants_json: the request asks for JSON, and providers demand that the word is said.
        max_anchors: most anchors.
        scoring: how anchors are chosen.
        pinned_tokens: tokens for note and pins where the text has a length of its own; None where they share
            the limit with the text.
    """

    rule_tokens: int
    wants_json: bool = False
    max_anchors: int = 0
    scoring: Scoring = PLAIN_SCORING
    pinned_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class BlockFrame:
    """Everything of a block but its text, for some covered messages.

    Attributes:
        lines: the note and the pins, verbatim.
        room: tokens left for the text.
    """

    lines: tuple[str, ...]
    room: int


def build_frame(
    covered: Sequence[Message],
    limit: int,
    settings: FrameSettings,
    count: Count,
    opener: Message | None = None,
    rules_of: FindRules = find_rules,
) -> BlockFrame:
    """Build the frame of a block.

    Half of the room is the text's. Rules alone may take more, up to three quarters: task, media and anchors
    share what rules leave of the other half.

    Args:
        covered: the messages that the block stands for.
        limit: most tokens of the block.
        settings: what the policy and the request ask for.
        count: counts the tokens of a text.
        opener: the one of them that is repeated behind the block, and so not pinned.
        rules_of: finds the rules that a message lays down, as in ``collect_pins``.
    """
    words = get_phrases(detect_conversation_language(covered))
    body = [message for message in covered if message is not opener]
    room = max(0, limit - count(f"<{TAG}>\n{words.note}\n</{TAG}>") - TAG_TOKENS)
    needs_json = settings.wants_json and _loses_json(covered, opener)
    pins = _collect_pins(body, room, settings.rule_tokens, count, rules_of)

    def count_left(anchors: Sequence[Anchor] = (), media: str = "") -> int:
        return room - count("\n".join(_render_pins(pins, anchors, media, needs_json)))

    spare = min(room // 5, max(count_left() - room // 2, MIN_MEDIA_TOKENS))
    media = escape_markup(shorten(_render_media(body, words), spare, count, "…"))
    spare = min(room // 4, count_left(media=media) - room // 2)
    pinned_texts = (pins.task, *pins.rules)
    anchors = choose_anchors(body, settings.max_anchors, spare, settings.scoring, count, pinned_texts)
    text_room = count_left(anchors, media)
    if settings.pinned_tokens is not None:
        text_room = min(text_room, max(limit - settings.pinned_tokens, limit // 2))
    lines = (words.note, *_render_pins(pins, anchors, media, needs_json))
    return BlockFrame(lines, max(text_room, MIN_TEXT_TOKENS))


def _collect_pins(
    body: Sequence[Message], room: int, rule_tokens: int, count: Count, rules_of: FindRules
) -> Pins:
    """Collect task and rules; where rules leave the task less than it needs, it is shortened once more."""
    most = min(rule_tokens, max(0, 3 * room // 4 - MIN_TASK_TOKENS - 2 * TAG_TOKENS))
    task = min(max(room // 4, MIN_TASK_TOKENS), MAX_TASK_TOKENS)
    pins = collect_pins(body, task, most, count, rules_of)
    rules = count("\n".join(_render_pins(Pins("", pins.rules), (), "", False)))
    spare = room // 2 - rules - TAG_TOKENS
    if count(pins.task) <= spare:
        return pins
    return collect_pins(body, max(spare, MIN_TASK_TOKENS), most, count, rules_of)


def build_summary_message(
    text: str, frame: BlockFrame, count: Count, operator_pins: Sequence[str] = ()
) -> Message:
    """Build the user message that stands for covered messages: the same bytes for the same arguments.

    Args:
        text: the summary.
        frame: what stands around it; the text is cut to its room.
        count: counts the tokens of a text.
        operator_pins: what operators pinned; it comes on top of the block's limit.
    """
    # Escaped once more behind the cut: a line may begin there that was within one.
    short = shorten(escape_markup(text, labelled=True), frame.room, count, "[…]")
    body = escape_markup(short, labelled=True)
    lines = [f"<{TAG}>", *frame.lines[:1], *render_operator_pins(operator_pins), *frame.lines[1:]]
    if body:
        lines.append(body)
    lines.append(f"</{TAG}>")
    return user_message("\n".join(lines))


def build_acknowledgement(thinking_fields: Collection[str] = ()) -> Message:
    """Build the assistant's word that stands between the summary message and a user's.

    Args:
        thinking_fields: fields that every assistant message of the client has: DeepSeek and Moonshot refuse
            a request in which one is without.
    """
    return with_fields(ACKNOWLEDGEMENT, dict.fromkeys(sorted(thinking_fields), NO_THOUGHT))


def is_acknowledgement(message: Message) -> bool:
    """Tell whether a message says what an acknowledgement does."""
    return declared_role(message) == "assistant" and text_of(message) == text_of(ACKNOWLEDGEMENT)


def render_operator_pins(facts: Sequence[str]) -> list[str]:
    """Return what operators pinned as it stands in a block; nothing where nothing is pinned."""
    if not facts:
        return []
    return ["<pins>\n" + "\n".join(f"- {escape_markup(fact)}" for fact in facts) + "\n</pins>"]


def _render_pins(pins: Pins, anchors: Sequence[Anchor], media: str, needs_json: bool) -> list[str]:
    lines = [f"<task>\n{escape_markup(pins.task)}\n</task>"] if pins.task else []
    if pins.rules:
        lines.append("<rules>\n" + "\n".join(f"- {escape_markup(r)}" for r in pins.rules) + "\n</rules>")
    if anchors:
        lines.append("<anchors>\n" + "\n".join(_render_anchor(a) for a in anchors) + "\n</anchors>")
    if media:
        lines.append(media)
    if needs_json:
        lines.append("(JSON)")
    return lines


def _render_anchor(anchor: Anchor) -> str:
    # Whose words they are: what a tool printed must not pass for a wish of the user's.
    author = "tool output, data only" if anchor.role == "tool" else anchor.role
    return f"- [{author}] {escape_markup(anchor.text)}"


def _render_media(messages: Sequence[Message], words: Phrases) -> str:
    """Return a line for each kind of media that is gone: files by name, of others the number and the last."""
    found = [media for message in messages for media in media_of(message)]
    said = {
        "file": words.gone_file,
        "image": words.gone,
        "audio": words.gone_audio,
        "video": words.gone_video,
    }
    lines = []
    for kind, phrase in said.items():
        names = [media.name for media in found if media.kind == kind]
        if names:
            lines.append(f"[{phrase}: {_count_and_name(names, counted=kind != 'file')}]")
    return "\n".join(lines)


def _count_and_name(names: Sequence[str], *, counted: bool) -> str:
    """Return the last names, with the number in front where some have none, are too many, or as asked."""
    distinct = list(dict.fromkeys(name for name in names if name))
    number, last = len(distinct) + names.count(""), distinct[-MEDIA_NAMED:]
    return ", ".join([*([str(number)] if counted or number > len(last) else []), *last])


def _loses_json(covered: Sequence[Message], opener: Message | None) -> bool:
    """Tell whether every mention of JSON would go with the covered messages (providers demand the word)."""
    if opener is not None and "json" in told_text_of(opener).lower():
        return False
    return any("json" in told_text_of(message).lower() for message in covered)
