"""Making a request fit without a model: what is guaranteed, and the steps on the way."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gateway_compaction.core.plan import make_plan
from tests.core.cases import Case, cases
from tests.core.search import search

LEAST_BLOCK = 150


@search
@given(cases, st.sampled_from([1, 20, 60, 150, 400, 2000]))
def test_what_can_fit_fits(case: Case, spare: int) -> None:
    """Guaranteed: at the aggressive level the view is below the window wherever everything that no cut may
    drop (preamble, schemas, reserve, last user message, last group) leaves 150 tokens, calibrated, for a
    summary."""
    situation = case.situation()
    if not situation.transcript.cuts:
        return
    factor = case.bench.counter.calibration.factor(case.bench.model)
    needed = min(situation.desk.rest(cut) for cut in situation.transcript.cuts)
    case.bench.window = max(200, int(needed + LEAST_BLOCK * factor) + spare)
    plan = make_plan(case.situation())
    if plan.level == "aggressive":
        assert plan.view.tokens < case.bench.window
