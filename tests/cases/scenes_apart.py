"""The cases that need more than one request of one client: each in its own way."""

from __future__ import annotations

import asyncio
import contextlib
import time
from typing import Any

from tests.cases.case_situation import Stored
from tests.cases.player import Player
from tests.cases.seeds import Lineage, put, tenants
from tests.cases.talk import begun_with, grown, long_chat, next_round, prefixes, told_apart, with_ending
from tests.cases.weights import counted
from tests.lab import Answer, until

__all__ = ["cut_stream", "held", "many", "rivals", "side_request", "twins", "updates", "without_callback"]

ASKED_SECONDS = 5.0
MOST_ROUNDS = 40
MAIN_TURNS = 12
EARLY_SHARE = 0.9


async def held(player: Player) -> None:
    """A summary of the first turns is being made while the request comes in; it is there for the next one."""
    turns = player.context.held_turns or 1
    history = player.messages
    openers = [i for i, m in enumerate(history) if m["role"] == "user"]
    earlier = history[: openers[min(turns, len(openers) - 1)] + 1]
    player.summariser.held.set()
    await player.call(earlier, judged=False)
    with contextlib.suppress(AssertionError):
        await until(lambda: player.summariser.asked, "the summariser to be asked", seconds=ASKED_SECONDS)
    if not player.summariser.asked:
        player.evidence.missing.append(f"no summary of {turns} turns was being made")
    call = await player.call(history)
    player.summariser.held.clear()
    await player.settle(history)
    await player.call(history)
    await player.call(grown(history, call.answer.text, 0))


async def updates(player: Player) -> None:
    """An agent at work, call by call, until so many summaries were made and then used."""
    window = player.prepared.window or 0
    due = EARLY_SHARE * (player.context.rewrites_at or 0.85) * window
    calls = [p for p in prefixes(player.messages) if counted(p, player.prepared.body, window) >= due]
    messages = calls[0] if calls else player.messages
    for number in range(MOST_ROUNDS):
        messages = calls[number] if number < len(calls) else next_round(messages, number)
        await player.call(messages)
        await player.settle(messages)
        if len(player.summariser.asked) >= player.context.updates:
            player.evidence.note(f"{len(player.summariser.asked)} updates in {number + 1} calls")
            await player.call(messages)
            return
    player.evidence.missing.append(f"{len(player.summariser.asked)} updates in {MOST_ROUNDS} calls")


async def rivals(player: Player) -> None:
    """Two requests at the same time, through two proxies."""
    other = with_ending(player.messages, player.context.rival or "")
    replica = await player.stage.second()
    # A first request is slow: without one before, the replica would come long after the other.
    await player.call(player.messages, proxy=replica, judged=False, headers={"x-compaction": "off"})
    await asyncio.gather(player.call(player.messages), player.call(other, proxy=replica))
    await player.settle()
    player.evidence.facts["events"] = sum(
        event.get("type") == "request"
        for tenant in tenants(player.prepared.team(player.run.number), player.prepared.body)
        for event in player.events(Lineage.of(tenant, player.messages))
    )


async def twins(player: Player) -> None:
    """Two chats that differ in what is folded only; thrice, so that the response cache may answer."""
    twin = begun_with(player.messages, player.context.twin or "")
    extra: dict[str, Any] = {"cache": {"use-cache": True}} if player.context.response_cache else {}
    player.main.reflects = True
    answers: dict[str, list[Answer]] = {"own": [], "twin": []}
    sent: dict[str, list[str]] = {"own": [], "twin": []}
    for _ in range(3):
        for name, messages in (("own", player.messages), ("twin", twin)):
            call = await player.call(messages, **extra)
            await player.settle(messages)
            answers[name].append(call.answer)
            sent[name] += [seen.text for seen in call.upstream]
    player.evidence.facts["twins"] = (
        sent,
        {name: [a.text for a in found] for name, found in answers.items()},
    )


async def side_request(player: Player) -> None:
    """A request beside a long chat, under the same conversation id."""
    label = {"x-session-id": "one-and-the-same"}
    main = long_chat(MAIN_TURNS)
    stored = Stored(text=player.context.main_chat)
    lineages = []
    for tenant in tenants(player.prepared.team(player.run.number), player.prepared.body):
        await put(player.stage.store, tenant, main, stored, player.keep_last)
        lineages.append(Lineage.of(tenant, main))
    before = await player.call(main, judged=False, headers=label)
    await player.settle(main)
    kept = [await player.stage.store.load(lineage.session, lineage.chain) for lineage in lineages]
    await player.call(player.messages, headers=label)
    await player.settle()
    now = [await player.stage.store.load(lineage.session, lineage.chain) for lineage in lineages]
    after = await player.call(main, judged=False, headers=label)
    text = player.context.main_chat or ""
    player.evidence.facts["main chat"] = {
        "used before": text in before.served.text,
        "used after": text in after.served.text,
        "record unchanged": [b.compactions for b in kept] == [b.compactions for b in now],
    }


async def many(player: Player) -> None:
    """So many conversations, one after the other; every summary is waited for at the end."""
    total = player.context.conversations
    log = player.stage.logs().count("the queue is full")
    for number in range(total):
        await player.call(told_apart(player.messages, number))
    deadline = time.monotonic() + 30.0
    while time.monotonic() < deadline:
        dropped = player.stage.logs().count("the queue is full") - log
        declined = _declined(player)
        if len(player.summariser.asked) + dropped + declined >= total:
            break
        await asyncio.sleep(0.2)
    await asyncio.sleep(0.3)
    dropped = player.stage.logs().count("the queue is full") - log
    shown = "\n".join(seen.text for seen in player.summariser.asked)
    told = sum(f"Conversation {number}. " in shown for number in range(total))
    player.evidence.facts["updates"] = {
        "calls": total,
        "asked": len(player.summariser.asked),
        "told": told,
        "dropped": dropped,
        "declined": _declined(player),
    }


def _declined(player: Player) -> int:
    """Calls whose answer says why no summary is made: Redis was late."""
    reasons = [call.answer.told("reason") or "" for call in player.evidence.calls if call.judged]
    return sum("the store does not answer" in reason for reason in reasons)


async def cut_stream(player: Player) -> None:
    """The call before: the client leaves its stream early, the gateway has read more of it."""
    ends = [i for i, m in enumerate(player.messages) if m["role"] == "assistant" and not m.get("tool_calls")]
    earlier = player.messages[: ends[-1]] if ends else player.messages[:-1]
    player.main.speech = " ".join([*["word"] * 10, player.context.cut_stream or "", *["more"] * 60])
    try:
        await player.call(earlier, judged=False, leave_after=1)
        await player.settle(earlier)
    finally:
        player.main.speech = None
    if not player.main.told:
        player.evidence.missing.append("the gateway read nothing of the stream")
    player.evidence.facts["stored answer"] = (player.context.cut_stream or "") in player.stage.redis.text()


async def without_callback(player: Player) -> None:
    """The request with LiteLLM's callbacks switched off for it, and then the next one, with them."""
    player.evidence.note('callbacks are switched off by "no-log" for the first request')
    silent: dict[str, Any] = {"no-log": True}
    await player.call(player.messages, **silent)
    await player.settle()
    await player.call(player.messages)
    await player.settle()
    await player.call(player.messages)
