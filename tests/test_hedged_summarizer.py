"""A question that a summariser leaves unanswered is asked again; a slow one is waited for."""

from __future__ import annotations

import asyncio

import pytest

from gateway_compaction.adapters.hedged_summarizer import HedgedSummarizer
from gateway_compaction.errors import SummaryError, SummaryTimeout
from gateway_compaction.ports import Caller, SummaryAnswer, SummaryRequest
from tests.lab.waiting import until

PATIENCE = 0.05


def question(timeout: float = 30.0, model: str = "small") -> SummaryRequest:
    return SummaryRequest(model, "system", "user", 100, timeout, Caller(model))


class Model:
    """Answers as the list says, question by question: after some seconds, with an error, or never (None)."""

    def __init__(self, *ends: float | Exception | None) -> None:
        self.ends, self.asked, self.open, self.most = list(ends), list[SummaryRequest](), 0, 0

    async def complete(self, request: SummaryRequest) -> SummaryAnswer:
        self.asked.append(request)
        number, end = len(self.asked), self.ends.pop(0) if self.ends else 0.0
        self.open += 1
        self.most = max(self.most, self.open)
        try:
            if isinstance(end, Exception):
                raise end
            await asyncio.wait_for(
                asyncio.sleep(3600 if end is None else end), timeout=request.timeout_seconds
            )
        except TimeoutError:
            raise SummaryTimeout("no answer") from None
        finally:
            self.open -= 1
        return SummaryAnswer(f"answer {number}", "stop", request.model)


async def test_a_model_that_answers_is_asked_once() -> None:
    model = Model(0.0)
    answer = await HedgedSummarizer(model, PATIENCE).complete(question())
    assert (answer.text, len(model.asked)) == ("answer 1", 1)


async def test_after_a_hang_the_repeated_question_is_answered_and_nothing_stays_open() -> None:
    model = Model(None, None, None)
    answer = await HedgedSummarizer(model, PATIENCE).complete(question())
    assert answer.text == "answer 4"
    assert (model.open, model.most) == (0, 2)


async def test_the_first_question_is_kept_for_a_model_that_is_only_slow() -> None:
    model = Model(3 * PATIENCE, None, None, None)
    hedged = HedgedSummarizer(model, PATIENCE)
    assert (await hedged.complete(question())).text == "answer 1"
    asked = len(model.asked)
    model.ends = [2 * PATIENCE]
    # Its pace is known now.
    assert (await hedged.complete(question())).text == f"answer {asked + 1}"
    # Another model's pace is its own.
    model.ends = [None]
    assert (await hedged.complete(question(model="other"))).text == f"answer {asked + 3}"


async def test_all_questions_end_with_the_timeout_of_the_first() -> None:
    model = Model(None, None, None, None, None)
    started = asyncio.get_running_loop().time()
    with pytest.raises(SummaryTimeout):
        await HedgedSummarizer(model, PATIENCE).complete(question(3.5 * PATIENCE))
    assert len(model.asked) <= 4
    assert all(request.timeout_seconds <= 3.5 * PATIENCE for request in model.asked)
    assert asyncio.get_running_loop().time() - started < 30
    assert model.open == 0


@pytest.mark.parametrize("fails", [0, 1])
async def test_an_error_of_either_question_is_the_answer(fails: int) -> None:
    ends: list[float | Exception | None] = [None, None]
    ends[fails] = SummaryError("500")
    model = Model(*ends)
    with pytest.raises(SummaryError, match="500"):
        await HedgedSummarizer(model, PATIENCE).complete(question())
    assert (len(model.asked), model.open) == (fails + 1, 0)


async def test_a_cancelled_question_takes_its_repetition_with_it() -> None:
    model = Model(None, None, None)
    asking = asyncio.create_task(HedgedSummarizer(model, PATIENCE).complete(question()))
    await until(lambda: model.most == 2, "the repetition")
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert model.open == 0
