"""Tell what is still in a request that is sent: messages, answers, rules, the task, identifiers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gateway_compaction.core.conversation.messages import Message, text_of
from gateway_compaction.core.recall.passages import split_into_passages
from gateway_compaction.core.text.identifiers import is_spelled_in
from gateway_compaction.core.text.sentences import split_sentences
from gateway_compaction.core.text.terms import extract_terms
from gateway_compaction.evaluation.needs import text_with_arguments

TASK_HEAD, TASK_TAIL = 100, 50
SHORTEST_EXCERPT = 12


def answer_words(answer: str) -> frozenset[str]:
    """Return the content words of an answer, stemmed."""
    return frozenset(extract_terms(answer))


@dataclass(frozen=True, slots=True)
class SentText:
    """The text of the messages that are sent, its blank space evened out, and its words."""

    text: str
    words: frozenset[str]

    @classmethod
    def of(cls, messages: Sequence[Message]) -> SentText:
        """Return what can be read in some messages, the arguments of calls included."""
        text = "\n".join(text_with_arguments(m) for m in messages)
        return cls(_even_blanks(text), frozenset(extract_terms(text)))

    def holds(self, text: str) -> bool:
        """Tell whether a text is there, word for word."""
        even = _even_blanks(text)
        return bool(even) and even in self.text

    def keeps(self, message: Message, answer: frozenset[str]) -> bool:
        """Tell whether a message survives: as a whole, or as excerpts with every answer word that it had."""
        text = text_of(message)
        if self.holds(text):
            return True
        pieces = [*split_sentences(text), *(p.text for p in split_into_passages(message))]
        found = [p for p in pieces if len(p) >= SHORTEST_EXCERPT and self.holds(p)]
        kept = {word for piece in found for word in extract_terms(piece)}
        return bool(found) and answer.intersection(extract_terms(text)) <= kept

    def has_words(self, answer: frozenset[str]) -> bool:
        """Tell whether every answer word is there."""
        return answer <= self.words

    def spells(self, name: str) -> bool:
        """Tell whether an identifier is there in exactly its spelling."""
        return is_spelled_in(name, self.text)

    def holds_task(self, task: str) -> bool:
        """Tell whether the task is there: whole, or its first hundred and its last fifty characters."""
        even = _even_blanks(task)
        return self.holds(even) or (even[:TASK_HEAD] in self.text and even[-TASK_TAIL:] in self.text)


def _even_blanks(text: str) -> str:
    return " ".join(text.split())
