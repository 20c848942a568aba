"""What the extract of a long history costs on the request path, next to `litellm.token_counter` on it.

Run: python -m bench.extract_cost [FILE of recorded conversations]
"""

from __future__ import annotations

import os
import random
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")

import litellm

from bench.recall_cost import MODEL, WORDS
from gateway_compaction.cli.recordings import read_recordings
from gateway_compaction.core.conversation.messages import Message
from gateway_compaction.core.conversation.transcript import parse_transcript
from gateway_compaction.core.extractive.extract import build_extract, read_message
from gateway_compaction.core.tokens.counter import TokenCounter
from gateway_compaction.runtime import use_bundled_encodings

T = TypeVar("T")

MESSAGES, BUDGET, ROUNDS = 270, 2_000, 5


def conversation() -> list[Message]:
    """Short requests and long answers in sentences, some with a path in them: about 100,000 tokens."""
    dice = random.Random(5)
    said: list[Message] = []
    for number in range(MESSAGES):
        sentences = 2 if number % 2 == 0 else 14
        told = [" ".join(dice.choices(WORDS, k=12)).capitalize() + "." for _ in range(sentences)]
        told[0] += f" It is in src/{dice.choice(WORDS)}.py, line {number}."
        said.append({"role": "user" if number % 2 == 0 else "assistant", "content": "\n".join(told)})
    return said


def timed(work: Callable[[], T]) -> tuple[float, T]:
    """Milliseconds of CPU, the least of some rounds, and the result."""
    times = []
    for _ in range(ROUNDS):
        start = time.process_time()
        result = work()
        times.append((time.process_time() - start) * 1000)
    return min(times), result


def measured(messages: Sequence[Message]) -> str:
    """One line about a history."""
    counter = TokenCounter()
    tokens = sum(counter.calibrated_tokens(m, MODEL) for m in messages)
    reading, readings = timed(lambda: [read_message(m) for m in messages])
    choosing, _ = timed(
        lambda: build_extract(messages, BUDGET, lambda t: counter.raw_tokens(t, MODEL), readings)
    )
    counting, _ = timed(lambda: litellm.token_counter(MODEL, messages=[*messages]))
    return (
        f"{len(messages)} messages, {tokens} tokens: every message read once {reading:.0f} ms,"
        f" then an extract of {BUDGET} tokens {choosing:.0f} ms; token_counter {counting:.0f} ms"
    )


def main() -> None:
    """Print one line for each conversation of the file, or for one that is made up."""
    use_bundled_encodings()
    if len(sys.argv) > 1:
        for recording in read_recordings(Path(sys.argv[1])):
            print(measured(parse_transcript(recording.messages).history))
    else:
        print(measured(conversation()))


if __name__ == "__main__":
    main()
