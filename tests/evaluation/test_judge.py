"""Questions asked of a model, through LiteLLM, at a server of our own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from gateway_compaction.evaluation.judge import Judge
from tests.evaluation.talks import said
from tests.lab.scripts import Reply, Seen
from tests.lab.upstream import Upstream

# LiteLLM's own models warn when they are first built.
pytestmark = pytest.mark.filterwarnings("ignore:.*ReadOnly:UserWarning")
CONTEXT = [
    said("user", "The gate code is 4711."),
    said("assistant", "Noted."),
    said("user", "What is the gate code?"),
]


@pytest.fixture
def server(upstream: Upstream) -> Iterator[Upstream]:
    """The fake provider, with nothing left behind."""
    upstream.reset()
    yield upstream
    upstream.reset()


def judge(server: Upstream, given: str, verdict: str) -> Judge:
    """A judge whose model answers and marks as told."""

    def script(seen: Seen) -> Reply:
        return Reply(verdict if "Answer to be marked" in seen.text else given)

    server.scripts["judge"] = script
    return Judge("openai/judge", server.url, "sk-none")


@pytest.mark.parametrize(("verdict", "mark"), [("YES", 1.0), ("No.", 0.0), ("Well. Yes", 1.0)])
async def test_the_model_answers_and_then_marks(server: Upstream, verdict: str, mark: float) -> None:
    assert await judge(server, "It is 4711.", verdict).mark(CONTEXT, "What?", "4711") == mark
    asked, marked = server.seen("judge")
    assert asked.messages == CONTEXT
    assert "Right answer: 4711" in marked.text and "Answer to be marked: It is 4711." in marked.text


@pytest.mark.parametrize(("given", "mark"), [("The gate code 4711", 1.0), ("I do not know.", 0.0)])
async def test_a_mark_that_is_none_leaves_it_to_the_words(server: Upstream, given: str, mark: float) -> None:
    assert await judge(server, given, "Hard to say").mark(CONTEXT, "What?", "gate code 4711") == mark


async def test_a_model_that_fails_is_counted(server: Upstream) -> None:
    server.scripts["judge"] = lambda seen: Reply.failing(500, "down", kind="server_error")
    broken = Judge("openai/judge", server.url, "sk-none")
    assert await broken.mark(CONTEXT, "What?", "4711") is None and broken.failures == 1
