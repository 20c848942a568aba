"""Where the encodings come from: the files that LiteLLM ships."""

from __future__ import annotations

import pytest

from gateway_compaction.runtime import use_bundled_encodings


def pytest_configure(config: pytest.Config) -> None:
    """Before anything is counted."""
    use_bundled_encodings()
