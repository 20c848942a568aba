"""The parts that a message's content may be a list of: texts, images, calls, results, thinking.

Clients send parts of three endpoints' making (Chat Completions, Anthropic Messages, Responses), and parts of
kinds that nobody has heard of. All that is known of their keys stands here and in ``messages``, so that
another form is a change of one package. Functions that take ``Any`` take strings and nonsense too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

TEXT_PARTS = frozenset({"text", "input_text", "output_text"})
# The part in which an assistant declines, with its words in a field of that name.
REFUSAL = "refusal"
THINKING_PARTS = frozenset({"thinking", "redacted_thinking"})
# Of tools that the client runs: a result stands in a later message.
CALL_PARTS = frozenset({"tool_use"})
RESULT_PARTS = frozenset({"tool_result"})
# How the types of calls and results end, whoever runs the tool: ``server_tool_use``, ``web_search_call``,
# ``mcp_tool_result``, ``computer_call_output``, ``search_result``. A provider's new tool is read by them.
CALL_ENDINGS = ("tool_use", "_call")
RESULT_ENDINGS = ("_result", "_output", "_response")
# Fields that say what a call is of, and what it is made with; without one of the latter all the others do.
CALL_NAMES = ("name", "toolName")
CALL_PAYLOADS = ("input", "arguments", "args", "parameters", "action")
# Fields of a call in which some providers put what came of it.
OUTCOME_FIELDS = frozenset({"content", "output", "outputs", "result", "results", "error"})
# Fields that tell a reader nothing: ids, states, and what only a provider can read.
MUTE_FIELD = re.compile(
    r"(?:.*_)?ids?|[a-z]\w*Id|(?:.*_)?type|status|role|citations|annotations|attributes|cache_control|caller"
    r"|encrypted.*|(?:.*_)?signature|server_label|detail"
)
# Of a document: fields, and types of its source, that hold its text as it is.
DOCUMENT_FIELDS = ("source", "document", "content", "text")
PLAIN_SOURCES = frozenset({"text", "content"})
IMAGE_PARTS = frozenset({"image_url", "input_image", "image"})
AUDIO_PARTS = frozenset({"input_audio"})
DOCUMENT_PARTS = frozenset({"document"})
FILE_PARTS = DOCUMENT_PARTS | {"file", "input_file"}
# Seconds, by the ``ttl`` of a mark; without one it lives the shorter time.
CACHE_LIFETIMES = {"5m": 300, "1h": 3_600}

# How deep in a part something embedded is looked for: a source in a result's part lies three levels down.
DEPTH = 4
DATA_URL = re.compile(r"data:([\w/+.-]{0,100})[\w;=.+-]{0,100};base64,")
# So much in the alphabet of base64 without a space is no word.
BARE_BASE64 = re.compile(r"[A-Za-z0-9+/=_-]{1000}")
MEDIA_TYPE = re.compile(r"[a-z]{2,20}/[\w.+-]{1,80}")
# How files of common kinds begin, in base64.
BEGINNINGS = (
    ("iVBORw0KGgo", "image/png"),
    ("/9j/", "image/jpeg"),
    ("R0lGOD", "image/gif"),
    ("JVBERi", "application/pdf"),
)


class Embedded(NamedTuple):
    """Something that a part carries in base64.

    Attributes:
        media_type: what it is, as the data URL, a field beside it or its own beginning tells; empty where
            nothing does.
        payload: the base64 itself.
    """

    media_type: str
    payload: str

    @property
    def size(self) -> int:
        """Its size in bytes."""
        return len(self.payload) * 3 // 4


def embedded_in(part: Any, depth: int = DEPTH) -> Iterator[Embedded]:
    """Yield what a part carries in base64, wherever in it that stands.

    What a part is called does not tell what it holds: PDFs come as images, and images in results.
    """
    if isinstance(part, str):
        if (found := _read_embedded(part, "")) is not None:
            yield found
    elif isinstance(part, Mapping) and depth:
        told = next((v for v in part.values() if isinstance(v, str) and MEDIA_TYPE.fullmatch(v)), "")
        for value in part.values():
            if isinstance(value, str):
                if (found := _read_embedded(value, told)) is not None:
                    yield found
            else:
                yield from embedded_in(value, depth - 1)
    elif isinstance(part, list) and depth:
        for item in part:
            yield from embedded_in(item, depth - 1)


def without_embedded(part: Any, depth: int = DEPTH) -> Any:
    """Return a part without what ``embedded_in`` finds in it, and without its cache mark."""
    if isinstance(part, Mapping) and depth:
        items = ((k, without_embedded(v, depth - 1)) for k, v in part.items() if k != "cache_control")
        # What held nothing else is not told either.
        return {k: v for k, v in items if v is not None and (v != {} or part[k] == {})}
    if isinstance(part, list) and depth:
        return [without_embedded(item, depth - 1) for item in part]
    return None if isinstance(part, str) and _read_embedded(part, "") is not None else part


def _read_embedded(text: str, told: str) -> Embedded | None:
    if len(text) < 20:
        return None
    if (url := DATA_URL.match(text)) is not None:
        payload, told = text[url.end() :], url[1]
    elif BARE_BASE64.match(text):
        payload = text
    else:
        return None
    if not told or told == "application/octet-stream":
        told = next((kind for beginning, kind in BEGINNINGS if payload.startswith(beginning)), told)
    return Embedded(told, payload)


def part_type(part: Any) -> Any:
    """Return the type that a part says it is of, as it came; None for what is no part."""
    return part.get("type") if isinstance(part, Mapping) else None


def has_type(part: Any, types: frozenset[str]) -> bool:
    """Tell whether a part is of one of some types."""
    # Asked of every part of every request, nearly all of which are plain dictionaries.
    return (type(part) is dict or isinstance(part, Mapping)) and str(part.get("type")) in types


def is_text(part: Any) -> bool:
    """Tell whether a part is a text of Chat Completions: those of other endpoints do not count."""
    return isinstance(part, Mapping) and part.get("type") == "text"


def part_text(part: Any) -> str | None:
    """Return the text of a part of type ``text``; None for other parts, and where the text is no string.

    ``messages.text_of`` reads the text parts of the Responses endpoint besides.
    """
    text = part.get("text") if is_text(part) else None
    return text if isinstance(text, str) else None


def is_thinking(part: Any) -> bool:
    """Tell whether a part holds what a model thought, readable or not."""
    return has_type(part, THINKING_PARTS)


def is_call(part: Any) -> bool:
    """Tell whether a part is a call that the client answers in a later message, as Anthropic writes it."""
    return has_type(part, CALL_PARTS)


def is_result(part: Any) -> bool:
    """Tell whether a part is a result from the client, as Anthropic writes it, with content like a message's.

    ``is_any_result`` knows those of providers' own tools besides, to which no rules of order apply.
    """
    return has_type(part, RESULT_PARTS)


def is_any_call(part: Any) -> bool:
    """Tell whether a part is a call of a tool, be it the client's or one that the provider runs itself."""
    return _ends_with(part, CALL_ENDINGS)


