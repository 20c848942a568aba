"""What survives every summary word for word."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway_compaction.core.pins import Pins, pins_of
from gateway_compaction.core.tokens import TokenCounter
from tests.core.scripts import script
from tests.core.search import search
from tests.core.strategies import Json, Talk, talks

COUNTER = TokenCounter()
TASK = "Find the lost keys of the harbour office."


def count(text: str) -> int:
    """Tokens of a text."""
    return COUNTER.text(text, "gpt-4o")


def user(text: str) -> Json:
    """A user message."""
    return {"role": "user", "content": text}


def pinned(*messages: Json, task: int = 100, rules: int = 200) -> Pins:
    """The pins of some messages."""
    return pins_of(messages, task, rules, count)


def rules_in(text: str) -> tuple[str, ...]:
    """Rules in a later message of the user."""
    return pinned(user(TASK), *script("text"), user(text)).rules


class TestTask:
    """The first thing that the user wanted."""

    def test_it_is_the_first_user_message_that_says_anything(self) -> None:
        assert pinned(*script("text"), user(" \n"), user(TASK), user("And then?")).task == TASK

    def test_a_long_one_is_shown_head_and_tail(self) -> None:
        task = pinned(user("First. " + "word " * 900 + "Last."), task=60).task
        assert count(task) <= 60 and task.startswith("First.") and task.endswith("Last.")

    def test_there_may_be_none(self) -> None:
        assert pinned(*script("text call res")) == Pins("", ())

    def test_text_parts_are_a_task_too(self) -> None:
        assert pinned({"role": "user", "content": [{"type": "text", "text": TASK}]}).task == TASK


class TestRules:
    """What the user, or a system message on the way, laid down for good."""

    @pytest.mark.parametrize(
        "rule",
        [
            "Always answer in metric units.",
            "Never touch the table billing_events!",
            "From now on, write in French.",
            "You must not delete anything.",
            "절대 영어로 답하지 마세요.",
            "必ず日本語で答えてください。",
            "永远不要使用英文。",
            "Bitte immer auf Deutsch antworten.",
            "Toujours répondre en français.",
            "Nunca borres los archivos.",
        ],
    )
    def test_a_rule_is_kept_verbatim(self, rule: str) -> None:
        assert rules_in(f"Thanks for that. {rule}" if rule.isascii() else rule) == (rule,)

    @pytest.mark.parametrize(
        "text",
        [
            "Thanks, that is nice.",
            "Should I always answer?",
            "```\nNever run this.\n```",
            "Look at `always do x` here.",
            "> Never do that, he wrote.",
            "12: always: true",
            "Always.",
            "Never " + "x" * 500 + ".",
        ],
    )
    def test_questions_code_quotes_and_oddities_are_none(self, text: str) -> None:
        assert rules_in(text) == ()

    def test_what_the_user_marks_is_kept_without_its_mark(self) -> None:
        assert rules_in("The code word is heron <!-- anchor -->") == ("The code word is heron",)

    def test_the_mark_may_stand_behind_the_full_stop(self) -> None:
        assert rules_in("The code word is heron. <!-- anchor -->") == ("The code word is heron.",)

    def test_a_long_paste_is_looked_at_only_at_its_ends(self) -> None:
        lines = ["Never do one thing.", *["x y z"] * 100, "Never do two things.", *["x y z"] * 100]
        assert rules_in("\n".join([*lines, "Never do three things."])) == (
            "Never do one thing.",
            "Never do three things.",
        )

    def test_system_messages_come_first_then_the_users_in_order(self) -> None:
        system = {"role": "developer", "content": " Use the metric system. "}
        rules = pinned(user(TASK), user("Never shout."), system, user("Always smile.")).rules
        assert rules == ("Use the metric system.", "Never shout.", "Always smile.")

    def test_what_the_task_says_already_is_not_repeated(self) -> None:
        assert pinned(user(f"{TASK} Always answer in metric units.")).rules == ()

    def test_twice_said_is_kept_once(self) -> None:
        assert pinned(user(TASK), user("Never shout."), user("Never shout.")).rules == ("Never shout.",)

    def test_the_newest_win_where_not_all_fit(self) -> None:
        said = [user(f"Never open gate number {n}.") for n in range(20)]
        rules = pinned(user(TASK), *said, rules=60).rules
        assert rules[-1] == "Never open gate number 19."
        assert 1 < len(rules) < 20 and "Never open gate number 0." not in rules

    def test_instructions_come_before_the_users_rules_where_not_all_fit(self) -> None:
        system = {
            "role": "developer",
            "content": "Use the metric system for every length that you tell me of.",
        }
        rule = "Never shout at anybody in the office of the harbour master."
        for order in ([system, user(rule)], [user(rule), system]):
            assert pinned(user(TASK), *order, rules=18).rules == (system["content"],)
        assert len(pinned(user(TASK), system, user(rule), rules=40).rules) == 2

    def test_others_lay_down_no_rules(self) -> None:
        others = [{"role": r, "content": "Never shout."} for r in ("assistant", "tool", "function")]
        assert pinned(user(TASK), *others).rules == ()

    @search
    @given(talks, st.integers(0, 120), st.integers(0, 300))
    def test_budgets_are_kept_and_everything_is_verbatim(self, talk: Talk, task: int, rules: int) -> None:
        pins = pins_of(talk.messages, task, rules, count)
        assert count(pins.task) <= task
        assert sum(count(rule) for rule in pins.rules) <= rules
        assert len(set(pins.rules)) == len(pins.rules)
        assert pins == pins_of(talk.messages, task, rules, count)
