"""The same messages give the same text in every process, whatever order its sets have."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = """
import json, sys
from gateway_compaction.core.extractive.extract import build_extract
messages = json.load(open(sys.argv[1]))[1:]
print([build_extract(messages[:n], 400, lambda text: len(text) // 4) for n in (20, 46, 64, 81)])
"""


def extracted(seed: int) -> str:
    """What a process with this hash seed extracts from the example conversation."""
    file = ROOT / "docs" / "examples" / "support_chat.json"
    env = {**os.environ, "PYTHONHASHSEED": str(seed), "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", SCRIPT, str(file)]
    return subprocess.run(command, env=env, check=True, capture_output=True, text=True).stdout


def test_extracts_do_not_depend_on_the_process() -> None:
    assert len({extracted(seed) for seed in range(4)}) == 1
