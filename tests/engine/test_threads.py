"""What is done on the event loop and what on the thread kept for it, told by what is handed over."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest

from gateway_compaction.engine.offload import LARGE_TOKENS, is_large_decision
from gateway_compaction.engine.request import Untouched
from tests.engine.histories import chat
from tests.engine.rig import Rig


class Recording(ThreadPoolExecutor):
    """One thread that remembers what it was given to do."""

    def __init__(self) -> None:
        super().__init__(max_workers=1)
        self.given: list[str] = []

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """As usual."""
        self.given.append(fn.__name__)
        return super().submit(fn, *args, **kwargs)


def photo(size: int) -> dict[str, Any]:
    """A user's message with an image of so many characters of base64."""
    url = "data:image/png;base64," + "iVBORw0K" * (size // 8)
    return {"role": "user", "content": [{"type": "image_url", "image_url": {"url": url}}]}


@pytest.fixture
def thread() -> Recording:
    """The thread of a rig."""
    return Recording()


async def test_below_the_bound_no_thread_is_used(rigs: Callable[..., Rig], thread: Recording) -> None:
    decision = await rigs(128_000, executor=thread).decide([photo(8_000_000), *chat(20)[1:]])
    assert decision.reason == "below every level"
    assert thread.given == []


async def test_what_is_quickly_named_is_named_at_once(rigs: Callable[..., Rig], thread: Recording) -> None:
    decision = await rigs(4_000, executor=thread).decide([photo(100_000), *chat(20)[1:]])
    assert not isinstance(decision, Untouched)
    assert "_name_messages" not in thread.given


@pytest.mark.parametrize("many", [False, True])
async def test_what_takes_long_to_name_is_named_apart(
    rigs: Callable[..., Rig], thread: Recording, many: bool
) -> None:
    messages = chat(1_200) if many else [photo(2_000_000), *chat(20)[1:]]
    decision = await rigs(4_000, executor=thread).decide(messages)
    assert not isinstance(decision, Untouched)
    assert thread.given[: 1 + many] == ["parse_transcript"] * many + ["_name_messages"]
    assert thread.given[1 + many] == "_count_messages"


async def test_few_tokens_of_many_characters_are_gone_through_apart(rigs: Callable[..., Rig]) -> None:
    """An image of megabytes has a small price, and is not hashed on the loop a second time either."""
    rig = rigs(8_000, {"note": "all"})
    small = await rig.decide([photo(10_000), *chat(8)[1:]])
    large = await rig.decide([photo(2_000_000), *chat(8)[1:]])
    assert not is_large_decision(small) and is_large_decision(large)
    assert not is_large_decision(None)
    assert not isinstance(large, Untouched) and large.context.measure.total < LARGE_TOKENS


async def test_a_message_is_named_once_for_each_request(rigs: Callable[..., Rig]) -> None:
    calls = [{"id": i, "type": "function", "function": {"name": "run", "arguments": "{}"}} for i in "ab"]
    results = [{"role": "tool", "tool_call_id": i, "content": f"result {i}"} for i in "ab"]
    rig = rigs(4_000)
    decision = await rig.decide([*chat(20), {"role": "assistant", "tool_calls": calls}, *results, *chat(1)])
    assert not isinstance(decision, Untouched)
    context, history = decision.context, decision.context.transcript.history
    counted = rig.counter.encodings
    # A result of parallel calls has a name that only its history tells: it is found by the names at hand.
    assert sum(map(context.calibrated_tokens, history)) == context.measure.between(0, len(history))
    assert rig.counter.encodings == counted
