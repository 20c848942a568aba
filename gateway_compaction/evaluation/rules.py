"""Find the explicit rules of a user, and the task: they must survive word for word.

The pattern is narrow and its own: sentences that begin with an order that is meant to last. If it were the
one that pins rules, a rule which that one overlooks would never count as lost. Texts are divided in another
way too, so that a rule which was cut off shows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import regex

from gateway_compaction.core.conversation.messages import Message, role_of, text_of

BLOCKS = regex.compile(
    r"(?ms)(?:^[ \t]*```|```(?=\w*[ \t]*$)).*?^[ \t]*```[ \t]*$"
    r"|(?:^[ \t]*```|```(?=\w*[ \t]*$))(?:(?!\n[ \t]*\n).)*+"
    r"|<(?!!)(\w+)>.*?</\1>|<!--(?!\s*anchor\b)(?:(?!-->|<!--|\n[ \t]*\n).)*+(?:-->)?"
)
# Not the apostrophes of somebody's keyboard.
CODE = regex.compile(r"(?<!\p{Latin})`(?:(?![.!?]\s)[^`\n])+`(?!\p{Latin})|```[^`\n]+```")
APOSTROPHE = regex.compile(r"(?<=\p{Latin})`(?=\p{Latin})")
MARKED = regex.compile(r"[^\S\n]*<!--\s*anchor\s*-->")
BEHIND = regex.compile(r"([.!?。！？]+)(\s*<!--\s*anchor\s*-->)")
LEADING = regex.compile(r"(?m)^\s*(<!--\s*anchor\s*-->)\s+(?=\S)")
LONGEST, SHORTEST = 300, 12
ORDER = regex.compile(
    r"(?i)^(?:[-*•]\s+)?(?:(?:please|and|but|also|note|important|remember|rule)[:,]?\s+)*"
    r"(?:always|never|do not ever|don['’]t ever|from now on|remember (?:that|to|my)|under no circumstances"
    r"|앞으로는|항상|절대|반드시|今後は|必ず|絶対に|常に|今后|请始终|请务必|永远不要|切勿"
    r"|ab jetzt|immer|niemals|auf keinen fall|désormais|toujours|jamais|ne \w+ jamais"
    r"|a partir de ahora|siempre|nunca)(?=[\s,:]|\p{Han}|\p{Hiragana}|\p{Hangul})"
)


MONTH = r"(?:jan|feb|mar|mär|apr|ma[iy]|jun|jul|aug|sep|o[ck]t|nov|de[zc]|févr|avr|juin|août|ene|abr|ago|dic)"
# A full stop ends a sentence, but none of these; a new line does, where what follows does not go on.
STOP = regex.compile(
    r"(?i:(?<!\b(?:mr|mrs|ms|dr|prof|st|hr|nr|no|vs|e\.g|i\.e|z\. ?b|p\. ?ej|p\. ?ex|etc|ca|bzw|sra?|mme))"
    rf"(?<!\b\d{{1,2}}(?=\.\s+(?:\p{{Ll}}|{MONTH}))))[.!?]+[\"'”’)\]]*(?=\s|$)|[。！？]"
)
ITEM = r"\s*(?:[-*•]|\d{1,2}[.)])\s"
LINE = regex.compile(
    rf"\n(?=\s*\n|{ITEM}|[ \t]*(?:[^\p{{Ll}}`\s]|(?i:{ORDER.pattern.removeprefix('(?i)^')})))"
)
ENUMERATED = regex.compile(rf"^{ITEM}\s*")


def find_task(messages: Iterable[Message]) -> str:
    """Return the first user message that says something."""
    return next((text_of(m) for m in messages if role_of(m) == "user" and text_of(m).strip()), "")


def find_rules(messages: Iterable[Message]) -> list[str]:
    """Return users' sentences that lay down a lasting rule or carry its mark; pasted text is left out."""
    found: dict[str, None] = {}
    for message in messages:
        if role_of(message) == "user":
            found |= dict.fromkeys(_find_rules_in(text_of(message)))
    return list(found)


def _find_rules_in(text: str) -> list[str]:
    own = BEHIND.sub(r"\2\1", LEADING.sub(r"\1 ", text))
    own = BLOCKS.sub(_blank_out, own)
    seen = CODE.sub(_blank_out_word, APOSTROPHE.sub("'", own))
    found = []
    for start, end in _split_sentences(seen):
        said, rule = seen[start:end].strip(), MARKED.sub("", own[start:end])
        rule = ENUMERATED.sub("", rule.strip())
        lasting = SHORTEST <= len(rule) <= LONGEST and not said.endswith(("?", "？"))
        if lasting and (MARKED.search(said) or ORDER.search(ENUMERATED.sub("", said))):
            found.append(rule)
    return found


def _split_sentences(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    ends = {m.end() for m in STOP.finditer(text)} | {m.start() for m in LINE.finditer(text)} | {len(text)}
    for end in sorted(ends):
        yield start, end
        start = end


def _blank_out(found: regex.Match[str]) -> str:
    return regex.sub(r"[^\n]", " ", found[0])


def _blank_out_word(found: regex.Match[str]) -> str:
    return "x" * len(found[0])
