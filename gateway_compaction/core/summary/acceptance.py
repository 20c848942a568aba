"""The judgement of a summariser's answers: taken as a summary, or rejected for a reason.

Whatever is accepted stands for the conversation from then on, and what it stands for is sent no more. A
refusal, an error text or a question in its place would be the end of the conversation's memory, so an answer
is judged by its form before it is believed.

A summary may begin like a refusal or an error ("Rate limiting was added to the gateway …"), so what a text
begins with counts only where the whole of it is short. In the tags that were asked for an answer is believed
sooner. The word lists stand in ``core.text.lexicon``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Protocol

import regex

from gateway_compaction.core.conversation.visible_text import remove_thinking
from gateway_compaction.core.text.language import is_foreign_script
from gateway_compaction.core.text.lexicon import pattern_of
from gateway_compaction.core.text.questions import begins_as_question, ends_with_question_mark
from gateway_compaction.core.text.shorten import shorten
from gateway_compaction.errors import SummaryRejected

Count = Callable[[str], int]


@dataclass(frozen=True, slots=True)
class _ByTags:
    """A limit that depends on whether the answer stood in the tags that were asked for."""

    untagged: int
    tagged: int

    def __getitem__(self, tagged: bool) -> int:
        return self.tagged if tagged else self.untagged


# A summary of more than this share of its source's tokens saves nothing worth a call.
MOST_OF_SOURCE = 0.9

# Lengths in UTF-8 bytes: a Chinese character says as much as three English ones.
# Longer texts that begin like a refusal or end in a question may be summaries.
SHORT_REFUSAL = _ByTags(untagged=1_000, tagged=300)
SHORT_QUESTION = _ByTags(untagged=1_000, tagged=300)
SHORT_ERROR = _ByTags(untagged=400, tagged=160)
# An answer of fewer words is believed only where it is a fair part of what it stands for.
FEWEST_WORDS = _ByTags(untagged=6, tagged=2)
FAIR_PART = 0.05
# So many words, or letters, of no more than two kinds are no text.
STUTTER_WORDS = 8
STUTTER_LETTERS = 24
STUTTER_KINDS = 2

# Reasons to end before the answer was whole, as providers name them: for want of room, and others.
CUT_OFF = frozenset(("length", "max_tokens"))
UNFINISHED = CUT_OFF | {"content_filter", "tool_calls", "function_call"}
# The reasons of a rejection, as logs and events show them.
CALLS_A_TOOL = "the answer is a tool call"
IS_EMPTY = "the answer is empty"
IS_NO_SUMMARY = "the answer is a refusal or an error text"
IS_NOT_SMALLER = "the answer is not smaller than what it stands for"
IS_A_QUESTION = "the answer is a question"
SAYS_TOO_LITTLE = "the answer says too little"
IS_FOREIGN = "the answer is in another script than the conversation"

SUMMARY_TAGS = regex.compile(r"(?is)<summary>(.*?)(?:</summary>|\Z)")
# Thinking for which there was no room to end; what has ended is taken out before.
UNCLOSED_THINKING = regex.compile(r"(?is)<think(?:ing)?>.*")

ANSWER_START = rf"(?i)^\W*+(?:{pattern_of('answer_labels')}\b\W++)?"
# What a program printed, whole; without tags it is never a summary, however long.
PRINTED = (
    r"(?:traceback \(most recent call last\)|traceback\W*+$|<!doctype\b|<html\b"
    r"|[\[{]\s*+(?:[\[{]\s*+)?\"(?:error|errors|detail|message|code|name|tool|function)\")"
)
NOTHING = regex.compile(rf"(?i)^\W*+{pattern_of('nothing')}?\W*+$")
REFUSAL = regex.compile(ANSWER_START + pattern_of("refusals"))
ERROR_TEXT = regex.compile(ANSWER_START + pattern_of("errors"))
PRINTED_TEXT = regex.compile(rf"(?i)^[^\w<\[{{]*+{PRINTED}")

# What is behind the last of these was cut off in the middle.
SENTENCE_END = regex.compile(r"[.!?]++[\"'”’»)\]]*+(?=\s|$)|[。！？]++[」』”]?|\n")
SENTENCE = regex.compile(r"[^.!?。！？\n]++[.!?。！？]*+")
READER = regex.compile(f"(?i){pattern_of('reader')}")
# Two or three characters of these scripts say as much as a word.
WORD = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}]{1,2}+|\p{Hangul}{1,3}+|\w++")


class Answer(Protocol):
    """An answer of a summariser, as far as it is judged here (see ``ports.SummaryAnswer``)."""

    @property
    def text(self) -> str:
        """The text of the answer."""
        ...

    @property
    def finish_reason(self) -> str | None:
        """The provider's reason to end."""
        ...

    @property
    def has_tool_calls(self) -> bool:
        """If the model called a tool."""
        ...


