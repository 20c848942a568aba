"""The words by which an order, a ban or a wish is told in English, with a verb or without."""

from __future__ import annotations

from gateway_compaction.core.text.lexicon.entry import Entry

ORDERS = (
    Entry(
        r"you (?:may|can) (?:just |simply )?(?:call|address) me\b|be (?:straight|candid|strict"
        r"|critical|kind|patient|thorough)\b",
        "You may call me Jo, by my first name.",
        "You may go.",
    ),
    Entry(
        r"(?:continue|stop|choose|pick|move|turn|focus|hold|build|deploy|install|fix|open"
        r"|close|delete|remove|schedule|plan|greet|count|compare|remember|act|behave|play"
        r"|simplify|expand|justify|illustrate|log|back up|rename|separate|split|group|order"
        r"|rate|rank|score|correct|mind|watch|respect|honou?r|obey)\b(?!['’(])",
        "Continue with the next one whenever I say so.",
        "Continued.",
    ),
    Entry(
        r"only (?:recommend|suggest|propose|offer|order|cook|buy|book|install|import)\b",
        "Only recommend vegan places.",
        "Only show me ten.",
    ),
    Entry(
        r"let['’]?s (?:always |only )?(?:stick|keep|use|stay|agree|switch|write|speak|talk"
        r"|avoid|not|call)\b",
        "Let's stick to metric.",
        "Let's go.",
    ),
    Entry(
        r"(?:add|address|adapt|adjust|answer|append|apply|ask|assume|begin|call|check|cite|commit"
        r"|communicate|compute|confirm|correct|consider|contact|convert|default|describe|display"
        r"|document|double-check|draw|email|end|explain|express|finish|flag|follow|format|give"
        r"|greet|highlight|include|indent|keep|label|leave|limit|link|list|make|mark|measure"
        r"|mention|name|number|offer|output|prefer|prefix|present|pretend|print|prioriti[sz]e"
        r"|proceed|provide|push|put|quote|read|reason|recommend|refer|remind|render|repeat|reply"
        r"|report|respond|return|round|run|save|say|scale|send|set|show|sign|sort|speak|spell|start"
        r"|state|stay|stick|store|structure|suggest|summari[sz]e|switch|tag|talk|tell|test|think"
        r"|treat|translate|type|update|use|verify|wait|warn|work|wrap|write)\b(?!['’(])",
        "Answer in Korean.",
        "She lives in Korea.",
    ),
    Entry(
        r"(?:be (?:honest|blunt|brief|concise|polite|direct|frank|sure|careful|formal|informal)"
        r"|make (?:sure|it a (?:habit|rule|point))|ensure)\b(?! (?:they|he|she|it) know)",
        "Be blunt with me.",
        "It may be cold.",
    ),
    Entry(
        r"i['’]?(?:d| would)? (?:want|need|like|love|prefer|expect|ask) (?:for )?(?:you|all|every"
        r"|each)\b",
        "I want you to check every sum.",
        "I want an apple.",
    ),
    Entry(
        r"you (?:should|must|have to|need to|are to|ought to)\b(?! (?:be (?:kidding|joking|so|very"
        r"|really|proud|tired|excited|happy|feeling)|have|feel|know|miss|love|see|visit|try|admit"
        r"|believe|guess|regret|forget|imagine)\b)",
        "You should answer in English.",
        "You must be kidding.",
    ),
)

