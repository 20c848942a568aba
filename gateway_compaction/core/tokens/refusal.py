"""Reading a provider's refusal for length: the limit that it tells, and what it counted.

Providers word this in a hundred ways, and change them. So no phrase is looked up: each number of the text is
judged by the words on both sides of it (a limit, what was sent, the answer that was asked for), and whether
the text speaks of length at all by what it says is too much. What the host has classed as a full context, and
a status that says so, count without a word of the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

TOO_LARGE = 413
"""The status of a request body that is too large, as the context itself may be."""

CAPPED = 429
"""The status of a rate limit. A request that is by itself larger than the limit passes at no time."""

OTHER_REFUSALS = frozenset({401, 402, 403, 404, 405, 408, 409, 502, 503, 504})
"""Statuses that say nothing of length: of credentials, credit, addresses and times."""

READ_CHARS = 2_000
"""Characters of an error text that are read: what follows may be the request itself, quoted."""

LEAST_LIMIT = 200
"""Tokens below which no number is taken for a window; the least that a policy may state."""

NUMBER = re.compile(r"(?<![\w.#/-])(\d{1,3}(?:,\d{3})+|\d{3,9})(?![\w-]|\.\d)")

_INPUT = r"(?:prompt|inputs?|messages)"
_OUTPUT = r"(?:completion|output|answer|response|max_new_tokens|max_tokens|new tokens)"
_OF_INPUT = re.compile(
    rf"^[^\w.;]*(?:tokens?[^\w.;]+)?(?:(?:in|from|of)\s+)?(?:the\s+|your\s+)?(?:\w+\s+)?{_INPUT}\b", re.I
)
_OF_OUTPUT = re.compile(rf"^[^\w.;]*(?:tokens?[^\w.;]+)?(?:(?:in|for|of)\s+)?(?:the\s+)?{_OUTPUT}\b", re.I)
_AFTER_INPUT = re.compile(rf"{_INPUT}\b[^.;]*$", re.I)
_NAMED_INPUT = re.compile(r"(?:prompt|input)_tokens\W*$", re.I)
_OPERATOR = re.compile(r"(?:>|<=|<|≤)\s*$|(?:less than|at most|up to|exceed|no more than)\s*$", re.I)
_LIMIT_BEFORE = re.compile(
    r"\b(?:max(?:imum)?|limit|context\W+(?:length|window|size|limit)|n_ctx|allowed|should be)\b[^.;]*$",
    re.I,
)
_LIMIT_AFTER = re.compile(r"^[^\w.;]*(?:tokens?[^\w.;]+)?max(?:imum)?\b", re.I)
_NO_TOKENS = re.compile(r"\bby\s*$", re.I)
_AT_LEAST = re.compile(r"\bat least\s*$", re.I)

_EXCESS = r"(?:exceed|too (?:long|large|many|big)|(?:longer|larger|greater) than|over the|overflow|reduce)"
_SUBJECT = r"(?:context|prompt|inputs?|messages|tokens?|request)"
_ABOUT_LENGTH = (
    # The context itself is what was exceeded, or has a maximum; error codes say so with underscores.
    re.compile(
        r"\bcontext[ _](?:length|window|size|limit)\w*\b.{0,80}?(?:exceed|max|long|large|reduce|is only)"
        r"|(?:exceed|max\w*|long|large|greater|reduce)\w*\b.{0,80}?\bcontext[ _]?(?:length|window|size|limit)"
        r"|exceed_context_size|context_(?:length|window)\w*exceeded|request_too_large",
        re.I | re.S,
    ),
    # What was sent is too much: the prompt is too long, input tokens exceed, must have less than.
    re.compile(rf"\b{_SUBJECT}\b.{{0,60}}?\b{_EXCESS}", re.I | re.S),
    re.compile(rf"\b{_EXCESS}\w*\b.{{0,60}}?\b{_SUBJECT}\b", re.I | re.S),
    re.compile(
        r"\binputs?\b.{0,40}(?:must (?:be|have)|should be|length)\b.{0,20}(?:<|less|\[|\d)", re.I | re.S
    ),
    re.compile(r"\bcurrent length\b.{0,40}\blimit\b|\bmaximum (?:prompt|input) length\b", re.I | re.S),
)
_OF_ANSWER = re.compile(
    r"\bmax_(?:completion_|output_|new_)?tokens\b\W{0,3}(?:is|are|for|must|should|cannot|value|too|:|of|\()"
    r"|completion tokens, whereas",
    re.I,
)
_OF_SOMETHING_ELSE = re.compile(
    r"\brate[ _-]?limit|\bper (?:minute|hour|day)\b|\bquota\b|\bTP[MD]\b|\bimages?\b.{0,60}\b(?:exceed|too)"
    r"|\bstring too long\b|\bstop sequences?\b|\btools?\b.{0,40}\btoo many"
    r"|\btoo many (?:requests|tools|images)"
    r"|\b(?:description|schema)\b.{0,40}\b(?:exceed|too long)|\bbudget\b.{0,30}\b(?:exceed|greater)",
    re.I | re.S,
)
# These hold whatever numbers stand beside them. A validator names a field and what its value should be, and
# may quote whatever the client wrote; the others are about times, numbers of things, and sizes of pictures.
_OF_A_VALUE = re.compile(
    r"\b(?:invalid|unsupported) (?:value|parameter|type)\b|\bsupported values\b|\binput should be\b"
    r"|\barray too long\b|\btoo many (?!(?:\w+ )?tokens\b)"
    r"|\btook too long\b|\btime[d-]? ?out\b|\bmaximum time\b|\bseconds\b|\d ?ms\b|\bpixels?\b|\d x \d",
    re.I | re.S,
)
_IN_OTHER_UNITS = re.compile(r"\b(?:characters?|chars|strings?|bytes?|[kmg]i?b|images?|payload)\b", re.I)


@dataclass(frozen=True, slots=True)
class LengthRefusal:
    """A refusal because what was sent is too long.

    Attributes:
        limit: tokens that the provider says it takes, None where it tells no number.
        counted: tokens of the prompt as the provider counted them, None where it does not say exactly.
        requested: the same with the answer that was asked for, None where it does not say exactly.
        in_tokens: False where the text speaks of bytes, characters or images: it teaches nothing of a window.
    """

    limit: int | None = None
    counted: int | None = None
    requested: int | None = None
    in_tokens: bool = True


def read_refusal(status: int | None, text: str, *, context_exceeded: bool = False) -> LengthRefusal | None:
    """Return what a provider's error says about length, or None where it is about something else.

    Args:
        status: the HTTP status of the error.
        text: its message, as long as it may be.
        context_exceeded: the host took it for a full context; believed whatever the text says.
    """
    text = text[:READ_CHARS]
    is_sure = context_exceeded or status in (TOO_LARGE, CAPPED)
    if not is_sure and (status in OTHER_REFUSALS or _OF_A_VALUE.search(text)):
        return None
    told = _read_numbers(text, status)
    over = told.limit is not None and max(told.counted or 0, told.requested or 0) > told.limit
    if context_exceeded or status == TOO_LARGE:
        pass
    elif status == CAPPED:
        # A rate limit that is used up is none; one that this request alone exceeds is.
        return told if over else None
    elif not (over and told.counted is not None) and not _is_about_length(text):
        return None
    if told.counted is None and _IN_OTHER_UNITS.search(text):
        return LengthRefusal(in_tokens=False)
    return told


def _is_about_length(text: str) -> bool:
    if _OF_ANSWER.search(text) or _OF_SOMETHING_ELSE.search(text):
        return False
    return any(pattern.search(text) for pattern in _ABOUT_LENGTH)


def _read_numbers(text: str, status: int | None) -> LengthRefusal:
    """Judge each number by the text between it and its neighbours.

    A limit behind an operator, or before the word maximum, is surer than one behind the word limit alone. Of
    two numbers about what was sent the second is a part (tools beside text) only where a total is told too.
    """
    sure, limits, inputs, totals = list[int](), list[int](), list[int](), list[int]()
    exact = True
    for value, before, after in _list_numbers(text):
        if value == status or _NO_TOKENS.search(before):
            continue
        at_least = bool(_AT_LEAST.search(before))
        if _NAMED_INPUT.search(before) or after.lstrip().startswith("+"):
            inputs.append(value)
        elif before.rstrip().endswith("+") or _OF_OUTPUT.search(after):
            continue
        elif _OPERATOR.search(before) or _LIMIT_AFTER.search(after):
            sure.append(value)
        elif _LIMIT_BEFORE.search(before):
            limits.append(value)
        elif at_least or not (_OF_INPUT.search(after) or _AFTER_INPUT.search(before)):
            totals.append(value)
        else:
            inputs.append(value)
        exact = exact and not at_least
    limit = next((value for value in (*sure, *limits) if value >= LEAST_LIMIT), None)
    if not exact:
        return LengthRefusal(limit)
    total = max(totals, default=None)
    parts = inputs if total is not None and sum(inputs) <= total else inputs[:1]
    return LengthRefusal(limit, sum(parts) or None, total)


def _list_numbers(text: str) -> Iterator[tuple[int, str, str]]:
    """List the numbers of a text with what stands between each and its neighbours."""
    found = list(NUMBER.finditer(text))
    for place, number in enumerate(found):
        start = found[place - 1].end() if place else 0
        end = found[place + 1].start() if place + 1 < len(found) else len(text)
        yield int(number[1].replace(",", "")), text[start : number.start()], text[number.end() : end]
