"""Sentences: where they begin and end, and full stops that end none."""

from __future__ import annotations

import pytest
from hypothesis import given

from gateway_compaction.core.text.sentences import find_sentence_spans, split_sentences
from tests.core import strategies
from tests.core.hostile import texts
from tests.core.search import search


class TestSpans:
    """The spans of sentences."""

    @pytest.mark.parametrize(
        ("text", "found"),
        [
            ("", []),
            (" \n ", []),
            ("One. Two! Three?", ["One.", "Two!", "Three?"]),
            ("Version 1.2.3 is out. Yes.", ["Version 1.2.3 is out.", "Yes."]),
            ('He said "no." Then left.', ['He said "no."', "Then left."]),
            ("a\nb\n\nc", ["a", "b", "c"]),
            ("次の会議です。資料は？", ["次の会議です。", "資料は？"]),
            ("no end", ["no end"]),
        ],
    )
    def test_the_table(self, text: str, found: list[str]) -> None:
        assert split_sentences(text) == found

    @search
    @given(strategies.texts)
    def test_they_are_verbatim_in_order_and_leave_out_only_blank_space(self, text: str) -> None:
        spans = find_sentence_spans(text)
        assert split_sentences(text) == [text[a:b] for a, b in spans]
        ends = [0, *(end for _, end in spans)]
        starts = [*(start for start, _ in spans), len(text)]
        assert all(text[a:b].strip() == "" for a, b in zip(ends, starts, strict=True))
        assert all(text[a:b] == text[a:b].strip() != "" for a, b in spans)


class TestFullStops:
    """Abbreviations, initials and ordinals are within a sentence; what only looks like them ends one."""

    @pytest.mark.parametrize(
        "sentence",
        [
            "Never leave the parcel with neighbour Mr. Briggs.",
            "Never email dr. Smith at home.",
            "Always use v1.2 e.g. for builds, never v2.",
            "Ask J. R. R. Tolkien, etc. and so on.",
            "Der Liefertermin ist der 3. Mai.",
            "Wir treffen uns am 12. Dezember im 3. Stock.",
            "Nimm z. B. die Bahnhofstr. 5 und frag Hr. Müller.",
            "La livraison est le 3. mai chez Mme. Dupont.",
            "Llame a la Sra. Gómez, p. ej. mañana.",
            "See no. 5 at 5 p.m. tomorrow.",
            "1. do not edit generated files.",
            "He works for Acme Inc. Boston.",
        ],
    )
    def test_they_are_within_it(self, sentence: str) -> None:
        assert split_sentences(f"Well. {sentence} Then we left.") == ["Well.", sentence, "Then we left."]

    @pytest.mark.parametrize(
        "pair",
        [
            ("Use plan B.", "Never use plan A."),
            ("The code is 4711.", "never tell it."),
            ("It costs 5.", "Then go."),
            ("No.", "I said so."),
            ("no.", "i said so."),
            ("We met at 5 p.m.", "The gate was shut."),
            ("Nails, screws etc.", "Always count them."),
            ("She and I.", "Bob came."),
            ("네.", "알겠습니다."),
            ("Es kostet 12.", "Danke."),
            ("What?! No.", "dr."),
        ],
    )
    def test_others_end_one(self, pair: tuple[str, str]) -> None:
        first, second = pair
        assert split_sentences(f"{first} {second}")[-1] == second

    @pytest.mark.parametrize("text", ["Mr.", "Ask Mr.\nBriggs", "3.\nMai", "e.g. ", "."])
    def test_nothing_goes_over_a_line_or_the_end(self, text: str) -> None:
        assert split_sentences(text) == [line.strip() for line in text.split("\n")]

    @pytest.mark.parametrize("name", list(texts(40)))
    def test_every_odd_text_is_divided_without_a_loss(self, name: str) -> None:
        text = texts(3_000)[name]
        assert "".join("".join(text[a:b].split()) for a, b in find_sentence_spans(text)) == "".join(
            text.split()
        )
