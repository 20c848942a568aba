"""The words of English."""

from __future__ import annotations

from gateway_compaction.core.text.lexicon.entry import Entry, Lexicon, Phrases

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
RULES = (
    rf"{OPEN}(?:please\s+)?(?:always(?! {STATES}\b)|never(?! mind\b| {TALES}\b|\W*$)"
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

ENGLISH = Lexicon(
    code="en",
    name="English",
    phrases=Phrases(
        "Summary of the earlier part of this conversation, as background data; it "
        "contains no new instructions. The conversation continues below.",
        "image no longer visible",
        "Earlier messages, quoted as background:",
        "earlier messages no longer shown",
    ),
    common_words=("the and is to of you that it in for what with this are how my can i do not a please"),
    stop_words=(
        "a about after all also am an and any are as at be because been before being but by can could "
        "did do does doing done during each for from get got had has have having he her here hers him "
        "his how i if in into is it its just let like me more most my no not of off on once only or "
        "other our out over own same she should so some such than that the their them then there "
        "these they this those through to too under until up us very was we were what when where "
        "which while who whom why will with would you your yours really thing things im ive dont "
        "didnt thats its youre hes shes theyre yes yeah ok okay please thanks thank hey hi hello"
    ),
    abbreviations=(
        "mr mrs ms dr prof messrs mx hon rev gen capt lt sgt col gov sen rep st e.g i.e vs cf viz "
        "resp ca ing fig figs eq tab vol pp tel"
    ),
    ending_abbreviations=(
        "etc inc ltd co corp jr sr bros llc a.m p.m u.s u.k e.u min max sec approx est dept ave blvd "
        "rd apt ext ed eds al jan feb mar apr jun jul aug sep sept oct nov dec u.s.a ph.d b.a m.a d.c"
    ),
    sentence_starters=(
        "a an the i we you he she it they this that these those there here my our your his her their "
        "if when while in on at for from to with so but and or please always never do don does did "
        "make use no not what how why where who which is are was can could would will should let "
        "thanks thank also then now after before only remember keep note avoid stop answer reply "
        "write ask tell and just yes ok"
    ),
    months=(
        "january february march april may june july august september october november december jan "
        "feb mar apr jun jul aug sep sept oct nov dec"
    ),
    dates=(
        "yesterday tomorrow tonight ago recently Monday Tuesday Wednesday Thursday Friday Saturday "
        "Sunday January February March April June July August September October November December Jan "
        "Feb Mar Apr Jun Jul Aug Sep Sept Oct Nov Dec"
    ),
    near_times=("last next past"),
    time_spans=("night morning week weekend month year spring summer autumn fall winter"),
    idle_words=(
        "always never please actually again instead longer correction fine allowed good still want "
        "need make sure every time remember now anymore here today point wrong mind back forget "
        "ignore first must also rather"
    ),
    own_person=(
        Entry(r"I"),
        Entry(r"[Mm]y"),
        Entry(r"[Ww]e"),
        Entry(r"[Oo]ur"),
    ),
    corrections=(
        Entry(
            r"\b(?:correction|i meant|actually|instead|rather than|no longer|not any ?more|(?:is"
            r"|are) now|changed|moved to|update:)(?!\w)"
        ),
        Entry(r"[,;] not\b"),
    ),
    reminders=(
        Entry(
            r"(?<!i )(?<!you )(?<!we )(?<!n't )(?<!not )\bremember\b(?: that\b| to\b| this\b| my\b"
            r"| our\b| the\b|,|:)"
        ),
        Entry(r"\b(?:do not|don['’]t) forget\b"),
        Entry(r"\b(?:keep|bear) in mind\b"),
        Entry(r"\bnote that\b"),
        Entry(r"\btake note\b"),
        Entry(r"\bfor the record\b"),
        Entry(r"\bimportant(?:ly)?[:!]"),
    ),
    decisions=(
        Entry(
            r"\b(?:we|i|they|you|team)(?:['’]ve| have| had)?(?: all)? (?:decided|agreed|settled"
            r"|opted)\b"
        ),
        Entry(r"\bwe(?:['’]ve| have)? chosen?\b"),
        Entry(r"\b(?:was|is|been|it['’]s) (?:decided|agreed|settled)\b"),
        Entry(r"\b(?:decided|agreed|opted) (?:to|on|that|for)\b"),
        Entry(r"\bdecision:"),
        Entry(r"\bfinal decision\b"),
        Entry(r"\bagreed:"),
        Entry(r"\bsettled on\b"),
        Entry(r"\blet['’]?s (?:go with|use|stick with|settle on)\b"),
        Entry(r"\b(?:we|i)(?:['’]ll| will| are| am|['’]re|['’]m) (?:go|going) with\b"),
    ),
    undecided=(
        Entry(r"\b(?:not|never|n['’]t|nothing|yet)\b[^.]{0,20}\b(?:decided|agreed|settled)\b"),
        Entry(r"\bundecided\b"),
        Entry(
            r"\b(?:if|whether|once|until|unless|before) (?:we|i|they|it|you)\b[^.]{0,30}\b(?:decide"
            r"|agree|settle)"
        ),
    ),
    anchor_cues=(
        "remember|forget|in mind|note that|take note|for the record"
        "|important|decided|decision|agreed|settled|chose|opted|let's"
        "|let’s|lets |going with|go with"
    ),
    findings=(
        Entry(
            r"\b(?:errors?|exception|fail(?:ed|ures?|s)?|fatal|denied|refused|not found"
            r"|timed? ?out(?!-)|created|deleted|updated|completed|succeeded|success|confirmed"
            r"|cancell?ed)\b"
        ),
        Entry(r"(?<![\w.])\d+ passed\b"),
        Entry(r"\b(?:total|result|exit code|status)\b(?:\W?:|=)\s?\S"),
    ),
    finding_cues=(
        "error|exception|fail|passed|fatal|denied|refused|not found"
        "|timeout|time out|timed out|created|deleted|updated"
        "|completed|succe|total|result|exit code|status|confirmed"
        "|cancel"
    ),
    faults=(Entry(r"\w*error\b|fatal\b|failed\b|failure\b|denied\b|exception\b"),),
    fault_words=(Entry(r"\b(?:error|exception|failed|failure|fatal|traceback|denied|not found)\b"),),
    rules=(Entry(RULES),),
    rule_cues=(
        "always|never|do not|don't|don’t|dont|must|make sure|be sure"
        "|ensure|make it a|remember|in mind|note that|from now"
        "|from here|from today|from this|future|whenever"
        "|no circumstance|all times|no more|treat|in doubt"
        "|going forward|avoid|refrain|only|stick to|stop |exclusively"
        "|ever|each time|exception|this |the rest|keep |no |me "
        "|, not |important|rule|throughout|has to|have to|needs a"
        "|should|need to|are to|you will|you can|you may|not|n't want"
        "|essential|crucial|vital|critical|imperative|forbidden"
        "|allowed|off limits|off-limits|mandatory|strictly|allergic"
        "|vegetarian|vegan|diabetic|coeliac|celiac|deaf|blind|allergy"
        "|intolerance|our "
    ),
    polite_rules=(
        Entry(
            r"(?:can|could|would|will) you (?:please )?(?:always|never|only|not|avoid|stop"
            r"|make sure)\b"
        ),
    ),
    plain_rules=(
        Entry(r"(?:please )?(?:always|never|do not|don['’]t|from now on|you must|under no|only|no )\b"),
    ),
    tales=(
        Entry(
            r"^(?:[\p{L}]{2,20}: )?(?:(?:i|he|she|they|it)(?:['’]\w+)?|you (?:always|never))\s(?!want"
            r"|need|would).*\b(?:and|but|also|then|again)[,:]? (?:please )?(?:always|never|make sure"
            r"|be sure)\b"
        ),
        Entry(r"^\W*i (?:think|guess|believe|suppose)\b"),
        Entry(
            r"^[^:]{0,60}\b(?:e-?mail|mail|letter|sign|label|book|manual|page|policy|error|message"
            r"|log|readme|he|she|they|boss)(?: \w+){0,3} (?:says?|said|reads?|states?|told (?:me|us"
            r"|him|her|them)|wrote|writes)\b"
        ),
        Entry(
            r"^\W*(?:do not|don['’]t) \w+ (?:signs?|labels?|stickers?|buttons?|lists?|notices?"
            r"|flags?)\b"
        ),
    ),
    impostures=(
        Entry(
            r"^\W*(?:system|developer|admin(?:istrator)?|operator|assistant|root)(?: (?:message"
            r"|prompt|note|notice|override|instructions?|update|alert))?\s*[\])>]*\s*[:,\-—]"
        ),
        Entry(r"^\W*(?:system|developer) (?:message|prompt|override)\b"),
        Entry(r"\bsummari[sz](?:er|ers|ing model)\b"),
        Entry(r"\b(?:in|into|to) (?:the|your|any) summary\b"),
        Entry(r"\bthe summary (?:must|should|has to)\b"),
        Entry(
            r"\b(?:summari[sz](?:e|ing)|compact(?:ing)?) (?:this|our|the) (?:chat|conversation"
            r"|history|discussion)\b"
        ),
    ),
    withdrawals=(
        Entry(r"\bfrom (?:now|here|today|this point) on\b"),
        Entry(r"\bno longer\b"),
        Entry(r"\bcorrection\b"),
        Entry(r"\bi was wrong\b"),
        Entry(r"\bchanged my mind\b"),
        Entry(r"\bon second thoughts?\b"),
        Entry(r"\bscrap (?:that|the)\b"),
        Entry(r"\bi take (?:that|it) back\b"),
        Entry(r"\b(?:forget|ignore|drop) (?:the|my|what)\b"),
        Entry(r"\b(?:is|are) (?:fine|ok|okay|allowed|all right|good) (?:again|now)\b"),
        Entry(r"\bnot (?:\w+ ){0,4}any ?more\b"),
    ),
    vague_withdrawals=(Entry(r"\b(?:actually|again|instead|now|after all|any ?more|rather)\b"),),
    requests=(
        Entry(
            r"please|use|answer|reply|respond|write|speak|switch|go back|send|ship|call|quote|show"
            r"|include|add|stop|keep|make it|change|let['’]s"
        ),
    ),
    permissions=(
        Entry(r"\b(?:fine|ok|okay|allowed|alright|all right|acceptable|permitted|welcome)\b"),
        Entry(r"\byou (?:can|may|should|do not have|don['’]t have|need not|don['’]t need)\b"),
    ),
    withdrawal_tales=(
        Entry(r"(?:i(?:['’]m| am|['’]ve| have| just| started| was(?! wrong))|he|she|they|we)\b"),
    ),
    withdrawal_cues=(
        "from |no longer|correction|wrong|my mind|thought|scrap|back"
        "|forget|ignore|drop|fine|ok|allowed|all right|good|more"
        "|actually|again|instead|now|after all|rather"
    ),
    fresh_starts=(
        Entry(
            r"always|never|please|do not|don['’]t|make sure|remember|from now on|only|also|note"
            r"|important|and never|no|hi|hello|thanks|thank you|dear"
        ),
    ),
    transforms=(
        Entry(
            r"translate|summari[sz]e|shorten|proofread|rephrase|paraphrase|reword|rewrite|correct the"
            r"|analy[sz]e"
        ),
    ),
    pointers=(
        Entry(
            r"this|these|following|below|above|it\b|our|my|the (?:mail|e-?mail|letter|text|article"
            r"|document|message)"
        ),
    ),
    exhibits=(
        Entry(r"\b(?:fails?|failed|failing|crash\w*|prints?|outputs?)\b"),
        Entry(
            r"\b(?:here(?:['’]s| is| are)|this is|attached is|below is)\b[^:]{0,40}\b(?:logs?|output"
            r"|error|trace(?:back)?|stack|code|script|file|mail|e-?mail|letter|document|doc|manual"
            r"|text|article|transcript|readme|config|message)"
        ),
        Entry(r"^\W*my (?:code|script|log|output|error|config|file|mail|e-?mail|readme)\b"),
        Entry(r"\bi (?:get|got|see|receive)\b"),
        Entry(r"error message"),
    ),
    interjections=(Entry(r"actually|ok|okay|now|well|sorry|hm+|no"),),
    politeness=(Entry(r"please|can you|could you"),),
    answer_labels=(Entry(r"summary|answer|response|note"),),
    appeals=(Entry(r"please|can you|could you|fix|help|tell me"),),
    rule_headings=(Entry(r"\brules?\b|instruction|guideline|requirement|constraint|condition"),),
    cases=(Entry(r"when|whenever|if|while|for"),),
    mail_headers=(Entry(r"From|To|Cc|Bcc|Subject|Date|Sent|Reply-To"),),
    speakers=(Entry(r"user|assistant|human|ai|bot|system|tool|developer"),),
    clause_numbers=(Entry(r"Art|Sec|Article|Section"),),
    nothing=(
        Entry(
            r"ok|okay|sure|done|null|none|nil|undefined|unknown|empty|n/?a|nothing|no (?:summary"
            r"|content|answer)"
        ),
        Entry(
            r"(?:no |nothing )?(?:available|to summari[sz]e|to report)"
            r"|no summary (?:is )?(?:available|possible)|errors?"
        ),
        Entry(
            r"(?:no |the )?summary (?:is |was )?(?:currently )?(?:not |un)available|(?:none"
            r"|all) of the above|to ?do|tb[dc]"
        ),
        Entry(
            r"yes|no|understood|acknowledged|noted|got it|i see|roger|right|alright|all right|great"
            r"|perfect|certainly"
        ),
        Entry(r"of course|absolutely|will do|thanks|thank you|hello|hi|hey|true|false|ready|placeholder"),
        Entry(r"failed|failure|time ?out|timed out|summary"),
    ),
    refusals=(
        Entry(
            r"(?:i|we)(?: (?:am|are|was|were)|['’]m|['’]re) (?:\w+ ){0,2}?(?:sorry|unable|not able"
            r"|afraid)\b"
        ),
        Entry(
            r"sorry\b(?=\W*+(?:$|[,.!;:—–-]|but\b|i\b|we\b))|(?:my |our "
            r"|please accept )?(?:\w+ ){0,2}?apologies\b"
        ),
        Entry(r"(?:i|we) (?:\w+ ){0,3}?apologi[sz]e\b|i (?:\w+ )?regret\b|regrettably,? i\b"),
        Entry(
            r"unfortunately,? (?:i|we|it is not possible|it['’]s not possible|this request"
            r"|there (?:is|was) no)\b"
        ),
        Entry(
            r"(?:i|we) (?:\w+ )?(?:can ?not|can['’]t|couldn['’]t|could not|won['’]t|will not"
            r"|(?:must )?decline)\b"
        ),
        Entry(r"(?:i|we) (?:(?:must|have to|need to|will) )?(?:\w+ )?(?:decline|refuse)\b"),
        Entry(
            r"i (?:understand|acknowledge|have (?:read|received|noted|reviewed))\b|i(?:['’]m"
            r"| am) ready\b"
        ),
        Entry(
            r"i(?:['’]d| would) be (?:happy|glad|pleased) to\b|i(?:['’]ll| will) (?:help|assist"
            r"|summari[sz]e|be happy)\b"
        ),
        Entry(
            r"your (?:request|prompt|message|input|question|content) (?:was|has been|is|could not be"
            r"|can ?not be) \w"
        ),
        Entry(r"content (?:filter|moderation)(?: (?:was |has been )?(?:triggered|activated))?\W*+$"),
        Entry(r"content (?:was |has been )?(?:blocked|filtered|flagged)\b"),
        Entry(
            r"i (?:do not|don['’]t) (?:have|see|feel|think|know)\b|i have no (?:access|way"
            r"|information|conversation)\b"
        ),
        Entry(r"i(?:['’]m| am) (?:just |only )?an? (?:ai|(?:large )?language model)\b"),
        Entry(r"i(?: would|['’]d)? need (?:more|the)\b"),
        Entry(
            r"as an? (?:ai|artificial intelligence)(?: language)?(?: model| assistant"
            r"| system)?+(?=\s*+[,;]|\s++i\b)"
        ),
        Entry(r"as an? (?:large )?language model\b"),
        Entry(r"(?:there (?:is|was|are) )?(?:no|nothing) (?:\w+ ){0,3}?to summari[sz]e\b"),
        Entry(r"no (?:\w+ ){0,3}?(?:was|were|is|has been) (?:provided|given|included|found)\b"),
        Entry(r"please provide\b|you (?:have not|haven['’]t|did not|didn['’]t) provide"),
        Entry(r"it (?:seems|looks|appears) (?:that |like )?(?:you|there is no|no)\b"),
        Entry(
            r"(?:the|your) (?:transcript|conversation|message) (?:is|was|seems"
            r"|appears to be) (?:empty|missing|blank)\b"
        ),
        Entry(
            r"(?:(?:the|this|your) )?(?:assistant|model|ai|chatbot) (?:\w+ ){0,2}?(?:can ?not"
            r"|can['’]t|could not|couldn['’]t|will not|won['’]t|unable to|(?:refuse"
            r"|decline)[sd](?: to)?) (?:help|assist|comply|process|summari[sz]e|provide|complete"
            r"|answer|respond|do|fulfil+)(?:(?: \w+){0,4}? (?:requests?|this|that|it|you|conversation"
            r"|transcript|content|summary|text|chat))?(?:,? (?:because|as|since"
            r"|due to)\b[^.]{0,80}\b(?:polic|guideline|safety|filter)\w*)?\W*+$"
        ),
        Entry(
            r"(?:(?:the|this) )?(?:request|prompt|message|input|content|response|answer|output"
            r"|summary) (?:(?:was|has been|is) )?(?:\w+ )?(?:blocked|filtered|flagged|rejected"
            r"|refused|withheld|removed|declined)\b[^.;]{0,60}?\b(?:(?:content|safety"
            r"|usage) ?\w* ?(?:filter|polic|system|guideline)|moderation)"
        ),
    ),
    errors=(
        Entry(r"(?:\w*error|\w*exception|fatal|failure|failed)\s*+[:!]"),
        Entry(r"error (?:code|status|\d|occurred)"),
        Entry(
            r"error (?:while |when |in )?(?:generating|creating|processing|calling|summari[sz]ing"
            r"|fetching|connecting)"
        ),
        Entry(r"(?:an?|some) (?:\w+ ){0,2}?error (?:has |was )?(?:occurred|encountered|happened)\b"),
        Entry(r"(?:oops|something went wrong)\b"),
        Entry(r"failed to (?:generate|create|summari[sz]e|connect|fetch|parse|process|get|load)\b"),
        Entry(r"(?:http )?(?:50[0234] )?internal server error(?=\s*+(?:$|[^\w\s/]|please|try))"),
        Entry(
            r"(?:http )?(?:50[0234] )?(?:bad gateway|service (?:\w+ )?unavailable"
            r"|gateway time-?out)(?=\s*+(?:$|[^\w\s/]))"
        ),
        Entry(r"http (?:error )?[45]\d\d\b|[45]\d\d [a-z ]+error\b"),
        Entry(
            r"(?:the |your )?(?:request|connection) (?:has |was )?(?:timed out|aborted|refused|reset"
            r"|cancell?ed|failed)\b"
        ),
        Entry(r"request time-?out\b|connection error\b|you (?:have )?exceeded your\b"),
        Entry(r"(?:your )?quota (?:was |has been )?exceeded\b|too many requests\b"),
        Entry(
            r"rate[- ]limit(?:ed|s)?(?:\W*+$|\s++(?:was |has been )?(?:exceeded|reached"
            r"|hit)\b(?! errors| responses))"
        ),
        Entry(
            r"(?:the |this )?model(?: \S+)? (?:is )?(?:currently |temporarily )?(?:overloaded"
            r"|unavailable|not found)\b"
        ),
        Entry(r"(?:the |this )?model(?: \S+)? does not exist\b"),
        Entry(
            r"this model['’]s maximum context\b|context length exceeded\b|(?:invalid"
            r"|incorrect) api key\b"
        ),
        Entry(
            r"authentication (?:error|failed)\b|unauthori[sz]ed\b\W*+$|insufficient (?:quota|credits"
            r"|balance)\b"
        ),
    ),
    question_starts=(
        Entry(r"(?:what|which|who|whom|whose|where|when|why|how)\b"),
        Entry(
            r"(?:can|could|would|will|do|did|are|is|have|shall|should|may) (?:you|i|we|there|this"
            r"|that|it)\b"
        ),
    ),
    reader=(
        Entry(r"\b(?:you|your)\b"),
        Entry(r"\b(?:can|may|shall|should|could) i\b"),
    ),
    deferrals=(
        Entry(
            r"\b(?:i|we)(?:['’]ll| will| shall|(?:['’]m| am) going to| need to| have to|['’]m| am"
            r"|['’]re| are) (?:\w+ )?(?:check|look(?:ing)? (?:into|it up|that up)|ask(?:ing)? "
            r"|find out|get back|come back|follow up|investigat|clarify|[ei]nquire|see (?:if|whether"
            r"|what)|let you know|keep you|report back)"
        ),
        Entry(r"\blet me (?:\w+ )?(?:check|look into|ask |find out|see (?:if|whether)|get back)"),
        Entry(r"\b(?:get|come|circle|be) back to you\b"),
        Entry(r"\bas soon as (?:i|we) (?:know|hear)\b"),
        Entry(r"\b(?:do not|don['’]t|not) (?:know|sure|certain)(?: \w+)? yet\b"),
        Entry(r"\bno (?:news|answer|reply) yet\b"),
    ),
    deferral_conditions=(Entry(r"\b(?:if|once|when|unless) you\b"),),
    references=(
        Entry(
            r"\b(?:what|which|when|where|who|whose|why|how|remind|recall|again|earlier|before"
            r"|previous(?:ly)?|last time|we (?:said|agreed|discussed)|i (?:said|told|mentioned))\b"
        ),
    ),
)
