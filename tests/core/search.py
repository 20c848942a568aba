"""Settings of hypothesis for every property in these tests."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

__all__ = ["search"]

search = settings(
    deadline=None,
    max_examples=int(os.environ.get("FUZZ_EXAMPLES", "60")),
    derandomize="CI" in os.environ,
    suppress_health_check=(HealthCheck.too_slow, HealthCheck.data_too_large),
)
"""The settings of every property here; in CI the same examples each time."""
