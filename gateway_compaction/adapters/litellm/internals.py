"""Parts of LiteLLM that are no documented interface, taken so that one which is gone stops nothing.

A release of LiteLLM may move or drop them at any time. Imported as usual, a missing one would fail the import
of the whole plugin, and with it the proxy's start. Taken from here, only what needs it is given up: the log
says so once when the plugin is loaded, ``doctor`` each time, and so does ``GET /compaction/health``.
"""

from __future__ import annotations

import logging
from importlib import import_module
from typing import Any

log = logging.getLogger("gateway_compaction")

MISSING: dict[str, str] = {}
"""What this LiteLLM does not have, by its dotted name, with what is given up for it."""


def find_internal(module: str, name: str, *, instead: Any = None, without: str) -> Any:
    """Return a part of LiteLLM; where this release has none of that name, note it and return a stand-in.

    Args:
        module: the module that has it in the releases that the plugin is tested with.
        name: its name there.
        instead: what is returned where it is missing.
        without: what the plugin does not do without it, as a sentence for operators.
    """
    try:
        return getattr(import_module(module), name)
    except (ImportError, AttributeError):
        MISSING[f"{module}.{name}"] = without
        log.warning("this LiteLLM has no %s.%s: %s", module, name, without)
        return instead
