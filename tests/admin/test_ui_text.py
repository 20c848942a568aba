"""Text by strangers and figures, as they are shown."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway_compaction.admin.ui.text import (
    BODY_CHARS,
    ago,
    compact,
    fold,
    money,
    percent,
    plain,
    plural,
    quoted,
    short,
    span,
    stamp,
    visible,
)
from tests.admin.looking import looked
from tests.admin.scenes import ANSI, RLO, SCRIPT

OBEYED = {"Cc", "Cs", "Zl", "Zp"}
ALLOWED = "\n\t"


def test_markup_is_text() -> None:
    shown = visible(SCRIPT)
    assert looked(shown).tags == []
    assert looked(shown).text == SCRIPT


def test_controls_and_direction_marks_get_names() -> None:
    assert plain(ANSI) == "⟨ESC⟩]0;owned⟨BEL⟩⟨ESC⟩[31mred⟨ESC⟩[2J"
    assert plain(RLO) == "⟨RLO⟩gnp.exe⟨LRI⟩"
    assert plain("a\x00b\x7fc\x9bd\u200be\ufefff\U000e0041g\ud800") == (
        "a⟨NUL⟩b⟨DEL⟩c⟨U+009B⟩d⟨U+200B⟩e⟨U+FEFF⟩f⟨U+E0041⟩g⟨U+D800⟩"
    )


def test_names_are_told_from_the_same_text() -> None:
    assert looked(visible("⟨ESC⟩")).tags == []
    assert looked(visible("\x1b")).values("title") == ["U+001B control character"]


def test_what_scripts_and_emoji_need_stays() -> None:
    for kept in ("می\u200cخواهم", "👩\u200d💻", "❤\ufe0f", "line\nand\ttab", "대화 요약", "עברית"):
        assert plain(kept) == kept
    assert plain("two\r\nlines") == "two\nlines"


@given(st.text(st.characters()))
def test_nothing_that_hides_or_rearranges_is_left(text: str) -> None:
    for shown in (plain(text), str(visible(text))):
        assert not [c for c in shown if unicodedata.category(c) in OBEYED and c not in ALLOWED]
        assert not set(shown) & set(
            "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c"
        )
    assert looked(visible(text)).text == plain(text)
    assert set(looked(visible(text)).tags) <= {"span"}


def test_long_text_comes_in_two_steps_and_is_cut() -> None:
    found = fold("x" * 1_000_000)
    assert (len(found.head), len(found.body), found.total) == (400, BODY_CHARS, 1_000_000)
    assert found.long and found.cut
    brief = fold("brief")
    assert (brief.head, brief.long, brief.cut) == ("brief", False, False)
    assert fold("x" * 500).long and not fold("x" * 500).cut


def test_one_line() -> None:
    assert short("a\n b\t c") == "a b c"
    assert short("x" * 100, 10) == "x" * 9 + "…"


@pytest.mark.parametrize(
    ("number", "shown"),
    [(0, "0"), (7, "7"), (999, "999"), (1000, "1k"), (1234, "1.23k"), (12_340, "12.3k"), (999_950, "1M"),
     (4_560_000, "4.56M"), (150_000_000, "150M"), (2e9, "2B"), (-5200, "-5.2k")],
)  # fmt: skip
def test_numbers_in_three_digits(number: float, shown: str) -> None:
    assert compact(number) == shown


def test_figures() -> None:
    assert [percent(x) for x in (0, 0.004, 0.071, 0.5, 1)] == ["0 %", "0.4 %", "7.1 %", "50 %", "100 %"]
    assert [money(x) for x in (0, 0.0021, 1234.5, -3)] == ["$0.00", "$0.0021", "$1,234.50", "-$3.00"]
    assert [money(x) for x in (0.0099, 0.00996, 1e-7, -0.002)] == ["$0.0099", "$0.01", "<$0.0001", "-$0.0020"]
    assert [span(x) for x in (5, 130, 7200, 200_000)] == ["5 s", "2 min", "2 h", "2 d"]
    assert [ago(100 - x, 100) for x in (0, 59)] == ["just now", "just now"]
    assert ago(0, 100) == "never" and ago(1000, 1180) == "3 min ago"
    assert stamp(1_800_000_000) == "2027-01-15 08:00:00 UTC"
    assert [stamp(x) for x in (1e30, float("nan"), float("inf"))] == ["at no known time"] * 3
    assert [plural(n, "pin") for n in (0, 1, 2000)] == ["no pins", "1 pin", "2,000 pins"]
    assert quoted("a/b &\ud800") == "a%2Fb%20%26%3F"
