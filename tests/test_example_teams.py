"""config/examples/teams: keys of teams without a database, as docs/policies.md tries them out."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.served import Gateway, served
from tests.test_cli_launch import ROOT

CONFIG = ROOT / "config" / "examples" / "teams" / "litellm.yaml"
PAGE = (ROOT / "docs" / "policies.md").read_text(encoding="utf-8")
SECTION = PAGE.partition("## Trying team policies")[2].partition("\n## ")[0]
TALK: list[dict[str, Any]] = json.loads((ROOT / "docs" / "examples" / "support_chat.json").read_text())


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    with served(tmp_path_factory.mktemp("teams"), "--config", str(CONFIG)) as gateway:
        yield gateway


def sent(gateway: Gateway, key: str, path: str = "/v1/chat/completions", **body: Any) -> httpx.Response:
    headers = {"Authorization": f"Bearer {key}"}
    url = f"{gateway.url}{path}"
    return httpx.post(url, json={"model": "demo", **body}, headers=headers, timeout=60, trust_env=False)


def test_what_the_page_prints_is_what_each_team_gets(gateway: Gateway) -> None:
    told = dict(re.findall(r"(?m)^(sk-try-\w+) +x-compaction: (\w+)$", SECTION))
    assert set(told) == {"sk-try-ann", "sk-try-lee", "sk-try-kim"} and len(set(told.values())) == 3
    for key, outcome in told.items():
        answer = sent(gateway, key, messages=TALK[:-1])
        assert (answer.status_code, answer.headers["x-compaction"]) == (200, outcome), answer.text
    assert "by custom_auth (team_keys.authenticate)" in gateway.output


def test_no_other_key_is_let_in(gateway: Gateway) -> None:
    assert sent(gateway, "sk-try-nobody", messages=TALK[:2]).status_code == 401


def test_each_key_sees_its_own_and_the_admin_all(gateway: Gateway) -> None:
    for key in ("sk-try-ann", "sk-try-lee"):
        assert sent(gateway, key, messages=TALK[:-1]).status_code == 200
    seen = {}
    [master] = re.findall(r"Key for this run: (\S+)", gateway.output)
    for key in ("sk-try-ann", "sk-try-lee", "sk-try-kim", master):
        headers = {"Authorization": f"Bearer {key}"}
        page = httpx.get(f"{gateway.url}/compaction/sessions", headers=headers, trust_env=False).json()
        seen[key] = {row["owner"]["team"] for row in page["rows"]}
    assert seen == {
        "sk-try-ann": {"research"},
        "sk-try-lee": {"support"},
        "sk-try-kim": set(),
        master: {"research", "support"},
    }


def test_other_endpoints_pass_through_as_readme_says(gateway: Gateway) -> None:
    said = (ROOT / "README.md").read_text(encoding="utf-8").partition("\n- ")[0]
    assert "`/v1/completions`" in said and "uncovered" in said
    answer = sent(gateway, "sk-try-ann", "/v1/completions", prompt="word " * 5000)
    assert answer.status_code == 200 and "1 message," in answer.text, answer.text
    assert answer.headers["x-compaction"] == "uncovered"


def test_anthropic_s_endpoint_is_compacted_as_readme_says(gateway: Gateway) -> None:
    answer = sent(gateway, "sk-try-ann", "/v1/messages", messages=TALK[1:-1], max_tokens=100)
    assert answer.status_code == 200 and "80 messages," not in answer.text, answer.text
    assert answer.headers["x-compaction"] in ("applied", "fallback")


def test_the_files_the_page_shows_are_these() -> None:
    assert {*re.findall(r"config/examples/teams/([\w.]+)", SECTION)} == {p.name for p in files()}
    shown = re.findall(r"```(?:yaml|python)\n(.*?)```", SECTION, re.DOTALL)
    assert shown
    for block in shown:
        assert any(block.strip() in file.read_text(encoding="utf-8") for file in files()), block


def files() -> list[Path]:
    return [file for file in CONFIG.parent.iterdir() if file.is_file()]
