"""Identifiers: file names, paths, symbols, codes, addresses.

Later messages refer to them by their exact spelling: a summary that loses one loses what it names.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import chain

from gateway_compaction.core.conversation.slices import split_text

# Tags and the line numbers of listings are skipped as a whole.
TOKEN = re.compile(
    r"(?m)</?\w[\w-]*/?>|^[ \t]*\d+[:|-]|https?://[^\s\"'<>()\[\]{}`]+|[^\s\"'<>()\[\]{}`,;:|=*]+"
)
IDENTIFIER = re.compile(
    r"https?://\S{4,}"
    r"|[\w.+-]+@[\w-]+\.[\w.]+"
    r"|[~.]{0,2}/(?:[\w.@~+-]*/)*[\w.@+-]+|(?=[^/]*/[^/]*/|[^\d]\S*[._\d])(?:[\w.@~+-]+/)+[\w.@+-]+"
    r"|[\w-]+(?:\.[\w-]+)*\.(?:[A-Za-z][A-Za-z0-9]{0,7}|[a-z_]\w*)"
    r"|_*[A-Za-z][A-Za-z0-9]*(?:_+[A-Za-z0-9]+)+_*|__?[A-Za-z]\w*"
    r"|[a-z]{3,}\d{1,3}|[a-z]+[A-Z][A-Za-z0-9]*|(?:[A-Z][a-z0-9]+){2,}|[A-Z]{2,}[a-z]+[A-Za-z0-9]*"
    r"|--?[a-z][\w-]{2,}"
    r"|#?[A-Z]{1,8}[-_]?\d[A-Z0-9-]*|#\d{2,}|(?=[A-Z0-9]*\d)(?=[A-Z0-9]*[A-Z])[A-Z0-9]{5,}"
    r"|\d{4}-\d\d-\d\d|\d{4,}|(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,40}"
)
# Marks that end a sentence rather than a name.
TRIM = ".,:;!?…\\"
# "U.S.A" looks like a dotted symbol.
INITIALS = re.compile(r"(?:\w\.)+\w")
# Characters: shorter ones are in every text, longer ones are data.
SHORTEST = 3
LONGEST = 120


@lru_cache(maxsize=200_000)
def _is_identifier(token: str) -> bool:
    if "base64" in token or IDENTIFIER.fullmatch(token) is None:
        return False
    return INITIALS.fullmatch(token) is None


def forget_identifiers() -> None:
    """Drop what is remembered about words: they are tenants' own, and take memory."""
    _is_identifier.cache_clear()


def find_identifiers(text: str) -> list[str]:
    """Return the identifiers of a text, each once, in order of appearance."""
    tokens = dict.fromkeys(chain.from_iterable(map(TOKEN.findall, split_text(text))))
    seen = dict.fromkeys(token.rstrip(TRIM) for token in tokens)
    # What is too long is never looked at, so that nothing large is remembered.
    return [token for token in seen if SHORTEST <= len(token) <= LONGEST and _is_identifier(token)]


def is_spelled_in(name: str, text: str) -> bool:
    """Tell whether a text holds an identifier in exactly this spelling, not as a part of a longer word."""
    start = text.find(name)
    while start >= 0:
        if not (_is_word_character(text, start - 1) or _is_word_character(text, start + len(name))):
            return True
        start = text.find(name, start + 1)
    return False


def _is_word_character(text: str, index: int) -> bool:
    return 0 <= index < len(text) and (text[index].isalnum() or text[index] == "_")
