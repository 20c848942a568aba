"""The words of English by which an answer that is no summary is told: refusals, errors, nothing."""

from __future__ import annotations

from gateway_compaction.core.text.lexicon.entry import Entry

NOTHING = (
    Entry(
        r"ok|okay|sure|done|null|none|nil|undefined|unknown|empty|n/?a|nothing|no (?:summary"
        r"|content|answer)",
        "no content",
        "Rate limiting was added.",
    ),
    Entry(
        r"(?:no |nothing )?(?:available|to summari[sz]e|to report)|no summary (?:is )?(?:available"
        r"|possible)|errors?",
        "no summary available",
        "Rate limiting was added.",
    ),
    Entry(
        r"(?:no |the )?summary (?:is |was )?(?:currently )?(?:not |un)available|(?:none"
        r"|all) of the above|to ?do|tb[dc]",
        "summary not available",
        "Rate limiting was added.",
    ),
    Entry(
        r"yes|no|understood|acknowledged|noted|got it|i see|roger|right|alright|all right|great"
        r"|perfect|certainly",
        "acknowledged",
        "Rate limiting was added.",
    ),
    Entry(
        r"of course|absolutely|will do|thanks|thank you|hello|hi|hey|true|false|ready|placeholder",
        "placeholder",
        "Rate limiting was added.",
    ),
    Entry(r"failed|failure|time ?out|timed out|summary", "timed out", "Rate limiting was added."),
)

REFUSALS = (
    Entry(
        r"(?:i|we)(?: (?:am|are|was|were)|['’]m|['’]re) (?:\w+ ){0,2}?(?:sorry|unable"
        r"|not able|afraid)\b",
        "I am sorry",
        "The user asked for a refund.",
    ),
    Entry(
        r"sorry\b(?=\W*+(?:$|[,.!;:—–-]|but\b|i\b|we\b))|(?:my |our "
        r"|please accept )?(?:\w+ ){0,2}?apologies\b",
        "apologies",
        "The user asked for a refund.",
    ),
    Entry(
        r"(?:i|we) (?:\w+ ){0,3}?apologi[sz]e\b|i (?:\w+ )?regret\b|regrettably,? i\b",
        "regrettably i",
        "The user asked for a refund.",
    ),
    Entry(
        r"unfortunately,? (?:i|we|it is not possible|it['’]s not possible|this request|there (?:is"
        r"|was) no)\b",
        "unfortunately it's not possible",
        "The user asked for a refund.",
    ),
    Entry(
        r"(?:i|we) (?:\w+ )?(?:can ?not|can['’]t|couldn['’]t|could not|won['’]t|will not"
        r"|(?:must )?decline)\b",
        "we could not",
        "The user asked for a refund.",
    ),
    Entry(
        r"(?:i|we) (?:(?:must|have to|need to|will) )?(?:\w+ )?(?:decline|refuse)\b",
        "we decline",
        "The user asked for a refund.",
    ),
    Entry(
        r"i (?:understand|acknowledge|have (?:read|received|noted|reviewed))\b|i(?:['’]m| am) ready\b",
        "i have received",
        "The user asked for a refund.",
    ),
    Entry(
        r"i(?:['’]d| would) be (?:happy|glad|pleased) to\b|i(?:['’]ll| will) (?:help|assist"
        r"|summari[sz]e|be happy)\b",
        "i would be pleased to",
        "The user asked for a refund.",
    ),
    Entry(
        r"your (?:request|prompt|message|input|question|content) (?:was|has been|is|could not be"
        r"|can ?not be) \w",
        "Your request was blocked",
        "The user asked for a refund.",
    ),
    Entry(
        r"content (?:filter|moderation)(?: (?:was |has been )?(?:triggered|activated))?\W*+$",
        "content moderation",
        "The user asked for a refund.",
    ),
    Entry(
        r"content (?:was |has been )?(?:blocked|filtered|flagged)\b",
        "content filtered",
        "The user asked for a refund.",
    ),
    Entry(
        r"i (?:do not|don['’]t) (?:have|see|feel|think|know)\b|i have no (?:access|way|information"
        r"|conversation)\b",
        "i have no conversation",
        "The user asked for a refund.",
    ),
    Entry(
        r"i(?:['’]m| am) (?:just |only )?an? (?:ai|(?:large )?language model)\b",
        "i am a language model",
        "The user asked for a refund.",
    ),
    Entry(r"i(?: would|['’]d)? need (?:more|the)\b", "i need more", "The user asked for a refund."),
    Entry(
        r"as an? (?:ai|artificial intelligence)(?: language)?(?: model| assistant"
        r"| system)?+(?=\s*+[,;]|\s++i\b)",
        "As an AI, I",
        "The user asked for a refund.",
    ),
    Entry(r"as an? (?:large )?language model\b", "as a language model", "The user asked for a refund."),
    Entry(
        r"(?:there (?:is|was|are) )?(?:no|nothing) (?:\w+ ){0,3}?to summari[sz]e\b",
        "nothing to summarize",
        "The user asked for a refund.",
    ),
    Entry(
        r"no (?:\w+ ){0,3}?(?:was|were|is|has been) (?:provided|given|included|found)\b",
        "No transcript was provided.",
        "The user asked for a refund.",
    ),
    Entry(
        r"please provide\b|you (?:have not|haven['’]t|did not|didn['’]t) provide",
        "you have not provide",
        "The user asked for a refund.",
    ),
    Entry(
        r"it (?:seems|looks|appears) (?:that |like )?(?:you|there is no|no)\b",
        "It seems you sent nothing.",
        "The user asked for a refund.",
    ),
    Entry(
        r"(?:the|your) (?:transcript|conversation|message) (?:is|was|seems|appears to be) (?:empty"
        r"|missing|blank)\b",
        "your transcript appears to be blank",
        "The user asked for a refund.",
    ),
    Entry(
        r"(?:(?:the|this|your) )?(?:assistant|model|ai|chatbot) (?:\w+ ){0,2}?(?:can ?not|can['’]t"
        r"|could not|couldn['’]t|will not|won['’]t|unable to|(?:refuse"
        r"|decline)[sd](?: to)?) (?:help|assist|comply|process|summari[sz]e|provide|complete|answer"
        r"|respond|do|fulfil+)(?:(?: \w+){0,4}? (?:requests?|this|that|it|you|conversation"
        r"|transcript|content|summary|text|chat))?(?:,? (?:because|as|since"
        r"|due to)\b[^.]{0,80}\b(?:polic|guideline|safety|filter)\w*)?\W*+$",
        "The assistant cannot help with this request.",
        "The user asked for a refund.",
    ),
    Entry(
        r"(?:(?:the|this) )?(?:request|prompt|message|input|content|response|answer|output"
        r"|summary) (?:(?:was|has been|is) )?(?:\w+ )?(?:blocked|filtered|flagged|rejected|refused"
        r"|withheld|removed|declined)\b[^.;]{0,60}?\b(?:(?:content|safety|usage) ?\w* ?(?:filter"
        r"|polic|system|guideline)|moderation)",
        "The request was blocked by our content filter.",
        "The user asked for a refund.",
    ),
)

