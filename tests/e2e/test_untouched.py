"""Issue line 3: below ``medium``, and in ``observe`` always, the upstream gets the very same bytes."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from tests.e2e.doors import EVERY_DOOR, PATHS, body_of
from tests.e2e.fleet import Fleet, served
from tests.e2e.runs import LABEL_HEADER, SHORT_ANSWER, Stage
from tests.e2e.talks import TOOLS, chat, coding_agent, korean_chat, marker, support_agent
from tests.lab import Answer, Client, Message, RedisServer, Reply, Summariser, Upstream, count_request, grow
from tests.lab.data import load
from tests.lab.scripts import answer

PARTS: list[Message] = [
    {
        "role": "user",
        "content": [{"type": "text", "text": "What is this?"}, {"type": "text", "text": "안녕 🙂"}],
    },
    {"role": "assistant", "content": "A greeting."},
    {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}]},
]
SAMPLING: dict[str, Any] = {
    "temperature": 0.2,
    "max_tokens": 50,
    "user": "someone",
    "stop": ["END"],
    "response_format": {"type": "json_object"},
}


async def both(
    plain: Client,
    client: Client,
    upstream: Upstream,
    model: str,
    messages: Sequence[Message],
    *,
    door: str = "chat",
    headers: Mapping[str, str] | None = None,
    **body: Any,
) -> tuple[bytes, bytes, Answer]:
    """What the upstream got from the proxy without and with the plugin."""
    received = []
    # LiteLLM would make one up for each call, and sends it upstream.
    named = {LABEL_HEADER: f"untouched-{uuid.uuid4().hex}", **(headers or {})}
    for asked in (plain, client):
        before = len(upstream.seen(served(model)))
        if door == "chat":
            last = await asked.chat(model, messages, headers=named, **body)
        else:
            told = body_of(door, model, messages, stream=False)
            # What is kept free for an answer would count as used.
            reserve = {name: SHORT_ANSWER for name in told if name.startswith("max_")}
            last = await asked.ask(PATHS[door], {**told, **reserve, **body}, named)
        arrived = upstream.seen(served(model))[before:]
        received.append(arrived[0].raw if arrived else b"refused")
    return received[0], received[1], last


@pytest.mark.parametrize(
    ("messages", "body"),
    [
        (PARTS, {}),
        (PARTS[:1], SAMPLING),
        (support_agent("m1", 6), {"tools": TOOLS, "tool_choice": "auto", "parallel_tool_calls": True}),
        (korean_chat("m2", 20), {"stream_options": None}),
        ([{"role": "user", "content": "<|endoftext|> plain text", "name": "ada"}], {"n": 2, "seed": 7}),
    ],
    ids=["parts", "sampling", "tools", "korean", "special"],
)
async def test_small_requests_are_passed_on_byte_for_byte(
    plain: Client, client: Client, upstream: Upstream, messages: list[Message], body: dict[str, Any]
) -> None:
    without, with_plugin, told = await both(plain, client, upstream, "chat-8k", messages, **body)
    assert told.status == 200
    assert with_plugin == without
    assert told.outcome == "none"


async def test_a_stream_is_passed_on_byte_for_byte(plain: Client, client: Client, upstream: Upstream) -> None:
    streams = [
        await asked.stream("chat-8k", support_agent("m3", 6), tools=TOOLS) for asked in (plain, client)
    ]
    assert streams[0].text == streams[1].text == "ok"
    assert streams[1].outcome == "none"
    without, with_plugin = upstream.seen(served("chat-8k"), containing="m3 case 5")
    assert with_plugin.raw == without.raw


@EVERY_DOOR
async def test_light_changes_nothing(
    plain: Client, client: Client, upstream: Upstream, summariser: Summariser, door: str
) -> None:
    upstream.scripts[served("chat-4k")] = answer(Reply(text="Noted."))
    talk = next(h for h in grow(chat(marker(), 40)) if count_request({"messages": h}) > 0.78 * 4000)
    without, with_plugin, told = await both(plain, client, upstream, "chat-4k", talk, door=door)
    assert with_plugin == without
    assert told.told("level") == "light" and told.outcome in ("prepared", "none")


@EVERY_DOOR
@pytest.mark.parametrize("key", ["sk-observe", "sk-off", "sk-metadata-off"])
async def test_observe_and_off_change_nothing_at_any_length(
    fleet: Fleet, plain: Client, upstream: Upstream, summariser: Summariser, key: str, door: str
) -> None:
    async with Client(fleet.first, key) as client:
        for talk in (chat(marker(), 27), chat(marker(), 60), coding_agent(marker(), 30)):
            without, with_plugin, told = await both(plain, client, upstream, "chat-4k", talk, door=door)
            assert with_plugin == without
            assert told.outcome == ("observed" if key == "sk-observe" else "none")
    assert summariser.calls == 0


@EVERY_DOOR
async def test_an_unknown_window_changes_nothing_and_is_told(
    plain: Client, client: Client, upstream: Upstream, door: str
) -> None:
    talk = chat(marker(), 200)
    without, with_plugin, told = await both(plain, client, upstream, "never-refused", talk, door=door)
    assert with_plugin == without
    assert told.outcome in ("none", "passthrough") and "window" in (told.told("reason") or "")


@EVERY_DOOR
async def test_a_client_may_switch_it_off_for_one_request(
    plain: Client, client: Client, upstream: Upstream, door: str
) -> None:
    headers = {"x-compaction": "off"}
    talk = chat(marker(), 60)
    without, with_plugin, told = await both(
        plain, client, upstream, "chat-4k", talk, door=door, headers=headers
    )
    assert with_plugin == without
    assert told.outcome == "bypassed"


async def test_recorded_shapes_are_passed_on_byte_for_byte(
    plain: Client, client: Client, upstream: Upstream
) -> None:
    records = [*load("request_shapes")[::5], *load("edge_hand"), *load("dialogstudio")[:4]]
    differing = []
    for record in records:
        body = {"tools": record["tools"]} if record.get("tools") else {}
        without, with_plugin, told = await both(
            plain, client, upstream, "chat-100k", record["messages"], **body
        )
        if with_plugin != without:
            differing.append((record["id"], told.status))
    assert differing == []


async def test_what_a_call_asks_besides_is_for_its_own_model_alone(
    client: Client, upstream: Upstream, redis_server: RedisServer, summariser: Summariser
) -> None:
    stage, mark = Stage(upstream, redis_server, summariser, "chat-4k"), marker()
    stage.open()
    besides: dict[str, Any] = {
        **{name: value for name, value in SAMPLING.items() if name != "user"},
        "tools": TOOLS,
        "tool_choice": "required",
        "n": 2,
        "logprobs": True,
        "seed": 7,
        "prompt_cache_key": "of-the-chat",
    }
    history = stage.at(chat(mark, 60, system="Answer in JSON."), 0.82, **besides)
    call = await stage.prepare(client, history, mark, **besides)
    assert {name: call.sent.body.get(name) for name in besides} == besides
    [asked] = summariser.about(mark)
    assert [
        name for name in besides if name in asked.body and name not in ("temperature", "max_tokens")
    ] == []
    assert asked.body.get("stream") is None
    assert [message["role"] for message in asked.messages] == ["system", "user"]
