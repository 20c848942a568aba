"""Prices of a router, the mounting itself, and what it leaves as it was."""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from litellm.proxy import proxy_server
from litellm.proxy._types import LiteLLMRoutes
from litellm.router import Router

from gateway_compaction.adapters.litellm.models import ProxyModels, RouterSummarizer
from gateway_compaction.adapters.litellm.prices import PromptPrices
from gateway_compaction.adapters.policy_watcher import PolicySource
from gateway_compaction.admin import mount as mounting
from gateway_compaction.admin.access import declare_routes
from gateway_compaction.admin.dependencies import STATE
from gateway_compaction.admin.json_response import to_json
from gateway_compaction.admin.routes import include_routes
from gateway_compaction.core.policy.book import PolicyBook
from gateway_compaction.core.records.savings import PromptPrice
from gateway_compaction.core.tokens.counter import TokenCounter
from gateway_compaction.runtime import build
from gateway_compaction.settings import Settings
from tests.admin.memory_archive import MemoryArchive, MemorySignIns

POLICIES = PolicyBook.default()


def group(name: str, model: str, **params: Any) -> dict[str, Any]:
    """One deployment."""
    return {"model_name": name, "litellm_params": {"model": model, "api_key": "sk-x", **params}}


def _schemas(document: dict[str, Any]) -> dict[str, Any]:
    schemas: dict[str, Any] = document["components"]["schemas"]
    return schemas


class TestPrices:
    """Dollars for one prompt token: new, read from the provider's cache, written to it."""

    @pytest.fixture
    def prices(self) -> PromptPrices:
        models = [
            group("catalogued", "openai/gpt-4o"),
            group("written", "openai/none-such", input_cost_per_token=0.5),
            group(
                "discounted", "openai/none-such", input_cost_per_token=0.5, cache_read_input_token_cost=0.1
            ),
            group("marked", "anthropic/claude-sonnet-4-5"),
            group("cheapest", "openai/gpt-4o"),
            group("cheapest", "openai/gpt-4o-mini"),
            group("unknown", "openai/none-such-2"),
        ]
        with warnings.catch_warnings():
            # LiteLLM's own types warn as they are built.
            warnings.simplefilter("ignore")
            router = Router(model_list=models)
        return PromptPrices(lambda: router)

    @pytest.mark.parametrize(
        ("model", "price"),
        [
            ("catalogued", PromptPrice(2.5e-6, 1.25e-6, 2.5e-6)),
            ("written", PromptPrice(0.5, 0.5, 0.5)),
            ("discounted", PromptPrice(0.5, 0.1, 0.5)),
            ("marked", PromptPrice(3e-6, 3e-7, 3.75e-6)),
            ("cheapest", PromptPrice(1.5e-7, 7.5e-8, 1.5e-7)),
            ("unknown", None),
            ("nowhere", None),
        ],
    )
    def test_of_a_group(self, prices: PromptPrices, model: str, price: PromptPrice | None) -> None:
        assert prices(model) == price

    def test_without_a_router_the_catalogue_is_asked(self) -> None:
        assert PromptPrices(lambda: None)("gpt-4o") == PromptPrice(2.5e-6, 1.25e-6, 2.5e-6)

    def test_they_are_remembered_for_a_while(self) -> None:
        asked, now = [], [0.0]

        def router() -> None:
            asked.append(now[0])

        prices = PromptPrices(router, lambda: now[0])
        for now[0] in (1.0, 2.0, 299.0, 302.0):
            prices("gpt-4o")
        assert asked == [1.0, 302.0]


class TestHealth:
    """How a process is doing, as JSON types."""

    @pytest.mark.parametrize("with_file", [False, True])
    async def test_of_a_process(self, tmp_path: Path, with_file: bool) -> None:
        file = tmp_path / "policies.yaml"
        file.write_text("version: 1\ndefaults: {mode: observe}\n", encoding="utf-8")
        policies = PolicySource(file if with_file else None)
        runtime = build(Settings(), ProxyModels(lambda: None), RouterSummarizer(lambda: None), policies)
        try:
            told = json.loads(to_json(mounting.describe_health(runtime)))
            assert told["policies"]["file"] == (str(file) if with_file else None)
            assert told["policies"]["digest"] == policies.state.digest and not told["policies"]["problem"]
            assert (told["queued"], told["store_open"], told["summarisers_open"]) == (0, False, 0)
            assert set(told["summaries"]) == {"made", "failed", "taken", "dropped"}
            file.write_text("version: 2\n", encoding="utf-8")
            for _ in range(2):
                policies.reload_if_changed()
            assert bool(mounting.describe_health(runtime)["policies"]["problem"]) is with_file
        finally:
            await runtime.aclose()

    async def test_policies_that_are_no_file_s(self) -> None:
        models, summarizer = ProxyModels(lambda: None), RouterSummarizer(lambda: None)
        runtime = build(Settings(), models, summarizer, lambda: POLICIES)
        try:
            assert mounting.describe_health(runtime)["policies"] is None
        finally:
            await runtime.aclose()


class TestMount:
    """On LiteLLM's application, once, or not at all."""

    @staticmethod
    def runtime() -> Any:
        return SimpleNamespace(
            policies=POLICIES,
            settings=SimpleNamespace(metrics_public=False),
            archive=MemoryArchive(),
            sign_ins=MemorySignIns(),
            counter=TokenCounter(),
            notice_poller=SimpleNamespace(try_poll=lambda: None),
            windows=SimpleNamespace(list_learned=dict),
            store=SimpleNamespace(policy_problems=dict, try_write=dict),
            conversations=None,
            summary_pipeline=SimpleNamespace(summarizer=None, models=None),
        )

    def test_twice_is_once(self, monkeypatch: pytest.MonkeyPatch) -> None:
        app = FastAPI()
        monkeypatch.setitem(sys.modules, mounting.PROXY, SimpleNamespace(app=app))
        mounting.mount(self.runtime())
        number = len(app.routes)
        assert "/compaction/overview" in app.openapi()["paths"]
        mounting.mount(self.runtime())
        assert len(app.routes) == number
        assert getattr(app.state, STATE).policies is POLICIES

    def test_where_there_is_no_proxy_nothing_is_loaded_or_said(
        self, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
    ) -> None:
        monkeypatch.delitem(sys.modules, mounting.PROXY)
        mounting.mount(self.runtime())
        assert mounting.PROXY not in sys.modules and caplog.records == []

    def test_a_failure_is_logged_once_and_goes_no_further(
        self, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
    ) -> None:
        monkeypatch.setitem(sys.modules, mounting.PROXY, SimpleNamespace(app=None))
        mounting.mount(self.runtime())
        assert [r.getMessage() for r in caplog.records] == ["admin: /compaction is not served"]

    @pytest.mark.filterwarnings("ignore")  # of LiteLLM's own types, as their schemas are made
    def test_nothing_of_the_host_s_document_changes(self) -> None:
        routes = [*proxy_server.app.routes]
        before = get_openapi(title="", version="", routes=routes)
        app = FastAPI()
        include_routes(app)
        after = get_openapi(title="", version="", routes=[*routes, *app.routes])
        for kind, names in ((before["paths"], after["paths"]), (_schemas(before), _schemas(after))):
            assert kind and all(names[name] == said for name, said in kind.items())
        assert "/compaction/overview" in after["paths"]

    def test_routes_are_declared_once(self) -> None:
        for _ in range(2):
            declare_routes()
        assert LiteLLMRoutes.self_managed_routes.value.count("/compaction/*") == 1