ERRORS = (
    Entry(
        r"(?:\w*error|\w*exception|fatal|failure|failed)\s*+[:!]",
        "exception:",
        "Rate limiting was added to the gateway.",
    ),
    Entry(
        r"error (?:code|status|\d|occurred)",
        "error occurred",
        "Rate limiting was added to the gateway.",
    ),
    Entry(
        r"error (?:while |when |in )?(?:generating|creating|processing|calling|summari[sz]ing"
        r"|fetching|connecting)",
        "Error while summarizing",
        "Rate limiting was added to the gateway.",
    ),
    Entry(
        r"(?:an?|some) (?:\w+ ){0,2}?error (?:has |was )?(?:occurred|encountered|happened)\b",
        "some error encountered",
        "Rate limiting was added to the gateway.",
    ),
    Entry(
        r"(?:oops|something went wrong)\b",
        "something went wrong",
        "Rate limiting was added to the gateway.",
    ),
    Entry(
        r"failed to (?:generate|create|summari[sz]e|connect|fetch|parse|process|get|load)\b",
        "failed to summarise",
        "Rate limiting was added to the gateway.",
    ),
    Entry(
        r"(?:http )?(?:50[0234] )?internal server error(?=\s*+(?:$|[^\w\s/]|please|try))",
        "Internal Server Error",
        "Rate limiting was added to the gateway.",
    ),
    Entry(
        r"(?:http )?(?:50[0234] )?(?:bad gateway|service (?:\w+ )?unavailable"
        r"|gateway time-?out)(?=\s*+(?:$|[^\w\s/]))",
        "service unavailable",
        "Rate limiting was added to the gateway.",
    ),
    Entry(
        r"http (?:error )?[45]\d\d\b|[45]\d\d [a-z ]+error\b",
        "HTTP 502",
        "Rate limiting was added to the gateway.",
    ),
    Entry(
        r"(?:the |your )?(?:request|connection) (?:has |was )?(?:timed out|aborted|refused|reset"
        r"|cancell?ed|failed)\b",
        "connection timed out",
        "Rate limiting was added to the gateway.",
    ),
    Entry(
        r"request time-?out\b|connection error\b|you (?:have )?exceeded your\b",
        "you exceeded your",
        "Rate limiting was added to the gateway.",
    ),
    Entry(
        r"(?:your )?quota (?:was |has been )?exceeded\b|too many requests\b",
        "too many requests",
        "Rate limiting was added to the gateway.",
    ),
    Entry(
        r"rate[- ]limit(?:ed|s)?(?:\W*+$|\s++(?:was |has been )?(?:exceeded|reached"
        r"|hit)\b(?! errors| responses))",
        "rate-limit exceeded",
        "Rate limiting was added to the gateway.",
    ),
    Entry(
        r"(?:the |this )?model(?: \S+)? (?:is )?(?:currently |temporarily )?(?:overloaded"
        r"|unavailable|not found)\b",
        "model unavailable",
        "Rate limiting was added to the gateway.",
    ),
    Entry(
        r"(?:the |this )?model(?: \S+)? does not exist\b",
        "model does not exist",
        "Rate limiting was added to the gateway.",
    ),
    Entry(
        r"this model['’]s maximum context\b|context length exceeded\b|(?:invalid|incorrect) api key\b",
        "this model's maximum context",
        "Rate limiting was added to the gateway.",
    ),
    Entry(
        r"authentication (?:error|failed)\b|unauthori[sz]ed\b\W*+$|insufficient (?:quota|credits"
        r"|balance)\b",
        "authentication failed",
        "Rate limiting was added to the gateway.",
    ),
)
