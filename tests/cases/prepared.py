"""A case made ready for the proxy: its own models, teams, keys and policies, so that one proxy serves all."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from gateway_compaction.core.tokens.calibration import UNKNOWN, family_of
from tests.cases.case import Case
from tests.cases.case_situation import CaseSituation, Stored, Summariser
from tests.cases.phrases import read
from tests.cases.weights import counted, scaled
from tests.lab import Model

__all__ = ["ABOUT_SUMMARIES", "Pass", "Prepared", "served"]

ABOUT_SUMMARIES = ("summariser_", "max_summariser_calls", "updates_equal_calls", "state_valid_serial")
PASSES = 3
SUMMARISER_WINDOW = 128_000
PRICE = 1e-6
BUDGET = 1.0


@dataclass(frozen=True, slots=True)
class Pass:
    """One run of a case: what is stored before it, and how the summariser answers."""

    number: int
    stored: tuple[Stored, ...]
    summariser: Summariser


@dataclass(frozen=True)
class Prepared:
    """One case with names of its own; ``index`` is its place in the run."""

    case: Case
    index: int

    @cached_property
    def context(self) -> CaseSituation:
        """What the policy text says."""
        return read(self.case.policy)

    @property
    def slug(self) -> str:
        """What its names have in common."""
        return f"c{self.index:03d}"

    @property
    def group(self) -> str:
        """The model group that the client asks for."""
        return self._named(str(self.case.request.get("model") or "model"))

    @property
    def summariser_group(self) -> str:
        """The model group that summarises."""
        return self._named("sum")

    @property
    def fallback_group(self) -> str | None:
        """The model group that the router falls back to."""
        return self._named(self.context.fallback.model) if self.context.fallback else None

    @cached_property
    def body(self) -> dict[str, Any]:
        """What the client sends besides model and messages."""
        return {k: v for k, v in self.case.request.items() if k != "model"}

    @cached_property
    def window(self) -> int | None:
        """The window in force for the model that is asked."""
        stated = self.context.window or self.context.model_window
        return self._scaled(stated) if stated else None

    @cached_property
    def fallback_window(self) -> int | None:
        """The window of the group that is fallen back to; scaled like the counts of the texts."""
        fallback, case = self.context.fallback, self.case
        if fallback is None or not case.estimated:
            return fallback.window if fallback else None
        ratio = counted(case.messages, self.body, fallback.window) / case.estimated
        return int(fallback.window * min(1.0, ratio))

    @cached_property
    def passes(self) -> tuple[Pass, ...]:
        """How often the case is run, each time for another tenant."""
        s, summariser = self.context, self.context.summariser
        about_summaries = any(check.startswith(ABOUT_SUMMARIES) for check in self.case.checks)
        starts_empty = s.unstored or summariser.stated or about_summaries or s.updates or s.held_turns
        first = s.stored or (() if starts_empty or not s.preseeded else (Stored(),))
        runs: list[tuple[tuple[Stored, ...], Summariser]] = [(first, summariser)]
        if len(summariser.texts) > 1:
            runs = [(first, replace(summariser, texts=(text,))) for text in summariser.texts]
        elif summariser.blocks:
            # A host may refuse a content of blocks, so that the product never sees them.
            runs = [(first, replace(summariser, form=form)) for form in ("blocks", "fields", "thoughts")]
        elif first and (summariser.stated or s.turns > 1):
            # What must hold of a stored summary must hold of one that is made on the way, too.
            runs.append(((), summariser))
        return tuple(Pass(n, stored, answers) for n, (stored, answers) in enumerate(runs[:PASSES]))

    @cached_property
    def second_passes(self) -> tuple[Pass, ...]:
        """The same once more, for other tenants."""
        return tuple(replace(run, number=run.number + PASSES) for run in self.passes)

    def team(self, number: int, name: str = "") -> str:
        """The team of a pass; ``name`` tells apart several in one case."""
        return f"case-{self.slug}-{number}{name}"

    def key(self, number: int, name: str = "") -> str:
        """The API key of that team."""
        return f"sk-{self.team(number, name)}"

    def keys(self) -> dict[str, dict[str, Any]]:
        """API keys with the fields of their identity."""
        found = {}
        for number in range(2 * PASSES):
            for name in {"", "t", self.context.team or "", *(s.team or "" for s in self.context.stored)}:
                fields: dict[str, Any] = {
                    "team_id": self.team(number, name),
                    "key_alias": self.key(number, name)[3:],
                }
                if self.context.budget_tokens is not None:
                    left = self.context.budget_tokens * PRICE
                    fields |= {"max_budget": BUDGET, "spend": BUDGET - left}
                found[self.key(number, name)] = fields
        return found

    def models(self) -> list[Model]:
        """Its deployments."""
        s = self.context
        window = self.window if s.model_window and not s.window else None
        info = {"max_output_tokens": s.output_tokens} if s.output_tokens else {}
        priced = s.budget_tokens is not None
        params = {"input_cost_per_token": PRICE, "output_cost_per_token": PRICE} if priced else {}
        models = [
            Model(self.group, window, served(self.group), params=params, info=info),
            Model(self.summariser_group, SUMMARISER_WINDOW, served(self.summariser_group), params=params),
        ]
        if self.fallback_group:
            fallback = self.fallback_group
            models.append(Model(fallback, self.fallback_window, served(fallback), params=params))
        return models

    def policies(self) -> list[dict[str, Any]]:
        """Its entries of the policy file."""
        s = self.context
        entry: dict[str, Any] = {
            "name": self.slug,
            "match": {"team": [f"case-{self.slug}-*"]},
            "summary": {"model": self.summariser_group},
        }
        if s.window:
            entry["context_window"] = self.window
        if s.summary_tokens:
            entry["summary"]["max_tokens"] = s.summary_tokens
        if not s.enabled:
            entry["mode"] = "off"
        entry["levels"] = _levels(s)
        common = {"name": f"{self.slug}-global", "match": {"model": [self.group]}, "levels": _eager()}
        return [common, entry] if s.global_policy else [entry]

    def _scaled(self, window: int) -> int:
        return scaled(window, self.case.stated_fill, self.case.messages, self.body)

    def _named(self, name: str) -> str:
        return f"{re.sub(r'[^A-Za-z0-9.-]', '-', name)}-{self.slug}"


def served(group: str) -> str:
    """The name by which the upstream knows a group: its own where that tells whose model it is.

    All others are counted as the case's author counted them, with an encoding that is exact.
    """
    return f"gpt-4o-{group}" if family_of(group) is UNKNOWN else group


def _levels(s: CaseSituation) -> dict[str, Any]:
    # The cases were written for a summary that takes an extract's place at the next call.
    levels: dict[str, dict[str, Any]] = {"light": {}, "medium": {}, "aggressive": {"replace": "at_once"}}
    if s.rewrites_at is not None:
        levels["medium"]["at"] = s.rewrites_at
        levels["light"]["at"] = min(0.75, round(s.rewrites_at - 0.1, 2))
    if s.fits_at is not None:
        levels["aggressive"]["at"] = s.fits_at
    if s.keep_last is not None:
        levels["medium"]["keep_last"] = levels["aggressive"]["keep_last"] = s.keep_last
    return {name: values for name, values in levels.items() if values}


def _eager() -> Mapping[str, Any]:
    return {"light": {"at": 0.4}, "medium": {"at": 0.5}, "aggressive": {"at": 0.6}}
