"""Anthropic's Messages API: ``system`` beside the messages, calls and results as blocks of them.

A user's message that brings results is read as one chat message for each result, and one for what is said
beside them. An assistant's blocks are read as a message with ``tool_calls`` and ``thinking_blocks``; what a
server's tool did stays among its parts. The way back puts the blocks together as they came. Signed thinking
is never changed: it goes back as it came, or its whole message is left out. A file that was put into the
container of a server's tools stays there: where its message is left out, it stands in the first one of ours.
"""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from gateway_compaction.core.conversation.messages import ORIGIN, Message, parts_of
from gateway_compaction.core.conversation.parts import (
    copy_value,
    has_type,
    is_call,
    is_result,
    is_thinking,
    part_type,
)
from gateway_compaction.core.endpoints.wire import (
    Item,
    KnownItems,
    ReadItems,
    WireConversation,
    origin_of,
    sole_text,
)

OWN_COMPACTION = "the request asks the provider to manage its context"
LOADS_TOOLS = "the history loads tools, and a part of it may not be left out"
# Blocks by which a history changes what a model may do.
STATEFUL_BLOCKS = frozenset({"tool_addition", "tool_removal", "tool_reference"})
TEXTS = ("text",)
COMPACTIONS = frozenset({"compaction"})
UPLOADS = frozenset({"container_upload"})
NESTED = ("content", "tool_references")
"""Fields of a block that hold blocks: those of a result, and of what a server's search for tools found."""
DEPTH = 3
"""Levels of blocks within blocks that are looked through."""
KEEPS_HISTORY = "clear_thinking"
"""How the edits of a ``context_management`` begin that bound nothing: only what was thought is left out."""


known_items = KnownItems()
"""The items of plain bodies that earlier calls brought."""

Span = tuple[int, int, int | None]
"""The blocks that a chat message was read from: a wire message's number, start and stop of them in it.

Without a stop it is all of its content.
"""


@dataclass(slots=True)
class _Piece:
    """Blocks of one role on their way into a wire message.

    Attributes:
        item: the number of the wire message that they come from, or None for a message of ours.
        blocks: the blocks; a string is the whole content of a message.
        is_changed: some of them are not what came in.
    """

    role: str
    item: int | None
    blocks: list[Any] | str
    is_changed: bool = False


@dataclass(slots=True)
class _Reading:
    """The chat messages read from a list of wire messages, and where each came from.

    Attributes:
        spans: of each chat message, by its number, the blocks that it was read from; None for ``system``.
        blocks: the blocks as they came, by the ``id`` of the parts that they were read as.
        kinds: the kinds of all blocks but texts; not collected of a plain body.
        is_plain: its blocks are known to be texts, calls, results and thoughts.
    """

    items: Sequence[Item]
    is_plain: bool = False
    messages: list[dict[str, Any]] = field(default_factory=list)
    spans: list[Span | None] = field(default_factory=list)
    blocks: dict[int, Any] = field(default_factory=dict)
    kinds: set[str] = field(default_factory=set)

    def add(self, message: dict[str, Any], span: Span | None) -> None:
        message[ORIGIN] = len(self.messages)
        self.messages.append(message)
        self.spans.append(span)

    def to_part(self, block: Any) -> Any:
        """Return a content part of Chat Completions for a block, and remember the block.

        What a provider's compaction says stands for what was before it, so it is read like any text.
        """
        if part_type(block) == "text":
            return block
        part = _image_part(block)
        if has_type(block, COMPACTIONS) and isinstance(block.get("content"), str):
            part = {"type": "text", "text": block["content"]}
        if part is None:
            return block
        self.blocks[id(part)] = block
        return part


def read_anthropic_messages(body: Mapping[str, Any], *, is_plain: bool = False) -> WireConversation:
    """Read a body of ``/v1/messages``.

    Args:
        body: the body.
        is_plain: ``sizes`` has found nothing but texts, calls, results and thoughts in it, so what else there
            may be is not looked for again.
    """
    given = body.get("messages")
    items = given if isinstance(given, list) else ()
    try:
        reading = _read(items, body.get("system"), is_plain=is_plain)
    except RecursionError:
        # Nested deeper than can be copied: it is read without being kept.
        reading = _read(items, body.get("system"), is_plain=False)
    kinds = reading.kinds
    return WireConversation(
        "messages",
        reading.messages,
        to_chat_body(body),
        lambda sent: _write(reading, sent, keeps_uploads=not body.get("container")),
        LOADS_TOOLS if kinds & STATEFUL_BLOCKS else None,
        OWN_COMPACTION if kinds & COMPACTIONS or asks_to_manage(body) else None,
    )


def _read(items: Sequence[Item], system: Any, *, is_plain: bool) -> _Reading:
    reading = _Reading(items, is_plain)
    if system:
        reading.add({"role": "system", "content": system}, None)
    if is_plain:
        _read_plain_items(reading)
        return reading
    for number, item in enumerate(items):
        _read_item(reading, number, item)
    return reading


