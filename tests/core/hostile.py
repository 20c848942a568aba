"""Texts that make careless patterns and loops slow: one thing, repeated without end."""

from __future__ import annotations

import base64
import random
from collections.abc import Mapping

__all__ = ["KEYS", "texts"]

KEYS = ("order id", "amount")
# Each is repeated to length; a head, where there is one, stands once before it and an end once behind it.
UNITS: Mapping[str, str] = {
    "prose": "The quick report of Anna Berg was sent to 14 partners on 3 May. ",
    "prose without marks": "the quick report of anna was sent to all partners again ",
    "one letter": "a",
    "capitals": "A",
    "joined words": "word-",
    "snake": "a_",
    "dotted": "a.",
    "path": "a/",
    "camel": "aA",
    "mixed": "aA1_b-C2.",
    "handles": "a@",
    "long words": "w" * 1_999 + " ",
    "short words": "ab ",
    "words by line": "ab\n",
    "line feeds": "\n",
    "returns": "\r",
    "line separators": "\u2028",
    "vertical tabs": "\v",
    "spaces": " ",
    "tabs": "\t",
    "wide spaces": "\u3000",
    "zero width": "\u200b",
    "digits": "7",
    "numbers": "7 ",
    "listing": "12: x\n",
    "flags": "\U0001f1e9\U0001f1ea",
    "family": "\U0001f468\u200d\U0001f469\u200d\U0001f467",
    "combining": "\u0301",
    "accented": "e\u0301",
    "chinese": "\u6570\u636e\u5206\u6790\u62a5\u544a",
    "korean": "\ubcf4\uace0\uc11c",
    "spaced korean": "\ubcf4\uace0\uc11c \uc804\ub2ec ",
    "thai": "\u0e23\u0e32\u0e22\u0e07\u0e32\u0e19",
    "surrogates": "\ud800",
    "full stops": ".",
    "marks": "?!",
    "spaced stops": ". ",
    "closed stops": ".))",
    "cjk stops": "\u3002",
    "quotes": '"',
    "apostrophes": "it's'",
    "pipes": "|",
    "backticks": "`",
    "ticks by line": "`\n",
    "fences": "```",
    "comments": "<!--",
    "open tags by line": "<tool_out>\n",
    "objects by line": "{\n",
    "objects and one open": "{}\n{\n",
    "mail heads": "From: Anna\n\n",
    "speakers by line": "Anna: so it goes\nBen: so\n",
    "brackets by line": "[a b c\n",
    "calls in text": "<a_b>Action: x\n",
    "anchors": "<!-- anchor -->",
    "anchors by line": "Keep the plan. <!-- anchor -->\n",
    "links": "http://",
    "tags": "<a",
    "angles": "<",
    "wide angles": "\uff1c",
    "wide tags": "\uff1c\uff0f\u200btask ",
    "calls": "a(",
    "braces": "{",
    "slashes": "\\",
    "dashes": "-",
    "labels": "[1] user: ",
    "roles": "user:\n",
    "role without end": "user\n",
    "data urls": "data:;base64,",
    "data": "data:",
    "data by line": "A" * 63 + "1\n",
    "thoughts": "x <think>",
    "thoughts ended": "</think>\n",
    "thoughts fenced": "```\n<think>\n",
    "folded": "<details type=",
    "rules": "please always, ",
    "clauses": "and please use, ",
    "chinese clauses": "\u8bf7\u6bcf\u6b21\u90fd\u8981\uff0c",
    "rules by line": "Please always answer in short words.\n",
    "undecided": "not if we ",
    "errors": "error ",
    "errors by line": "error 17 in a_b: failed\n",
    "keys": "order id ",
    "key marks": "order id: ",
    "remember": "remember, ",
    "names": "Anna ",
    "json": '{"order_id": "A-17", "amount": 12.50}, ',
}
HEADS: Mapping[str, tuple[str, str, str]] = {
    "tag and spaces": ("<", " ", "x"),
    "comment and spaces": ("<!--", " ", "x"),
    "label and spaces": ("[", " ", "x"),
    "role and spaces": ("user", " ", "x"),
    "stop and spaces": (".", " ", "x"),
    "key and spaces": ("order id", " ", "x"),
    "key and marks": ("order id", "!", "x"),
    "key and words": ("order id ", "ab! ", "x"),
    "data without end": ("data:", "a;", " "),
    "indent": ("\n", " ", "x"),
    "marks and text": ("", "!", "x y"),
    "stops and an anchor": ("", ".", "x<!-- anchor -->"),
    "spaces and an anchor": ("<!--", " ", "anchor -- >"),
    "tag and a task": ("<", " ", "task"),
    "bracket and a role": ("[", " ", "users 1]"),
    "words and a question": ("", "so it goes ", "?"),
    "key!": ("amount", "!amount", " "),
    "key, digits": ("amount ", "7", "?"),
}


def _repeated(unit: str, size: int) -> str:
    return (unit * (size // len(unit) + 1))[:size]


def _token(size: int) -> str:
    # One character at the end that no identifier holds.
    return _repeated("a" + "A" * 60 + "% ", size)


def texts(size: int) -> dict[str, str]:
    """Every text by its name, each of ``size`` characters."""
    dice = random.Random(7)
    made = {name: _repeated(unit, size) for name, unit in UNITS.items()}
    for name, (head, unit, end) in HEADS.items():
        made[name] = head + _repeated(unit, size - len(head) - len(end)) + end
    made["near identifiers"] = _token(size)
    made["base64"] = base64.b64encode(dice.randbytes(size))[:size].decode()
    made["hex"] = dice.randbytes(size).hex()[:size]
    made["distinct words"] = " ".join(f"{dice.getrandbits(32):x}" for _ in range(size // 6))[:size]
    made["distinct names"] = " ".join(f"a_{dice.getrandbits(24)}" for _ in range(size // 8))[:size]
    lines = "\n".join(f"see a_{dice.getrandbits(24)}: error" for _ in range(size // 12))
    made["distinct lines"] = lines[:size]
    return made
