"""The words by which an order, a ban or a wish is told in German, with a verb or without."""

from __future__ import annotations

from gateway_compaction.core.text.lexicon.entry import Entry

# Orders to one person or, politely, to "Sie"; a separable verb's first part is enough.
VERBS = (
    r"(?:\p{L}{2,16}en sie|achte?|adressiere?|antworte?|arbeite?|beachte?|beantworte?|beginne?|behalte?"
    r"|behandle|bleibe?|benenne?|benutze?|berechne?|beschränke?|bleib|duze?|denke?|drücke? dich|erkläre?"
    r"|erstelle?|erwähne?|fange?|fasse?|formatiere?|formuliere?|frage?|füge?|führe?|gehe?|gendere?"
    r"|gestalte?|gib|gliedere?|halte?|hebe?|hänge?|komm|kommentiere?|kürze?|lasse?|liefere?|liste|lösche?"
    r"|mache?|markiere?|melde?|merke? dir|nehme?|nenne?|nimm|nutze?|ordne|passe?|prüfe?|pushe?|committe"
    r"|rechne|rede?|runde|rufe?|sage?|schätze?|schicke?|schlage?|schließe?|schreibe?|sei|sende?|setze?"
    r"|sieze?|sortiere?|speichere?|spare?|sprich|sprech|starte?|stelle?|teste?|trenne?|tue?|übersetze?"
    r"|unterschreibe?|verbessere?|vermeide?|vermerke?|verrate?|versuche?|verwende?|verweise?|verzichte?"
    r"|warne?|warte?|weise?|wiederhole?|zeige?|zitiere?|zähle?|ändere?|berühre?|empfiehl|empfehle|ergänze?"
    r"|gebe?|gehe?|leg|trage?|bring|schau|beende?|unterlasse?|ignoriere?|rate?)"
)

OUTPUT = (
    r"(?:antwort(?:en)?|nachricht(?:en)?|mails?|e-mails?|briefen?|texten?|rezepte?n?|beispiele?n?|abfragen?"
    r"|entw[uü]rfe?n?|zusammenfassung(?:en)?|übersetzung(?:en)?|vorschl[aä]g(?:en?|e)?|text|brief|betrag"
    r"|satz|absatz|entwurf|fall|behauptung(?:en)?|erklärung(?:en)?|rechnung(?:en)?|zahl(?:en)?|preise?n?"
    r"|beträge?n?|uhrzeit(?:en)?|datum|datumsangaben?|daten|überschrift(?:en)?|titeln?|codebeispiele?n?"
    r"|zitate?n?|quellen?|zitaten?|sätzen?|absätzen?|absatz|listen?|tabellen?|kommentaren?|code|einrückung"
    r"|einheiten|zeit(?:en)?|maße?|temperaturen|entfernungen|schreiben)"
)

