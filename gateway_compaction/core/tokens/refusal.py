"""Reading a provider's refusal for length: the limit that it tells, and what it counted.

Providers word this in a hundred ways, and change them. So no phrase is looked up: each number of the text is
judged by the words on both sides of it (``refusal_numbers``) and by the others, since a limit is smaller than
what it refused; and whether the text speaks of length at all by what it says is too much. What the host has
classed as a full context, and a status that says so, count without a word of the text; and so does a number
that is what was sent, by our own count, beside a smaller one: that holds in every language. Numbers that
contradict each other teach nothing.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from gateway_compaction.core.tokens.refusal_answers import is_answer_refusal
from gateway_compaction.core.tokens.refusal_numbers import ANSWER_FIELD, Role, Told, list_told
from gateway_compaction.core.tokens.refusal_words import (
    ACCOUNT,
    CHARACTERS,
    CONTEXT,
    SUBJECT,
    TOO_LONG,
    WHAT_IS_LONG,
)

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

CREDIBLE = 4
"""Our count and a provider's of one request differ by no more than that."""

NEARLY = 0.8
"""Two counts of one request differ by no more than that: the smaller one as a share of the larger one."""

_EXCESS = r"(?:exceed|too (?:long|large|many|big)|(?:longer|larger|greater) than|over the|overflow|reduce)"
# What does not fit does so into something, or that is all that is said: a schema is not fitted so.
_UNFIT = (
    r"(?:\bnot|n['’]t|\bno longer|\bcannot|\bunable to|\bfail\w* to) (?:be )?(?:made to )?fit(?:s|ted)?\b"
    r"(?: \d[\d,.]* tokens)?"
    r"(?= (?:in\w*|within|(?:the|this|a) (?:model|context|window|prompt|cache|slot))\b|\s?[.,;:!()]|\s?$)"
)
_WHOLE = r"(?:context|prompt|inputs?|messages|tokens|conversation|history|chat|dialogue?|thread)"
_SUBJECT = r"(?:context|prompt|sequence|inputs?|messages|tokens|token (?:count|limit|length|number)|request)"
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
    # What does not fit, and the whole of a conversation that is too much.
    re.compile(rf"\b{_WHOLE}\b.{{0,60}}?{_UNFIT}|{_UNFIT}.{{0,40}}?\bcontext\b", re.I | re.S),
    # Of a conversation nothing else is told than that it is too much: its title and id may be so as well.
    re.compile(
        rf"\b(?:conversation|chat|history|dialogue?) (?:(?:is|was|has|got|became|grew|now|far) )*+{_EXCESS}",
        re.I,
    ),
    # A validator of a JSON schema, where the whole prompt is one string.
    re.compile(r"\bexpected maxLength\b"),
    re.compile(rf"(?:{SUBJECT}).{{0,60}}?(?:{TOO_LONG})|(?:{TOO_LONG}).{{0,60}}?(?:{SUBJECT})", re.I | re.S),
)
# Codes write one word: "prompt_too_large", "ContextTooLong". They are read as the words in them.
_CODE = re.compile(r"\b[a-z]+(?:[_-][a-z]+){1,5}\b|\b[A-Z][a-z]+(?:[A-Z][a-z]+){1,5}\b")
_HUMP = re.compile(r"[_-]|(?<=[a-z])(?=[A-Z])")
_CODE_TOO_LONG = re.compile(
    rf"(?<!max )(?<!output )(?<!completion )\b{_WHOLE}(?: (?:length|window|size|limit|tokens))? (?:is )?"
    r"(?:too (?:long|large|big|many)|overflow|exceeded)\b|\btoo many (?:input )?tokens\b",
    re.I,
)
_OF_WHAT_IS_LONG = re.compile(WHAT_IS_LONG, re.I)
_OF_ANSWER = re.compile(
    r"\bmax_(?:completion_|output_|new_)?tokens\b\W{0,3}(?:is|are|for|must|should|cannot|value|too|:|of|\()"
    r"|completion tokens, whereas",
    re.I,
)
_PERIOD = r"(?:sec(?:ond)?|min(?:ute)?|hour|day|week|month|year|billing|cycle|period)"
_OWNER = (
    r"(?:account|organi[sz]ation|workspace|tenant|project|team|user|customer|api[ _-]?key|key|subscription"
    r"|plan|tier|trial)"
)
# A limit of an account or of a time, and tokens that let somebody in: no shorter request passes.
_OF_ACCOUNT = re.compile(
    rf"\brate[ _-]?limit|\bquota\b|\bTP[MD]\b|(?:\bper[ _-]|\w/){_PERIOD}s?\b|\bper[ _-]{_OWNER}\b"
    rf"|\b(?:this|current|each|every|last|next|past) (?:\d+ )?{_PERIOD}s?\b"
    r"|\b\d+[ -](?:hour|day|week)s?\b"
    r"|\b(?:daily|hourly|weekly|monthly|yearly|annual|today)\b|\bresets? (?:at|in|on)\b"
    r"|\b(?:usage|spend(?:ing)?|credits?|billing|budget)[ _-](?:limit|cap|period|cycle)\b"
    r"|\b(?:insufficient|out of|not enough|remaining) (?:\w+ )?(?:credits?|balance|funds|tokens)\b"
    r"|\btoken balance\b|\bconcurren\w+|\bin[ -]flight\b"
    r"|\b(?:api|access|auth\w*|bearer|refresh|jwt|id|oauth|security|csrf)[ _-](?:key )?tokens?\b"
    rf"|{ACCOUNT}",
    re.I,
)
# Where the context itself is not named, a limit that somebody has is none of a request.
_OF_OWNER = re.compile(
    rf"\b(?:your|the|this|for|by|of) (?:\w+ )?{_OWNER}\b|\b{_OWNER}(?:'s)? (?:\w+ )?limit"
    rf"|\b{_OWNER} (?:has|have)\b",
    re.I,
)
_OF_CONTEXT = re.compile(rf"{CONTEXT}|(?<![a-z])(?:prompt|context|sequence)(?![a-z])", re.I)
_OF_SOMETHING_ELSE = re.compile(
    r"(?<!of )\bimages?\b.{0,60}\b(?:exceed|too)"
    r"|\bstring too long\b|\bstop sequences?\b|\btools?\b.{0,40}\btoo many"
    r"|\btoo many (?:requests|tools|images)"
    r"|\b(?:description|schema)\b.{0,40}\b(?:exceed|too long)|\bbudget\b.{0,30}\b(?:exceed|greater)",
    re.I | re.S,
)
# These hold whatever numbers stand beside them. A validator names a field and what its value should be, and
# may quote whatever the client wrote; the others are about times, numbers of things, and sizes of pictures.
_OF_A_VALUE = re.compile(
    r"\b(?:invalid|unsupported) (?:value|parameter|type)\b|\bsupported values\b|\binput should be\b"
    r"|\bexpected a value\b|\bmaximum value\b"
    r"|\barray too long\b|\btoo many (?!(?:\w+ )?tokens\b)"
    # Go's "context deadline exceeded" is about a time too; its contexts are none of a model.
    r"|\bdeadline\b|\bcancell?ed\b"
    r"|\btook too long\b|\btime[d-]? ?out\b|\bmaximum time\b|\bseconds\b|\d ?ms\b|\bpixels?\b|\d x \d",
    re.I | re.S,
)
_IN_OTHER_UNITS = re.compile(
    rf"\b(?:characters?|chars|strings?|bytes?|[kmg]i?b|images?|payload|maxLength)\b|{CHARACTERS}", re.I
)


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