def is_any_result(part: Any) -> bool:
    """Tell whether a part is the result of a tool, be it the client's or one that the provider runs."""
    return _ends_with(part, RESULT_ENDINGS)


def call_name(part: Mapping[str, Any]) -> Any:
    """Return what tool a call's part is of: the name in it, or what its type says."""
    named = (part[field] for field in CALL_NAMES if part.get(field))
    return next(named, str(part.get("type")).removesuffix("_call"))


def call_payload(part: Mapping[str, Any]) -> Any:
    """Return what a call's part says that the tool is called with."""
    for field in CALL_PAYLOADS:
        if part.get(field) is not None:
            return part[field]
    mute = OUTCOME_FIELDS.union(CALL_NAMES)
    return {k: v for k, v in part.items() if k not in mute and not MUTE_FIELD.fullmatch(str(k))}


def find_brought_texts(part: Any) -> list[str]:
    """Return the texts that a part brings in: a result's, a document's, what came of a provider's call.

    Of a document in base64 or at an address nothing is known but its name, which ``media`` reads.
    """
    if is_any_call(part):
        return [*_find_strings({name: part[name] for name in part if name in OUTCOME_FIELDS}, DEPTH)]
    if is_any_result(part) or _is_plain_document(part):
        return [*_find_strings(part, DEPTH + 2)]
    return []


