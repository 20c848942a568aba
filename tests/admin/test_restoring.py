"""An earlier conversation as the API tells it, for clients that build their prompt themselves."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import httpx
import pytest

from tests.admin.conftest import bearer
from tests.admin.memory_archive import MemoryArchive

pytestmark = pytest.mark.usefixtures("keyed")

URL = "/compaction/sessions/tr.1/restore"


async def ask(client: httpx.AsyncClient, **body: Any) -> dict[str, Any]:
    answer = await client.post(URL, json=body, headers=bearer("sk-red-1"))
    assert answer.status_code == 200, answer.text
    told: dict[str, Any] = answer.json()
    return told


async def test_it_comes_as_messages_or_as_the_same_text(
    client: httpx.AsyncClient, archive: MemoryArchive
) -> None:
    kept = dict(archive.known)
    first, text = await ask(client), await ask(client, form="text")
    assert first["messages"] == [
        {"role": "user", "content": text["text"]},
        {"role": "assistant", "content": "OK."},
    ]
    assert (first["text"], text["messages"]) == (None, None)
    assert "<summary>\none\nthree\n</summary>" in text["text"] and "never deploy on Fridays" in text["text"]
    assert first["parts"] == {"pins": "stored", "summary": "stored"}
    assert first["tokens"] == text["tokens"] > 50 and first["session"] == "tr.1"
    assert archive.known == kept and not archive.actions


async def test_a_larger_window_is_told_more(client: httpx.AsyncClient, archive: MemoryArchive) -> None:
    files = {"role": "user", "content": " ".join(f"src/part{n}.py" for n in range(12))}
    detail = archive.known["tr.1"]
    assert detail.last_call is not None
    archive.add(replace(detail, last_call=replace(detail.last_call, client=(files,))))
    small, large = [(await ask(client, form="text", window=w))["text"] for w in (8_000, 128_000)]
    assert (small.count("- src/part"), large.count("- src/part")) == (8, 12)


async def test_a_snapshot_is_listed_compared_and_told(client: httpx.AsyncClient) -> None:
    base, key = "/compaction/sessions/tr.1/snapshots", bearer("sk-red-1")
    [line] = (await client.get(base, headers=key)).json()
    assert (line["name"], line["reason"], line["messages"], line["plan"]) == (
        "1",
        "before rebuild",
        7,
        "the first plan",
    )
    taken = (await client.get(f"{base}/1", headers=key)).json()
    assert taken["state"]["plan"] == "the first plan"
    changed = {c["part"]: c for c in (await client.get(f"{base}/1/diff", headers=key)).json()}
    assert changed["plan"] == {"part": "plan", "removed": ["the first plan"], "added": []}
    assert changed["pins"]["added"] == ["never deploy on Fridays"]
    assert (await client.get(f"{base}/1/diff?to=1", headers=key)).json() == []
    told = await ask(client, form="text", snapshot="1")
    assert "ACTIVE PLAN (told): the first plan" in told["text"] and told["source"].startswith("snapshot 1 of")
    gone = await client.post(URL, json={"snapshot": "2"}, headers=key)
    assert gone.status_code == 404


async def test_a_whole_conversation_comes_line_by_line(client: httpx.AsyncClient) -> None:
    answer = await client.get("/compaction/sessions/tr.1/transcript", headers=bearer("sk-red-1"))
    assert answer.headers["content-type"].startswith("application/jsonl")
    lines = [json.loads(line) for line in answer.text.split("\n") if line]
    assert [line["content"] for line in lines] == ["all of it", "\u2028"]
