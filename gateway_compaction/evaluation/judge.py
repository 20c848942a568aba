"""Ask a model the questions from what is sent, and compare its answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from openai import OpenAIError

from gateway_compaction.core.conversation.messages import Message
from gateway_compaction.core.text.terms import extract_terms
from gateway_compaction.evaluation.metrics import answer_words
from gateway_compaction.evaluation.peers import import_library

ANSWER_TOKENS, VERDICT_TOKENS = 300, 200
SHARED = 0.6
VERDICT = (
    "A question about a conversation, the right answer, and an answer to be marked. Does the answer to be"
    " marked say what the right answer says? Other words are fine, missing or wrong facts are not. Reply with"
    " YES or NO only.\n\nQuestion: {question}\nRight answer: {answer}\nAnswer to be marked: {given}"
)


@dataclass(slots=True)
class Judge:
    """One model behind an OpenAI-compatible address; it answers, and then marks the answer.

    Where the mark is neither YES nor NO, the share of the right answer's words decides.
    """

    model: str
    base_url: str | None = None
    key: str | None = None
    timeout_seconds: float = 120.0
    failures: int = 0

    async def mark(self, context: Sequence[Message], question: str, answer: str) -> float | None:
        """Return 1 for a right answer, 0 for a wrong one, None where the model did not answer.

        The context ends with the question.
        """
        given = await self._ask(list(context), ANSWER_TOKENS)
        if given is None:
            return None
        told = VERDICT.format(question=question, answer=answer, given=given)
        verdict = await self._ask([{"role": "user", "content": told}], VERDICT_TOKENS)
        said = (verdict or "").strip().upper().rstrip(".!")
        if said.endswith(("YES", "NO")):
            return float(said.endswith("YES"))
        words = answer_words(answer)
        return float(len(words & set(extract_terms(given))) >= SHARED * len(words))

    async def _ask(self, messages: list[Any], tokens: int) -> str | None:
        litellm = import_library("litellm")
        # It would print a plea for feedback among the results.
        litellm.suppress_debug_info = True
        try:
            answer = await litellm.acompletion(
                model=self.model,
                messages=messages,
                api_base=self.base_url,
                api_key=self.key,
                max_tokens=tokens,
                temperature=0,
                timeout=self.timeout_seconds,
            )
        except OpenAIError:
            # A model that is down or refuses is counted; it does not end the evaluation.
            self.failures += 1
            return None
        content = answer.choices[0].message.content
        return content if isinstance(content, str) else None
