"""What LiteLLM's other callbacks may still do with a request: read, mask or block it."""

from __future__ import annotations

from typing import Any

from litellm.integrations.custom_guardrail import CustomGuardrail

__all__ = ["has_pre_call_hook", "is_guard", "may_block_later"]


def is_guard(callback: Any) -> bool:
    """Whether it is a guardrail, or a hook that runs beside the call."""
    return isinstance(callback, CustomGuardrail) or "async_moderation_hook" in vars(type(callback))


def has_pre_call_hook(callback: Any) -> bool:
    """Whether it may change or block a request before the call."""
    if isinstance(callback, CustomGuardrail | str):
        return True
    return "async_pre_call_hook" in vars(type(callback))


def may_block_later(callback: Any) -> bool:
    """Whether it may block a call that is being made, or its answer."""
    if isinstance(callback, CustomGuardrail) and callback.event_hook == "pre_call":
        return "async_moderation_hook" in vars(type(callback))
    return is_guard(callback)
