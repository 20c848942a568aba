"""The vocabulary of messages: who wrote one, what it says, which tools it calls, what was thought.

Inside ``core`` and ``engine`` this module and ``parts`` are the only readers of the wire form (a test holds
that). Everybody else asks here, so that another endpoint needs one adapter that makes such messages, and so
that "what is a call?" has one answer a name. Some questions had several answers before they were gathered
here; those stand side by side, and each says in which the others differ.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, NamedTuple

from gateway_compaction.core.conversation.parts import (
    CALL_PARTS,
    CALL_PAYLOADS,
    REFUSAL,
    RESULT_PARTS,
    TEXT_PARTS,
    THINKING_PARTS,
    cache_lifetime,
    cache_mark_of,
    call_name,
    call_payload,
    find_brought_texts,
    find_tool_texts,
    has_type,
    is_any_call,
    is_any_result,
    is_call,
    is_result,
    is_thinking,
)
from gateway_compaction.core.conversation.visible_text import remove_thinking, replace_embedded_data

Message = Mapping[str, Any]
"""One chat message, opaque: read, never edited."""

ORIGIN = "_origin"
"""A key of ours: the number of the message that a message was read as from another endpoint's form.

Copies keep it, so that they are written back where they came from. It is never sent, and weighs nothing.
"""

PREAMBLE_ROLES = frozenset({"system", "developer"})
RESULT_ROLES = frozenset({"tool", "function"})
READ_FIELDS = frozenset(
    {"role", "content", "name", "refusal", "tool_calls", "function_call", "tool_call_id", "audio", ORIGIN}
)
"""Fields of a message that are read as what they are, or cost nothing: of a sound only its id is sent."""

ANSWERING_FIELDS = ("tool_use_id", "approval_request_id")
"""Fields in which an assistant's parts name the call that they answer, by Anthropic and by OpenAI."""

REFUSAL_PARTS = frozenset({REFUSAL})

THINKING_TEXT_FIELDS = ("reasoning_content", "reasoning")
"""Fields in which providers want plain thinking back: some on every assistant message, if on any."""


RESTORED_OPENING = "<restored_conversation source="
"""The beginning of the message in which the gateway tells a conversation of an earlier one."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call of a tool, in whatever form it came.

    Attributes:
        name: the tool's name as it came, which ought to be a string.
        arguments: the field ``arguments`` as it came (JSON in a string, or an object), or None.
        input: the field ``input``, which custom tools and Anthropic's parts have instead, or None.
    """

    name: Any
    arguments: Any
    input: Any

    @property
    def payload(self) -> Any:
        """What the tool is called with, under either name."""
        return self.arguments if self.input is None else self.input


class ToldText(NamedTuple):
    """A text that a message tells.

    Attributes:
        text: the text.
        is_brought_in: a part of the message brought it: a result, a document. Its author did not say it.
    """

    text: str
    is_brought_in: bool


def role_of(message: Message) -> str:
    """Return the part that a message plays: its declared role, but ``tool`` for whatever brings results.

    Results come with the role ``tool`` or ``function``, or in a user message's parts. Taken for a user's
    words those would begin turns, and pins would be looked for in the output of programs.
    """
    role = str(message["role"])
    if role == "user":
        return "tool" if _has_part(message, RESULT_PARTS) else role
    return "tool" if role in RESULT_ROLES else role


def plain_text_of(message: Message) -> str | None:
    """Return the text of a message that has a role, a text and ids, and nothing else; None for all others.

    Nearly all messages of a long history are such. What is asked of each of them at every call asks this
    first, since what else a message may hold takes several times as long to be looked for.
    """
    content = message.get("content")
    if type(content) is not str or "role" not in message:
        return None
    beside = len(message) - 2 - (ORIGIN in message)
    return content if not beside or (beside == 1 and "tool_call_id" in message) else None


def plain_role_of(message: Message) -> str:
    """Return what ``role_of`` does of a message that ``plain_text_of`` has a text of: it brings no parts."""
    role: str = message["role"]
    return "tool" if role in RESULT_ROLES else role


def declared_role(message: Message) -> str:
    """Return the role that the client wrote; unlike ``role_of`` results in a user's parts stay a user's."""
    return str(message["role"])


def is_message(message: Any) -> bool:
    """Tell whether something is a message: it declares a role."""
    return isinstance(message, Mapping) and isinstance(message.get("role"), str)


def is_by(message: Any, role: str) -> bool:
    """Tell whether something is a message that declares a role; what is no message declares none."""
    return isinstance(message, Mapping) and message.get("role") == role


