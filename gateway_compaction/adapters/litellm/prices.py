"""Find the prices of a model group's prompt tokens, in LiteLLM's price map and the proxy's configuration."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeGuard

import litellm

from gateway_compaction.adapters.litellm.models import get_live_router
from gateway_compaction.core.policy.optimize import ModelCosts
from gateway_compaction.core.records.savings import PromptPrice
from gateway_compaction.ports import Models

PRICE = "input_cost_per_token"
READ_PRICE = "cache_read_input_token_cost"
WRITE_PRICE = "cache_creation_input_token_cost"
PRICE_SECONDS = 300.0
"""Seconds that prices are cached: one that an admin sets is used within five minutes."""
MOST_GROUPS = 1_000
"""Most groups cached; clients choose the names."""


class PromptPrices:
    """Prices by model group, cached for some minutes: the cheapest deployment's, to overstate no saving."""

    def __init__(
        self, router: Callable[[], Any] = get_live_router, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._router, self._clock = router, clock
        self._known: dict[str, tuple[float, PromptPrice | None]] = {}

    def __call__(self, model: str) -> PromptPrice | None:
        """Return a group's prices, or None where that of its new tokens is not known."""
        until, price = self._known.get(model, (0.0, None))
        if until <= self._clock():
            price = self._look_up(model)
            if len(self._known) >= MOST_GROUPS:
                self._known.clear()
            self._known[model] = (self._clock() + PRICE_SECONDS, price)
        return price

    def _look_up(self, model: str) -> PromptPrice | None:
        router = self._router()
        deployments = (router.get_model_list(model_name=model) or ()) if router is not None else ()
        found = [price for d in deployments if (price := _deployment_price(d)) is not None]
        if found or deployments:
            return min(found, key=lambda price: price.new, default=None)
        return _to_price(_catalogue_prices(model))


def _deployment_price(deployment: Mapping[str, Any]) -> PromptPrice | None:
    params, info = deployment.get("litellm_params") or {}, deployment.get("model_info") or {}
    for written in (params, info):
        if _is_number(written.get(PRICE)):
            return _to_price(written)
    return _to_price(_catalogue_prices(str(info.get("base_model") or params.get("model") or "")))


def _catalogue_prices(model: str) -> Mapping[str, Any]:
    try:
        found = litellm.get_model_info(model)
    except Exception:  # LiteLLM raises bare exceptions for what it does not know
        return {}
    # LiteLLM's router adds what it does not know to the map, for nothing.
    return dict(found) if found.get(PRICE) else {}


def _to_price(listed: Mapping[str, Any]) -> PromptPrice | None:
    """Read prices; where there is none for cached tokens, they cost what new ones cost."""
    new = listed.get(PRICE)
    if not _is_number(new):
        return None
    read, written = (
        float(listed[name]) if _is_number(listed.get(name)) else float(new)
        for name in (READ_PRICE, WRITE_PRICE)
    )
    return PromptPrice(float(new), read, written)


def _is_number(value: Any) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


@dataclass(frozen=True, slots=True)
class CostFinder:
    """Finds what ``optimize: cost`` has to know of a model group."""

    models: Models
    prices: PromptPrices = field(default_factory=PromptPrices)

    def find_costs(self, model: str | None) -> ModelCosts:
        """See ``core.policy.optimize.FindCosts``."""
        if not model:
            return ModelCosts()
        price = self.prices(model)
        return ModelCosts(None if price is None else price.cached_share, self.models.facts(model).window)
