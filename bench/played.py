"""What questions find in a conversation that is played call by call, next to a single cold call of it.

Each dialogue is sent as it grows; then its questions are asked behind the last call, and behind earlier ones:
a compaction has served some calls by then, and quotes stand before some messages.

Run: python -m bench.played FILE [WINDOW ...]        (a file as for `gateway-compaction eval`)
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")

from gateway_compaction.cli.recordings import read_recordings
from gateway_compaction.core.conversation.messages import Message, role_of
from gateway_compaction.core.policy.book import Identity, PolicyBook
from gateway_compaction.evaluation.material import Conversation, Question, conversation_of
from gateway_compaction.evaluation.metrics import SentText, answer_words
from gateway_compaction.replay import (
    Call,
    FixedModels,
    NoSummarizer,
    build_replay_runtime,
    replay_conversation,
)
from gateway_compaction.runtime import Runtime, use_bundled_encodings

MODEL = "gpt-4o"
WINDOWS = (4_000, 8_000, 16_000)
QUESTIONS, BEFORE_THE_END = 30, (25, 12, 0)
POLICY = {"version": 1, "defaults": {"mode": "enforce", "summary": {"model": "extractive"}}}


def runtime(window: int) -> Runtime:
    """A gateway of its own, without a model."""
    book = PolicyBook(POLICY, "bench/played")
    return build_replay_runtime(FixedModels(window, MODEL), NoSummarizer(), book)


def calls_of(messages: Sequence[Message]) -> list[Sequence[Message]]:
    """What a client sends: the history up to each user message."""
    return [messages[: i + 1] for i, m in enumerate(messages) if role_of(m) == "user"]


async def ask(gateway: Runtime, history: Sequence[Message], asked: Question) -> tuple[float, Call]:
    """The share of a question's evidence that is in what is sent for it, and the call."""
    question = {"role": "user", "content": asked.text}
    identity = Identity(model=MODEL)
    [call] = [c async for c in replay_conversation(gateway, [[*history, question]], {}, identity, "bench")]
    context, words = SentText.of(call.upstream), answer_words(asked.answer)
    return sum(context.keeps(history[e], words) for e in asked.evidence) / len(asked.evidence), call


async def measured(one: Conversation, window: int) -> str:
    """One line about a conversation in a window."""
    found: list[float] = []
    cold: list[float] = []
    quoted, whole = 0, calls_of(one.messages)
    # The whole conversation last: the figures below the evidence are its own.
    for calls in [whole[: len(whole) - behind] for behind in BEFORE_THE_END if behind < len(whole)]:
        gateway = runtime(window)
        played = [c async for c in replay_conversation(gateway, calls, {}, Identity(model=MODEL), "bench")]
        for asked in [q for q in one.questions[:QUESTIONS] if max(q.evidence) < len(calls[-1]) - 10]:
            share, call = await ask(gateway, calls[-1], asked)
            found.append(share)
            quoted += "<recall>" in str(call.upstream[-1].get("content"))
            alone = runtime(window)
            cold.append((await ask(alone, calls[-1], asked))[0])
            await alone.aclose()
        await gateway.aclose()
    if not found:
        return f"{one.id}, window {window:,}: no question is old enough"
    begun = sum(a.covers != b.covers for a, b in pairwise(played))
    sent = sum(c.tokens_upstream for c in played) / max(1, sum(c.tokens_client for c in played))
    return (
        f"{one.id}, window {window:,}: evidence {sum(found) / len(found):.3f} played,"
        f" {sum(cold) / len(cold):.3f} in one cold call ({len(found)} questions, {quoted} with quotes);"
        f" {begun} compactions in {len(played)} calls, {sent:.0%} of the client's tokens sent"
    )


async def main(path: Path, windows: Sequence[int]) -> None:
    """Print a line for each conversation that has questions, and window."""
    for recording in read_recordings(path):
        one = conversation_of(recording.id, recording.messages, recording.questions, None)
        if one is None or not one.questions:
            continue
        for window in windows:
            print(await measured(one, window), flush=True)


if __name__ == "__main__":
    use_bundled_encodings()
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    asyncio.run(main(Path(sys.argv[1]), [int(w) for w in sys.argv[2:]] or WINDOWS))
