"""What recall costs on a warm session, next to `litellm.token_counter` on the same messages, in one run.

Run: python -m bench.recall_cost
"""

from __future__ import annotations

import os
import random
import statistics
import time
from collections.abc import Callable

os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")

import litellm

from gateway_compaction.core.conversation.digest import build_digest_chain, digest_message
from gateway_compaction.core.conversation.messages import Message
from gateway_compaction.core.conversation.transcript import parse_transcript
from gateway_compaction.core.planning.caches import DerivedCaches
from gateway_compaction.core.planning.context import RequestContext
from gateway_compaction.core.planning.views import ViewBuilder
from gateway_compaction.core.policy.model import Policy
from gateway_compaction.core.records.compaction import Compaction, Segment
from gateway_compaction.core.tokens.counter import TokenCounter
from gateway_compaction.runtime import use_bundled_encodings

MODEL, WINDOW, OLDER, ROUNDS = "gpt-4o", 128_000, 1_000, 15
HEADS = (
    "har",
    "bel",
    "cor",
    "dun",
    "el",
    "fam",
    "gor",
    "hin",
    "ister",
    "jor",
    "kel",
    "lum",
    "mar",
    "nor",
    "os",
)
TAILS = ("bour", "lan", "tern", "mea", "dow", "led", "ger", "voy", "age", "gran", "ite", "orch", "ard", "sig")
WORDS = [head + middle + tail for head in HEADS for middle in TAILS for tail in TAILS]


def conversation(words: int, asked: int) -> list[Message]:
    """A thousand older messages of some words each, and a last question that no other round has asked."""
    dice = random.Random(3)
    told = [" ".join(dice.choices(WORDS, k=words)) for _ in range(OLDER)]
    messages: list[Message] = [
        {"role": "user" if i % 2 == 0 else "assistant", "content": text} for i, text in enumerate(told)
    ]
    subject = told[asked * 7 % OLDER].split()[:6]
    return [*messages, {"role": "user", "content": f"What was said about {' '.join(subject)}? ({asked})"}]


def lay_out(messages: list[Message], counter: TokenCounter, caches: DerivedCaches) -> ViewBuilder:
    """Lay out a request with these messages."""
    transcript, policy = parse_transcript(messages), Policy()
    digests = tuple(digest_message(m) for m in transcript.history)
    measure = counter.measure(transcript, {}, MODEL, 0, digests)
    context = RequestContext(
        transcript=transcript,
        chain=build_digest_chain(digests),
        digests=digests,
        measure=measure,
        window=WINDOW * 8,
        policy=policy,
        calibrated_tokens=lambda m: counter.calibrated_tokens(m, MODEL),
        raw_tokens=lambda t: counter.raw_tokens(t, MODEL),
        raw_message_tokens=lambda m: counter.raw_message_tokens(m, MODEL),
        caches=caches,
    )
    return ViewBuilder(context)


def median_ms(work: Callable[[int], object]) -> float:
    """Median milliseconds of CPU over the rounds, the first left out."""
    times = []
    for number in range(ROUNDS + 1):
        start = time.process_time()
        work(number)
        times.append((time.process_time() - start) * 1000)
    return statistics.median(times[1:])


def measured(words: int) -> tuple[float, float, float]:
    """Recall cold (with its index), recall warm, and token_counter, in milliseconds of CPU."""
    counter, caches = TokenCounter(), DerivedCaches()
    builders = [lay_out(conversation(words, n), counter, caches) for n in range(ROUNDS + 1)]
    stored = [
        Compaction(d.context.chain[OLDER], OLDER, "model", (Segment(0, OLDER, "A summary."),))
        for d in builders
    ]
    views = [d.build_view(c) for d, c in zip(builders, stored, strict=True)]
    start = time.process_time()
    builders[0].quotes.get_index(OLDER)
    cold = (time.process_time() - start) * 1000
    warm = median_ms(lambda n: builders[n].add_quotes(views[n]))
    assert all(d.add_quotes(v).recalls for d, v in zip(builders, views, strict=True)), "nothing was recalled"
    counted = median_ms(lambda n: litellm.token_counter(MODEL, messages=conversation(words, n)))
    return cold, warm, counted


def main() -> None:
    """Print one line for short and one for long messages."""
    use_bundled_encodings()
    for name, words in (("short messages (12 words)", 12), ("2 kB messages (300 words)", 300)):
        cold, warm, counted = measured(words)
        print(
            f"{name}: recall cold {cold:.0f} ms, warm {warm:.2f} ms, token_counter {counted:.1f} ms,"
            f" ratio {warm / counted:.3f}"
        )


if __name__ == "__main__":
    main()
