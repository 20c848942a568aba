"""The command ``buffers`` beside a running conversation: by the gateway's API and by its Redis."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from typer.testing import CliRunner

from gateway_compaction.cli.buffers.commands import app
from tests.e2e.fleet import Fleet
from tests.e2e.runs import Call, Stage
from tests.e2e.talks import chat, marker
from tests.lab import Client, RedisServer, Summariser, Upstream
from tests.lab.ports import HOST, free_port
from tests.lab.proxy import MASTER_KEY

LABEL = "ticket-4711"
HEADERS = {"x-session-id": LABEL}


@pytest.fixture
def stage(upstream: Upstream, redis_server: RedisServer, summariser: Summariser) -> Stage:
    stage = Stage(upstream, redis_server, summariser, "chat-4k")
    stage.open()
    return stage


async def run(*arguments: str, key: str = MASTER_KEY, code: int = 0) -> str:
    """What a command prints."""

    def invoke() -> str:
        env = {"GATEWAY_COMPACTION_REDIS_URL": "", "GATEWAY_COMPACTION_KEY": key}
        result = CliRunner().invoke(app, arguments, env=env, catch_exceptions=False)
        assert result.exit_code == code, result.output
        return result.stdout if code == 0 else result.stderr

    return await asyncio.to_thread(invoke)


async def document(*arguments: str, key: str = MASTER_KEY) -> Any:
    return json.loads(await run(*arguments, "--json", key=key))


async def started(client: Client, stage: Stage) -> tuple[str, list[Any], Call]:
    """The mark of a stored summary, its conversation, and the latest call, which used it."""
    mark = marker()
    talk = chat(mark, 60)
    await stage.prepare(client, stage.at(talk, 0.82), mark, headers=HEADERS)
    call = await stage.call(client, stage.at(talk, 0.9), headers=HEADERS)
    assert call.answer.outcome == "applied"
    await stage.at_rest(call)
    number = 1 + stage.summariser.asked.index(stage.summariser.about(mark)[0])
    return stage.summariser.mark(number), talk, call


async def test_both_ways_show_the_same(fleet: Fleet, client: Client, stage: Stage) -> None:
    summary, _, call = await started(client, stage)
    by_api = ["--url", f"{fleet.first.url}/v1"]
    by_redis = ["--redis", stage.redis_server.url]
    session = call.answer.told("session")
    for way in (by_api, by_redis):
        listed = await document("ls", "--text", LABEL, "--team", "team-a", "--since", "5m", *way)
        assert [".".join(row["session"].values()) for row in listed["rows"]] == [session]
    shown = [await document("show", LABEL, *way) for way in (by_api, by_redis)]
    assert shown[0].pop("ttl") == pytest.approx(shown[1].pop("ttl"), abs=60)
    assert shown[0] == shown[1]
    assert shown[0]["row"]["tokens_after"] < shown[0]["row"]["tokens_before"]
    assert summary in await run("show", LABEL, *by_api)
    last = shown[0]["last_call"]
    assert len(last["sent"]) == len(call.history) and len(last["saw"]) == len(call.sent.messages)


async def test_deeds_change_what_the_next_call_sends(fleet: Fleet, client: Client, stage: Stage) -> None:
    summary, talk, _ = await started(client, stage)
    gateway = ["--url", fleet.first.url]
    history = stage.at(talk, 0.95)
    await run("pin", LABEL, "Amounts are in euro.", *gateway)
    call = await stage.call(client, history, headers=HEADERS)
    assert "Amounts are in euro." in call.sent.text and summary in call.sent.text
    await run("rollback", LABEL, "0", *gateway)
    await run("unpin", LABEL, "1", *gateway)
    call = await stage.call(client, stage.at(talk, 0.87), headers=HEADERS)
    assert summary not in call.sent.text and "euro" not in call.sent.text
    told = (await document("events", LABEL, *gateway))["events"]
    actions = [(one["outcome"], one["by"]) for one in told if one["type"] == "audit"]
    assert [action for action, _ in actions] == ["unpin", "rollback", "pin"]
    assert all("proxy admin" in who for _, who in actions)


async def test_what_is_forgotten_begins_anew(fleet: Fleet, client: Client, stage: Stage) -> None:
    summary, talk, call = await started(client, stage)
    gateway = ["--url", fleet.first.url]
    session = str(call.answer.told("session"))
    saved = await run("export", LABEL, *gateway)
    assert (await document("forget", LABEL, "--yes", *gateway))["keys"] > 0
    left = [key for key in stage.redis_server.dump() if session in str(key)]
    assert left == []
    assert "No session" in await run("show", LABEL, *gateway, code=1)
    for _ in range(20):
        call = await stage.call(client, stage.at(talk, 0.9), headers=HEADERS)
        if summary not in call.sent.text:
            break
        # Processes drop what they remember within a few seconds.
        await asyncio.sleep(0.5)
    assert summary not in call.sent.text
    assert json.loads(saved)["session"] in session


async def test_other_teams_see_nothing(fleet: Fleet, client: Client, stage: Stage) -> None:
    _, _, call = await started(client, stage)
    session = str(call.answer.told("session"))
    gateway = ["--url", fleet.first.url]
    listed = (await document("ls", "--all", *gateway, key="sk-a-1"))["rows"]
    assert session in [".".join(row["session"].values()) for row in listed]
    assert (await document("ls", "--text", LABEL, *gateway, key="sk-b-1"))["total"] == 0
    for arguments in (
        ["show", session],
        ["export", session],
        ["forget", session, "--yes"],
        ["compact", session],
    ):
        said = await run(*arguments, *gateway, key="sk-b-1", code=1)
        assert "no such session" in said and len(said.splitlines()) == 1


async def test_watch_follows_a_call(fleet: Fleet, client: Client, stage: Stage) -> None:
    _, talk, call = await started(client, stage)
    watching = asyncio.create_task(run("watch", "--json", "--count", "1", "--url", fleet.first.url))
    for _ in range(40):
        if watching.done():
            break
        await stage.call(client, stage.at(talk, 0.9), headers=HEADERS)
        await asyncio.sleep(0.5)
    [line] = (await asyncio.wait_for(watching, 10)).splitlines()
    assert ".".join(json.loads(line)["session"].values()) == call.answer.told("session")


async def test_a_gateway_that_is_not_there_or_has_no_plugin(fleet: Fleet) -> None:
    said = await run("ls", "--url", f"http://{HOST}:{free_port()}", code=3)
    assert "ConnectError" in said and len(said.splitlines()) == 1
    said = await run("ls", "--url", fleet.plain.url, code=3)
    assert "no gateway with this plugin" in said and len(said.splitlines()) == 1