ORDERS = (
    Entry(
        r"(?!(?:was|wie|wo|wann|warum|wer|wieso|dass|ob|wenn|weil"
        r"|falls)\b)(?:[\p{L}-]+ ){1,4}\p{L}{2,}t du (?:mir|uns|bitte|immer|nie|jeweils|in)\b"
        r"|(?:du|sie) (?:darfst|kannst|dürfen|können) mich (?:\p{L}+ ){0,3}(?:nennen|duzen"
        r"|ansprechen)\b|ansprechen (?:darfst|kannst) du mich\b",
        "Alle Beträge rechnest du mir in Franken um.",
        "Was machst du mir.",
    ),
    Entry(
        r"(?:korrigiere?|fluche?|tu|begründe?|ignorier|aktualisiere?|installiere?|entferne?|kopiere?"
        r"|vergleiche?|bewerte?|sammle?|sorge?|richte?|wähle?|öffne?|beschreibe?|analysiere?|lies|lese"
        r"|iss|hilf|sieh|nimm|wirf|brich|besprich|verwandle?|vereinfache?|kennzeichne?|sichere?|plane?"
        r"|spiele?|verhalte?|begrüße?|verabschiede?|respektiere?|befolge?|berücksichtige?|bevorzuge?"
        r"|ersetze?|gruppiere?|überprüfe?|kontrolliere?|dokumentiere?|protokolliere?|informiere?"
        r"|kontaktiere?|beziehe?|binde?|hole?|zeichne?|denk)(?:n sie)?\b",
        "Korrigiere jeden Fehler, den ich mache.",
        "Er las.",
    ),
    Entry(
        r"(?:[\p{L}-]+ ){1,4}bitte (?:\p{L}+ ){0,5}?\p{L}{3,}en\W*$",
        "Fachwörter bitte erklären.",
        "Er bittet um Brot.",
    ),
    Entry(
        r"(?!(?:mit|für|bei|ohne|gegen|über|von|an|auf|wie|dass|weil|was|wer|bis|nur|nicht|auch|habe?"
        r"|kann|muss|will|würde|gib|lass|nach|vor|neben|hinter|wegen|seit|als|ich|er|sie|es|man"
        r"|vielleicht|danke|hoffe|liebe|hasse|finde|vermisse|freue|fühle|frage|erinnere|gibt|wird|hat"
        r"|wollte|konnte|sollte|musste|könnte|möchte)\b)\p{L}{3,16}(?<!st)(?<!est) (?:dich|dir"
        r"|euch)(?= )(?! (?:kein\w*|nicht) sorgen)",
        "Entschuldige dich nicht ständig.",
        "Ich entschuldige mich.",
    ),
    Entry(VERBS + r"\b(?! dir kein)", "Antworte auf Koreanisch.", "Er kam."),
    Entry(
        r"(?:du|sie) (?:musst|müssen|sollst|sollen|sollte?st|sollten)\b(?! (?:nicht|wissen|mal|dir"
        r"|sehen|unbedingt (?:mal )?sehen)\b)",
        "Du sollst auf Deutsch antworten.",
        "Du musst wissen, er kam.",
    ),
)

