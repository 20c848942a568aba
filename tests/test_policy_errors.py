"""What is refused in a policy file: every problem with its place, what was found and what to write."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from gateway_compaction.core.policy.book import Identity, PolicyBook
from gateway_compaction.core.policy.model import Policy, find_conflicts, flatten, list_paths
from gateway_compaction.errors import CompactionError, PolicyError
from tests.policy_books import SOURCE, book, entry, errors_of, tree

NUMBERISH: list[Any] = ["0.8", "1", True, None, [], {}, float("nan"), float("inf"), 10**400]
WRONG: dict[str, list[Any]] = {
    "mode": [True, "on", "enforced", None, 1, []],
    "preset": ["balanced", None, 3],
    "unknown_window": [199, "assume", "assume 199", "assume x", {"assume": "x"}, {"at": 8000}, True, 8000.5],
    "length_refusals": ["again", True, 2],
    "provider_compaction": ["keep", None, True],
    "endpoints": ["embeddings", ["chat", "embeddings"], 3],
    "note": ["none", None, True],
    "context_window": [199, "4000", 4000.5, True, 10**400],
    "output_reserve": [-1, "some", None, True, 0.1, [1]],
    "levels.light.at": [0, -0.1, 1.01, *NUMBERISH],
    "levels.medium.keep_last": [0, -1, 2.0, *NUMBERISH],
    "levels.medium.target": [0, 2, "35%"],
    "levels.aggressive.wait_seconds": [-1, 3601, *NUMBERISH],
    "levels.aggressive.replace": ["now", "", True, None, 1],
    "triggers.tokens": [99, "8000", False],
    "triggers.count": ["chars", None],
    "triggers.turns": [0, 1.5],
    "triggers.then": ["use", None],
    "summary.thinking_tokens": [-1, "much", None, True, 0.5],
    "summary.model": ["", "  ", 4, False],
    "summary.fallbacks": ["small", [1], [""], {"a": 1}, None],
    "layout": ["single", None, 1],
    "single_message.recent_messages": [0, "6", None],
    "single_message.message_chars": [99, "2000", None],
    "summary.strategy": ["segment", None],
    "summary.prompt": ["codng", "", None, "prompt.yaml"],
    "summary.max_tokens": [49, "1000", None, 0.5],
    "summary.rate": [0.09, 0.51, "0.3", True],
    "summary.preserve_keys": ["order_id", [None]],
    "summary.message_chars": [99, "3000"],
    "summary.share_prefix": ["yes", 1, None],
    "optimize": ["money", 1, None],
    "summary.timeout_seconds": [0, -5, 3601, *NUMBERISH],
    "anchors.max": [-1, *NUMBERISH],
    "anchors.weights.decision": [-0.1, 1.1, "high"],
    "recall.max_tokens": [-1, "off", None],
    "recall.priority": ["quality", 1, None],
    "labels.headers": ["x-a", ["x a"], ["Authorization"], ["cookie"], [""], [3]],
    "storage.ttl": [59, "59s", "7 days", "7w", "d", 3.5, None, True, "9999d"],
    "storage.content": ["all", None],
    "storage.max_compactions": [0, "many"],
    "storage.max_versions": [0, "many"],
    "storage.snapshots.number": [-1, "many"],
    "storage.snapshots.age": [0, "long"],
    "storage.snapshots.interval": [0, "often"],
    "storage.max_messages": [0, "many", None],
    "storage.max_bytes": [0, 1.5, None],
    "conversation.keep": ["server", None, True],
    "conversation.parallel": ["queue", None],
    "conversation.wait_seconds": [-1, 3601, *NUMBERISH],
    "conversation.stream_event": ["yes", 1, None],
    "restore.allow": ["yes", 1, None],
    "restore.summary_chars": [-1, "long", None],
    "restore.recent_tokens": [-1, 1.5, None],
    "restore.reset_on": ["plan", ["plan", "mood"], 3],
    "redact.secrets": ["yes", 1, None],
    "redact.pii": ["no", 0, None],
    "redact.patterns": ["EMP-1", ["EMP-[0-9"], ["x*"], [""], ["a" * 501], [3], ["a{4294967296}"], ["x"] * 51],
    "bypass.header": ["x compaction", "", "x\nb", None],
    "bypass.allow": ["yes", 1, 0, None],
}


@pytest.mark.parametrize(
    ("path", "value"),
    [pytest.param(p, v, id=f"{p}-{i}") for p, vs in WRONG.items() for i, v in enumerate(vs)],
)
def test_a_wrong_value_is_named_with_what_to_write(path: str, value: Any) -> None:
    for error in (
        *errors_of(tree(path, value)),
        *errors_of(None, entry("x", {"team": "x"}, **tree(path, value))),
    ):
        assert error.source == SOURCE
        assert error.path.removeprefix("defaults.").removeprefix("policies[0].").startswith(path)
        assert error.problem.startswith("found ")
        assert error.remedy.startswith("Write ") and len(error.remedy) > 15
        assert str(error).startswith(f"{SOURCE}: {error.path}: found ") and "\n" not in str(error)
        assert len(str(error)) < 300
        assert error.others == ()


def test_every_key_is_tried_with_a_wrong_value() -> None:
    kinds = {"levels.medium.at", "levels.aggressive.at", "levels.aggressive.target"}  # as levels.light.at
    kinds |= {"levels.aggressive.keep_last", "triggers.wait_seconds", "anchors.constraints_max_tokens"}
    kinds |= {f"anchors.weights.{name}" for name in ("explicit", "tool_result", "keyword")}
    assert set(WRONG) | kinds == set(list_paths())


@pytest.mark.parametrize(
    ("raw", "path", "problem", "remedy"),
    [
        ([], "(top level)", "found a list", "Write a mapping with keys such as version, defaults, policies"),
        ("off", "(top level)", "found the text 'off'", "Write a mapping"),
        (0, "(top level)", "found the number 0", "Write a mapping"),
        ({"defaults": {}}, "version", "there is no version", "Write version: 1 at the top of the file"),
        ({"version": "1"}, "version", "found the text '1'", "Write version: 1"),
        ({"version": 2}, "version", "found the number 2", "Write version: 1"),
        ({"version": True}, "version", "found true", "Write version: 1"),
        ({"version": 1, "policy": []}, "policy", "unknown key 'policy'", "Did you mean 'policies'?"),
        ({"version": 1, "x": 1}, "x", "unknown key 'x'", "Write one of version, defaults, policies"),
        (
            {"version": 1, "defaults": []},
            "defaults",
            "found a list",
            "Write a mapping with keys such as mode",
        ),
        ({"version": 1, "policies": {}}, "policies", "found a mapping", "Write a list of policies"),
        ({"version": 1, "policies": ["a"]}, "policies[0]", "found the text 'a'", "Write a mapping"),
    ],
)
def test_the_shape_of_a_file(raw: Any, path: str, problem: str, remedy: str) -> None:
    with pytest.raises(PolicyError) as caught:
        PolicyBook(raw, SOURCE)
    error = caught.value
    assert (error.source, error.path) == (SOURCE, path)
    assert error.problem.startswith(problem) and error.remedy.startswith(remedy)
    assert isinstance(error, CompactionError)


@pytest.mark.parametrize(
    ("keys", "path", "problem", "remedy"),
    [
        (
            {"levels": {"medium": {"keep_lst": 3}}},
            "levels.medium.keep_lst",
            "keep_lst",
            "Did you mean 'keep_last'?",
        ),
        ({"summary": {"prompt_text": "x"}}, "summary.prompt_text", "prompt_text", "Did you mean 'prompt'?"),
        (
            {"summary": {"_prompt_text": "x"}},
            "summary._prompt_text",
            "_prompt_text",
            "Did you mean 'prompt'?",
        ),
        ({"keep_last": 3}, "keep_last", "keep_last", "Write it under levels.medium or levels.aggressive"),
        ({"levels": {"heavy": {}}}, "levels.heavy", "heavy", "Write one of light, medium, aggressive"),
        ({"levels": {3: {}}}, "levels.3", "the key 3 is not text", "Write the key in quotes, or remove it"),
        ({"levels": {"a\nb": 1}}, "levels.'a\\nb'", "unknown key 'a\\nb'", "Write one of light"),
        (
            {"levels": {"light": 0.7}},
            "levels.light",
            "found the number 0.7",
            "Write a mapping with keys such as at",
        ),
        (
            {"summary": {"fallbacks": ["a", 7]}},
            "summary.fallbacks[1]",
            "found the number 7",
            "Write a list of names",
        ),
        (
            {"summary": {"prompt": "x" * 90}},
            "summary.prompt",
            "(shortened)",
            "Write general, coding, support",
        ),
        ({"mode": b"off"}, "mode", "found a value of type bytes", "Write enforce, observe or off"),
    ],
)
def test_errors_say_where_what_and_what_to_write(
    keys: dict[Any, Any], path: str, problem: str, remedy: str
) -> None:
    (error,) = errors_of(keys)
    assert error.path == f"defaults.{path}"
    assert problem in error.problem and error.remedy.startswith(remedy)
    (error,) = errors_of(None, entry("x", {"team": "x"}, **keys))
    assert error.path == f"policies[0].{path}"


@pytest.mark.parametrize(
    ("item", "path", "remedy"),
    [
        ({"match": {"team": "a"}}, "name", "Write name: and 1 to 64 characters"),
        ({"name": 12, "match": {"team": "a"}}, "name", "Write name:"),
        ({"name": " a", "match": {"team": "a"}}, "name", "Write name:"),
        ({"name": "a\nb", "match": {"team": "a"}}, "name", "Write name:"),
        ({"name": "a" * 65, "match": {"team": "a"}}, "name", "Write name:"),
        ({"name": "a"}, "match", "Write at least one of team, key, model, tag, user and endpoint"),
        (
            {"name": "a", "match": {}},
            "match",
            "Write at least one of team, key, model, tag, user and endpoint",
        ),
        ({"name": "a", "match": None}, "match", "Write at least one of team"),
        ({"name": "a", "match": "team"}, "match", "Write a mapping with keys such as team, key, model"),
        ({"name": "a", "match": {"team": []}}, "match.team", "Write a name or a list of names"),
        ({"name": "a", "match": {"team": None}}, "match.team", "Write a name or a list of names"),
        ({"name": "a", "match": {"team": ""}}, "match.team[0]", "Write a name or a list of names"),
        ({"name": "a", "match": {"user": ["x", 3]}}, "match.user[1]", "Write a name or a list of names"),
        ({"name": "a", "match": {"teams": "x"}}, "match.teams", "Did you mean 'team'?"),
    ],
)
def test_an_entry_needs_a_name_and_a_match(item: Any, path: str, remedy: str) -> None:
    (error,) = errors_of(None, item)
    assert error.path == f"policies[0].{path}" and error.remedy.startswith(remedy)
    if path == "match" and remedy.startswith("Write at least"):
        assert "under defaults" in error.remedy


def test_names_are_unique() -> None:
    (error,) = errors_of(
        None, entry("a", {"team": "x"}), entry("b", {"team": "x"}), entry("a", {"team": "y"})
    )
    assert (error.path, error.problem) == ("policies[2].name", "the name 'a' is taken by policies[0]")


def test_all_errors_of_a_file_are_found_at_once() -> None:
    first, *others = errors_of(
        {"mode": "enforce", "levels": {"light": {"at": "0.7"}}, "recal": {}},
        entry("a", {"team": "a"}, keep_last=3, storage={"ttl": "soon"}),
        {"match": {"team": "b"}},
        entry(
            "c", {"team": "c"}, levels={"medium": {"at": 0.7}}
        ),  # cannot be judged: defaults are unreadable
    )
    assert first.path == "defaults.levels.light.at"
    assert {error.path for error in others} == {
        "defaults.recal",
        "policies[0].keep_last",
        "policies[0].storage.ttl",
        "policies[1].name",
    }
    paths = [
        error.path
        for error in errors_of(
            None,
            entry("a", {"team": "a"}, levels={"medium": {"keep_lst": 3}}),
            entry("b", {"team": "b"}, levels={"medium": {"at": 0.7}}),
            entry("b", {"team": "b"}, context_window=1000, output_reserve=1000),
        )
    ]
    assert paths == [
        "policies[0].levels.medium.keep_lst",
        "policies[2].name",
        "policies[1].levels.medium.at",
        "policies[2].output_reserve",
    ]


LEVELS: list[tuple[dict[str, Any], str, str]] = [
    ({"light": {"at": 0.85}}, "levels.light.at", "levels.medium.at"),
    ({"medium": {"at": 0.75}}, "levels.medium.at", "levels.light.at"),
    ({"medium": {"at": 0.95}}, "levels.medium.at", "levels.aggressive.at"),
    ({"aggressive": {"at": 0.85}}, "levels.aggressive.at", "levels.medium.at"),
    ({"medium": {"target": 0.75}}, "levels.medium.target", "levels.light.at"),
    ({"light": {"at": 0.25}}, "levels.light.at", "levels.medium.target"),
    ({"aggressive": {"target": 0.85}}, "levels.aggressive.target", "levels.medium.at"),
    ({"light": {"at": 0.9}, "medium": {"at": 0.8}}, "levels.light.at", "levels.medium.at"),
]


@pytest.mark.parametrize(("levels", "path", "other"), LEVELS)
def test_values_that_contradict_each_other(levels: dict[str, Any], path: str, other: str) -> None:
    (error,) = errors_of({"levels": levels})
    assert error.path == f"defaults.{path}"
    (error,) = errors_of(None, entry("x", {"team": "x"}, levels=levels))
    assert error.path == f"policies[0].{path}"
    assert f"{path} is" in error.problem and other in error.problem
    assert "policies.yaml: policies[0] 'x' (team)" in error.problem
    assert len(levels) == 2 or "(built-in default)" in error.problem
    assert error.remedy.startswith(f"Write {path} ") and f"or write {other} " in error.remedy


def test_a_contradiction_names_both_places() -> None:
    (error,) = errors_of(
        {"levels": {"light": {"at": 0.8}}}, entry("x", {"team": "x"}, levels={"medium": {"at": 0.78}})
    )
    assert str(error) == (
        "config/policies.yaml: policies[0].levels.medium.at: levels.medium.at is 0.78 (policies.yaml: "
        "policies[0] 'x' (team)) but must be above levels.light.at, which is 0.8 (policies.yaml: defaults). "
        "Write levels.medium.at above 0.8, or write levels.light.at below 0.78 in the same place"
    )


PLAIN = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(["7d", "off"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from([part for path in list_paths() for part in path.split(".")])
            | st.sampled_from(["version", "defaults", "policies", "name", "match", "team"])
            | st.text(max_size=4),
            inner,
            max_size=4,
        )
    ),
    max_leaves=20,
)


@settings(max_examples=150, deadline=None)
@given(PLAIN, PLAIN, PLAIN)
def test_any_input_gives_a_policy_or_a_policy_error(defaults: Any, item: Any, block: Any) -> None:
    try:
        made = book(defaults, item)
        policy = made.resolve(Identity(team_id="a", team_block=block))
    except PolicyError as error:
        for one in (error, *error.others):
            assert "\n" not in str(one) and one.remedy
        return
    assert not find_conflicts(flatten(policy))
    explained = {one.path: one.value for one in made.explain(Identity(team_id="a", team_block=block))}
    assert explained == flatten(policy)


KEEPS = {"conversation": {"keep": "gateway"}}


@pytest.mark.parametrize(
    ("defaults", "entries", "place"),
    [
        (KEEPS, [], "defaults.conversation.keep"),
        (
            {**KEEPS, "storage": {"content": "full"}},
            [entry("a", {"team": "a"}, storage={"content": "none"})],
            "policies[0].storage.content",
        ),
        (
            {},
            [
                entry("a", {"team": "a"}, storage={"content": "full"}, **KEEPS),
                entry("b", {"key": "k"}, storage={"content": "none"}),
            ],
            "policies[1].storage.content",
        ),
    ],
)
def test_what_keeps_conversations_must_store_their_text(
    defaults: dict[str, Any], entries: list[Any], place: str
) -> None:
    [error, *_] = errors_of(defaults, *entries)
    assert "conversation.keep: gateway needs storage.content: full" in str(error) and place in str(error)


def test_so_does_a_policy_that_is_made_of_values() -> None:
    with pytest.raises(ValidationError, match=r"conversation\.keep: gateway needs storage\.content: full"):
        Policy.model_validate(KEEPS)
