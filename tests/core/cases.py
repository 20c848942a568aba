"""One conversation, the window and policy it meets, and what is stored of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from hypothesis import strategies as st

from gateway_compaction.core.conversation.transcript import Transcript, parse_transcript
from gateway_compaction.core.planning.context import RequestContext
from gateway_compaction.core.policy.model import Policy
from gateway_compaction.core.records.compaction import Clip, Compaction
from tests.core.builders import Bench, policy, stored
from tests.core.strategies import SAMPLES, Talk, longer_talks, plain_talks, seeds, talks

__all__ = ["MODELS", "Case", "cases", "growing_cases", "plain_cases"]

MODELS = ("gpt-4o", "gpt-4o", "anthropic/claude-sonnet-4-5", "gemini/gemini-2.5-pro", "somebody/model-x")
USAGES = (0.2, 0.5, 0.7, 0.8, 0.86, 0.9, 0.97, 1.1, 1.6, 3.0, 9.0)
SHARES = ((0.75, 0.85, 0.95), (0.5, 0.6, 0.7), (0.3, 0.9, 1.0))
TRIGGERS = ((None, None), (None, None), (None, None), (1, None), (3, None), (None, 150))


@dataclass(frozen=True)
class Case:
    """A talk on a bench, and compactions that the store returns."""

    talk: Talk
    bench: Bench
    compactions: tuple[Compaction, ...]

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The whole talk."""
        return self.talk.messages

    def context(self, end: int | None = None, extra: Sequence[Compaction] = ()) -> RequestContext:
        """The context when the first ``end`` messages are sent, with further compactions stored."""
        return self.bench.context(self.messages[:end], (*self.compactions, *extra))


def _policy(rng: Random) -> Policy:
    """Policies that differ in everything that a plan looks at."""
    light, medium, aggressive = rng.choice(SHARES)
    turns, tokens = rng.choice(TRIGGERS)
    return policy(
        levels__light__at=light,
        levels__medium__at=medium,
        levels__medium__target=rng.choice([0.1, 0.29]),
        levels__medium__keep_last=rng.choice([1, 2, 4, 10]),
        levels__aggressive__at=aggressive,
        levels__aggressive__keep_last=rng.choice([1, 4]),
        triggers__turns=turns,
        triggers__tokens=tokens,
        triggers__then=rng.choice(["prepare", "prepare", "apply"]),
        summary__model=rng.choice([None, "small", "extractive"]),
        summary__max_tokens=rng.choice(["auto", 60, 300]),
        summary__rate=rng.choice([None, None, None, 0.1, 0.5]),
        anchors__constraints_max_tokens=rng.choice([0, 60, 400]),
        recall__max_tokens=rng.choice([0, "auto", "auto", 80]),
    )


def _bench(rng: Random, talk: Talk, usage: float) -> Bench:
    bench = Bench(10**6, _policy(rng), rng.choice(MODELS))
    bench.wants_json = rng.random() < 0.5
    bench.reserve = rng.choice([0, 0, 40])
    bench.window = max(200, int(bench.context(talk.messages).measure.total / usage))
    return bench


def _clip(rng: Random, transcript: Transcript, talk: Talk, covers: int) -> Clip | None:
    """As a plan of an earlier call of the same conversation would have made it."""
    ahead = len(transcript.preamble)
    ends = [p - ahead for p in talk.points if covers < p - ahead <= len(transcript.history)]
    if not ends or rng.random() < 0.7:
        return None
    end = rng.choice(ends)
    then = parse_transcript(talk.messages[: end + ahead])
    last = () if then.history[-1]["role"] in ("tool", "function") else (end - 1,)
    asked = () if then.last_user is None else (then.last_user,)
    return Clip(end, rng.choice([24, 60, 300]), tuple(sorted({*asked, *last})))


def _fitting(rng: Random, talk: Talk, context: RequestContext) -> Iterator[Compaction]:
    transcript = context.transcript
    for cut in rng.sample(transcript.cuts, min(len(transcript.cuts), rng.randrange(5))):
        kind = rng.choice(["cleared", "extractive", "model"])
        text = rng.choice(SAMPLES) * rng.choice([1, 1, 3, 10])
        clip = _clip(rng, transcript, talk, cut)
        since = rng.choice([0, transcript.last_user or 0])
        limit = rng.choice([None, 100, 500])
        yield stored(context, cut, kind, text, limit=limit, clip=clip, since=since)


def _foreign(rng: Random, context: RequestContext) -> Iterator[Compaction]:
    """Of another history, or ending where none may."""
    transcript = context.transcript
    for _ in range(rng.randrange(3)):
        covers = rng.randint(0, len(transcript.history))
        digest = rng.choice(["f" * 32, *context.chain])
        if digest != context.chain[covers] or covers not in (0, *transcript.cuts):
            yield Compaction(digest, covers, "model", stored(context, covers).segments)


def _case(talk: Talk, usage: float, seed: int) -> Case:
    rng = Random(seed)
    bench = _bench(rng, talk, usage)
    context = bench.context(talk.messages)
    return Case(talk, bench, (*_fitting(rng, talk, context), *_foreign(rng, context)))


cases = st.builds(_case, talks, st.sampled_from(USAGES), seeds)
growing_cases = st.builds(_case, longer_talks, st.sampled_from(USAGES), seeds)
plain_cases = st.builds(_case, plain_talks, st.sampled_from(USAGES), seeds)
