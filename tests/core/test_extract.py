"""The summary that needs no model: within its budget, verbatim, the same on every replica."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway_compaction.core.extractive.extract import build_extract, read_message
from gateway_compaction.core.extractive.salience import (
    build_sentence_pool,
    choose_salient,
    choose_user_statements,
    dialogue_share,
    read_utterance,
)
from gateway_compaction.core.tokens.counter import TokenCounter
from tests.core.builders import Bench, policy
from tests.core.scripts import script
from tests.core.search import search
from tests.core.strategies import Json, Talk, odd_messages, talks

COUNTER = TokenCounter()
CHAT: list[Json] = [
    {
        "role": "user",
        "content": "We booked the ferry to Bergen for 14 March. It leaves at 7:45 in the morning.",
    },
    {"role": "assistant", "content": "Noted. Let me know whether anything else is needed for now."},
    {"role": "user", "content": "My sister Ingrid meets us at pier 12. The hotel costs 210 euros a night."},
    {"role": "assistant", "content": "Good. Ingrid meets you at pier 12 when the ferry has landed there."},
]
AGENT: list[Json] = [
    {"role": "user", "content": "Fix the failing test in tests/test_cart.py, please."},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"function": {"name": "read", "arguments": '{"path": "src/shop/cart.py"}'}}],
    },
    {"role": "tool", "content": "def total_price(self): return sum(x.price for x in self.items)  # line 40"},
    {
        "role": "assistant",
        "content": "The method total_price ignores the discount; I change it in cart.py now.",
    },
]
FACTS = (
    "We booked the ferry to Bergen for 14 March.",
    "The boathouse key lies in src/keys/blue_stone.txt.",
    "Ingrid painted the western pier red last summer.",
    "The hotel costs 210 euros a night.",
)
ROLES = ("user", "assistant")


def bench() -> Bench:
    """A small window that asks no model, with nothing kept from before."""
    return Bench(900, policy(summary__model="extractive", summary__max_tokens=200))


def count(text: str) -> int:
    """Tokens of a text."""
    return COUNTER.raw_tokens(text, "gpt-4o")


class TestExtract:
    """Extracts of some messages."""

    @search
    @given(talks, st.integers(24, 600))
    def test_it_keeps_to_its_budget(self, talk: Talk, budget: int) -> None:
        assert count(build_extract(talk.messages, budget, count)) <= budget

    @search
    @given(talks, st.integers(24, 600))
    def test_it_is_the_same_each_time(self, talk: Talk, budget: int) -> None:
        assert build_extract(talk.messages, budget, count) == build_extract([*talk.messages], budget, count)

    @search
    @given(odd_messages)
    def test_every_json_message_can_be_extracted(self, messages: list[Any]) -> None:
        assert isinstance(build_extract(messages, 100, count), str)

    def test_with_room_for_all_nothing_that_matters_is_lost(self) -> None:
        text = build_extract(CHAT, 400, count)
        assert all(fact in text for fact in ("14 March", "7:45", "Ingrid", "pier 12", "210 euros"))

    def test_with_little_room_facts_come_before_phrases(self) -> None:
        text = build_extract(CHAT, 45, count)
        assert all(fact in text for fact in ("14 March", "7:45", "pier 12", "210 euros"))
        assert "Let me know" not in text

    def test_it_says_who_spoke_and_keeps_the_order(self) -> None:
        text = build_extract(CHAT, 400, count)
        assert "[user] We booked" in text
        assert text.index("Bergen") < text.index("Ingrid")

    def test_sentences_are_verbatim(self) -> None:
        assert "We booked the ferry to Bergen for 14 March." in build_extract(CHAT, 400, count)

    @pytest.mark.parametrize(("messages", "times"), [(20, 1), (1, 20), (4, 5)])
    def test_the_same_thing_is_not_said_twice(self, messages: int, times: int) -> None:
        said = {"role": "user", "content": "The code of the gate is 4711 and it opens at noon. " * times}
        assert build_extract([said] * messages, 400, count).count("4711 and it opens") == 1

    def test_identifiers_survive(self) -> None:
        text = build_extract(AGENT, 200, count)
        assert all(name in text for name in ("tests/test_cart.py", "src/shop/cart.py", "total_price"))

    def test_arguments_of_calls_count_as_said(self) -> None:
        assert "src/shop/cart.py" in build_extract(AGENT[:2], 100, count)

    def test_long_sentences_are_shortened(self) -> None:
        said = {"role": "user", "content": "The list is: " + "harbour lantern meadow " * 200}
        text = build_extract([said], 300, count)
        assert text and count(text) <= 300

    def test_system_messages_are_left_to_the_pins(self) -> None:
        system = {"role": "system", "content": "The reactor must be cooled with heavy water only."}
        assert "reactor" not in build_extract([*CHAT, system], 400, count)

    @pytest.mark.parametrize("role", ["tool", "function"])
    def test_what_a_tool_says_counts_less_than_what_people_say(self, role: str) -> None:
        same = "The harbour master paid {} for the lanterns of the western pier."
        messages = [
            {"role": role, "content": same.format("eighty")},
            {"role": "user", "content": same.format("ninety")},
        ]
        text = build_extract(messages, 24, count)
        assert "ninety" in text and "eighty" not in text

    def test_questions_tell_less_than_statements(self) -> None:
        said = "The harbour master paid for the lanterns of the {} pier{}"
        messages = [{"role": "assistant", "content": said.format("eastern", "?")}]
        messages.append({"role": "assistant", "content": said.format("western", ".")})
        text = build_extract(messages, 24, count)
        assert "western" in text and "eastern" not in text

    @pytest.mark.parametrize(
        ("telling", "plain"),
        [
            ("They repaired the harbour crane yesterday.", "They repaired the harbour crane somehow."),
            ("They visited the harbour crane last week.", "They visited the harbour crane once more."),
            ("They photographed the harbour near Bergen.", "They photographed the harbour near noon."),
            ("I borrowed another lantern from Jon.", "They borrowed another lantern from Jon."),
        ],
    )
    def test_dates_names_and_what_is_told_of_oneself_tell_more(self, telling: str, plain: str) -> None:
        for order in ((telling, plain), (plain, telling)):
            assert build_extract([{"role": "user", "content": text} for text in order], 14, count) == (
                f"[user] {telling}"
            )

    def test_an_assistants_i_tells_no_more(self) -> None:
        asked = {"role": "user", "content": "Which lamp?"}
        said = "{} borrowed another lantern for the western pier from Jon."
        answers = [{"role": "assistant", "content": said.format(who)} for who in ("They", "I")]
        assert "They" in build_extract([asked, *answers, asked], 20, count)

    def test_of_a_very_long_answer_the_beginning_and_the_end_are_read(self) -> None:
        names = [
            f"{a}{b}" for a in ("har", "lan", "mea", "dun", "kel") for b in ("bour", "tern", "dow", "mar")
        ]
        text = " ".join(f"The crew painted lighthouse {name} grey." for name in (*names, *reversed(names)))
        lines = text.replace(". ", ".\n")
        told = build_extract([{"role": "assistant", "content": lines}], 4000, count)
        assert "lighthouse harbour" in told and "lighthouse kelmar" not in told
        assert "lighthouse kelmar" in build_extract([{"role": "user", "content": lines}], 4000, count)

    def test_where_nothing_is_said_there_is_nothing(self) -> None:
        assert build_extract([], 100, count) == ""
        assert build_extract([{"role": "user", "content": "Hi."}, *script("text")], 100, count) == ""

    def test_without_room_there_is_nothing(self) -> None:
        assert build_extract(CHAT, 5, count) == ""


OPEN = "Is the gasket still missing from my parcel? Please check with the depot."
TOLD = (
    "Reply only in bullet points and keep every answer below 40 words.",
    "Correction: my address is now 7 Harbour Row, Hull.",
    "My budget is 900 euros at most, I can't go above that.",
)
SHOP = (
    (
        "Do you have valve {0} in brass?",
        "Valve {0} is available in brass for 62 euros and ships from Bremen.",
    ),
    ("How wide is flange T-{1}?", "Flange T-{1} is 502 mm wide and 6 mm deep with a zinc coating on it."),
    (
        "How long does kit {0}-{1} take?",
        "Kit {0}-{1} arrives in {2} days, and the carrier calls ahead of it.",
    ),
)


def shop(turns: int) -> list[Json]:
    """A spare-parts chat with a code in every line; early in it what a user tells, and what is put off."""
    pairs = []
    for i in range(turns):
        codes = (f"{'ABCDEF'[i % 6]}{100 + i * 7}", str(1000 + i * 37), str(2 + i))
        pairs.append(tuple(text.format(*codes) for text in SHOP[i % 3]))
    pairs[4:4] = [*((told, "Noted.") for told in TOLD), (OPEN, "I will check.")]
    return [{"role": ROLES[i], "content": text} for pair in pairs for i, text in enumerate(pair)]


class TestDialogue:
    """A dialogue: what users tell and still wait for has room of its own, however many the codes."""

    @pytest.mark.parametrize("turns", [30, 60, 120])
    def test_many_codes_do_not_push_out_what_a_user_tells(self, turns: int) -> None:
        text = build_extract(shop(turns), 200, count)
        assert all(told in text for told in TOLD)

    @pytest.mark.parametrize("turns", [30, 60, 120])
    def test_what_a_user_still_waits_for_is_kept(self, turns: int) -> None:
        assert OPEN in build_extract(shop(turns), 120, count)

    def test_what_was_answered_later_is_not(self) -> None:
        asked = {"role": "user", "content": "And the gasket?"}
        found = {"role": "assistant", "content": "The gasket is still at the depot, your parcel lacks it."}
        text = build_extract([*shop(60), asked, found], 120, count)
        assert OPEN not in text

    def test_there_are_whole_sentences_and_bare_names_only(self) -> None:
        messages = shop(60)
        names, *lines = build_extract(messages, 300, count).splitlines()
        assert names.startswith("identifiers: ")
        said = {str(m["content"]) for m in messages}
        for line in lines:
            told = line.removeprefix("[user] ").removeprefix("[assistant] ")
            assert told in said or any(told in one and told.endswith((".", "?")) for one in said)

    def test_calls_in_between_change_nothing(self) -> None:
        messages: list[Json] = []
        for i, message in enumerate(shop(60)):
            if message["role"] == "assistant":
                look = {"name": "look_up", "arguments": f'{{"part": "P{i}", "depot": "HB"}}'}
                result = {"role": "tool", "content": f'{{"part": "P{i}", "stock": {i}, "drawing": "DR-{i}"}}'}
                messages += [
                    {"role": "assistant", "content": None, "tool_calls": [{"function": look}]},
                    result,
                ]
            messages.append(message)
        text = build_extract(messages, 300, count)
        assert all(told in text for told in (OPEN, *TOLD)) and "Valve A100 is available\n" not in text

    @pytest.mark.parametrize(
        ("answer", "talks"),
        [("It is on the shelf by the door.", 1.0), ("def find(self): return self.items[0].name", 0.0)],
    )
    def test_where_answers_are_programs_it_is_none(self, answer: str, talks: float) -> None:
        said = (("user", "Where is the lamp of the pier?"), ("assistant", answer))
        heard = [read_utterance({"role": role, "content": text}) for role, text in said * 4]
        assert dialogue_share(heard) == talks

    def test_the_same_question_about_other_codes_gives_way(self) -> None:
        text = build_extract(shop(120), 300, count)
        assert sum(line.count("How long does kit") for line in text.splitlines()) <= 2

    @pytest.mark.parametrize(
        ("telling", "plain"),
        [
            ("Correction: the lamp on the pier is green.", "As ever: the lamp on the pier is green."),
            ("The lamp hangs on the pier, not the gate.", "The lamp hangs on the pier, by the gate."),
            ("They pay 90 euros for the pier's lamp.", "They pay ninety for another pier's lamp."),
            ("Der Steg ist jetzt nicht mehr gesperrt.", "Der Steg bleibt heute weiter gesperrt."),
            ("桟橋の灯りは赤ではなく緑になる。", "桟橋の灯りは赤くて緑色にもなる。"),
        ],
    )
    def test_corrections_and_amounts_come_first(self, telling: str, plain: str) -> None:
        for order in ((telling, plain), (plain, telling)):
            messages = [{"role": "user", "content": text} for text in order]
            talk = build_sentence_pool(messages, [read_utterance(m) for m in messages], 0.0)
            assert [p.text for p in choose_user_statements(talk, (), 20, count)] == [telling]

    def test_questions_are_none_of_what_a_user_tells(self) -> None:
        messages = [{"role": "user", "content": f"{OPEN.split('?')[0]}?"}, *CHAT[:1]]
        talk = build_sentence_pool(messages, [read_utterance(m) for m in messages], 0.0)
        told = [p.text for p in choose_user_statements(talk, (), 400, count)]
        assert len(told) == 2 and not any("gasket" in text for text in told)

    def test_agents_keep_the_words_around(self) -> None:
        long = "It takes the whole night and half of the day until it ends, so wait. " * 3
        told = {"role": "tool", "content": f"{long} then run src/shop/till.py before noon. {long}"}
        assert "then run src/shop/till.py before noon." in build_extract(
            [*AGENT, told, *AGENT[1:]], 110, count
        )


class TestShown:
    """A text that stands beside an extract has no place in it."""

    def test_sentences_are_not_told_again(self) -> None:
        text = build_extract(
            CHAT, 400, count, shown="<task>\nWe booked the ferry to Bergen for 14 March.\n</task>"
        )
        assert "Bergen" not in text and "It leaves at 7:45 in the morning." in text

    def test_their_room_is_for_others(self) -> None:
        shown = "\n".join(TOLD)
        assert len(build_extract(shop(60), 200, count, shown=shown).splitlines()) > 5
        assert all(told not in build_extract(shop(60), 200, count, shown=shown) for told in TOLD)

    def test_what_is_shown_word_for_word_takes_no_room(self) -> None:
        pool = build_sentence_pool(CHAT, [read_message(message).utterance for message in CHAT], 0.0)
        pieces = choose_salient(pool, (), 400, count)
        shown = "\n".join(piece.text for piece in pieces[:1])
        assert [p.text for p in choose_salient(pool, (), 400, count, shown)][:1] != [pieces[0].text]
        # Though it has no room, what it says counts as said.
        assert choose_salient(pool, (), 1, count, shown) == []

    def test_identifiers_are_not_told_again(self) -> None:
        text = build_extract(AGENT, 200, count, shown="Look at src/shop/cart.py first.")
        assert "total_price" in text and "src/shop/cart.py" not in text

    @search
    @given(talks, st.integers(24, 300))
    def test_with_everything_shown_little_is_left(self, talk: Talk, budget: int) -> None:
        text = build_extract(talk.messages, budget, count)
        assert count(build_extract(talk.messages, budget, count, shown=text)) <= budget

    def test_a_request_does_not_tell_its_task_twice(self) -> None:
        story = [{"role": r, "content": f"{FACTS[i % 4]} Day {i}."} for i, r in enumerate(ROLES * 40)]
        task = "Plan the summer of the western harbour with Ingrid, day by day, please."
        plan = bench().plan(
            [{"role": "user", "content": task}, story[1], *story, {"role": "user", "content": "?"}]
        )
        assert plan.view.summary_message is not None
        assert str(plan.view.summary_message["content"]).count(task) == 1


class TestKept:
    """Readings that are kept for the next request change nothing."""

    def test_an_extract_is_the_same_cold_and_warm(self) -> None:
        story = [{"role": r, "content": f"{FACTS[i % 4]} Day {i}."} for i, r in enumerate(ROLES * 40)]
        longer = [*story, *CHAT, {"role": "user", "content": "And now?"}]
        warm = bench()
        first = warm.plan(story[:-1])
        again = warm.plan(story[:-1])
        grown = warm.plan(longer)
        assert first.level == grown.level == "aggressive"
        for made, messages in ((first, story[:-1]), (again, story[:-1]), (grown, longer)):
            fresh = bench().plan(messages)
            assert made.view.compaction is not None and made.view.compaction.text
            assert made.view == fresh.view

    def test_what_was_read_is_kept_by_message(self) -> None:
        caches = bench().caches
        assert read_message(CHAT[0]) == read_message({**CHAT[0]})
        assert caches.readings.get("a", lambda: read_message(CHAT[0])) is caches.readings.get(
            "a", lambda: read_message(CHAT[1])
        )
