"""The parts of a process, put together: what is closed with it."""

from __future__ import annotations

from gateway_compaction.adapters.litellm.models import ProxyModels
from gateway_compaction.ports import SummaryAnswer, SummaryRequest
from gateway_compaction.runtime import build
from gateway_compaction.settings import Settings
from tests.policy_books import book


class Silent:
    """A summariser that holds nothing."""

    async def complete(self, request: SummaryRequest) -> SummaryAnswer:
        raise AssertionError("nobody asks")


class Connected(Silent):
    """One that counts how often it is closed."""

    closed = 0

    async def aclose(self) -> None:
        self.closed += 1


async def test_a_summariser_with_connections_is_closed_once() -> None:
    connected = Connected()
    await build(Settings(), ProxyModels(lambda: None), connected, lambda: book()).aclose()
    assert connected.closed == 1


async def test_one_without_any_need_not_know_of_it() -> None:
    await build(Settings(), ProxyModels(lambda: None), Silent(), lambda: book()).aclose()
