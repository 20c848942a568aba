"""What LiteLLM's other callbacks may still do with a request: read, mask or block it."""

from __future__ import annotations

from typing import Any

from litellm.integrations.custom_guardrail import CustomGuardrail
from litellm.integrations.custom_logger import CustomLogger

__all__ = ["has_pre_call_hook", "is_guard", "may_block_later"]

BESIDE = "async_moderation_hook"
DEPLOYED = "async_pre_call_deployment_hook"


def is_guard(callback: Any) -> bool:
    """Whether it is a guardrail, or a hook that runs beside the call or once a deployment is chosen."""
    if isinstance(callback, CustomGuardrail) or _author(callback, BESIDE) is not None:
        return True
    return _changes_for_deployments(callback)


def has_pre_call_hook(callback: Any) -> bool:
    """Whether it may change or block a request before the call, or for the deployment that is chosen."""
    if isinstance(callback, CustomGuardrail | str):
        return True
    # LiteLLM calls this one only where the callback's own class defines it.
    return "async_pre_call_hook" in vars(type(callback)) or _changes_for_deployments(callback)


def may_block_later(callback: Any) -> bool:
    """Whether it may block a call that is being made, or its answer."""
    later = isinstance(callback, CustomGuardrail) and callback.event_hook != "pre_call"
    return later or _author(callback, BESIDE) is not None


def _changes_for_deployments(callback: Any) -> bool:
    author = _author(callback, DEPLOYED)
    # Every proxy has some of LiteLLM's own; those change no messages of a chat completion.
    return author is not None and not author.__module__.startswith("litellm.")


def _author(callback: Any, hook: str) -> type | None:
    """The class that defines a hook: the callback's own or one that is mixed in; None where nobody did."""
    found = next((kind for kind in type(callback).__mro__ if hook in vars(kind)), None)
    return None if found in (CustomLogger, CustomGuardrail) else found
