"""The words by which standing rules are told in Dutch."""

from __future__ import annotations

from gateway_compaction.core.text.lexicon.entry import Entry, RuleWords

VERBS = (
    r"(?:antwoord|begin|begroet|behandel|bereken|beperk|beschouw|bewaar|blijf|breng|check"
    r"|citeer|controleer|corrigeer|denk|doe|druk|duid|eindig|formatteer|formuleer|gebruik|ga"
    r"|geef|haal|hanteer|herhaal|hou(?:d)?|kijk|kies|kom|laat|leg|lees|lever|lijst|maak|markeer"
    r"|meld|met|neem|noem|noteer|nummer|onderteken|onthoud|orden|pas|plaats|praat|raad|adviseer"
    r"|reageer|reken|rond|schets|schrijf|som|spaar|spreek|splits|spring|start|stel|stop|stuur"
    r"|tel|test|toon|tutoyeer|verbeter|verander|verklaar|vermeld|vermijd|vertaal|vertel|vervang"
    r"|verwijder|verwijs|verwijs|voeg|vat|vraag|vraag|waarschuw|wacht|wees|wijs|wissel|zeg|zet"
    r"|zoek|zorg|vul|werk|u gelieve|gelieve|wil je|leg uit|sla|deel|bevestig|schakel|hoef)"
)
OUTPUT = (
    r"(?:antwoord(?:en)?|bericht(?:en)?|brie(?:f|ven)|e-?mails?|mails?|tekst(?:en)?"
    r"|recept(?:en)?|voorbeeld(?:en)?|query'?s?|concept(?:en)?|samenvatting(?:en)?"
    r"|vertaling(?:en)?|uitleg|berekening(?:en)?|prij(?:s|zen)|bedrag(?:en)?|datum(?:s)?|data"
    r"|tijd(?:en|stip|stippen)?|cijfers?|getal(?:len)?|titels?|kop(?:pen)?|code|codevoorbeelden"
    r"|zin(?:nen)?|citaten|bron(?:nen)?|keer|suggesties)"
)
RULES = RuleWords(
    headings=(
        Entry(
            r"regels|huisstijl|richtlijnen|voorkeuren|afspraken|voor (?:dit|deze) (?:chat|gesprek"
            r"|project)|voortaan|vanaf nu",
            "Regels voor dit gesprek:",
            "Voor de keuken:",
        ),
    ),
    leads=(
        Entry(
            r"alsjeblieft|alstublieft|graag|svp|en|maar|dus|ook|dan|daarom|of|oké|ok|hoi|hallo|hé"
            r"|trouwens|let op|belangrijk|in het algemeen|over het algemeen|regel(?: \d{1,3})?|verder"
            r"|voortaan|vanaf nu|in het vervolg|bedankt",
            "Graag antwoord in het Nederlands.",
            "Hij woont.",
        ),
    ),
    orders=(
        Entry(VERBS + r"\b(?! (?:ik|jij|hij|we|wij)\b)", "Antwoord in het Koreaans.", "Hij woont."),
        Entry(
            r"(?:je|jij|u) (?:moet|mag|kunt|kan|dient|zou moeten|hoeft)\b(?! (?:weten|gek|wel moe))",
            "Je moet in het Engels antwoorden.",
            "Je moet weten wie.",
        ),
    ),
    bans=(
        Entry(
            r"in geen geval\b|onder geen beding\b|je hoeft (?:\S+ ){0,4}?niet\b|(?!(?:ik|je|jij|u"
            r"|hij|ze|zij|we|wij|het|dat|dit|er|is|was|heb|zeker|nog|ook|al|zo|maar|en|of|liever"
            r"|waarom|helaas|vandaag|morgen|ja|nee)\b)\p{L}{3,14} niet\W*$",
            "Vloek niet.",
            "Waarom niet.",
        ),
        Entry(
            r"hou(?:d)? (?:eens |toch )?op (?:met|je)\b|(?:het is )?(?:ten strengste |streng )?verboden\b",
            "Hou op met je excuses.",
            "Houd het kort.",
        ),
        Entry(
            r"(?!(?:ik|je|jij|u|hij|ze|zij|we|wij|het|dat|dit|er|is|was|heb|heeft|had|ben|zal|kan|wil|bijna"
            r"|nog|haast|ook|niet|al|zo|maar|en|of|ging|kwam|zag|wist|wilde|kon|mocht|moest|werd|wordt"
            r"|word)\b)\p{L}{2,16} nooit (?!meer\b|gedacht|geweten|gezien|gehoord)",
            "Push nooit rechtstreeks naar main.",
            "Ik push nooit iets.",
        ),
        Entry(
            r"ik (?:zou (?:graag|liever) (?:hebben|willen)|heb liever) dat (?:je|u)\b",
            "Ik heb liever dat je eerst vraagt.",
            "Ik heb honger.",
        ),
        Entry(
            VERBS + r"\b(?! (?:ik|jij|hij|we|wij|je geen zorgen)\b)[^.!?]{0,120}?\b(?:geen|niet(?! alleen\b)"
            r"|niets|nooit)\b",
            "Gebruik geen emoji's.",
            "Hij kwam niet.",
        ),
        Entry(
            r"(?:vermijd|laat [^.!?,]{1,60}\b(?:weg|achterwege)\b|stop met|bespaar me|onthoud u van"
            r"|zie af van|nooit meer)\b",
            "vermijd anglicismen",
            "Hij vermeed.",
        ),
        Entry(
            r"ik (?:zou (?:graag|liever)|wil|heb liever)[^.!?]{0,80}?\b(?:niet|geen|nooit)\b|(?:je|jij"
            r"|u) (?:moet|mag|dient) (?:\S+ ){0,6}?(?:niet|geen|nooit)\b",
            "Ik wil niet dat je raadt.",
            "Ik wil thee.",
        ),
    ),
    wishes=(
        Entry(
            r"(?:de )?(?:je |jouw |uw |mijn )?(?:antwoorden|berichten|prijzen|bedragen|datums|data"
            r"|tijden|getallen|koppen|titels|code|opmerkingen|citaten|bronnen|voorbeelden|functies"
            r"|namen|variabelen)\b[^,.;:!?]{0,40}?\b(?:moet|moeten|dienen|horen)\b",
            "Prijzen moeten inclusief btw zijn.",
            "Treinen moeten rijden.",
        ),
        Entry(
            r"ik verzoek u\b|(?:je|uw) antwoorden (?:moeten|mogen)\b",
            "Ik verzoek u formeel te blijven.",
            "Ik zie u.",
        ),
        Entry(
            r"ik (?:heb liever|zou (?:graag|liever)|wil|verkies|heb (?:graag|het liefst)"
            r"|vind het (?:prettig|fijn))\b|het (?:is|zou) (?:belangrijk|fijn|prettig|goed)|liever\b"
            r"|het liefst\b",
            "Ik heb liever korte antwoorden.",
            "Ik ga.",
        ),
        Entry(
            r"(?:elke?|alle|iedere?)\b[^,.;:!?]{1,80}?\b(?:moet(?:en)?|dient|dienen)\b|(?:één"
            r"|een) [^,.;:!?]{1,40} (?:is genoeg|volstaat|is voldoende)\b",
            "Elke query moet op Postgres draaien.",
            "Elke dag regent het.",
        ),
    ),
    headless=(
        Entry(
            r"je bent (?:nu|voortaan|vanaf nu) (?:mijn|een)\b|geen \p{L}+ meer in (?:je|uw)\b",
            "Je bent nu mijn redacteur.",
            "Je bent nu moe.",
        ),
        Entry(
            r"(?:(?:hooguit|hoogstens|maximaal) )?(?:\d+|één|een|twee|drie|vier|vijf"
            r"|tien) [^.!?,]{1,40} per (?:antwoord|bericht|alinea)\b",
            "Hooguit drie punten per antwoord.",
            "Hooguit drie kwamen.",
        ),
        Entry(
            r"(?<=^\W*)(?:(?:aan het (?:eind|einde|begin) van|onderaan|bovenaan|in|bij|na|voor"
            r"|onder) )(?:elke?|ieder|iedere|alle|al je) ?" + OUTPUT + r"\b",
            "Aan het eind van elk antwoord de open punten noemen.",
            "Aan het eind van de dag.",
        ),
        Entry(
            r"(?:altijd(?! (?:al|hetzelfde|weer|zo)\b)|nooit (?!meer (?:ga|eet|zal)|van gehoord|gehoord"
            r"|gezien|geweten))\b",
            "Altijd beleefd blijven.",
            "Altijd weer die regen.",
        ),
        Entry(
            r"(?:vanaf nu|voortaan|in het vervolg|in de toekomst|in dit (?:gesprek|project)"
            r"|in deze chat)[,:]? (?!ik|we|wij|is|zijn|wordt|worden|de\b|het\b|er\b)\p{L}",
            "Voortaan alles in het Engels.",
            "Voortaan is het warm.",
        ),
        Entry(
            r"geen (?!probleem|idee|zorgen|dank|tijd|haast|zin|punt|stress"
            r"|paniek)(?:\p{L}+ ){0,2}?[\p{L}'’-]+(?:,? (?:alsjeblieft|alstublieft|svp|meer|gebruiken"
            r"|graag|in \p{L}+ \p{L}+))?\W*$",
            "geen tabellen",
            "Geen probleem!",
        ),
        Entry(
            r"(?![^.!?]*\b(?:is|zijn|was|waren|heeft|hebben|had|wordt|worden|kan|kunnen|ik"
            r"|we)\b)(?:alle |elke |mijn |je )?(?:antwoorden|koppen|titels|prijzen|bedragen|datums?"
            r"|data|tijden|tijdstippen|getallen|eenheden|maten|temperaturen|citaten|bronnen|opmerkingen"
            r"|code|codevoorbeelden|voorbeelden|namen|spelling|valuta|inspringing|lijsten|alinea's"
            r"|zinnen|samenvattingen|mails|brieven|recepten|toon|stijl|taal)(?: (?:altijd|graag"
            r"|tot \p{L}+|in dit \p{L}+))*,?:? (?:in|met|zonder|als|onder|op|inclusief|incl\.?|maximaal"
            r"|hooguit|altijd|nooit|kort|alleen)\b",
            "koppen zonder punt",
            "Prijzen in Nederland zijn hoog.",
        ),
    ),
    lasting=(
        Entry(
            r"\btenzij anders\b|\buit principe\b|\bzonder mijn (?:toestemming|akkoord|goedkeuring)\b",
            "zonder mijn toestemming",
            "zonder mijn hoed",
        ),
        Entry(
            r"\béén \p{L}+ tegelijk\b",
            "Stel me één vraag tegelijk.",
            "Stel me één vraag.",
        ),
        Entry(
            r"\b(?:als|wanneer) (?:ik|je|u) [^,.!?]{0,40}?(?:zeg|zegt|schrijf|schrijft|typ|vraag|vraagt"
            r"|plak|stuur|citeert|noemt|vertaalt|antwoordt)\b|\b(?:voor|na|bij|met) elke? \p{L}+"
            r"|\belke? \p{L}+ die (?:ik|je|u)\b|\bvoor de rest van (?:dit|het|ons)\b",
            "Vermeld de pagina als je citeert.",
            "Kom als je kunt.",
        ),
        Entry(
            r"\b(?:raad|adviseer|gebruik|stel|schrijf|antwoord|praat|spreek) (?:me )?(?:alleen"
            r"|enkel|uitsluitend)\b",
            "Raad alleen vegetarische restaurants aan.",
            "Toon alleen tien.",
        ),
        Entry(
            r"\b(?:altijd|nooit|uitsluitend|voortaan|vanaf nu|van nu af aan|in het vervolg"
            r"|in de toekomst|telkens|elke keer|iedere keer|per keer|standaard|in het algemeen"
            r"|over het algemeen|overal|zonder uitzondering|zoveel mogelijk|waar mogelijk"
            r"|indien mogelijk|in geen geval|onder geen beding|steeds)\b",
            "voortaan",
            "gisteren",
        ),
        Entry(
            r"\b(?:in|voor|tijdens) (?:dit|deze|ons|onze) (?:\p{L}+ )?(?:chat|gesprek|project|sessie"
            r"|correspondentie|conversatie|discussie)\b",
            "in dit gesprek",
            "in dit huis",
        ),
        Entry(
            r"\b(?:elke?|iedere?|ieder|alle|al)(?: (?:je|mijn|uw|de|onze))? "
            + OUTPUT
            + r"\b|\bper antwoord\b|\balles wat (?:je|ik|we|u)\b|\b(?:elke?|alle|ieder) [\p{L}-]+ (?:die"
            r"|dat) (?:je|ik|u|we)\b|\bin (?:mijn|je|jouw|uw|onze) " + OUTPUT + r"\b",
            "onder elk antwoord",
            "alle bestanden",
        ),
        Entry(
            r"\bvoordat je\b|\bvoor je (?:iets|het|een)\b|\btenzij\b|\bzonder (?:het )?(?:mij"
            r"|me) (?:eerst |vooraf )?te vragen\b|\bvraag (?:het )?me eerst\b",
            "tenzij ik meer vraag",
            "voor het huis",
        ),
    ),
    manner=(
        Entry(
            r"\bvoor (?:leken|beginners|kinderen|experts|een breed publiek)\b|\btegelijk\b",
            "voor leken",
            "voor Anna",
        ),
        Entry(
            r"\bdecimalen\b|\bcijfers achter de komma\b|\bhet kort\b",
            "op twee decimalen",
            "op twee benen",
        ),
        Entry(
            r"\bmijn (?:opmerkingen|commentaar|fouten)\b|\bbetaalde\b",
            "Laat mijn opmerkingen staan.",
            "Laat mijn tas staan.",
        ),
        Entry(
            r"\b(?:metrieke?|metrisch|celsius|kilometers?|euro's|euro|frank|dollars?|btw|eenheden)\b"
            r"|\bin het (?:nederlands|engels|frans|duits|spaans|italiaans|koreaans|japans|chinees"
            r"|russisch|portugees|arabisch)\b|\bspelling\b",
            "in het Koreaans",
            "in het huis",
        ),
        Entry(
            r"\b(?:minder dan|maximaal|hooguit|hoogstens|niet meer dan|onder de|tot) (?:\p{L}+ )?(?:\d+"
            r"|één|twee|drie|vijf|tien|twintig|vijftig|honderd) \p{L}+|\b(?:korte?|beknopte?|bondige?"
            r"|uitgebreide?)\b",
            "hooguit honderd woorden",
            "minder dan alles",
        ),
        Entry(
            r"\b(?:opsomming(?:en|stekens)?|lijst(?:je|en)?|tabel(?:len)?|koppen|markdown|json|vet"
            r"|cursief|emoji(?:'s)?|uitroeptekens?|hoofdletters?|kleine letters|tabs|spaties"
            r"|afkorting(?:en)?|jargon|anglicismen|leenwoorden|vaktaal|het woord\b|de term\b|typescript"
            r"|python|formaat|notatie|tijdzone|alinea's|type hints?|typeannotaties)\b",
            "zonder afkortingen",
            "zonder zout",
        ),
        Entry(
            r"\b(?:antwoord(?:en)?|toon|stijl|formeel|formele|informeel|beleefd|eerlijk|direct|zakelijk"
            r"|recht voor zijn raap|bronnen|bron|vertrouwelijk|geheim|gokken|gok|raden|u-vorm)\b"
            r"|\bnoem me\b|\bnoem mij\b|\b(?:tutoyeer|vousvoyeer) me\b|\balsof ik\b|\bspreek me\b",
            "noem me Jo",
            "Hij woont.",
        ),
    ),
    single=(
        Entry(
            r"\b(?:voor|tot|op|vóór) (?:maandag|dinsdag|woensdag|donderdag|vrijdag|zaterdag|zondag"
            r"|morgen)\b|\been (?:kortere|langere|andere) \p{L}+|^\W*\p{L}+ (?:het|hem) niet\b",
            "Stuur het niet voor maandag.",
            "Stuur niets.",
        ),
        Entry(
            r"\bnog niet\b|\bvoorlopig\b|\bnog geen\b",
            "Annuleer hem nog niet.",
            "Annuleer hem nooit.",
        ),
        Entry(
            r"\b(?:dit|deze|die|(?<!zeg )dat)\b(?! (?:gesprek|project|chat|je|ik|we|u)\b)|\bvolgende\b"
            r"|\b(?:eerste|tweede|laatste|vorige|rest van)\b|\bregel \d+|\b(?:nu|vandaag|morgen|opnieuw"
            r"|nog eens|nog een keer|deze keer|hier)\b(?<!vanaf nu)|\bverder niets\b|\b(?:in"
            r"|van) (?:het|de) (?:bestand|pdf|tekst|alinea)\b",
            "Verbeter deze zin.",
            "Verbeter mijn zinnen.",
        ),
    ),
    deliverables=(
        Entry(
            r"\b(?:voeg|bouw|genereer|teken|ontwerp|ontwikkel|bereken|plan|stel)(?: (?:me|mij|ons"
            r"|even))* (?:een|één|twee|drie|vijf|tien|\d+|enkele)\b",
            "Voeg een kolom toe voor de prijs in euro's.",
            "Voeg de prijs in euro's toe.",
        ),
        Entry(
            r"\b(?:schrijf|maak|geef|toon|laat|vertel|stuur|noem|leg|vat|vertaal|test|controleer"
            r"|verbeter|bedenk|lees|zoek)(?: (?:me|mij|ons|even|alleen))* (?:een|één|twee|drie|vijf"
            r"|tien|\d+|de|het|alle|waarom|hoe|welke|wat|enkele|mijn(?! opmerkingen| commentaar))\b",
            "Schrijf een gedicht zonder rijm.",
            "Schrijf korter.",
        ),
    ),
    conditions=(
        Entry(
            r"\b(?:als|wanneer|zodra|telkens als|voordat|zolang|indien|mocht) (?:je|ik|u|we|er|iets"
            r"|iemand)\b(?! (?:klaar|kunt|kan|wilt|wil|tijd)\b)",
            "Als je de wet citeert, noem het artikel.",
            "De wet is oud.",
        ),
    ),
    standing=(
        Entry(
            r"\bik eet (?:geen|alleen|nooit) \p{L}+|\b(?:is|zijn) (?:verboten|taboe)\b(?! (?:in|op"
            r"|bij|voor))|\bis verboden\W*$",
            "Ik eet geen varkensvlees.",
            "Ik eet graag.",
        ),
        Entry(
            r"^\W*(?:onthoud(?: dat|:)|vergeet niet|denk eraan|houd er rekening mee|let erop)"
            r"|^\W*(?:belangrijk|regel(?: \d{1,3})?):",
            "Onthoud dat ik doof ben.",
            "Hij vergat.",
        ),
        Entry(
            r"\bik ben (?:\p{L}+ )?(?:allergisch|vegetariër|vegetarisch|veganist\w*|vegan|diabeet|doof"
            r"|blind|dyslectisch|kleurenblind)\b|\bik heb (?:een )?(?:\p{L}*allergie|\p{L}*intolerantie"
            r"|dyslexie)\b",
            "Ik ben allergisch voor noten.",
            "Ik ben moe.",
        ),
    ),
    asides=(
        Entry(
            r"\b(?:zeg|vertel) (?:haar|hem|hun|ze) dat\b[^,;:.!?]*",
            "Zeg haar dat ik dat nooit zei.",
            "Zeg me dat je telt.",
        ),
        Entry(
            r"\been (?:functie|methode|script|programma|klasse|verhaal|gedicht|tekst) (?:die"
            r"|dat)\b[^,;:.!?]*",
            "een functie die altijd True teruggeeft",
            "een functie",
        ),
        Entry(
            r"\b(?:waarom|hoe(?! dan)|welke|of|omdat|hoewel|waar(?! mogelijk))\b (?:het|ik|je|hij|ze|we"
            r"|er|de|dat|die|een|\p{L}+)\b[^,;:.!?]*|\bwat(?! (?:je|ik|we|u)\b)[^,;:.!?]*"
            r"|(?<=\p{L} )(?:die|dat) (?:niet|nooit|nog|altijd)\b[^,;:.!?]*",
            "waarom het nooit werkt",
            "het werkt",
        ),
    ),
    tags=(Entry(r"oké|ok(?:ay)?|alsjeblieft|goed|ja|akkoord|hè|graag", "oké", "maandag"),),
    polite=(
        Entry(
            r"(?:(?:en|dus),? )*(?:kun|kan|zou|wil|kunt|wilt) (?:je|jij|u) [^?]{0,80}?\b(?:altijd|nooit"
            r"|voortaan|vanaf nu|in het vervolg|in alle|elke keer)\b",
            "Kun je altijd Nederlands praten?",
            "Kun je praten?",
        ),
    ),
    tales=(
        Entry(
            r"^\W*(?:mijn \p{L}+ (?:zegt|zei|gaat|komt|is)|onze \p{L}+|we (?:hebben|waren|zijn|mochten)"
            r"|hij|zij|ze|in \p{L}+ (?:zijn|is|was)|op school|de \p{L}+ (?:herstart|is|was|zegt))\b",
            "De server herstart nooit vanzelf.",
            "Herstart de server nooit.",
        ),
    ),
)
