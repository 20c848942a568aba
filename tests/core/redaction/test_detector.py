"""What is found in a text, and what is not."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway_compaction.core.redaction import detector
from gateway_compaction.core.redaction.assignments import find_named_value
from gateway_compaction.core.redaction.checksums import has_luhn_digit
from gateway_compaction.core.redaction.detector import Detector
from gateway_compaction.core.redaction.escapes import undo_escapes
from gateway_compaction.core.redaction.formats import find_formats
from gateway_compaction.core.redaction.marks import mask_secrets, mask_text
from tests.core.redaction.shapes import HARMLESS, PERSONAL, SHAPES, Shape, make
from tests.lab.data import load

DETECTOR = Detector()
# Must hold: a false mark in so many words at most.
WORDS = 10_000
CAUGHT = 0.95
DATA = (
    *(
        "anthropic_bodies",
        "beam_100k",
        "coding_agents_tools",
        "dialogstudio",
        "edge_hand",
        "korean",
        "locomo",
    ),
    *("mt_bench_101", "multilingual_short", "request_shapes", "responses_bodies", "swe_mini_agent"),
    *("swe_mini_agent_tools", "tau_bench_airline"),
)


def is_caught(shape: Shape, text: str) -> bool:
    """Tell whether nothing that matters of a secret is left in a text."""
    parts = [shape.value[i : i + 12] for i in range(0, len(shape.value) - 11, 6)] or [shape.value]
    return not any(part in text for part in parts)


def strings(value: Any) -> Iterator[str]:
    """Every text in a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for one in value.values():
            yield from strings(one)
    elif isinstance(value, list):
        for one in value:
            yield from strings(one)


def test_there_are_eighty_shapes_at_least_and_each_holds_its_secret() -> None:
    assert len({shape.name for shape in SHAPES}) >= 80
    assert not [shape.name for shape in SHAPES if is_caught(shape, shape.text)]


def test_nearly_all_shapes_are_caught_in_every_surrounding() -> None:
    surroundings = ("{}", "Look:\n{}\nand go on.", "그러니까 {}", '{{"a": 1}} {}', "  {}\r\n")
    texts = [(shape, around.format(shape.text)) for shape in SHAPES for around in surroundings]
    missed = [(shape.name, text) for shape, text in texts if not is_caught(shape, mask_secrets(text))]
    assert len(missed) <= (1 - CAUGHT) * len(texts), missed


@pytest.mark.parametrize("text", HARMLESS)
def test_what_conversations_need_stays(text: str) -> None:
    assert mask_secrets(text) == text


@pytest.mark.parametrize("name", DATA)
def test_recorded_conversations_have_next_to_no_false_mark(name: str) -> None:
    texts = set(strings(load(name)))
    # The recordings hold no secret: whatever is found is false.
    found = [text[f.start : f.end] for text in texts for f in DETECTOR.find(text)]
    assert len(found) <= max(1, sum(len(text.split()) for text in texts) / WORDS), found


@pytest.mark.parametrize("shape", PERSONAL, ids=lambda shape: shape.name)
def test_numbers_and_addresses_of_people_are_an_opt_in(shape: Shape) -> None:
    assert mask_secrets(shape.text) == shape.text
    assert is_caught(shape, mask_text(shape.text, Detector(secrets=False, pii=True)))


def test_a_mark_is_not_masked_again() -> None:
    once = mask_secrets(f"password: hunter2!x and the token {make('t', 40)} is [secret: 1password-token #12]")
    assert once.count("[secret: ") == 3 and mask_secrets(once) == once


def test_a_secret_behind_a_mark_is_masked_too() -> None:
    text = f"[secret: github-token #1] and password: {(value := 'x9$Lm2@qP')}"
    assert value not in mask_secrets(text) and "#1]" in mask_secrets(text)


def test_of_two_that_overlap_the_whole_is_masked() -> None:
    value = make("b", 30) + "." + make("c", 60)
    assert (
        mask_text(f"token={value}", Detector(patterns=(r"token=\w{4}", r"\w+\.\w+"))) == "[secret: pattern]"
    )