BANS = (
    Entry(
        r"leave [^.!?,]{1,30} out of (?:all|any|every|recipes|answers|texts|it all|everything|your)\b",
        "Leave coriander out of recipes.",
        "Leave him out of this.",
    ),
    Entry(
        r"we (?:only )?(?:use|write|speak|say|follow|target) [^.!?,]{1,30}, (?:not|never) \w",
        "We use pnpm, not npm.",
        "We use pnpm.",
    ),
    Entry(
        r"i(?:(?:['’]d| would) (?:prefer|like|appreciate|love)| prefer)(?: it)?(?: if"
        r"| that) you\b(?! (?:to|could|can|would)\b)",
        "I'd prefer that you ask before you write.",
        "I'd like you to come.",
    ),
    Entry(
        r"(?:do not|don[’']t|dont)(?! worry| know\b| think\b| get me wrong| disturb sign| have\b"
        r"| you\b| forget\b| mind\b| be (?:shy|afraid|sorry|sad)| give up| hesitate| bother)\b",
        "Don't use emojis.",
        "Don't worry.",
    ),
    Entry(
        r"avoid\b|refrain from|abstain from|leave out|skip|omit|drop (?:the|all|any)|stop (?!worry"
        r"|kidd|jok|ly|cry|doubt|be)\w+ing\b|must not\b|under no circumstances?\b|no need (?:to"
        r"|for)\b|use (?!this|that|it\b)[^.!?,]{1,30}, (?:not|never) \w|(?:write|use|add|include"
        r"|send|make|give) no \w|spare me\b",
        "Avoid anglicisms.",
        "Stop worrying.",
    ),
    Entry(
        r"i(?:['’]d| would)? (?:rather|prefer(?: it)?(?: if| that)?|like it if"
        r"|appreciate it if) you (?:didn['’]?t|did not|don['’]?t|do not|never|wouldn['’]t|not)\b"
        r"|i(?:['’]d| would) rather not\b|i (?:do not|don['’]t|never) (?:want|like|need) (?:you to"
        r"|to see|any)\b",
        "I'd rather you didn't use it.",
        "I'd rather stay at home.",
    ),
    Entry(
        r"you (?:should not|shouldn['’]t|must not|mustn['’]t|may not|can not|cannot|can['’]t"
        r"|are not to|(?:must|should|may|will) never|are (?:not|never) (?:allowed"
        r"|supposed) to)\b(?! (?:believe|guess|know|regret|forget|be\b|imagine|have|miss))",
        "You must not delete anything.",
        "You must not forget how young she was.",
    ),
)

WISHES = (
    Entry(
        r"(?:nothing|nobody|no one|no \w+|my name|my address|customer \S+|[\w-]+s) (?:gets?|is"
        r"|are|must|may|should|shall|can)(?: (?:be|not|never))\b|nothing gets \w+",
        "My name must not appear in any document.",
        "Nothing came.",
    ),
    Entry(
        r"i(?:['’]d| would)? (?:want|need|like|love|prefer|rather|appreciate|expect|ask for)\b"
        r"|i(?:['’]d| would) be (?:happy|glad|grateful)\b|it would be (?:nice|great|good|helpful)"
        r"|it(?:['’]s| is) (?:essential|important|crucial|vital|critical|imperative) that\b"
        r"|i (?:only|just) (?:want|need|use)\b",
        "I'd prefer short answers.",
        "I saw it.",
    ),
    Entry(
        r"(?:all|every|each|any|the|my|your|our|answers|replies|responses|prices|dates|times"
        r"|amounts|headings|code)\b[^,.;:!?]{1,60}?\b(?:must|has to|have to|needs? to|needs? an?"
        r"|should)\b(?! be (?:kidding|joking))",
        "Every query must run on Postgres 12.",
        "Every gate was closed.",
    ),
    Entry(
        r"(?:an?|one|two|three|\d+) [^,.;:!?]{1,40} (?:is|are) (?:enough|plenty|fine|sufficient"
        r"|ok(?:ay)?)\b",
        "One example per answer is enough.",
        "One of us is ill.",
    ),
)

