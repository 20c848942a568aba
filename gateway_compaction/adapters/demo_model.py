"""A model that needs no key and no network: it says what it was sent, and can be asked for a summary.

LiteLLM loads ``demo`` through ``custom_provider_map``. It shows at a glance whether a history was compacted
on its way, and lets the whole path, background summaries included, be tried without a provider.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

# Points tiktoken at the encodings that LiteLLM ships, so that counting needs no network.
import litellm.litellm_core_utils.default_encoding  # noqa: F401
from litellm.llms.custom_llm import CustomLLM
from litellm.types.llms.openai import ChatCompletionUsageBlock
from litellm.types.utils import Choices, GenericStreamingChunk, ModelResponse, Usage
from litellm.types.utils import Message as LiteLLMMessage

from gateway_compaction.core.messages import Message, text_of
from gateway_compaction.core.shorten import shorten
from gateway_compaction.core.summary import TAG
from gateway_compaction.core.tokens import TokenCounter

__all__ = ["DemoModel", "demo"]

MODEL = "demo"
LINE_TOKENS = 40
SUMMARY_TOKENS = 600
TRANSCRIPT_LINE = re.compile(r"(?m)^\[\d+\] (.+)$")
PREVIOUS = re.compile(r"(?s)<previous_summary>\n(.*?)\n</previous_summary>")
SENTENCE_END = re.compile(r"(?<=[.!?。！？])\s")
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
    """Answers with a description of what it received; an order for a summary with an extract."""

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
        received = self._counter.raw_total(messages, params, MODEL)
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
        questions = [text_of(m).strip() for m in messages if m["role"] == "user"]
        first_line = next(iter(questions[-1].splitlines()), "") if questions else ""
        return (
            "This is the demo model: it reports what it was sent and understands nothing."
            f" It received {number}, about {received:,} tokens; {found}."
            f" Your last message begins: {self._short(first_line) or '(no text)'}"
        )

    def _summary(self, order: str, max_tokens: int) -> str:
        """The beginning of each message of the order's transcript; room left for the tags around it."""
        told = [self._first_sentence(line) for line in TRANSCRIPT_LINE.findall(order)]
        previous = PREVIOUS.search(order)
        lines = [*(previous.group(1).splitlines() if previous else ()), *told]
        text = "\n".join(dict.fromkeys(line for line in lines if line.strip()))
        return f"<summary>\n{shorten(text, max(max_tokens - 20, 20), self._count, '[…]')}\n</summary>"

    def _first_sentence(self, line: str) -> str:
        return self._short(SENTENCE_END.split(line, maxsplit=1)[0])

    def _short(self, line: str) -> str:
        return shorten(line, LINE_TOKENS, self._count, "…").replace("\n", " ")

    def _count(self, text: str) -> int:
        return self._counter.text(text, MODEL)


def _order(messages: Sequence[Message]) -> str | None:
    """The text that asks for a summary, if that is what was asked for."""
    asked = text_of(messages[-1]) if messages else ""
    return asked if "<transcript>" in asked and "<summary>" in asked else None


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
