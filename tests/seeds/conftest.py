"""Rigs, as the engine's tests have them."""

from __future__ import annotations

from tests.engine.conftest import rigs

__all__ = ["rigs"]
