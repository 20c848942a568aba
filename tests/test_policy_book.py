"""Which policies hold for whom, in which order, and why."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from gateway_compaction.core.policy import flatten
from gateway_compaction.core.policy_book import Identity, MatchReport, PolicyBook
from gateway_compaction.errors import PolicyError
from tests.policy_books import book, entry, refused, tree

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
    (report,) = made.matches(Identity(**identity))
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
    (error,) = refused(
        {"levels": {"aggressive": {"target": 0.8}}},
        entry("agents", {"team": "a"}, preset="agent"),
    )
    assert error.path == "policies[0].preset"
    assert "levels.medium.at is 0.75 (preset 'agent' (policies[0] 'agents'))" in error.problem


def test_matches_say_why_not() -> None:
    made = book(None, entry("a", {"team": ["x", "y"]}), entry("b", {"model": "m", "key": "k"}))
    assert made.names == ("a", "b")
    assert made.matches(Identity(team_id="1", team_alias="z", model="m")) == (
        MatchReport("policies[0]", "a", "team", "team is 1 or z, needed: x or y"),
        MatchReport("policies[1]", "b", "key", "key is not given, needed: k"),
    )
    assert made.matches(Identity(team_id="y", key_alias="k", model="m"))[1].reason is None


LOW = {"levels": {"light": {"at": 0.5}, "medium": {"at": 0.6}}}
HIGH_LIGHT = {"levels": {"light": {"at": 0.8}}}


@pytest.mark.parametrize(
    ("first", "second", "told"),
    [
        ({"model": "m"}, {"team": "t"}, True),
        ({"team": "lab-*"}, {"team": "lab-1"}, True),
        ({"tag": "a"}, {"tag": "b"}, True),
        ({"team": ["a", "b"]}, {"team": ["b", "c"]}, True),
        ({"team": "a"}, {"team": "b"}, False),
        ({"model": "m", "team": "a"}, {"model": "n", "team": "a"}, False),
    ],
)
def test_policies_that_contradict_each_other_only_together(first: Any, second: Any, told: bool) -> None:
    made = book(None, entry("low", first, **LOW), entry("high", second, **HIGH_LIGHT))
    found = made.contradictions()
    assert bool(found) is told
    for error in found:
        assert "'low'" in error.problem and "'high'" in error.problem
        assert error.path == "policies[1].levels.light.at"


def test_a_contradiction_of_two_matching_policies_is_raised() -> None:
    made = book(None, entry("low", {"model": "m"}, **LOW), entry("high", {"team": "t"}, **HIGH_LIGHT))
    assert made.resolve(Identity(team_id="t")).levels.light.at == 0.8
    for ask in (made.resolve, made.explain):
        with pytest.raises(PolicyError, match=r"policies\[1\]\.levels\.light\.at"):
            ask(Identity(team_id="t", model="m"))
