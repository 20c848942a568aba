"""The answers of kept conversations as they stream by: what is appended before a client sees their end.

A callback of its own, which is listed only once a kept conversation streams: LiteLLM leads every chunk of
every stream through callbacks that define this hook.

Relies on LiteLLM 1.108: ``async_post_call_streaming_iterator_hook`` wraps a stream in the order of the
callbacks, so the last one sees what guardrails left; chunks are models for Chat Completions and Responses,
and lines of server-sent events for Messages. With other chunks an answer would not be kept.
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from typing import Any, Protocol

import litellm
from litellm.integrations.custom_logger import CustomLogger

from gateway_compaction.core.endpoints.answers import assemble_messages_answer, read_events

# Events by which a stream of Responses tells its whole answer.
ENDED = frozenset({"response.completed", "response.incomplete"})
KEY = "gateway_compaction"

# A comment of a stream, which SDKs pass over: its headers, which told the coming version, are out by then.
NOT_KEPT = b": this answer could not be kept in the conversation\n\n"

Append = Callable[[Any, Mapping[str, Any] | None], Awaitable[None]]


class KeptStreams(CustomLogger):
    """Appends a streamed answer before its last piece goes on.

    Args:
        append: appends the answer's body to the conversation of a call's state; of None, gives it up.
    """

    def __init__(self, append: Append) -> None:
        super().__init__()
        self._append = append

    def listen(self) -> None:
        """Stand behind all other callbacks, so that what a guardrail masks is what is kept."""
        callbacks = litellm.callbacks
        if not callbacks or callbacks[-1] is not self:
            # A new list: others may be iterating over the old one right now.
            litellm.callbacks = [*(c for c in callbacks if c is not self), self]

    async def async_post_call_streaming_iterator_hook(
        self, user_api_key_dict: Any, response: Any, request_data: dict[str, Any]
    ) -> AsyncGenerator[Any, None]:
        """Pass a stream on, and append its answer once it is whole."""
        details = getattr(request_data.get("litellm_logging_obj"), "model_call_details", None) or {}
        state: Any = details.get(KEY)
        if getattr(state, "kept", None) is None:
            async for chunk in response:
                yield chunk
            return
        if state.kept.policy.conversation.stream_event:
            yield build_first_event(state.endpoint, state.kept.id)
        reader, is_over = READERS[state.endpoint](), False
        try:
            async for chunk in response:
                if not is_over and (body := reader.read(chunk)) is not None:
                    is_over = True
                    await self._append(state, body)
                    if state.kept.appended is None:
                        yield NOT_KEPT
                yield chunk
        finally:
            if not is_over:
                # The client left, or the stream broke off.
                await self._append(state, None)


def build_first_event(endpoint: str, conversation: str) -> bytes:
    """Return the event that names the conversation before the first one of the answer.

    In bytes, since LiteLLM writes those as they are. Streams of Chat Completions have no named events.
    """
    name = b"" if endpoint == "chat" else b"event: metadata\n"
    return name + b"data: " + json.dumps({"metadata": {"conversationId": conversation}}).encode() + b"\n\n"


class StreamReader(Protocol):
    """Puts an answer together from its chunks."""

    def read(self, chunk: Any) -> Mapping[str, Any] | None:
        """Take a chunk; return the whole answer's body with the one that ends it, else None."""
        ...


class ChatReader:
    """Reads chunks of Chat Completions."""

    def __init__(self) -> None:
        self._chunks: list[Any] = []

    def read(self, chunk: Any) -> Mapping[str, Any] | None:
        """See ``StreamReader.read``."""
        self._chunks.append(chunk)
        choices = getattr(chunk, "choices", None) or ()
        if not any(getattr(choice, "finish_reason", None) for choice in choices):
            return None
        return to_body(litellm.stream_chunk_builder(self._chunks))


class MessagesReader:
    """Reads events of Messages: bytes or texts that may end within a line, or events."""

    def __init__(self) -> None:
        self._events: list[Mapping[str, Any]] = []
        self._rest = b""

    def read(self, chunk: Any) -> Mapping[str, Any] | None:
        """See ``StreamReader.read``."""
        if isinstance(chunk, Mapping):
            self._events.append(chunk)
        else:
            raw = chunk if isinstance(chunk, bytes) else str(chunk).encode("utf-8", "replace")
            *lines, self._rest = (self._rest + raw).split(b"\n")
            self._events += read_events(line.decode("utf-8", "replace") for line in lines)
        is_last = bool(self._events) and self._events[-1].get("type") == "message_stop"
        return assemble_messages_answer(self._events) if is_last else None


class ResponsesReader:
    """Reads events of Responses."""

    def read(self, chunk: Any) -> Mapping[str, Any] | None:
        """See ``StreamReader.read``."""
        event = to_body(chunk) or {}
        kind = event.get("type")
        answer = event.get("response")
        return answer if str(getattr(kind, "value", kind)) in ENDED and isinstance(answer, Mapping) else None


READERS: Mapping[str, Callable[[], StreamReader]] = {
    "chat": ChatReader,
    "messages": MessagesReader,
    "responses": ResponsesReader,
}


def to_body(response: Any) -> Mapping[str, Any] | None:
    """Return an answer, or an event, as a mapping; None for what is neither."""
    if isinstance(response, Mapping):
        return response
    dump = getattr(response, "model_dump", None)
    body = dump() if callable(dump) else None
    return body if isinstance(body, Mapping) else None
