"""The size of a picture, out of its header, and what providers ask for it."""

from __future__ import annotations

import base64
import struct
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway_compaction.core.tokens.counter import TokenCounter
from gateway_compaction.core.tokens.pictures import PRICES, UNKNOWN_SIZE, decode_at, price_picture, read_size
from tests.core.search import search

SIZES = [(1, 1), (640, 480), (4000, 3000), (9000, 17)]


def encoded(data: bytes) -> str:
    return base64.b64encode(data).decode()


def png(width: int, height: int) -> bytes:
    return b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sII", 13, b"IHDR", width, height) + bytes(60)


def jpeg(width: int, height: int, camera: int = 70_000) -> bytes:
    """A JPEG whose size stands behind what a camera writes: two segments, one as long as may be."""
    told = b"\xff\xe0\x00\x10JFIF" + bytes(10)
    while camera > 0:
        length = min(camera, 65_533)
        told += b"\xff\xe1" + struct.pack(">H", length + 2) + bytes(length)
        camera -= length
    return b"\xff\xd8" + told + b"\xff\xc2\x00\x11\x08" + struct.pack(">HH", height, width) + bytes(60)


def gif(width: int, height: int) -> bytes:
    return b"GIF89a" + struct.pack("<HH", width, height) + bytes(60)


