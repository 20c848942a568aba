"""Judging LiteLLM's other callbacks: what they may still do with a request after this plugin's hook.

Relies on how LiteLLM 1.108 calls callbacks: ``async_pre_call_hook`` only where the callback's own class
defines it, ``async_moderation_hook`` wherever the base class's is overridden,
``async_pre_call_deployment_hook`` once a deployment is chosen; guardrails are ``CustomGuardrail`` and say in
``event_hook`` when they run. Should a version call them otherwise, a guardrail that masks messages might not
be noticed, and the plugin would summarise text that the guardrail was to take out.
"""

from __future__ import annotations

from typing import Any

from litellm.integrations.custom_guardrail import CustomGuardrail
from litellm.integrations.custom_logger import CustomLogger

# Runs beside the call, while the provider answers.
MODERATION_HOOK = "async_moderation_hook"

# Runs before the call, in the order of the callbacks.
PRE_CALL_HOOK = "async_pre_call_hook"

# Runs once a deployment is chosen, after all of these.
DEPLOYMENT_HOOK = "async_pre_call_deployment_hook"


def is_guard(callback: Any) -> bool:
    """Tell whether it is a guardrail, or a hook that runs beside the call or for a deployment."""
    if isinstance(callback, CustomGuardrail) or _find_definer(callback, MODERATION_HOOK) is not None:
        return True
    return _has_deployment_hook(callback)


def has_pre_call_hook(callback: Any) -> bool:
    """Tell whether it may change or block a request before the call, or for the deployment that is chosen.

    A callback that is a string is one of LiteLLM's own that is not loaded yet: it may do anything.
    """
    if isinstance(callback, CustomGuardrail | str):
        return True
    return PRE_CALL_HOOK in vars(type(callback)) or _has_deployment_hook(callback)


def can_block_later(callback: Any) -> bool:
    """Tell whether it may block a call that is being made, or its answer."""
    if isinstance(callback, CustomGuardrail) and callback.event_hook != "pre_call":
        return True
    return _find_definer(callback, MODERATION_HOOK) is not None


def _has_deployment_hook(callback: Any) -> bool:
    definer = _find_definer(callback, DEPLOYMENT_HOOK)
    # Every proxy has some of LiteLLM's own; those change no messages of a chat completion.
    return definer is not None and not definer.__module__.startswith("litellm.")


def _find_definer(callback: Any, hook: str) -> type | None:
    """Return the class that defines a hook, the callback's own or one that is mixed in, or None."""
    definer = next((kind for kind in type(callback).__mro__ if hook in vars(kind)), None)
    return None if definer in (CustomLogger, CustomGuardrail) else definer
