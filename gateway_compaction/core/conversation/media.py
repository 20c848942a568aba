"""Media in messages: pictures, sounds, videos and files, whatever part carries them.

What is covered by a summary is gone for the model: it must be told that there was a file, and which one, or
it answers as if it still saw it. What a part is called does not tell what it holds (a PDF comes as an image),
so what it embeds decides, and only where that tells nothing its fields and its name. Parts of types that
nobody has heard of carry a file as soon as a field is a media type, an address, or the name or id of a file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Literal, NamedTuple

from gateway_compaction.core.conversation.messages import Message, has_parts, parts_of
from gateway_compaction.core.conversation.parts import (
    TEXT_PARTS,
    embedded_in,
    has_type,
    is_any_call,
    is_any_result,
    is_thinking,
    part_type,
)

Kind = Literal["image", "audio", "video", "file"]
# Words in the type of a part, such as ``input_audio``, ``video_url``, ``document``, and in the names of a
# message's fields. A part of a type with none of them carries a file if a field of it says so.
KIND_WORDS: Mapping[str, Kind] = {
    "image": "image",
    "audio": "audio",
    "video": "video",
    "file": "file",
    "document": "file",
    "attachment": "file",
}
WORD = re.compile(r"[A-Z]?[a-z]+")
MEDIA_TYPE = re.compile(r"(?:image|audio|video|application|text)/[\w.+-]{1,80}(?:;.*)?")
# Names of fields, without capitals and underscores: each provider spells them in its own way. A title or a
# name alone makes no file; it names one.
FILE_NAMES = ("filename", "title", "name", "displayname")
FILE_IDS = ("fileid",)
ADDRESS_ENDINGS = ("url", "uri")
ADDRESS = re.compile(r"(?!data:)[a-z][a-z0-9+.-]{1,20}:\S")
# How deep in a part such fields are looked for.
FIELD_DEPTH = 2
# In characters: what is longer is no name that anybody reads.
LONGEST_NAME = 200
LONGEST_ADDRESS = 500


class Media(NamedTuple):
    """A picture, sound, video or file in a message.

    Attributes:
        kind: what it is.
        name: its file name, else its address; empty where it has neither. A stranger's text, in one line.
    """

    kind: Kind
    name: str


def media_of(message: Message) -> list[Media]:
    """Return the media of a message in order, those of results in its parts among them."""
    return [*(media for part in parts_of(message) for media in _find_media(part)), *attached_media(message)]


def attached_media(message: Message) -> list[Media]:
    """Return the media that stand beside the content of a message: Ollama's ``images``, ``attachments``."""
    found = []
    if isinstance(message.get("audio"), Mapping):
        # What a model said aloud; only its id is sent again.
        found.append(Media("audio", ""))
    for field, held in message.items():
        if isinstance(held, list) and (kind := _kind_of_words(str(field))) is not None:
            found += [_read_attached(item, kind) for item in held if isinstance(item, str | Mapping)]
    return found


def read_media(part: Any) -> Media | None:
    """Return what a part carries, or None for a text, a call, a result and what nobody knows.

    What it embeds tells its kind, else a media type in it, else a word in its own type. Where none does, an
    address, a file's name or id make it a file.
    """
    if not isinstance(part, Mapping) or has_type(part, TEXT_PARTS):
        return None
    if is_thinking(part):
        return None
    embedded = list(embedded_in(part))
    told = next((one.media_type for one in embedded if one.media_type), "")
    if told:
        return Media(_kind_of_type(told), _find_name(part))
    if is_any_call(part) or is_any_result(part):
        # The addresses that a provider's tool was given, or found, are read as its call and its result.
        return None
    kind = _kind_of_fields(part) or _kind_of_words(str(part_type(part)))
    if kind is None and (embedded or _names_file(part)):
        kind = "file"
    return None if kind is None else Media(kind, _find_name(part))


def _find_media(part: Any) -> Iterator[Media]:
    if is_any_result(part) and has_parts(part):
        for inner in parts_of(part):
            yield from _find_media(inner)
    elif (media := read_media(part)) is not None:
        yield media


def _read_attached(item: str | Mapping[str, Any], kind: Kind) -> Media:
    if isinstance(item, str):
        return Media(kind, _shown_address(item) if ADDRESS.match(item) else "")
    return read_media(item) or Media(kind, _find_name(item))


def _kind_of_type(media_type: str) -> Kind:
    return KIND_WORDS.get(media_type.partition("/")[0], "file")


def _kind_of_words(name: str) -> Kind | None:
    """Return the kind that a word in a name says, in the singular or the plural."""
    words = (word.lower() for word in WORD.findall(name))
    return next((KIND_WORDS[w] for word in words if (w := word.removesuffix("s")) in KIND_WORDS), None)


def _kind_of_fields(part: Mapping[str, Any]) -> Kind | None:
    """Return the kind that a field with a media type says: ``mimeType``, ``media_type``, ``format``."""
    return next(
        (_kind_of_type(value) for _, value in _list_fields(part) if MEDIA_TYPE.fullmatch(value)), None
    )


def _names_file(part: Mapping[str, Any]) -> bool:
    """Tell whether a part has an address, or names a file."""
    return any(_is_address(name, value) or name in FILE_NAMES[:1] for name, value in _list_fields(part))


def _find_name(part: Mapping[str, Any]) -> str:
    """Return the name or the address that a part gives for what it carries, from it or from what it holds."""
    fields = list(_list_fields(part))
    for wanted in FILE_NAMES:
        for value in (value for name, value in fields if name == wanted):
            return " ".join(value[:LONGEST_NAME].split())
    return next((_shown_address(value) for name, value in fields if _is_address(name, value)), "")


def _is_address(name: str, value: str) -> bool:
    return name in FILE_IDS or (name.endswith(ADDRESS_ENDINGS) and bool(ADDRESS.match(value)))


def _shown_address(value: str) -> str:
    return " ".join(value[:LONGEST_ADDRESS].split())


def _list_fields(part: Mapping[str, Any], depth: int = FIELD_DEPTH) -> Iterator[tuple[str, str]]:
    """List the fields of a part that hold something, and of what it holds, by their plain names."""
    inner = []
    for key, value in part.items():
        if isinstance(value, str) and value.strip():
            yield str(key).replace("_", "").lower(), value
        elif isinstance(value, Mapping):
            inner.append(value)
    if depth:
        for held in inner:
            yield from _list_fields(held, depth - 1)
