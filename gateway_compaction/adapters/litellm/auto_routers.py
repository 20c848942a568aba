"""LiteLLM's auto-routers: model groups that stand for other groups, of which one is chosen for each request.

A request is fitted before that choice, so the window of such a group is that of the smallest group it may
choose: a larger one is no harm, a smaller one would refuse the request.

Relies on LiteLLM 1.108: that such a deployment's model begins with ``auto_router/``, and on where the four
kinds of routers (complexity, adaptive, quality, semantic) name their groups in ``litellm_params``. Routes in
a file of their own (``auto_router_config_path``) are not read. tests/engine/test_auto_routers.py makes each
of them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from gateway_compaction.adapters.litellm.internals import find_internal

DEFAULT_TIER_MODELS: Mapping[str, str] = find_internal(
    "litellm.router_strategy.complexity_router.config",
    "DEFAULT_TIER_MODELS",
    instead={},
    without="A complexity router without tiers of its own has no known window: its requests are left alone",
)

PREFIX = "auto_router/"
COMPLEXITY = "auto_router/complexity_router"


def is_auto_router(deployment: Mapping[str, Any]) -> bool:
    """Tell whether a deployment only chooses among other model groups."""
    return _read_model(deployment).startswith(PREFIX)


def list_choices(deployment: Mapping[str, Any]) -> list[str]:
    """Return the model groups that an auto-router may choose, as far as its entry names them."""
    found: dict[str, None] = {}
    params = deployment.get("litellm_params")
    for name, value in params.items() if isinstance(params, Mapping) else ():
        if name.endswith("_router_default_model") and isinstance(value, str):
            found[value] = None
        elif name.endswith("_router_config"):
            found.update(dict.fromkeys(_list_groups(_read_config(value))))
    if _read_model(deployment).startswith(COMPLEXITY) and "tiers" not in _read_config_of(deployment):
        found.update(dict.fromkeys(DEFAULT_TIER_MODELS.values()))
    return list(found)


def compacts_itself(deployment: Mapping[str, Any]) -> bool:
    """Tell whether a complexity router compacts, or refuses, what nears the window of its choice.

    It does unless its config says otherwise; what it cannot compact it refuses, however well it would have
    fitted after our own compaction.
    """
    if not _read_model(deployment).startswith(COMPLEXITY):
        return False
    return _read_config_of(deployment).get("context_compaction", True) not in (False, None)


def _read_model(deployment: Mapping[str, Any]) -> str:
    params = deployment.get("litellm_params")
    return str(params.get("model") or "") if isinstance(params, Mapping) else ""


def _read_config_of(deployment: Mapping[str, Any]) -> Mapping[str, Any]:
    params = deployment.get("litellm_params")
    return _read_config(params.get("complexity_router_config")) if isinstance(params, Mapping) else {}


def _read_config(value: Any) -> Mapping[str, Any]:
    """Return a router's config: a mapping, or JSON of one."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return {}
    return value if isinstance(value, Mapping) else {}


def _list_groups(config: Mapping[str, Any]) -> Iterator[str]:
    """Yield the groups that a router's config names as choices; other models in it only judge."""
    tiers, details = config.get("tiers"), config.get("tier_model_configs")
    pools = [*(tiers.values() if isinstance(tiers, Mapping) else ()), config.get("available_models")]
    pools += details.values() if isinstance(details, Mapping) else ()
    pools += [config.get("routes"), config.get("default_model")]
    for pool in pools:
        for one in pool if isinstance(pool, list | tuple) else [pool]:
            name = one.get("model_name") or one.get("name") if isinstance(one, Mapping) else one
            if isinstance(name, str) and name:
                yield name