def test_a_long_secret_is_masked_to_its_end() -> None:
    assert mask_secrets(f"access_token={make('d', 900)} ok") == "access_token=[secret: token] ok"


def test_both_passwords_of_a_change_are_masked() -> None:
    masked = mask_secrets("password changed from 0ldPass!x to N3wPass!x yesterday")
    assert masked == "password changed from [secret: password] to [secret: password] yesterday"
    assert mask_secrets("password changed from 0ldPass!x to ours").endswith(" to ours")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("passphrase: correct-horse-battery-staple", "correct-horse"),
        ('{"password": "swordfish"}', "swordfish"),
        ("PASSWORD=swordfish\n", "swordfish"),
        ("비밀번호: 123456", "123456"),
        ("id/pw: admin / P@ssw0rd", "P@ssw0rd"),
        ("use admin:S3cr3tPw! to log in", "S3cr3tPw!"),
        ('{"name": "DB_PASSWORD", "value": "k8sS3cret!"}', "k8sS3cret!"),
        ("HEROKU_API_KEY=01234567-89ab-cdef-0123-456789abcdef", "01234567"),
        ("mot de passe : Soleil2024!", "Soleil2024!"),
        ("password: qwerty!asdf", "qwerty!asdf"),
        ("İstanbul password: hunter2!x", "hunter2!x"),
        ("Set-Cookie: JSESSIONID=0A1B2C3D4E5F60718293A4B5C6D7E8F9; Path=/", "0A1B2C3D"),
        ("Authorization: Token 0123456789abcdef01234567", "0123456789"),
        (f"AKIA{'A1B2' * 4} {make('s', 40)}", make("s", 40)),
    ],
)
def test_what_stands_before_it_tells(text: str, value: str) -> None:
    assert value in text and value not in mask_secrets(text)


@pytest.mark.parametrize(
    "text",
    [
        "password: 2024-05-17",
        "the password was 1234",
        "token: 550e8400-e29b-41d4-a716-446655440000",
        "Authorization: Bearer xxxxxxxxxxxxxxxxxxxxxxxx",
        "Cookie: theme=aaaaaaaaaaaaaaaaaaaaaaaa",
        "user: bob / C:/temp",
        "/home/admin:P@ssw0rd",
        "password required",
        '["password", "tokens", "prompts"]',
        "data:image/png;base64,password=hunter2!x",
    ],
)
def test_and_what_only_looks_so_does_not(text: str) -> None:
    assert mask_secrets(text) == text


@pytest.mark.parametrize(
    ("name", "value", "kind"),
    [
        ("password", "hunter2!x", "password"),
        ("pw", "hunter2!x", "password"),
        ("api_key", make("n", 32), "api-key"),
        ("pw", "********", None),
        ("password", "", None),
        ("password", "a" * 3_000, None),
        ("order", make("n", 32), None),
    ],
)
def test_a_field_is_told_by_its_name(name: str, value: str, kind: str | None) -> None:
    assert find_named_value(name, value) == kind


def test_a_card_has_its_check_digit_and_an_issuer() -> None:
    assert has_luhn_digit("4539148803436467") and not has_luhn_digit("4539148803436468")
    assert mask_secrets("4111-1111-1111-1111") == "[secret: card-number]"
    for number in ("4539-1488 0343 6467", "0000000000000000", "9999148803436467", "4111 1111 1111 1112"):
        assert mask_secrets(number) == number


def test_a_pattern_that_takes_too_long_masks_the_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(detector, "PATTERN_SECONDS", 1e-6)
    slow = Detector(secrets=False, patterns=(r"(?:a|aa|aaa)+(?:\w+\s)+$",))
    assert mask_text("a" * 3_000 + "!", slow) == "[secret: pattern]"


def test_a_pattern_that_matches_nothing_at_a_place_marks_nothing() -> None:
    assert mask_text("xyz", Detector(patterns=(r"(?=y)",))) == "xyz"


def test_a_prefix_within_a_secret_is_a_part_of_it() -> None:
    value = f"github_pat_{make('p', 40)}_ghp_{make('q', 36)}"
    assert mask_secrets(f"<{value}>") == "<[secret: github-token]>"