class _Reading(NamedTuple):
    """The numbers of a text, judged.

    Attributes:
        told: their roles.
        is_exceeded: what was sent is more than a limit, both named as such.
        is_ours: what was sent by our own count stands beside a smaller number.
    """

    told: LengthRefusal
    is_exceeded: bool = False
    is_ours: bool = False


def read_refusal(
    status: int | None,
    text: str,
    *,
    context_exceeded: bool = False,
    sizes: Collection[int] = (),
    asked: int = 0,
) -> LengthRefusal | None:
    """Return what a provider's error says about length, or None where it is about something else.

    Args:
        status: the HTTP status of the error.
        text: its message, as long as it may be.
        context_exceeded: the host took it for a full context; believed unless only the answer is too long.
        sizes: tokens of what was refused by our own count: of the prompt, and with the answer's reserve.
        asked: tokens of the answer that the refused request asked for, 0 where that is not known.
    """
    text = text[:READ_CHARS]
    if is_answer_refusal(text, asked=asked, sizes=sizes):
        return None
    is_sure = context_exceeded or status in (TOO_LARGE, CAPPED)
    if not is_sure and (status in OTHER_REFUSALS or _OF_A_VALUE.search(text)):
        return None
    reading = _read_numbers(list_told(text, status), sizes)
    told = reading.told
    if not is_sure and _is_of_account(text):
        return None
    if context_exceeded or status == TOO_LARGE:
        pass
    elif status == CAPPED:
        # A rate limit that is used up is none; one that this request alone exceeds is.
        return told if reading.is_exceeded else None
    elif not (reading.is_exceeded and told.counted is not None) and not _is_about_length(text, reading):
        return None
    if told.counted is None and _IN_OTHER_UNITS.search(text):
        return LengthRefusal(in_tokens=False)
    return told


