"""Pricing pictures: their size in pixels, read out of their own header, and each provider's rule for it.

A picture of 4,000 by 4,000 pixels costs 765 tokens at one provider and 9,288 at the next; counted with one
price for all, a handful of them fills a window unseen. Only the header is decoded, so that a large picture
costs no more time than a small one.
"""

from __future__ import annotations

import base64
import binascii
import struct
from collections.abc import Callable, Mapping
from math import ceil, sqrt
from types import MappingProxyType
from typing import Literal

PictureRule = Literal["tiles", "area", "crops", "patches"]
"""How a family of models prices a picture: see ``PRICES``."""

# OpenAI's price of a picture at low detail, and of a large one at high detail (85, and 170 a tile, of six).
LOW_DETAIL = 85
UNKNOWN_SIZE = 1105
# Segments of a JPEG that are skipped on the way to its size; cameras write about ten.
MOST_SEGMENTS = 64


def price_picture(rule: PictureRule, payload: str | None, *, is_low: bool) -> int:
    """Return the tokens of a picture.

    Args:
        rule: the rule of the model's family.
        payload: the picture in base64, or None where it is not embedded; then nobody tells its size.
        is_low: the client asks for low detail, which only OpenAI's rule knows.
    """
    if is_low and rule == "tiles":
        return LOW_DETAIL
    size = None if payload is None else read_size(payload)
    return UNKNOWN_SIZE if size is None else PRICES[rule](*size)


def read_size(payload: str) -> tuple[int, int] | None:
    """Return width and height of a PNG, JPEG, GIF or WebP in base64; None where they cannot be read."""
    try:
        head = decode_at(payload, 0, 32)
        if head.startswith(b"\x89PNG\r\n\x1a\n") and head[12:16] == b"IHDR":
            size = struct.unpack(">II", head[16:24])
        elif head.startswith((b"GIF87a", b"GIF89a")):
            size = struct.unpack("<HH", head[6:10])
        elif head.startswith(b"RIFF") and head[8:12] == b"WEBP":
            size = _read_webp_size(head)
        elif head.startswith(b"\xff\xd8"):
            size = _read_jpeg_size(payload)
        else:
            return None
    except (struct.error, binascii.Error, ValueError, IndexError):
        return None
    width, height = size
    return (width, height) if width > 0 and height > 0 else None


def decode_at(payload: str, start: int, length: int) -> bytes:
    """Return some bytes out of the middle of base64, without decoding what stands before them."""
    first = start // 3 * 4
    characters = payload[first : first + (length // 3 + 2) * 4]
    characters += "=" * (-len(characters) % 4)
    return base64.b64decode(characters, altchars=b"-_")[start % 3 :][:length]


def _read_webp_size(head: bytes) -> tuple[int, int]:
    kind = head[12:16]
    if kind == b"VP8X":
        return 1 + int.from_bytes(head[24:27], "little"), 1 + int.from_bytes(head[27:30], "little")
    if kind == b"VP8L":
        bits = int.from_bytes(head[21:25], "little")
        return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
    width, height = struct.unpack("<HH", head[26:30])
    return width & 0x3FFF, height & 0x3FFF


def _read_jpeg_size(payload: str) -> tuple[int, int]:
    """Go from segment to segment up to the one that begins the picture, and return the size that it tells."""
    place = 2
    for _ in range(MOST_SEGMENTS):
        segment = decode_at(payload, place, 9)
        marker, length = segment[1], int.from_bytes(segment[2:4], "big")
        # Of the markers C0 to CF all but these begin a picture.
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack(">HH", segment[5:9])
            return width, height
        if segment[0] != 0xFF or length < 2:
            break
        place += 2 + length
    raise ValueError("a JPEG without a size")


def _price_tiles(width: int, height: int) -> int:
    """OpenAI: scaled into 2,048 square, then to 768 at the shorter side; 85, and 170 a tile of 512."""
    scale = min(1.0, 2048 / max(width, height))
    scale = min(scale, 768 / min(width, height))
    return 85 + 170 * ceil(width * scale / 512) * ceil(height * scale / 512)


def _price_area(width: int, height: int) -> int:
    """Anthropic: scaled to 1,568 at the longer side and about 1,600 tokens, one for 750 pixels."""
    scale = min(1.0, 1568 / max(width, height))
    return min(1600, ceil(width * scale * height * scale / 750))


def _price_crops(width: int, height: int) -> int:
    """Google: 258 where both sides are at most 384, else 258 for each crop of 768 square."""
    if max(width, height) <= 384:
        return 258
    return 258 * ceil(width / 768) * ceil(height / 768)


def _price_patches(width: int, height: int) -> int:
    """Qwen, and open models like it: one for each patch of 28 square, 16,384 at most."""
    scale = min(1.0, sqrt(16_384 * 28 * 28 / (width * height)))
    return min(16_384, ceil(width * scale / 28) * ceil(height * scale / 28))


PRICES: Mapping[PictureRule, Callable[[int, int], int]] = MappingProxyType(
    {"tiles": _price_tiles, "area": _price_area, "crops": _price_crops, "patches": _price_patches}
)
