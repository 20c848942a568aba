"""What the fake upstream answers in a case: the main model and the summariser."""

from __future__ import annotations

import asyncio
import hashlib
import re
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from tests.cases.case_situation import Summariser
from tests.cases.weights import prompt_tokens
from tests.lab import Reply, Seen
from tests.lab.scripts import tool_call

__all__ = ["MainModel", "SummariserModel", "filler"]

MARK = re.compile(r"\b[\w-]*[A-Z][\w-]*-MARK\b")
HELD_SECONDS = 20.0
ECHO_CHARS = 300


def filler(words: int) -> str:
    """A text of so many words that begins with a mark of its own."""
    return "LONG-SUM " + " ".join(f"item{i % 97}" for i in range(words - 1))


@dataclass(slots=True)
class MainModel:
    """The model that the client talks to.

    Attributes:
        failing: errors for the next requests, in order.
        always: the error for every request.
        speech: an answer that is told slowly, instead.
        reflects: the answer names the marks of what was received.
        told: how often the slow answer was begun.
    """

    failing: list[int] = field(default_factory=list)
    always: int | None = None
    speech: str | None = None
    reflects: bool = False
    told: int = 0

    def __call__(self, seen: Seen) -> Reply:
        """Answer one request; report the tokens that the product's own counter gives."""
        status = self.failing.pop(0) if self.failing else self.always
        if status:
            return Reply.failing(status, "the upstream fails on purpose", kind="server_error")
        tokens = prompt_tokens(seen.messages, seen.body, seen.model)
        if self.speech:
            self.told += 1
            return Reply(text=self.speech, chunks=40, chunk_delay=0.05, prompt_tokens=tokens)
        digest = hashlib.sha256(seen.text.encode("utf-8", "replace")).hexdigest()[:12]
        marks = _marks(seen.text) if self.reflects else ""
        return Reply(text=f"ok {digest} {marks}".strip(), prompt_tokens=tokens)


@dataclass(slots=True)
class SummariserModel:
    """The summariser of one case; ``held`` keeps its answers back until it is cleared."""

    answers: Summariser
    asked: list[Seen] = field(default_factory=list)
    held: threading.Event = field(default_factory=threading.Event)
    closed: bool = False

    async def __call__(self, seen: Seen) -> Reply:
        """Answer one request, as the case says."""
        self.asked.append(seen)
        number = len(self.asked)
        for _ in range(int(HELD_SECONDS / 0.02)):
            if not self.held.is_set():
                break
            await asyncio.sleep(0.02)
        if self.closed:
            return Reply.rate_limited()
        if self.answers.status:
            error = "the summariser fails on purpose"
            return Reply.failing(self.answers.status, error, kind="rate_limit_error")
        reply = Reply(text=self._text(number, seen), delay=self.answers.seconds)
        if self.answers.calls_tool:
            return replace(reply, text=None, tool_calls=[tool_call("summarise", {"part": 1})])
        if self.answers.is_cut:
            return replace(reply, finish_reason="length")
        return replace(reply, message=_thinking(self.answers)) if self.answers.blocks else reply

    def _text(self, number: int, seen: Seen) -> str:
        answers = self.answers
        if answers.words:
            return filler(answers.words)
        if answers.echoes:
            return _echo(answers.echoes, seen)
        if answers.reflects:
            return f"SUM-STUB the earlier part spoke of {_marks(seen.text)}."
        return answers.texts[min(number, len(answers.texts)) - 1]


def _thinking(answers: Summariser) -> dict[str, Any]:
    """An answer with reasoning: as content blocks, or in the form of the chat API."""
    if answers.form == "blocks":
        return {"role": "assistant", "content": [dict(block) for block in answers.blocks]}
    parts: dict[str, list[str]] = {"thinking": [], "text": []}
    for block in answers.blocks:
        parts.setdefault(str(block["type"]), []).append(str(block.get(str(block["type"]))))
    text = " ".join(parts["text"]) if answers.form == "fields" else None
    return {"role": "assistant", "content": text, "reasoning_content": " ".join(parts["thinking"])}


def _marks(text: str) -> str:
    return " ".join(dict.fromkeys(MARK.findall(text)))


def _echo(mark: str, seen: Seen) -> str:
    """What stands from the mark on in the text that was to be summarised."""
    text = "\n".join(_told(m) for m in seen.messages)
    start = text.find(mark)
    return f"SUM-STUB a page was read: {text[start : start + ECHO_CHARS] if start >= 0 else mark}"


def _told(message: Mapping[str, Any]) -> str:
    content = message.get("content")
    return content if isinstance(content, str) else str(content)
