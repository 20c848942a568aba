"""The policies in force while a proxy runs: read again when their file changes.

A file that cannot be used must not stop a running proxy: the last good policies stay in force, and the log,
the metrics and the API say what is wrong.
"""

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
from gateway_compaction.core.policy.optimize import FindCosts, know_no_costs
from gateway_compaction.errors import PolicyError

log = logging.getLogger("gateway_compaction")

# How often the files are looked at. A change is in force after two looks at most.
LOOK_SECONDS = 2.0

# What the file system says of a file: times of its last changes (of rights and of content), size, and which
# file it is; None where there is none.
Signature = tuple[int, ...] | None


@dataclass(frozen=True, slots=True)
class PolicyState:
    """A report of the policies in force, and of what is wrong with their file, if anything.

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
    """The policies in force; call it to get them.

    A change counts once two looks in a row have found the same: a file that is being written is left alone
    until it is finished. Files are compared by what the file system says of them, through symbolic links, so
    that replaced files and Kubernetes' swapped folders are noticed.

    Args:
        path: the policy file, None for the defaults alone.
        env_overrides: values for ``defaults`` from the environment.
        find_costs: what ``PolicyBook`` takes.

    Raises:
        PolicyError: from the constructor alone, when the file cannot be used at the start.
    """

    def __init__(
        self,
        path: Path | None,
        env_overrides: Mapping[str, Any] | None = None,
        clock: Callable[[], float] = time.time,
        find_costs: FindCosts = know_no_costs,
    ) -> None:
        self._path = path
        self._find_costs = find_costs
        self._overrides = env_overrides
        self._clock = clock
        # The files as they were when they were last read, and when they were last looked at.
        self._signatures_read: Mapping[Path, Signature] = {}
        self._signatures_seen = self._signatures_read
        files = () if path is None else (path,)
        signatures = {file: _read_signature(file) for file in files}
        self._adopt(signatures, read_policies(path, env_overrides, find_costs))

    def __call__(self) -> PolicyBook:
        """Return the policies in force."""
        return self._loaded.book

    @property
    def state(self) -> PolicyState:
        """The policies in force, and what is wrong with the file, if anything."""
        return self._state

    def reload_if_changed(self) -> None:
        """Read the files again if they have changed, or could not be used when they were last read.

        What was changed since the last look is left alone until the next: it may still be written.
        """
        signatures = {file: _read_signature(file) for file in self._signatures_read}
        is_settled = signatures == self._signatures_seen
        self._signatures_seen = signatures
        if not is_settled or (signatures == self._signatures_read and self._state.problem is None):
            return
        before = self._state
        try:
            loaded = read_policies(self._path, self._overrides, self._find_costs)
        except PolicyError as error:
            self._refuse(error)
            return
        self._adopt(signatures, loaded)
        if (loaded.digest, None) != (before.digest, before.problem):
            log.info("policies: %s is in force, digest %s", self._path, loaded.digest)

    async def watch(self, seconds: float = LOOK_SECONDS) -> None:
        """Look now and then, on a thread since a file system may hang; for a task of its own."""
        while self._path is not None:
            await asyncio.sleep(seconds)
            await asyncio.to_thread(self.reload_if_changed)

    def _adopt(self, signatures: Mapping[Path, Signature], loaded: LoadedPolicies) -> None:
        """Put policies in force."""
        self._loaded = loaded
        self._state = PolicyState(self._path, self._clock(), loaded.digest)
        # As they were before they were read: what changed meanwhile is read again.
        self._signatures_read = {
            file: signatures[file] if file in signatures else _read_signature(file) for file in loaded.files
        }
        self._signatures_seen = self._signatures_read

    def _refuse(self, error: PolicyError) -> None:
        """Note why the file is not in force; log it once."""
        problem = str(error)
        if error.others:
            problem += f" ({len(error.others)} more: gateway-compaction policy check)"
        if problem != self._state.problem:
            log.error("policies: the last good ones stay in force; %s", problem)
        self._state = replace(self._state, problem=problem)


def _read_signature(file: Path) -> Signature:
    try:
        stat = file.stat()
    except (OSError, ValueError):
        return None
    return stat.st_ctime_ns, stat.st_mtime_ns, stat.st_size, stat.st_ino, stat.st_dev
