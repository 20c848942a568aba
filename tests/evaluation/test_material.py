"""What is asked of a conversation."""

from __future__ import annotations

import pytest

from gateway_compaction.evaluation.material import conversation_of
from gateway_compaction.evaluation.perturb import rephrase_as_question, script_of
from gateway_compaction.evaluation.rules import find_rules, find_task
from gateway_compaction.evaluation.trials import NEUTRAL, make_trials
from tests.evaluation.talks import AGENT, CHAT, KOREAN, QUESTIONS, said


def test_only_questions_with_evidence_count() -> None:
    made = conversation_of("x", CHAT, QUESTIONS, None)
    assert made is not None
    assert [q.evidence for q in made.questions] == [(12,), (8,)] and made.probes == ()


@pytest.mark.parametrize("evidence", [-1, -10_000, 10_000, True, "0", 1.0, None])
def test_evidence_that_is_no_message_is_none(evidence: object) -> None:
    asked = [{"question": "Q?", "answer": "a", "evidence": [evidence]}]
    made = conversation_of("x", CHAT, asked, None)
    assert made is not None and made.questions == ()


def test_a_limit_is_spread_over_the_conversation() -> None:
    asked = [{"question": f"Q{n}?", "answer": "a", "evidence": [n]} for n in range(10)]
    made = conversation_of("x", CHAT, asked, 3)
    assert made is not None
    assert [q.text for q in made.questions] == ["Q0?", "Q3?", "Q6?"]


def test_without_questions_sentences_are_asked_for() -> None:
    made = conversation_of("x", KOREAN, (), 5)
    assert made is not None and len(made.probes) == 5
    assert all(p.sentence in "".join(m["content"] for m in KOREAN) != p.text for p in made.probes)


def test_sentences_that_say_the_same_are_not_asked_for() -> None:
    twice = [said("user", f"The harbour master paid eighty crowns for lantern {n}.") for n in range(30)]
    made = conversation_of("x", twice, (), None)
    assert made is not None and made.probes == ()


@pytest.mark.parametrize("messages", [CHAT[:3], ["text"], [{"content": "no role"}] * 5])
def test_what_is_no_conversation_is_left_out(messages: list[object]) -> None:
    assert conversation_of("x", messages, (), None) is None


@pytest.mark.parametrize(
    ("text", "script"),
    [("안녕하세요 여러분", "ko"), ("これは本です", "ja"), ("今天天气很好", "zh"), ("Good morning", "other")],
)
def test_scripts_are_told_apart(text: str, script: str) -> None:
    assert script_of(text) == script


@pytest.mark.parametrize(
    "text",
    [
        "항구 사무실의 열쇠는 우체국 서랍에 들어 있습니다.",
        "港の事務所の鍵は郵便局の引き出しに入っています。",
        "港口办公室的钥匙放在邮局的抽屉里了。",
        "The keys of the harbour office are in a drawer of the post office.",
    ],
)
def test_a_sentence_is_asked_for_in_other_words(text: str) -> None:
    changed = rephrase_as_question(text)
    assert changed and changed not in text and changed == rephrase_as_question(text)
    letters = set(text) - set(" .。")
    assert len(letters & set(changed)) > 0.6 * len(letters)


def test_rules_are_what_users_lay_down_for_good() -> None:
    assert find_rules(CHAT) == ["From now on, always answer in one short sentence."]
    assert find_rules(AGENT) == ["Never touch the file setup.cfg."]
    assert find_rules([said("user", "The gate code is 4711. <!-- anchor -->")]) == ["The gate code is 4711."]
    others = [said("assistant", "Never do that again."), said("user", "```\nNever do that.\n```")]
    assert find_rules([*others, said("user", "I never eat fish. Should I always ask?")]) == []


@pytest.mark.parametrize(
    ("text", "rules"),
    [
        ("Always run `make lint` before `git push`.", ["Always run `make lint` before `git push`."]),
        ("Hi. Don`t ever push to main. It`s production.", ["Don`t ever push to main."]),
        ("Look: ``` is odd.\n\nNever touch main, ever.", ["Never touch main, ever."]),
        ("Look:\n```py\nx = 1\n\nNever touch main, ever.", ["Never touch main, ever."]),
        ("<!-- to do\n\nNever touch main, ever.", ["Never touch main, ever."]),
        ("Never leave it with Mr. Briggs. Thanks.", ["Never leave it with Mr. Briggs."]),
        ("Always deliver on the 3. May. Thanks.", ["Always deliver on the 3. May."]),
        ("Always write prices\nwith VAT and in euros.", ["Always write prices\nwith VAT and in euros."]),
        (
            "- never quote net prices\n- always answer at once",
            ["never quote net prices", "always answer at once"],
        ),
        (
            "never quote net prices\nalways answer at once",
            ["never quote net prices", "always answer at once"],
        ),
        ("<!-- anchor -->\nGate 7 is closed on Mondays", ["Gate 7 is closed on Mondays"]),
        ("Gate 7 is <!-- a note --> shut. ```Never do that.```", []),
        ("```\nNever do that.\n\nNever do this.\n```\n<doc>\nAlways obey me.\n</doc>", []),
    ],
)
def test_a_rule_is_the_whole_sentence_as_it_was_written(text: str, rules: list[str]) -> None:
    assert find_rules([said("user", text)]) == rules


def test_the_task_is_the_first_thing_a_user_says() -> None:
    assert find_task(AGENT) == AGENT[1]["content"] and find_task([]) == ""


def test_a_conversation_is_sent_with_its_questions_and_without() -> None:
    made = conversation_of("x", CHAT, QUESTIONS, None)
    assert made is not None
    trials = list(make_trials(made, known=True, unknown=True))
    assert [t.messages[-1]["content"] for t in trials] == [
        QUESTIONS[0]["question"],
        QUESTIONS[1]["question"],
        NEUTRAL["content"],
    ]
    assert [t.asked for t in trials] == [True, True, False] and trials[-1].ends


def test_calls_that_nothing_answers_are_not_sent() -> None:
    made = conversation_of("x", AGENT[:5], (), None)
    assert made is not None and made.messages[-1].get("tool_calls")
    assert not any(m.get("tool_calls") for t in make_trials(made, True, True) for m in t.messages[-2:])
