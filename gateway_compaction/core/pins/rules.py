"""By which words a sentence lays down a rule, in several languages."""

from __future__ import annotations

from collections.abc import Iterator

import regex

__all__ = ["lays_down_a_rule", "poses"]

OPEN = (
    r"(?:^\W*|^\d{1,3}[.)]\s+|[,;:.—–-]\s+"
    r"|\b(?:please|and|but|also|so|then|again|note|reminder|bitte|und|aber|also|et|mais|y|pero"
    r"|por favor)[,:]?\s+)"
)
VERB = (
    r"(?:add|address|answer|ask|avoid|begin|call|check|cite|commit|compute|convert|delete|describe|draw"
    r"|email|end"
    r"|explain|express|format|give|include|keep|leave|limit|list|mark|mention|name|number|print|provide"
    r"|push|put"
    r"|quote|refer|reply|respond|return|round|run|save|say|send|show|sign|sort|speak|spell|start|stick"
    r"|store|talk"
    r"|tell|test|translate|use|wait|write)"
)
# Said with "only", these tell how to answer; others may ask for a part of something, once.
ONLY_VERB = (
    r"(?:answer|call|cite|communicate|contact|email|express|format|give|include|mention|quote|reply|respond"
    r"|speak|talk|use|write)"
)
LASTING = (
    r"(?:always|never|exclusively|ever|every time|each time|at all times|without exception"
    r"|in (?:the )?future"
    r"|from (?:now|here|today|this point) on|in this (?:chat|conversation|thread|session)|for the rest of)"
)
PLACE = r"(?:chat|conversation|thread|session|project|repo(?:sitory)?|discussion)"
TALES = (
    r"(?:be(?:en)?|before\W*$|gonna|had|seen|heard|thought|knew|tried|felt|got|did|was|wanted|loved|again\W*$"
    r"|again (?:will|did|am|do|have|would|can|shall)"
    r"|have|know|ever$)"
)
STATES = (
    r"(?:been|wanted|loved|had|felt|nice|good|great|happy|glad|fun|there|the|so|here|thought|knew|was|is"
    r"|did|such"
    r"|something|an? |on my|in my|love|up for)"
)
ENGLISH = regex.compile(
    rf"(?i){OPEN}(?:please\s+)?(?:always(?! {STATES}\b)|never(?! mind\b| {TALES}\b|\W*$)"
    r"|(?:do not|don[’']t|dont)(?! worry| know\b| think\b| get me wrong| disturb sign| have\b| you\b)"
    r"|must not"
    r"|make sure(?! (?:they|he|she|it) know)|be sure to|ensure that|make it a (?:habit|rule|point)"
    r"|remember(?: that\b| to\b| my\b| i\b| this:|[:,] (?=\w+ \w)| the [^.!?]{1,40}\b(?:is|are|=) )"
    r"|keep in mind"
    r"|please note that|from (?:now|here|today|this point)(?: on|,)|in (?:the )?future,? (?!i\b|we\b)"
    r"|whenever (?:i|you)\b(?![^,]*, (?:i|the|my|we)\b)|under no circumstances?|at all times"
    r"|avoid (?:using|any)"
    rf"|refrain from|only (?:{ONLY_VERB}|ever)\b|use only|stick to\b|stop (?!worry|kidd|jok|ly|cry|doubt"
    rf"|be)\w+ing\b"
    rf"|{VERB}\b[^.!?]{{0,80}}\b{LASTING}\b(?! if (?:i|we)\b)|(?!give"
    rf"|call){ONLY_VERB}\b[^.!?]{{0,80}}\bonly\b"
    r"|treat (?:everything|all|every)\b|when in doubt,|going forward,? (?!i\b|we\b)"
    r"|keep (?:\w+ ){0,3}(?:answers?|repl(?:y|ies)|responses?|lines?|messages?|sentences?|summaries)\b"
    r"|(?:write|use|add|include|send|make|give) no \w|(?:call|address) me (?!back|later|when|tomorrow|at"
    r"|on|if|by|now)"
    r"|use (?!the (?:first|second|third|last|other)\b|this|that|it\b)[^.!?,]{1,30}, (?:not|never) \w"
    r"|important:|rule(?: \d{1,3})?:"
    rf"|(?:in|for|throughout|during) (?:this|our|the rest of (?:this|our|the)) {PLACE},? (?:please )?"
    rf"(?:always|never|only|do not|don['’]t|no|{VERB})\b)"
    r"|^\W*no (?!problem|worries|idea|thanks|way|doubt|rush|need|offen|trouble|reason|matter|one"
    r"|big)[\w -]{2,40}?(?:,? (?:ever|please|at all|anywhere)\b|(?<=emojis|abbreviations|jargon"
    r"|markdown|slang)\W*$)"
    r"|^\W*no more than [^.!?]{1,40}\b(?:per|in|for) (?:each |every |your |an? |the )?(?:answer|repl"
    r"|response|message)"
    r"|^(?!\W*(?:i|we|he|she|they|it|things?)\b(?!['’]d| would| want| need))[^.!?]*\bfrom (?:now|here"
    r"|today) on\b"
    r"|^(?:all|every|each) [^.!?]{1,60}\b(?:must|has to|have to|needs? an?)\b"
    r"|\byou should(?: not| never| always| only)\b|\byou (?:have to|need to|are to|will|can|may)(?: not"
    r"| never| only)\b"
    r"(?! (?:believe|guess|know|regret|forget|be\b|imagine))|\byou (?:have to|need to|are to) always\b"
    r"|\byou must(?! (?:be (?:kidding|joking|so|very|really|proud|tired|excited|happy|feeling)|have|feel"
    r"|know|miss"
    r"|love|see|visit|try|admit))\b|\byou mustn['’]t"
    r"|\bi(?:['’]d| would)? (?:want|need|like|love|prefer|rather|expect|ask)\b[^.!?]{0,20}\byou\b"
    r"[^.!?]{0,12}\b(?:always|never|only|not|to stop)\b"
    r"|\bi (?:do not|don['’]t|never) (?:want|like|need) (?:you to|to see)\b|\bi (?:do not"
    r"|don[’\']t) want any\b"
    r"|\bit(?:['’]s| is) (?:essential|important|crucial|vital|critical|imperative) that (?:you|the|all"
    r"|every|your|it)\b"
    r"|\b(?:is|are) (?:strictly )?(?:forbidden|not allowed|off[- ]limits|mandatory)\b(?! for )"
    r"|\b(?:ask|warn|notify|check with|confirm with) me (?:first|before)\b|\bmy [\w ]{1,20} is strictly\b"
    r"|\bi(?:['’]m| am) (?:a )?(?:allergic|vegetarian|vegan|diabetic|coeliac|celiac|deaf|blind"
    r"|colou?r[- ]?blind)\b"
    r"|\bi have an? (?:\w+ )?(?:allergy|intolerance)\b"
)
# The orders that may be put as a question, politely.
POLITE = regex.compile(
    r"(?i)^\W*(?:(?:can|could|would|will) you (?:please )?(?:always|never|only|not|avoid|stop|make sure)\b"
    r"|(?:kannst|könntest|würdest) du (?:bitte )?(?:immer|nie|ab jetzt|künftig|nur)\b"
    r"|(?:peux|pourrais)[- ]tu (?:toujours|ne jamais|désormais)\b|(?:puedes|podrías) (?:siempre|no )"
    r"|(?:앞으로는?|항상|이제부터|지금부터)\s[^?]{2,80}(?:줄래|주시겠어|주실래|주실 수|줄 수))"
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
GERMAN = regex.compile(
    rf"(?i){OPEN}(?:immer(?! (?:diese[rsmn]?|noch|wieder|mehr|das gleiche|dasselbe|nur)\b)|niemals"
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
FRENCH_VERB = (
    r"(?:répond(?:s|ez)|écri(?:s|vez)|utilise[zr]?|emploie|employez|parle[zr]?|donne[zr]?|cite[zr]?"
    r"|indique[zr]?|met(?:s|tez)"
    r"|garde[zr]?|appelle[zr]?|fai(?:s|tes)|ajoute[zr]?|demande[zr]?|tutoie|vouvoie|précise[zr]?"
    r"|affiche[zr]?|vérifie[zr]?"
    r"|tradui(?:s|sez)|limite[zr]?|supprime[zr]?|envoie|explique[zr]?|commence[zr]?|termine[zr]?"
    r"|mentionne[zr]?|arrondi[st])"
)
FRENCH = regex.compile(
    rf"(?i){OPEN}(?:toujours (?:\p{{L}}+(?:er|ir|re|oir)\b|en (?!retard)\p{{L}}+\W*$)|jamais (?:de |d['’]"
    rf"|plus )"
    r"|(?:souviens-toi|rappelle-toi|rappelez-vous|souvenez-vous)\b|n['’]oublie[zr]? (?:pas|jamais)"
    r"|n['’](?!y )\p{L}+ (?:pas|jamais|plus)\b|ne (?!sais|suis|peux|veux|pense|crois|vous inquiétez)"
    r"(?:[mls](?:e|a|es|ui|eur)? |[ml]['’])?\p{L}+ (?:pas|jamais|plus)\b|pas d(?:e |[\'’])(?!problème"
    r"|souci|quoi|panique|chance|nouvelles|accord|idée|stress)\p{L}+[^.!?]{0,40}(?:s[\'’]il|svp|merci"
    r"|dans (?:tes|vos))|évite[zr]? (?:de|d['’]|les|la|le"
    r"|l['’]|tout)"
    r"|(?:désormais|dorénavant|à partir de maintenant),? (?!je|nous|on)\p{L}"
    rf"|{FRENCH_VERB}(?:-moi)?\b[^.!?]{{0,60}}\b(?:toujours|jamais|uniquement|seulement|exclusivement"
    rf"|désormais|dorénavant"
    r"|à partir de maintenant|systématiquement|chaque fois)\b)"
    r"|\b(?:tu dois|vous devez)(?! (?:être|avoir|voir))\b|\b(?:tu ne dois|vous ne devez)\b"
    r"|\bil faut (?:toujours|absolument|impérativement)\b|\bil ne faut jamais\b"
    r"|\bje (?:ne )?(?:veux|voudrais|souhaite|préfère)[^.!?]{0,20}\bque (?:tu|vous)\b"
)
SPANISH_VERB = (
    r"(?:respond[ea]|contest[ea]|escrib[ea]|us[ea]|utili[cz][ea]|habla|hable|pon|ponga|di|diga|da"
    r"|mencion[ea]|incluy[ea]"
    r"|indi(?:ca|que)|llám[ae]me|ll[áa]m[ae]|muestr[ea]|cit[ea]|mantén|mantenga|pregunt[ea]|expli(?:ca"
    r"|que)|tradu[cz](?:e|ca)"
    r"|ha[zg]a?|agre(?:ga|gue)|añad[ea]|enví[ea]|borr[ea]|limit[ea]|revis[ea]|termin[ea])"
)
SUBJUNCTIVE = (
    r"(?:(?:us|borr|llam|mencion|cambi|elimin|toqu|env[ií]|muestr|mand|quit|cit|entr|emple|habl|tute"
    r"|contest|compr|llev"
    r"|utilic|agregu|pregunt|expliqu|busqu|complet|inclin)es"
    r"|(?:pong|hag|dig|escrib|respond|incluy|abr|añad|repit|traduzc|veng|salg|vend)as)"
)
SPANISH = regex.compile(
    rf"(?i){OPEN}(?:siempre (?:\p{{L}}+(?:ar|er|ir)\b|en \p{{L}}+\W*$|{SPANISH_VERB}\b)"
    rf"|(?:nunca|jamás|no) (?:(?:me|lo|la|les?|los|las) )?{SUBJUNCTIVE}\b|(?:nunca|jamás) \p{{L}}+[aei]r\b"
    r"|recuerda(?: que|:)|no olvides|aseg[úu]rate|ten en cuenta|evita \p{L}"
    r"|(?:a partir de ahora|de ahora en adelante|desde ahora),? (?!yo|voy|estoy|vamos)\p{L}"
    rf"|{SPANISH_VERB}\b[^.!?]{{0,60}}\b(?:siempre|nunca|jamás|s[oó]lo|solamente|únicamente"
    rf"|a partir de ahora|desde ahora"
    r"|de ahora en adelante|cada vez)\b)"
    r"|\b(?:no )?debes(?! (?:estar|de estar|ser|tener|haber))\b"
    r"|\btienes que (?:siempre|responder|contestar|usar|escribir)\b|\bquiero que (?:siempre|nunca|no) "
)
KOREAN_ORDER = (
    r"(?:줘요?|주세요|주십시오|주시기 바랍니다|달라|세요|십시오|해라|하라|할 것"
    r"|하도록 해|바랍니다|부탁\S*|말 것|마라?|마요"
    r"|금지\S*|안 (?:돼요?|됩니다)|(?:로|게|답|말|명|용) ?해요?)"
)
KOREAN = regex.compile(
    rf"(?:^|\s)(?:항상|언제나|반드시|꼭|절대로?|앞으로는?|지금부터|이제부터"
    r"|오늘부터|매번|무조건|일절|모든 (?:답변|대답|가격|금액|코드|응답|메시지|날짜"
    rf"|문장)\S*)\s[^.!?]{{0,120}}"
    rf"(?<!건강하|행복하|수고하){KOREAN_ORDER}[\W_]*$"
    r"|(?<!걱정|포기|실망|미안해)하지\s?(?:마|말)|(?<!걱정하|포기하|실망하|하|울)지\s?(?:마(?:세요|라|십시오|요)?(?:\W|$)"
    r"|말(?:아|고|것|\s것))"
    r"|기억해\s?(?:줘|주|라|둬|두)|지 않(?:았으면|도록 (?:해|하|주의|부탁)|게 해)"
    r"|금지(?:입니다|예요|야|다)|라고(?:만)? 불러|안 했으면"
)
JAPANESE = regex.compile(
    r"(?:必ず|絶対に|決して|常に|今後は?|これからは?|毎回|一切|いつも)[^。.!?]{0,80}"
    r"(?:ください|下さい|くれ|こと|しろ|せよ|なさい|ように|願います|お願い\p{L}*|頼む|頼みます|するな|欲しい|ほしい)[\W_]*$"
    r"|ないでください|ないで下さい|(?<!心配し|気にし|泣か)ないで\W*$|ないで(?:ね|ほしい|欲しい)|覚えておいて|忘れないで"
    r"|は(?:厳禁|禁止)(?:です|だ|とします|\W|$)|^(?!.*(?:趣味|夢|好き|目標|理由|のは)).*[るくうすつぬむぐぶい]こと\W*$"
    r"|(?:必ず|絶対に|今後は?|これからは?)[^。.!?]{0,80}(?:て|ね)\W*$"
)
CHINESE = regex.compile(
    r"(?<![我他她它们要])(?:永远不要|永遠不要|不要(?![紧緊急脸钱]|担心|客气)|切勿|请勿|請勿|绝不|絕不|不得(?![不已了])|不许|不准)"
    r"|(?<![特区分级个性我他她它们])别(?:再)?(?:用|给|给我|说|打|写|改|删|动|问|发|加|提|叫|碰|把|忘)"
    r"|(?:^|[，,。；：:\s])(?:严禁|禁止|嚴禁|务必|務必)"
    r"|(?<![我他她它们])(?:(?:必须|必須)(?![承说說])|务必|務必|一律|一定要(?![来看去试來])|请始终|請始終|始终(?:用|要|以|保持)|总是要|请总是|总是用)"
    r"|(?<![我他她它们])每次[^，。]{0,12}(?:先|都要|都请|要)(?!我)"
    r"|(?:^|[，,。；：:]\s*)(?:请|請)?(?:以后|以後|今后|今後|从现在(?:开始|起)|從現在(?:開始|起)|从今(?:以后|往后|天起))(?![我他她的再])"
    r"[^。!?！？]{0,60}(?:要|都|用|别|不|请|先|须|只)"
    r"|记住|記住|(?:^|[，,])请?记得(?![我吗那])|不能超过|请(?:只|仅|一直)(?:用|说|写|以)|(?:^|[，,])只(?:用|能用)"
)
CASELESS = regex.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]")
HANGUL, KANA = regex.compile(r"\p{Hangul}"), regex.compile(r"[\p{Hiragana}\p{Katakana}]")
# No rule of a language without one of these: most sentences are told by looking for them alone.
CUES = (
    (
        ENGLISH,
        "always|never|do not|don't|don’t|dont|must|make sure|be sure|ensure|make it a|remember|in mind"
        "|note that|from now"
        "|from here|from today|from this|future|whenever|no circumstance|all times|no more|treat|in doubt"
        "|going forward|avoid|refrain|only"
        "|stick to|stop "
        "|exclusively|ever|each time|exception|this |the rest|keep |no |me |, not |important|rule"
        "|throughout|has to"
        "|have to|needs a|should|need to|are to|you will|you can|you may|not|n't want|essential|crucial"
        "|vital|critical"
        "|imperative|forbidden|allowed|off limits|off-limits|mandatory|strictly|allergic|vegetarian|vegan"
        "|diabetic"
        "|coeliac|celiac|deaf|blind|allergy|intolerance|our ",
    ),
    (
        GERMAN,
        "immer|nie|auf keinen|unbedingt|merk|achte|denk|vergiss|stets|ab jetzt|ab sofort|ab heute|von nun"
        "|künftig"
        "|zukunft|kein|nur|ausschließlich|nicht|jedes mal|grundsätzlich|musst|müssen|darfst|dürfen|sollst"
        "|sollen",
    ),
    (
        FRENCH,
        "toujours|jamais|souviens|souvenez|rappel|oubli|ne |n'|n’|évite|désormais|dorénavant|à partir"
        "|uniquement"
        "|seulement|exclusivement|systématiquement|chaque fois|dois|devez|faut|pas d|que tu|que vous",
    ),
    (
        SPANISH,
        "siempre|nunca|jamás|no |recuerda|asegúrate|asegurate|en cuenta|evita|a partir|de ahora"
        "|desde ahora|solo|sólo"
        "|solamente|únicamente|cada vez|debes|tienes que|quiero que",
    ),
)
SPACED = tuple((pattern, tuple(cues.split("|"))) for pattern, cues in CUES)
# What somebody tells of himself or of others, though it goes on like an order: "I keep going and never quit".
TELLS = regex.compile(
    r"(?i)^(?:[\p{L}]{2,20}: )?(?:(?:i|he|she|they|it)(?:['’]\w+)?|you (?:always|never))\s(?!want|need|would)"
    r".*\b(?:and|but|also|then|again)[,:]? (?:please )?(?:always|never|make sure|be sure)\b"
    r"|^\W*i (?:think|guess|believe|suppose)\b"
    r"|^[^:]{0,60}\b(?:e-?mail|mail|letter|sign|label|book|manual|page|policy|error|message|log|readme|he"
    r"|she|they|boss)"
    r"(?: \w+){0,3} (?:says?|said|reads?|states?|told (?:me|us|him|her|them)|wrote|writes)\b"
    r"|^\W*(?:do not|don['’]t) \w+ (?:signs?|labels?|stickers?|buttons?|lists?|notices?|flags?)\b"
)
# Words for the one who summarises, or in the name of somebody with more authority.
POSES = regex.compile(
    r"(?i)^\W*(?:system|developer|admin(?:istrator)?|operator|assistant|root)(?: (?:message|prompt|note"
    r"|notice|override"
    r"|instructions?|update|alert))?\s*[\])>]*\s*[:,\-—]|^\W*(?:system|developer) (?:message|prompt"
    r"|override)\b"
    r"|\bsummari[sz](?:er|ers|ing model)\b|\b(?:in|into|to) (?:the|your|any) summary\b"
    r"|\bthe summary (?:must|should|has to)\b"
    r"|\b(?:summari[sz](?:e|ing)|compact(?:ing)?) (?:this|our|the) (?:chat|conversation|history|discussion)\b"
    r"|zusammenfasser|in (?:die|der) zusammenfassung|dans le résumé|en el resumen"
    r"|요약(?:기|자|할 때|문에)|要約(?:者"
    r"|器|する時|に)"
    r"|(?:总结|摘要|總結)(?:器|者|时|里|中)"
)


def poses(said: str) -> bool:
    """Whether a sentence speaks to the one who summarises, or in somebody else's name."""
    return POSES.search(said) is not None


def lays_down_a_rule(said: str) -> bool:
    """Whether a sentence orders something that is meant to last."""
    if said.rstrip().endswith(("?", "？")):
        return POLITE.search(said) is not None and not poses(said)
    return any(p.search(said) for p in _patterns(said)) and not (TELLS.search(said) or poses(said))


def _patterns(said: str) -> Iterator[regex.Pattern[str]]:
    """The patterns of the languages that a sentence may be written in, as its script and its words tell."""
    if CASELESS.search(said):
        yield KOREAN if HANGUL.search(said) else JAPANESE if KANA.search(said) else CHINESE
    lower = said.lower()
    for pattern, cues in SPACED:
        if any(cue in lower for cue in cues):
            yield pattern
