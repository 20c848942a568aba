"""The words of Italian."""

from __future__ import annotations

from gateway_compaction.core.text.lexicon.entry import Entry, Lexicon
from gateway_compaction.core.text.lexicon.rules.italian import RULES

ITALIAN = Lexicon(
    code="it",
    rules=RULES,
    withdrawals=(
        Entry(
            r"\blascia (?:perdere|stare)\b|\bdimentica (?:quello|quel|la|il|le|i)\b|\bnon (?:vale"
            r"|valgono|conta|serve) più\b|\bannulla (?:la|il|quel)|\bcome non detto\b|\bdi nuovo\b"
            r"|\b(?:adesso|ora) (?:va(?:nno)? bene|puoi)\b|\bd['’]ora in poi\b",
            "Lascia perdere quello che ho detto.",
            "Lascia i commenti.",
        ),
    ),
    withdrawal_cues="lascia|dimentica|più|annulla|non detto|di nuovo|adesso|ora ",
    transforms=(
        Entry(r"tradu[cz]\w+|riassum\w+|corregg\w+|rivedi|riscriv\w+", "Traduci questa mail", "Scrivi"),
    ),
    pointers=(Entry(r"quest\w+|seguent\w+|mi[ao]\b|nostr\w+", "questa mail", "la mail"),),
    near_pointers=(Entry(r"\b(?:quest[oaie]|seguent[ei])\b", "questa", "la"),),
    bare_questions=(
        Entry(
            r"(?:(?:e|ma|quindi|ciao),? )*(?:che cosa|cosa|come|quale|quali|quando (?:è|cade|si|posso"
            r"|devo)|dove|chi|perché|quanto|quanti|serve|bisogna sempre|si può|posso|devo|è (?:vero"
            r"|necessario|possibile|obbligatorio)|c['’]è|ci sono)\b",
            "serve sempre un return",
            "Usa sempre un return.",
        ),
    ),
    conjunctions=(Entry(r"e|ma|o|quindi|allora|perciò|poi|per favore", "e", "era"),),
    name="Italian",
    common_words=("il di è che una per con non sono come del gli della un mi le posso qual nel lo quale mio"),
    months=("gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre"),
    ages=(
        Entry(
            r"(?:\d{1,3}|un['’]?a?) ?\p{L}+ fa|ieri",
            "3 giorni fa",
            "3 giorni",
        ),
    ),
    file_labels=(
        Entry(r"(?:file|documento|percorso|fonte|allegato)\b|contenuto d[ei]", "Contenuto di", "Documenti"),
    ),
    mail_headers=(Entry(r"Da|A|Cc|Inviato|Oggetto", "Inviato", "Il molo"),),
    source_labels=(
        Entry(
            r"(?:risultat[oi]|output|risposta|contenuto|rapporto)\b[^:\n]{1,30}\b(?:strumento"
            r"|comando|funzione|file|programma|agente|ricerca)\b|osservazione\b",
            "Risultato dello strumento",
            "Risultato",
        ),
    ),
    nothing=(Entry(r"certo|capito|va bene|grazie|errore", "va bene", "L'ufficio del porto apre alle nove."),),
    refusals=(
        Entry(r"mi dispiace\b", "mi dispiace", "L'ufficio del porto apre alle nove."),
        Entry(r"mi scuso\b", "mi scuso", "L'ufficio del porto apre alle nove."),
        Entry(r"purtroppo non posso\b", "purtroppo non posso", "L'ufficio del porto apre alle nove."),
        Entry(r"non posso\b", "non posso", "L'ufficio del porto apre alle nove."),
        Entry(r"questo non posso\b", "questo non posso", "L'ufficio del porto apre alle nove."),
        Entry(
            r"(?:non è possibile|impossibile) riassumere\b",
            "non è possibile riassumere",
            "L'ufficio del porto apre alle nove.",
        ),
        Entry(r"non sono in grado\b", "non sono in grado", "L'ufficio del porto apre alle nove."),
        Entry(
            r"come (?:modello|intelligenza artificiale|ia,)",
            "come intelligenza artificiale",
            "L'ufficio del porto apre alle nove.",
        ),
    ),
    errors=(
        Entry(r"errore\s*+[:：]", "errore:", "L'ufficio del porto apre alle nove."),
        Entry(
            r"si è verificato un errore", "si è verificato un errore", "L'ufficio del porto apre alle nove."
        ),
    ),
    question_starts=(Entry(r"(?:che|cosa|come|quale)\b", "quale", "L'ufficio del porto apre alle nove."),),
    reader=(Entry(r"\b(?:lei|tu)\b", "lei", "L'ufficio del porto apre alle nove."),),
)
