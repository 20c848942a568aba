"""What survives every summary word for word: the task, standing rules, what the user marked.

Taken from the covered messages themselves, so nothing of it has to be stored.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import regex

from gateway_compaction.core.messages import PREAMBLE_ROLES, Message, text_of
from gateway_compaction.core.shorten import shorten

__all__ = ["Pins", "pins_of", "sentences"]

Count = Callable[[str], int]

ANCHOR = "<!-- anchor -->"
CODE = regex.compile(r"```.*?(?:```|\Z)|`[^`\n]*`", regex.DOTALL)
QUOTED = regex.compile(r"(?m)^\s*(?:>|\||\d+[:|]|[-+]{3} |@@ ).*$")
# A sentence ends at its mark before a space, at a CJK mark, or at a line end.
SENTENCE = regex.compile(r"[^\n]*?(?:[.!?](?=\s|$)|[。！？]|$)", regex.MULTILINE)
RULE = regex.compile(
    r"(?i)(?:\b(?:always|never|do not|don['’]t|must not|mustn['’]t|must|only ever|make sure|from now on"
    r"|remember|keep in mind|important|under no circumstances|at all times)\b"
    r"|항상|절대|하지\s?마|지\s?마세요|지\s?말|반드시|꼭|기억해|앞으로는"
    r"|必ず|絶対|決して|しないで|ないでください|覚えて|常に"
    r"|总是|總是|始终|永远|永遠|不要|切勿|绝不|絕不|务必|務必|必须|必須|记住|記住|请勿"
    r"|\b(?:immer|niemals|nie|auf keinen fall|unbedingt|merke? dir|achte darauf)\b"
    r"|\b(?:toujours|jamais|souviens-toi|rappelle-toi|rappelez-vous|il faut|ne pas|n['’]utilise[zr]? pas)\b"
    r"|\b(?:siempre|nunca|jamás|recuerda|no uses|no debes|asegúrate|ten en cuenta)\b)"
)
LONGEST_RULE, SHORTEST_RULE = 400, 8
PASTED_LINES = 12


@dataclass(frozen=True, slots=True)
class Pins:
    """Verbatim facts, each within its own token budget.

    Attributes:
        task: the first user message, head and tail if long; empty where there is none.
        rules: covered system and developer messages, then the user's own standing rules, in order.
    """

    task: str
    rules: tuple[str, ...]


def pins_of(covered: Sequence[Message], task_tokens: int, rule_tokens: int, count: Count) -> Pins:
    """The pins of some covered messages; the newest rules win where not all fit."""
    task = next((text_of(m) for m in covered if m["role"] == "user" and text_of(m).strip()), "")
    instructions = [text_of(m).strip() for m in covered if m["role"] in PREAMBLE_ROLES and text_of(m).strip()]
    said = [s for m in covered if m["role"] == "user" for s in _rules_in(text_of(m))]
    short = shorten(task.replace(ANCHOR, "").strip(), task_tokens, count) if task else ""
    rules: list[str] = []
    room = rule_tokens
    for rule in _newest_first(instructions, said):
        cost = count(rule) + 2
        if rule not in short and rule not in rules and cost <= room:
            rules.append(rule)
            room -= cost
    order = {rule: i for i, rule in reversed(list(enumerate([*instructions, *said])))}
    return Pins(short, tuple(sorted(rules, key=order.__getitem__)))


def _newest_first(instructions: Sequence[str], said: Sequence[str]) -> Sequence[str]:
    return [*reversed(instructions), *reversed(said)]


def _rules_in(text: str) -> list[str]:
    """A user's own sentences that lay down a rule, outside code and pasted text."""
    own = QUOTED.sub(" ", CODE.sub(" ", text))
    if own.count("\n") > PASTED_LINES * 4:
        own = "\n".join([*own.splitlines()[:PASTED_LINES], *own.splitlines()[-PASTED_LINES:]])
    found = [s for s in sentences(own) if SHORTEST_RULE <= len(s) <= LONGEST_RULE]
    return [
        s.replace(ANCHOR, "").strip()
        for s in found
        if ANCHOR in s or (RULE.search(s) and not s.endswith("?"))
    ]


def sentences(text: str) -> list[str]:
    """The sentences of a text, stripped; line ends end sentences too."""
    return [s for s in (m.group().strip() for m in SENTENCE.finditer(text)) if s]
