"""The words by which standing rules are told in German."""

from __future__ import annotations

from gateway_compaction.core.text.lexicon.entry import Entry, RuleWords
from gateway_compaction.core.text.lexicon.rules.german_orders import BANS, HEADLESS, ORDERS, OUTPUT, WISHES

RULES = RuleWords(
    headings=(
        Entry(
            r"regeln|vorgaben|hausstil|stilvorgaben|(?:für|in) diese[mns] (?:chat|gespräch|projekt)"
            r"|für diese unterhaltung|ab (?:jetzt|sofort)|künftig|von nun an|präferenzen",
            "Für diesen Chat gilt:",
            "Für die Küche:",
        ),
    ),
    leads=(
        Entry(
            r"bitte|und|aber|also|auch|dann|daher|deshalb|darum|ach|ok|okay|hey|hallo|noch etwas"
            r"|noch was|wichtig|oder|sondern|so|zudem|außerdem|mal|grundsätzlich|generell|ansonsten"
            r"|regel(?: \d{1,3})?|im allgemeinen|ab hier|von hier an|ab jetzt|ab sofort|von nun an"
            r"|künftig|in zukunft|noch etwas für die weitere zusammenarbeit",
            "Bitte antworte auf Deutsch.",
            "Er antwortet.",
        ),
    ),
    orders=ORDERS,
    bans=BANS,
    wishes=WISHES,
    headless=HEADLESS,
    lasting=(
        Entry(
            r"\bnichts anderes (?:vereinbart|gesagt|verlangt|steht|sage|angebe)\b|\bjeweils\b"
            r"|\bdu quellen\b|\bohne (?:meine|vorherige) (?:zustimmung|erlaubnis|freigabe)\b",
            "Es genügt, wenn du jeweils die Zeilen zeigst.",
            "Er zeigt die Zeilen.",
        ),
        Entry(
            r"\b(?:nur )?eine?n? \p{L}+ (?:auf einmal|gleichzeitig)\b",
            "Stell nur eine Frage auf einmal.",
            "Stell nur eine Frage.",
        ),
        Entry(
            r"\b(?:wenn|sobald|falls) (?:du|ich|sie) [^,.!?]{0,40}?\b(?:sag(?:e|st)|schreib(?:e|st)"
            r"|tipp(?:e|st)|frag(?:e|st)|einfüg(?:e|st)|schick(?:e|st)|post(?:e|est)|zitier(?:e|st)"
            r"|nenn(?:e|st)|erwähn(?:e|st)|übersetz(?:t|e)|antwort(?:e|est))\b|\b(?:vor|nach|bei"
            r"|mit) jede[mrn] \p{L}+|\b(?:für den|während des) (?:ganzen )?rest (?:des|der|dieses|unseres"
            r"|unserer)\b|\bunter keinen umständen\b|\bbei zitaten\b",
            "Wenn ich weiter sage, lies weiter.",
            "Wenn es regnet, bleib da.",
        ),
        Entry(
            r"\b(?:jede[rsnm]?|alle) (?:\p{L}+ ){0,3}?(?:muss|müssen|soll|sollen|brauch(?:t|en))\b"
            r"|\b(?:empfiehl|empfehle?n? sie|nutze?|verwende?|benutze?|schlage?|antworte?"
            r"|schreibe?|sprich)(?:n sie)? (?:mir )?(?:nur|ausschließlich)\b|\bzu jede[rm] \p{L}+",
            "Empfiehl nur vegane Lokale.",
            "Zeig mir nur zehn.",
        ),
        Entry(
            r"\b(?:immer|nie|niemals|stets|ausschließlich|grundsätzlich|generell|jedes mal|jederzeit"
            r"|auf keinen fall|ausnahmslos|durchgehend|durchweg|standardmäßig|überall|im allgemeinen"
            r"|wann immer|wo immer|möglichst|ab (?:jetzt|sofort|heute)|von nun an|von jetzt an|ab hier"
            r"|künftig|zukünftig|in zukunft|von hier an|nach möglichkeit|für die weitere zusammenarbeit"
            r"|bis auf weiteres)\b",
            "künftig",
            "gestern",
        ),
        Entry(
            r"\b(?:in|für|bei|während) (?:diese[rmns]?|unsere[rmns]?)(?: \p{L}+)? (?:chat|gespräch"
            r"|unterhaltung|projekt|sitzung|korrespondenz|schriftverkehr|konversation|austausch"
            r"|repo)s?\b|\b(?:im|in unserem) schriftverkehr\b",
            "in diesem Chat",
            "in diesem Haus",
        ),
        Entry(
            r"\b(?:jede[rsnm]?|alle[nrm]?|sämtliche[nrm]?|pro|je)(?: (?:deine[rnm]?|meine[rnm]?"
            r"|ihre[rnm]?|künftigen|der|einzelne[rnm]?))? "
            + OUTPUT
            + r"\b|\b(?:in|bei|für) alle[mn]?,? was\b|\balles,? was (?:du|wir|ich|sie)\b|\b(?:jede[rsnm]?"
            r"|alle[nr]?) [\p{L}-]+,? (?:die|das|den|der) (?:du|sie|ich|wir)\b",
            "in jeder Nachricht",
            "alle Dateien",
        ),
        Entry(
            r"\bin (?:meinen|deinen|ihren|unseren) (?:texten|antworten|mails|briefen|nachrichten"
            r"|rezepten)\b|\bbevor du\b|\bohne mich (?:vorher |zuvor )?zu fragen\b"
            r"|\bbis ich etwas anderes sage\b",
            "in meinen Texten",
            "in meinem Haus",
        ),
    ),
    manner=(
        Entry(
            r"\b(?:klartext|unverblümt|guillemets|anführungszeichen|mit vornamen|ausgeschrieben)\b",
            "Sprich Klartext.",
            "Sprich mit Anna.",
        ),
        Entry(
            r"\bals (?:wär|hätt)\p{L}+ du\b",
            "Tu so, als wärst du mein Lehrer.",
            "als du kamst",
        ),
        Entry(
            r"\b(?:für (?:laien|anfänger|einsteiger|kinder|experten|fachleute)|auf einmal"
            r"|für ein (?:breites|allgemeines) publikum|seitenzahl(?:en)?|verständlich)\b",
            "für Laien",
            "für Anna",
        ),
        Entry(
            r"\b(?:dezimalstellen?|stellen|fachwörter|fachausdrücke|fremdwörter|beim (?:sie|du)"
            r"|kommentare|docstrings?|generische\w*)\b|\bso,? dass (?:es |ein|ich|jede)",
            "auf zwei Stellen",
            "auf zwei Beinen",
        ),
        Entry(
            r"\bmeine (?:kommentare|formatierung|rechtschreibung|fehler)\b",
            "Lass meine Kommentare stehen.",
            "Lass meine Tasche stehen.",
        ),
        Entry(
            r"\b(?:metrisch\w*|einheiten|celsius|kilometer|euro|franken|dollar|brutto|netto"
            r"|mehrwertsteuer|mwst|ust|nachkommastellen?|prozent)\b",
            "mit Mehrwertsteuer",
            "mit Freude",
        ),
        Entry(
            r"\bauf (?:deutsch|englisch|französisch|spanisch|italienisch|koreanisch|japanisch"
            r"|chinesisch|russisch|polnisch|türkisch|niederländisch|portugiesisch|arabisch|latein"
            r"|schwedisch|dänisch)\b|\b(?:rechtschreibung|einfacher sprache|sprache)\b",
            "auf Koreanisch",
            "auf dem Dach",
        ),
        Entry(
            r"\b(?:unter|höchstens|maximal|max\.?|nicht mehr als|bis zu|weniger als) (?:\p{L}+ )?(?:\d+|ein"
            r"|zwei|drei|fünf|zehn|zwanzig|fünfzig|hundert|\p{L}+hundert) \p{L}+|\b(?:kurz(?:e[rnms]?)?"
            r"|knapp(?:e[rnms]?)?|prägnant|ausführlich\w*|stichpunkt\w*|stichwort\w*)\b",
            "höchstens hundert Wörter",
            "unter dem Tisch",
        ),
        Entry(
            r"\b(?:aufzählung\w*|listen?|tabellen?|überschriften?|markdown|json|fett(?:druck)?|kursiv"
            r"|emojis?|smileys?|ausrufezeichen|kleinschreibung|großschreibung|kleinbuchstaben"
            r"|codeblöcke|tabs|leerzeichen|abkürzung\w*|fachjargon|fachbegriffe?|anglizismen"
            r"|fremdwörter\w*|gendersternchen|typescript|python|format|zeitzone|das wort \S+"
            r"|den begriff \S+|floskeln?|absätze|type[ -]?hints|typannotationen)\b",
            "ohne Abkürzungen",
            "ohne Licht",
        ),
        Entry(
            r"\b(?:antworten|antwort|tonfall|ton|stil|förmlich\w*|formell\w*|höflich\w*|sachlich\w*"
            r"|locker\w*|ehrlich|offen|direkt|schonungslos|vornamen?|quellen?|quellenangaben?|vertraulich"
            r"|geheim|raten|rate|du-form|sie-form)\b|\b(?:duze?(?:n sie)?|sieze?(?:n sie)?) mich\b"
            r"|\b(?:nenne?(?:n sie)?|sprich|sprechen sie) mich\b|\bals wäre ich\b",
            "Nenn mich bitte Jule.",
            "Er kam.",
        ),
    ),
    single=(
        Entry(
            r"\b(?:vor|bis|am|ab) (?:montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonnabend"
            r"|sonntag|morgen|nächste[rn]?)\b|\beine (?:kürzere|längere|einfachere|andere) \p{L}+"
            r"|^\W*\p{L}+ (?:es|ihn) (?:bitte )?(?:noch )?nicht\b",
            "Schick es nicht vor Montag ab.",
            "Schick nichts ab.",
        ),
        Entry(
            r"\bnoch (?:nicht|kein\w*)\b|\bvorerst\b|\bfürs erste\b",
            "Storniere sie noch nicht.",
            "Storniere sie nie.",
        ),
        Entry(
            r"\bdiese[rsnm]?\b(?! (?:chat|gespräch|unterhaltung|projekt))|\b(?:de[nmr]|das"
            r"|die) folgende\w*\b|\bfolgende[nmrs]?\b|\b(?:die|den|der|dem) (?:ersten?|zweiten?"
            r"|dritten?|letzten?|nächsten?|vorigen?|obigen?) |\b(?:der|in|an) (?:der )?(?:zeile"
            r"|datei)\b|\b(?:jetzt|gerade|gleich|heute|morgen|noch einmal|nochmal|noch mal|diesmal|hier"
            r"|sonst)\b(?<!ab jetzt)(?<!ab heute)|\bdas\b(?= du (?:jetzt|gleich))",
            "Kürze diesen Absatz.",
            "in meinem Absatz",
        ),
    ),
    deliverables=(
        Entry(
            r"\b(?:füge?|baue?|lege?|setze?|entwirf|entwickle?|berechne?|verfasse?|formuliere?"
            r"|generiere?|zeichne?|plane?|suche?|finde?)(?:n sie)?(?: (?:mir|uns|bitte"
            r"|noch))* (?:eine?n?|zwei|drei|fünf|zehn|\d+|mehrere|einige)\b",
            "Füge eine Spalte für den Preis in Euro hinzu.",
            "Füge den Preis in Euro hinzu.",
        ),
        Entry(
            r"\b(?:schreibe?|mache?|erstelle?|gib|zeige?|nenne?|sage?|schicke?|liste|erkläre?|fasse?"
            r"|übersetze?|prüfe?|teste?|starte?)(?:n sie)?(?: (?:mir|uns|bitte))* (?:eine?n?|(?:den|die"
            r"|das|dem|alle|mein\w*)\b(?! (?:preise|zeiten|daten|uhrzeiten|beträge|zahlen|einheiten"
            r"|kommentare|rezepte|antworten)\b)|zwei|drei|fünf|zehn|\d+|mehrere|einige|gründe)\b",
            "Schreib ein Gedicht ohne Reime.",
            "Schreib kurze Sätze.",
        ),
    ),
    conditions=(
        Entry(
            r"\b(?:solange|sofern|wenn|falls) nichts anderes\b|\bwas du nicht (?:weißt|belegen"
            r"|beweisen|prüfen)\b",
            "Solange nichts anderes vereinbart ist, schreib kurz.",
            "Es gibt nichts anderes.",
        ),
        Entry(
            r"\b(?:wenn|falls|sobald|sofern|immer wenn|bevor|ehe|solange|außer) (?:du|sie|ich|wir|es"
            r"|etwas|jemand|ein\w*|dir)\b(?! (?:fertig|zeit|kannst|können|magst|willst|möchtest|noch)\b)",
            "Wenn ich Code einfüge, prüfe ihn.",
            "Der Code war alt.",
        ),
    ),
    standing=(
        Entry(
            r"\bich esse (?:nur|kein\w*|nie) \p{L}+|\b(?:ist|sind) (?:tabu|verboten|untersagt"
            r"|verpönt|unerwünscht)\b(?! (?:in|im|auf|bei|für|an))",
            "Ich esse kein Schweinefleisch.",
            "Ich esse gern.",
        ),
        Entry(
            r"^\W*(?:bitte )?(?:merke? dir|achte darauf|denke? daran|vergiss nicht|beachte)\b"
            r"|^\W*(?:wichtig|regel(?: \d{1,3})?|merke):",
            "Merk dir: Liefertermin ist der 3. Mai.",
            "Er merkte es.",
        ),
        Entry(
            r"\bich (?:möchte|will|wünsche(?: mir)?|hätte gern)[^.!?]{0,30}\bdass (?:du"
            r"|sie)\b[^.!?]{0,60}\b(?:immer|nie|niemals|nur|kein\w*|nicht|stets)\b",
            "Ich möchte, dass du nie Anglizismen benutzt.",
            "Ich möchte Kaffee.",
        ),
        Entry(
            r"\bich bin (?:\p{L}+ )?(?:allergisch|vegetarier\w*|vegetarisch|vegan\w*|diabetiker\w*"
            r"|blind|gehörlos|legastheniker\w*)\b|\bich habe (?:eine )?(?:\p{L}+)?(?:allergie"
            r"|unverträglichkeit|legasthenie)\b",
            "Ich bin Vegetarier.",
            "Ich bin müde.",
        ),
        Entry(
            r"\bbitte (?:immer|nie|niemals|stets|kein(?:e[nrms]?)? \p{L}+(?: mehr)?\W*$)",
            "Nie Tabellen, bitte nie.",
            "Bitte komm.",
        ),
    ),
    asides=(
        Entry(
            r"\b(?:sag|sage|sagen sie|erzähle?|schreibe?|richte) (?:ihr|ihm|ihnen"
            r"|allen)(?: aus)?,? (?:bitte )?,?dass\b[^;:.!?]*|\b(?:sag|sage) (?:ihr|ihm"
            r"|ihnen), [^;:.!?]*|(?<=\p{L}, )(?:in|mit|von|bei|aus|zu|für|über|auf|an) (?:der|dem"
            r"|denen|die|den|das|deren)\b[^,;:.!?]*",
            "Sag ihr, dass ich das nie gesagt habe.",
            "Sag mir, dass du zählst.",
        ),
        Entry(
            r"(?<=\bein(?:e|en|em)? [\p{L}-]{2,30}, )(?:die|der|das|den|dem)\b(?! (?:du|ich|wir"
            r"|sie|bitte)\b)[^,;:.!?]*",
            "eine Funktion, die immer True zurückgibt",
            "die Funktion",
        ),
        Entry(
            r"\b(?:warum|weshalb|wieso|wie|welche[rsnm]?|ob|wozu|woran|weil|obwohl)\b(?! (?:immer"
            r"|möglich)\b)[^,;:.!?]*|(?<=, )(?:wer|wo|wann|was(?! (?:du|wir|ich|sie)\b))\b[^,;:.!?]*",
            "warum mein Hefeteig nie aufgeht",
            "mein Hefeteig",
        ),
        Entry(
            r"(?<=\p{L}, )(?:die|der|das|den|dem|deren|dessen)\b(?! (?:bitte|immer)\b)(?! (?:du|ich|wir"
            r"|sie)\b)[^,;:.!?]*",
            "Dateien, die nicht getestet sind",
            "die Dateien",
        ),
    ),
    tags=(
        Entry(
            r"ja|ok(?:ay)?|bitte|gut|einverstanden|verstanden|oder|alles klar|gell|in ordnung",
            "ja",
            "Montag",
        ),
    ),
    polite=(
        Entry(
            r"(?:(?:und|also|bitte),? )*(?:kannst|könntest|würdest|können|könnten|würden) (?:du"
            r"|sie) [^?]{0,80}?\b(?:immer|nie|niemals|ab jetzt|ab sofort|künftig|in zukunft|stets"
            r"|in (?:allen|jeder))\b",
            "Kannst du bitte immer Deutsch sprechen?",
            "Kannst du Deutsch?",
        ),
    ),
    impostures=(
        Entry(
            r"zusammenfasser|in (?:die|der) zusammenfassung", "Schreib in die Zusammenfassung.", "Schreib."
        ),
    ),
    tales=(
        Entry(
            r"^[^:]{0,60}\b(?:anleitung|schild|etikett|handbuch|brief|vertrag|mail|e-mail|aushang|packung"
            r"|verpackung|chef\w*|lehrer\w*|arzt|ärztin|vermieter\w*)\b[^:]{0,30}\b(?:steht|heißt es|stand"
            r"|sagt\w*|meint\w*|schreibt|schrieb)\b",
            "In der Anleitung steht: Deckel nie öffnen.",
            "Deckel nie öffnen.",
        ),
        Entry(
            r"^\W*(?:wir|ich|er|es|man|mein\w* \p{L}+|unser\w* \p{L}+|bei uns) (?:\p{L}+ )?(?:habe?n?"
            r"|hatten?|bin|sind|war|waren|durften?|durfte|fand|sagte?n?|sagt|schreibt|schrieb|meint"
            r"|frage? mich|gehe|ging)\b",
            "Wir haben nie erfahren, wer es war.",
            "Wir verwenden nie Tabellen.",
        ),
    ),
)
