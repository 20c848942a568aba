"""The parameters of a summariser's call, and what to do where a provider refuses one of them.

Providers name the parameter that they refuse: ``Unsupported parameter: 'max_tokens' is not supported with
this model. Use 'max_completion_tokens' instead.`` So there is no list of models here: which parameter is
changed or left out follows from the error alone, and is remembered for the model once it has helped. A
request that was refused is never sent again as it was.

Relies on LiteLLM 1.108: that ``additional_drop_params`` of a call also leaves out what the deployment's own
``litellm_params`` hold, and that ``OPENAI_CHAT_COMPLETION_PARAMS`` names what providers are sent.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Self

from gateway_compaction.adapters.litellm.internals import find_internal
from gateway_compaction.core.tokens.refusal_answers import is_answer_refusal

OPENAI_CHAT_COMPLETION_PARAMS = find_internal(
    "litellm.constants",
    "OPENAI_CHAT_COMPLETION_PARAMS",
    instead=(),
    without="A parameter of a summariser's deployment that its provider refuses is not left out",
)

# The two names of the longest answer. Some models refuse the one, older servers do not know the other.
LIMIT, NEW_LIMIT = "max_tokens", "max_completion_tokens"

# What says that the one is to be sent in place of the other. Errors about its value name both as well.
RENAMED = re.compile(
    rf"(?i)\b(?:use|favou?r of|replaced by|renamed to)\W{{1,4}}{NEW_LIMIT}\b|\b{NEW_LIMIT}\W{{1,4}}instead\b"
)

# Parameters of a deployment that are sent to no provider, or without which there is no call.
NEVER_LEFT_OUT = frozenset(
    "api_base api_key api_version base_url default_headers deployment_id extra_headers max_retries"
    " organization request_timeout timeout".split()
)

# Names that are also plain English: such a one counts only in quotes, or before a colon.
PLAIN_WORDS = frozenset(
    ("audio", "functions", "n", "seed", "stop", "store", "stream", "thinking", "tools", "user")
)

# Models whose corrections are kept; clients choose the names, so a bound must be somewhere.
MOST_MODELS = 1_000


@dataclass(frozen=True, slots=True)
class Correction:
    """The differences between a call and the usual one, which a provider refused.

    Attributes:
        limit: the name under which the longest answer is sent.
        left_out: parameters that are not sent, whether they are ours or the deployment's.
    """

    limit: str = LIMIT
    left_out: tuple[str, ...] = ()

    def correct(self, error: str, sent: Iterable[str], asked: int = 0) -> Self | None:
        """Return the correction that an error's text asks for, or None where it names nothing that was sent.

        Args:
            error: the text of the refusal.
            sent: parameters of the deployment and of the caller's tools; the limit is always sent.
            asked: tokens of the longest answer as they were sent, 0 where that is not known.
        """
        named = [name for name in (self.limit, *sent) if name not in self.left_out and _is_named(name, error)]
        if not named:
            # Some refuse the longest answer in prose: ``The maximum tokens you requested exceeds the limit``.
            if self.limit in self.left_out or not is_answer_refusal(error, asked=asked):
                return None
            return type(self)(self.limit, (*self.left_out, self.limit))
        # The one that is named first is the one that is refused: advice comes behind it.
        first = min(named, key=lambda name: _find(name, error))
        if first == self.limit == LIMIT and RENAMED.search(error):
            return type(self)(NEW_LIMIT, self.left_out)
        return type(self)(self.limit, (*self.left_out, first))

    def apply(self, max_tokens: int, tools: Mapping[str, Any], dropped: Iterable[str]) -> dict[str, Any]:
        """Return a call's parameters as they are to be sent.

        Args:
            max_tokens: tokens of the longest answer.
            tools: the caller's tools, and what belongs to them.
            dropped: what the deployments' own ``additional_drop_params`` name; a call's list would hide it.
        """
        usual = {self.limit: max_tokens, **tools}
        parameters = {name: value for name, value in usual.items() if name not in self.left_out}
        if self.left_out:
            parameters["additional_drop_params"] = sorted({*self.left_out, *dropped})
        return parameters


class Corrections:
    """The corrections that helped, by model group, for as long as the process runs."""

    def __init__(self) -> None:
        self._known: dict[str, Correction] = {}

    def find(self, model: str) -> Correction:
        """Return how the calls of a model differ from the usual one."""
        return self._known.get(model, Correction())

    def remember(self, model: str, correction: Correction) -> None:
        """Keep what helped, so that the next call is not refused first."""
        if len(self._known) >= MOST_MODELS:
            self._known.clear()
        self._known[model] = correction


def list_sent(deployments: Iterable[Mapping[str, Any]]) -> tuple[list[str], list[str]]:
    """Return what deployments' own ``litellm_params`` send besides, and what they leave out themselves."""
    sent: dict[str, None] = {}
    dropped: dict[str, None] = {}
    for deployment in deployments:
        params = deployment.get("litellm_params")
        for name, value in params.items() if isinstance(params, Mapping) else ():
            if name == "additional_drop_params" and isinstance(value, list):
                dropped.update(dict.fromkeys(str(one) for one in value))
            elif value is not None and name in OPENAI_CHAT_COMPLETION_PARAMS and name not in NEVER_LEFT_OUT:
                sent[name] = None
    return list(sent), list(dropped)


def _is_named(name: str, error: str) -> bool:
    return _find(name, error) >= 0


def _find(name: str, error: str) -> int:
    """Return where an error names a parameter, -1 where it does not."""
    pattern = rf"['\"`]{name}['\"`]|\b{name}:" if name in PLAIN_WORDS else rf"\b{name}\b"
    found = re.search(pattern, error)
    return found.start() if found else -1
