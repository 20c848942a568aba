"""Hold what the routes work with, on LiteLLM's application."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import Depends, Request

from gateway_compaction.admin.sign_ins import SignIns
from gateway_compaction.archive import Archive
from gateway_compaction.core.policy.book import PolicyBook
from gateway_compaction.core.records.savings import PromptPrice
from gateway_compaction.core.tokens.windows import LearnedWindow
from gateway_compaction.engine.kept_conversations import KeptConversations
from gateway_compaction.ports import Models, Store, Summarizer

STATE = "gateway_compaction"


async def _notify_nobody() -> None:
    """Do nothing: no request of this process needs to know."""


async def _write_nothing() -> None:
    """Do nothing: whoever has no store of its own has nothing to try out."""


async def _know_no_problems() -> Mapping[str, int]:
    """Return nothing: no request was left alone for its policy."""
    return {}


@dataclass(frozen=True, slots=True)
class KeptParts:
    """The conversations that the gateway keeps, and the store in which they are recorded as sessions."""

    conversations: KeptConversations
    store: Store


@dataclass(frozen=True, slots=True)
class SummarizeParts:
    """The parts of a process that summaries on demand need."""

    summarizer: Summarizer
    models: Models


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts of one process, as far as operators need them.

    Attributes:
        archive: the operators' side of the store.
        policies: the policies in force.
        price: dollars for the prompt tokens of a model group, None where they are not known.
        metrics: all metrics as text, and their content type; reads files.
        health: how this process is doing, as JSON types; never asks the store.
        count: tokens of a text for a model.
        sign_ins: who is signed in to the page.
        metrics_public: whether metrics are for everybody.
        windows: what refusals have taught of the windows of deployments, by deployment.
        policy_problems: requests that were left alone because their policy cannot be used, by the problem.
        try_write: writes something of no meaning to the store, as ``Store.try_write`` does.
        attend: let the requests of this process know of an operator's action, before it is answered.
        kept: conversations that the gateway keeps; None where the process has none.
        summaries: who is asked for summaries on demand; None where nobody is.
    """

    archive: Archive
    policies: Callable[[], PolicyBook]
    price: Callable[[str], PromptPrice | None]
    metrics: Callable[[], tuple[bytes, str]]
    health: Callable[[], Mapping[str, Any]]
    count: Callable[[str, str], int]
    sign_ins: SignIns
    metrics_public: bool = False
    windows: Callable[[], Mapping[str, LearnedWindow]] = dict
    policy_problems: Callable[[], Awaitable[Mapping[str, int]]] = _know_no_problems
    try_write: Callable[[], Awaitable[None]] = _write_nothing
    attend: Callable[[], Awaitable[None]] = _notify_nobody
    kept: KeptParts | None = None
    summaries: SummarizeParts | None = None


def parts_of(request: Request) -> Parts:
    """Return the parts that were mounted on the request's application."""
    parts: Parts = getattr(request.app.state, STATE)
    return parts


PartsDep = Annotated[Parts, Depends(parts_of)]