def to_chat_body(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return a body without its messages; its other fields have the names of Chat Completions."""
    return {name: value for name, value in body.items() if name not in ("messages", "system")}


def asks_to_manage(body: Mapping[str, Any]) -> bool:
    """Tell whether the provider is asked to shorten this history.

    Coding agents ask with every request to have thoughts cleared, or kept; that bounds no history.
    """
    management = body.get("context_management")
    edits = management.get("edits") if isinstance(management, Mapping) else None
    kinds = [part_type(edit) for edit in edits] if isinstance(edits, list) else [management]
    return any(kind and not str(kind).startswith(KEEPS_HISTORY) for kind in kinds)


def _kinds_of(blocks: Any, depth: int = DEPTH) -> set[str]:
    """Return the kinds of some blocks and of those within them, in one pass: there may be thousands."""
    found: set[str] = set()
    for block in blocks if isinstance(blocks, list) else (blocks,):
        kind = block.get("type") if isinstance(block, dict) else None
        if kind == "text" or kind is None:
            continue
        found.add(str(kind))
        for name in NESTED if depth > 0 else ():
            if (inner := block.get(name)) and not isinstance(inner, str):
                found |= _kinds_of(inner, depth - 1)
    return found


def _read_plain_items(reading: _Reading) -> None:
    """Read the items of a plain body; what an earlier call has brought is taken over as it was read then.

    Copies are read: the messages are kept, and whoever gets the items may edit them.
    """
    offset, start = len(reading.messages), 0
    known_here = known_items.at(offset)
    beginning = known_here.find(reading.items)
    if beginning is not None:
        start, read = beginning.length, beginning.known.read
        end = bisect_left(read.spans, start, key=lambda span: span[0])
        reading.messages += read.messages[:end]
        reading.spans += read.spans[:end]
    for number in range(start, len(reading.items)):
        _read_item(reading, number, copy_value(reading.items[number]))
    read = ReadItems(tuple(reading.messages[offset:]), tuple(reading.spans[offset:]), {})
    known_here.keep(reading.items, read, beginning)


def _read_item(reading: _Reading, number: int, item: Item) -> None:
    is_object = type(item) is dict or isinstance(item, Mapping)
    content = item.get("content") if is_object else None
    if not isinstance(content, list):
        # A string is the same in both forms; nonsense is left to whoever parses the transcript.
        reading.add(dict(item) if is_object else {"role": None}, (number, 0, None))
        return
    if (text := sole_text(content, TEXTS)) is not None:
        reading.add({"role": item.get("role"), "content": text}, (number, 0, None))
        return
    if not reading.is_plain:
        reading.kinds |= _kinds_of(content)
    if item.get("role") == "assistant":
        reading.add(_read_assistant(reading, content), (number, 0, None))
    else:
        _read_user(reading, number, item)


def _read_assistant(reading: _Reading, blocks: Sequence[Any]) -> dict[str, Any]:
    parts, calls, thinking = list[Any](), list[Any](), list[Any]()
    for block in blocks:
        # Nearly all are texts: asked first, and without a function of its own for each question.
        kind = block.get("type") if type(block) is dict else None
        if kind == "text":
            parts.append(block)
        elif kind == "tool_use" or is_call(block):
            calls.append(_to_call(block))
        elif is_thinking(block):
            thinking.append(block)
        else:
            parts.append(reading.to_part(block))
    message: dict[str, Any] = {"role": "assistant", "content": (sole_text(parts, TEXTS) or parts) or None}
    if calls:
        message["tool_calls"] = calls
    if thinking:
        message["thinking_blocks"] = thinking
    return message


def _to_call(block: Mapping[str, Any]) -> dict[str, Any]:
    arguments = block.get("input")
    if type(arguments) is not dict or not arguments:
        arguments = json.dumps(arguments, ensure_ascii=False, default=repr)
    function = {"name": block.get("name"), "arguments": arguments}
    return {"id": block.get("id"), "type": "function", "function": function}


def _read_user(reading: _Reading, number: int, item: Mapping[str, Any]) -> None:
    blocks, start = item["content"], 0
    if len(blocks) == 1 and is_result(blocks[0]):
        reading.add(_to_result(reading, blocks[0]), (number, 0, 1))
        return
    while start < len(blocks):
        stop = start + 1
        if is_result(blocks[start]):
            reading.add(_to_result(reading, blocks[start]), (number, start, stop))
        else:
            while stop < len(blocks) and not is_result(blocks[stop]):
                stop += 1
            parts = [reading.to_part(block) for block in blocks[start:stop]]
            content = sole_text(parts, TEXTS) or parts
            reading.add({"role": item.get("role"), "content": content}, (number, start, stop))
        start = stop
    if not blocks:
        reading.add({"role": item.get("role"), "content": blocks}, (number, 0, None))


def _to_result(reading: _Reading, block: Mapping[str, Any]) -> dict[str, Any]:
    content = block.get("content")
    if isinstance(content, list):
        content = sole_text(content, TEXTS) or [reading.to_part(part) for part in content]
    message = {"role": "tool", "tool_call_id": block.get("tool_use_id"), "content": content}
    if block.get("cache_control"):
        message["cache_control"] = block["cache_control"]
    return message


def _image_part(block: Any) -> dict[str, Any] | None:
    """Return an image as Chat Completions writes it, so that it means the same; None for everything else."""
    source = block.get("source") if has_type(block, frozenset({"image"})) else None
    if not isinstance(source, Mapping):
        return None
    if source.get("type") == "base64":
        url = f"data:{source.get('media_type')};base64,{source.get('data')}"
    elif source.get("type") == "url":
        url = str(source.get("url"))
    else:
        return None
    part: dict[str, Any] = {"type": "image_url", "image_url": {"url": url}}
    return part if block.get("cache_control") is None else {**part, "cache_control": block["cache_control"]}


def _write(reading: _Reading, sent: Sequence[Message], *, keeps_uploads: bool) -> list[Item]:
    """Return the messages for the body; ``system`` stays where it is, since it is never changed.

    With ``keeps_uploads`` the files of messages that are left out are put into the container all the same.
    """
    pieces: list[_Piece] = []
    for message in sent:
        piece = _to_piece(reading, message)
        if piece is None:
            continue
        last = pieces[-1] if pieces else None
        same_item = last is not None and piece.item is not None and last.item == piece.item
        # The client's own neighbours of one role are left apart, as it sent them.
        ours = last is not None and (piece.item is None or last.item is None)
        if last is not None and last.role == piece.role and (same_item or ours):
            last.blocks = [*_as_blocks(last.blocks), *_as_blocks(piece.blocks)]
            last.is_changed = last.is_changed or piece.is_changed or not same_item
        else:
            pieces.append(piece)
    if keeps_uploads and reading.kinds & UPLOADS:
        _add_uploads(reading, sent, pieces)
    return [_to_item(reading, piece) for piece in pieces]


def _add_uploads(reading: _Reading, sent: Sequence[Message], pieces: Sequence[_Piece]) -> None:
    """Put what left messages upload into the first piece of ours; a container named in the body has it."""
    ours = next((piece for piece in pieces if piece.is_changed and piece.role == "user"), None)
    if ours is None:
        return
    kept = {origin_of(message) for message in sent}
    left = [message for number, message in enumerate(reading.messages) if number not in kept]
    uploads = [part for message in left for part in parts_of(message) if has_type(part, UPLOADS)]
    if uploads:
        ours.blocks = [*_as_blocks(ours.blocks), *uploads]


def _to_piece(reading: _Reading, message: Message) -> _Piece | None:
    origin = origin_of(message)
    if origin is None:
        return _Piece(str(message["role"]), None, message["content"], is_changed=True)
    span = reading.spans[origin]
    if span is None:
        return None
    number, start, stop = span
    item = reading.items[number]
    content, is_changed = item.get("content"), reading.messages[origin] is not message
    if not is_changed:
        blocks = content[start:stop] if isinstance(content, list) else content
    elif not isinstance(content, list):
        blocks = message.get("content")
    elif message["role"] == "assistant":
        blocks = list(_rebuild_assistant(reading, content, message))
    elif message["role"] == "tool":
        blocks = [_rebuild_result(reading, content[start], message)]
    else:
        blocks = _as_blocks(_to_blocks(reading, message.get("content")))
    # What was read of a plain body is kept for later calls, and what is sent may be edited by the host.
    blocks = copy_value(blocks) if is_changed and reading.is_plain else blocks
    return _Piece(str(item.get("role")), number, blocks, is_changed)


def _rebuild_assistant(reading: _Reading, blocks: Sequence[Any], message: Message) -> Iterator[Any]:
    """Yield an assistant's blocks with the texts of a changed copy, everything else in its place."""
    parts = iter(_as_blocks(_to_blocks(reading, message.get("content"))))
    for block in blocks:
        if is_call(block) or is_thinking(block):
            yield block
        else:
            yield from _next_of(parts)
    yield from parts


def _next_of(parts: Iterator[Any]) -> Iterable[Any]:
    for part in parts:
        return (part,)
    return ()


def _rebuild_result(reading: _Reading, block: Mapping[str, Any], message: Message) -> dict[str, Any]:
    rebuilt = {**block, "content": _to_blocks(reading, message.get("content"))}
    if "cache_control" in rebuilt and "cache_control" not in message:
        del rebuilt["cache_control"]
    return rebuilt


def _to_blocks(reading: _Reading, content: Any) -> Any:
    """Return the blocks that a message's content came from; texts and what is new are blocks already."""
    return [reading.blocks.get(id(part), part) for part in content] if isinstance(content, list) else content


def _as_blocks(content: Any) -> list[Any]:
    if isinstance(content, list):
        return content
    return [{"type": "text", "text": content}] if content else []


def _to_item(reading: _Reading, piece: _Piece) -> Item:
    if piece.item is None:
        return {"role": piece.role, "content": piece.blocks}
    item = reading.items[piece.item]
    if not piece.is_changed and (piece.blocks is item.get("content") or piece.blocks == item.get("content")):
        return item
    return {**item, "content": piece.blocks}
