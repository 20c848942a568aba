"""Wrap the functions of other libraries that compaction is compared with; each is imported only when asked
for, and may be missing.
"""

from __future__ import annotations

import asyncio
import copy
import logging
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from gateway_compaction.core.conversation.messages import Message
from gateway_compaction.evaluation.strategies import Strategy, Weigh

Work = Callable[[list[Any], int], Sequence[Any]]


@dataclass(frozen=True, slots=True)
class Absent:
    """A strategy that cannot be run here, and why."""

    name: str
    why: str


@dataclass(frozen=True, slots=True)
class Peer:
    """A library function as a strategy; it runs in a thread, on a copy, since some edit what they get."""

    name: str
    work: Work
    reads_question: bool

    async def send(self, messages: Sequence[Message], budget: int, asked: bool) -> list[Message]:
        """See ``Strategy``."""
        return list(await asyncio.to_thread(self.work, copy.deepcopy(list(messages)), budget))


def find_peers(model: str, weigh: Weigh) -> list[Strategy | Absent]:
    """Return the functions of LiteLLM and LangChain that shorten a conversation, or why they are absent."""
    made: list[Strategy | Absent] = []
    for name, module, reads, make in (
        ("litellm.compress", "litellm.compression.compress", True, _litellm_compress),
        ("litellm.trim_messages", "litellm.utils", False, _litellm_trim),
        ("langchain trim_messages", "langchain_core.messages", False, _langchain_trim),
    ):
        try:
            made.append(Peer(name, make(import_library(module), model, weigh), reads))
        except ImportError:
            made.append(Absent(name, f"{module.partition('.')[0].replace('_', '-')} is not installed"))
    return made


def import_library(module: str) -> Any:
    """Import a module of another library now.

    Raises:
        ImportError: it is not installed.
    """
    # LiteLLM's list of prices is not needed here, and would be downloaded.
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    # Some of its functions log the faults that they raise as well.
    logging.getLogger("LiteLLM").setLevel(logging.CRITICAL)
    return import_module(module)


def _litellm_compress(source: Any, model: str, weigh: Weigh) -> Work:
    def work(messages: list[Any], budget: int) -> Sequence[Any]:
        result = source.compress(messages, model, compression_trigger=budget, compression_target=budget)
        return list(result["messages"])

    return work


def _litellm_trim(source: Any, model: str, weigh: Weigh) -> Work:
    def work(messages: list[Any], budget: int) -> Sequence[Any]:
        return list(source.trim_messages(messages, model, max_tokens=budget))

    return work


def _langchain_trim(source: Any, model: str, weigh: Weigh) -> Work:
    def plain(messages: Any) -> list[Any]:
        told = source.convert_to_openai_messages(messages)
        return told if isinstance(told, list) else [told]

    def work(messages: list[Any], budget: int) -> Sequence[Any]:
        kept = source.trim_messages(
            source.convert_to_messages(messages),
            max_tokens=budget,
            token_counter=lambda some: weigh(plain(some)),
            strategy="last",
            include_system=True,
            start_on="human",
        )
        return plain(kept)

    return work
