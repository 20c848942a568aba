"""The words by which standing rules are told in Polish."""

from __future__ import annotations

from gateway_compaction.core.text.lexicon.entry import Entry, RuleWords

RULES = RuleWords(
    anywhere=True,
    orders=(
        Entry(
            r"\b(?:pisz|odpowiadaj|używaj|pokazuj|mów|nazywaj|zwracaj się|podawaj|dodawaj|stosuj|zaokrąglaj"
            r"|sprawdzaj|pytaj|proponuj|tłumacz|formułuj|cytuj|polecaj|ostrzegaj|wyjaśniaj|zaczynaj|kończ"
            r"|trzymaj się|uwzględniaj|przeliczaj|bądź|informuj|wysyłaj|korzystaj|rób)(?:cie)?\b",
            "Odpowiadaj krótko.",
            "Odpowiada krótko.",
        ),
        Entry(
            r"\b(?:musisz|powinieneś|powinnaś|muszą|musi|powinny)\b",
            "Wszystkie ceny muszą być z podatkiem.",
            "Ceny wzrosły.",
        ),
    ),
    bans=(
        Entry(
            r"\bnie (?!martw|przejmuj|zapomnij|bój|wstydź|krępuj)\p{L}+(?:aj|uj|ij|yj|ej|isz|mów|pisz|rób"
            r"|dawaj)(?:cie)?\b|\bnie (?:pisz|mów|rób|zmieniaj|zaczynaj|kończ|tłumacz|cytuj)(?:cie)?\b",
            "Nie używaj emotikonów.",
            "Nie martw się.",
        ),
        Entry(
            r"\bunikaj(?:cie)?\b|\bprzestań(?:cie)?\b|\b(?:zabronione|zabrania się|nie wolno)\b"
            r"|\bżadnych (?:emotikonów|emoji|list|tabel|skrótów|żartów)\b|\bpod żadnym pozorem\b",
            "Unikaj żargonu.",
            "On unika żargonu.",
        ),
    ),
    wishes=(
        Entry(
            r"\b(?:chcę|chciałbym|chciałabym|wolę|zależy mi),? (?:na tym,? )?(?:żebyś|żeby|aby|abyś)?"
            r"|\bproszę\b",
            "Wolę krótkie odpowiedzi.",
            "Idę do domu.",
        ),
    ),
    headless=(
        Entry(
            r"^\W*(?:nigdy|zawsze|od teraz|odtąd|na przyszłość)\b(?! (?:byłem|byłam|nie (?:byłem|byłam"
            r"|widziałem|słyszałem|lubiłem)|tak|to|jest|był)\b)",
            "Nigdy bez podatku.",
            "Zawsze tak było.",
        ),
    ),
    lasting=(
        Entry(
            r"\b(?:zawsze|nigdy|od teraz|odtąd|za każdym razem|domyślnie|na przyszłość|pod żadnym pozorem"
            r"|stale|zanim)\b|\b(?:w każdej|w każdym|każdej|każdą|przed każdym|we wszystkich) \p{L}+"
            r"|\bw tej rozmowie\b|\bw tym projekcie\b|\bbez mojej zgody\b",
            "w każdej odpowiedzi",
            "w twoim domu",
        ),
    ),
    manner=(
        Entry(
            r"\b(?:metryczn\p{L}+|euro|złot\p{L}+|podat\p{L}+|vat|krótk\p{L}+|zwięź\p{L}+|szczegółow\p{L}+"
            r"|uprzejm\p{L}+|formaln\p{L}+|emotikon\p{L}*|emoji|list|tabel\p{L}*|skrót\p{L}*|żargon\p{L}*"
            r"|anglicyzm\p{L}*|źród\p{L}+|dziesiętn\p{L}+|format\p{L}*)\b|\bpo (?:polsku|angielsku"
            r"|niemiecku)\b",
            "po polsku",
            "po obiedzie",
        ),
    ),
    single=(
        Entry(
            r"\b(?:t[ęeao]|ten|tego|tym|teraz(?<!od teraz)|jeszcze|na razie|jutro|dzisiaj|dziś"
            r"|następn\p{L}+|ostatni\p{L}*|pierwsz\p{L}+|drug\p{L}+)\b(?! (?:rozmowie|projekcie))"
            r"|\bdo (?:poniedziałku|wtorku|środy|czwartku|piątku|soboty|niedzieli)\b",
            "Nie anuluj jeszcze rezerwacji.",
            "Nie anuluj rezerwacji.",
        ),
    ),
    conditions=(
        Entry(
            r"^\W*(?:gdy|kiedy|jeśli|jeżeli|za każdym razem,? gdy) ",
            "Kiedy wklejam kod, sprawdzaj go.",
            "Kod jest stary.",
        ),
    ),
    standing=(
        Entry(
            r"\bmam (?:\p{L}+ )?alergię\b|\bjestem (?:wegetarian\p{L}+|wegan\p{L}+|cukrzyk\p{L}*"
            r"|uczulon\p{L}+)\b|^\W*(?:zapamiętaj|pamiętaj|weź pod uwagę)[,:] ",
            "Mam alergię na orzechy.",
            "Jestem zmęczony.",
        ),
    ),
    asides=(
        Entry(
            r",\s(?:w |na |o |z )?(?:któr\p{L}+|ponieważ|bo|dlaczego|gdzie|kto|co|że)\b[^,.!?]*"
            r"|\bdlaczego\b[^,.!?]*",
            "pliki, które nigdy nie były testowane",
            "pliki",
        ),
    ),
    tales=(
        Entry(
            r"^\W*(?:ja|on|ona|my|oni|mój \p{L}+|moja \p{L}+|nasz\p{L}* \p{L}+|lekarz|szef)\b"
            r"|\b\p{L}+(?:łem|łam|liśmy)\b",
            "Mój szef zawsze się spóźnia.",
            "Zawsze się spóźniaj.",
        ),
    ),
    polite=(
        Entry(
            r"(?:czy )?(?:możesz|mógłbyś|mogłabyś|może pan|może pani)\b[^?]{0,60}\b(?:zawsze|od teraz"
            r"|za każdym razem|na przyszłość)\b",
            "Czy możesz zawsze odpowiadać krótko?",
            "Czy możesz odpowiedzieć?",
        ),
    ),
)
