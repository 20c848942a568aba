"""The table of what providers demand, and that what the gateway adds keeps it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from gateway_compaction.core.conversation.messages import cache_marks_of, carried_cache_mark
from gateway_compaction.core.conversation.parts import cache_lifetime
from gateway_compaction.core.conversation.provider_rules import RULES, find_broken, newly_broken
from gateway_compaction.core.planning.views import ViewBuilder, render
from gateway_compaction.core.summary.block import ACKNOWLEDGEMENT, is_acknowledgement
from tests.core.builders import Bench, policy, stored
from tests.core.scripts import THOUGHT, script
from tests.core.search import search
from tests.core.strategies import Json, odd_messages

LONG = {"type": "ephemeral", "ttl": "1h"}
SHORT = {"type": "ephemeral", "ttl": "5m"}
PLAIN = {"type": "ephemeral"}
IMAGE = {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}


def marked(mark: Any, role: str = "user") -> Json:
    return {"role": role, "content": [{"type": "text", "text": "Hello.", "cache_control": mark}]}


def thinking(field: str, *answers: str | None) -> list[Json]:
    """A talk whose answers have a thinking field, or none."""
    talk: list[Json] = []
    for number, thought in enumerate(answers):
        talk.append({"role": "user", "content": f"Question {number}?"})
        answer = {"role": "assistant", "content": f"Answer {number}."}
        talk.append(answer if thought is None else {**answer, field: thought})
    return talk


# Of each rule bodies that break it, and bodies that come near it and keep it.
BROKEN: dict[str, list[list[Json]]] = {
    "first_role": [script("text user"), script("sys call res"), script("res user")],
    "alternation": [script("user user"), script("user text text user")],
    "system_first": [script("user sys"), script("sys user text dev user")],
    "no_user_behind_result": [script("user call res user"), script("user use ures user")],
    "last_role": [script("user text"), script("user call")],
    "pairs": [
        script("user call"),
        script("user call user"),
        script("user res"),
        script("user calls res"),
        script("user call res res"),
        script("user call user res"),
        script("user fcall text"),
        script("user text fres"),
        script("user use user"),
        script("user text ures"),
    ],
    "no_empty_text": [
        [{"role": "user", "content": ""}],
        [{"role": "user", "content": " \n"}],
        [{"role": "user"}],
        [{"role": "user", "content": []}],
        [{"role": "user", "content": [{"type": "text", "text": ""}, IMAGE]}],
        [*script("user"), {"role": "assistant", "content": None}, *script("user")],
    ],
    "thinking_on_each_answer": [
        thinking("reasoning_content", "Hm.", None),
        thinking("reasoning_content", None, "Hm."),
        thinking("reasoning", "Hm.", ""),
    ],
    "thinking_of_whole_turns": [script("user call res thinkcall res"), script("user text user text think")],
    "few_cache_marks": [[marked(PLAIN) for _ in range(5)]],
    "cache_marks_by_lifetime": [
        [marked(SHORT), marked(LONG)],
        [marked(PLAIN), marked(LONG)],
        [marked(LONG), marked(SHORT), marked(LONG)],
        [{**script("user")[0], "cache_control": SHORT}, marked(LONG)],
    ],
    "media_are_users": [
        [{"role": "assistant", "content": [IMAGE]}],
        [{"role": "system", "content": [IMAGE]}],
    ],
}
KEPT: dict[str, list[list[Json]]] = {
    "first_role": [script("user"), script("sys dev user"), script("sys"), []],
    "alternation": [script("user text user"), script("user call res res text"), script("sys sys user")],
    "system_first": [script("sys dev user")],
    "no_user_behind_result": [script("user call res text user"), script("user use ures")],
    "last_role": [script("user"), script("user call res"), script("user use ures"), script("sys")],
    "pairs": [
        script("user call res"),
        script("user calls")
        + [{"role": "tool", "tool_call_id": i, "content": "1"} for i in ("call_1", "call_0")],
        # Ids repeat within a conversation.
        script("user call res call res text user"),
        script("user fcall fres text"),
        script("user use ures text"),
    ],
    "no_empty_text": [script("user call res"), script("user fcall fres use ures")],
    "thinking_on_each_answer": [
        thinking("reasoning_content", "Hm.", " "),
        thinking("reasoning_content", None, None),
        thinking("reasoning", "Hm.", "So."),
    ],
    "thinking_of_whole_turns": [
        script("user thinkcall res call res text"),
        script("user call res text user thinkcall res"),
        script("user thinkcall res thinkcall res think"),
    ],
    "few_cache_marks": [[marked(PLAIN) for _ in range(4)]],
    "cache_marks_by_lifetime": [
        [marked(LONG), marked(LONG), marked(SHORT), marked(PLAIN)],
        [marked({"ttl": []}), marked("odd")],
    ],
    "media_are_users": [[{"role": "user", "content": [IMAGE]}], [{"role": "tool", "content": [IMAGE]}]],
}


class TestTable:
    """Each rule finds what breaks it, and nothing else."""

    def test_every_rule_has_examples_and_a_source(self) -> None:
        names = [rule.name for rule in RULES]
        assert len(set(names)) == len(names)
        assert set(BROKEN) == set(KEPT) == set(names) - {"json_is_said"}
        assert all(rule.providers and rule.source for rule in RULES)

    @pytest.mark.parametrize(("name", "messages"), [(n, m) for n, found in BROKEN.items() for m in found])
    def test_what_breaks_it_is_found(self, name: str, messages: list[Json]) -> None:
        assert name in find_broken({"messages": messages})

    @pytest.mark.parametrize(("name", "messages"), [(n, m) for n, found in KEPT.items() for m in found])
    def test_what_keeps_it_is_left_in_peace(self, name: str, messages: list[Json]) -> None:
        assert name not in find_broken({"messages": messages})

    def test_json_must_be_said_where_it_is_asked_for(self) -> None:
        body = {"messages": script("user"), "response_format": {"type": "json_object"}}
        assert list(find_broken(body)) == ["json_is_said"]
        assert not find_broken({**body, "messages": [{"role": "user", "content": "As JSON."}]})
        assert not find_broken({**body, "response_format": {"type": "text"}})

    @pytest.mark.parametrize(
        ("beside", "messages", "broken"),
        [
            (
                {"system": marked(SHORT)["content"]},
                [LONG],
                ["cache_marks_by_lifetime"],
            ),
            ({"system": marked(LONG)["content"]}, [SHORT], []),
            (
                {"system": marked(PLAIN)["content"]},
                [PLAIN] * 4,
                ["few_cache_marks"],
            ),
            ({"system": "a"}, [PLAIN] * 4, []),
            ({"system": 7}, [PLAIN] * 4, []),
            ({"cache_control": LONG}, [SHORT], ["cache_marks_by_lifetime"]),
            # It is the one of the last part, where that has the same.
            ({"cache_control": PLAIN}, [PLAIN] * 4, []),
            ({"cache_control": SHORT}, [PLAIN] * 4, ["few_cache_marks"]),
        ],
    )
    def test_marks_beside_the_messages_count(
        self, beside: dict[str, Any], messages: list[Any], broken: list[str]
    ) -> None:
        found = find_broken({**beside, "messages": [marked(mark) for mark in messages]})
        assert [name for name in found if "cache" in name] == broken
        assert not [name for name in find_broken({**beside, "messages": []}) if "cache" in name]

    def test_marks_of_tools_come_first(self) -> None:
        tool = {"type": "function", "function": {"name": "look"}, "cache_control": SHORT}
        body = {"messages": [marked(LONG)], "tools": [tool, "odd"]}
        assert list(find_broken(body)) == ["cache_marks_by_lifetime"]
        inner = {"type": "function", "function": {"name": "look", "cache_control": LONG}}
        assert not find_broken({**body, "tools": [inner]})

    def test_what_the_client_broke_itself_is_no_fault_of_ours(self) -> None:
        received = {"messages": script("user user text user")}
        assert newly_broken(received, received) == []
        assert newly_broken({"messages": script("user user")}, received) == []
        more = newly_broken({"messages": script("user user user text text user")}, received)
        assert [found.partition(":")[0] for found in more] == ["alternation"]

    @search
    @given(odd_messages)
    def test_strange_bodies_are_judged_without_a_fault(self, messages: list[Json]) -> None:
        find_broken({"messages": [*messages, None, 3, {"role": 1}]})
        find_broken({"messages": messages, "tools": messages})
        assert find_broken({"messages": "odd", "tools": "odd"}) == {}


def viewed(messages: list[Json], covers: int) -> list[Any]:
    """What is sent where the first messages are covered."""
    bench = Bench(1_000, policy(summary__max_tokens=60, recall__max_tokens=0))
    context = bench.context(messages)
    return render(ViewBuilder(context).build_view(stored(context, covers)), context)


class TestCacheMarks:
    """The summary message carries a mark that providers take where it stands."""

    @pytest.mark.parametrize(
        ("covered", "behind", "carried"),
        [
            ([], [], None),
            ([], [LONG], None),
            ([SHORT], [], SHORT),
            ([LONG, SHORT], [SHORT], SHORT),
            ([LONG, SHORT], [PLAIN], SHORT),
            # A repeated opener, marked when the conversation was young, stands behind it now.
            ([LONG, SHORT], [LONG, SHORT], LONG),
            ([PLAIN], [LONG], LONG),
            ([LONG], [SHORT], LONG),
        ],
    )
    def test_it_is_the_last_one_or_as_what_outlives_it(
        self, covered: list[Json], behind: list[Json], carried: Json | None
    ) -> None:
        assert carried_cache_mark(map(marked, covered), map(marked, behind)) == carried

    def test_an_opener_that_is_repeated_with_its_mark(self) -> None:
        messages = [marked(LONG, "system"), marked(LONG), *script("call res call res call res call res")]
        for place in (3, 9):
            messages[place] = {**messages[place], "cache_control": SHORT}
        assert not find_broken({"messages": messages})
        sent = viewed(messages, 5)
        found = [cache_lifetime(mark) for message in sent for mark in cache_marks_of(message)]
        assert found == [3600, 3600, 3600, 300]
        assert newly_broken({"messages": sent}, {"messages": messages}) == []

    def test_marks_within_results_are_seen(self) -> None:
        result = {"type": "tool_result", "content": [{"type": "text", "text": "1", "cache_control": LONG}]}
        message = {
            "role": "user",
            "content": [{**result, "cache_control": SHORT}, "x"],
            "cache_control": PLAIN,
        }
        assert cache_marks_of(message) == [LONG, SHORT, PLAIN]


class TestAcknowledgement:
    """The word that the gateway adds thinks where the client's own answers do."""

    @pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
    def test_it_has_the_field_that_all_answers_have(self, field: str) -> None:
        messages = [*thinking(field, *["Hm."] * 4), *script("user")]
        sent = viewed(messages, 4)
        word = next(m for m in sent if is_acknowledgement(m))
        assert word == {**ACKNOWLEDGEMENT, field: " "}
        assert newly_broken({"messages": sent}, {"messages": messages}) == []

    @pytest.mark.parametrize(
        "messages",
        [
            thinking("reasoning_content", None, None, "Hm."),
            thinking("reasoning_content", "Hm.", None, "Hm."),
            thinking("thinking_blocks", "Hm.", "Hm.", "Hm."),
            [*script("user user user user"), *thinking("reasoning_content", "Hm.")],
        ],
    )
    def test_otherwise_it_stays_as_it_is(self, messages: list[Json]) -> None:
        assert any(m is ACKNOWLEDGEMENT for m in viewed([*messages, *script("user")], 4))

    def test_later_answers_change_nothing(self) -> None:
        """The bytes of an epoch do not depend on what comes behind the cut."""
        early = [*thinking("reasoning_content", "Hm.", "Hm."), *script("user text user")]
        before, after = viewed(early, 4), viewed([*early, *script("text user")], 4)
        assert before[:2] == after[:2] and before[1]["reasoning_content"] == " "

    def test_it_is_weighed_as_it_is_sent(self) -> None:
        bench = Bench(1_000, policy(recall__max_tokens=0))
        context = bench.context([*thinking("reasoning_content", *["Hm."] * 4), *script("user")])
        view = ViewBuilder(context).build_view(stored(context, 4))
        sent = render(view, context)
        fixed = context.measure.fixed - bench.quotes
        assert view.tokens >= fixed + sum(context.calibrated_tokens(m) for m in sent)

    def test_it_is_known_by_its_word(self) -> None:
        assert is_acknowledgement({"role": "assistant", "content": "OK.", "reasoning": " "})
        assert not is_acknowledgement({"role": "assistant", "content": "OK. And?"})
        assert not is_acknowledgement({"role": "user", "content": "OK."})


def test_a_thought_in_blocks_is_signed_and_not_made_up() -> None:
    messages = [
        *script("user think user think user"),
        {"role": "assistant", "content": "x", "thinking_blocks": [THOUGHT]},
    ]
    assert any(m is ACKNOWLEDGEMENT for m in viewed([*messages, *script("user")], 4))