def _is_of_account(text: str) -> bool:
    """Tell whether what is exceeded is somebody's, or of a time: a request is refused however short it is."""
    if _OF_ACCOUNT.search(text):
        return True
    return _OF_OWNER.search(text) is not None and _OF_CONTEXT.search(text) is None


def _is_about_length(text: str, reading: _Reading) -> bool:
    if _OF_ANSWER.search(text) or _OF_SOMETHING_ELSE.search(text):
        return False
    if ANSWER_FIELD.search(text) and not _OF_WHAT_IS_LONG.search(text):
        return False
    if reading.is_ours or (reading.is_exceeded and _OF_WHAT_IS_LONG.search(text)):
        return True
    if any(pattern.search(text) for pattern in _ABOUT_LENGTH):
        return True
    return any(_CODE_TOO_LONG.search(_HUMP.sub(" ", code)) for code in _CODE.findall(text))


def _read_numbers(told: Sequence[Told], sizes: Collection[int]) -> _Reading:
    """Judge the numbers of a text by each other: a limit is smaller than what it refused.

    Of two numbers about what was sent the second is a part (tools beside text) only where a total is told
    too.
    """
    inputs, outputs, totals = (_values(told, role) for role in ("input", "output", "total"))
    sent = max([*inputs, *totals, *(a + b for a in inputs for b in outputs)], default=0)
    if sent and sizes and not min(sizes) <= sent * CREDIBLE <= max(sizes) * CREDIBLE**2:
        # What the text counts is not what was sent.
        return _Reading(LengthRefusal())
    reserve = max(sizes, default=0) - min(sizes, default=0)
    limit, is_named = _find_limit(told, sent, sent + reserve)
    if not is_named:
        totals = [value for value in totals if value != limit]
    over = limit is not None and sent > limit
    is_ours = over and any(min(size, sent) >= NEARLY * max(size, sent) for size in sizes)
    if not all(number.is_exact for number in told):
        return _Reading(LengthRefusal(limit), over and is_named, is_ours)
    total = max(totals, default=None)
    parts = inputs if total is not None and sum(inputs) <= total else inputs[:1]
    return _Reading(LengthRefusal(limit, sum(parts) or None, total), over and is_named, is_ours)


def _find_limit(told: Sequence[Told], sent: int, most: int) -> tuple[int | None, bool]:
    """Return the limit of a text, and whether the text itself names it so.

    A limit that an operator names is surer than one that a word names. One that is larger than all that was
    sent refused something else, unless the answer's length, which need not be told, makes ``most`` of it.
    Where none is named, the smaller one of two numbers is it.
    """
    named = [n for n in told if n.role == "limit" and n.value >= LEAST_LIMIT]
    sure = [n.value for n in named if n.is_sure]
    values = [*sure, *(n.value for n in named if not n.is_sure)]
    below = [value for value in values if value < sent]
    if below:
        return below[0], True
    if values and sent:
        with_answer = values[0] < most or any(n.role == "output" for n in told)
        return (values[0] if with_answer else None), True
    if len(values) == len(told) == 2:
        return min(values), True
    if values:
        return values[0], True
    unknown = [n.value for n in told if not n.is_named and n.is_exact]
    if len(told) == 2 and unknown and LEAST_LIMIT <= min(unknown) < sent:
        return min(unknown), False
    return None, False


def _values(told: Sequence[Told], role: Role) -> list[int]:
    return [number.value for number in told if number.role == role]
