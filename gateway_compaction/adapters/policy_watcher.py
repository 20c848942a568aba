"""The policy file as it is now: read again when it changes, kept as it was when it cannot be used."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from gateway_compaction.adapters.policy_file import LoadedPolicies, read_policies
from gateway_compaction.core.policy.book import PolicyBook
from gateway_compaction.errors import PolicyError

__all__ = ["PolicySource", "PolicyState"]

log = logging.getLogger("gateway_compaction")
LOOK_SECONDS = 2.0

# Times of the last changes of access and content, size, and which file it is; None where there is none.
Signature = tuple[int, ...] | None


@dataclass(frozen=True, slots=True)
class PolicyState:
    """Which policies are in force, and whether the file could be used when it last changed.

    Attributes:
        path: the policy file, or None where there is none.
        loaded_at: when the policies in force were read, in seconds since 1970.
        digest: names their content (see ``LoadedPolicies``); the same in all replicas that hold the same.
        problem: why the file as it is now is not in force (file, path, what was found, what to write), else
            None.
    """

    path: Path | None
    loaded_at: float
    digest: str | None
    problem: str | None = None


class PolicySource:
    """Holds the policies in force; call it to get them.

    A change counts once two looks in a row have found the same: a file that is being written is left alone
    until it is finished. Files are compared by what the file system says of them, through symbolic links, so
    that replaced files and Kubernetes' swapped folders are noticed.

    Raises:
        PolicyError: from the constructor alone, when the file cannot be used at the start.
    """

    def __init__(
        self,
        path: Path | None,
        env_overrides: Mapping[str, Any] | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._path, self._overrides, self._clock = path, env_overrides, clock
        self._read: Mapping[Path, Signature] = {}
        self._seen = self._read
        files = () if path is None else (path,)
        self._take({file: _signature(file) for file in files}, read_policies(path, env_overrides))

    def __call__(self) -> PolicyBook:
        """The policies in force."""
        return self._loaded.book

    @property
    def state(self) -> PolicyState:
        """Which policies are in force, and what is wrong with the file, if anything."""
        return self._state

    def look(self) -> None:
        """Read the files again if they have changed, or could not be used when they were last read."""
        found = {file: _signature(file) for file in self._read}
        settled, self._seen = found == self._seen, found
        if not settled or (found == self._read and self._state.problem is None):
            return
        before = self._state
        try:
            loaded = read_policies(self._path, self._overrides)
        except PolicyError as error:
            self._refuse(error)
            return
        self._take(found, loaded)
        if (loaded.digest, None) != (before.digest, before.problem):
            log.info("policies: %s is in force, digest %s", self._path, loaded.digest)

    async def watch(self, seconds: float = LOOK_SECONDS) -> None:
        """Look now and then, on a thread; for a task of its own."""
        while self._path is not None:
            await asyncio.sleep(seconds)
            await asyncio.to_thread(self.look)

    def _take(self, found: Mapping[Path, Signature], loaded: LoadedPolicies) -> None:
        self._loaded = loaded
        self._state = PolicyState(self._path, self._clock(), loaded.digest)
        # As they were before they were read: what changed meanwhile is read again.
        self._read = {file: found[file] if file in found else _signature(file) for file in loaded.files}
        self._seen = self._read

    def _refuse(self, error: PolicyError) -> None:
        problem = str(error)
        if error.others:
            problem += f" ({len(error.others)} more: gateway-compaction policy check)"
        if problem != self._state.problem:
            log.error("policies: the last good ones stay in force; %s", problem)
        self._state = replace(self._state, problem=problem)


def _signature(file: Path) -> Signature:
    try:
        found = file.stat()
    except (OSError, ValueError):
        return None
    return found.st_ctime_ns, found.st_mtime_ns, found.st_size, found.st_ino, found.st_dev
