"""Conversations whose every message bears a tag, so that what became of each can be told from any text.

A tag is ``mk12ab34-7u``: the conversation, the number of the message, and who wrote it. What is written anew
(an edited question, another answer) gets a new number, so no text stands for two versions of a message.
"""

from __future__ import annotations

import json
import random
import re
import uuid
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from tests.e2e.talks import filler
from tests.lab.data import shared

__all__ = ["TAG", "Talk", "find_tags", "read_runs", "write_runs"]

TAG = re.compile(r"(mk[0-9a-f]{8})-(\d+)([ua])")
RUN = re.compile(r"(mk[0-9a-f]{8}-\d+[ua])(?: to (mk[0-9a-f]{8}-\d+[ua]))?")
# Recorded conversations whose words are used, where they are there; in Latin script, as the summaries are.
RECORDED = ("locomo", "mt_bench_101", "dialogstudio")
LONGEST = 420
SYSTEM = "You are concise."

Message = dict[str, Any]


@cache
def recorded_texts() -> tuple[str, ...]:
    """Texts of the recorded conversations of ``../shared/data``; empty where they are absent."""
    found = []
    for name in RECORDED:
        path = shared() / "data" / f"{name}.jsonl"
        lines = path.read_text(encoding="utf-8").splitlines()[:40] if path.is_file() else []
        for line in lines:
            for message in json.loads(line)["messages"]:
                text = message.get("content")
                if isinstance(text, str) and len(text) > 80:
                    found.append(" ".join(text[:LONGEST].split()))
    return tuple(found)


def find_tags(text: str) -> list[str]:
    """The tags in a text, in order, each once."""
    return list(dict.fromkeys(match.group() for match in TAG.finditer(text)))


def write_runs(tags: Sequence[str]) -> str:
    """A short text that names tags in order: neighbours as ``first to last``."""
    runs: list[list[str]] = []
    for tag in tags:
        if runs and _follows(runs[-1][-1], tag):
            runs[-1].append(tag)
        else:
            runs.append([tag])
    return ", ".join(run[0] if len(run) == 1 else f"{run[0]} to {run[-1]}" for run in runs)


def read_runs(text: str) -> list[str]:
    """The tags that a text of ``write_runs`` names."""
    return [tag for match in RUN.finditer(text) for tag in _expand(match.group(1), match.group(2))]


def _expand(first: str, last: str | None) -> Iterator[str]:
    tag = first
    yield tag
    while last is not None and tag != last:
        tag = _after(tag)
        yield tag


def _after(tag: str) -> str:
    mark, number, who = _split(tag)
    return f"{mark}-{number}a" if who == "u" else f"{mark}-{number + 1}u"


def _follows(tag: str, other: str) -> bool:
    return _after(tag) == other


def _split(tag: str) -> tuple[str, int, str]:
    match = TAG.fullmatch(tag)
    assert match is not None, tag
    return match.group(1), int(match.group(2)), match.group(3)


@dataclass(slots=True)
class Talk:
    """A conversation as its client has it.

    Attributes:
        words: further words of every question, for guardrails.
        conversation: what the gateway calls it, where it keeps it.
        sent: messages that the gateway has, where it keeps the conversation.
        version: of what the gateway keeps, as far as it was told.
    """

    words: str = ""
    mark: str = field(default_factory=lambda: f"mk{uuid.uuid4().hex[:8]}")
    messages: list[Message] = field(default_factory=lambda: [{"role": "system", "content": SYSTEM}])
    number: int = 0
    conversation: str = ""
    sent: int = 1
    version: int = 0

    @property
    def tags(self) -> list[str]:
        """The tag of each message behind the preamble."""
        return [find_tags(message["content"])[0] for message in self.messages[1:]]

    def ask(self) -> str:
        """Append the user's next message, and return its tag."""
        tag = f"{self.mark}-{self.number}u"
        text = f"{tag} {self.words}{_say(2 * self.number, self.mark)}"
        self.messages.append({"role": "user", "content": text})
        return tag

    def answer(self, text: str = "") -> None:
        """Append the model's answer, as it came or, of a conversation that was before, made up."""
        tag = f"{self.mark}-{self.number}a"
        said = text if TAG.search(text) else f"{tag} {text or _say(2 * self.number + 1, self.mark)}"
        self.messages.append({"role": "assistant", "content": said})
        self.number += 1

    def edit(self) -> None:
        """Write an earlier question anew, and go on from there: the later messages are gone."""
        users = [i for i, m in enumerate(self.messages) if m["role"] == "user"]
        del self.messages[users[len(users) * 3 // 4] :]
        self.number += 1000

    def slide(self) -> None:
        """Drop the oldest messages, as clients do that send the last so many."""
        del self.messages[1:5]

    def fill(self, turns: int) -> Talk:
        """Add turns that were before; returns itself."""
        for _ in range(turns):
            self.ask()
            self.answer()
        return self

    def copy(self) -> Talk:
        """The same conversation, to go on with in another way."""
        return Talk(self.words, self.mark, list(self.messages), self.number)


def _say(number: int, mark: str) -> str:
    texts = recorded_texts()
    chosen = random.Random(f"{mark}{number}")
    if texts and chosen.random() < 0.7:
        return TAG.sub("", chosen.choice(texts))
    return f"{filler(55, chosen.randrange(10**6))}."


def marks_in(texts: Iterable[str]) -> set[str]:
    """The conversations that some texts speak of."""
    return {match.group(1) for text in texts for match in TAG.finditer(text)}
