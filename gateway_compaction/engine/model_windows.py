"""The windows of models as one process knows them: from the policy, from the host, and from refusals."""

from __future__ import annotations

from dataclasses import replace

from gateway_compaction.core.policy.model import Policy
from gateway_compaction.engine.parts import EngineParts
from gateway_compaction.engine.request import SizedModel
from gateway_compaction.ports import ModelFacts, Models


class ModelWindows:
    """Finds the window that a request must fit.

    Args:
        parts: hold what refusals have taught.
        models: what the host knows of its models.
    """

    def __init__(self, parts: EngineParts, models: Models) -> None:
        self._parts, self._models = parts, models

    def find_model(self, name: str, policy: Policy) -> SizedModel | None:
        """Return the model group of a name with its window, or None.

        Any of its deployments may be chosen: the smallest window holds, and a model whose window is not
        known has no say while another's is.
        """
        facts = self._models.facts(name)
        windows = [(self.find_window(one, policy), one.name) for one in facts.deployments or (facts,)]
        known = [SizedModel(name, window) for window, name in windows if window is not None]
        return min(known, key=lambda model: model.window, default=None)

    def find_group_window(self, name: str, policy: Policy) -> int | None:
        """Return the window of a model group, None where it is unknown."""
        model = self.find_model(name, policy)
        return None if model is None else model.window

    def find_window(self, facts: ModelFacts, policy: Policy, *, own_group: bool = True) -> int | None:
        """Return the window of a deployment, None where it is unknown.

        The policy's comes before the host's, unless another group is asked than the client named. What
        refusals have taught comes before both where it is smaller: no declaration makes a provider take more.
        """
        declared = (policy.context_window if own_group else None) or facts.window
        if declared is None and isinstance(policy.unknown_window, int):
            declared = policy.unknown_window
        if declared is None and policy.unknown_window == "leave":
            return None
        return self._parts.windows.window(facts.key, declared, self._parts.clock())


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
