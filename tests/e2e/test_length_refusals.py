"""Windows that are declared wrongly: a refusal is answered within the call, and no client sees it.

What stands in for ``litellm.acompletion`` is asked by the proxy's own router here: the pin of ``ask_again``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

import pytest

from tests.e2e.doors import EVERY_DOOR, body_of
from tests.e2e.doors import PATHS as DOORS
from tests.e2e.fleet import Fleet, served
from tests.e2e.talks import marker
from tests.lab import Answer, Client, Proxy, Reply, Seen, Upstream

LIMIT = 3_000
CALLS = 60
WORDS = "The harbour office moved the crane to berth {n}; the invoice of ship {n} is due on day {n}. " * 3
MODELS = {"wrong-8k": "told", "wrong-200k": "bare", "wrong-none": "told", "wrong-claude": "anthropic"}


class Limited:
    """A model of ``LIMIT`` tokens that refuses in the words of a provider."""

    def __init__(self, words: str) -> None:
        self.words = words
        self.refused: list[Seen] = []

    def __call__(self, seen: Seen) -> Reply:
        if seen.tokens <= LIMIT:
            return Reply(text="an answer")
        self.refused.append(seen)
        if self.words == "told":
            return Reply.over_window(seen.tokens, LIMIT)
        if self.words == "bare":
            return Reply.bad_request("Input is too long for requested model.")
        return Reply.bad_request(f"prompt is too long: {seen.tokens} tokens > {LIMIT} maximum")


def growing(calls: int) -> list[list[dict[str, str]]]:
    """The requests of a conversation that grows by one exchange a call."""
    mark = marker()
    talk: list[dict[str, str]] = []
    requests = []
    for n in range(calls):
        talk.append({"role": "user", "content": f"{mark} question {n}: " + WORDS.format(n=n)})
        requests.append(list(talk))
        talk.append({"role": "assistant", "content": f"Answer {n}. " + WORDS.format(n=n)})
    return requests


async def ask(client: Client, model: str, messages: Sequence[Mapping[str, str]], *, stream: bool) -> Answer:
    return await (client.stream if stream else client.chat)(model, messages)


async def converse(model: str, clients: Sequence[Client], calls: int, first: int = 0) -> None:
    """One conversation from its call ``first`` on, by turns through the replicas, streamed and not."""
    for number, messages in enumerate(growing(calls)[first:]):
        client = clients[number % len(clients)]
        answer = await ask(client, model, messages, stream=number % 3 == 0)
        assert (answer.status, answer.text) == (200, "an answer"), (model, number, answer.body)


def limited(upstream: Upstream) -> dict[str, Limited]:
    """The models, put in place."""
    scripts = {model: Limited(words) for model, words in MODELS.items()}
    for model, script in scripts.items():
        upstream.scripts[served(model)] = script
    return scripts


async def test_no_client_sees_a_refusal_and_after_a_restart_there_is_none(
    fleet: Fleet, second: Proxy, client: Client, upstream: Upstream
) -> None:
    models = limited(upstream)
    async with Client(second, "sk-a-1") as other:
        await asyncio.gather(*(converse(model, [client, other], CALLS) for model in MODELS))
    for name, model in models.items():
        assert 1 <= len(model.refused) <= 2, f"{name}: at most one for each replica and model"
        model.refused.clear()
    fleet.other.kill()
    restarted = fleet.second()
    async with Client(restarted, "sk-a-1") as other:
        # The very first call is too long for the model: nothing but what is stored can tell that.
        await asyncio.gather(*(converse(model, [other], CALLS, first=CALLS // 2) for model in MODELS))
    assert {name: len(model.refused) for name, model in models.items()} == dict.fromkeys(MODELS, 0)


@pytest.mark.parametrize("stream", [False, True])
@EVERY_DOOR
async def test_the_answer_shows_nothing_of_it(
    client: Client, upstream: Upstream, door: str, stream: bool
) -> None:
    # The first replica alone; what it has learned of this model by now holds for smaller requests only.
    model = Limited("bare")
    upstream.scripts[served("unknown-window")] = model
    history = growing(60 + 30 * (2 * [*DOORS].index(door) + stream))[-1]
    answer = await client.ask(DOORS[door], body_of(door, "unknown-window", history, stream=stream))
    assert answer.status == 200 and (stream or "an answer" in str(answer.body)), answer.body
    assert answer.headers.get("x-litellm-attempted-fallbacks", "0") == "0"
    assert answer.headers.get("x-litellm-attempted-retries", "0") == "0"
    assert answer.outcome == "fallback" and len(upstream.seen(served("unknown-window"))) >= 1


@pytest.mark.parametrize("kind", ["", "-claude"])
@pytest.mark.parametrize("door", ["messages", "responses"])
async def test_the_other_doors_are_served_alike(
    client: Client, upstream: Upstream, door: str, kind: str
) -> None:
    model = Limited("anthropic" if kind else "told")
    name = f"wrong-{door}{kind}"
    upstream.scripts[served(name)] = model
    for number, messages in enumerate(growing(26)):
        body = body_of(door, name, messages, stream=number % 3 == 0)
        answer = await client.ask(DOORS[door], body)
        assert answer.status == 200, answer.body
    assert len(model.refused) == 1


@EVERY_DOOR
@pytest.mark.parametrize(("key", "next_one"), [("sk-a-1", "larger-next"), ("sk-compacts", "")])
async def test_the_policy_says_whether_litellm_s_fallback_comes_first(
    fleet: Fleet, client: Client, upstream: Upstream, door: str, key: str, next_one: str
) -> None:
    # Nothing is known of it yet in the process that is asked.
    first = f"smaller-first-{door}{'' if next_one else '-compacts'}"
    upstream.scripts[served(first)] = Limited("told")
    async with Client(fleet.first, key) as one:
        answer = await one.ask(DOORS[door], body_of(door, first, growing(30)[-1], stream=False))
    assert answer.status == 200
    assert [seen.model for seen in upstream.requests if seen.model != served("small")] == [
        served(first),
        served(next_one or first),
    ]


@EVERY_DOOR
async def test_what_nothing_makes_fit_ends_in_the_provider_s_refusal(
    client: Client, upstream: Upstream, door: str
) -> None:
    model = Limited("told")
    upstream.scripts[served("wrong-8k")] = model
    paste = [{"role": "user", "content": "word " * 5_000}]
    answer = await client.ask(DOORS[door], body_of(door, "wrong-8k", paste, stream=False))
    assert answer.status == 400 and "maximum context length" in str(answer.body)
    assert len(model.refused) <= 3
