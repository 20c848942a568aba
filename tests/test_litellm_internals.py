"""A part of LiteLLM that another release has moved costs what needs it, and not the proxy's start."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

import gateway_compaction
from gateway_compaction.adapters.litellm import auto_routers, internals, models, parameters, probes
from gateway_compaction.cli.findings import check_internals
from gateway_compaction.errors import SummaryDenied
from gateway_compaction.ports import Caller, SummaryRequest
from tests.engine.histories import chat
from tests.engine.host import Host
from tests.lab.counting import count_request

PACKAGE = Path(gateway_compaction.__file__).parent
LIGHT = 1_560  # tokens: a little over three quarters of the window of the host's model
TAKERS: tuple[ModuleType, ...] = (auto_routers, models, parameters, probes)
# Modules of LiteLLM that its documentation has people import from.
DOCUMENTED = {
    "litellm",
    "litellm.exceptions",
    "litellm.integrations.custom_guardrail",
    "litellm.integrations.custom_logger",
    "litellm.llms.custom_llm",
    "litellm.proxy._types",
    "litellm.router",
    "litellm.types.llms.openai",
    "litellm.types.utils",
}
# Loaded by the demo model alone, which nothing else needs.
OF_THE_DEMO = {"adapters/litellm/demo_model.py": {"litellm.litellm_core_utils.default_encoding"}}


def imports_of(source: str) -> Iterator[str]:
    """The modules that a module imports when it is loaded."""
    for node in ast.parse(source).body:
        if isinstance(node, ast.ImportFrom):
            yield str(node.module)
        elif isinstance(node, ast.Import):
            yield from (name.name for name in node.names)


def taken_by(module: ModuleType) -> list[tuple[str, str]]:
    """The parts that a module takes, as module and name."""
    constants = {n: v for n, v in vars(module).items() if isinstance(v, str)}
    found = []
    for node in ast.walk(ast.parse(Path(str(module.__file__)).read_text())):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "find_internal":
            first, second = node.args
            where = constants[first.id] if isinstance(first, ast.Name) else ast.literal_eval(first)
            found.append((where, ast.literal_eval(second)))
    return found


TAKEN = [(module, *part) for module in TAKERS for part in taken_by(module)]


def load_again(module: ModuleType) -> Any:
    """A copy of a module, loaded now; the module itself stays as it is."""
    spec = spec_from_file_location("a_copy", str(module.__file__))
    assert spec is not None and spec.loader is not None
    copy = module_from_spec(spec)
    spec.loader.exec_module(copy)
    return copy


@pytest.fixture
def missing(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """What is noted as missing while a test runs."""
    found: dict[str, str] = {}
    monkeypatch.setattr(internals, "MISSING", found)
    # A copy that defines dataclasses asks for its own module.
    monkeypatch.setitem(sys.modules, "a_copy", ModuleType("a_copy"))
    return found


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=lambda p: str(p.relative_to(PACKAGE)))
def test_what_is_imported_when_the_plugin_is_loaded_is_documented(path: Path) -> None:
    name = str(path.relative_to(PACKAGE))
    if name.startswith("admin/"):
        # Loaded by ``mount``, which goes on without the page.
        return
    found = {m for m in imports_of(path.read_text()) if m.partition(".")[0] == "litellm"}
    assert found <= DOCUMENTED | OF_THE_DEMO.get(name, set())


@pytest.mark.parametrize(("module", "where", "name"), TAKEN, ids=[f"{w}.{n}" for _, w, n in TAKEN])
@pytest.mark.parametrize("gone", ["the name", "the module"])
def test_without_it_everything_is_loaded_and_the_loss_is_told(
    module: ModuleType,
    where: str,
    name: str,
    gone: str,
    missing: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    assert hasattr(import_module(where), name), "this LiteLLM has it"
    if gone == "the module":
        monkeypatch.setitem(sys.modules, where, None)
    else:
        monkeypatch.delattr(where + "." + name)
    load_again(module)
    assert f"{where}.{name}" in missing and f"{where}.{name}" in caplog.text
    told = [one.found for one in check_internals("1.200", missing)]
    assert any(f"LiteLLM 1.200 has no {where}.{name}. {missing[f'{where}.{name}']}" == line for line in told)


def test_nothing_is_missing_here() -> None:
    assert internals.MISSING == {}
    assert [one.result for one in check_internals("1.200", {})] == ["ok"]


@pytest.mark.parametrize("name", ["caller_model_verdict", "proxy_sub_call_metadata"])
async def test_no_summary_is_asked_where_nobody_can_tell_the_caller_s_rights(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(models, name, None)
    summarizer = models.RouterSummarizer(lambda: SimpleNamespace())
    request = SummaryRequest("small", "Summarise.", "A talk.", 100, 5.0, caller=Caller("chat"))
    with pytest.raises(SummaryDenied, match="see doctor"):
        await summarizer.complete(request)


async def test_an_answer_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who finds no summary in a long conversation reads why in the header of the next answer."""
    monkeypatch.setattr(models, "caller_model_verdict", None)
    request = SummaryRequest("small", "Summarise.", "A talk.", 100, 5.0, caller=Caller("chat"))
    with pytest.raises(SummaryDenied) as denied:
        await models.RouterSummarizer(lambda: SimpleNamespace()).complete(request)
    host = Host(summary={"model": "small"})
    host.summarizer.answers = [denied.value]
    try:
        talk = next(chat(n) for n in range(1, 99, 2) if count_request({"messages": chat(n)}) > LIGHT)
        first = await host.call(talk).whole()
        await host.runtime.worker.drain(10.0)
        second = await host.call(talk).whole()
    finally:
        await host.runtime.aclose()
    assert first and first["x-compaction"] == "prepared", first
    assert second and second["x-compaction-reason"] == f"at level light; {denied.value}"


def test_what_cannot_be_told_is_left_to_litellm(monkeypatch: pytest.MonkeyPatch) -> None:
    router = SimpleNamespace(context_window_fallbacks=[{"chat": ["large"]}])
    monkeypatch.setattr(models, "find_fallback_groups", None)
    assert models.has_window_fallback(router, "other", {})
    assert not models.has_window_fallback(router, "other", {"disable_fallbacks": True})
    monkeypatch.setattr(probes, "master_key_boot_verdict", None)
    assert probes.find_master_key_fault(None, {}, False) is None
