"""``python -m gateway_compaction.cli``: the command line, where its script is not installed."""

from __future__ import annotations

from gateway_compaction.cli.main import app

__all__: list[str] = []

app()
