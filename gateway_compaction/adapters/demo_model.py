"""Keep the demo model importable under the name that users' LiteLLM configs give it.

A config says ``custom_handler: gateway_compaction.adapters.demo_model.demo``; without this module
those proxies would not start after an upgrade. The model itself is ``adapters/litellm/demo_model.py``.
"""

from __future__ import annotations

from gateway_compaction.adapters.litellm.demo_model import DemoModel, demo

__all__ = ["DemoModel", "demo"]
