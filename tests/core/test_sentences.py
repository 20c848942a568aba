"""Full stops that end no sentence."""

from __future__ import annotations

import pytest

from gateway_compaction.core.text.sentences import find_sentence_spans, split_sentences
from tests.core.hostile import texts


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
