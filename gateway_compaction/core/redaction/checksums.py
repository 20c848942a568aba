"""Numbers of people and cards: told by their form and, where they have one, by their check digit.

Digits alone say nothing: order numbers, timestamps and sums are as long. So a card needs an issuer's prefix,
its length, one way of grouping and the Luhn digit; a resident number needs a date of birth that exists.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

CARD = re.compile(
    r"(?a)(?<![\w.-])\d{4}(?:([ -])\d{4}\1\d{4}\1\d{4}|([ -])\d{6}\2\d{5}|\d{9,15})(?![\w-]|\.\d)"
)
# The beginnings of the cards in use, with their lengths.
ISSUERS = re.compile(
    r"4\d{15}|4\d{12}|5[1-5]\d{14}|2(?:22[1-9]|2[3-9]\d|[3-6]\d\d|7[01]\d|720)\d{12}|3[47]\d{13}"
    r"|6(?:011|5\d\d|4[4-9]\d)\d{12}|35(?:2[89]|[3-8]\d)\d{12}|3(?:0[0-5]|[68]\d)\d{11}|62\d{14}|9[24]\d{14}"
)
RESIDENT = re.compile(
    r"(?a)(?<![\w.-])(\d\d)(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])[ -]?[1-8]\d{6}(?![\w-]|\.\d)"
)
PHONE = re.compile(
    r"(?a)(?<![\w.-])(?:\+82[ -]?\(?0?\)?|0)(?:1[016789]|2|[3-6][1-5]|70)"
    r"(?P<gap>[ .-]?)\d{3,4}(?P=gap)\d{4}(?![\w-]|\.\d)"
)
E_MAIL = re.compile(
    r"(?a)(?<![\w.+-])[A-Za-z0-9_%+-][\w.%+-]{0,63}@(?:[A-Za-z0-9-]{1,63}\.){1,4}[A-Za-z]{2,24}(?![\w-])"
)


def has_luhn_digit(digits: str) -> bool:
    """Tell whether the last digit of a card's number is the check digit of the others."""
    doubled = (2 * int(d) for d in digits[-2::-2])
    return (sum(int(d) for d in digits[-1::-2]) + sum(d - 9 if d > 9 else d for d in doubled)) % 10 == 0


def find_cards(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield start, end and kind of every number of a payment card."""
    for match in CARD.finditer(text):
        digits = re.sub(r"\D", "", match[0])
        if ISSUERS.fullmatch(digits) and len(set(digits)) > 1 and has_luhn_digit(digits):
            yield (*match.span(), "card-number")


def find_personal(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield start, end and kind of resident numbers and phone numbers of Korea, and of e-mail addresses."""
    for pattern, kind in ((RESIDENT, "resident-number"), (PHONE, "phone-number"), (E_MAIL, "e-mail")):
        for match in pattern.finditer(text):
            yield (*match.span(), kind)
