"""Which policies hold for whom, in which order, and why."""

from __future__ import annotations

import fnmatch
import itertools
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway_compaction.core.policy.book import EntryMode, Identity, MatchReport, PolicyBook
from gateway_compaction.core.policy.document import Match
from gateway_compaction.core.policy.matching import (
    RANKS,
    can_match_same_request,
    can_match_same_text,
)
from gateway_compaction.core.policy.model import flatten
from gateway_compaction.errors import PolicyError
from tests.policy_books import SOURCE, book, entry, errors_of, tree

EVERYBODY = Identity()
RANKED = [
    entry("by key", {"key": "k"}, **tree("levels.medium.keep_last", 24)),
    entry("by user", {"user": "u"}, **tree("levels.medium.keep_last", 23)),
    entry("by team", {"team": "t"}, **tree("levels.medium.keep_last", 22)),
    entry("by tag", {"tag": "g"}, **tree("levels.medium.keep_last", 21)),
    entry("by model", {"model": "m"}, **tree("levels.medium.keep_last", 20)),
]


def keep_last(made: PolicyBook, **identity: Any) -> int:
    return made.resolve(Identity(**identity)).levels.medium.keep_last


@pytest.mark.parametrize(
    ("match", "identity", "holds"),
    [
        ({"team": "lab"}, {"team_id": "lab"}, True),
        ({"team": "lab"}, {"team_id": "42", "team_alias": "lab"}, True),
        ({"team": "lab"}, {"team_id": "Lab"}, False),
        ({"team": "lab"}, {"key_alias": "lab"}, False),
        ({"team": "*"}, {}, False),
        ({"team": "*"}, {"team_id": ""}, False),
        ({"team": ["a", "lab-*"]}, {"team_id": "lab-7"}, True),
        ({"team": ["a", "lab-*"]}, {"team_id": "b"}, False),
        ({"key": "ci-[0-9]"}, {"key_alias": "ci-3"}, True),
        ({"key": "ci-?"}, {"key_alias": "ci-33"}, False),
        ({"model": "gpt-4o*"}, {"model": "gpt-4o-mini"}, True),
        ({"model": "gpt-4o"}, {"model": "gpt-4o-mini"}, False),
        ({"model": "gpt-4.1"}, {"model": "gpt-4x1"}, False),
        ({"tag": ["x", "y"]}, {"tags": ("a", "y")}, True),
        ({"tag": "x"}, {"tags": ()}, False),
        ({"user": "ann"}, {"user_id": "ann"}, True),
        ({"team": "lab", "model": "gpt-*"}, {"team_id": "lab", "model": "gpt-5"}, True),
        ({"team": "lab", "model": "gpt-*"}, {"team_id": "lab", "model": "o3"}, False),
        ({"team": "lab", "model": "gpt-*"}, {"team_id": "lab"}, False),
    ],
)
def test_whom_a_match_names(match: Any, identity: dict[str, Any], holds: bool) -> None:
    made = book({"mode": "observe"}, entry("x", match, mode="enforce"))
    policy = made.resolve(Identity(**identity))
    assert (policy.mode, policy.name) == (("enforce", "x") if holds else ("observe", "default"))
    (report,) = made.report_matches(Identity(**identity))
    assert (report.reason is None) is holds


def test_key_and_user_outrank_team_outranks_model_and_tag_wherever_they_stand() -> None:
    who = {"key_alias": "k", "team_id": "t", "model": "m"}
    for order in itertools.permutations(RANKED):
        made = book(None, *order)
        assert keep_last(made, **who) == 24
        assert keep_last(made, **who | {"key_alias": None}) == 22
        assert keep_last(made, model="m") == 20
        assert keep_last(made, user_id="u", team_id="t", tags=("g",)) == 23
        assert keep_last(made) == 10


def test_within_a_rank_the_later_wins() -> None:
    assert keep_last(book(None, *RANKED), key_alias="k", user_id="u") == 23
    assert keep_last(book(None, *reversed(RANKED)), key_alias="k", user_id="u") == 24
    assert keep_last(book(None, *RANKED), model="m", tags=("g",)) == 20


def test_a_policy_ranks_by_its_most_specific_key() -> None:
    both = entry("both", {"model": "m", "key": "k"}, **tree("levels.medium.keep_last", 30))
    assert keep_last(book(None, both, RANKED[2]), key_alias="k", team_id="t", model="m") == 30