BANS = (
    Entry(
        r"(?:mein name|mein wohnort|meine adresse|namen|kunden\p{L}*|passwörter|zugangsdaten"
        r"|links|emojis|abkürzungen|zahlen|preise|texte|antworten|überschriften|listen"
        r"|nichts) (?:darf|dürfen|soll|sollen|wird|werden)(?: \S+){0,4}? (?:kein\w*|nicht|nie"
        r"|niemals)\b|ohne (?:meine|vorherige|ausdrückliche) (?:\p{L}+ )?(?:zustimmung"
        r"|erlaubnis|freigabe|rückfrage|einwilligung)\b(?= (?:wird|werden|darf|dürfen|nichts"
        r"|nie|kein|bitte))|hör(?:en sie)? (?:bitte |endlich |doch )*auf\b",
        "Mein Name darf in keinem Dokument auftauchen.",
        "Mein Name ist Anna.",
    ),
    Entry(
        r"(?:unter keinen umständen|in keinem fall)\b|\p{L}+ (?:kannst|können) (?:du|sie) (?:dir"
        r"|sich) sparen\b|\p{L}{3,14}e? bitte (?:nicht|nie|kein\w*)\b",
        "Fluche bitte nicht.",
        "Fluche gern.",
    ),
    Entry(
        r"(?!(?:noch|fast|auch|wie|schon|nicht|ist|war|habe?|hab|bin|sind|wird|wollte|konnte"
        r"|sollte|musste|durfte|hatte|dachte|wusste|ich|du|er|sie|es|wir|ihr|das|die|der|man"
        r"|und|aber|so|ja|nein|leider|heute|gestern|mir|uns|beinahe|gar|doch|werde|würde"
        r"|könnte|möchte|hätte|wäre|bis|mehr|mag|kenne|sehe|verstehe|finde|esse|trinke|gehe"
        r"|weiß|denke|glaube)\b)\p{L}{2,16}(?<!t)(?<!en) (?:nie|niemals|stets)\b",
        "Pushe nie direkt auf main.",
        "Ich pushe nie.",
    ),
    Entry(
        r"es (?:darf|dürfen|soll|sollen)(?: \S+){0,4}? (?:kein\w*|nicht|nie|niemals)\b"
        r"|(?:es ist|strengstens|streng) (?:verboten|untersagt|tabu)\b",
        "Es dürfen keine Kundennamen genannt werden.",
        "Es darf getanzt werden.",
    ),
    Entry(
        r"(?!(?:mit|für|bei|ohne|gegen|über|von|an|auf|wie|dass|weil|was|wer|bis|nur|nicht"
        r"|auch|habe?|kann|muss|will|würde|ich|er|sie|es|man|vielleicht|sorge|mach|mache|denk"
        r"|denke)\b)\p{L}{3,16}(?<!st)(?<!est) (?:dich|dir|euch)(?: \p{L}+){0,3}? (?:nicht|nie"
        r"|niemals|kein\w*)\b",
        "Entschuldige dich nicht ständig.",
        "Mach dir keine Sorgen.",
    ),
    Entry(
        r"(?:mir wäre (?:es )?lieb(?:er)?|ich (?:fände|hätte) es (?:gut|schön|lieber|gern)|ich möchte"
        r"|ich will),? (?:wenn|dass) (?:du|sie)\b|mir wäre (?:es )?lieb(?:er)?, (?:du|sie)\b",
        "Mir wäre lieb, du fragst erst.",
        "Mir war kalt.",
    ),
    Entry(
        VERBS + r"\b(?! dir kein)[^.!?]{0,120}?\b(?:kein(?:e|en|em|er|es)?|nicht(?! (?:so|nur|mehr als|ganz"
        r"|vergessen)\b)|nichts)\b",
        "Verwende keine Emojis.",
        "Er kam nicht.",
    ),
    Entry(
        r"(?:verzichte?(?:n sie)?|vermeide?(?:n sie)?(?!n)|unterlass(?:e|en sie)?|spar(?:e"
        r"|en sie)? (?:dir|sich)|lass(?:e|en sie)? [^.!?,]{1,60}\bweg\b|auf keinen fall|hör auf)\b",
        "Verzichte auf Anglizismen.",
        "Er verzichtete.",
    ),
    Entry(
        r"(?:du|sie) (?:darfst|dürfen|sollst|sollen|sollte?st|sollten)(?: \S+){0,8}? (?:nicht|nie"
        r"|niemals|kein\w*)\b",
        "Du darfst nichts löschen, du sollst nicht raten.",
        "Du darfst gehen.",
    ),
    Entry(
        r"ich (?:möchte|will|wünsche(?: mir)?|hätte (?:gern|lieber)|mag)[^.!?]{0,30}?\b(?:nicht"
        r"|kein\w*)\b",
        "Ich möchte nicht, dass du rätst.",
        "Ich gehe nicht.",
    ),
)

