"""The recorded conversations, where their folder is present."""

from __future__ import annotations

import json
import os
from functools import cache
from pathlib import Path
from typing import Any

from tests.lab.skips import skip_loudly

__all__ = ["conversation", "load", "shared"]

Record = dict[str, Any]


def shared() -> Path:
    """The shared folder: ``GATEWAY_COMPACTION_SHARED``, else ``shared`` beside the repository."""
    named = os.environ.get("GATEWAY_COMPACTION_SHARED")
    return Path(named) if named else Path(__file__).resolve().parents[3] / "shared"


def load(name: str) -> list[Record]:
    """All records of ``data/<name>.jsonl``; skips the test loudly where the file is absent."""
    path = shared() / "data" / f"{name}.jsonl"
    if not path.is_file():
        skip_loudly(f"recorded conversations are absent: no {path.name} in ../shared/data")
    return _read(path)


def conversation(name: str, identity: str) -> Record:
    """One record by its id."""
    found = [record for record in load(name) if record["id"] == identity]
    assert found, f"{identity} is not in {name}.jsonl"
    return found[0]


@cache
def _read(path: Path) -> list[Record]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
