"""The costs of models for commands that explain or play a policy without a running gateway."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from gateway_compaction.cli.findings import deployments_in, providers_in
from gateway_compaction.cli.launch import apply_defaults
from gateway_compaction.core.policy.optimize import ModelCosts

if TYPE_CHECKING:
    from gateway_compaction.adapters.litellm.prices import CostFinder


@dataclass(slots=True)
class ConfigCosts:
    """The costs of the model groups of a proxy's config, and of models as LiteLLM's price map knows them.

    LiteLLM takes seconds to import: it is, once a policy asks for a price.

    Attributes:
        config: the proxy's config; None, or one that cannot be read, has no groups.
        window: tokens of the window that is played, in place of the model's own.
    """

    config: Path | None = None
    window: int | None = None
    _finder: CostFinder | None = field(default=None, repr=False)

    def find_costs(self, model: str | None) -> ModelCosts:
        """See ``core.policy.optimize.FindCosts``."""
        if self._finder is None:
            self._finder = _load_finder(self.config)
        found = self._finder.find_costs(model)
        return found if self.window is None else replace(found, window=self.window)


def _load_finder(config: Path | None) -> CostFinder:
    apply_defaults(os.environ)
    from gateway_compaction.adapters.litellm.prices import CostFinder, PromptPrices
    from gateway_compaction.adapters.litellm.probes import load_config_models

    raw: Any = None
    with suppress(OSError, ValueError, yaml.YAMLError):
        raw = yaml.safe_load(config.read_text("utf-8")) if config else None
    raw = raw if isinstance(raw, Mapping) else {}
    offered = load_config_models(deployments_in(raw), providers_in(raw))
    return CostFinder(offered.models, PromptPrices(lambda: offered.router))