def accept_summary(
    answer: Answer,
    source_tokens: int,
    limit: int,
    count: Count,
    source_texts: Iterable[str] = (),
    *,
    may_be_cut_off: bool = False,
) -> str:
    """Return the summary in a model's answer, cut to ``limit`` tokens.

    Args:
        answer: the answer, unjudged.
        source_tokens: tokens of what the summary is to stand for.
        limit: most tokens of the summary.
        count: counts the tokens of a text.
        source_texts: what the summary is to stand for, where its script is to be the summary's own; empty
            where an operator's prompt may ask for another language.
        may_be_cut_off: take an answer for which there was no room as far as its last whole sentence: its
            model never ends in time, and without any summary the conversation has no memory.

    Raises:
        SummaryRejected: empty, cut off, refused, an error text, a tool call, not clearly smaller than its
            source, a question, or no text that could stand for it.
    """
    is_cut_off = answer.finish_reason in CUT_OFF
    if answer.finish_reason in UNFINISHED and not (is_cut_off and may_be_cut_off):
        raise SummaryRejected(f"finish_reason is {answer.finish_reason}")
    if answer.has_tool_calls:
        raise SummaryRejected(CALLS_A_TOOL)
    spoken = UNCLOSED_THINKING.sub("", remove_thinking(answer.text))
    match = SUMMARY_TAGS.search(spoken)
    tagged = match is not None
    body = match.group(1) if match else spoken
    summary = body.encode("utf-8", "replace").decode("utf-8").strip()
    if is_cut_off:
        summary = _keep_whole_sentences(summary)
    if not summary:
        raise SummaryRejected(IS_EMPTY)
    if _is_no_summary(summary, tagged):
        raise SummaryRejected(IS_NO_SUMMARY)
    short = shorten(summary, limit, count, "[…]")
    tokens = count(short)
    if tokens > source_tokens * MOST_OF_SOURCE:
        raise SummaryRejected(IS_NOT_SMALLER)
    if _is_question(summary, tagged):
        raise SummaryRejected(IS_A_QUESTION)
    if _is_stutter(summary) or _says_too_little(summary, tokens / source_tokens, tagged):
        raise SummaryRejected(SAYS_TOO_LITTLE)
    if is_foreign_script(summary, source_texts):
        raise SummaryRejected(IS_FOREIGN)
    return short


def _keep_whole_sentences(text: str) -> str:
    """Return a text up to the end of its last whole sentence or line; empty where there is none."""
    ends = [match.end() for match in SENTENCE_END.finditer(text)]
    return text[: ends[-1]].strip() if ends else ""


def _count_bytes(text: str) -> int:
    return len(text.encode("utf-8", "replace"))


def _is_no_summary(text: str, tagged: bool) -> bool:
    """Tell whether a text is a refusal, an error text or next to nothing."""
    size = _count_bytes(text)
    return bool(
        NOTHING.match(text)
        or (size <= SHORT_REFUSAL[tagged] and REFUSAL.match(text))
        or (size <= SHORT_ERROR[tagged] and ERROR_TEXT.match(text))
        or ((size <= SHORT_REFUSAL[tagged] or not tagged) and PRINTED_TEXT.match(text))
    )


def _is_question(text: str, tagged: bool) -> bool:
    """Tell whether a text, short as a whole, ends by asking who wanted a summary."""
    if _count_bytes(text) > SHORT_QUESTION[tagged] or not ends_with_question_mark(text):
        return False
    sentences = [sentence.strip() for sentence in SENTENCE.findall(text) if WORD.search(sentence)]
    if not sentences or not begins_as_question(sentences[-1]):
        return False
    return len(sentences) == 1 or READER.search(sentences[-1]) is not None


def _is_stutter(text: str) -> bool:
    """Tell whether a text is one or two words, or letters, over and over."""
    words = WORD.findall(text.lower())
    letters = "".join(words)
    has_few_words = len(words) >= STUTTER_WORDS and len(set(words)) <= STUTTER_KINDS
    return has_few_words or (len(letters) >= STUTTER_LETTERS and len(set(letters)) <= STUTTER_KINDS)


def _says_too_little(text: str, share: float, tagged: bool) -> bool:
    """Tell whether a text, a small ``share`` of what it stands for, has too few words to stand for it."""
    return share < FAIR_PART and len(WORD.findall(text)) < FEWEST_WORDS[tagged]
