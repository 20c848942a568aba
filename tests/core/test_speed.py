"""Long texts take time in proportion to their length: nothing that a client sends may hold a request up."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from gateway_compaction.core.accuracy import checked
from gateway_compaction.core.chunks import passages
from gateway_compaction.core.digest import message_digest
from gateway_compaction.core.extract import extract
from gateway_compaction.core.identifiers import identifiers
from gateway_compaction.core.importance import Scoring, anchors_of
from gateway_compaction.core.language import language_of
from gateway_compaction.core.messages import Message
from gateway_compaction.core.pins import pins_of
from gateway_compaction.core.prompts import defused, rendered
from gateway_compaction.core.search_index import query_of
from gateway_compaction.core.sentences import sentences
from gateway_compaction.core.shorten import clear_result, shorten
from gateway_compaction.core.summary import accept
from gateway_compaction.core.terms import search_terms
from gateway_compaction.core.tokens import TokenCounter

CHARS, SECONDS = 30_000, 1.0
COUNTER = TokenCounter()
NASTY = {
    "words": "word ",
    "one word": "a",
    "spaces": " ",
    "tabs": "\t",
    "lines": "\n",
    "short lines": "a\n",
    "dots": ".",
    "dotted": "a.",
    "slashes": "a/",
    "dashes": "a-",
    "snakes": "a_",
    "humps": "aB",
    "digits": "1",
    "quotes": "'",
    "brackets": "[1] ",
    "angles": "<",
    "commas": "a,",
    "ats": "a@",
    "backticks": "`",
    "fences": "```",
    "pipes": "| ",
    "marks": "<!--",
    "flags": "🇩🇪",
    "han": "語",
    "accents": "e\u0301",
    "base64": "data:a;base64,",
    "data": "data:",
    "cue": "remember error ",
    "keys": "order id ",
    "key": "order-",
    "names": "Ann said. ",
    "role": "user:",
    "roles": "user: \n",
    "colons": "a: ",
    "zeroes": "0.0",
    "hashes": "#1",
    "abc123": "a1",
    "never": "never ",
}


def count(text: str) -> int:
    """Tokens of a text."""
    return COUNTER.text(text, "gpt-4o")


def user(text: str) -> Message:
    """A user message."""
    return {"role": "user", "content": text}


READERS: dict[str, Callable[[str], object]] = {
    "search_terms": search_terms,
    "identifiers": identifiers,
    "sentences": sentences,
    "language_of": lambda text: language_of([text]),
    "query_of": lambda text: query_of(user(text)),
    "passages": lambda text: passages(user(text)),
    "pins_of": lambda text: pins_of([user(text)], 100, 100, count),
    "anchors_of": lambda text: anchors_of([user(text)], 5, 200, Scoring(keys=("order id",)), count),
    "anchors_of a tool's": lambda text: anchors_of(
        [{"role": "tool", "content": text}], 5, 200, Scoring(), count
    ),
    "extract": lambda text: extract([user(text)], 200, count),
    "shorten": lambda text: shorten(text, 100, count),
    "clear_result": lambda text: clear_result({"role": "tool", "content": text}, count),
    "rendered": lambda text: rendered([user(text)], 0, 500, count),
    "rendered whole": lambda text: rendered([user(text)], 0, 10**9, len),
    "defused": defused,
    "digest": lambda text: message_digest(user(text)),
    "accept": lambda text: accept(f"It is {text}", "stop", False, 10**9, 500, count),
    "checked": lambda text: checked("They met.", [user(text)], "", 200, count),
}


@pytest.mark.parametrize("reader", READERS)
def test_every_text_is_read_in_time(reader: str) -> None:
    count("warm")
    for name, sample in NASTY.items():
        text = sample * (CHARS // len(sample))
        count(text)
        began = time.process_time()
        READERS[reader](text)
        assert time.process_time() - began < SECONDS, f"{CHARS} characters of {name!r}"
