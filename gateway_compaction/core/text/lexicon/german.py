"""The words of German."""

from __future__ import annotations

from gateway_compaction.core.text.lexicon.entry import Entry, Lexicon, Phrases
from gateway_compaction.core.text.lexicon.rules.german import RULES

GERMAN = Lexicon(
    code="de",
    rules=RULES,
    near_pointers=(Entry(r"\b(?:diese\w*|folgend\w*|untenstehend\w*)\b", "diese Mail", "die Mail"),),
    bare_questions=(
        Entry(
            r"(?:(?:und|aber|also|ok|hallo),? )*(?:(?:was|welche[rnsm]?|wie|wo|wann|warum|wer|wieso"
            r"|weshalb|woran|wozu|wohin|woher)\b(?! ich (?:will|möchte))|(?:kann|können|könnte|soll"
            r"|sollte|darf|muss|müssen|ist|sind|war|hat|haben|gibt|wird|stimmt|braucht|brauche) (?:ich"
            r"|man|wir|er|es|das|die|der|den|ein|eine|mein|meine)\b|(?:kannst|könntest|willst|würdest"
            r"|hast|bist|weißt|soll) (?:du|ich)\b)",
            "kann man das immer so machen",
            "Kannst immer fragen.",
        ),
    ),
    conjunctions=(Entry(r"und|aber|oder|also|sondern|dann|daher|deshalb|bitte|denn", "und", "undicht"),),
    name="German",
    phrases=Phrases(
        "Zusammenfassung des früheren Teils dieses Gesprächs, als Hintergrund; sie "
        "enthält keine neuen Anweisungen. Das Gespräch geht unten weiter.",
        "Bild nicht mehr sichtbar",
        "Frühere Nachrichten, als Hintergrund zitiert:",
        "frühere Nachrichten, nicht mehr gezeigt",
        "Datei nicht mehr sichtbar",
        "Aufnahme nicht mehr hörbar",
        "Video nicht mehr sichtbar",
    ),
    common_words=(
        "der die und das ist ich nicht ein eine mit zu für auf wie sie den dem wir kann bitte was mein"
    ),
    abbreviations=(
        "bzw z.b d.h u.a u.ä s.o s.u o.ä i.d.r vgl evtl ggf inkl exkl zzgl abzgl hr dipl ing mag ca "
        "dr prof bd nr art abs ziff kap tab fig tel str hausnr"
    ),
    ending_abbreviations=("usw min max jan feb apr jun jul aug sep sept okt nov dez"),
    sentence_starters=(
        "der die das den dem ein eine ich wir sie es er bitte immer nie niemals nicht kein keine und "
        "aber oder wenn wie was wo warum danke auch dann jetzt nur verwende nenne antworte"
    ),
    months=("januar jänner februar märz april mai juni juli august september oktober november dezember"),
    before_ordinals=("am im der die das den dem des vom zum zur beim bis ab seit zwischen"),
    idle_words=(
        "bitte immer nie niemals nicht mehr kein keine keinen jetzt wieder doch und oder der die das "
        "den dem ein eine einen ich du sie wir es ist sind mit auf für von zu im in am ab nun an mir "
        "mich nur"
    ),
    own_person=(
        Entry(r"Ich", "Ich", "Das Hafenbüro öffnet um neun."),
        Entry(r"ich", "ich", "Das Hafenbüro öffnet um neun."),
        Entry(r"[Mm]ir", "mir", "Das Hafenbüro öffnet um neun."),
        Entry(r"[Mm]eine?[rmns]?", "mein", "Das Hafenbüro öffnet um neun."),
        Entry(r"[Ww]ir", "wir", "Das Hafenbüro öffnet um neun."),
        Entry(r"[Uu]nsere?[rmns]?", "unser", "Das Hafenbüro öffnet um neun."),
    ),
    corrections=(
        Entry(
            r"\b(?:korrektur|sondern|stattdessen|geändert|nicht mehr|nicht am)\b",
            "stattdessen",
            "Das Hafenbüro öffnet um neun.",
        ),
    ),
    reminders=(
        Entry(r"\bmerke? dir\b", "merk dir", "Das Hafenbüro öffnet um neun."),
        Entry(r"\bvergiss nicht\b", "vergiss nicht", "Das Hafenbüro öffnet um neun."),
        Entry(r"\bdenk(?:e)? daran\b", "denk daran", "Das Hafenbüro öffnet um neun."),
    ),
    decisions=(
        Entry(r"\b(?:entschieden|beschlossen|festgelegt)\b", "beschlossen", "Das Hafenbüro öffnet um neun."),
        Entry(r"\bwir nehmen\b", "wir nehmen", "Das Hafenbüro öffnet um neun."),
    ),
    undecided=(Entry(r"noch nicht", "noch nicht", "Das Hafenbüro öffnet um neun."),),
    anchor_cues=("merk|vergiss|daran|entschieden|beschlossen|festgelegt|wir nehmen"),
    withdrawals=(
        Entry(
            r"\bvergiss (?:die|das|den|was|meine)\b|\bkannst du (?:wieder )?vergessen\b"
            r"|\bgilt nicht (?:mehr|länger)\b|\bstreich(?:e|en sie)? (?:die|das|den)\b",
            "Vergiss die Wortgrenze.",
            "Vergiss nicht.",
        ),
        Entry(r"\bab (?:jetzt|sofort|heute)\b", "ab sofort", "Das Hafenbüro öffnet um neun."),
        Entry(r"\bvon nun an\b", "von nun an", "Das Hafenbüro öffnet um neun."),
        Entry(r"\bdoch (?:wieder|lieber)\b", "doch lieber", "Das Hafenbüro öffnet um neun."),
        Entry(r"\bnicht mehr\b", "nicht mehr", "Das Hafenbüro öffnet um neun."),
        Entry(r"\bstattdessen\b", "stattdessen", "Das Hafenbüro öffnet um neun."),
        Entry(r"^\W*korrektur\b", "korrektur", "Das Hafenbüro öffnet um neun."),
        Entry(
            r"\bwieder (?:erlaubt|in ordnung|okay"
            r"|ok)\b",
            "wieder in ordnung",
            "Das Hafenbüro öffnet um neun.",
        ),
    ),
    vague_withdrawals=(Entry(r"\b(?:wieder|jetzt|doch)\b", "wieder", "Das Hafenbüro öffnet um neun."),),
    requests=(Entry(r"bitte|antworte|schreib|nimm|nenne", "antworte", "Das Hafenbüro öffnet um neun."),),
    permissions=(
        Entry(r"\b(?:erlaubt|in ordnung)\b", "in ordnung", "Das Hafenbüro öffnet um neun."),
        Entry(r"\bdu (?:kannst|darfst)\b", "du darfst", "Das Hafenbüro öffnet um neun."),
    ),
    withdrawal_cues=(
        "vergiss|vergessen|gilt|streich|ab jetzt|ab sofort|ab heute|von nun|wieder|lieber|mehr"
        "|stattdessen|korrektur|jetzt|doch"
    ),
    fresh_starts=(Entry(r"immer|nie|niemals|bitte|verwende", "verwende", "Das Hafenbüro öffnet um neun."),),
    transforms=(
        Entry(
            r"übersetz\w*|korrektur|lektorier\w*|überarbeit\w*|verbesser\w*|zusammen|kürz\w*"
            r"|korrigier\w*|formulier\w*",
            "überarbeit",
            "Das Hafenbüro öffnet um neun.",
        ),
    ),
    pointers=(Entry(r"dies\w*|folgend\w*|unser\w*|mein\w*", "folgend", "Das Hafenbüro öffnet um neun."),),
    exhibits=(
        Entry(r"hier (?:ist|das)\b", "hier das", "Das Hafenbüro öffnet um neun."),
        Entry(r"meldung", "meldung", "Das Hafenbüro öffnet um neun."),
    ),
    politeness=(Entry(r"bitte", "bitte", "Das Hafenbüro öffnet um neun."),),
    appeals=(Entry(r"bitte", "bitte", "Das Hafenbüro öffnet um neun."),),
    rule_headings=(Entry(r"regeln", "regeln", "Das Hafenbüro öffnet um neun."),),
    cases=(Entry(r"wenn|beim", "beim", "Das Hafenbüro öffnet um neun."),),
    mail_headers=(Entry(r"Von|An|Betreff|Gesendet", "Gesendet", "Das Hafenbüro öffnet um neun."),),
    clause_numbers=(Entry(r"Artikel|Abschnitt", "Abschnitt", "Das Hafenbüro öffnet um neun."),),
    ages=(
        Entry(
            r"vor (?:\d{1,3}|eine[mr]) \p{L}+|gerade eben|gestern",
            "vor 3 Tagen",
            "vor dem Haus",
        ),
    ),
    posted=(
        Entry(
            r"(?:hat )?(?:kommentiert(?:e)?|schrieb|geschrieben|geantwortet|gefragt"
            r"|antwortete|hat einen kommentar hinzugefügt)(?: am)?",
            "kommentierte am",
            "Kommentar",
        ),
    ),
    file_labels=(
        Entry(
            r"(?:datei(?:name)?|dokument|pfad|quelle|anhang)\b|(?:inhalt|auszug)s? (?:von|aus|der)\b",
            "Inhalt von",
            "Dateien",
        ),
    ),
    source_labels=(
        Entry(
            r"(?:ergebnis(?:se)?|ausgabe|rückgabe|antwort|inhalt"
            r"|bericht)\b[^:\n]{1,30}\b(?:werkzeugs?|tools?|befehls?|kommandos?|funktion|datei"
            r"|programms?|(?:unter|sub)?-?agenten|suche)\b|(?:werkzeug|tool|befehls|funktions|such"
            r"|programm)-?(?:ergebnis(?:se)?|ausgabe|antwort)\b|beobachtung\b",
            "Ergebnis des Werkzeugs",
            "Ergebnis",
        ),
    ),
    nothing=(
        Entry(
            r"ja|nein|verstanden|alles klar|gut|danke|fehler|keine?s?",
            "verstanden",
            "Das Hafenbüro öffnet um neun.",
        ),
    ),
    refusals=(
        Entry(r"(?:es )?tut mir (?:\w+ )?leid\b", "tut mir leid", "Das Hafenbüro öffnet um neun."),
        Entry(r"entschuldig(?:ung|en sie|e,)\b", "entschuldigen sie", "Das Hafenbüro öffnet um neun."),
        Entry(
            r"leider (?:kann|konnte|darf|bin|habe) ich\b",
            "leider konnte ich",
            "Das Hafenbüro öffnet um neun.",
        ),
        Entry(r"leider ist (?:es mir|das nicht)\b", "leider ist das nicht", "Das Hafenbüro öffnet um neun."),
        Entry(
            r"(?:das|dies|dies\w+ \w+) (?:kann|konnte|darf) ich (?:\w+ ){0,4}?nicht\b",
            "dies konnte ich nicht",
            "Das Hafenbüro öffnet um neun.",
        ),
        Entry(
            r"(?:dabei|damit|hierbei|dazu) (?:kann|konnte|darf) ich (?:\w+ ){0,4}?nicht\b",
            "hierbei konnte ich nicht",
            "Das Hafenbüro öffnet um neun.",
        ),
        Entry(
            r"(?:eine )?zusammenfassung (?:ist )?(?:leider )?nicht (?:möglich|verfügbar)\b",
            "zusammenfassung nicht verfügbar",
            "Das Hafenbüro öffnet um neun.",
        ),
        Entry(r"ich kann (?:\w+ ){1,6}?nicht\b", "ich kann das nicht", "Das Hafenbüro öffnet um neun."),
        Entry(r"ich bin nicht in der lage\b", "ich bin nicht in der lage", "Das Hafenbüro öffnet um neun."),
        Entry(r"als ki(?:-\w+)?\b", "als ki", "Das Hafenbüro öffnet um neun."),
        Entry(r"als sprachmodell\b", "als sprachmodell", "Das Hafenbüro öffnet um neun."),
    ),
    errors=(
        Entry(r"fehler\s*+[:：]", "fehler:", "Das Hafenbüro öffnet um neun."),
        Entry(
            r"(?:es ist )?ein fehler (?:ist )?aufgetreten",
            "ein fehler aufgetreten",
            "Das Hafenbüro öffnet um neun.",
        ),
        Entry(r"fehler bei\w*", "fehler bei", "Das Hafenbüro öffnet um neun."),
    ),
    question_starts=(
        Entry(r"(?:was|welche[rnsm]?|wie|wo|wann|warum|wer)\b", "welche", "Das Hafenbüro öffnet um neun."),
        Entry(
            r"(?:kann|können|könntest|könnten|möchtest|möchten|soll|sollen|darf|haben|hast) (?:ich|du"
            r"|sie|ihr|wir)\b",
            "könnten wir",
            "Das Hafenbüro öffnet um neun.",
        ),
    ),
    reader=(
        Entry(r"\b(?:du|dir|dich|sie|ihnen)\b", "ihnen", "Das Hafenbüro öffnet um neun."),
        Entry(r"\b(?:kann|darf|soll) ich\b", "darf ich", "Das Hafenbüro öffnet um neun."),
    ),
    deferrals=(
        Entry(
            r"\bich (?:prüfe|kläre|erkundige mich|(?:frage|schaue|sehe) (?:\w+ )?nach"
            r"|gebe (?:\w+ )?bescheid)",
            "ich erkundige mich",
            "Das Hafenbüro öffnet um neun.",
        ),
        Entry(
            r"\b(?:melde mich|werde (?:\w+ ){0,6}(?:prüfen|klären|nachfragen|nachsehen|nachschauen"
            r"|melden))\b",
            "werde nachschauen",
            "Das Hafenbüro öffnet um neun.",
        ),
    ),
    references=(
        Entry(r"\b(?:was|wann|wer|welche[rs]?|wo|warum)\b", "welche", "Das Hafenbüro öffnet um neun."),
    ),
)
