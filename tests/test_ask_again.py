"""Asking again where LiteLLM has no such function, or another: every call is answered as without us."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from types import ModuleType, SimpleNamespace
from typing import Any

import litellm
import pytest

from gateway_compaction.adapters.litellm import ask_again

NAMES = list(ask_again.FUNCTIONS.values())


class Once:
    """Refusals that have every failing call asked once more."""

    def __init__(self) -> None:
        self.asked = 0

    def is_watched(self, endpoint: str, kwargs: Mapping[str, Any]) -> bool:
        return True

    def may_ask_again(self, kwargs: Mapping[str, Any], error: Exception) -> bool:
        return not self.asked

    async def ask_again(self, kwargs: Mapping[str, Any], error: Exception) -> bool:
        self.asked += 1
        return True


class Refusing:
    """A function of LiteLLM's that refuses the first call."""

    def __init__(self, answer: Any = "an answer") -> None:
        self.answer, self.calls = answer, 0

    async def __call__(self, *args: Any, **kwargs: Any) -> Any:
        self.calls += 1
        if self.calls == 1:
            raise ValueError("too long")
        return self.answer


@pytest.fixture(autouse=True)
def put_back(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in NAMES:
        monkeypatch.setattr(litellm, name, getattr(litellm, name))


def test_this_litellm_has_all_that_is_replaced() -> None:
    ask_again.install(Once())
    assert all(getattr(getattr(litellm, name), ask_again.MARK, False) for name in NAMES)
    from litellm._internal_context import resent_on

    with resent_on(lambda error: False):
        pass


@pytest.mark.parametrize("missing", NAMES)
@pytest.mark.parametrize("other", ["none", "a function that does not wait", "no function"])
def test_what_is_not_as_expected_is_left_alone(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, missing: str, other: str
) -> None:
    stand_in: Any = print if other == "a function that does not wait" else 7
    if other == "none":
        monkeypatch.delattr(litellm, missing)
        # LiteLLM looks for what it does not have, when it is asked for it.
        monkeypatch.setitem(litellm.__dict__, "__getattr__", _raise_attribute_error)
    else:
        monkeypatch.setattr(litellm, missing, stand_in)
    ask_again.install(Once())
    if other != "none":
        assert getattr(litellm, missing) is stand_in
    assert all(hasattr(getattr(litellm, name), ask_again.MARK) for name in NAMES if name != missing)
    assert f"litellm.{missing}" in caplog.text


def _raise_attribute_error(name: str) -> Any:
    raise AttributeError(name)


@pytest.mark.parametrize("context", ["missing", "of other parameters", "of another kind"])
@pytest.mark.parametrize(
    "answer",
    [
        "an answer",
        SimpleNamespace(completion_stream=None, make_call=print),
        SimpleNamespace(completion_stream=None, make_call=print, fetch_stream=print),
    ],
)
async def test_a_call_is_asked_again_without_what_else_is_used(
    monkeypatch: pytest.MonkeyPatch, context: str, answer: Any
) -> None:
    module = ModuleType("litellm._internal_context")
    if context != "missing":
        stand_in = (lambda: None) if context == "of other parameters" else (lambda predicate: predicate)
        vars(module)["resent_on"] = stand_in
    monkeypatch.setitem(sys.modules, "litellm._internal_context", module)
    refusals, function = Once(), Refusing(answer)
    asking_again = ask_again.wrap(function, "chat", refusals)
    assert await asking_again(model="m") is answer
    assert (refusals.asked, function.calls) == (1, 2)
