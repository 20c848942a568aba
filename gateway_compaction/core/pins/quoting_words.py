"""By which words and shapes pasted text is told from a user's own."""

from __future__ import annotations

import regex

__all__ = [
    "ASKS",
    "CODED",
    "HEADS_RULES",
    "INTRODUCES",
    "INTRODUCES_INLINE",
    "LISTED",
    "NUMBERED",
    "RULES_FOLLOW",
    "STARTS_ANEW",
    "WRITES_ABOUT",
    "WRITES_ON",
]

# A line of a log, of a program, of a recorded conversation, or of the head of a mail.
CODED = regex.compile(
    r"[ \t]*+(?:(?:npm|yarn|pip3?|cargo|pnpm|docker)(?: (?:WARN|ERR!|notice|error|warning|info))"
    r"|\[?(?:ERROR|WARN|WARNING|INFO|DEBUG|FATAL|TRACE|NOTICE|CRITICAL)\b[\]:]?\s"
    r"|(?:error|fatal|fatal error|warning|deprecated|info|panic|hint)(?:\[\w+\])?: "
    r"|(?:\w+(?:Error|Exception|Warning)|Error|Exception): |Traceback \(|File \"|at [\w.$<>]+\(|E {2,}\w"
    r"|\$ \w|>>> |#!|\d{4}-\d\d-\d\d[T ]|\[?\d\d:\d\d:\d\d"
    r"|(?:async )?def \w+\(|class \w+ ?[:({]|return\b[^.]*[;()\]}]\s*$|raise \w+\(|(?:throw|new) \w+"
    r"|import [\w{*]"
    r"|from [\w.]+ import\b|assert \w[^.!]*(?:,|==|;)|(?:const|let|var) \w+ ?[=:;]|(?:public|private"
    r"|static) \w"
    r"|function\b ?\w*\(|export (?:default|const|function|class)\b|(?:if|while|switch|for) ?\(|(?:else|try"
    r"|finally):"
    r"|except\b[^.]*:\s*$|@\w+\(|//|/\*|\*/|\"\"\"|[A-Za-z_][\w.\[\]]*+ ?[+*-]?= ?[\w\"'\[({]"
    r"|(?:user|assistant|human|ai|bot|system|tool|developer) ?:"
    r"|(?:From|To|Cc|Bcc|Subject|Date|Sent|Reply-To|Von|An|Betreff|Gesendet|De|Objet|Asunto): )"
    r"|[ \t]++(?:#|--|\*)\s"
)
NUMBERED = regex.compile(
    r"[ \t]*(?:§+ ?\d|\d{1,3}\.\d{1,3}\b|(?:Art|Sec|Article|Section|Artikel|Abschnitt)\.? \d)"
)
LISTED = regex.compile(r"[ \t]*(?:[-*•+–]\s|\(?\d{1,3}[.)]\s|#|>|\||\[|<)")
STARTS_ANEW = regex.compile(
    r"(?i)(?:always|never|please|do not|don['’]t|make sure|remember|from now on|only|also|note|important"
    r"|and never"
    r"|immer|nie|niemals|bitte|verwende|toujours|jamais|ne|siempre|nunca|no|hi|hello|thanks|thank you|dear)\b"
)
WRITES = (
    r"(?:translate|summari[sz]e|shorten|proofread|rephrase|paraphrase|reword|rewrite|correct the|analy[sz]e"
    r"|übersetz\w*|zusammen|kürz\w*|korrigier\w*|formulier\w*|tradui\w+|résum\w+|raccourci\w*|traduc\w+"
    r"|resum\w+"
    r"|acort\w+|번역|요약|줄여|교정|다듬|翻訳|訳し|要約|添削|短くし|翻译|翻譯|总结|總結|摘要|缩短|缩写|润色|校对)"
)
POINTS = (
    r"(?:this|these|following|below|above|it\b|our|my|the (?:mail|e-?mail|letter|text|article|document"
    r"|message)"
    r"|dies\w*|folgend\w*|unser\w*|mein\w*|ce\w*|notre|suivant\w*|est[eao]s?|siguiente|nuestr\w+|이|다음|아래"
    r"|この|次の|以下|这|下面)"
)
SHOWS = (
    r"(?:\b(?:fails?|failed|failing|crash\w*|prints?|outputs?)\b"
    r"|\b(?:here(?:['’]s| is| are)|this is|attached is|below is)\b[^:]{0,40}\b(?:logs?|output|error"
    r"|trace(?:back)?"
    r"|stack|code|script|file|mail|e-?mail|letter|document|doc|manual|text|article|transcript|readme"
    r"|config|message)"
    r"|^\W*my (?:code|script|log|output|error|config|file|mail|e-?mail|readme)\b|\bi (?:get|got|see"
    r"|receive)\b"
    r"|error message|hier (?:ist|das)\b|meldung|voici|aquí (?:est[áa]|tienes)"
    r"|로그|에러|오류|ログ|エラー|日志|日誌|报错|错误)"
)
# What ends with a colon and is followed by text of somebody else's.
INTRODUCES = regex.compile(rf"(?i){WRITES}|{SHOWS}")
# Not where rules follow, or where a case is named: "When you translate:".
WRITES_ON = regex.compile(rf"(?i){WRITES}")
ASKS = regex.compile(
    r"(?i)[?？]|^\W*(?:please|can you|could you|fix|help|tell me|bitte|merci de|por favor)\b"
)
HEADS_RULES = regex.compile(
    r"(?i)\brules?\b|instruction|guideline|requirement|constraint|condition|regeln|règles|reglas|규칙|지침|ルール"
    r"|规则|要求"
)
RULES_FOLLOW = regex.compile(
    rf"{HEADS_RULES.pattern}|^\W*(?:when|whenever|if|while|for|wenn|beim|quand|si|cuando)\b"
)
INTRODUCES_INLINE = regex.compile(
    rf"(?i)[ \t]*(?:(?:please|can you|could you|bitte|merci de"
    rf"|por favor) )?{WRITES}[^:：\n]{{0,40}}[:：](?=\s*\S)"
)
WRITES_ABOUT = regex.compile(rf"(?i){WRITES}[^\n]{{0,60}}?{POINTS}|{POINTS}[^\n]{{0,60}}?{WRITES}")
