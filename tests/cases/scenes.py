"""How a case is played: which calls, in which order, with what happening in between."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from tests.cases import scenes_apart as apart
from tests.cases.case_situation import CaseSituation
from tests.cases.evidence import Evidence
from tests.cases.faults import broken
from tests.cases.measure import hook_time, loop_lag
from tests.cases.player import Player
from tests.cases.stage import Stage
from tests.cases.talk import grown

__all__ = ["play"]

LONG_ANSWER = 5.0
Message = Mapping[str, Any]
Scene = Callable[[Player], Awaitable[None]]


async def play(stage: Stage, evidence: Evidence, *, again: bool = False) -> None:
    """Play a case, once for each of its passes; ``again`` for other tenants than the first time."""
    prepared = evidence.prepared
    for run in prepared.second_passes if again else prepared.passes:
        player = Player(stage, evidence, run)
        await player.seed()
        async with broken(player):
            await _earlier(player)
            if prepared.context.fails_once:
                player.main.failing = [prepared.context.fails_once]
            await _scene(prepared.context)(player)
            if evidence.plain is None:
                await _plain(player)
                await _measured(player)
        await player.finish()


def _scene(s: CaseSituation) -> Scene:
    special: tuple[tuple[object, Scene], ...] = (
        (s.held_turns, apart.held),
        (s.updates, apart.updates),
        (s.rival, apart.rivals),
        (s.twin, apart.twins),
        (s.main_chat, apart.side_request),
        (s.conversations > 1, apart.many),
        (s.no_callback, apart.without_callback),
        (s.turns > 1, _turns),
    )
    return next((scene for wanted, scene in special if wanted), _requests)


async def _earlier(player: Player) -> None:
    """What happened before the case's own request."""
    s = player.context
    if s.old_system is not None:
        rest = [m for m in player.messages if m["role"] != "system"]
        await player.call([{"role": "system", "content": s.old_system}, *rest], judged=False)
        await player.settle()
    if s.cut_stream is not None:
        await apart.cut_stream(player)
    for stored in player.run.stored:
        if stored.team is not None:
            # Its owner does see it: else nobody could, and the case would say nothing.
            seen = await player.call(player.messages, judged=False, name=stored.team)
            if not seen.upstream or (stored.text or "") not in seen.served.text:
                player.evidence.missing.append(f"team {stored.team} itself does not get its summary")


async def _requests(player: Player) -> None:
    """The same request, once or as often as the case says; once more where a summary was made meanwhile."""
    s = player.context
    for _ in range(s.repeats):
        await player.call(player.messages)
        if s.repeats > 1 and player.has_store:
            await player.settle()
    if player.run.summariser.seconds > LONG_ANSWER:
        await player.call(player.messages)
        return
    await player.settle()
    if s.repeats == 1 and (not player.run.stored or player.summariser.asked or s.fails_once or s.probes):
        await player.call(player.messages)
        await player.settle()


async def _turns(player: Player) -> None:
    """A conversation that grows by one short exchange with each call."""
    messages: list[Message] = list(player.messages)
    for turn in range(player.context.turns):
        call = await player.call(messages)
        await player.settle(messages)
        messages = grown(messages, call.answer.text, turn)


async def _plain(player: Player) -> None:
    """What LiteLLM itself makes of the messages: the same request, bypassed."""
    call = await player.call(player.messages, judged=False, headers={"x-compaction": "off"})
    player.evidence.plain = call.messages or None


async def _measured(player: Player) -> None:
    checks = [check.partition(":")[0] for check in player.prepared.case.checks]
    limits = [check.partition(":")[2] for check in player.prepared.case.checks]
    for name, limit in zip(checks, limits, strict=True):
        if name == "hook_ms_le":
            await hook_time(player, float(limit))
        elif name == "loop_lag_ms_le":
            await loop_lag(player, float(limit))
