"""The words and shapes by which pasted text is told from a user's own."""

from __future__ import annotations

import regex

from gateway_compaction.core.text.lexicon import pattern_of

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
    rf"|{pattern_of('speakers')} ?:"
    rf"|{pattern_of('mail_headers')}: )"
    r"|[ \t]++(?:#|--|\*)\s"
)
NUMBERED = regex.compile(rf"[ \t]*(?:§+ ?\d|\d{{1,3}}\.\d{{1,3}}\b|{pattern_of('clause_numbers')}\.? \d)")
LISTED = regex.compile(r"[ \t]*(?:[-*•+–]\s|\(?\d{1,3}[.)]\s|#|>|\||\[|<)")
STARTS_ANEW = regex.compile(rf"(?i){pattern_of('fresh_starts')}\b")
WRITES = pattern_of("transforms")
POINTS = pattern_of("pointers")
SHOWS = pattern_of("exhibits")
# What ends with a colon and is followed by text of somebody else's.
INTRODUCES = regex.compile(rf"(?i){WRITES}|{SHOWS}")
# Not where rules follow, or where a case is named: "When you translate:".
WRITES_ON = regex.compile(rf"(?i){WRITES}")
ASKS = regex.compile(rf"(?i)[?？]|^\W*{pattern_of('appeals')}\b")
HEADS_RULES = regex.compile(f"(?i){pattern_of('rule_headings')}")
RULES_FOLLOW = regex.compile(rf"{HEADS_RULES.pattern}|^\W*{pattern_of('cases')}\b")
INTRODUCES_INLINE = regex.compile(
    rf"(?i)[ \t]*(?:{pattern_of('politeness')} )?{WRITES}[^:：\n]{{0,40}}[:：](?=\s*\S)"
)
WRITES_ABOUT = regex.compile(rf"(?i){WRITES}[^\n]{{0,60}}?{POINTS}|{POINTS}[^\n]{{0,60}}?{WRITES}")
# A text that the request points to, however short it is.
WRITES_ABOUT_THIS = regex.compile(
    rf"(?i){WRITES}[^\n]{{0,60}}?{pattern_of('near_pointers')}|{pattern_of('near_pointers')}[^\n]{{0,60}}?{WRITES}"
)
