"""Read recorded conversations: JSON lines, a list of conversations, or one plain list of messages.

A conversation is a list of chat messages, or the body of a request to one of the three endpoints.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gateway_compaction.core.conversation.messages import ORIGIN, is_by
from gateway_compaction.core.conversation.transcript import split_at_answers
from gateway_compaction.core.endpoints.read import find_endpoint, read_conversation
from gateway_compaction.core.endpoints.wire import EndpointName

QUESTIONS = 'Write questions as "qa": [{"question": "...", "answer": "...", "evidence": [3]}]'
MISNAMED = frozenset({"qa", "question", "query", "querie", "probe"})


class RecordingError(Exception):
    """A file holds no conversations; the text says where and what was expected."""


@dataclass(frozen=True, slots=True)
class Recording:
    """One conversation: an id for people, its messages, and the request fields sent with every call.

    Attributes:
        messages: as chat messages, whichever endpoint they were recorded at.
        questions: those asked about it, with answers and evidence, as they stand in the file.
        endpoint: where it was recorded.
        left_alone, managed: as in ``WireConversation``.
    """

    id: str
    messages: tuple[Any, ...]
    body: Mapping[str, Any]
    questions: tuple[Any, ...] = ()
    endpoint: EndpointName = "chat"
    left_alone: str | None = None
    managed: str | None = None


def read_recordings(path: Path, *, asking: bool = False) -> list[Recording]:
    """Return every conversation of a file.

    Args:
        asking: the questions are wanted, so that some under another name are a mistake.

    Raises:
        RecordingError: the file cannot be read, or a line is not a conversation.
    """
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise RecordingError(f"{path}: {error.strerror or error}") from error
    values = list(_parse_values(path, text))
    if not values:
        raise RecordingError(f"{path}: no conversation in it")
    if asking:
        for where, value in values:
            _check_questions(value, where)
    return [_make_recording(value, where) for where, value in values]


def split_into_calls(recording: Recording) -> Iterator[Sequence[Any]]:
    """Yield the requests that made the conversation.

    They are every prefix that an assistant message answers, and the whole where it does not end with one.
    """
    messages = recording.messages
    yield from split_at_answers(messages)
    last = messages[-1] if messages else None
    if messages and not is_by(last, "assistant"):
        yield messages


def _parse_values(path: Path, text: str) -> Iterator[tuple[str, Any]]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        yield from _parse_lines(path, text)
        return
    if isinstance(value, list) and value and not _is_conversation(value[0]):
        yield f"{path}", {"messages": value}
    elif isinstance(value, list):
        yield from ((f"{path}[{i}]", v) for i, v in enumerate(value))
    else:
        yield f"{path}", value


def _parse_lines(path: Path, text: str) -> Iterator[tuple[str, Any]]:
    # Only line feeds end a line: what else Unicode takes for one may stand in a message.
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                yield f"{path}:{number}", json.loads(line)
            except (ValueError, RecursionError) as error:
                raise RecordingError(f"{path}:{number}: not JSON: {error}") from error


def _is_conversation(value: Any) -> bool:
    held = isinstance(value, Mapping) and ("messages" in value or "input" in value)
    return held or (isinstance(value, Mapping) and isinstance(value.get("body"), Mapping))


def _check_questions(value: Any, where: str) -> None:
    """Refuse questions that would not be asked. Fields about something else are nobody's mistake.

    Raises:
        RecordingError: a field looks like them, or ``qa`` is no list.
    """
    for name, held in value.items() if isinstance(value, Mapping) else ():
        if name == "qa" and not isinstance(held, list):
            raise RecordingError(f"{where}: qa is no list. {QUESTIONS}")
        listed = held if isinstance(held, list) and name not in ("qa", "messages") else []
        asks = any(isinstance(one, Mapping) and "question" in one for one in listed)
        if asks or (name != "qa" and name.lower().rstrip("s") in MISNAMED):
            raise RecordingError(f"{where}: a field {name!r} is not read. {QUESTIONS}")


def _make_recording(value: Any, where: str) -> Recording:
    if isinstance(value, Mapping) and "messages" not in value and isinstance(value.get("body"), Mapping):
        value = {**value["body"], "id": value.get("id"), "qa": value.get("qa")}
    fields: Mapping[str, Any] = value if isinstance(value, Mapping) else {"messages": value}
    endpoint = find_endpoint(fields)
    messages = fields.get("input") if endpoint == "responses" else fields.get("messages")
    is_text = endpoint == "responses" and isinstance(messages, str)
    if not isinstance(messages, list) and not is_text:
        raise RecordingError(f'{where}: no list of messages. Write a conversation as {{"messages": [...]}}')
    wire = read_conversation(endpoint, fields)
    read = [
        {k: v for k, v in m.items() if k != ORIGIN} if isinstance(m, Mapping) else m for m in wire.messages
    ]
    kept = ("tools", "functions", "response_format", "max_tokens", "max_completion_tokens")
    body = {k: wire.body[k] for k in kept if wire.body.get(k)}
    asked = fields.get("qa")
    return Recording(
        str(fields.get("id") or where.rsplit("/", 1)[-1]),
        tuple(read),
        body,
        tuple(asked) if isinstance(asked, list) else (),
        endpoint,
        wire.left_alone,
        wire.managed,
    )
