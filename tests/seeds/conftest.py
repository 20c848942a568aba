"""Rigs, as the engine's tests have them, and the encodings that LiteLLM ships."""

from __future__ import annotations

import pytest

from tests.engine.conftest import rigs
from tests.engine.rig import encodings

__all__ = ["rigs"]


def pytest_configure(config: pytest.Config) -> None:
    """Before anything is counted."""
    encodings()
