"""``optimize: cost``: which defaults follow from the price of cached tokens, and what they leave alone."""

from __future__ import annotations

from typing import Any

import pytest

from gateway_compaction.core.policy.book import Identity, PolicyBook
from gateway_compaction.core.policy.optimize import ModelCosts, choose_by_cost, know_no_costs

LEVELS = {"levels.light.at": 0.5, "levels.medium.at": 0.6}
ALWAYS = {"summary.share_prefix": True, "recall.priority": "cost"}


def write(
    defaults: dict[str, Any], cached: float | None = None, window: int | None = 8_000, **rest: Any
) -> PolicyBook:
    document = {"version": 1, "defaults": defaults, **rest}
    return PolicyBook(document, "policies.yaml", find_costs=lambda _: ModelCosts(cached, window))


class TestTheChoice:
    """The values by price, and by what is written."""

    @pytest.mark.parametrize(
        ("cached", "levels"), [(None, {}), (0.1, {}), (0.25, LEVELS), (0.5, LEVELS), (1.0, LEVELS)]
    )
    def test_dear_cached_tokens_are_compacted_early(
        self, cached: float | None, levels: dict[str, Any]
    ) -> None:
        assert choose_by_cost(ModelCosts(cached, 8_000), []) == {**ALWAYS, **levels}

    @pytest.mark.parametrize("window", [None, 7_999])
    def test_not_in_a_window_that_is_soon_full_again(self, window: int | None) -> None:
        assert choose_by_cost(ModelCosts(0.5, window), []) == ALWAYS

    @pytest.mark.parametrize("path", ["levels.light.at", "levels.medium.keep_last", "levels.aggressive.at"])
    def test_levels_are_those_of_the_policy_or_ours_and_never_mixed(self, path: str) -> None:
        assert choose_by_cost(ModelCosts(0.5, 8_000), [path]) == ALWAYS

    def test_what_is_written_stays(self) -> None:
        costs = ModelCosts(0.5, 8_000)
        assert choose_by_cost(costs, ["recall.priority", "mode"]) == {"summary.share_prefix": True, **LEVELS}


class TestThePolicy:
    """The policy that holds for a request."""

    def test_it_follows_the_price(self) -> None:
        policy = write({"optimize": "cost"}, 0.5).resolve(Identity(model="gpt"))
        assert (policy.levels.medium.at, policy.summary.share_prefix) == (0.6, True)
        assert policy.recall.priority == "cost"

    def test_without_it_nothing_changes(self) -> None:
        plain = write({}, 0.5).resolve(Identity(model="gpt"))
        assert (plain.levels.medium.at, plain.summary.share_prefix) == (0.85, False)
        assert plain.recall.priority == "balanced"

    @pytest.mark.parametrize("place", ["defaults", "policies", "preset"])
    def test_what_somebody_wrote_is_stronger_wherever_it_stands(self, place: str) -> None:
        """Also where it is weaker than the layer that asks for it."""
        own: dict[str, Any] = {"levels": {"medium": {"at": 0.8}}}
        match place:
            case "defaults":
                entry = {"name": "one", "match": {"model": ["gpt"]}, "optimize": "cost"}
                book = write(own, 0.5, policies=[entry])
            case "policies":
                entry = {"name": "one", "match": {"model": ["gpt"]}, **own}
                book = write({"optimize": "cost"}, 0.5, policies=[entry])
            case _:
                book = write({"optimize": "cost", "preset": "agent"}, 0.5)
        policy = book.resolve(Identity(model="gpt"))
        assert policy.levels.medium.at == (0.75 if place == "preset" else 0.8)
        assert policy.recall.priority == "cost"

    def test_a_team_may_ask_for_it(self) -> None:
        identity = Identity(model="gpt", team_block={"optimize": "cost"})
        assert write({}, 0.5).resolve(identity).levels.medium.at == 0.6

    def test_a_new_price_counts_with_the_next_request(self) -> None:
        prices = [0.1]
        document = {"version": 1, "defaults": {"optimize": "cost"}}
        book = PolicyBook(document, "policies.yaml", find_costs=lambda _: ModelCosts(prices[0], 8_000))
        assert book.resolve(Identity(model="gpt")).levels.medium.at == 0.85
        prices[0] = 0.5
        assert book.resolve(Identity(model="gpt")).levels.medium.at == 0.6

    def test_nobody_pays_for_a_price_that_nobody_asked_for(self) -> None:
        def find_costs(model: str | None) -> ModelCosts:
            raise AssertionError(model)

        PolicyBook({"version": 1}, "p.yaml", find_costs=find_costs).resolve(Identity(model="gpt"))

    def test_the_window_is_the_policy_s_where_that_writes_one(self) -> None:
        book = write({"optimize": "cost", "context_window": 8_000}, 0.5, window=4_000)
        assert book.resolve(Identity(model="gpt")).levels.medium.at == 0.6

    @pytest.mark.parametrize(
        ("cached", "reason"),
        [(0.5, "a cached token costs 0.50 of a new one"), (None, "cached tokens is not known")],
    )
    def test_it_is_explained_with_its_reason(self, cached: float | None, reason: str) -> None:
        values = write({"optimize": "cost"}, cached).explain(Identity(model="gpt"))
        source = {value.path: value.source for value in values}["recall.priority"]
        assert source.startswith("optimize: cost") and reason in source


def test_where_nobody_can_be_asked_the_price_is_said_not_to_be_known() -> None:
    costs = know_no_costs("gpt-4o")
    assert choose_by_cost(costs, ()) == ALWAYS
    assert "not known" in costs.explain()
