"""What comes from elsewhere than the file: metadata blocks, prompt files, the environment; and the memory."""

from __future__ import annotations

import timeit
from typing import Any

import pytest

from gateway_compaction.core.policy import book as policy_book
from gateway_compaction.core.policy.book import Identity, PolicyBook
from gateway_compaction.errors import PolicyError
from tests.policy_books import SOURCE, book, entry, errors_of

EVERYBODY = Identity()


@pytest.mark.parametrize(
    ("block", "path", "problem"),
    [
        ("off", "compaction", "found the text 'off'"),
        (False, "compaction", "found false"),
        ({"mod": "off"}, "compaction.mod", "unknown key 'mod'"),
        ({"name": "x"}, "compaction.name", "unknown key 'name'"),
        ({"levels": {"medium": {"at": "0.8"}}}, "compaction.levels.medium.at", "found the text '0.8'"),
        ({"levels": {"medium": {"at": 0.7}}}, "compaction.levels.medium.at", "levels.light.at"),
        ({"summary": {"prompt": "/etc/passwd.txt"}}, "compaction.summary.prompt", "was not read"),
        ({"summary": {"prompt": "../secret.md"}}, "compaction.summary.prompt", "was not read"),
        ({"mode": object()}, "compaction", "found what is not plain JSON"),
        ({1: 2, "a": 3}, "compaction", "found what is not plain JSON"),
    ],
)
def test_a_bad_metadata_block_is_a_policy_error(block: Any, path: str, problem: str) -> None:
    for kind in ("team", "key"):
        with pytest.raises(PolicyError) as caught:
            book().resolve(Identity(**{f"{kind}_block": block}))
        error = caught.value
        assert (error.source, error.path) == (f"{kind} metadata", path)
        assert problem in error.problem and error.remedy


def test_a_block_that_contains_itself_is_refused() -> None:
    block: dict[str, Any] = {}
    block["levels"] = block
    with pytest.raises(PolicyError, match="not plain JSON"):
        book().resolve(Identity(team_block=block))


def test_both_bad_blocks_are_told() -> None:
    with pytest.raises(PolicyError) as caught:
        book().resolve(Identity(team_block={"mode": 1}, key_block={"mode": 2}))
    assert [error.source for error in caught.value.others] == ["key metadata"]


def test_blocks_do_not_leak_into_other_identities() -> None:
    made = book()
    assert made.resolve(Identity(team_id="a", team_block={"mode": "off"})).mode == "off"
    assert made.resolve(Identity(team_id="a", key_block={"mode": "observe"})).mode == "observe"
    assert made.resolve(Identity(team_id="a")).mode == "enforce"
    assert (
        made.resolve(Identity(team_id="a", team_block={"recall": {"max_tokens": 1}})).recall.max_tokens == 1
    )
    with pytest.raises(PolicyError):  # equal to 1 in Python, another thing in JSON
        made.resolve(Identity(team_id="a", team_block={"recall": {"max_tokens": True}}))


def test_prompt_files_are_read_once_at_load() -> None:
    read: list[str] = []

    def reader(name: str) -> str:
        read.append(name)
        return f"text of {name}"

    made = book(
        {"summary": {"prompt": "house.md"}},
        entry("a", {"team": "a"}, summary={"prompt": "prompts/a"}),
        entry("b", {"team": "b"}, summary={"prompt": "coding"}),
        entry("c", {"team": "c"}, summary={"prompt": "prompts/a"}),
        read_prompt=reader,
    )
    assert read == ["house.md", "prompts/a"]
    assert made.resolve(EVERYBODY).summary.prompt_text == "text of house.md"
    assert made.resolve(Identity(team_id="c")).summary.prompt_text == "text of prompts/a"
    assert made.resolve(Identity(team_id="b")).summary.prompt_text is None
    block = {"summary": {"prompt": "prompts/a"}}
    assert made.resolve(Identity(key_block=block)).summary.prompt_text == "text of prompts/a"
    assert read == ["house.md", "prompts/a"]


