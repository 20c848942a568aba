"""Media in messages: pictures, sounds, videos and files, whatever part carries them.

What is covered by a summary is gone for the model: it must be told that there was a file, and which one, or
it answers as if it still saw it. What a part is called does not tell what it holds (a PDF comes as an image),
so what it embeds decides, and only where that tells nothing its name.
"""

from __future__ import annotations

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
# Words in the type of a part, such as ``input_audio``, ``video_url``, ``document``: a type that nobody knows
# yet is told by them too.
KIND_WORDS: tuple[tuple[str, Kind], ...] = (
    ("image", "image"),
    ("audio", "audio"),
    ("video", "video"),
    ("file", "file"),
    ("document", "file"),
)
NAME_FIELDS = ("filename", "file_name", "title", "name")
ADDRESS_FIELDS = ("url", "file_url", "image_url", "audio_url", "video_url", "uri", "file_uri", "file_id")
# Beginnings of an address; what stands in such a field otherwise is the data itself.
ADDRESSES = ("http://", "https://", "gs://", "s3://", "file-")
# In characters: of a longer name or address nobody reads more.
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
    """Return the media of a message in order, also those inside the results that its parts hold."""
    found = [media for part in parts_of(message) for media in _find_media(part)]
    if isinstance(message.get("audio"), Mapping):
        # What a model said aloud; only its id is sent again.
        found.append(Media("audio", ""))
    return found


def read_media(part: Any) -> Media | None:
    """Return the medium that a part carries, or None where it carries none, or of an unknown kind."""
    if not isinstance(part, Mapping) or has_type(part, TEXT_PARTS):
        return None
    if is_thinking(part):
        return None
    # A call is named after what it works on, not after what it holds: ``file_search_call``.
    declared = "" if is_any_call(part) or is_any_result(part) else str(part_type(part))
    kind: Kind | None = next((kind for word, kind in KIND_WORDS if word in declared), None)
    media_type = next((embedded.media_type for embedded in embedded_in(part) if embedded.media_type), "")
    if media_type:
        kind = next((kind for word, kind in KIND_WORDS if word == media_type.partition("/")[0]), "file")
    return None if kind is None else Media(kind, _find_name(part))


def _find_media(part: Any) -> Iterator[Media]:
    if is_any_result(part) and has_parts(part):
        for inner in parts_of(part):
            yield from _find_media(inner)
    elif (media := read_media(part)) is not None:
        yield media


def _find_name(part: Mapping[str, Any]) -> str:
    """Return the name of what a part carries, else its address; from the part's fields or its objects'."""
    holders = [part, *(value for value in part.values() if isinstance(value, Mapping))]
    for fields, starts, longest in (
        (NAME_FIELDS, "", LONGEST_NAME),
        (ADDRESS_FIELDS, ADDRESSES, LONGEST_ADDRESS),
    ):
        for value in (holder.get(field) for holder in holders for field in fields):
            if isinstance(value, str) and value.startswith(starts) and value.strip():
                return " ".join(value[:longest].split())
    return ""