@pytest.mark.parametrize("shape", SHAPES[::9], ids=lambda shape: shape.name)
def test_a_secret_is_found_whole_wherever_a_long_text_is_divided(
    shape: Shape, monkeypatch: pytest.MonkeyPatch
) -> None:
    """``re`` holds all threads while it searches: no more than a slice is searched at once."""
    longest = 0

    def note(text: str) -> Iterator[tuple[int, int, str]]:
        nonlocal longest
        longest = max(longest, len(text))
        yield from find_formats(text)

    monkeypatch.setattr(detector, "find_formats", note)
    monkeypatch.setattr(detector, "SLICE", 2_000)
    monkeypatch.setattr(detector, "BEFORE", 500)
    monkeypatch.setattr(detector, "BEHIND", 1_000)
    alone = DETECTOR.find(shape.text)
    for before in range(2_000 - len(shape.text) - 40, 2_040, 40):
        text = "a word " * (before // 7) + "\n" + shape.text + "\n" + "a word " * 700
        assert [f.kind for f in DETECTOR.find(text)] == [f.kind for f in alone]
        assert is_caught(shape, mask_secrets(text))
    assert longest == 3_500


def test_a_secret_longer_than_a_slice_is_masked_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(detector, "SLICE", 2_000)
    monkeypatch.setattr(detector, "BEHIND", 100)
    for length in (1_900, 2_100, 6_100, 9_000):
        masked = mask_secrets(f"{'a word ' * 285} access_token={make('long', length)} ok {'a word ' * 500}")
        assert masked.count("[secret: token] ok") == 1 and make("long", length)[-40:] not in masked


def test_a_detector_without_secrets_finds_them_where_documents_leave_the_gateway() -> None:
    text = "password = 'tr0ub4dor&3xyz' and order-12345"
    chosen = Detector(secrets=False, patterns=(r"order-\d+",))
    assert [found.kind for found in chosen.find(text)] == ["pattern"]
    assert len(chosen.with_secrets().find(text)) == 2


class TestEscapes:
    """JSON in a text, as calls and tools bring it: what tells a secret is written with backslashes there."""

    @pytest.mark.parametrize("depth", [1, 2, 3])
    def test_nearly_all_shapes_are_caught_behind_json_s_escapes(self, depth: int) -> None:
        missed = []
        for shape in SHAPES:
            text, value = f"«\n{shape.text}\n»", shape.value
            for _ in range(depth):
                text, value = json.dumps({"command": text}), json.dumps(value)[1:-1]
            if not is_caught(replace(shape, value=value), mask_secrets(text)):
                missed.append((shape.name, text))
        assert len(missed) <= (1 - CAUGHT) * len(SHAPES), missed

    def test_a_policy_s_patterns_read_behind_them_too(self) -> None:
        text = json.dumps({"name": "홍길동", "note": "\U0001f600"})
        masked = mask_text(text, Detector(secrets=False, patterns=("홍길동",)))
        assert json.loads(masked) == {"name": "[secret: pattern]", "note": "\U0001f600"}

    @pytest.mark.parametrize("text", ["C:\\dir\\", "a\\\\\\\\ b", r"\u12 \x", "plain"])
    def test_what_has_none_is_read_once(self, text: str) -> None:
        assert undo_escapes(text) is None

    @given(st.text(alphabet='ab"\\\n\té비\U0001f600', max_size=30))
    def test_each_place_is_where_it_was_written(self, text: str) -> None:
        written = json.dumps([text])[2:-2]
        plain = undo_escapes(written)
        assert plain is not None or written.isascii()
        for position in range(len(plain.text) + 1 if plain else 0):
            assert plain is not None
            rest = undo_escapes(written[plain.find_place(position) :])
            tail = written[plain.find_place(position) :] if rest is None else rest.text
            assert tail == plain.text[position:]

    def test_a_long_row_of_backslashes_is_read_once(self) -> None:
        assert undo_escapes("\\" * 2_000_000) is None