def test_a_prompt_file_that_cannot_be_read_is_told_once() -> None:
    def reader(name: str) -> str:
        raise ValueError("No such file or directory")

    (error,) = errors_of(
        {"summary": {"prompt": "gone.txt"}},
        entry("a", {"team": "a"}, summary={"prompt": "gone.txt"}),
        read_prompt=reader,
    )
    assert error.path == "defaults.summary.prompt"
    assert error.problem == "the prompt file 'gone.txt' cannot be used: No such file or directory"
    (error,) = errors_of(None, entry("a", {"team": "a"}, summary={"prompt": "a.md"}))  # no files at hand
    assert (error.path, error.problem) == (
        "policies[0].summary.prompt",
        "the prompt file 'a.md' was not read",
    )


def test_errors_of_the_environment_name_the_variable() -> None:
    (error,) = errors_of(environment={"levels": {"medium": {"at": "high"}}})
    assert error.source == "GATEWAY_COMPACTION_DEFAULTS__LEVELS__MEDIUM__AT"
    assert error.path == "levels.medium.at"
    (error,) = errors_of({"levels": {"light": {"at": 0.8}}}, environment={"levels": {"medium": {"at": 0.79}}})
    assert error.source == "GATEWAY_COMPACTION_DEFAULTS__LEVELS__MEDIUM__AT"
    assert "(environment)" in error.problem and "(policies.yaml: defaults)" in error.problem


def test_without_a_file_nothing_is_rewritten_and_no_model_called() -> None:
    policy = PolicyBook.default().resolve(EVERYBODY)
    assert (policy.mode, policy.summary.model) == ("observe", "extractive")
    assert PolicyBook.default({"mode": "enforce"}).resolve(EVERYBODY).mode == "enforce"
    assert {one.source for one in PolicyBook.default().explain(EVERYBODY)} == {
        "built-in default",
        "no policy file: defaults",
    }


@pytest.mark.parametrize(
    "raw", [None, {}, {"version": 1}, {"version": 1, "defaults": None, "policies": None}]
)
def test_an_empty_file_means_the_built_in_defaults(raw: Any) -> None:
    made = PolicyBook(raw, SOURCE)
    assert made.resolve(EVERYBODY).mode == "enforce" and made.names == ()
    assert {one.source for one in made.explain(EVERYBODY)} == {"built-in default"}


POLICIES = [entry("by team", {"team": "t"}, mode=False), entry("by tag", {"tag": "g"}, preset="agent")]


def test_an_identity_seen_before_is_answered_from_memory() -> None:
    made = book(None, *POLICIES)
    who = Identity(team_id="t", tags=("g", "h"), team_block={"recall": {"max_tokens": 9}})
    same = Identity(team_id="t", tags=("g", "h"), team_block={"recall": {"max_tokens": 9}})
    assert made.resolve(who) is made.resolve(same)
    plain = Identity(team_id="t", model="m")
    again = min(timeit.repeat(lambda: made.resolve(plain), number=100, repeat=5))
    first = min(timeit.repeat(lambda: book(None, *POLICIES).resolve(plain), number=1, repeat=5))
    assert again / 100 < first / 10


def test_what_no_policy_asks_for_makes_no_difference_to_the_memory() -> None:
    made = book(None, entry("t", {"team": "t"}, mode=False))
    assert made.resolve(Identity(team_id="t", user_id="a")) is made.resolve(
        Identity(team_id="t", tags=("x",))
    )


def test_the_memory_is_bounded() -> None:
    made = book(None, entry("u", {"user": "u-*"}, mode=False))
    first = made.resolve(Identity(user_id="0"))
    for number in range(policy_book.CACHE_SIZE + 10):
        made.resolve(Identity(user_id=str(number)))
    made_again = made.resolve(Identity(user_id="0"))
    assert made_again == first and made_again is not first
