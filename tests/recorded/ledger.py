"""What earlier runs have played, so that several runs together play everything.

A run of all recordings takes longer than a terminal or a job of CI may be kept; one that goes on from a file
needs no more time at once than there is.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from tests.recorded.lanes import Account
from tests.recorded.material import Recording

__all__ = ["Ledger"]

Way = tuple[str, str]


class Ledger:
    """The accounts of all lanes and the names of what they have played, in a file if there is one.

    Args:
        path: the file, which may not be there yet; None to begin anew and keep nothing.
        found: all recordings, of which the accounts name some.
    """

    def __init__(self, path: Path | None, found: Iterable[Recording]) -> None:
        self._path = path
        self._found = {_name(one): one for one in found}
        is_there = path is not None and path.exists()
        self._lanes: dict[str, Any] = json.loads(path.read_text("utf-8")) if path and is_there else {}

    def account_of(self, way: Way) -> Account:
        """Return what a lane has come to in earlier runs."""
        told: Mapping[str, Any] = self._lanes.get("/".join(way), {}).get("account", {})
        account = Account(**{name: value for name, value in told.items() if name != "accepted"})
        account.outcomes = Counter(account.outcomes)
        account.accepted = [self._found[name] for name in told.get("accepted", ()) if name in self._found]
        return account

    def has_played(self, way: Way, one: Recording) -> bool:
        """Tell whether a lane has played a conversation to its end."""
        return _name(one) in self._lanes.get("/".join(way), {}).get("played", ())

    def note(self, way: Way, one: Recording, account: Account) -> None:
        """Keep that a lane has played a conversation, and what it has come to."""
        told = {part.name: getattr(account, part.name) for part in fields(account)}
        told["accepted"] = [_name(accepted) for accepted in account.accepted]
        played = self._lanes.get("/".join(way), {}).get("played", [])
        # As text: the account goes on changing while the next conversation is played.
        self._lanes["/".join(way)] = json.loads(
            json.dumps({"played": [*played, _name(one)], "account": told})
        )
        if self._path is not None:
            beside = self._path.with_suffix(".new")
            beside.write_text(json.dumps(self._lanes, ensure_ascii=False), "utf-8")
            beside.replace(self._path)


def _name(one: Recording) -> str:
    return f"{one.source}: {one.name}"
