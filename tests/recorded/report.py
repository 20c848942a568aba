"""What is printed while recordings are played, and at the end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tests.recorded.lanes import Account
from tests.recorded.material import Recording

__all__ = ["tell_lanes", "tell_progress", "tell_sets"]

COMPACTED = ("applied", "fallback")
LANES = (
    "door",
    "upstream",
    "calls",
    "untouched, LiteLLM's own bytes",
    "compacted",
    "pairs of them in one epoch",
    "left alone, for a reason of docs/operating.md",
    "over the window: the least of the request is",
    "refused by LiteLLM itself",
    "taken by it only as compacted",
    "faults",
)
SETS = ("set", "conversations played", "of", "calls played, of each lane", "of")

Way = tuple[str, str]


def tell_progress(accounts: Sequence[Account], expected: int, earlier: int, seconds: float) -> str:
    """One line; so many of the calls are of earlier runs."""
    calls, faults = sum(a.calls for a in accounts), sum(len(a.faults) for a in accounts)
    pace = (calls - earlier) / max(seconds, 1.0)
    left = max(0, expected - calls) / max(pace, 0.01) / 60
    told = f"{calls:,} of about {expected:,} calls, {pace:.1f} a second, {left:.0f} minutes left"
    return f"{told}, {faults} faults"


def tell_lanes(accounts: Mapping[Way, Account]) -> str:
    """A table with a row for each door and upstream, and the faults below it."""
    rows = []
    for (door, provider), a in accounts.items():
        compacted = sum(a.outcomes[outcome] for outcome in COMPACTED)
        refused = (a.refused, a.only_compacted)
        counts = (a.calls, a.alike, compacted, a.same, a.left_alone, a.too_long, *refused, len(a.faults))
        rows.append([door, provider, *(f"{count:,}" for count in counts)])
    totals = [sum(int(row[column].replace(",", "")) for row in rows) for column in range(2, len(LANES))]
    rows.append(["all", "", *(f"{total:,}" for total in totals)])
    found = [f"{door}, {provider}: {fault}" for (door, provider), a in accounts.items() for fault in a.faults]
    return "\n".join([_table(LANES, rows), *found])


def tell_sets(accounts: Mapping[Way, Account], found: Mapping[str, Sequence[Recording]]) -> str:
    """A table with what was played of each set, in the lane that played most of it."""
    rows = []
    for source in dict.fromkeys(source for account in accounts.values() for source in account.sources):
        played = max(account.sources.get(source, [0, 0]) for account in accounts.values())
        whole = found.get(source)
        of = (f"{len(whole):,}", f"{sum(max(1, len(one.ends)) for one in whole):,}") if whole else ("", "")
        rows.append([source, f"{played[0]:,}", of[0], f"{played[1]:,}", of[1]])
    return _table(SETS, rows)


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
