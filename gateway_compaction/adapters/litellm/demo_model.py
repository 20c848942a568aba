"""A model that needs no key and no network: it says what it was sent, and can be asked for a summary.

LiteLLM loads ``demo`` through ``custom_provider_map``. It shows at a glance whether a history was compacted
on its way, and lets the whole path, background summaries included, be tried without a provider.

Relies on LiteLLM 1.108: ``acompletion`` of a ``CustomLLM`` is handed a ``model_response`` to fill, and
``astreaming`` is iterated over without being awaited. Should that change, only the demo model is broken.
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

# The name that it answers under, and counts tokens by.
MODEL = "demo"

# Tokens and sentences of a turn, in a line of a summary.
LINE_TOKENS = 40
MOST_SENTENCES = 2

# The text's share of the length that was asked for. The rest is left for the identifiers that whoever asks
# adds behind it.
TEXT_SHARE = 0.74

# Tokens of a summary, whatever else is asked for.
SUMMARY_TOKENS = 600

# Tokens that are left for the tags around a summary.
TAG_TOKENS = 20

# The parts of an order for a summary; ``core.summary.prompts`` writes them.
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
    """A text, and how many tokens were received and written for it."""

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
    """Describes what it received; to an order for a summary it answers with what was said, turn by turn."""

    def __init__(self) -> None:
        super().__init__()
        self._counter = TokenCounter()

    async def acompletion(self, *args: Any, **kwargs: Any) -> ModelResponse:
        """Answer in one piece."""
        answer = self._build_answer(kwargs["messages"], kwargs["optional_params"])
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
        answer = self._build_answer(kwargs["messages"], kwargs["optional_params"])
        for piece in PIECE.findall(answer.text):
            yield _build_chunk(piece)
        yield _build_chunk("", finish_reason=answer.finish_reason, usage=answer.usage)

    def _build_answer(self, messages: Sequence[Message], params: Mapping[str, Any]) -> _Answer:
        received = self._counter.raw_prompt_tokens(messages, params, MODEL)
        limit = params.get("max_completion_tokens") or params.get("max_tokens")
        order = _find_order(messages)
        if order is None:
            text = self._describe(messages, received)
        else:
            text = self._summarize(order, min(SUMMARY_TOKENS, limit or SUMMARY_TOKENS))
        written = self._count(text)
        if limit and written > limit:
            return _Answer(text[: len(text) * limit // written], "length", received, limit)
        return _Answer(text, "stop", received, written)

    def _describe(self, messages: Sequence[Message], received: int) -> str:
        number = f"{len(messages)} message{'' if len(messages) == 1 else 's'}"
        summaries = sum(f"<{TAG}>" in text_of(m) for m in messages)
        share = f"{summaries} of them a summary of earlier ones" if summaries else "none of them a summary"
        questions = [text_of(m).strip() for m in messages if declared_role(m) == "user"]
        first_line = next(iter(questions[-1].splitlines()), "") if questions else ""
        return (
            "This is the demo model: it reports what it was sent and understands nothing."
            f" It received {number}, about {received:,} tokens; {share}."
            f" Your last message begins: {self._shorten(first_line) or '(no text)'}"
        )

    def _summarize(self, order: str, max_tokens: int) -> str:
        """Return a line for each turn of an order's transcript, as many as fit, in tags."""
        transcript, request = _split_order(order)
        previous = PREVIOUS.search(order)
        old = [line for line in previous[1].splitlines() if not ADDED.match(line)] if previous else []
        fits = partial(self._fits, LENGTH.search(request), max_tokens - TAG_TOKENS)
        for most in (MOST_SENTENCES, 1):
            lines = [*old, *self._write_lines(ENTRY.findall(transcript), most)]
            lines = list(dict.fromkeys(line for line in lines if line.strip()))
            if fits("\n".join(lines)):
                break
        number = len(lines)
        while number > 1 and not fits("\n".join(_spread_lines(lines, number))):
            number -= 1
        text = "\n".join(_spread_lines(lines, number))
        while not fits(text):
            text = f"{text.rstrip('…')[:-1].rstrip()}…" if len(text) > 2 else ""
        return f"<summary>\n{text}\n</summary>"

    def _write_lines(self, entries: Sequence[str], most: int) -> list[str]:
        """Return the entries of a transcript in plain sentences; an answer on the line of its question."""
        lines: list[str] = []
        for entry in entries:
            spoken, called, result = SPOKEN.match(entry), CALLED.match(entry), RESULT.match(entry)
            if spoken and spoken[1] == "assistant":
                _append_sentence(lines, f"The assistant answered: {self._take_lead(spoken[2], most)}")
            elif spoken:
                verb = "asked" if "?" in spoken[2] else "said"
                lines.append(f"The {spoken[1]} {verb}: {self._take_lead(spoken[2], most)}")
            elif called:
                lines.append(f"The {called[1]} with {self._shorten(called[2]).rstrip('.')}.")
            elif result:
                _append_sentence(lines, f"It returned: {self._take_lead(result[1], most)}")
            elif not ADDED.match(entry):
                lines.append(entry)
        return lines

    def _fits(self, length: re.Match[str] | None, max_tokens: int, text: str) -> bool:
        """Tell whether a text is within the tokens, and within the length that was asked for, if any."""
        tokens = self._count(text)
        if not text:
            return True
        if tokens > max_tokens:
            return False
        if length is None:
            return True
        most = int(length[1]) * TEXT_SHARE
        if length[2] == "characters":
            return len(text) <= most
        # Text full of numbers has more tokens to a word than whoever asks reckons with.
        return len(text.split()) <= most and tokens * to_words(1_000) / 1_000 <= most

    def _take_lead(self, text: str, most: int) -> str:
        """Return the first sentences of a text, whole ones where that is possible."""
        first, *more = split_sentences(text) or [""]
        lead = self._shorten(first)
        for sentence in more[: most - 1]:
            if self._count(f"{lead} {sentence}") > LINE_TOKENS:
                break
            lead = f"{lead} {sentence}"
        return lead

    def _shorten(self, line: str) -> str:
        """Return a text as one line, cut between two words where it is long."""
        words = line.split()
        # No word has less than a token.
        for number in range(min(len(words), LINE_TOKENS), 0, -1):
            part = " ".join(words[:number]) + ("" if number == len(words) else "…")
            if self._count(part) <= LINE_TOKENS:
                return part
        # A text without spaces is cut between two characters.
        return shorten(line, LINE_TOKENS, self._count, "…").replace("\n", " ")

    def _count(self, text: str) -> int:
        return self._counter.raw_tokens(text, MODEL)


def _find_order(messages: Sequence[Message]) -> str | None:
    """Return the message that asks for a summary, or None where none was asked for."""
    text = text_of(messages[-1]) if messages else ""
    return text if "<transcript>" in text and "<summary>" in text else None


def _split_order(order: str) -> tuple[str, str]:
    """Return the transcript in an order, and what is asked behind it."""
    match = TRANSCRIPT.search(order)
    return (match[1], match[2]) if match else ("", order)


def _append_sentence(lines: list[str], sentence: str) -> None:
    """Put a sentence on the last line."""
    lines[-1:] = [f"{lines[-1]} {sentence}"] if lines else [sentence]


def _spread_lines(lines: Sequence[str], number: int) -> list[str]:
    """Return so many of the lines, the first and the last among them, and the others evenly between."""
    if number >= len(lines):
        return list(lines)
    step = (len(lines) - 1) / max(1, number - 1)
    return [lines[round(i * step)] for i in range(number)]


def _build_chunk(
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