def webp(width: int, height: int, kind: bytes) -> bytes:
    if kind == b"VP8X":
        body = bytes(4) + (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little")
    elif kind == b"VP8L":
        body = b"\x2f" + (width - 1 | (height - 1) << 14).to_bytes(4, "little")
    else:
        body = b"\x00\x00\x00\x9d\x01\x2a" + struct.pack("<HH", width, height)
    return b"RIFF\x00\x00\x00\x00WEBP" + kind + bytes(4) + body + bytes(60)


def image(payload: str, media_type: str = "image/png", **more: str) -> dict[str, Any]:
    return {"type": "image_url", "image_url": {"url": f"data:{media_type};base64,{payload}", **more}}


def tokens(part: dict[str, Any], model: str = "gpt-4o") -> int:
    """Tokens of one part, the framing of its message taken off."""
    return TokenCounter().raw_message_tokens({"role": "user", "content": [part]}, model) - 4


class TestSize:
    """Width and height, whatever stands before them."""

    @pytest.mark.parametrize("size", SIZES)
    def test_of_every_format(self, size: tuple[int, int]) -> None:
        made = [png(*size), jpeg(*size), jpeg(*size, camera=0), gif(*size)]
        made += [webp(*size, kind) for kind in (b"VP8X", b"VP8L", b"VP8 ")]
        assert [read_size(encoded(data)) for data in made] == [size] * len(made)

    def test_it_is_read_in_either_alphabet(self) -> None:
        data = jpeg(4000, 3000, camera=300)
        assert read_size(base64.urlsafe_b64encode(data).decode()) == (4000, 3000)

    @pytest.mark.parametrize(
        "data",
        [
            b"",
            b"GIF89a",
            b"\x89PNG\r\n\x1a\nNONE" + bytes(20),
            png(0, 5),
            b"\xff\xd8" + b"\xff\xe1\x00\x02" * 500,
            b"\xff\xd8\xff\xe1\xff\xff",
            b"RIFF\x00\x00\x00\x00WAVE" + bytes(30),
            bytes(200),
        ],
    )
    def test_nonsense_has_none(self, data: bytes) -> None:
        assert read_size(encoded(data)) is None

    @search
    @given(st.text(max_size=60) | st.binary(max_size=80).map(encoded))
    def test_nothing_raises(self, payload: str) -> None:
        assert read_size(payload) is None or price_picture("crops", payload, is_low=False) >= 258

    @search
    @given(st.binary(min_size=1, max_size=200), st.integers(0, 199), st.integers(1, 40))
    def test_the_middle_is_decoded_as_the_whole_is(self, data: bytes, start: int, length: int) -> None:
        assert decode_at(encoded(data), start, length) == data[start : start + length]


class TestPrices:
    """What each provider's own page says of some sizes."""

    @pytest.mark.parametrize(
        ("model", "size", "price"),
        [
            ("gpt-4o", (1024, 1024), 765),
            ("gpt-4o", (2048, 4096), 1105),
            ("gpt-4o", (4000, 4000), 765),
            ("somebody-s-model", (1024, 1024), 765),
            ("claude-sonnet-4-5", (200, 200), 54),
            ("claude-sonnet-4-5", (1000, 1000), 1334),
            ("claude-sonnet-4-5", (4000, 4000), 1600),
            ("gemini-2.5-pro", (384, 384), 258),
            ("gemini-2.5-pro", (4000, 4000), 9288),
            ("qwen2.5-vl", (560, 280), 200),
            ("qwen2.5-vl", (9000, 9000), 16_384),
        ],
    )
    def test_by_model(self, model: str, size: tuple[int, int], price: int) -> None:
        assert tokens(image(encoded(png(*size))), model) == price

    @pytest.mark.parametrize(("model", "price"), [("gpt-4o", 85), ("gemini-2.5-pro", 9288)])
    def test_low_detail_is_openai_s(self, model: str, price: int) -> None:
        assert tokens(image(encoded(png(4000, 4000)), detail="low"), model) == price

    def test_of_an_unknown_size(self) -> None:
        assert tokens({"type": "image_url", "image_url": {"url": "https://x.y/a.png"}}) == UNKNOWN_SIZE
        assert tokens(image(encoded(bytes(3000)))) == UNKNOWN_SIZE

    @search
    @given(st.sampled_from(sorted(PRICES)), st.integers(1, 10**6), st.integers(1, 10**6))
    def test_every_size_has_one(self, rule: Any, width: int, height: int) -> None:
        assert PRICES[rule](width, height) > 0

    def test_one_message_costs_each_model_its_own(self) -> None:
        counter = TokenCounter()
        message = {"role": "user", "content": [image(encoded(png(4000, 4000)))]}
        prices = [counter.raw_message_tokens(message, m) for m in ("gpt-4o", "gemini-2.5-pro", "gpt-4o")]
        assert prices == [769, 9292, 769]


class TestKind:
    """What is embedded is what its media type says, whatever the part is called."""

    PDF = encoded(b"%PDF-1.7" + bytes(450_000))
    PNG = encoded(png(4000, 4000) + bytes(3000))

    @pytest.mark.parametrize(
        "part",
        [
            image(PDF, "application/pdf"),
            image(PDF, "application/octet-stream"),
            {"type": "input_image", "image_url": f"data:application/pdf;base64,{PDF}"},
            {
                "type": "file",
                "file": {"filename": "a", "file_data": f"data:application/pdf;base64,{PDF}"},
            },
            {"type": "file", "file": {"file_data": PDF}},
            {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": PDF}},
            {"type": "image", "source": {"type": "base64", "media_type": "application/pdf", "data": PDF}},
        ],
    )
    def test_a_pdf_is_a_file(self, part: dict[str, Any]) -> None:
        assert 450_000 // 20 <= tokens(part) <= 450_100 // 20

    @pytest.mark.parametrize(
        "part",
        [
            image(PNG),
            image(PNG, "application/octet-stream"),
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}},
            {"type": "image", "source": {"type": "base64", "data": PNG}},
            {"type": "file", "file": {"filename": "a.png", "file_data": f"data:image/png;base64,{PNG}"}},
            {"type": "document", "source": {"media_type": "image/png", "data": PNG}},
        ],
    )
    def test_a_picture_is_a_picture(self, part: dict[str, Any]) -> None:
        assert tokens(part, "gemini-2.5-pro") == 9288

    def test_a_picture_in_a_part_of_tomorrow_costs_the_rest_of_the_part_besides(self) -> None:
        part = {
            "type": "screen",
            "shots": [{"src": f"data:image/png;base64,{self.PNG}"}],
            "title": "Two words",
        }
        assert 9288 < tokens(part, "gemini-2.5-pro") < 9288 + 40

    def test_a_sound_in_a_file(self) -> None:
        part = {"type": "file", "file": {"file_data": f"data:audio/mpeg;base64,{'A' * 64_000}"}}
        assert tokens(part) == 1 + 48_000 // 1600

    def test_a_text_file_is_no_cheaper_than_its_text(self) -> None:
        text = "All is well in the garden, and the shed is dry. " * 500
        embedded = {"file_data": f"data:text/plain;base64,{encoded(text.encode())}"}
        assert tokens({"type": "file", "file": embedded}) >= 0.9 * TokenCounter().raw_tokens(text, "gpt-4o")
        plain = {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": text}}
        assert tokens(plain) == TokenCounter().raw_tokens(text, "gpt-4o")
