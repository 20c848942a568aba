"""Find the price of a model group's input token, in LiteLLM's price map and the proxy's configuration."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

import litellm

from gateway_compaction.adapters.litellm.models import get_live_router

PRICE = "input_cost_per_token"
SECONDS = 300.0
MOST = 1_000


class InputPrices:
    """Prices by model group, remembered for some minutes; the cheapest deployment's, so as not to boast."""

    def __init__(
        self, router: Callable[[], Any] = get_live_router, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._router, self._clock = router, clock
        self._known: dict[str, tuple[float, float | None]] = {}

    def __call__(self, model: str) -> float | None:
        """Return dollars for one token, or None where the price is not known."""
        until, price = self._known.get(model, (0.0, None))
        if until <= self._clock():
            price = self._look_up(model)
            if len(self._known) >= MOST:
                self._known.clear()
            self._known[model] = (self._clock() + SECONDS, price)
        return price

    def _look_up(self, model: str) -> float | None:
        router = self._router()
        deployments = (router.get_model_list(model_name=model) or ()) if router is not None else ()
        found = [price for d in deployments if (price := _deployment_price(d)) is not None]
        return min(found) if found else None if deployments else _catalogue_price(model)


def _deployment_price(deployment: Mapping[str, Any]) -> float | None:
    params, info = deployment.get("litellm_params") or {}, deployment.get("model_info") or {}
    for written in (params.get(PRICE), info.get(PRICE)):
        if isinstance(written, int | float):
            return float(written)
    return _catalogue_price(str(info.get("base_model") or params.get("model") or ""))


def _catalogue_price(model: str) -> float | None:
    try:
        price = litellm.get_model_info(model).get(PRICE)
    except Exception:  # LiteLLM raises bare exceptions for what it does not know
        return None
    # LiteLLM's router adds what it does not know to the map, for nothing.
    return float(price) if isinstance(price, int | float) and price > 0 else None
