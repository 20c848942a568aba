"""The secrets of one text, by what a policy says is one.

No library is used, for reasons that were measured on a million words (see ``docs/security.md``): those made
for source code know fewer providers, demand that a line ends where the secret does, and read a megabyte a
second.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple

import regex

from gateway_compaction.core.redaction.assignments import find_assignments
from gateway_compaction.core.redaction.checksums import find_cards, find_personal
from gateway_compaction.core.redaction.escapes import undo_escapes
from gateway_compaction.core.redaction.formats import find_formats, find_shapes

# Characters of a text that are searched at once. ``re`` lets no other thread of the process move while it
# searches, so that a text of 20 MB would hold all requests for as long as each pattern takes.
SLICE = 100_000
# Characters before a slice that may tell what stands in it, and those behind it that may belong to what
# begins in it: a private key is the longest.
BEFORE, BEHIND = 8_000, 24_000
# What goes on behind all that goes on with these.
REST = re.compile(r"[A-Za-z0-9+/=_.~-]*")
# Seconds that an operator's pattern may take for one text; one that takes longer counts as found everywhere.
PATTERN_SECONDS = 1.0
# What begins so is a picture or a file, in a megabyte of characters that mean nothing.
EMBEDDED = "data:"
PATTERN_KIND = "pattern"
# A secret that has been replaced.
MARK = re.compile(r"\[secret: [a-z0-9-]{1,40}(?: #[0-9]{1,6})?\]")


class Finding(NamedTuple):
    """A secret in a text."""

    start: int
    end: int
    kind: str


@dataclass(frozen=True)
class Detector:
    """Finds secrets in texts; equal ones find the same.

    Attributes:
        secrets: keys, tokens, passwords and cards are looked for.
        pii: so are numbers and addresses of people.
        patterns: so is whatever an operator's regular expressions match.
    """

    secrets: bool = True
    pii: bool = False
    patterns: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return self.secrets or self.pii or bool(self.patterns)

    def encode(self) -> str:
        """Return it as it is stored with a session; empty for the usual one."""
        return "" if self == Detector() else json.dumps([self.secrets, self.pii, self.patterns])

    @classmethod
    def decode(cls, text: str) -> Detector:
        """Read one back that was stored; what is none gives the usual one."""
        try:
            secrets, pii, patterns = json.loads(text)
            return cls(bool(secrets), bool(pii), tuple(str(pattern) for pattern in patterns))
        except (ValueError, TypeError, RecursionError):
            return cls()

    def with_secrets(self) -> Detector:
        """Return what finds the usual secrets besides: they go into no document, whatever a policy keeps."""
        return replace(self, secrets=True)

    def find(self, text: str) -> tuple[Finding, ...]:
        """Return the secrets of a text in order; of those that overlap the longer one."""
        if text.startswith(EMBEDDED):
            return ()
        found = _drop_overlaps(Finding(*found) for found in self._find_all(text))
        if found and "[secret: " in text:
            # A mark says "secret" itself.
            marks = [mark.span() for mark in MARK.finditer(text)]
            found = tuple(
                f for f in found if not any(f.start < end and start < f.end for start, end in marks)
            )
        return found

    def _find_all(self, text: str) -> Iterator[tuple[int, int, str]]:
        yield from self._find_as_written(text)
        if (plain := undo_escapes(text)) is not None:
            for start, end, kind in self._find_as_written(plain.text):
                yield plain.find_place(start), plain.find_place(end), kind

    def _find_as_written(self, text: str) -> Iterator[tuple[int, int, str]]:
        for pattern in self.patterns:
            yield from _find_pattern(pattern, text)
        for start in range(0, len(text), SLICE):
            first, last = max(0, start - BEFORE), start + SLICE + BEHIND
            part = text[first:last]
            for begin, end, kind in self._find_in_slice(part):
                if start <= first + begin < start + SLICE:
                    is_cut = end == len(part) and last < len(text)
                    yield first + begin, _find_end(text, last) if is_cut else first + end, kind

    def _find_in_slice(self, text: str) -> Iterator[tuple[int, int, str]]:
        if self.secrets:
            yield from find_formats(text)
            yield from find_shapes(text)
            yield from find_assignments(text)
            yield from find_cards(text)
        if self.pii:
            yield from find_personal(text)


def _find_end(text: str, position: int) -> int:
    """Return where a secret ends that goes on at a position; looked for in slices."""
    while True:
        match = REST.match(text, position, position + SLICE)
        assert match is not None
        if match.end() < position + SLICE:
            return match.end()
        position += SLICE


@lru_cache(maxsize=256)
def _compile(pattern: str) -> regex.Pattern[str]:
    return regex.compile(pattern)


def _find_pattern(pattern: str, text: str) -> Iterator[tuple[int, int, str]]:
    try:
        for match in _compile(pattern).finditer(text, timeout=PATTERN_SECONDS):
            start, end = match.span()
            if start < end:
                yield start, end, PATTERN_KIND
    except TimeoutError:
        # Nobody knows what it would have found: rather the whole text than a secret.
        yield 0, len(text), PATTERN_KIND


def _drop_overlaps(found: Iterator[Finding]) -> tuple[Finding, ...]:
    kept: list[Finding] = []
    for finding in sorted(found, key=lambda f: (f.start, -f.end)):
        if not kept or finding.start >= kept[-1].end:
            kept.append(finding)
        elif finding.end > kept[-1].end:
            kept[-1] = Finding(kept[-1].start, finding.end, kept[-1].kind)
    return tuple(kept)
