"""The questions to a summariser that a policy asks for, and what of a conversation fits into one."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from gateway_compaction.core.compaction import Segment
from gateway_compaction.core.messages import Message
from gateway_compaction.core.policy import Policy
from gateway_compaction.core.prompts import PACKS, merge_prompt, prompt, rendered

__all__ = ["instructions_of", "merge_question", "parts_of", "question", "sizes_of", "words_in"]

Count = Callable[[str], int]
WORDS_PER_TOKEN, LEAST_WORDS = 0.65, 20
MESSAGE_TOKENS, LINE_TOKENS = 2_000, 12


def question(
    messages: Sequence[Message],
    previous: str,
    policy: Policy,
    count: Count,
    *,
    start: int,
    limit: int,
    chars: int | None,
    shown: int,
) -> tuple[str, str]:
    """System and user text that ask for a summary of at most ``limit`` tokens, or about ``chars`` characters.

    ``shown`` is the most tokens of a message.
    """
    summary = policy.summary
    return prompt(
        messages,
        previous,
        start=start,
        words=words_in(limit),
        instructions=instructions_of(policy),
        keys=summary.preserve_keys,
        message_tokens=min(shown, _longest_message(policy)),
        count=count,
        chars=chars,
        message_chars=summary.message_chars,
    )


def merge_question(parts: Sequence[Segment], policy: Policy, limit: int) -> tuple[str, str]:
    """System and user text that ask to condense segments into one of at most ``limit`` tokens."""
    told = [(p.start, p.text) for p in parts]
    keys = policy.summary.preserve_keys
    return merge_prompt(told, words=words_in(limit), instructions=instructions_of(policy), keys=keys)


def sizes_of(messages: Sequence[Message], count: Count) -> list[int]:
    """Tokens of each message as a summariser is told of it, if nothing is left out."""
    return [count(rendered((m,), 0, 10**9, len)) for m in messages]


def parts_of(
    messages: Sequence[Message], room: int, policy: Policy, count: Count
) -> list[tuple[tuple[Message, ...], int]]:
    """Messages in runs of at most ``room`` tokens as they are shown, at least one each, with their tokens."""
    parts: list[list[Message]] = [[]]
    sizes = [0]
    used = 0
    for message, tokens in zip(messages, sizes_of(messages, count), strict=True):
        shown = min(tokens, _longest_message(policy)) + LINE_TOKENS
        if parts[-1] and used + shown > room:
            parts.append([])
            sizes.append(0)
            used = 0
        parts[-1].append(message)
        sizes[-1] += tokens
        used += shown
    return [(tuple(part), size) for part, size in zip(parts, sizes, strict=True)]


def instructions_of(policy: Policy) -> str:
    """What a summary has to keep, in the words of the policy's prompt."""
    summary = policy.summary
    return summary.prompt_text or PACKS.get(summary.prompt, PACKS["general"])


def _longest_message(policy: Policy) -> int:
    # No text has more tokens than bytes, few have more than characters.
    return policy.summary.message_chars or MESSAGE_TOKENS


def words_in(tokens: int) -> int:
    """The length to ask for, where the answer may have ``tokens``."""
    return max(LEAST_WORDS, int(tokens * WORDS_PER_TOKEN))
