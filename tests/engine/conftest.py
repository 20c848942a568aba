"""What the engine's tests share: parts wired around one store, closed when a test ends."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from tests.engine.rig import Rig, encodings

# LiteLLM would fetch its tables when it is first imported; the copies it ships serve as well.
os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
os.environ.setdefault("LITELLM_LOCAL_ANTHROPIC_BETA_HEADERS", "True")


@pytest.fixture
async def rigs() -> AsyncIterator[Callable[..., Rig]]:
    """Makes rigs; several of one test are replicas when they are given the same ``redis``."""
    encodings()
    made: list[Rig] = []

    def make(*args: Any, **kwargs: Any) -> Rig:
        made.append(Rig(*args, **kwargs))
        return made[-1]

    yield make
    for rig in made:
        await rig.aclose()


@pytest.fixture
def rig(rigs: Callable[..., Rig]) -> Rig:
    """The usual one: a window of 2,000 tokens, everything else by default."""
    return rigs()