HEADLESS = (
    Entry(
        r"you are (?:now|from now on) (?:my|an?|the)\b|no more \w+ in (?:your|any|the)\b",
        "You are now my copy editor.",
        "You are now late.",
    ),
    Entry(
        r"(?:at most |no more than |max(?:imum|\.)? )?(?:\d+|one|two|three|four|five"
        r"|ten) (?!of)[^.!?,]{1,40} per (?:answer|reply|response|message)\b",
        "Three bullet points at most per reply.",
        "Three of us came.",
    ),
    Entry(
        r"(?<=^\W*)(?:at|in|to|with|for|after|before|under) (?:the (?:very )?(?:end|start|beginning"
        r"|top|bottom) of )?(?:every|each|all|any|your|all of your)(?: \w+)? (?:answers?|repl(?:y"
        r"|ies)|responses?|messages?|drafts?|letters?|e-?mails?|recipes?)\b",
        "At the end of every answer list the open points.",
        "At the end of the day we slept.",
    ),
    Entry(
        r"always(?! (?:been|wanted|loved|had|felt|nice|good|great|happy|glad|fun|there|the|so|here"
        r"|thought|knew|was|is|did|such|something|an? |on my|in my|love|up for)\b)",
        "Always knock.",
        "Always the same story.",
    ),
    Entry(
        r"never(?! mind\b| (?:be(?:en)?\b|before\W*$|gonna|had|seen|heard|thought|knew|tried|felt"
        r"|got|did|was|wanted|loved|again\W*$|again (?:will|did|am|do|have|would|can|shall)|have\b"
        r"|know\b|ever$)|\W*$)",
        "Never quote net prices.",
        "Never again will I eat there.",
    ),
    Entry(
        r"(?:from (?:now|here|today|this point)(?: on)?|in (?:the )?future|going forward|henceforth"
        r"|for the rest of (?:this|our|the) \w+|(?:in|for|throughout|during) (?:this|our) (?:chat"
        r"|conversation|thread|session|discussion|correspondence))\b,? (?!i\b|we\b|he\b|she\b"
        r"|they\b|it\b|there\b|the \w+ (?:is|are|will))",
        "From now on, sign with M.",
        "The plan from last week.",
    ),
    Entry(
        r"(?:whenever (?:i|you)\b(?![^,]*, (?:i|the|my|we)\b)|at all times|at no time"
        r"|when in doubt,|only ever)\b",
        "Whenever you quote, name the page.",
        "Whenever I eat, I sing.",
    ),
    Entry(
        r"only (?:answer|call|cite|communicate|contact|email|express|format|give|include|mention"
        r"|quote|reply|respond|speak|talk|use|write)\b",
        "Only mention gross prices.",
        "Only show me ten.",
    ),
    Entry(
        r"no (?!problem|worries|idea|thanks|way|doubt|rush|need|offen|trouble|reason|matter|one|big"
        r"|longer|more|news|luck|pressure|hurry|kidding|chance|wonder|clue|it|i|we|but"
        r"|not)(?:[\p{L}-]+ ){0,3}?(?:emojis?|emoticons?|abbreviations?|jargon|markdown|slang"
        r"|exclamation (?:marks?|points?)|bullet(?:s| points?| lists?)|tables?|lists?|headings?"
        r"|headers?|swear(?:ing| words)|profanity|caps|bold|italics|comments|semicolons|acronyms"
        r"|anglicisms|footnotes|disclaimers|apologies|small talk|flattery|filler|intros?"
        r"|introductions?|pleasantries|preamble|code blocks?|rhymes|spoilers|passive voice"
        r"|ads)\b(?![^.!?]* (?:in|on|at|from) (?:that|this|the) )|no (?!problem|worries|idea|doubt"
        r"|need|reason|one|way)[\w -]{2,40}?,? (?:ever|please|at all|anywhere)\b",
        "no exclamation marks",
        "No problem at all.",
    ),
    Entry(
        r"no more than [^.!?]{1,40}\b(?:per|in|for) (?:each |every |your |an? |the )?(?:answer|repl"
        r"|response|message)",
        "No more than three words per answer.",
        "No more than three came.",
    ),
    Entry(
        r"(?![^.!?]*\b(?:is|are|was|were|has|have|had|did|do|does|will|would|can|could|went|gave|made"
        r"|came|i|we|he|she|they)\b)(?:all |every |each |your |my |any )?(?:answers?|repl(?:y|ies)"
        r"|responses?|messages?|headings?|titles?|headlines|prices?|amounts?|dates?|times?|numbers?"
        r"|figures|units|measurements?|distances|temperatures|quotes?|quotations|citations|sources?"
        r"|comments|code|code samples|examples?|variable names|names|spelling|currency|currencies"
        r"|indentation|lists|paragraphs|sentences|summaries|e-?mails|letters|recipes|commit messages"
        r"|file names|links|abbreviations|formatting|tone|style|language)(?: (?:only|always|in this \w+"
        r"|for this \w+|over|under|up to|below|above|from|and|or|of|\p{L}+)){0,4}?(?:: |,? (?:in|as"
        r"|with|without|under|to|at|including|excluding|incl\.?|max(?:imum)?|spelled|written|rounded"
        r"|never|always|only|short|brief|formal|lower ?case|capitali[sz]ed)\b)",
        "All prices in Swiss francs.",
        "All prices in the shop were wrong.",
    ),
    Entry(
        r"(?:metric|imperial|british|american|plain|short|brief|formal|informal) (?:units?|spelling"
        r"|english|text|answers?|replies|tone|register)(?: only)?(?:,? please)?\W*$",
        "British spelling please",
        "Plain text is what he sent.",
    ),
)
