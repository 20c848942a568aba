"""A model that needs no key and no network: it says what it was sent, and can be asked for a summary.

LiteLLM loads ``demo`` through ``custom_provider_map``. It shows at a glance whether a history was compacted
on its way, and lets the whole path, background summaries included, be tried without a provider.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

# Points tiktoken at the encodings that LiteLLM ships, so that counting needs no network.
import litellm.litellm_core_utils.default_encoding  # noqa: F401
from litellm.llms.custom_llm import CustomLLM
from litellm.types.llms.openai import ChatCompletionUsageBlock
from litellm.types.utils import Choices, GenericStreamingChunk, ModelResponse, Usage
from litellm.types.utils import Message as LiteLLMMessage

from gateway_compaction.core.conversation.messages import Message, declared_role, text_of
from gateway_compaction.core.summary.block import TAG
from gateway_compaction.core.summary.prompts import to_words
from gateway_compaction.core.text.sentences import split_sentences
from gateway_compaction.core.text.shorten import shorten
from gateway_compaction.core.tokens.counter import TokenCounter

__all__ = ["DemoModel", "demo"]

MODEL = "demo"
LINE_TOKENS, MOST_SENTENCES = 40, 2
TEXT_SHARE = 0.74
SUMMARY_TOKENS = 600
TRANSCRIPT = re.compile(r"(?s)<transcript>\n(.*)\n</transcript>(.*)")
ENTRY = re.compile(r"(?ms)^\[\d+\] (.*?)(?=\n\[\d+\] |\Z)")
SPOKEN = re.compile(r"(?s)(\w+)(?: [^:\n]{1,64})? wrote: (.*)")
CALLED = re.compile(r"(?s)(\w+ used the tool \S+) with (.*)")
RESULT = re.compile(r"(?s)result of a tool \([^)\n]*\): (.*)")
PREVIOUS = re.compile(r"(?s)<previous_summary>\n(.*?)\n</previous_summary>")
# Lines of a summary that are not the summariser's own.
ADDED = re.compile(r"identifiers: |\[…\]$")
LENGTH = re.compile(r"in (?:at most|about) (\d+) (words|characters)")
PIECE = re.compile(r"\S+\s*|\s+")


@dataclass(frozen=True, slots=True)
class _Answer:
    text: str
    finish_reason: str
    received: int
    written: int

    @property
    def usage(self) -> ChatCompletionUsageBlock:
        return {
            "prompt_tokens": self.received,
            "completion_tokens": self.written,
            "total_tokens": self.received + self.written,
        }


class DemoModel(CustomLLM):
    """Answers with a description of what it received; an order for a summary with what was said in turn."""

    def __init__(self) -> None:
        super().__init__()
        self._counter = TokenCounter()

    async def acompletion(self, *args: Any, **kwargs: Any) -> ModelResponse:
        """Answer in one piece."""
        answer = self._answer(kwargs["messages"], kwargs["optional_params"])
        response: ModelResponse = kwargs["model_response"]
        message = LiteLLMMessage(content=answer.text, role="assistant")
        response.choices = [Choices(finish_reason=answer.finish_reason, index=0, message=message)]
        response.model = MODEL
        # ModelResponse takes a usage, but declares none.
        setattr(response, "usage", Usage(**answer.usage))  # noqa: B010
        return response

    # LiteLLM declares a coroutine and iterates over what it is given: an async generator is meant.
    async def astreaming(  # type: ignore[override]
        self, *args: Any, **kwargs: Any
    ) -> AsyncIterator[GenericStreamingChunk]:
        """Answer word by word; the usage comes with the last piece."""
        answer = self._answer(kwargs["messages"], kwargs["optional_params"])
        for piece in PIECE.findall(answer.text):
            yield _chunk(piece)
        yield _chunk("", finish_reason=answer.finish_reason, usage=answer.usage)

    def _answer(self, messages: Sequence[Message], params: Mapping[str, Any]) -> _Answer:
        received = self._counter.raw_prompt_tokens(messages, params, MODEL)
        limit = params.get("max_completion_tokens") or params.get("max_tokens")
        order = _order(messages)
        if order is None:
            text = self._description(messages, received)
        else:
            text = self._summary(order, min(SUMMARY_TOKENS, limit or SUMMARY_TOKENS))
        written = self._count(text)
        if limit and written > limit:
            return _Answer(text[: len(text) * limit // written], "length", received, limit)
        return _Answer(text, "stop", received, written)

    def _description(self, messages: Sequence[Message], received: int) -> str:
        number = f"{len(messages)} message{'' if len(messages) == 1 else 's'}"
        summaries = sum(f"<{TAG}>" in text_of(m) for m in messages)
        found = f"{summaries} of them a summary of earlier ones" if summaries else "none of them a summary"
        questions = [text_of(m).strip() for m in messages if declared_role(m) == "user"]
        first_line = next(iter(questions[-1].splitlines()), "") if questions else ""
        return (
            "This is the demo model: it reports what it was sent and understands nothing."
            f" It received {number}, about {received:,} tokens; {found}."
            f" Your last message begins: {self._short(first_line) or '(no text)'}"
        )

    def _summary(self, order: str, max_tokens: int) -> str:
        """A line for each turn of the order's transcript, as far as they fit; room for the tags around it."""
        shown, asked = _parted(order)
        previous = PREVIOUS.search(order)
        old = [line for line in previous[1].splitlines() if not ADDED.match(line)] if previous else []
        fits = partial(self._fits, LENGTH.search(asked), max_tokens - 20)
        for most in (MOST_SENTENCES, 1):
            lines = [*old, *self._told(ENTRY.findall(shown), most)]
            lines = list(dict.fromkeys(line for line in lines if line.strip()))
            if fits("\n".join(lines)):
                break
        number = len(lines)
        while number > 1 and not fits("\n".join(_spread(lines, number))):
            number -= 1
        text = "\n".join(_spread(lines, number))
        while not fits(text):
            text = f"{text.rstrip('…')[:-1].rstrip()}…" if len(text) > 2 else ""
        return f"<summary>\n{text}\n</summary>"

    def _told(self, entries: Sequence[str], most: int) -> list[str]:
        """What a transcript tells, in plain sentences; an answer on the line of its question."""
        lines: list[str] = []
        for entry in entries:
            spoken, called, result = SPOKEN.match(entry), CALLED.match(entry), RESULT.match(entry)
            if spoken and spoken[1] == "assistant":
                _append(lines, f"The assistant answered: {self._lead(spoken[2], most)}")
            elif spoken:
                verb = "asked" if "?" in spoken[2] else "said"
                lines.append(f"The {spoken[1]} {verb}: {self._lead(spoken[2], most)}")
            elif called:
                lines.append(f"The {called[1]} with {self._short(called[2]).rstrip('.')}.")
            elif result:
                _append(lines, f"It returned: {self._lead(result[1], most)}")
            else:
                lines += [] if ADDED.match(entry) else [entry]
        return lines

    def _fits(self, length: re.Match[str] | None, max_tokens: int, text: str) -> bool:
        tokens = self._count(text)
        if not text or tokens > max_tokens or length is None:
            return not text or tokens <= max_tokens
        # A quarter is left for the identifiers that whoever asks adds behind the text.
        most = int(length[1]) * TEXT_SHARE
        if length[2] == "characters":
            return len(text) <= most
        # Text full of numbers has more tokens to a word than whoever asks reckons with.
        return len(text.split()) <= most and tokens * to_words(1_000) / 1_000 <= most

    def _lead(self, text: str, most: int) -> str:
        """The first sentences, whole ones where that is possible."""
        first, *more = split_sentences(text) or [""]
        told = self._short(first)
        for sentence in more[: most - 1]:
            if self._count(f"{told} {sentence}") > LINE_TOKENS:
                break
            told = f"{told} {sentence}"
        return told

    def _short(self, line: str) -> str:
        """One line of it, cut between two words where it is long."""
        words = line.split()
        # No word has less than a token.
        for number in range(min(len(words), LINE_TOKENS), 0, -1):
            told = " ".join(words[:number]) + ("" if number == len(words) else "…")
            if self._count(told) <= LINE_TOKENS:
                return told
        # A text without spaces is cut between two characters.
        return shorten(line, LINE_TOKENS, self._count, "…").replace("\n", " ")

    def _count(self, text: str) -> int:
        return self._counter.raw_tokens(text, MODEL)


def _order(messages: Sequence[Message]) -> str | None:
    """The text that asks for a summary, if that is what was asked for."""
    asked = text_of(messages[-1]) if messages else ""
    return asked if "<transcript>" in asked and "<summary>" in asked else None


def _parted(order: str) -> tuple[str, str]:
    """The transcript in an order, and what is asked behind it."""
    found = TRANSCRIPT.search(order)
    return (found[1], found[2]) if found else ("", order)


def _append(lines: list[str], sentence: str) -> None:
    lines[-1:] = [f"{lines[-1]} {sentence}"] if lines else [sentence]


def _spread(lines: Sequence[str], number: int) -> list[str]:
    """So many of the lines, the first and the last among them, and the others evenly between."""
    if number >= len(lines):
        return list(lines)
    step = (len(lines) - 1) / max(1, number - 1)
    return [lines[round(i * step)] for i in range(number)]


def _chunk(
    text: str, *, finish_reason: str = "", usage: ChatCompletionUsageBlock | None = None
) -> GenericStreamingChunk:
    return {
        "text": text,
        "tool_use": None,
        "is_finished": bool(finish_reason),
        "finish_reason": finish_reason,
        "usage": usage,
        "index": 0,
    }


demo = DemoModel()
