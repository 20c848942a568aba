"""Text by strangers and figures, as they are shown."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway_compaction.admin.ui.text import (
    BODY_CHARS,
    fold,
    format_age,
    format_compact,
    format_money,
    format_percent,
    format_span,
    format_time,
    pluralize,
    quote_for_url,
    shorten_line,
    show_hidden,
    show_hidden_html,
)
from tests.admin.looking import looked
from tests.admin.scenes import ANSI, RLO, SCRIPT

OBEYED = {"Cc", "Cs", "Zl", "Zp"}
ALLOWED = "\n\t"


def test_markup_is_text() -> None:
    shown = show_hidden_html(SCRIPT)
    assert looked(shown).tags == []
    assert looked(shown).text == SCRIPT


def test_controls_and_direction_marks_get_names() -> None:
    assert show_hidden(ANSI) == "⟨ESC⟩]0;owned⟨BEL⟩⟨ESC⟩[31mred⟨ESC⟩[2J"
    assert show_hidden(RLO) == "⟨RLO⟩gnp.exe⟨LRI⟩"
    assert show_hidden("a\x00b\x7fc\x9bd\u200be\ufefff\U000e0041g\ud800") == (
        "a⟨NUL⟩b⟨DEL⟩c⟨U+009B⟩d⟨U+200B⟩e⟨U+FEFF⟩f⟨U+E0041⟩g⟨U+D800⟩"
    )


def test_names_are_told_from_the_same_text() -> None:
    assert looked(show_hidden_html("⟨ESC⟩")).tags == []
    assert looked(show_hidden_html("\x1b")).values("title") == ["U+001B control character"]


def test_what_scripts_and_emoji_need_stays() -> None:
    for kept in ("می\u200cخواهم", "👩\u200d💻", "❤\ufe0f", "line\nand\ttab", "대화 요약", "עברית"):
        assert show_hidden(kept) == kept
    assert show_hidden("two\r\nlines") == "two\nlines"


@given(st.text(st.characters()))
def test_nothing_that_hides_or_rearranges_is_left(text: str) -> None:
    for shown in (show_hidden(text), str(show_hidden_html(text))):
        assert not [c for c in shown if unicodedata.category(c) in OBEYED and c not in ALLOWED]
        assert not set(shown) & set(
            "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c"
        )
    assert looked(show_hidden_html(text)).text == show_hidden(text)
    assert set(looked(show_hidden_html(text)).tags) <= {"span"}


def test_long_text_comes_in_two_steps_and_is_cut() -> None:
    found = fold("x" * 1_000_000)
    assert (len(found.head), len(found.body), found.total) == (400, BODY_CHARS, 1_000_000)
    assert found.long and found.cut
    brief = fold("brief")
    assert (brief.head, brief.long, brief.cut) == ("brief", False, False)
    assert fold("x" * 500).long and not fold("x" * 500).cut


def test_one_line() -> None:
    assert shorten_line("a\n b\t c") == "a b c"
    assert shorten_line("x" * 100, 10) == "x" * 9 + "…"


@pytest.mark.parametrize(
    ("number", "shown"),
    [(0, "0"), (7, "7"), (999, "999"), (1000, "1k"), (1234, "1.23k"), (12_340, "12.3k"), (999_950, "1M"),
     (4_560_000, "4.56M"), (150_000_000, "150M"), (2e9, "2B"), (-5200, "-5.2k")],
)  # fmt: skip
def test_numbers_in_three_digits(number: float, shown: str) -> None:
    assert format_compact(number) == shown


def test_figures() -> None:
    assert [format_percent(x) for x in (0, 0.004, 0.071, 0.5, 1)] == [
        "0 %",
        "0.4 %",
        "7.1 %",
        "50 %",
        "100 %",
    ]
    assert [format_money(x) for x in (0, 0.0021, 1234.5, -3)] == ["$0.00", "$0.0021", "$1,234.50", "-$3.00"]
    assert [format_money(x) for x in (0.0099, 0.00996, 1e-7, -0.002)] == [
        "$0.0099",
        "$0.01",
        "<$0.0001",
        "-$0.0020",
    ]
    assert [format_span(x) for x in (5, 130, 7200, 200_000)] == ["5 s", "2 min", "2 h", "2 d"]
    assert [format_age(100 - x, 100) for x in (0, 59)] == ["just now", "just now"]
    assert format_age(0, 100) == "never" and format_age(1000, 1180) == "3 min ago"
    assert format_time(1_800_000_000) == "2027-01-15 08:00:00 UTC"
    assert [format_time(x) for x in (1e30, float("nan"), float("inf"))] == ["at no known time"] * 3
    assert [pluralize(n, "pin") for n in (0, 1, 2000)] == ["no pins", "1 pin", "2,000 pins"]
    assert quote_for_url("a/b &\ud800") == "a%2Fb%20%26%3F"
