"""Run the command line as ``python -m gateway_compaction.cli``, for where its script is not installed."""

from __future__ import annotations

from gateway_compaction.cli.main import app

app()