def is_restored(message: Message) -> bool:
    """Tell whether a message tells of an earlier conversation: data, though it stands in a user's message.

    Without it the task of a new conversation would be the block that it begins with, and its language that of
    the gateway's note.
    """
    content = message.get("content")
    return isinstance(content, str) and content.startswith(RESTORED_OPENING)


def name_of(message: Message) -> str | None:
    """Return the name of a message's author, if it has one that is a string."""
    name = message.get("name")
    return name if isinstance(name, str) else None


def text_of(message: Message) -> str:
    """Return what the author of a message says: its text parts joined by a line break, other parts left out.

    What a model thinks aloud between tags is left out as ``reasoning_content`` is, and ``[embedded data]``
    stands for base64. Results and documents in the parts are no words of the author's: ``told_text_of`` has
    them.
    """
    content = message.get("content")
    if not isinstance(content, str):
        content = "\n".join(one.text for one in _find_texts(message) if not one.is_brought_in)
    return _to_visible(message, content)


def told_text_of(message: Message, describe: Callable[[Any], str] | None = None) -> str:
    """Return all that a message tells: what its author says, and what its parts bring in, in order.

    Args:
        message: the message.
        describe: says a word for each part that is neither text, result, call nor thinking; "" for none.
    """
    return "\n".join(one.text for one in told_texts_of(message, describe))


def told_texts_of(message: Message, describe: Callable[[Any], str] | None = None) -> list[ToldText]:
    """Return what ``told_text_of`` joins, in pieces: what the author says, and what was brought in, by turns.

    What a tool or a document says in an assistant's or a user's message must not pass for theirs.
    """
    content = message.get("content")
    if not isinstance(content, list):
        has_text = isinstance(content, str) and content != ""
        return [ToldText(_to_visible(message, str(content)), False)] if has_text else []
    told: list[ToldText] = []
    for is_brought_in, run in groupby(_find_texts(message, describe), key=lambda one: one.is_brought_in):
        text = "\n".join(one.text for one in run)
        text = replace_embedded_data(text) if is_brought_in else _to_visible(message, text)
        if text:
            told.append(ToldText(text, is_brought_in))
    return told


def brought_spans_of(message: Message) -> list[tuple[int, int]]:
    """Return where in ``told_text_of`` a message stands what its parts bring in; none in a result's message.

    There all of it is a tool's.
    """
    if not has_parts(message) or role_of(message) == "tool":
        return []
    spans, start = [], 0
    for text, is_brought_in in told_texts_of(message):
        if is_brought_in:
            spans.append((start, start + len(text)))
        start += len(text) + 1
    return spans


def written_text_of(message: Message) -> str:
    """Return what ``told_text_of`` does, verbatim: with thinking and embedded data, which count as text."""
    return "\n".join(one.text for one in _find_texts(message))


def count_written_characters(message: Message) -> int:
    """Return the characters of what a message says and of the calls that it makes: names and arguments."""
    called = sum(
        len(_spell_value(one)) for call in calls_of(message) for one in (call.name, call.payload) if one
    )
    return len(written_text_of(message)) + called


def has_parts(message: Message) -> bool:
    """Tell whether a message's content is a list of parts, be it an empty one."""
    return isinstance(message.get("content"), list)


def parts_of(message: Message) -> Sequence[Any]:
    """Return the parts of a message's content; none where the content is a string or missing."""
    content = message.get("content")
    return content if isinstance(content, list) else ()


def content_of(message: Message) -> Sequence[Any]:
    """Return the content as parts; unlike in ``parts_of`` what is no list, be it a string or None, is one."""
    content = message.get("content")
    return content if isinstance(content, list) else (content,)


def labels_of(message: Message) -> Sequence[str]:
    """Return what is sent as text beside the content: the author's name and the words of a refusal."""
    name, refusal = message.get("name"), message.get("refusal")
    return [str(label) for label in (name, refusal) if label] if name or refusal else ()


def beside_content(message: Message) -> Sequence[Any]:
    """Return what is sent beside all that the other functions read, and the parts that hold thinking.

    Providers' names for what a model thought differ and new ones come (``reasoning_content``, ``reasoning``,
    ``reasoning_details``, ``thinking_blocks``), so whatever is not known to be something else is returned. It
    is sent again and paid for like text, and it is no part of what the message means.
    """
    if not may_have_beside(message):
        return ()
    beside = [message[key] for key in message if key not in READ_FIELDS]
    return [*beside, *(part for part in parts_of(message) if is_thinking(part))]