def test_every_layer_in_its_order_and_key_by_key() -> None:
    """From weak to strong; each layer sets the keys of those above it as well, and one of its own."""
    paths = [
        "anchors.max",
        "anchors.constraints_max_tokens",
        "triggers.tokens",
        "triggers.turns",
        "summary.message_chars",
        "context_window",
        "storage.max_compactions",
    ]

    def layer(index: int) -> dict[str, Any]:
        keys: dict[str, Any] = {}
        for path in paths[index:]:
            *section, key = path.split(".")
            (keys.setdefault(section[0], {}) if section else keys)[key] = 1000 + index
        return keys

    made = book(
        layer(0),
        entry("key", {"key": "k"}, **layer(5)),
        entry("team", {"team": "t"}, **layer(3)),
        entry("model", {"model": "m"}, **layer(2)),
        environment=layer(1),
    )
    who = Identity(team_id="t", key_alias="k", model="m", team_block=layer(4), key_block=layer(6))
    policy = made.resolve(who)
    assert [flatten(policy)[path] for path in paths] == [1000 + i for i in range(7)]
    sources = {one.path: one.source for one in made.explain(who)}
    assert [sources[path] for path in paths] == [
        "policies.yaml: defaults",
        "environment",
        "policies.yaml: policies[2] 'model' (model)",
        "policies.yaml: policies[1] 'team' (team)",
        "team metadata",
        "policies.yaml: policies[0] 'key' (key)",
        "key metadata",
    ]
    assert sources["name"] == "policies.yaml: policies[0] 'key' (key)"
    assert sources["mode"] == "built-in default"


@pytest.mark.parametrize("empty", [None, {}, [], "", {"levels": None}, {"levels": {}}])
def test_absent_and_empty_inherit(empty: Any) -> None:
    made = book({"mode": "observe", "levels": None}, entry("t", {"team": "t"}, mode=False, recall=None))
    for block in ({"team_block": empty}, {"key_block": empty}):
        policy = made.resolve(Identity(team_id="t", **block))
        assert policy.mode == "off" and policy.levels.medium.at == 0.85


def test_null_and_empty_lists_are_values_where_a_key_takes_them() -> None:
    defaults = {"triggers": {"turns": 3}, "summary": {"fallbacks": ["a"]}}
    cleared = {"triggers": {"turns": None}, "summary": {"fallbacks": []}}
    policy = book(defaults, entry("t", {"team": "t"}, **cleared)).resolve(Identity(team_id="t"))
    assert (policy.triggers.turns, policy.summary.fallbacks) == (None, ())


def test_a_stronger_preset_replaces_the_weaker_one_but_not_what_was_written_by_hand() -> None:
    made = book(
        {"preset": "turns", "levels": {"medium": {"keep_last": 20}}},
        entry("agents", {"team": "a"}, preset="agent"),
        entry("plain", {"team": "p"}, preset="hybrid"),
    )
    agents = made.resolve(Identity(team_id="a"))
    assert (agents.triggers.turns, agents.summary.strategy, agents.levels.medium.keep_last) == (
        None,
        "rolling",
        4,
    )
    plain = made.resolve(Identity(team_id="p"))
    assert (plain.triggers.turns, plain.levels.medium.keep_last) == (None, 20)
    assert made.resolve(EVERYBODY).triggers.turns == 3
    sources = {one.path: one.source for one in made.explain(Identity(team_id="a"))}
    assert sources["levels.medium.at"] == "preset 'agent' (policies[0] 'agents')"
    assert sources["preset"] == "policies.yaml: policies[0] 'agents' (team)"
    assert sources["triggers.turns"] == "built-in default"
    block = made.explain(Identity(team_id="a", key_block={"preset": "incremental"}))
    assert {one.path: one.source for one in block}["triggers.tokens"] == "preset 'incremental' (key metadata)"


def test_a_contradiction_with_a_preset_is_told_at_the_preset() -> None:
    (error,) = errors_of(
        {"levels": {"aggressive": {"target": 0.8}}},
        entry("agents", {"team": "a"}, preset="agent"),
    )
    assert error.path == "policies[0].preset"
    assert "levels.medium.at is 0.75 (preset 'agent' (policies[0] 'agents'))" in error.problem


def test_matches_say_why_not() -> None:
    made = book(None, entry("a", {"team": ["x", "y"]}), entry("b", {"model": "m", "key": "k"}))
    assert made.names == ("a", "b")
    assert made.report_matches(Identity(team_id="1", team_alias="z", model="m")) == (
        MatchReport("policies[0]", "a", "team", "team is 1 or z, needed: x or y"),
        MatchReport("policies[1]", "b", "key", "key is not given, needed: k"),
    )
    assert made.report_matches(Identity(team_id="y", key_alias="k", model="m"))[1].reason is None


