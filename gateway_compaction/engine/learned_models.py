"""Windows of model groups as summaries are asked for: no larger than refusals have taught."""

from __future__ import annotations

from dataclasses import replace

from gateway_compaction.engine.parts import EngineParts
from gateway_compaction.ports import ModelFacts, Models


class LearnedModels:
    """``Models`` of the host, corrected by what chats have learned of the same deployments.

    A summary is often asked of the chat's own model. With the declared window its history would be shown in
    one piece that the provider refuses, and no summary would ever be made.
    """

    def __init__(self, models: Models, parts: EngineParts) -> None:
        self._models, self._parts = models, parts

    def facts(self, model: str) -> ModelFacts:
        """See ``Models.facts``."""
        facts, now = self._models.facts(model), self._parts.clock()
        windows = (
            self._parts.windows.window(one.key, one.window, now) for one in facts.deployments or (facts,)
        )
        return replace(facts, window=min((w for w in windows if w is not None), default=None))
