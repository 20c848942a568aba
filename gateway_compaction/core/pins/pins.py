"""What survives every summary word for word: the task, standing rules, what the user marked.

Taken from the covered messages themselves, so nothing of it has to be stored.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import regex

from gateway_compaction.core.conversation.messages import PREAMBLE_ROLES, Message, declared_role, text_of
from gateway_compaction.core.pins.anchor_words import MARK
from gateway_compaction.core.pins.own_words import is_bulky, own_words, unwrapped
from gateway_compaction.core.pins.rule_changes import changes, content_words
from gateway_compaction.core.pins.rules import lays_down_a_rule, poses
from gateway_compaction.core.text.lexicon import pattern_of
from gateway_compaction.core.text.sentences import find_sentence_spans
from gateway_compaction.core.text.shorten import shorten

Count = Callable[[str], int]
FindRules = Callable[[Message], Sequence[str]]

ANCHOR = "<!-- anchor -->"
BULLET = regex.compile(r"^(?:[-*•+–]\s+)")
BREAK = regex.compile(r"[^\S\n]*+\n\s*+")
STRONG = regex.compile(rf"(?i)^\W*{pattern_of('plain_rules')}")
# In bytes, so that a word of Chinese is as long as one of English.
LONGEST_RULE, SHORTEST_RULE_BYTES = 400, 8
SHORTENED_RULE = 24
MOST_OF_BULKY, MOST_OF_ONE = 3, 60
RULES_BY_WORD = 8


@dataclass(frozen=True, slots=True)
class Pins:
    """Verbatim facts, each within its own token budget.

    Attributes:
        task: the first user message, head and tail if long; empty where there is none.
        rules: covered system and developer messages, then the user's own standing rules, in order; what
            takes a rule back stands right behind it.
    """

    task: str
    rules: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _PlacedRule:
    """A rule, or what changes the one at ``place``; ``bulky``: it stands in a document."""

    text: str
    place: tuple[int, ...]
    changed: str | None
    bulky: bool


def rules_in(message: Message) -> tuple[str, ...]:
    """A user's own sentences that lay down a rule or may change one, outside code and pasted text.

    What the user marked keeps its mark in front.
    """
    return tuple(_rules_in(text_of(message))) if declared_role(message) == "user" else ()


def collect_pins(
    covered: Sequence[Message],
    task_tokens: int,
    rule_tokens: int,
    count: Count,
    rules_of: FindRules = rules_in,
) -> Pins:
    """The pins of some covered messages; the newest rules win where not all fit.

    ``rules_of`` is ``rules_in``, or remembers what that said.
    """
    task = next((text_of(m) for m in covered if declared_role(m) == "user" and text_of(m).strip()), "")
    preamble = (text_of(m).strip() for m in covered if declared_role(m) in PREAMBLE_ROLES)
    instructions = [text for text in preamble if text]
    short = shorten(MARK.sub("", task).strip(), task_tokens, count) if task else ""
    kept_anyway = frozenset(instructions)
    said = [_PlacedRule(text, (-1, i), None, False) for i, text in enumerate(instructions)]
    said += _collect_rules(covered, rules_of)
    order: dict[str, tuple[int, ...]] = {}
    room = rule_tokens
    taken_back: set[str] = set()
    for rule in sorted(said, key=_sort_key):
        text = rule.text
        if text in kept_anyway and count(text) + 2 > room >= SHORTENED_RULE:
            # Instructions never vanish: what is too long keeps its beginning and its end.
            text = shorten(text, room - 2, count, "[…]")
        cost = count(text) + 2
        if text in order or text in short or text in taken_back:
            continue
        if cost <= room:
            order[text] = rule.place
            room -= cost
        elif rule.changed is not None:
            # Better no rule than one that holds no longer.
            taken_back.add(rule.changed)
    return Pins(short, tuple(sorted(order, key=order.__getitem__)))


def _sort_key(rule: _PlacedRule) -> tuple[int, ...]:
    """Instructions first, then what the user said, the newest first, and what stands in documents last."""
    kind = 0 if rule.place[0] < 0 else 2 if rule.bulky else 1
    return kind, -rule.place[-1]


def _collect_rules(covered: Sequence[Message], rules_of: FindRules) -> list[_PlacedRule]:
    """Rules in order, and of what may change one that which shares a word with it."""
    found: list[_PlacedRule] = []
    places: dict[str, list[int]] = {}
    for message in covered:
        heard = rules_of(message) if declared_role(message) == "user" else ()
        bulky = bool(heard) and is_bulky(text_of(message))
        for text in heard:
            marked, text = text.startswith(ANCHOR), text.removeprefix(ANCHOR).strip()
            words = content_words(text)
            place: tuple[int, ...] = (len(found), len(found))
            changed = None
            if not marked and changes(text) and not lays_down_a_rule(text):
                earlier = _find_changed_rule(words, places)
                if earlier is None:
                    continue
                place, changed = (found[earlier].place[0], len(found)), found[earlier].text
            for word in words:
                places.setdefault(word, []).append(len(found))
            found.append(_PlacedRule(text, place, changed, bulky))
    return found


def _find_changed_rule(words: frozenset[str], places: Mapping[str, Sequence[int]]) -> int | None:
    """Which of the earlier rules shares most words; of equals the last."""
    shared: dict[int, int] = {}
    for word in words:
        for place in places.get(word, ())[-RULES_BY_WORD:]:
            shared[place] = shared.get(place, 0) + 1
    return max(shared, key=lambda place: (shared[place], place)) if shared else None


def _rules_in(text: str) -> list[str]:
    own, bulky = own_words(text), is_bulky(text)
    marks = [m.start() for m in MARK.finditer(own)]
    own = MARK.sub(lambda m: " " * len(m[0]), own)
    spans = list(_find_sentences(own))
    marked = _find_marked(own, spans, marks)
    found = []
    for start, end in spans:
        said = own[start:end]
        rule = BULLET.sub("", BREAK.sub(" ", MARK.sub("", text[start:end])).strip())
        if not rule or len(rule) > LONGEST_RULE:
            continue
        if start in marked:
            rule = f"{ANCHOR} {rule}"
        elif not _is_long_enough(rule) or not (lays_down_a_rule(said) or (changes(said) and not bulky)):
            continue
        if not poses(said):
            found.append(rule)
    return _choose_plainest(found) if bulky else found[:MOST_OF_ONE]


def _is_long_enough(rule: str) -> bool:
    return len(rule.encode("utf-8", "replace")) >= SHORTEST_RULE_BYTES


def _choose_plainest(found: Sequence[str]) -> list[str]:
    """Of the rules in a document the plainest, in order."""
    best = sorted(
        range(len(found)), key=lambda i: (not found[i].startswith(ANCHOR), not STRONG.search(found[i]), i)
    )
    return [found[i] for i in sorted(best[:MOST_OF_BULKY])]


def _find_sentences(own: str) -> Iterator[tuple[int, int]]:
    """Sentences, over line breaks where they go on behind them; too long ones line by line."""
    for start, end in find_sentence_spans(unwrapped(own)):
        if end - start > LONGEST_RULE and "\n" in own[start:end]:
            yield from ((start + a, start + b) for a, b in find_sentence_spans(own[start:end]))
        else:
            yield start, end


def _find_marked(own: str, spans: Sequence[tuple[int, int]], marks: Sequence[int]) -> set[int]:
    """Where sentences start that a mark stands in, behind on their line, or else in front of."""
    marked: set[int] = set()
    i = 0
    for mark in marks:
        while i < len(spans) and spans[i][0] <= mark:
            i += 1
        before = spans[i - 1] if i else None
        if before is not None and (mark < before[1] or "\n" not in own[before[1] : mark]):
            marked.add(before[0])
        elif i < len(spans):
            marked.add(spans[i][0])
    return marked