def find_tool_texts(part: Any) -> list[str]:
    """Return the texts in a part of a tool's own message, whatever it is called: ``json``, ``resource``.

    All of it is the tool's. What carries media has none: a name alone would pass for what the tool said.
    """
    if is_file(part) or next(embedded_in(part), None) is not None:
        return []
    return [*_find_strings(part, DEPTH + 2)]


def _ends_with(part: Any, endings: tuple[str, ...]) -> bool:
    kind = part.get("type") if type(part) is dict or isinstance(part, Mapping) else None
    return isinstance(kind, str) and kind.replace("-", "_").endswith(endings)


def _is_plain_document(part: Any) -> bool:
    """Tell whether a part is a document whose text stands in it."""
    if not has_type(part, DOCUMENT_PARTS):
        return False
    held = next((part[field] for field in DOCUMENT_FIELDS if part.get(field)), None)
    return isinstance(held, (str, list)) or (
        isinstance(held, Mapping) and str(held.get("type", "text")) in PLAIN_SOURCES
    )


def _find_strings(value: Any, depth: int) -> Iterator[str]:
    """Yield the strings in what was brought in that somebody can read, in order."""
    if isinstance(value, str):
        if value.strip() and _read_embedded(value, "") is None:
            yield value
    elif isinstance(value, Mapping) and depth and not (is_image(value) or is_audio(value)):
        for name, inner in value.items():
            if not MUTE_FIELD.fullmatch(str(name)):
                yield from _find_strings(inner, depth - 1)
    elif isinstance(value, list) and depth:
        for inner in value:
            yield from _find_strings(inner, depth - 1)


def is_image(part: Any) -> bool:
    """Tell whether a part is one of the three kinds of image that have a known price."""
    return has_type(part, IMAGE_PARTS)


def image_detail(part: Mapping[str, Any]) -> Any:
    """Return the detail in which an image is to be looked at (``low``, ``high``, ``auto``), or None."""
    image = part.get("image_url")
    return image.get("detail") if isinstance(image, Mapping) else part.get("detail")


def is_audio(part: Any) -> bool:
    """Tell whether a part is a sound."""
    return has_type(part, AUDIO_PARTS)


def audio_bytes(part: Mapping[str, Any]) -> int:
    """Return the size of a sound in bytes; 0 where it is not embedded."""
    return _embedded_bytes(part.get("input_audio"))


def is_file(part: Any) -> bool:
    """Tell whether a part is a file or a document."""
    return has_type(part, FILE_PARTS)


def file_bytes(part: Mapping[str, Any]) -> int:
    """Return the size of a file in bytes; 0 where it is not embedded."""
    return _embedded_bytes(part.get("file") or part.get("source"))


def cache_mark_of(part: Any) -> Any:
    """Return the ``cache_control`` of a part or of a message, or None."""
    return part.get("cache_control") if isinstance(part, Mapping) else None


def cache_lifetime(mark: Any) -> int:
    """Return for how many seconds a ``cache_control`` keeps what stands before it."""
    ttl = mark.get("ttl") if isinstance(mark, Mapping) else None
    return CACHE_LIFETIMES.get(str(ttl), CACHE_LIFETIMES["5m"])


def _embedded_bytes(holder: Any) -> int:
    if not isinstance(holder, Mapping):
        return 0
    data = holder.get("data") or holder.get("file_data") or ""
    return len(data) * 3 // 4 if isinstance(data, str) else 0


def copy_value(value: Any) -> Any:
    """Return a copy of a JSON value, which whoever has the value itself cannot edit.

    Raises:
        RecursionError: it is nested deeper than Python follows.
    """
    if type(value) is dict:
        return {name: copy_value(one) for name, one in value.items()}
    return [copy_value(one) for one in value] if type(value) is list else value
