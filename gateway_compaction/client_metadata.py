"""The metadata of a body, as far as a client speaks to the gateway there: reading it, and taking it out.

Relies on LiteLLM 1.108: the body as it came is in ``proxy_server_request``, and of the two fields of
``METADATA_FIELDS`` the second is there only where the first is a client's own field of the endpoint. With
other names there, a client's words to the gateway would not be read, and would reach the provider.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gateway_compaction.core.records.client_state import ClientState, read_client_state

METADATA_FIELDS = ("metadata", "litellm_metadata")
"""Fields of a body that hold a client's metadata and LiteLLM's; the second only beside the first."""

STATE_NAME, CONVERSATION_NAME = "session_state", "conversation_id"
"""Names in a body's metadata under which a client tells of its work, and names a kept conversation."""


ToldState = tuple[ClientState | None, tuple[str, ...]]
"""What a client tells of its work, None for nothing, and what of it cannot be used."""

NOTHING_TOLD: ToldState = (None, ())


def read_told_state(data: Mapping[str, Any]) -> ToldState:
    """Return what a client tells of its work in the body's metadata.

    To be asked before anything is taken out of the metadata: LiteLLM renews its copy of the body.
    """
    told = _find_metadata(data).get(STATE_NAME)
    return NOTHING_TOLD if told is None else read_client_state(told)


def find_conversation_id(data: Mapping[str, Any]) -> str:
    """Return the id that a client names its conversation by in the body's metadata; empty for none."""
    named = _find_metadata(data).get(CONVERSATION_NAME)
    return named.strip() if isinstance(named, str) else ""


def drop_own_metadata(data: dict[str, Any], *names: str) -> None:
    """Take out of a body's metadata what is meant for the gateway alone: providers take short texts there.

    A field that held nothing else goes as a whole: a client without it would have sent none.
    """
    for place in METADATA_FIELDS:
        metadata = data.get(place)
        if not isinstance(metadata, Mapping) or not any(name in metadata for name in names):
            continue
        data[place] = {name: value for name, value in metadata.items() if name not in names}
        if not data[place]:
            del data[place]


def _find_metadata(data: Mapping[str, Any]) -> Mapping[str, Any]:
    body = (data.get("proxy_server_request") or {}).get("body")
    metadata = body.get("metadata") if isinstance(body, Mapping) else None
    return metadata if isinstance(metadata, Mapping) else {}
