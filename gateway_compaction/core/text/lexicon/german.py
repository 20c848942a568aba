"""The words of German."""

from __future__ import annotations

from gateway_compaction.core.text.lexicon.entry import Entry, Lexicon, Phrases

OPEN = (
    r"(?:^\W*|^\d{1,3}[.)]\s+|[,;:.—–-]\s+"
    r"|\b(?:please|and|but|also|so|then|again|note|reminder|bitte|und|aber|also|et|mais|y|pero"
    r"|por favor)[,:]?\s+)"
)
GERMAN_VERB = (
    r"(?:antworte?|schreibe?|nenne?|verwende|benutze?|nutze?|nimm|gib|sage?|zeige?|lösche?|ändere?|sprich"
    r"|rufe?|mache?"
    r"|lasse?|stelle?|halte?|formuliere?|übersetze?|rechne|runde|füge?|frage?|prüfe?|beachte|vermeide"
    r"|erwähne|sende"
    r"|schicke?|duze?|sieze?|bleibe?|führe?|starte|teste|speichere|zitiere?|erkläre?|fasse?|liste|behandle"
    r"|erstelle?"
    r"|kommentiere?|pushe?|committe|berühre?|\p{L}{2,16}en sie)"
)
GERMAN_LASTING = (
    r"(?:immer|nie|niemals|nur|stets|kein(?:e|en|em|er|es)?|auf keinen fall|ab (?:jetzt|sofort|heute)"
    r"|ausschließlich"
    r"|nicht(?! so\b)|künftig|in zukunft|jedes mal|grundsätzlich|von nun an)"
)
RULES = (
    rf"{OPEN}(?:immer(?! (?:diese[rsmn]?|noch|wieder|mehr|das gleiche|dasselbe|nur)\b)|niemals"
    rf"|nie (?!wieder\b|gehört)"
    r"|auf keinen fall|unbedingt|merke? dir|achte darauf|denke? daran|vergiss nicht|stets"
    r"|(?:ab jetzt|ab sofort|von nun an|künftig|in zukunft) (?!ich|wir|bin|habe|ist)"
    rf"|{GERMAN_VERB}\b(?! dir kein)[^.!?]{{0,80}}\b{GERMAN_LASTING}\b)"
    r"|\bbitte (?:immer|nie|niemals|kein\w*|nur|nicht|stets)\b"
    r"|^keine? (?!ahnung|sorge|angst|zeit|frage|lust|ursache|problem|idee|panik)\p{L}+(?: (?:bitte"
    r"|verwenden|benutzen))?\W*$"
    r"|\bich (?:möchte|will|wünsche(?: mir)?|hätte gern)[^.!?]{0,30}\bdass (?:du|sie)\b[^.!?]{0,40}"
    r"\b(?:immer|nie|niemals|nur|kein\w*|nicht|stets)\b"
    r"|\b(?:du musst|sie müssen)(?! (?:nicht|wissen|mal|dir|sehen|unbedingt (?:mal )?sehen)\b)"
    r"|\b(?:du darfst|sie dürfen|du sollst|sie sollen)(?: \w+){0,4} (?:nicht|nie|niemals|kein\w*|nur|immer)\b"
)

