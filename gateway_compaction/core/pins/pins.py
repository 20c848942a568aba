"""Pins: what survives every summary word for word: the task, standing rules, what the user marked.

A model that summarises drops or softens instructions, so they are taken from the covered messages themselves
and sent in front of the summary. Nothing of them has to be stored.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import regex

from gateway_compaction.core.conversation.messages import (
    PREAMBLE_ROLES,
    Message,
    declared_role,
    is_restored,
    text_of,
)
from gateway_compaction.core.pins.anchor_words import MARK
from gateway_compaction.core.pins.own_words import blank_quotations, is_document, join_lines
from gateway_compaction.core.pins.quoting_words import LISTED
from gateway_compaction.core.pins.rule_changes import extract_content_words, may_change_rule
from gateway_compaction.core.pins.rules import is_imposture, is_rule, is_rules_heading
from gateway_compaction.core.pins.speakers import find_other_speakers
from gateway_compaction.core.text.calls_in_text import find_answers
from gateway_compaction.core.text.lexicon import pattern_of
from gateway_compaction.core.text.questions import is_question
from gateway_compaction.core.text.sentences import find_sentence_spans
from gateway_compaction.core.text.shorten import shorten

Count = Callable[[str], int]

BULLET = regex.compile(r"^(?:[-*•+–]\s+)")
BREAK = regex.compile(r"[^\S\n]*+\n\s*+")
STRONG = regex.compile(rf"(?i)^\W*{pattern_of('rules.plain')}")
# In characters: what is longer is a text rather than a rule.
LONGEST_RULE = 400
# In bytes, so that a word of Chinese is as long as one of English.
SHORTEST_RULE_BYTES = 8
# In tokens: an instruction is not shortened to less, since nothing could be followed of it.
SHORTENED_RULE = 24
# In tokens: what a rule costs besides its text, for its bullet and the line break.
LINE_TOKENS = 2
# A document, pasted or written, is full of sentences that read like rules: only its plainest are taken.
MOST_OF_DOCUMENT = 3
MOST_OF_MESSAGE = 60
# A rule that changes another is compared with so many of the last ones that share a word with it.
RULES_BY_WORD = 8


@dataclass(frozen=True, slots=True)
class Rule:
    """A sentence of a user's that lays down a rule or may change one, as it was found in its message.

    Attributes:
        text: the sentence without its bullet, line breaks and anchor mark.
        start: where it begins in the message's text.
        end: where it ends there.
        is_marked: the user put an anchor mark on it, so that it is pinned whatever it says.
        is_change: it may take an earlier rule back or change it, and is none itself.
        in_document: it stands in a text so long that it is rather a document than a wish.
    """

    text: str
    start: int
    end: int
    is_marked: bool = False
    is_change: bool = False
    in_document: bool = False


FindRules = Callable[[Message], Sequence[Rule]]


def find_rules(message: Message) -> tuple[Rule, ...]:
    """Return the sentences of a user's message that lay down a rule or may change one, in order.

    Only the user's own words count, not code, quotations or pasted text: what somebody else wrote is no wish
    of the user's, and may be planted to become one. Other messages have none.
    """
    if declared_role(message) != "user":
        return ()
    text = text_of(message)
    own, in_document = blank_quotations(text), is_document(text)
    marks = [m.start() for m in MARK.finditer(own)]
    own = MARK.sub(lambda m: " " * len(m[0]), own)
    spans = list(_find_sentences(own))
    marked = _find_marked(own, spans, marks)
    listed = _find_listed(own)
    rules: list[Rule] = []
    for start, end in spans:
        sentence = own[start:end]
        rule = BULLET.sub("", BREAK.sub(" ", MARK.sub("", text[start:end])).strip())
        if not rule or len(rule) > LONGEST_RULE:
            continue
        is_marked = start in marked
        is_change = False
        if not is_marked:
            if not _is_long_enough(rule) or is_rules_heading(sentence):
                continue
            is_listed = start in listed and not is_question(sentence)
            if not is_listed and not is_rule(sentence):
                is_change = not in_document and may_change_rule(sentence)
                if not is_change:
                    continue
        if not is_imposture(sentence):
            rules.append(Rule(rule, start, end, is_marked, is_change, in_document))
    return tuple(_choose_plainest(rules) if in_document else rules[:MOST_OF_MESSAGE])


def _is_long_enough(rule: str) -> bool:
    return len(rule.encode("utf-8", "replace")) >= SHORTEST_RULE_BYTES


def _find_listed(own: str) -> set[int]:
    """Return where the items of lists start that stand under a heading of rules."""
    starts: set[int] = set()
    position = 0
    is_under = False
    for line in own.split("\n"):
        if is_under and line.strip():
            is_under = LISTED.match(line) is not None
            if is_under:
                starts.add(position + len(line) - len(line.lstrip()))
        is_under = is_under or is_rules_heading(line)
        position += len(line) + 1
    return starts


def _choose_plainest(rules: Sequence[Rule]) -> list[Rule]:
    """Return the plainest rules of a document, in order: marked ones first, then what orders outright."""

    def rank(number: int) -> tuple[bool, bool, int]:
        rule = rules[number]
        return not rule.is_marked, rule.is_marked or not STRONG.search(rule.text), number

    best = sorted(range(len(rules)), key=rank)[:MOST_OF_DOCUMENT]
    return [rules[number] for number in sorted(best)]


def _find_sentences(own: str) -> Iterator[tuple[int, int]]:
    """Yield sentences, over line breaks where they go on behind them; too long ones line by line."""
    for start, end in find_sentence_spans(join_lines(own)):
        if end - start > LONGEST_RULE and "\n" in own[start:end]:
            yield from ((start + a, start + b) for a, b in find_sentence_spans(own[start:end]))
        else:
            yield start, end


def _find_marked(own: str, spans: Sequence[tuple[int, int]], marks: Sequence[int]) -> set[int]:
    """Return where the sentences start that a mark is meant for.

    That is the one that it stands in or behind on the same line, or else the one that follows it.
    """
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


@dataclass(frozen=True, slots=True)
class Pins:
    """Verbatim texts, each kind within its own token budget.

    Attributes:
        task: the first user message, head and tail if long; empty where there is none.
        rules: covered system and developer messages, then the user's own standing rules, in order; what
            takes a rule back stands right behind it.
    """

    task: str
    rules: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _PlacedRule:
    """A rule among those of the covered messages.

    Attributes:
        text: what is pinned.
        place: sorts the rules; a change has the place of what it changes, then its own.
        changes: the text of the rule that it changes, if any.
        in_document: it stands in a document.
    """

    text: str
    place: tuple[int, int]
    changes: str | None = None
    in_document: bool = False


def collect_pins(
    covered: Sequence[Message],
    task_tokens: int,
    rule_tokens: int,
    count: Count,
    rules_of: FindRules = find_rules,
) -> Pins:
    """Return the pins of some covered messages; the newest rules win where not all fit.

    Args:
        covered: the messages that a summary stands for, in order.
        task_tokens: the most tokens of the task.
        rule_tokens: the most tokens of all rules.
        count: counts the tokens of a text.
        rules_of: ``find_rules``, or the same with a memory, so that no message is read at every call.
    """
    own = (m for m in covered if declared_role(m) == "user" and not is_restored(m))
    task = next((text for m in own if (text := text_of(m)).strip()), "")
    short_task = shorten(MARK.sub("", task).strip(), task_tokens, count) if task else ""
    preamble = (text_of(m).strip() for m in covered if declared_role(m) in PREAMBLE_ROLES)
    instructions = [text for text in preamble if text]
    never_dropped = frozenset(instructions)
    rules = [_PlacedRule(text, (-1, i)) for i, text in enumerate(instructions)]
    rules += _place_rules(covered, rules_of)
    places: dict[str, tuple[int, int]] = {}
    room = rule_tokens
    taken_back: set[str] = set()
    for rule in sorted(rules, key=_sort_key):
        text = rule.text
        if text in never_dropped and count(text) + LINE_TOKENS > room >= SHORTENED_RULE:
            # Instructions never vanish: what is too long keeps its beginning and its end.
            text = shorten(text, room - LINE_TOKENS, count, "[…]")
        tokens = count(text) + LINE_TOKENS
        if text in places or text in short_task or text in taken_back:
            continue
        if tokens <= room:
            places[text] = rule.place
            room -= tokens
        elif rule.changes is not None:
            # Better no rule than one that holds no longer.
            taken_back.add(rule.changes)
    return Pins(short_task, tuple(sorted(places, key=places.__getitem__)))


def _sort_key(rule: _PlacedRule) -> tuple[int, int]:
    """Sort instructions first, then what the user said, the newest first, and what documents say last."""
    if rule.place[0] < 0:
        kind = 0
    elif rule.in_document:
        kind = 2
    else:
        kind = 1
    return kind, -rule.place[-1]


def _place_rules(covered: Sequence[Message], rules_of: FindRules) -> list[_PlacedRule]:
    """Return the rules of all messages in order; of changes only those that share a word with a rule."""
    rules: list[_PlacedRule] = []
    numbers: dict[str, list[int]] = {}
    answers = find_answers(covered) | find_other_speakers(covered)
    for index, message in enumerate(covered):
        if declared_role(message) != "user" or index in answers:
            continue
        for rule in rules_of(message):
            words = extract_content_words(rule.text)
            place, changed = (len(rules), len(rules)), None
            if rule.is_change:
                earlier = _find_changed_rule(words, numbers)
                if earlier is None:
                    continue
                place, changed = (rules[earlier].place[0], len(rules)), rules[earlier].text
            for word in words:
                numbers.setdefault(word, []).append(len(rules))
            rules.append(_PlacedRule(rule.text, place, changed, rule.in_document))
    return rules


def _find_changed_rule(words: frozenset[str], numbers: Mapping[str, Sequence[int]]) -> int | None:
    """Return the number of the earlier rule that shares most words; of equals the last."""
    shared: dict[int, int] = {}
    for word in words:
        for number in numbers.get(word, ())[-RULES_BY_WORD:]:
            shared[number] = shared.get(number, 0) + 1
    return max(shared, key=lambda number: (shared[number], number)) if shared else None
