"""Made-up sessions for the pages: a long talk, a failing one, one that is only watched, and a hostile one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from gateway_compaction.archive import CallSnapshot, Hour, Owner, SessionControls, SessionDetail, SessionRow
from gateway_compaction.core.records.client_state import ClientState
from gateway_compaction.core.records.compaction import Compaction, Segment, SessionRef
from gateway_compaction.core.records.event import CompactionEvent
from gateway_compaction.core.records.summary_record import SummaryRecord

__all__ = ["ANSI", "NOW", "RLO", "SCRIPT", "hostile", "hours", "long_talk", "scenes"]

NOW = 1_800_000_000.0
SCRIPT = "</script><script>alert(1)</script><img src=x onerror=alert(1)>"
ANSI = "\x1b]0;owned\x07\x1b[31mred\x1b[2J"
RLO = "\u202egnp.exe\u2066"
RESEARCH = Owner("team-7c1f", "research", "ann", "a" * 32, "ann-laptop")
SUPPORT = Owner("team-2b90", "support", None, "b" * 32, "helpdesk")
RUTH = Owner(user_id="ruth@example.org")
CLAUDE, BUSY = "claude-sonnet", "summarizing"
TEXTS = (
    "Ann compares three libraries for parsing dates. She needs time zones and ranges, and ruled out dateutil"
    " because of its licence in the appliance build (ticket OPS-4471). Budget: 2 ms for each call.",
    "Benchmarks on the build machine: pendulum 1.9 ms, whenever 0.4 ms, arrow 3.1 ms. Ann prefers whenever"
    " 0.8.5; Bo must still sign off. Rule: no new dependency with a C extension on the Windows image.",
    "Bo signed off on 14 May. The migration is split in two: parsing first (branch dates/parse), formatting"
    " later. Two failing tests are known: test_dst_gap and test_leap_second.",
)
FIRST_PIN = "No dependency with a C extension on the Windows image."


def long_talk() -> SessionDetail:
    """A talk of 20 turns with three versions, the first of them taken back."""
    session = SessionRef("66f62d1807d3821a3865f2573b69c74b", "683978acae91b1de0125e170deaa5d1f")
    segments = [Segment(0, 8, TEXTS[0]), Segment(8, 18, TEXTS[1]), Segment(18, 28, TEXTS[2])]
    first = _version(1, 8, tuple(segments[:1]), None, 4200, 410, 5200)
    second = _version(2, 18, tuple(segments[:2]), "d1", 9800, 720, 2900)
    third = _version(3, 28, tuple(segments), "d2", 15_300, 1080, 900)
    third = replace(
        third,
        records=(
            SummaryRecord(0, 8, 1, 4, 1900, len(TEXTS[0]), None, None, NOW - 5200),
            SummaryRecord(8, 18, 5, 9, 1200, len(TEXTS[1]), 240, 0.2, NOW - 2900),
            SummaryRecord(18, 28, 10, 14, 900, len(TEXTS[2]), 180, 0.2, NOW - 900),
        ),
    )
    row = SessionRow(
        session, RESEARCH, ("date-library-chat", "run-2218"), "gpt-4o", "research", "medium", "applied",
        created=NOW - 7200, seen=NOW - 40, calls=40, tokens_before=21_400, tokens_after=7200, window=24_000,
        covers=28, saved=148_000, versions=3, endpoint="messages",
    )  # fmt: skip
    return SessionDetail(
        row,
        (third, second),
        (first,),
        events=_events(),
        steering=SessionControls("g3", (FIRST_PIN, "Bo signs off on releases.")),
        last_call=_call(),
        ttl=6 * 86_400,
    )


def hostile() -> SessionDetail:
    """Everything that strangers can write, written by somebody who means harm; and a megabyte of it."""
    nasty = f"{SCRIPT}{ANSI}{RLO}\x00\ud800'\"{{{{7*7}}}}"
    text = nasty + "A" * 1_000_000 + "THE-END"
    owner = Owner(f"id{nasty}", f"team{nasty}", f"user{nasty}", "c" * 32, f"alias{nasty}", f"end{nasty}")
    compaction = _version(1, 4, (Segment(0, 4, text),), None, 500_000, 250_000, 60, model=f"model{nasty}")
    older = _version(2, 2, (Segment(0, 2, nasty),), "d1", 500, 100, 90)
    call = CallSnapshot(
        NOW,
        tuple(
            (f"role{nasty}" if i == 1 else "user", 10, "covered" if i < 4 else "verbatim") for i in range(8)
        ),
        tuple(("user", 10, "summary" if i == 0 else "verbatim") for i in range(5)),
        tuple({"role": "user", "content": text if i == 6 else nasty} for i in range(8)),
        tuple(
            {"role": "user", "content": [{"type": "text", "text": nasty}, {"type": nasty}]} for _ in range(5)
        ),
        window=1000,
        version=1,
        covers=4,
        endpoint=text,
    )
    row = SessionRow(
        SessionRef("h" * 32, "0" * 32), owner, (nasty, text), f"model{nasty}", f"policy{nasty}", "light",
        "none", "failed", f"reason{text}", NOW - 90, NOW - 5, 3, 100, 90, 1000, endpoint=f"endpoint{text}",
    )  # fmt: skip
    events = (
        CompactionEvent(
            "audit", NOW, f"pin{nasty}", f"why{text}", model=nasty, endpoint=text, by=f"by{nasty}"
        ),
    )
    pauses = ((NOW + 60, nasty), (NOW + 90, nasty))
    return SessionDetail(
        row,
        (compaction,),
        (older,),
        (),
        events,
        SessionControls("g", (nasty,)),
        pauses[0],
        pauses[1],
        call,
        60.0,
        ClientState(plan=nasty, decisions=(text,), files=(nasty, text)),
    )


def scenes() -> list[SessionDetail]:
    """The long talk and others of other teams and states."""
    others: list[Mapping[str, Any]] = [
        {"owner": SUPPORT, "labels": ("case-90031",), "model": CLAUDE, "level": "light", "state": BUSY},
        {
            "owner": SUPPORT, "labels": ("case-90027",), "model": CLAUDE, "level": "aggressive",
            "state": "failed", "reason": "the summariser is rate limited",
        },
        {"owner": RESEARCH, "labels": (), "model": "gpt-4o-mini", "saved": 0, "would_save": 12_400},
        {"owner": RUTH, "labels": ("회의록 정리",), "model": "gpt-4o", "level": "medium"},
    ]  # fmt: skip
    made = [long_talk()]
    for number, fields in enumerate(others):
        values: dict[str, Any] = {"saved": 31_000 * (4 - number), **fields}
        row = SessionRow(
            SessionRef(f"{number}f62d1807d3821a3865f2573b69c74b", f"{number}83978acae91b1de0125e170deaa5d1f"),
            outcome="applied", created=NOW - 9000, seen=NOW - 700 * (number + 1), calls=9 * (number + 2),
            tokens_before=18_000 - 900 * number, tokens_after=6000 + 2100 * number, window=24_000, **values,
        )  # fmt: skip
        made.append(SessionDetail(row))
    return made


def hours(now: float = NOW) -> list[Hour]:
    """A day of two teams and a third that is only watched."""
    found = []
    for number in range(24):
        start = int(now) // 3600 * 3600 - number * 3600
        busy = 3 + (number * 7) % 11 if number % 24 > 6 else 9 - number
        for owner, model, weight, shadow in (
            (RESEARCH, "gpt-4o", 5, False),
            (SUPPORT, "claude-sonnet", 3, False),
            (Owner("team-99", "legal & compliance"), "gpt-4o-mini", 2, True),
        ):
            sent, saved = busy * weight * 21_000, busy * weight * 9000
            found.append(
                Hour(
                    start, owner, model, busy * weight, 0 if shadow else busy * weight // 2, sent,
                    sent if shadow else sent - saved, 0 if shadow else saved, saved if shadow else 0,
                    busy // 6, busy * weight // 9, int(number == 5 and owner is SUPPORT),
                    0.004 * busy * weight,
                )
            )  # fmt: skip
    return found


def _version(
    number: int,
    covers: int,
    segments: tuple[Segment, ...],
    parent: str | None,
    before: int,
    after: int,
    age: float,
    model: str = "gpt-4o-mini",
) -> Compaction:
    return Compaction(
        f"d{number}", covers, "model", segments, parent=parent, version=number, model=model,
        tokens_before=before, tokens_after=after, cost=0.0021, created_at=NOW - age,
    )  # fmt: skip


def _events() -> tuple[CompactionEvent, ...]:
    found = list[CompactionEvent]()
    for number in range(40):
        sent = 1000 + number * 510
        version = 0 if number < 26 else 2 if number < 34 else 3
        got = sent - {0: 0, 2: 9080, 3: 14_220}[version]
        level = "medium" if got > 9000 else "light" if got > 8000 else None
        at = NOW - (40 - number) * 150
        found.append(
            CompactionEvent(
                "request", at, "applied" if version else "prepared" if number > 22 else "none",
                "a stored summary is used" if version else "it fits", level, "gpt-4o", "research",
                tokens_before=sent, tokens_after=got, window=24_000, messages_before=number * 2 + 2,
                messages_after=12, covers=18, version=version or None,
            )
        )  # fmt: skip
        if number in (25, 33):
            made = "made in the background"
            found.append(
                CompactionEvent("summary", at + 9, "stored", made, version=2, seconds=6.2, cost=0.0021)
            )
    found.append(CompactionEvent("audit", NOW - 20, "pin", "a fact was pinned", by="proxy admin, user ann"))
    return tuple(reversed(found))


def _call() -> CallSnapshot:
    sent, client = [("system", 120, "preamble")], [{"role": "system", "content": "You help with code."}]
    for number in range(40):
        role = "user" if number % 2 == 0 else "assistant"
        fate = "covered" if number < 28 else "verbatim"
        fate = "recalled" if number in (10, 11) else "cleared" if number == 31 else fate
        tokens = 260 + (number * 389) % 900
        sent.append((role, tokens, fate))
        client.append(
            {
                "role": role,
                "content": f"Message {number}: " + "what was said about dates. " * (3 + number % 20),
            }
        )
    block = [("user", 1080, "summary")]
    saw = [sent[0], *block, *sent[29:]]
    model = [
        client[0],
        {"role": "user", "content": "<conversation_summary>\n" + "\n\n".join(TEXTS)},
        *client[29:],
    ]
    return CallSnapshot(
        NOW - 40, tuple(sent), tuple(saw), tuple(client), tuple(model), (15_600, 20_400, 22_800), 24_000,
        900, 28, 3,
        tuple(range(3, 41, 2)), endpoint="messages",
    )  # fmt: skip