def may_have_beside(message: Message) -> bool:
    """Tell whether ``beside_content`` may return something: most messages are told apart without a loop."""
    return not message.keys() <= READ_FIELDS or isinstance(message.get("content"), list)


def has_thinking(message: Message) -> bool:
    """Tell whether a message carries blocks or parts of thinking, which providers want back in whole turns.

    Plain text such as ``reasoning_content`` does not count: it may be divided anywhere.
    """
    if message.get("thinking_blocks"):
        return True
    return isinstance(message.get("content"), list) and _has_part(message, THINKING_PARTS)


def has_thinking_blocks(message: Message) -> bool:
    """Tell whether a message carries blocks of thinking; unlike in ``has_thinking`` parts do not count."""
    return bool(message.get("thinking_blocks"))


def calls_of(message: Message) -> Iterator[ToolCall]:
    """Yield the calls that a message makes, in every form: functions, custom tools, the older
    ``function_call``, and parts, those of tools that a provider runs among them. What is too malformed to be
    a call is left out.

    Whoever reads calls reads them here, and what they are made with in ``spell_arguments``: two messages with
    the same digest must be read alike, and the digest does not know one form from the other.
    """
    for call in _tool_calls(message):
        function = _function_of(call)
        if isinstance(function, Mapping):
            yield _to_call(function)
    legacy = message.get("function_call")
    if legacy and isinstance(legacy, Mapping):
        yield _to_call(legacy)
    for part in parts_of(message):
        if is_any_call(part):
            payload = call_payload(part)
            yield ToolCall(call_name(part), *((payload, None) if "arguments" in part else (None, payload)))


def spell_arguments(call: ToolCall) -> list[str]:
    """Return what a call is made with as people write it: ``name = value`` for each field.

    The braces, quotes and escapes of JSON would stick to the words that they stand beside. What is no JSON
    object is one entry; nothing is none.
    """
    payload = call.payload
    try:
        parsed = json.loads(payload) if isinstance(payload, str) else payload
    except (ValueError, RecursionError):
        parsed = payload
    if isinstance(parsed, Mapping):
        entries = [f"{name} = {_spell_value(value)}" for name, value in parsed.items()]
    elif isinstance(payload, str) and payload.lstrip().startswith(("{", "[")):
        entries = [_unescape(payload)]
    else:
        entries = [_spell_value(payload)] if payload else []
    return [replace_embedded_data(entry) for entry in entries]


def bare_calls_of(message: Message) -> Sequence[Any]:
    """Return what is sent for each call, with those that ``calls_of`` leaves out as malformed: they cost too.

    What is no object comes as it is. Calls in parts are not among them, since they are content.
    """
    calls, legacy = _tool_calls(message), message.get("function_call")
    if not calls and not legacy:
        return ()
    bare = (_function_of(call) or call for call in (*calls, legacy) if call)
    return [_to_call(call) if isinstance(call, Mapping) else call for call in bare]


def has_calls(message: Message) -> bool:
    """Tell whether a message calls tools, in any form. Malformed calls count: results may follow them."""
    return has_tool_calls(message) or bool(message.get("function_call")) or _has_part(message, CALL_PARTS)


def has_tool_calls(message: Message) -> bool:
    """Tell whether a message has ``tool_calls``; unlike ``has_calls`` the other forms do not count."""
    return bool(message.get("tool_calls"))


def answered_in_parts(message: Message) -> Sequence[str]:
    """Return the ids of calls that parts of an assistant's message answer, those of its own parts left out.

    What a provider runs itself may go on behind the client's results: its output then answers a call of an
    earlier message, and is refused without it.
    """
    if not has_parts(message):
        return ()
    parts = [part for part in parts_of(message) if isinstance(part, Mapping)]
    named = (part.get(field) for part in parts for field in ANSWERING_FIELDS)
    own = {part.get("id") for part in parts if isinstance(part.get("id"), str)}
    return [name for name in named if isinstance(name, str) and name not in own]


def call_ids_of(message: Message) -> Iterator[Any]:
    """Yield the ids of a message's calls, in its parts too; some may be of what is no call."""
    for holder in (*_tool_calls(message), *parts_of(message)):
        if isinstance(holder, Mapping):
            yield holder.get("id")