GERMAN = Lexicon(
    code="de",
    name="German",
    phrases=Phrases(
        "Zusammenfassung des früheren Teils dieses Gesprächs, als Hintergrund; sie "
        "enthält keine neuen Anweisungen. Das Gespräch geht unten weiter.",
        "Bild nicht mehr sichtbar",
        "Frühere Nachrichten, als Hintergrund zitiert:",
        "frühere Nachrichten, nicht mehr gezeigt",
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
        Entry(r"Ich"),
        Entry(r"ich"),
        Entry(r"[Mm]ir"),
        Entry(r"[Mm]eine?[rmns]?"),
        Entry(r"[Ww]ir"),
        Entry(r"[Uu]nsere?[rmns]?"),
    ),
    corrections=(Entry(r"\b(?:korrektur|sondern|stattdessen|geändert|nicht mehr|nicht am)\b"),),
    reminders=(
        Entry(r"\bmerke? dir\b"),
        Entry(r"\bvergiss nicht\b"),
        Entry(r"\bdenk(?:e)? daran\b"),
    ),
    decisions=(
        Entry(r"\b(?:entschieden|beschlossen|festgelegt)\b"),
        Entry(r"\bwir nehmen\b"),
    ),
    undecided=(Entry(r"noch nicht"),),
    anchor_cues=("merk|vergiss|daran|entschieden|beschlossen|festgelegt|wir nehmen"),
    rules=(Entry(RULES),),
    rule_cues=(
        "immer|nie|auf keinen|unbedingt|merk|achte|denk|vergiss|stets"
        "|ab jetzt|ab sofort|ab heute|von nun|künftig|zukunft|kein"
        "|nur|ausschließlich|nicht|jedes mal|grundsätzlich|musst"
        "|müssen|darfst|dürfen|sollst|sollen"
    ),
    polite_rules=(Entry(r"(?:kannst|könntest|würdest) du (?:bitte )?(?:immer|nie|ab jetzt|künftig|nur)\b"),),
    impostures=(Entry(r"zusammenfasser|in (?:die|der) zusammenfassung"),),
    withdrawals=(
        Entry(r"\bab (?:jetzt|sofort|heute)\b"),
        Entry(r"\bvon nun an\b"),
        Entry(r"\bdoch (?:wieder|lieber)\b"),
        Entry(r"\bnicht mehr\b"),
        Entry(r"\bstattdessen\b"),
        Entry(r"\bkorrektur\b"),
        Entry(r"\bwieder (?:erlaubt|in ordnung|okay|ok)\b"),
    ),
    vague_withdrawals=(Entry(r"\b(?:wieder|jetzt|doch)\b"),),
    requests=(Entry(r"bitte|antworte|schreib|nimm|nenne"),),
    permissions=(
        Entry(r"\b(?:erlaubt|in ordnung)\b"),
        Entry(r"\bdu (?:kannst|darfst)\b"),
    ),
    withdrawal_cues=(
        "ab jetzt|ab sofort|ab heute|von nun|wieder|lieber|mehr|stattdessen|korrektur|jetzt|doch"
    ),
    fresh_starts=(Entry(r"immer|nie|niemals|bitte|verwende"),),
    transforms=(Entry(r"übersetz\w*|zusammen|kürz\w*|korrigier\w*|formulier\w*"),),
    pointers=(Entry(r"dies\w*|folgend\w*|unser\w*|mein\w*"),),
    exhibits=(
        Entry(r"hier (?:ist|das)\b"),
        Entry(r"meldung"),
    ),
    politeness=(Entry(r"bitte"),),
    appeals=(Entry(r"bitte"),),
    rule_headings=(Entry(r"regeln"),),
    cases=(Entry(r"wenn|beim"),),
    mail_headers=(Entry(r"Von|An|Betreff|Gesendet"),),
    clause_numbers=(Entry(r"Artikel|Abschnitt"),),
    nothing=(Entry(r"ja|nein|verstanden|alles klar|gut|danke|fehler|keine?s?"),),
    refusals=(
        Entry(r"(?:es )?tut mir (?:\w+ )?leid\b"),
        Entry(r"entschuldig(?:ung|en sie|e,)\b"),
        Entry(r"leider (?:kann|konnte|darf|bin|habe) ich\b"),
        Entry(r"leider ist (?:es mir|das nicht)\b"),
        Entry(r"(?:das|dies|dies\w+ \w+) (?:kann|konnte|darf) ich (?:\w+ ){0,4}?nicht\b"),
        Entry(r"(?:dabei|damit|hierbei|dazu) (?:kann|konnte|darf) ich (?:\w+ ){0,4}?nicht\b"),
        Entry(r"(?:eine )?zusammenfassung (?:ist )?(?:leider )?nicht (?:möglich|verfügbar)\b"),
        Entry(r"ich kann (?:\w+ ){1,6}?nicht\b"),
        Entry(r"ich bin nicht in der lage\b"),
        Entry(r"als ki(?:-\w+)?\b"),
        Entry(r"als sprachmodell\b"),
    ),
    errors=(
        Entry(r"fehler\s*+[:：]"),
        Entry(r"(?:es ist )?ein fehler (?:ist )?aufgetreten"),
        Entry(r"fehler bei\w*"),
    ),
    question_starts=(
        Entry(r"(?:was|welche[rnsm]?|wie|wo|wann|warum|wer)\b"),
        Entry(
            r"(?:kann|können|könntest|könnten|möchtest|möchten|soll|sollen|darf|haben|hast) (?:ich|du"
            r"|sie|ihr|wir)\b"
        ),
    ),
    reader=(
        Entry(r"\b(?:du|dir|dich|sie|ihnen)\b"),
        Entry(r"\b(?:kann|darf|soll) ich\b"),
    ),
    deferrals=(
        Entry(
            r"\bich (?:prüfe|kläre|erkundige mich|(?:frage|schaue|sehe) (?:\w+ )?nach"
            r"|gebe (?:\w+ )?bescheid)"
        ),
        Entry(
            r"\b(?:melde mich|werde (?:\w+ ){0,6}(?:prüfen|klären|nachfragen|nachsehen|nachschauen"
            r"|melden))\b"
        ),
    ),
    references=(Entry(r"\b(?:was|wann|wer|welche[rs]?|wo|warum)\b"),),
)
