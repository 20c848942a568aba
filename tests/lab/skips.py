"""Skips that cannot be overlooked: each is repeated at the end of the run."""

from __future__ import annotations

from typing import NoReturn

import pytest

__all__ = ["REASONS", "skip_loudly"]

REASONS: dict[str, int] = {}


def skip_loudly(reason: str) -> NoReturn:
    """Skip the running test and have the reason printed in the closing summary."""
    REASONS[reason] = REASONS.get(reason, 0) + 1
    pytest.skip(reason)