WISHES = (
    Entry(
        r"(?:du|sie) (?:brauchst|brauchen|musst|müssen)(?: \S+){0,5}? (?:nicht|kein\w*) (?:jedes mal"
        r"|immer|ständig|andauernd)\b",
        "Du brauchst mich nicht jedes Mal zu begrüßen.",
        "Du brauchst Schlaf.",
    ),
    Entry(
        r"(?:[\p{L}-]+ ){1,3}(?:hätte|möchte|will|wünsche|bevorzuge) ich (?:gern|gerne|lieber"
        r"|bitte|immer|nur|in|mit|ohne|als)\b|ich lege (?:\p{L}+ )?wert\b|es (?:genügt"
        r"|reicht)(?: mir)?(?: \p{L}+)?,? wenn (?:du|sie)\b|(?:in"
        r"|bei) [^,.;:!?]{2,40} (?:verwenden|benutzen|schreiben|nutzen|sagen) wir\b",
        "Temperaturen hätte ich gern in Celsius.",
        "Hätte ich Zeit.",
    ),
    Entry(
        r"ist(?: mir)?,? dass (?:du|sie)\b",
        "ist mir, dass du nie rätst",
        "Es war, dass du kamst.",
    ),
    Entry(
        r"(?:(?:es|mir) (?:ist|wäre) )?(?:mir )?(?:sehr |besonders )?(?:wichtig|entscheidend"
        r"|wesentlich)(?: ist| wäre)?(?: mir)?,? dass\b|es wäre (?:mir )?(?:recht|lieb|wichtig)",
        "Wichtig ist, dass du nie rätst.",
        "Wichtige Dinge.",
    ),
    Entry(
        r"ich mag (?:\p{L}+ )?(?:lieber|kurze)|ich bitte (?:sie|dich|darum)|(?:deine"
        r"|ihre) (?:antworten|texte|nachrichten) (?:sollen|sollten|dürfen|müssen)\b",
        "Ich mag lieber kurze Antworten.",
        "Ich mag Eis.",
    ),
    Entry(
        r"ich (?:möchte|will|wünsche(?: mir)?|hätte (?:gern|lieber)|bevorzuge|brauche|bitte"
        r"|lege wert)\b|mir (?:wäre|ist) (?:es )?(?:lieb|lieber|wichtig|recht)|mir reicht"
        r"|reicht mir|es (?:ist|wäre) (?:mir )?(?:wichtig|schön|gut|nett|lieb|toll)|wir (?:möchten"
        r"|verwenden|nutzen|schreiben)\b|am liebsten\b|lieber\b",
        "Mir wäre es lieb, wenn du fragst.",
        "Ich kam.",
    ),
    Entry(
        r"(?:alle|jede[rsn]?|sämtliche)\b[^,.;:!?]{1,80}?(?:, (?:die|das|der|den) (?:du|sie|ich"
        r"|wir) [^,.;:!?]{1,60},)? ?\b(?:muss|müssen|soll(?:en|te|ten)?|hat zu|haben zu)\b|(?:ein"
        r"|eine|zwei|drei) [^,.;:!?]{1,40} (?:reicht|genügt|reichen|genügen)\b",
        "Jede Abfrage muss auf Postgres laufen.",
        "Jede Abfrage lief.",
    ),
    Entry(
        r"(?:muss|müssen|soll(?:en)?)\b[^,.;:!?]{0,40}\b(?:alle|jede[rsn]?)\b",
        "Muss auf jede Abfrage passen.",
        "Er muss gehen.",
    ),
)

