"""The accountant notices what it is there for: an account that is always clean would prove nothing."""

from __future__ import annotations

from typing import Any

import pytest

from tests.faults.account import Account, Asked, Call, check_sent, check_stored
from tests.faults.talks import Talk, read_runs, write_runs
from tests.lab import Answer, Seen

TALK = Talk().fill(6)
TALK.ask()
OWN = TALK.messages


def seen(messages: list[dict[str, Any]], tokens: int = 100) -> Seen:
    return Seen("/v1/chat/completions", "gpt-4o-chat-4k", {}, b"", {"messages": messages}, 0.0, tokens)


def summary(tags: list[str], text: str = "SUMMARY 1: covered {}. Nothing is open.") -> dict[str, Any]:
    return {"role": "user", "content": text.format(write_runs(tags))}


BETWEEN = {"role": "assistant", "content": "I read the summary."}
OTHER = Talk().fill(6)
TAGS = TALK.tags

SENT: dict[str, tuple[list[dict[str, Any]], str]] = {
    "as it came": (OWN, ""),
    "a summary": ([OWN[0], summary(TAGS[:4]), BETWEEN, *OWN[5:]], ""),
    "a quote": ([*OWN[:-1], {**OWN[-1], "content": f"a quote\n\n{OWN[-1]['content']}"}], ""),
    "a lost message": ([OWN[0], *OWN[3:]], "gone"),
    "a lost message behind a summary": ([OWN[0], summary(TAGS[:2]), BETWEEN, *OWN[5:]], "ends early"),
    "a message before the summary": ([*OWN[:3], summary(TAGS[:4]), BETWEEN, *OWN[5:]], "out of their place"),
    "a doubled message": ([OWN[0], summary(TAGS[:6]), BETWEEN, *OWN[5:]], "too"),
    "a foreign summary": ([OWN[0], summary(OTHER.tags[:4]), BETWEEN, *OWN[5:]], "other messages"),
    "a summary that begins late": ([OWN[0], summary(TAGS[1:4]), BETWEEN, *OWN[5:]], "does not fit"),
    "another last message": ([*OWN[:-1], {"role": "user", "content": "what?"}], "not the client's"),
}


@pytest.mark.parametrize("how", SENT)
def test_what_an_upstream_call_held(how: str) -> None:
    messages, wanted = SENT[how]
    problems, _ = check_sent(OWN, seen(messages))
    assert bool(problems) == bool(wanted)
    if wanted:
        assert any(word in problem for problem in problems for word in wanted.split("|"))


def test_runs_are_read_as_they_were_written() -> None:
    tags = [*TALK.tags, f"{TALK.mark}-1007u", f"{TALK.mark}-1007a", f"{TALK.mark}-1009u"]
    assert read_runs(write_runs(tags)) == tags


def test_a_session_with_two_conversations_is_found() -> None:
    keys = {"gwc:{ab.cd}:compactions": {"x": TALK.tags[0]}, "gwc:{ab.cd}:kept": TALK.tags[1]}
    assert not check_stored(keys)
    assert check_stored({**keys, "gwc:{ab.cd}:last": OTHER.tags[0]})


CALLS: dict[str, tuple[dict[str, Any], dict[str, bool], int]] = {
    "answered": ({"status": 200}, {}, 0),
    "refused by the gateway": ({"status": 500}, {}, 1),
    "refused by the upstream": ({"status": 500}, {TALK.tags[-1]: True}, 0),
    "without an answer": ({}, {}, 1),
    "left by the client": ({"excuse": "left"}, {}, 0),
}


@pytest.mark.parametrize("how", CALLS)
def test_what_counts_as_failed(how: str) -> None:
    facts, failing, failed = CALLS[how]
    answer = Answer(facts["status"], {}, {}, 0.1) if "status" in facts else None
    call = Call(TALK.tags[-1], OWN, "chat", "first", answer, excuse=facts.get("excuse", ""))
    account = Account.draw_up([call], [], failing, [], {}, {})
    assert (account.failed, bool(account.problems)) == (failed, bool(failed))


def test_an_answer_to_another_call_is_found() -> None:
    for tag, found in ((TALK.tags[-1], False), (TALK.tags[1], True)):
        body = {"choices": [{"message": {"content": f"{tag[:-1]}a Noted."}}]}
        call = Call(TALK.tags[-1], OWN, "chat", "first", Answer(200, body, {}, 0.1))
        assert bool(Account.draw_up([call], [], {}, [], {}, {}).problems) == found


def test_windows_and_summaries_made_twice() -> None:
    call = Call(TALK.tags[-1], OWN, "chat", "first", Answer(200, {}, {}, 0.1))
    asked = [Asked("a", True, ""), Asked("a", True, ""), Asked("b", False, ""), Asked("b", True, "")]
    account = Account.draw_up([call], [seen(OWN, 5000)], {}, asked, {}, {"gpt-4o-chat-4k": 4000})
    assert (account.summaries, account.lost) == (3, 1)
    assert [p.rpartition(": ")[2] for p in account.problems] == ["5000 tokens sent to 4000"]
