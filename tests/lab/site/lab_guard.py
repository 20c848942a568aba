"""Guardrails of a lab proxy: masking ``SECRET-…`` or ``PRIVATE-…``, refusing forbidden topics."""

from __future__ import annotations

import asyncio
import json
import re
from typing import Any

from fastapi import HTTPException
from litellm.integrations.custom_guardrail import CustomGuardrail
from litellm.integrations.custom_logger import CustomLogger

__all__ = ["Block", "BlockMeanwhile", "Mask", "MaskLogger", "MaskPrivate", "Raise", "mask_logger"]

SECRET = re.compile(r"SECRET-\w+")
# Where the messages of the three endpoints stand.
FIELDS = ("messages", "input")
PRIVATE = re.compile(r"PRIVATE-\w+")


def _masked(value: Any, what: re.Pattern[str] = SECRET) -> Any:
    if isinstance(value, str):
        return what.sub("[MASKED]", value)
    if isinstance(value, list):
        return [_masked(item, what) for item in value]
    if isinstance(value, dict):
        return {key: _masked(item, what) for key, item in value.items()}
    return value


class Mask(CustomGuardrail):
    """Masks secrets in all messages."""

    async def async_pre_call_hook(
        self, user_api_key_dict: Any, cache: Any, data: dict[str, Any], call_type: Any
    ) -> dict[str, Any]:
        """Replace the messages where a secret occurs in them."""
        for field in FIELDS:
            if "SECRET-" in json.dumps(data.get(field)):
                data[field] = _masked(data[field])
        return data


class MaskPrivate(CustomGuardrail):
    """Masks other words, for the models that name it: of chats by LiteLLM's hook, else by its own."""

    async def async_pre_call_deployment_hook(
        self, kwargs: dict[str, Any], call_type: Any
    ) -> dict[str, Any] | None:
        """Replace the messages; LiteLLM's own hook of a guardrail does nothing but for chats."""
        if "chat" in str(call_type) or "completion" in str(call_type):
            return await super().async_pre_call_deployment_hook(kwargs, call_type)
        if self.guardrail_name not in (kwargs.get("guardrails") or ()):
            return kwargs
        return await self.async_pre_call_hook(None, None, kwargs, call_type)

    async def async_pre_call_hook(
        self, user_api_key_dict: Any, cache: Any, data: dict[str, Any], call_type: Any
    ) -> dict[str, Any]:
        """Replace the messages."""
        for field in FIELDS:
            if field in data:
                data[field] = _masked(data[field], PRIVATE)
        return data


class Block(CustomGuardrail):
    """Refuses a forbidden topic."""

    async def async_pre_call_hook(
        self, user_api_key_dict: Any, cache: Any, data: dict[str, Any], call_type: Any
    ) -> None:
        """Raise 400 where the topic occurs."""
        if "FORBIDDEN-TOPIC" in json.dumps([data.get(field) for field in FIELDS]):
            raise HTTPException(status_code=400, detail={"error": "blocked by the lab's guardrail"})


class BlockMeanwhile(CustomGuardrail):
    """Refuses another topic, while the upstream is being asked."""

    async def async_moderation_hook(
        self, data: dict[str, Any], user_api_key_dict: Any, call_type: Any
    ) -> None:
        """Raise 400 where the topic occurs, later than a quick upstream answers."""
        if "FORBIDDEN-MEANWHILE" in json.dumps([data.get(field) for field in FIELDS]):
            await asyncio.sleep(0.3)
            raise HTTPException(status_code=400, detail={"error": "blocked by the lab's guardrail"})


class Raise(CustomGuardrail):
    """Breaks down where a word occurs, as a guardrail with a fault does."""

    async def async_pre_call_hook(
        self, user_api_key_dict: Any, cache: Any, data: dict[str, Any], call_type: Any
    ) -> None:
        """Raise what is no answer to anybody."""
        if "BREAKS-GUARDRAILS" in json.dumps([data.get(field) for field in FIELDS]):
            raise RuntimeError("the lab's guardrail broke down")


class MaskLogger(CustomLogger):
    """The same masking as a plain callback, so that it can stand behind others in the list."""

    async def async_pre_call_hook(
        self, user_api_key_dict: Any, cache: Any, data: dict[str, Any], call_type: Any
    ) -> dict[str, Any]:
        """Replace the messages where a secret occurs in them."""
        for field in FIELDS:
            if "SECRET-" in json.dumps(data.get(field)):
                data[field] = _masked(data[field])
        return data


mask_logger = MaskLogger()
