"""Each thing that must not be in a call is found where it is."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.lab import Answer, Seen, count_request
from tests.recorded.checks import PlayedCall, find_faults, find_new_faults
from tests.recorded.lanes import Account
from tests.recorded.ledger import Ledger
from tests.recorded.material import Recording, choose

LONG = "Where does the ship lie? " * 40
TALK: list[dict[str, Any]] = [
    {"role": "user", "content": LONG},
    {"role": "assistant", "content": "At berth 7."},
    {"role": "user", "content": "And now?"},
]


def seen(messages: list[dict[str, Any]], path: str = "/v1/chat/completions") -> Seen:
    body = {"model": "m", "messages": messages}
    return Seen(path, "m", {}, json.dumps(body).encode(), body, 0.0, count_request(body))


def played(sent: list[dict[str, Any]] = TALK, plain: list[dict[str, Any]] = TALK, **told: Any) -> PlayedCall:
    """A call that is told as untouched, with more that is said of it."""
    names = {"": "none", "reason": "below every level", **told}
    headers = {f"x-compaction-{name}".rstrip("-"): value for name, value in names.items()}
    answer = Answer(200, {}, headers, 0.0)
    return PlayedCall({"messages": TALK}, 20, answer, seen(sent), seen(plain), 10_000)


def compacted(sent: list[dict[str, Any]], **more: Any) -> PlayedCall:
    call = played(sent, **{"": "applied", "reason": "model", "session": "t.s", "version": "3"})
    return replace(call, window=300, **more)


def faults_of(call: PlayedCall) -> str:
    return "; ".join(find_faults(call))


def test_a_good_call_has_no_fault() -> None:
    assert faults_of(played()) == "" and faults_of(compacted(TALK)) == ""


@pytest.mark.parametrize(
    ("call", "fault"),
    [
        (played([*TALK[:2], {"role": "user", "content": "And then?"}]), "not what LiteLLM sends: messages"),
        (played(**{"reason": ""}), "no header says"),
        (played(**{"": "failed"}), "failed: below every level"),
        (replace(compacted(TALK), window=100), "tokens for a window of 100"),
        (replace(compacted(TALK), window=5_000), "below every level, and applied"),
        (compacted([{**TALK[0], "_origin": 1}, *TALK[1:]]), "a field of ours"),
        (compacted([TALK[0], {"role": "tool", "tool_call_id": "c", "content": "7"}]), "orphan tool message"),
    ],
)
def test_a_fault_is_found(call: PlayedCall, fault: str) -> None:
    assert fault in faults_of(call)


@pytest.mark.parametrize("changes", [{"reason": "the provider keeps this history"}, {}])
def test_what_cannot_be_shorter_is_no_fault(changes: Mapping[str, str]) -> None:
    call = replace(played(**changes), window=100)
    assert faults_of(call if changes else replace(call, least=90)) == ""


def test_a_prefix_that_changes_in_an_epoch_is_found() -> None:
    before, grown = compacted(TALK), compacted([*TALK, {"role": "user", "content": "More?"}])
    assert [*find_new_faults(before, grown)] == []
    other = compacted([{**TALK[0], "content": "Summary."}, *TALK[1:]])
    assert "the prefix changed" in next(find_new_faults(before, other))
    later = replace(
        other, answer=replace(other.answer, headers={**other.answer.headers, "x-compaction-version": "4"})
    )
    assert [*find_new_faults(before, later)] == []


def test_calls_are_chosen_evenly_with_the_first_and_the_last() -> None:
    assert choose(range(10), 3) == [3, 6, 9] and choose(range(2), 3) == [0, 1]
    talk = [{"role": role, "content": str(n)} for n in range(40) for role in ("user", "assistant")]
    lengths = [len(history) for history in Recording("r", "s", "chat", talk, most=7).histories]
    assert lengths[0] == 1 and lengths[-3:] == [75, 77, 79] and len(lengths) == 7


def test_a_run_goes_on_where_the_one_before_it_ended(tmp_path: Path) -> None:
    one, other = (Recording(name, "set", "chat", [{"role": "user", "content": "Hi."}]) for name in "ab")
    path, way = tmp_path / "played.json", ("chat", "OpenAI")
    account = Account(faults=["a fault"], accepted=[one], alike=3)
    account.outcomes["none"] += 3
    Ledger(path, [one, other]).note(way, one, account)
    again = Ledger(path, [one, other])
    assert again.has_played(way, one) and not again.has_played(way, other)
    assert not again.has_played(("messages", "OpenAI"), one)
    assert again.account_of(way) == account and again.account_of(("messages", "OpenAI")) == Account()
    assert Ledger(None, [one]).account_of(way) == Account()
