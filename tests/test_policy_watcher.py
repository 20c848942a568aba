"""The policy file changes while the gateway runs: what is good comes into force, what is bad does not."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import os
from pathlib import Path

import pytest

from gateway_compaction.adapters.policy_file import load_policy_file
from gateway_compaction.adapters.policy_watcher import PolicySource
from gateway_compaction.core.policy.book import Identity
from gateway_compaction.errors import PolicyError
from tests.lab.waiting import until

FIRST = "version: 1\ndefaults: {mode: observe}\n"
SECOND = "version: 1\ndefaults: {mode: enforce, levels: {medium: {keep_last: 20}}}\n"
BAD = "version: 1\ndefaults: {mod: off}\n"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "policies.yaml"
    path.write_text(FIRST)
    return path


def look(source: PolicySource, times: int = 2) -> str:
    """The mode in force after so many looks."""
    for _ in range(times):
        source.reload_if_changed()
    return source().resolve(Identity()).mode


def replace(path: Path, text: str) -> None:
    """As editors and configuration tools do it: a new file takes the old one's name."""
    new = path.with_suffix(".new")
    new.write_text(text)
    new.replace(path)


def problems(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [r.getMessage() for r in caplog.records if r.levelno >= logging.WARNING]


class TestGood:
    """What comes into force, and when."""

    def test_a_change_waits_until_it_is_the_same_twice(self, path: Path) -> None:
        source = PolicySource(path)
        assert look(source) == "observe"
        path.write_text(SECOND)
        assert look(source, 1) == "observe"
        assert look(source, 1) == "enforce"
        assert source().resolve(Identity()).levels.medium.keep_last == 20

    def test_a_file_that_is_still_growing_is_left_alone(self, path: Path) -> None:
        source = PolicySource(path)
        with path.open("w") as file:
            for line in ("version: 1\n", "defaults:\n", "  mode: off\n", "  recall: {max_tokens: 0}\n"):
                file.write(line)
                file.flush()
                assert look(source, 1) == "observe"
        assert look(source, 1) == "off"

    def test_a_replaced_file_is_noticed(self, path: Path) -> None:
        source = PolicySource(path)
        replace(path, FIRST.replace("observe", "enforce"))
        assert look(source) == "enforce"

    def test_as_long_and_as_old_but_another_file(self, path: Path) -> None:
        source, was = PolicySource(path), path.stat()
        replace(path, FIRST.replace("observe", "enforce"))
        os.utime(path, ns=(was.st_atime_ns, was.st_mtime_ns))
        assert path.stat().st_size == was.st_size and path.stat().st_mtime_ns == was.st_mtime_ns
        assert look(source) == "enforce"

    def test_the_swapped_folder_of_kubernetes(self, tmp_path: Path) -> None:
        for name, text in (("one", FIRST), ("two", SECOND)):
            (tmp_path / name).mkdir()
            (tmp_path / name / "policies.yaml").write_text(text)
        (tmp_path / "..data").symlink_to("one")
        (tmp_path / "policies.yaml").symlink_to("..data/policies.yaml")
        source = PolicySource(tmp_path / "policies.yaml")
        assert look(source) == "observe"
        (tmp_path / "..tmp").symlink_to("two")
        (tmp_path / "..tmp").replace(tmp_path / "..data")
        assert look(source) == "enforce"

    def test_a_changed_prompt_file_counts(self, path: Path) -> None:
        (path.parent / "own.md").write_text("Be brief.")
        path.write_text("version: 1\ndefaults: {summary: {prompt: own.md}}\n")
        source = PolicySource(path)
        first = source.state.digest
        (path.parent / "own.md").write_text("Be very brief.")
        look(source)
        assert source().resolve(Identity()).summary.prompt_text == "Be very brief."
        assert source.state.digest != first

    def test_a_prompt_file_that_comes_later_mends_it(self, path: Path) -> None:
        source = PolicySource(path)
        path.write_text("version: 1\ndefaults: {summary: {prompt: later.md}}\n")
        assert look(source) == "observe" and "later.md" in str(source.state.problem)
        (path.parent / "later.md").write_text("Be brief.")
        assert look(source, 1) == "enforce" and source.state.problem is None

    def test_the_environment_still_lies_over_the_defaults(self, path: Path) -> None:
        source = PolicySource(path, {"recall": {"max_tokens": 7}})
        path.write_text(SECOND)
        assert look(source) == "enforce"
        assert source().resolve(Identity()).recall.max_tokens == 7

    def test_an_untouched_file_is_not_read_again(self, path: Path) -> None:
        source = PolicySource(path)
        book = source()
        look(source, 5)
        assert source() is book

    def test_without_a_file_there_is_nothing_to_watch(self) -> None:
        source = PolicySource(None)
        assert look(source) == "observe"
        assert (source.state.path, source.state.digest, source.state.problem) == (None, None, None)
        asyncio.run(asyncio.wait_for(source.watch(), 5))


class TestBad:
    """The last good policies stay; the problem is told once, and is there to be read."""

    @pytest.mark.parametrize(
        ("text", "told"),
        [
            (BAD, "defaults.mod: unknown key 'mod'. Did you mean 'mode'?"),
            ("", "the file: it is empty. Write version: 1"),
            ("version: 1\ndefaults: {mode: [", "expected the node content"),
            ("defaults: {mode: off}\n", "there is no version"),
            (b"version: \xff", "cannot be read: not UTF-8"),
        ],
    )
    def test_a_bad_file(
        self, path: Path, text: str | bytes, told: str, caplog: pytest.LogCaptureFixture
    ) -> None:
        source = PolicySource(path)
        before = source.state
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        assert look(source, 10) == "observe"
        [line] = problems(caplog)
        assert str(path) in line and told in line
        state = source.state
        assert (state.digest, state.loaded_at) == (before.digest, before.loaded_at)
        assert state.problem is not None and told in state.problem

    def test_a_file_that_is_gone_and_comes_back(self, path: Path, caplog: pytest.LogCaptureFixture) -> None:
        source = PolicySource(path)
        path.rename(path.with_suffix(".away"))
        assert look(source, 4) == "observe"
        assert [line for line in problems(caplog) if "No such file" in line] == problems(caplog) != []
        path.with_suffix(".away").rename(path)
        assert look(source) == "observe" and source.state.problem is None
        path.write_text(SECOND)
        assert look(source) == "enforce"

    def test_a_file_that_cannot_be_read(self, path: Path) -> None:
        source = PolicySource(path)
        path.unlink()
        path.mkdir()
        assert look(source) == "observe"
        assert "Is a directory" in str(source.state.problem)

    def test_a_link_to_nowhere(self, path: Path) -> None:
        source = PolicySource(path)
        path.unlink()
        path.symlink_to(path)
        assert look(source) == "observe"
        assert "symbolic links" in str(source.state.problem)

    def test_a_second_problem_is_told_too(self, path: Path, caplog: pytest.LogCaptureFixture) -> None:
        source = PolicySource(path)
        path.write_text(BAD)
        look(source, 3)
        path.write_text("version: 2\n")
        look(source, 3)
        assert len(problems(caplog)) == 2
        assert "version" in str(source.state.problem)

    def test_all_problems_are_counted(self, path: Path) -> None:
        source = PolicySource(path)
        path.write_text("version: 1\ndefaults: {mod: off, modes: on}\n")
        look(source)
        assert str(source.state.problem).endswith("(1 more: gateway-compaction policy check)")

    def test_it_is_told_when_it_is_mended(self, path: Path, caplog: pytest.LogCaptureFixture) -> None:
        caplog.set_level(logging.INFO, "gateway_compaction")
        source = PolicySource(path)
        path.write_text(BAD)
        look(source)
        path.write_text(FIRST)
        look(source)
        assert source.state.problem is None
        assert caplog.messages[-1].endswith(f"{path} is in force, digest {source.state.digest}")

    def test_at_the_start_it_is_refused(self, path: Path) -> None:
        for text in ("", BAD):
            path.write_text(text)
            with pytest.raises(PolicyError):
                PolicySource(path)


class TestState:
    """What metrics, doctor, API and page show."""

    def test_digest_and_time(self, path: Path) -> None:
        now = [1_000.0]
        source = PolicySource(path, clock=lambda: now[0])
        assert source.state.path == path and source.state.loaded_at == 1_000.0
        assert source.state.digest == hashlib.sha256(FIRST.encode()).hexdigest()[:12]
        now[0] = 2_000.0
        path.write_text(SECOND)
        look(source)
        assert source.state.loaded_at == 2_000.0
        assert source.state.digest == hashlib.sha256(SECOND.encode()).hexdigest()[:12]

    async def test_it_is_watched_in_the_background(self, path: Path) -> None:
        source = PolicySource(path)
        watching = asyncio.create_task(source.watch(0.01))
        await asyncio.to_thread(path.write_text, SECOND)
        await until(lambda: source().resolve(Identity()).mode == "enforce", "the file to be read", seconds=30)
        watching.cancel()
        with pytest.raises(asyncio.CancelledError):
            await watching


@pytest.mark.parametrize("text", ["", "\n", "# nothing but a comment\n", "---\n", "{}", "null\n", "~"])
def test_an_empty_file_is_refused(path: Path, text: str) -> None:
    path.write_text(text)
    with pytest.raises(PolicyError) as caught:
        load_policy_file(path)
    assert (caught.value.path, caught.value.problem) == ("the file", "it is empty")
    assert "mode: observe" in caught.value.remedy
