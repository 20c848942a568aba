"""What survives every summary word for word: the task, standing rules, what the user marked.

Taken from the covered messages themselves, so nothing of it has to be stored.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import regex

from gateway_compaction.core.messages import PREAMBLE_ROLES, Message, text_of
from gateway_compaction.core.sentences import sentences
from gateway_compaction.core.shorten import shorten

__all__ = ["Pins", "RulesIn", "pins_of", "rules_in"]

Count = Callable[[str], int]
RulesIn = Callable[[Message], Sequence[str]]

ANCHOR = "<!-- anchor -->"
MARKED_AFTER = regex.compile(r"(?<![.!?。！？])([.!?。！？]++)\s*+(<!-- anchor -->)")
CODE = regex.compile(r"```.*?(?:```|\Z)|`[^`\n]*`|<!--(?!\s*anchor\b).*?(?:-->|\Z)", regex.DOTALL)
QUOTED = regex.compile(r"(?m)^[ \t]*(?:>|\||\d+[:|]|[-+]{3} |@@ ).*$")
# What lays down a rule: an order at the beginning of a sentence or clause, or "you must"; not "I never".
RULE = regex.compile(
    r"(?i)(?:^|[,;:—-]\s+|\b(?:please|and|but|also|so|then|again|note|reminder)[,:]?\s+)"
    r"(?:please\s+)?(?:always|never(?! mind)|(?:do not|don['’]t)(?! worry)|must not"
    r"|make sure|be sure to|ensure that|remember (?:that|to|my|i)\b"
    r"|keep in mind|from now on|in future\b|whenever (?:i|you)\b(?![^,]*, i\b)"
    r"|under no circumstances|at all times|avoid (?:using|any)"
    r"|only (?:use|answer|reply|respond|write|give|ever)|use only|stick to|important:|rule:)"
    r"|\byou (?:must|should|may|can|have to|need to|are to)(?: not| never| always| only)\b"
    r"|\byou must\b|\byou mustn['’]t"
    r"|\bi (?:want|need|would like|['’]d like) you to (?:always|never|only)\b"
    r"|\b(?:is|are) (?:strictly )?(?:forbidden|not allowed|off[- ]limits|mandatory)\b"
    r"|\bi['’]m allergic|\bi am allergic"
    r"|항상|절대|하지\s?마|지\s?마(?:세요|라|십시오)|지\s?말(?:아|고)|반드시|꼭\s|기억해|앞으로는"
    r"|必ず|絶対に|決して|しないで|ないでください|覚えておいて|常に"
    r"|总是要|请总是|始终|永远不要|不要|切勿|绝不|絕不|务必|務必|必须|必須|记住|記住|请勿|請勿"
    r"|(?:^|[,;:]\s+|bitte\s+)(?:immer|niemals|nie\s|auf keinen fall|unbedingt"
    r"|merke? dir|achte darauf|verwende (?:nie|immer|nur))"
    r"|\b(?:du|sie) (?:musst|müssen|darfst|dürfen)\b"
    r"|(?:^|[,;:]\s+)(?:toujours|jamais|souviens-toi|rappelle-toi|rappelez-vous"
    r"|n['’]utilise[zr]? (?:pas|jamais)|ne \w+ (?:pas|jamais))"
    r"|\b(?:tu dois|vous devez|il faut)\b"
    r"|(?:^|[,;:]\s+)(?:siempre|nunca|jamás|recuerda|no uses|asegúrate|ten en cuenta)"
    r"|\b(?:debes|no debes|tienes que)\b"
)
# What somebody tells of himself or of others, though it goes on like an order: "I keep going and never quit".
TELLS = regex.compile(
    r"(?i)^(?:[\p{L}]{2,20}: )?(?:(?:i|he|she|they|it)(?:['’]\w+)?|you (?:always|never))\s(?!want|need|would)"
    r".*\b(?:and|but|also|then|again)[,:]? (?:please )?(?:always|never|make sure|be sure)\b"
)
LONGEST_RULE, SHORTEST_RULE = 400, 8
PASTED_LINES = 12
SHORTENED_RULE = 24


@dataclass(frozen=True, slots=True)
class Pins:
    """Verbatim facts, each within its own token budget.

    Attributes:
        task: the first user message, head and tail if long; empty where there is none.
        rules: covered system and developer messages, then the user's own standing rules, in order.
    """

    task: str
    rules: tuple[str, ...]


def rules_in(message: Message) -> tuple[str, ...]:
    """A user's own sentences that lay down a rule, outside code and pasted text."""
    return tuple(_rules_in(text_of(message))) if message["role"] == "user" else ()


def pins_of(
    covered: Sequence[Message],
    task_tokens: int,
    rule_tokens: int,
    count: Count,
    rules_of: RulesIn = rules_in,
) -> Pins:
    """The pins of some covered messages; the newest rules win where not all fit.

    ``rules_of`` is ``rules_in``, or remembers what that said.
    """
    task = next((text_of(m) for m in covered if m["role"] == "user" and text_of(m).strip()), "")
    instructions = [text_of(m).strip() for m in covered if m["role"] in PREAMBLE_ROLES and text_of(m).strip()]
    said = [rule for m in covered for rule in rules_of(m)]
    kept_anyway = frozenset(instructions)
    short = shorten(task.replace(ANCHOR, "").strip(), task_tokens, count) if task else ""
    order = {rule: i for i, rule in reversed(list(enumerate([*instructions, *said])))}
    rules: list[str] = []
    room = rule_tokens
    for rule in _newest_first(instructions, said):
        if rule in kept_anyway and count(rule) + 2 > room >= SHORTENED_RULE:
            # Instructions never vanish: what is too long keeps its beginning and its end.
            place, rule = order[rule], shorten(rule, room - 2, count, "[…]")
            order[rule] = place
        cost = count(rule) + 2
        if rule not in short and rule not in rules and cost <= room:
            rules.append(rule)
            room -= cost
    return Pins(short, tuple(sorted(rules, key=order.__getitem__)))


def _newest_first(instructions: Sequence[str], said: Sequence[str]) -> Sequence[str]:
    return [*reversed(instructions), *reversed(said)]


def _rules_in(text: str) -> list[str]:
    own = QUOTED.sub(" ", CODE.sub(" ", MARKED_AFTER.sub(r"\2\1", text)))
    if own.count("\n") > PASTED_LINES * 4:
        own = "\n".join([*own.splitlines()[:PASTED_LINES], *own.splitlines()[-PASTED_LINES:]])
    found = [s for s in sentences(own) if SHORTEST_RULE <= len(s) <= LONGEST_RULE]
    return [
        s.replace(ANCHOR, "").strip()
        for s in found
        if ANCHOR in s or (RULE.search(s) and not TELLS.search(s) and not s.endswith("?"))
    ]