HEADLESS = (
    Entry(
        r"du bist (?:ab sofort|ab jetzt|jetzt|von nun an|künftig|ab heute) (?:meine?|eine?|der"
        r"|die)\b|keine? (?:[\p{L}-]+ ){1,2}mehr,? in (?:deine|keine|ihre|den)\p{L}*\b",
        "Du bist ab sofort mein Lektor.",
        "Du bist jetzt müde.",
    ),
    Entry(
        r"(?![^.!?]*\b(?:ich|wir|sie|er|man|werden|haben|sind|wollen|können|müssen|sollen|mögen"
        r"|leute)\b)(?:[\p{L}-]+ ){1,4}(?:immer|stets|niemals) (?:\p{L}+ ){0,4}?\p{L}{3,}en\W*$",
        "Fremdsprachige Zitate immer übersetzen.",
        "Wir werden immer warten.",
    ),
    Entry(
        r"(?:vor|nach|bei) jede[mrn] \p{L}+ [^.!?]*\p{L}en\W*$",
        "Vor jedem Commit den Linter laufen lassen.",
        "Vor jedem Haus stand ein Baum.",
    ),
    Entry(
        r"(?:(?:höchstens|maximal|nur|bis zu) )?(?:\d+|eine?|zwei|drei|vier|fünf"
        r"|zehn) [^.!?,]{1,40} (?:pro|je) (?:antwort|nachricht|absatz|vorschlag)\b|für den rest (?:des"
        r"|der|dieses|unseres|unserer) \p{L}+,? (?:bist|sprich|antworte|schreib|nur|kein)",
        "Höchstens drei Stichpunkte je Antwort.",
        "Höchstens drei kamen.",
    ),
    Entry(
        r"(?<=^\W*)(?:am (?:ende|anfang)|zu beginn|in|bei|nach|unter|zu) (?:jede[rmn]|alle[mn]"
        r"|deine[mnr]|sämtlichen) " + OUTPUT + r"\b",
        "Am Ende jeder Antwort die offenen Punkte nennen, in jeder Antwort.",
        "Am Ende des Tages.",
    ),
    Entry(
        r"(?<=^\W*)(?:am (?:ende|anfang)|zu beginn) (?:jede[rs]|aller|deiner) " + OUTPUT + r"\b",
        "Am Ende jeder Antwort die offenen Punkte nennen.",
        "Am Ende des Tages.",
    ),
    Entry(
        r"(?:immer(?! (?:diese[rsmn]?|noch|wieder|mehr|das gleiche|dasselbe|nur|wenn)\b)|niemals"
        r"|nie (?![^.!?]{0,30}\b(?:ge\p{L}+t|gesehen|gewesen)\W*$|wieder (?:gehe|esse|war|werde|bin"
        r"|ich)\b|gehört|gesehen)|unbedingt|stets|auf keinen fall)\b",
        "Immer höflich bleiben.",
        "Immer diese Verspätungen!",
    ),
    Entry(
        r"(?:ab jetzt|ab sofort|von nun an|künftig|in zukunft|(?:in|für) diese[mns] (?:chat"
        r"|gespräch|projekt|unterhaltung)(?: gilt)?)\b[,:]? (?!ich|wir|bin|habe|ist|werden?\b"
        r"|wird\b|gibt|er\b|sie (?:ist|sind)|die|der)",
        "In Zukunft bitte alles in TypeScript.",
        "In Zukunft wird alles besser.",
    ),
    Entry(
        r"keine? (?!(?:\p{L}+ ){0,2}(?:idee|wahl|antwort)\W*$|ahnung|sorge|angst|zeit|frage"
        r"|lust|ursache|problem|idee|panik|mensch|chance"
        r"|wunder|mühe|eile|einwände)(?:\p{L}+ ){0,2}?[\p{L}-]+(?:,? (?:bitte|verwenden|benutzen"
        r"|mehr|danke|in \p{L}+ \p{L}+))?\W*$",
        "keine Tabellen",
        "Keine Sorge!",
    ),
    Entry(
        r"(?![^.!?]*\b(?:ist|sind|war|waren|hat|haben|hatte|wird|werden|wurden?|kann|können|ich|wir"
        r"|kam|kamen|gab|steht|stehen)\b)(?:alle |jede[rsn]? |sämtliche |meine "
        r"|deine )?(?:antworten|überschriften|titel|preise?|beträge|datumsangaben|datum|daten"
        r"|uhrzeiten|zeiten|zahlen|einheiten|maße|maßangaben|temperaturen|entfernungen|zitate"
        r"|quellen|kommentare|code|codebeispiele|beispiele|variablennamen|rechtschreibung|währung"
        r"|einrückung(?:en)?|listen|absätze|sätze|zusammenfassungen|mails|e-mails|briefe|rezepte"
        r"|commit-nachrichten|dateinamen|links|ton|stil|sprache)(?: (?:bitte|immer|stets|nur"
        r"|in diese[mr] \p{L}+|bis \p{L}+|von \p{L}+|am \p{L}+))*(?::| ?,)? (?:in|im|als|mit|ohne"
        r"|unter|auf|inklusive|inkl\.?|einschließlich|maximal|höchstens|immer|nie|kurz|nur"
        r"|ausgeschrieben|bitte|tabs|nach|gerundet|kleingeschrieben|brutto|netto|\p{L}+ statt)\b",
        "Überschriften ohne Punkt",
        "Preise in der Schweiz sind hoch.",
    ),
)
