"""Whether a message, an answer, a rule or the task is still in what is sent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gateway_compaction.core.conversation.messages import Message, text_of
from gateway_compaction.core.recall.passages import passages
from gateway_compaction.core.text.identifiers import spelled_in
from gateway_compaction.core.text.sentences import sentences
from gateway_compaction.core.text.terms import search_terms
from gateway_compaction.evaluation.needs import written

__all__ = ["Context", "answer_words"]

TASK_HEAD, TASK_TAIL = 100, 50
SHORTEST_EXCERPT = 12


def answer_words(answer: str) -> frozenset[str]:
    """The content words of an answer, stemmed."""
    return frozenset(search_terms(answer))


@dataclass(frozen=True, slots=True)
class Context:
    """The messages that are sent: their text with blank space evened out, and its words."""

    text: str
    words: frozenset[str]

    @classmethod
    def of(cls, messages: Sequence[Message]) -> Context:
        """What can be read in some messages, the arguments of calls included."""
        text = "\n".join(written(m) for m in messages)
        return cls(_even(text), frozenset(search_terms(text)))

    def holds(self, text: str) -> bool:
        """Whether a text is there, word for word."""
        even = _even(text)
        return bool(even) and even in self.text

    def keeps(self, message: Message, answer: frozenset[str]) -> bool:
        """Whether a message survives: as a whole, or as excerpts with every answer word that it had."""
        text = text_of(message)
        if self.holds(text):
            return True
        pieces = [*sentences(text), *(p.text for p in passages(message))]
        found = [p for p in pieces if len(p) >= SHORTEST_EXCERPT and self.holds(p)]
        kept = {word for piece in found for word in search_terms(piece)}
        return bool(found) and answer.intersection(search_terms(text)) <= kept

    def answers(self, answer: frozenset[str]) -> bool:
        """Whether every answer word is there."""
        return answer <= self.words

    def spells(self, name: str) -> bool:
        """Whether an identifier is there in exactly its spelling."""
        return spelled_in(name, self.text)

    def tells(self, task: str) -> bool:
        """Whether the task is there: whole, or its first hundred and its last fifty characters."""
        even = _even(task)
        return self.holds(even) or (even[:TASK_HEAD] in self.text and even[-TASK_TAIL:] in self.text)


def _even(text: str) -> str:
    return " ".join(text.split())
