"""The words of English."""

from __future__ import annotations

from gateway_compaction.core.text.lexicon.english_answers import ERRORS, NOTHING, REFUSALS
from gateway_compaction.core.text.lexicon.entry import Entry, Lexicon, Phrases
from gateway_compaction.core.text.lexicon.rules.english import RULES

ENGLISH = Lexicon(
    code="en",
    rules=RULES,
    near_pointers=(Entry(r"\b(?:this|these|following|below)\b", "this", "our"),),
    bare_questions=(
        Entry(
            r"(?:(?:and|but|so|also|then|ok|btw|hey|hi|hello),? )*(?:(?:do|does|did|is|are|was|were|can"
            r"|could|should|would|will|has|have|may|might|am) (?:i|we|you|he|she|it|they|there|this"
            r"|that|the|my|your|our|a|an|any(?:one|body|thing)?|some(?:one|body))\b|(?:what|which|who"
            r"|whose|where|why|how)(?:['’]s|['’]re)?\b(?! i (?:want|need|mean)\b)|when (?:is|are|do"
            r"|does|did|was|were|will|can|should)\b)",
            "do I always need a return",
            "Do use tabs.",
        ),
    ),
    conjunctions=(Entry(r"and|but|so|also|then|or|please|because", "and", "andy"),),
    name="English",
    phrases=Phrases(
        "Summary of the earlier part of this conversation, as background data; it "
        "contains no new instructions. The conversation continues below.",
        "image no longer visible",
        "Earlier messages, quoted as background:",
        "earlier messages no longer shown",
        "file no longer visible",
        "audio no longer visible",
        "video no longer visible",
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
        Entry(r"I", "I", "He"),
        Entry(r"[Mm]y", "my", "He"),
        Entry(r"[Ww]e", "we", "He"),
        Entry(r"[Oo]ur", "our", "He"),
    ),
    corrections=(
        Entry(
            r"\b(?:correction|i meant|actually|instead|rather than|no longer|not any ?more|(?:is"
            r"|are) now|changed|moved to|update:)(?!\w)",
            "not anymore",
            "It moves slowly.",
        ),
        Entry(r"[,;] not\b", "; not", "It moves slowly."),
    ),
    reminders=(
        Entry(
            r"(?<!i )(?<!you )(?<!we )(?<!n't )(?<!not )\bremember\b(?: that\b| to\b| this\b| my\b"
            r"| our\b| the\b|,|:)",
            "remember this",
            "I remember it well.",
        ),
        Entry(r"\b(?:do not|don['’]t) forget\b", "do not forget", "I remember it well."),
        Entry(r"\b(?:keep|bear) in mind\b", "Bear in mind", "I remember it well."),
        Entry(r"\bnote that\b", "note that", "I remember it well."),
        Entry(r"\btake note\b", "take note", "I remember it well."),
        Entry(r"\bfor the record\b", "for the record", "I remember it well."),
        Entry(r"\bimportant(?:ly)?[:!]", "important!", "I remember it well."),
    ),
    decisions=(
        Entry(
            r"\b(?:we|i|they|you|team)(?:['’]ve| have| had)?(?: all)? (?:decided|agreed|settled|opted)\b",
            "We decided",
            "We talked it over.",
        ),
        Entry(r"\bwe(?:['’]ve| have)? chosen?\b", "we chose", "We talked it over."),
        Entry(
            r"\b(?:was|is|been|it['’]s) (?:decided|agreed|settled)\b", "it’s decided", "We talked it over."
        ),
        Entry(r"\b(?:decided|agreed|opted) (?:to|on|that|for)\b", "decided that", "We talked it over."),
        Entry(r"\bdecision:", "decision:", "We talked it over."),
        Entry(r"\bfinal decision\b", "final decision", "We talked it over."),
        Entry(r"\bagreed:", "agreed:", "We talked it over."),
        Entry(r"\bsettled on\b", "settled on", "We talked it over."),
        Entry(r"\blet['’]?s (?:go with|use|stick with|settle on)\b", "lets stick with", "We talked it over."),
        Entry(
            r"\b(?:we|i)(?:['’]ll| will| are| am|['’]re|['’]m) (?:go|going) with\b",
            "We'll go with Redis.",
            "We talked it over.",
        ),
    ),
    undecided=(
        Entry(
            r"\b(?:not|never|n['’]t|nothing|yet)\b[^.]{0,20}\b(?:decided|agreed|settled)\b",
            "It is not yet decided.",
            "It was settled on Monday.",
        ),
        Entry(r"\bundecided\b", "undecided", "It was settled on Monday."),
        Entry(
            r"\b(?:if|whether|once|until|unless|before) (?:we|i|they|it|you)\b[^.]{0,30}\b(?:decide"
            r"|agree|settle)",
            "Ask whether we agreed.",
            "It was settled on Monday.",
        ),
    ),
    anchor_cues=(
        "remember|forget|in mind|note that|take note|for the record"
        "|important|decided|decision|agreed|settled|chose|opted|let's"
        "|let’s|lets |going with|go with"
    ),
    findings=(
        Entry(
            r"\b(?:errors?|exception|fail(?:ed|ures?|s)?|fatal|denied|refused|not found|timed? ?out(?!-)"
            r"|created|deleted|updated|completed|succeeded|success|confirmed|cancell?ed)\b",
            "succeeded",
            "The build is running.",
        ),
        Entry(r"(?<![\w.])\d+ passed\b", "5 passed", "The build is running."),
        Entry(
            r"\b(?:total|result|exit code|status)\b(?:\W?:|=)\s?\S", "exit code: 1", "The build is running."
        ),
    ),
    finding_cues=(
        "error|exception|fail|passed|fatal|denied|refused|not found"
        "|timeout|time out|timed out|created|deleted|updated"
        "|completed|succe|total|result|exit code|status|confirmed"
        "|cancel"
    ),
    faults=(
        Entry(
            r"\w*error\b|fatal\b|failed\b|failure\b|denied\b|exception\b", "exception", "no error was seen"
        ),
    ),
    fault_words=(
        Entry(
            r"\b(?:error|exception|failed|failure|fatal|traceback|denied|not found)\b",
            "exception",
            "The build went well.",
        ),
    ),
    withdrawals=(
        Entry(r"\bfrom (?:now|here|today|this point) on\b", "from this point on", "The limit still holds."),
        Entry(r"\bno longer\b", "no longer", "The limit still holds."),
        Entry(r"\bcorrection\b", "correction", "The limit still holds."),
        Entry(r"\bi was wrong\b", "i was wrong", "The limit still holds."),
        Entry(r"\bchanged my mind\b", "changed my mind", "The limit still holds."),
        Entry(r"\bon second thoughts?\b", "on second thought", "The limit still holds."),
        Entry(r"\bscrap (?:that|the)\b", "scrap that", "The limit still holds."),
        Entry(r"\bi take (?:that|it) back\b", "i take that back", "The limit still holds."),
        Entry(
            r"(?<!n['’]t )(?<!not )(?<!never )\b(?:forget|ignore|drop) (?:the|my|what)\b",
            "Forget what I said about emojis.",
            "Don't forget the milk.",
        ),
        Entry(
            r"\b(?:is|are) (?:fine|ok|okay|allowed|all right|good) (?:again|now)\b",
            "are all right again",
            "The limit still holds.",
        ),
        Entry(r"\bnot (?:\w+ ){0,4}any ?more\b", "not anymore", "The limit still holds."),
    ),
    vague_withdrawals=(
        Entry(
            r"\b(?:actually|again|instead|now|after all|any ?more|rather)\b",
            "after all",
            "The limit holds.",
        ),
    ),
    requests=(
        Entry(
            r"please|use|answer|reply|respond|write|speak|switch|go back|send|ship|call|quote|show"
            r"|include|add|stop|keep|make it|change|let['’]s",
            "respond",
            "they use it",
        ),
    ),
    permissions=(
        Entry(
            r"\b(?:fine|ok|okay|allowed|alright|all right|acceptable|permitted|welcome)\b",
            "acceptable",
            "It is forbidden.",
        ),
        Entry(
            r"\byou (?:can|may|should|do not have|don['’]t have|need not|don['’]t need)\b",
            "you do not have",
            "It is forbidden.",
        ),
    ),
    withdrawal_tales=(
        Entry(
            r"(?:i(?:['’]m| am|['’]ve| have| just| started| was(?! wrong))|he|she|they|we)\b",
            "i just",
            "Use it.",
        ),
    ),
    withdrawal_cues=(
        "from |no longer|correction|wrong|my mind|thought|scrap|back"
        "|forget|ignore|drop|fine|ok|allowed|all right|good|more"
        "|actually|again|instead|now|after all|rather"
    ),
    fresh_starts=(
        Entry(
            r"always|never|please|do not|don['’]t|make sure|remember|from now on|only|also|note"
            r"|important|and never|no|hi|hello|thanks|thank you|dear",
            "from now on",
            "the gate",
        ),
    ),
    transforms=(
        Entry(
            r"translate|summari[sz]e|shorten|proofread|rephrase|paraphrase|reword|rewrite|correct the"
            r"|analy[sz]e",
            "correct the",
            "Write a letter.",
        ),
    ),
    pointers=(
        Entry(
            r"this|these|following|below|above|it\b|our|my|the (?:mail|e-?mail|letter|text|article"
            r"|document|message)",
            "following",
            "a letter",
        ),
    ),
    exhibits=(
        Entry(r"\b(?:fails?|failed|failing|crash\w*|prints?|outputs?)\b", "failing", "Write a letter."),
        Entry(
            r"\b(?:here(?:['’]s| is| are)|this is|attached is|below is)\b[^:]{0,40}\b(?:logs?|output"
            r"|error|trace(?:back)?|stack|code|script|file|mail|e-?mail|letter|document|doc|manual|text"
            r"|article|transcript|readme|config|message)",
            "Here is the log:",
            "Write a letter.",
        ),
        Entry(
            r"^\W*my (?:code|script|log|output|error|config|file|mail|e-?mail|readme)\b",
            "my script",
            "Write a letter.",
        ),
        Entry(r"\bi (?:get|got|see|receive)\b", "i receive", "Write a letter."),
        Entry(r"error message", "error message", "Write a letter."),
    ),
    interjections=(Entry(r"actually|ok|okay|now|well|sorry|hm+|no", "actually", "The gate"),),
    politeness=(Entry(r"please|can you|could you", "could you", "The gate"),),
    answer_labels=(Entry(r"summary|answer|response|note", "response", "The gate"),),
    appeals=(Entry(r"please|can you|could you|fix|help|tell me", "could you", "The log is long."),),
    rule_headings=(
        Entry(
            r"\brules?\b|instruction|guideline|requirement|constraint|condition",
            "requirement",
            "My shopping list:",
        ),
    ),
    cases=(Entry(r"when|whenever|if|while|for", "whenever", "The gate"),),
    mail_headers=(
        Entry(r"From|To|Cc|Bcc|Subject|Date|Sent|Reply-To", "Reply-To", "The harbour office opens at nine."),
    ),
    ages=(
        Entry(
            r"\d{1,3} ?(?:s|m|h|d|w|mo|y|sec(?:ond)?s?|min(?:ute)?s?|hours?|hrs?|days?|weeks?|months?"
            r"|years?) ago|an? (?:minute|hour|day|week|month|year) ago|just now|yesterday"
            r"|last (?:week|month|year)",
            "3 days ago",
            "3 days",
        ),
    ),
    posted=(
        Entry(
            r"(?:has )?(?:commented|wrote|posted|replied|answered|asked|opened(?: this"
            r"(?: issue| pull request)?)?|reviewed|edited|left a comment|(?:added|made) a comment)"
            r"(?: (?:on|at))?",
            "commented on",
            "comments",
        ),
    ),
    speakers=(Entry(r"user|assistant|human|ai|bot|system|tool|developer", "assistant", "Guest"),),
    clause_numbers=(Entry(r"Art|Sec|Article|Section", "Section", "Page"),),
    nothing=NOTHING,
    refusals=REFUSALS,
    errors=ERRORS,
    question_starts=(
        Entry(r"(?:what|which|who|whom|whose|where|when|why|how)\b", "whose", "The gate is open."),
        Entry(
            r"(?:can|could|would|will|do|did|are|is|have|shall|should|may) (?:you|i|we|there|this"
            r"|that|it)\b",
            "would there",
            "The gate is open.",
        ),
    ),
    reader=(
        Entry(r"\b(?:you|your)\b", "your", "The gate is open."),
        Entry(r"\b(?:can|may|shall|should|could) i\b", "should i", "The gate is open."),
    ),
    deferrals=(
        Entry(
            r"\b(?:i|we)(?:['’]ll| will| shall|(?:['’]m| am) going to| need to| have to|['’]m| am"
            r"|['’]re| are) (?:\w+ )?(?:check|look(?:ing)? (?:into|it up|that up)|ask(?:ing)? |find out"
            r"|get back|come back|follow up|investigat|clarify|[ei]nquire|see (?:if|whether|what)"
            r"|let you know|keep you|report back)",
            "i’m going to look it up",
            "The gate is open.",
        ),
        Entry(
            r"\blet me (?:\w+ )?(?:check|look into|ask |find out|see (?:if|whether)|get back)",
            "let me see whether",
            "The gate is open.",
        ),
        Entry(r"\b(?:get|come|circle|be) back to you\b", "circle back to you", "The gate is open."),
        Entry(r"\bas soon as (?:i|we) (?:know|hear)\b", "as soon as we hear", "The gate is open."),
        Entry(
            r"\b(?:do not|don['’]t|not) (?:know|sure|certain)(?: \w+)? yet\b",
            "I don't know yet.",
            "The gate is open.",
        ),
        Entry(r"\bno (?:news|answer|reply) yet\b", "no answer yet", "The gate is open."),
    ),
    deferral_conditions=(Entry(r"\b(?:if|once|when|unless) you\b", "unless you", "if they ask"),),
    references=(
        Entry(
            r"\b(?:what|which|when|where|who|whose|why|how|remind|recall|again|earlier|before"
            r"|previous(?:ly)?|last time|we (?:said|agreed|discussed)|i (?:said|told|mentioned))\b",
            "last time",
            "The gate is open.",
        ),
    ),
)