LOW = {"levels": {"light": {"at": 0.5}, "medium": {"at": 0.6}}}
HIGH_LIGHT = {"levels": {"light": {"at": 0.8}}}


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"model": "m"}, {"team": "t"}),
        ({"team": "lab-*"}, {"team": "lab-1"}),
        ({"tag": "a"}, {"tag": "b"}),
        ({"team": ["a", "b"]}, {"team": ["b", "c"]}),
        ({"user": "*-x"}, {"user": "y-*"}),
        ({"team": "t"}, {"team": "t", "key": "k", "model": "m"}),
    ],
)
def test_policies_that_contradict_each_other_together_are_refused(first: Any, second: Any) -> None:
    (error,) = errors_of(None, entry("low", first, **LOW), entry("high", second, **HIGH_LIGHT))
    assert (error.source, error.path) == (SOURCE, "policies[1].levels.light.at")
    assert error.problem == (
        "where 'low' and 'high' match one request, levels.light.at is 0.8 "
        f"(policies.yaml: policies[1] 'high' ({max(RANKS[f] for f in second).label}))"
        " but must be below levels.medium.at, which is 0.6"
        f" (policies.yaml: policies[0] 'low' ({max(RANKS[f] for f in first).label}))"
    )
    assert error.remedy == (
        "Write levels.light.at below 0.6, or write levels.medium.at above 0.8 in the same place;"
        " or let the two match different requests"
    )


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"team": "a"}, {"team": "b"}),
        ({"model": "m", "team": "a"}, {"model": "n", "team": "a"}),
        ({"model": "gpt-4o*"}, {"model": "claude-*"}),
        ({"key": "batch-?"}, {"key": ["batch-10", "live-*"]}),
    ],
)
def test_policies_that_no_request_matches_both_may_differ(first: Any, second: Any) -> None:
    assert book(None, entry("low", first, **LOW), entry("high", second, **HIGH_LIGHT)).names == (
        "low",
        "high",
    )


def test_every_pair_is_told_up_to_a_limit() -> None:
    low = [entry(f"low {i}", {"team": f"t{i}"}, **LOW) for i in range(3)]
    assert len(errors_of(None, *low, entry("high", {"key": "k"}, **HIGH_LIGHT))) == 3
    low = [entry(f"low {i}", {"team": f"t{i}"}, **LOW) for i in range(40)]
    assert len(errors_of(None, *low, entry("high", {"key": "k"}, **HIGH_LIGHT))) == 20


def test_a_preset_can_contradict_another_policy() -> None:
    agents = entry("agents", {"team": "t"}, preset="agent")
    (error,) = errors_of(None, entry("late", {"model": "m"}, levels={"aggressive": {"target": 0.8}}), agents)
    assert error.path == "policies[1].preset" and "levels.medium.at is 0.75" in error.problem


def test_a_team_s_id_and_alias_are_only_known_with_the_request() -> None:
    made = book(None, entry("low", {"team": "1"}, **LOW), entry("high", {"team": "lab"}, **HIGH_LIGHT))
    assert made.resolve(Identity(team_id="1")).levels.medium.at == 0.6
    for ask in (made.resolve, made.explain):
        with pytest.raises(PolicyError, match=r"policies\[1\]\.levels\.light\.at"):
            ask(Identity(team_id="1", team_alias="lab"))


def test_modes_of_policies() -> None:
    made = book(
        {"mode": "observe"},
        entry("pilot", {"team": ["a", "lab-*"], "model": "gpt-*"}, mode="enforce"),
        entry("legal", {"tag": "x"}, mode=False),
        entry("later", {"user": "u"}),
    )
    assert made.list_modes() == (
        EntryMode("pilot", "model gpt-*, team a or lab-*", "enforce"),
        EntryMode("legal", "tag x", "off"),
        EntryMode("later", "user u", "observe"),
    )


GLOB = st.lists(st.sampled_from(["a", "b", "*", "?", "[ab]", "[!a]", "[b", "[]a]", "[a-z]"]), max_size=2).map(
    "".join
)
# Two pieces of two patterns ask for no more than four characters, if for any.
TEXTS = ["".join(t) for n in range(5) for t in itertools.product("abc[]", repeat=n)]


@pytest.mark.parametrize("field", ["team", "key", "model", "user", "tag"])
def test_one_request_has_one_of_each_but_many_tags(field: str) -> None:
    one, other, alike = (Match.model_validate({field: [text]}) for text in ("ann", "ben", "a*"))
    assert can_match_same_request(one, other) == (field == "tag") and can_match_same_request(one, alike)


@settings(max_examples=300, deadline=None)
@given(GLOB, GLOB)
def test_globs_meet_where_a_text_matches_both(first: str, second: str) -> None:
    both = any(fnmatch.fnmatchcase(t, first) and fnmatch.fnmatchcase(t, second) for t in TEXTS)
    assert can_match_same_text(first, second) is both
