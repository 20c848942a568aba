"""What docs/presets.md shows is what happens, and every preset stands on it."""

from __future__ import annotations

from gateway_compaction.core.policy.presets import PRESETS
from tests.seeds.page import BLOCK, PAGE, written

REMEDY = "write the blocks anew: python -m tests.seeds.page"


def test_every_block_is_what_a_replay_shows() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert len(BLOCK.findall(page)) >= len(PRESETS)
    assert written(page) == page, REMEDY


def test_every_preset_has_a_section_with_a_block() -> None:
    sections = PAGE.read_text(encoding="utf-8").split("\n## ")[1:]
    for name in PRESETS:
        [section] = [s for s in sections if s.startswith(f"`{name}`\n")]
        assert BLOCK.search(section) and "| the document | here | why |" in section
