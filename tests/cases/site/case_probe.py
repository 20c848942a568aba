"""A callback beside the plugin: watches the client's messages, and disturbs where a request asks for it.

The header ``x-case-probe`` names what is done: ``twice`` calls the plugin's pre-call hook once more with the
same data, ``again`` its success callback once more, ``gc`` collects garbage after the call. The header
``x-case-input`` of the answer says whether the message objects that came in are still what they were.
"""

from __future__ import annotations

import copy
import gc
from typing import Any

from litellm.integrations.custom_logger import CustomLogger

from gateway_compaction.hook import handler

__all__ = ["Probe", "probe"]


class Probe(CustomLogger):
    """See the module."""

    def __init__(self) -> None:
        super().__init__()
        self._inputs: dict[str, tuple[Any, Any]] = {}
        self._frozen = False

    async def async_pre_call_hook(
        self, user_api_key_dict: Any, cache: Any, data: dict[str, Any], call_type: Any
    ) -> dict[str, Any] | None:
        """Remember the messages; call the plugin's hook where that is wanted, so that it runs twice."""
        wanted = _wanted(data)
        if not wanted:
            return None
        messages = data.get("messages")
        self._inputs[str(data.get("litellm_call_id"))] = (messages, copy.deepcopy(messages))
        if "twice" in wanted:
            await handler.async_pre_call_hook(user_api_key_dict, cache, data, call_type)
        return None

    async def async_post_call_response_headers_hook(
        self,
        data: dict[str, Any],
        user_api_key_dict: Any,
        response: Any,
        request_headers: dict[str, str] | None = None,
        litellm_call_info: dict[str, Any] | None = None,
    ) -> dict[str, str] | None:
        """Say whether the objects that came in were changed."""
        kept = self._inputs.pop(str(data.get("litellm_call_id")), None)
        if kept is None:
            return None
        return {"x-case-input": "unchanged" if kept[0] == kept[1] else "changed"}

    async def async_log_success_event(
        self, kwargs: dict[str, Any], response_obj: Any, start_time: Any, end_time: Any
    ) -> None:
        """Call the plugin's callback once more, or collect garbage, where that is wanted."""
        wanted = _wanted(kwargs.get("litellm_params") or {})
        if "again" in wanted:
            await handler.async_log_success_event(kwargs, response_obj, start_time, end_time)
        if "gc" in wanted:
            # Only what was made since: a proxy's whole heap takes a third of a second each time.
            if not self._frozen:
                gc.freeze()
                self._frozen = True
            gc.collect()


def _wanted(holder: dict[str, Any]) -> str:
    headers = (holder.get("proxy_server_request") or {}).get("headers") or {}
    return str(headers.get("x-case-probe") or "")


probe = Probe()
