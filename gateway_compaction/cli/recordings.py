"""Read recorded conversations: JSON lines, a list of conversations, or one plain list of messages."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gateway_compaction.core.conversation.messages import is_by

QUESTIONS = 'Write questions as "qa": [{"question": "...", "answer": "...", "evidence": [3]}]'
MISNAMED = frozenset({"qa", "question", "query", "querie", "probe"})


class RecordingError(Exception):
    """A file holds no conversations; the text says where and what was expected."""


@dataclass(frozen=True, slots=True)
class Recording:
    """One conversation: an id for people, its messages, and the request fields sent with every call.

    ``questions`` are those asked about it, with answers and evidence, as they stand in the file.
    """

    id: str
    messages: tuple[Any, ...]
    body: Mapping[str, Any]
    questions: tuple[Any, ...] = ()


def read_recordings(path: Path, *, asking: bool = False) -> list[Recording]:
    """Return every chat conversation of a file; recorded bodies of the Responses API are left out.

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
    return [_make_recording(value, where) for where, value in values if not _is_another_api(value)]


def split_into_calls(recording: Recording) -> Iterator[tuple[Any, ...]]:
    """Yield the requests that made the conversation.

    They are every prefix that an assistant message answers, and the whole where it does not end with one.
    """
    messages = recording.messages
    for index, message in enumerate(messages):
        if index and is_by(message, "assistant"):
            yield messages[:index]
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


def _is_another_api(value: Any) -> bool:
    """Tell whether a value is a recorded body of the Responses API: it has no list of messages."""
    body = value.get("body") if isinstance(value, Mapping) else None
    return isinstance(body, Mapping) and "input" in body and "messages" not in body


def _is_conversation(value: Any) -> bool:
    return isinstance(value, Mapping) and ("messages" in value or isinstance(value.get("body"), Mapping))


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
        value = {**value["body"], "id": value.get("id")}
    messages = (
        value if isinstance(value, list) else value.get("messages") if isinstance(value, Mapping) else None
    )
    if not isinstance(messages, Sequence) or isinstance(messages, str):
        raise RecordingError(f'{where}: no list of messages. Write a conversation as {{"messages": [...]}}')
    fields = value if isinstance(value, Mapping) else {}
    kept = ("tools", "functions", "response_format", "max_tokens", "max_completion_tokens")
    body = {k: fields[k] for k in kept if fields.get(k)}
    asked = fields.get("qa")
    questions = tuple(asked) if isinstance(asked, list) else ()
    return Recording(str(fields.get("id") or where.rsplit("/", 1)[-1]), tuple(messages), body, questions)