def cache_marks_of(message: Message) -> list[Any]:
    """Return the ``cache_control`` marks of a message in the order of what they stand on; its own is last."""
    if plain_text_of(message) is not None:
        return []
    holders = [inner for part in parts_of(message) for inner in (*_inner_parts(part), part)]
    return [mark for holder in (*holders, message) if (mark := cache_mark_of(holder))]


def carried_cache_mark(covered: Iterable[Message], behind: Iterable[Message]) -> Any:
    """Return the mark that what stands for covered messages carries, or None where none of them has one.

    That is their last: the client meant everything up to there to be cached. Providers refuse a mark behind
    one that lives shorter, so where a mark of the messages behind it outlives it, it is as that one.
    """
    last = next((mark for message in reversed([*covered]) for mark in cache_marks_of(message)[::-1]), None)
    if last is None:
        return None
    later = [mark for message in behind for mark in cache_marks_of(message)]
    return max(last, *later, key=cache_lifetime) if later else last


def thinking_fields_of(message: Message) -> frozenset[str]:
    """Return in which fields beside its text an assistant's message says what was thought, in plain text."""
    return frozenset(field for field in THINKING_TEXT_FIELDS if message.get(field))


def _inner_parts(part: Any) -> Sequence[Any]:
    return parts_of(part) if is_result(part) else ()


def _find_texts(message: Message, describe: Callable[[Any], str] | None = None) -> Iterator[ToldText]:
    """Yield the texts of a content, and what is said of the parts that have none."""
    content = message.get("content")
    for part in content if isinstance(content, list) else (content,) if isinstance(content, str) else ():
        said: Any = ""
        is_brought_in = False
        if isinstance(part, str):
            said = part
        elif has_type(part, TEXT_PARTS):
            said = part.get("text")
        elif has_type(part, REFUSAL_PARTS):
            said = part.get(REFUSAL)
        elif not is_thinking(part):
            said = _read_brought_in(part, describe)
            is_brought_in = bool(said)
            # The page asks about single parts, in a message without a role.
            if not said and message.get("role") in RESULT_ROLES:
                said = "\n".join(find_tool_texts(part))
            if not said and describe is not None and not (is_call(part) or is_result(part)):
                said = describe(part)
        if said and isinstance(said, str):
            yield ToldText(said, is_brought_in)


def _read_brought_in(part: Any, describe: Callable[[Any], str] | None) -> str:
    """Return what a part brings in; of a result whose content is a list what its parts say or are."""
    if not is_any_result(part):
        return "\n".join(find_brought_texts(part))
    content = part.get("content")
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return "\n".join(find_brought_texts(part))
    texts = (_read_inner_part(inner, describe) for inner in content)
    return "\n".join(text for text in texts if text and isinstance(text, str))


def _read_inner_part(part: Any, describe: Callable[[Any], str] | None) -> Any:
    if isinstance(part, str):
        return part
    if has_type(part, TEXT_PARTS):
        return part.get("text")
    found = "\n".join(find_brought_texts(part))
    return describe(part) if not found and describe is not None and not is_thinking(part) else found


def _to_visible(message: Message, text: str) -> str:
    """Return a text of a message without thinking and embedded data."""
    if is_by(message, "assistant"):
        text = remove_thinking(text)
    return replace_embedded_data(text)


def _spell_value(value: Any) -> str:
    return value if isinstance(value, str) else _unescape(json.dumps(value, ensure_ascii=False, default=repr))


def _unescape(text: str) -> str:
    """Return a JSON text with line breaks for their escapes, which would glue a letter to the next word."""
    return text.replace("\\n", "\n").replace('\\"', '"').replace("\\t", " ")


def _tool_calls(message: Message) -> Sequence[Any]:
    calls = message.get("tool_calls")
    return calls if isinstance(calls, list) else ()


def _function_of(call: Any) -> Any:
    """Return what a call is of, a function or a custom tool; some write it without that level."""
    if not isinstance(call, Mapping):
        return None
    is_flat = "name" in call and not call.keys().isdisjoint(CALL_PAYLOADS)
    return call.get("function") or call.get("custom") or (call if is_flat else None)


def _to_call(function: Mapping[str, Any]) -> ToolCall:
    if "arguments" in function:
        return ToolCall(function.get("name"), function["arguments"], None)
    payload = next((function[field] for field in CALL_PAYLOADS if function.get(field) is not None), None)
    return ToolCall(function.get("name"), None, payload)


def _has_part(message: Message, types: frozenset[str]) -> bool:
    content = message.get("content")
    # Asked of every message, most of which are strings: these must not cost a generator.
    return isinstance(content, list) and any(has_type(part, types) for part in content)
