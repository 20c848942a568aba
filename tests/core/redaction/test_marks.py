"""Marks of one conversation: numbers, and what they depend on."""

from __future__ import annotations

import json
from typing import Any

from gateway_compaction.core.conversation.digest import digest_history
from gateway_compaction.core.planning.caches import DerivedCache
from gateway_compaction.core.records.compaction import Compaction, Segment
from gateway_compaction.core.redaction.detector import Detector
from gateway_compaction.core.redaction.marks import (
    MOST_TELLING,
    NO_MARKS,
    Redactor,
    mask_compaction,
    mask_message,
)
from tests.core.redaction.shapes import make

KEY, TOKEN = "ghp_" + make("key", 36), "npm_" + make("token", 36)
PASSWORD = "hunter2!x"


def redactor(messages: list[Any], detector: Detector | None = None) -> Redactor:
    """A redactor of a history, with a cache of its own."""
    return Redactor(
        Detector() if detector is None else detector, messages, digest_history(messages), DerivedCache(100)
    )


def say(text: str, role: str = "user", **more: Any) -> dict[str, Any]:
    """A message."""
    return {"role": role, "content": text, **more}


HISTORY = [say("Hello."), say(f"key {KEY}"), say(f"token {TOKEN}"), say(f"again {KEY}, password: {PASSWORD}")]


def test_secrets_are_numbered_by_their_first_appearance() -> None:
    assert list(redactor(HISTORY).marks().by_value.values()) == [
        "[secret: github-token #1]",
        "[secret: npm-token #2]",
        "[secret: password #3]",
    ]


def test_a_message_without_a_secret_is_the_same_object() -> None:
    masked = redactor(HISTORY).mask_history(0, 4)
    assert masked[0] is HISTORY[0]
    assert [m["content"] for m in masked[1:]] == [
        "key [secret: github-token #1]",
        "token [secret: npm-token #2]",
        "again [secret: github-token #1], password: [secret: password #3]",
    ]


def test_later_messages_change_nothing() -> None:
    later = redactor([*HISTORY, say("x-api-key: " + make("z", 32)), say(f"{TOKEN}")])
    for end in range(len(HISTORY) + 1):
        assert later.mask_history(0, end) == redactor(HISTORY[:end]).mask_history(0, end)
    # Nor does it matter what was asked first.
    assert later.mask_history(0, 2) == redactor(HISTORY).mask_history(0, 2)


def test_a_secret_is_known_where_nothing_tells_it() -> None:
    history = [say(f"password: {PASSWORD}"), say(f"I typed {PASSWORD} twice")]
    assert redactor(history).mask_history(1, 2)[0]["content"] == "I typed [secret: password #1] twice"


def test_a_short_value_stays_where_it_may_be_a_word() -> None:
    history = [say("비밀번호: 123456"), say("order 123456")]
    masked = redactor(history).mask_history(0, 2)
    assert masked[0]["content"] == "비밀번호: [secret: password #1]" and masked[1] is history[1]


def test_thinking_and_ids_give_no_numbers_and_are_masked_all_the_same() -> None:
    thought = say("ok", "assistant", reasoning_content=f"the token is {TOKEN}")
    bare, full = (
        redactor([say("a"), thought, say(KEY)]),
        redactor([say("a"), say("ok", "assistant"), say(KEY)]),
    )
    assert bare.marks() == full.marks()
    [masked] = bare.mask_whole([thought], bare.marks())
    assert masked["reasoning_content"] == "the token is [secret: npm-token]"
    parts = {
        "role": "assistant",
        "content": [{"type": "thinking", "thinking": TOKEN}, {"type": "text", "text": KEY}],
    }
    assert list(redactor([parts]).marks().by_value) == [KEY]
    assert TOKEN not in json.dumps(redactor([parts]).mask_whole([parts], NO_MARKS))


def test_calls_and_results_are_masked_in_every_form() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "login", "arguments": ""}}
    call["function"]["arguments"] = json.dumps({"user": "me", "password": PASSWORD})
    history: list[Any] = [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": [{"type": "text", "text": f"GITHUB={KEY}"}]},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "c2", "input": {"password": PASSWORD}}]},
    ]
    masked = redactor(history).mask_history(0, 3)
    text = json.dumps(masked)
    assert PASSWORD not in text and KEY not in text and text.count("[secret: password #1]") == 2
    arguments = masked[0]["tool_calls"][0]["function"]["arguments"]
    assert json.loads(arguments) == {"user": "me", "password": "[secret: password #1]"}
    assert masked[0]["tool_calls"][0]["id"] == "c1" and PASSWORD in json.dumps(history)


def test_whole_messages_know_the_numbers_of_the_history() -> None:
    one = redactor(HISTORY)
    system, plain = say(f"Use {KEY} and {make('x', 3)}", "system"), say("nothing", "system")
    masked = one.mask_whole([system, plain], one.marks())
    assert masked[0]["content"].startswith("Use [secret: github-token #1] and") and masked[1] is plain
    assert one.mask_text(f"{TOKEN}", one.marks()) == "[secret: npm-token #2]"


def test_of_very_many_secrets_the_first_are_looked_for_where_nothing_tells_them() -> None:
    keys = [f"ghp_{make(f'k{number}', 36)}" for number in range(MOST_TELLING + 20)]
    one = redactor([say("\n".join(keys)), say(f"x{keys[0]}x x{keys[-1]}x {keys[-1]}")])
    marks = one.marks()
    assert len(marks.by_value) == len(keys) and len(marks.telling) == MOST_TELLING
    _, masked = one.mask_history(0, 2)
    assert masked["content"] == f"x[secret: github-token #1]x x{keys[-1]}x {marks.by_value[keys[-1]]}"


def test_a_policy_that_masks_nothing_changes_nothing() -> None:
    off = redactor(HISTORY, Detector(secrets=False))
    assert off.marks() is NO_MARKS and off.mask_history(0, 4) == tuple(HISTORY)
    assert off.mask_whole(HISTORY, NO_MARKS) == tuple(HISTORY)
    named = redactor([say("EMP-123456"), {"role": "user", "content": [{"password": PASSWORD}]}])
    own = Redactor(
        Detector(secrets=False, patterns=(r"EMP-\d{6}",)), named.history, named.digests, named.cache
    )
    assert own.mask_history(0, 2) == ({"role": "user", "content": "[secret: pattern #1]"}, named.history[1])


def test_what_is_of_no_conversation_has_no_numbers() -> None:
    record = Compaction("d", 1, "model", (Segment(0, 1, f"The key {KEY}."), Segment(1, 2, "Nothing.")))
    assert mask_compaction(record).text == "The key [secret: github-token].\n\nNothing."
    assert mask_compaction(mask_compaction(record)) == mask_compaction(record)
    plain = Compaction("d", 1, "model", (Segment(0, 1, "Nothing."),))
    assert mask_compaction(plain) is plain
    assert mask_message(say(KEY)) == say("[secret: github-token]") and mask_message(HISTORY[0]) is HISTORY[0]
