"""File names, paths, symbols, codes, addresses: what later messages refer to by its exact spelling."""

from __future__ import annotations

import re
from functools import lru_cache

__all__ = ["identifiers"]

TOKEN = re.compile(r"https?://[^\s\"'<>()\[\]{}`]+|[^\s\"'<>()\[\]{}`,;|=*]+")
IDENTIFIER = re.compile(
    r"https?://\S{4,}"
    r"|[\w.+-]+@[\w-]+\.[\w.]+"
    r"|~?(?:[\w.@~+-]*/)+[\w.@+-]+"
    r"|[\w-]+(?:\.[\w-]+)*\.[A-Za-z][A-Za-z0-9]{0,7}"
    r"|_*[A-Za-z][A-Za-z0-9]*(?:_+[A-Za-z0-9]+)+_*"
    r"|[a-z]+(?:[A-Z][A-Za-z0-9]*)+|(?:[A-Z][a-z0-9]+){2,}|[A-Z]{2,}[a-z]+[A-Za-z0-9]*"
    r"|--?[a-z][\w-]{2,}"
    r"|#?[A-Z]{1,8}[-_]?\d[A-Z0-9-]*|#\d{2,}|(?=[A-Z0-9]*\d)(?=[A-Z0-9]*[A-Z])[A-Z0-9]{5,}"
    r"|\d{4,}|(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,40}"
)
TRIM = ".,:;!?…\\"
LONGEST = 120


@lru_cache(maxsize=200_000)
def _identifier(token: str) -> str | None:
    bare = token.rstrip(TRIM).lstrip(":")
    if len(bare) < 3 or len(bare) > LONGEST or "base64" in bare:
        return None
    return bare if IDENTIFIER.fullmatch(bare) else None


def identifiers(text: str) -> list[str]:
    """The identifiers of a text, each once, in order of appearance."""
    seen = dict.fromkeys(TOKEN.findall(text))
    return list(dict.fromkeys(name for token in seen if (name := _identifier(token)) is not None))
