"""The answer of a call as a chat message, whatever endpoint's form it has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gateway_compaction.core.conversation.digest import fingerprint
from gateway_compaction.core.conversation.messages import Message, calls_of, is_by, spell_arguments, text_of
from gateway_compaction.core.endpoints.read import read_conversation


def read_logged_answer(response: Any) -> Message | None:
    """Return the first assistant message of a response in plain JSON types; None where there is none."""
    if not isinstance(response, Mapping):
        return None
    messages: Sequence[Any] = ()
    if isinstance(choices := response.get("choices"), list):
        messages = [choice.get("message") for choice in choices[:1] if isinstance(choice, Mapping)]
    elif isinstance(output := response.get("output"), list):
        messages = read_conversation("responses", {"input": output}).messages
    elif isinstance(content := response.get("content"), list):
        answer = {"role": "assistant", "content": content}
        messages = read_conversation("messages", {"messages": [answer]}).messages
    return next((message for message in messages if is_by(message, "assistant")), None)


def name_answer(message: Message) -> str:
    """Name what an answer says and calls: alike as it was given and as a client sends it back.

    Looser than a digest: clients trim what they keep, and leave out what they do not know.
    """
    calls = (f"{call.name} {' '.join(spell_arguments(call))}" for call in calls_of(message))
    return fingerprint("answer", " ".join(text_of(message).split()), *calls)
