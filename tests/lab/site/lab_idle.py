"""A callback that implements the hooks that the plugin has, and does nothing."""

from __future__ import annotations

from typing import Any

from litellm.integrations.custom_logger import CustomLogger


class Idle(CustomLogger):
    """Each hook returns what stands for "nothing is changed": LiteLLM's own work is left."""

    async def async_pre_call_hook(self, *args: Any, **kwargs: Any) -> None:
        return None

    async def async_pre_call_deployment_hook(self, *args: Any, **kwargs: Any) -> None:
        return None

    async def async_post_call_success_hook(self, data: Any, user_api_key_dict: Any, response: Any) -> Any:
        return response

    async def async_post_call_failure_hook(self, *args: Any, **kwargs: Any) -> None:
        return None

    async def async_post_call_response_headers_hook(self, *args: Any, **kwargs: Any) -> None:
        return None

    async def async_log_success_event(self, *args: Any, **kwargs: Any) -> None:
        return None

    async def async_log_failure_event(self, *args: Any, **kwargs: Any) -> None:
        return None


handler = Idle()
