"""The numbers of a provider's error text, each with what it is a number of.

A number that is read in the wrong role teaches a wrong window to every conversation of a deployment. So what
is a code, a date, an id or a number of other things is no candidate at all; the words right beside a number
tell whether it is a limit, what was sent, or the answer that was asked for; and where they tell nothing, it
stays unknown, for ``refusal`` to judge by the other numbers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

from gateway_compaction.core.tokens.refusal_words import CHARACTERS, EXCESS, INPUT, LIMIT, OUTPUT

Role = Literal["limit", "input", "output", "total"]

MOST_TOKENS = 10**9
"""A larger number is an id."""

# Thousands are parted as people of several countries do it. Not within words, dates, paths and versions; by
# ASCII, since Chinese and Japanese put no space between a word and a number.
NUMBER = re.compile(
    r"(?<![A-Za-z0-9_.#/-])(?:(?P<grouped>\d{1,3}(?:[,.'’\u00a0\u202f\u2009 ]\d{3})+)"
    r"|(?P<plain>[1-9]\d{2,8})(?:\.0+)?"
    r"|(?P<short>\d{1,4}(?:\.\d{1,3})?)\s?(?P<unit>[kKM万]))"
    r"(?!(?!tokens?\b)[A-Za-z0-9_]|-(?!tokens?\b)|[.,]\d)"
)
ROUND_WINDOWS = (256, 4_000)
"""Of one of these every window that stands alone in brackets is a multiple; codes seldom are."""

THOUSANDS = {"k": 1_000, "K": 1_000, "M": 1_000_000, "万": 10_000}

# Names of fields are read as words: ``max_seq_len``, ``maxLength``.
ANSWER_FIELD = re.compile(r"\bmax_(?:completion_|output_|new_)?tokens\b|\bmax(?:Output|New)?Tokens\b")
_WITHIN_NAME = re.compile(r"(?<=[A-Za-z0-9])_(?=[A-Za-z0-9])|(?<=[a-z])(?=[A-Z])")

_CODE_BEFORE = re.compile(r"\b(?:codes?|status|errno|error|id|http)\W{0,4}$", re.I)
_BRACKET_BEFORE = re.compile(r"(?:^|[\[:{])\s*$")
_BRACKET_AFTER = re.compile(r"^\s*[:\]]")
# ``exceeds limit (2013)``: nothing in the brackets or behind them says what it is.
_ENDS_IN_BRACKETS = (re.compile(r"\(\s*$"), re.compile(r"^\s*\)(?!\s*\w)"))
_OTHER_UNIT = re.compile(
    r"^[\s`'\"-]*(?:(?:characters?|chars?|bytes?|[kmg]i?b|m?s|(?:milli)?seconds?|minutes?|images?|pixels?"
    rf"|messages|tools?|usd)\b|%|{CHARACTERS})",
    re.I,
)
_EXCESS_OF = re.compile(r"\bby\s*$", re.I)

_GAP = r"[^\w.;。；]*(?:tokens?[^\w.;]+)?"
_OF_INPUT = re.compile(
    rf"^{_GAP}(?:(?:in|from|of)\s+)?(?:the\s+|your\s+)?(?:\w+\s+)?(?:prompt|inputs?|messages)\b", re.I
)
_OF_OUTPUT = re.compile(rf"^{_GAP}(?:(?:in|for|of)\s+)?(?:the\s+)?(?:max\w*\s+)?(?:{OUTPUT})", re.I)
_OF_LIMIT = re.compile(
    r"^[\s)-]*(?:tokens?\s+)?(?:max(?:imum)?|limit|context (?:window|length|size))\b"
    r"(?!\s*(?:[=:]?\s*\d|is\b|of\b|\w+ (?:tokens?|len)\b))",
    re.I,
)
_COMMA = re.compile(r"[,，、]\s*(?=\w)")
_OF_EXCESS = re.compile(
    rf"^[\s)`'\"]*(?:tokens?[\s)]*)?(?:(?:is|was|are|were)\s+)?"
    rf"(?:>|too (?:long|large|many|big)\b|exceeds\b|exceed(?:ed)?\s+(?!by\b|in\b|for\b)\w|(?:{EXCESS}))",
    re.I,
)
_OPERATOR = re.compile(
    r"(?:>|<=|<|≤|>=)\s*$|(?:less than|at most|up to|exceed|no more than|(?:long|larg|great)er than)\s*$",
    re.I,
)
# Whatever name stands between an excess and the number: ``exceeds session_len 8192``. In the passive it is
# told before it, and the number after it may be either.
_EXCEEDED = re.compile(
    rf"(?:\bexceeds?\b|\bexceed(?:ed|ing)\s+\w|\b(?:long|larg|great)er than\b|{EXCESS})[^.;:。；]*$", re.I
)
_LIMIT_WORD = (
    rf"(?:\b(?:max\w*|limit|allowed|should be|ctx|context\W+(?:length|len|window|size|limit)|session len)\b"
    rf"|{LIMIT})"
)
_NAMED_LIMIT = re.compile(rf"{_LIMIT_WORD}(?:(?!\bexceeded\W|\breached\W)[^.;。；])*$", re.I)
_LABELLED_LIMIT = re.compile(r"\b(?:max\w*|limit)\b(?: (?!exceed|reach)\w+){0,4}\s*[=:(]\s*$", re.I)
_NAMED_INPUT = re.compile(r"(?<!max )(?<!maximum )\b(?:prompt|input) tokens?\W*$", re.I)
_INPUT_BEFORE = re.compile(rf"(?:\b(?:prompt|inputs?|messages)\b|{INPUT})[^.;。；]*$", re.I)
_BOTH_BEFORE = re.compile(rf"\binputs?\b[^.;:,]*\boutput\b|(?:{INPUT})[^.;:,。；：，]*(?:{OUTPUT})", re.I)
_OUTPUT_BEFORE = re.compile(rf"(?:{OUTPUT})(?:(?!context|window)[^.;,。；，])*$", re.I)
_AT_LEAST = re.compile(r"\bat least\s*$", re.I)


class Told(NamedTuple):
    """One number of an error text.

    Attributes:
        value: the number.
        role: what it is a number of; ``total`` where that is what was sent as a whole, or not said.
        is_sure: an operator or the word right behind it says that it is a limit.
        is_named: something beside it says its role.
        is_exact: it is not only a lower bound.
    """

    value: int
    role: Role
    is_sure: bool = False
    is_named: bool = True
    is_exact: bool = True


def list_told(text: str, status: int | None) -> list[Told]:
    """List the numbers of an error text that may be tokens, in order."""
    words = _WITHIN_NAME.sub(" ", ANSWER_FIELD.sub("max output tokens", text))
    counts = [
        number
        for number in _list_numbers(words)
        if number[0] != status and not _is_no_count(number[1], number[2])
    ]
    if len(counts) == 1 and _may_be_code(*counts[0]):
        return []
    return [_judge(*number) for number in counts]


def _list_numbers(text: str) -> Iterator[tuple[int, str, str]]:
    """List the numbers of a text with what stands between each and its neighbours."""
    found = list(NUMBER.finditer(text))
    for place, number in enumerate(found):
        start = found[place - 1].end() if place else 0
        end = found[place + 1].start() if place + 1 < len(found) else len(text)
        if (value := _value_of(number)) <= MOST_TOKENS:
            before = text[start : number.start()]
            if place and (of_other := _OF_LIMIT.match(text[start : number.start() + 1])):
                before = before[of_other.end() :]
            if place:
                # What stands behind the number before, up to a comma, is about that one.
                before = _COMMA.split(before)[-1]
            # One character more: a limit that the next number is the value of is none of this one.
            yield value, before, text[number.end() : end + 1]


def _value_of(number: re.Match[str]) -> int:
    if number["short"]:
        # 128k may stand for 131,072 too: the lower of both is the safe one.
        return int(float(number["short"]) * THOUSANDS[number["unit"]])
    return int(re.sub(r"\D", "", number["grouped"] or number["plain"]))


def _is_no_count(before: str, after: str) -> bool:
    """Tell whether a number is a code or an id, counts other things than tokens, or is only an excess."""
    if _CODE_BEFORE.search(before) or _EXCESS_OF.search(before) or _OTHER_UNIT.search(after):
        return True
    return bool(_BRACKET_BEFORE.search(before) and _BRACKET_AFTER.search(after))


def _may_be_code(value: int, before: str, after: str) -> bool:
    """Tell whether the only number of a text may be the code of the error, which some append in brackets.

    A limit that stands so has no other number to be judged by. Windows are round numbers; one that is not is
    not worth believing, since the refusal itself is understood without it.
    """
    opened, closed = _ENDS_IN_BRACKETS
    is_round = any(value % step == 0 for step in ROUND_WINDOWS)
    return bool(not is_round and opened.search(before) and closed.search(after))


def _judge(value: int, before: str, after: str) -> Told:
    """Return a number with the role that the words beside it give it: the surest of them first."""
    exact = not _AT_LEAST.search(before)
    if _NAMED_INPUT.search(before) or after.lstrip().startswith("+"):
        return Told(value, "input", is_exact=exact)
    if before.rstrip().endswith("+") or _OF_OUTPUT.search(after):
        return Told(value, "output", is_exact=exact)
    if _OPERATOR.search(before) or _OF_LIMIT.search(after):
        return Told(value, "limit", is_sure=True)
    if _OUTPUT_BEFORE.search(before):
        # What is told of input and output together is the whole.
        return Told(value, "total" if _BOTH_BEFORE.search(before) else "output", is_exact=exact)
    is_limit = _EXCEEDED.search(before) or _NAMED_LIMIT.search(before)
    if is_limit and (_LABELLED_LIMIT.search(before) or not _OF_EXCESS.search(after)):
        return Told(value, "limit")
    if exact and (_INPUT_BEFORE.search(before) or _OF_INPUT.search(after)):
        return Told(value, "input")
    return Told(value, "total", is_named=bool(_OF_EXCESS.search(after)), is_exact=exact)
