"""The situation of a case, read from the words of its policy.

Each phrase that is understood is taken out of the text; what then is left was not understood, and is kept, so
that no check which may depend on it is judged.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from tests.cases.case_situation import CaseSituation, Fallback, Stored, Summariser

__all__ = ["read"]

Change = Callable[[re.Match[str]], Mapping[str, Any]]
NUMBERS = {"two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "ten": 10}
COUNT = rf"(\d+|{'|'.join(NUMBERS)})"
FILLER = re.compile(
    r"(?i)^(?:\W|\b(?:and|for the model|the|a|unless stated|for the prefix|request|by policy)\b)*$"
)
HANGS = 60.0
QUOTED = r"'((?:[^'\\]|\\.)*)'"


@dataclass(slots=True)
class _Reading:
    """A text being read: what is left of it, and what was learned."""

    left: str
    learned: dict[str, Any] = field(default_factory=dict)


def read(policy: str) -> CaseSituation:
    """The situation that a policy text describes."""
    reading = _Reading(policy)
    for pattern, change in RULES:
        _apply(reading, pattern, change)
    parts = (part.strip() for part in re.split(r"[;\x00]|[.,:](?:\s|$)", reading.left))
    unknown = tuple(part for part in parts if part and not FILLER.match(part))
    return replace(CaseSituation(), **reading.learned, unknown=unknown)


def _apply(reading: _Reading, pattern: re.Pattern[str], change: Change) -> None:
    for found in pattern.finditer(reading.left):
        for name, value in change(found).items():
            old = reading.learned.get(name)
            joined = isinstance(old, tuple) and isinstance(value, tuple)
            reading.learned[name] = (*old, *value) if joined and isinstance(old, tuple) else value
    reading.left = pattern.sub("\0", reading.left)


def _number(text: str) -> int:
    return NUMBERS.get(text.lower()) or int(text)


def _unescaped(text: str) -> str:
    return re.sub(r"\\(.)", lambda m: {"n": "\n", "t": "\t"}.get(m[1], m[1]), text)


def _returns(found: re.Match[str]) -> Mapping[str, Any]:
    texts = tuple(_unescaped(text) for text in found.groups() if text is not None)
    return {"summariser": Summariser(texts=texts, stated=True)}


def _blocks(found: re.Match[str]) -> Mapping[str, Any]:
    parts = re.findall(rf"(\w+) {QUOTED}", found[1])
    blocks = tuple(
        {
            "type": kind,
            kind: _unescaped(text),
            **({"signature": "c2lnbmF0dXJl"} if kind == "thinking" else {}),
        }
        for kind, text in parts
    )
    return {"summariser": Summariser(blocks=blocks, stated=True)}


def _old_rules(found: re.Match[str]) -> Mapping[str, Any]:
    return {"old_system": _unescaped(found[1]), "summariser": Summariser(reflects=True, stated=True)}


def _words(found: re.Match[str]) -> Mapping[str, Any]:
    words = int(found[1])
    return {"stored": (Stored(words=words),), "summariser": Summariser(words=words, stated=True)}


def _failing(found: re.Match[str]) -> Mapping[str, Any]:
    return {"summariser": Summariser(status=int(found[1]) if found[1] else 500, stated=True)}


def _levels(found: re.Match[str]) -> Mapping[str, Any]:
    return {"rewrites_at": int(found[1]) / 100, "fits_at": int(found[2]) / 100}


def _sets(**values: Any) -> Change:
    return lambda found: values


def _stores(*, with_text: bool = False) -> Change:
    """A stored summary; ``with_text``: the text is the first group."""

    def change(found: re.Match[str]) -> Mapping[str, Any]:
        return {"stored": (Stored(_unescaped(found[1]) if with_text else None),)}

    return change


def _int(name: str) -> Change:
    return lambda found: {name: _number(found[1])}


def _text(name: str) -> Change:
    return lambda found: {name: _unescaped(found[1])}


def _summarises(**values: Any) -> Change:
    return lambda found: {"summariser": Summariser(stated=True, **values)}


def _rule(pattern: str, change: Change) -> tuple[re.Pattern[str], Change]:
    return re.compile(pattern, re.IGNORECASE), change


# The order matters: the longer phrase stands before one that is part of it, the general statement (about what
# is stored "unless stated") before what overrules it.
RULES: tuple[tuple[re.Pattern[str], Change], ...] = (
    _rule(r"summariser stubbed to return a fixed short text containing (\S+?)(?: unless stated)?(?=[;.,]|$)",
          lambda m: {"summariser": Summariser(texts=(f"{m[1]} the earlier part was settled.",))}),
    _rule(r"stored summary pre-seeded for the prefix(?: unless stated)?", _sets(preseeded=True)),
    _rule(r"stored summary '([^']*)' already covers all but the tail", _stores(with_text=True)),
    _rule(rf"stored summary {QUOTED} was built from a prefix where \w+ said (\w+)",
          lambda m: {"stored": (Stored(text=_unescaped(m[1]), edited=m[2]),)}),
    _rule(rf"same conversation id as a long chat with stored summary {QUOTED}", _text("main_chat")),
    _rule(rf"a summary {QUOTED} is stored for key of team (\w+)(?: under the same id)?",
          lambda m: {"stored": (Stored(text=_unescaped(m[1]), team=m[2].lower()),)}),
    _rule(r"stored summary was made when the system prompt was '([^']*)'", _old_rules),
    _rule(r"stored summary covers (?:only )?turns 1-(\d+)(?: \([^)]*\))?",
          lambda m: {"stored": (Stored(turns=int(m[1])),)}),
    _rule(r"turns \d+-\d+ are not covered", _sets()),
    _rule(r"stored summary exists(?: from an earlier small-model turn)?", _stores()),
    _rule(r"summariser stub / stored summary is (\d+) words(?: in a \d+-token window)?", _words),
    _rule(r"stored summary is (\d+) words(?: in a \d+-token window)?",
          lambda m: {"stored": (Stored(words=int(m[1])),)}),
    _rule(rf"stored summary (?:is )?{QUOTED}", _stores(with_text=True)),
    _rule(r"no stored summary(?:[:,]? summariser runs once)?", _sets(unstored=True)),
    _rule(r"summariser(?: stub)? returns blocks \[([^\]]*)\]", _blocks),
    _rule(rf"summariser(?: stub)? returns {QUOTED}(?: \(and once {QUOTED}\))?", _returns),
    _rule(r"summariser(?: stub)? returns (\d+) words",
          lambda m: {"summariser": Summariser(words=int(m[1]), stated=True)}),
    _rule(r"summariser(?: stub)? (?:returns|answers with) a tool call", _summarises(calls_tool=True)),
    _rule(r"summariser(?: stub)? (?:is cut off|returns finish_reason ?=? ?'?length'?)",
          _summarises(is_cut=True)),
    _rule(r"summariser(?: stub)? (?:hangs|never answers|times out)", _summarises(seconds=HANGS)),
    _rule(r"summariser(?: stub)?(?: always)?(?: returns| answers)?(?: HTTP)? (\d{3})\b", _failing),
    _rule(r"summariser(?: stub)?(?: always)? fails()", _failing),
    _rule(r"summariser(?: stub)? sleeps (\d+) ?s(?:econds)?\b",
          lambda m: {"summariser": Summariser(seconds=float(m[1]), stated=True)}),
    _rule(r"summariser(?: stub)? echoes (\S+)(?: text)?",
          lambda m: {"summariser": Summariser(echoes=m[1], stated=True)}),
    _rule(r"summariser(?: stub)? must reflect its input", _summarises(reflects=True)),
    _rule(r"summariser for turns 1-(\d+) is still running"
          r"(?:; its result lands between this request and the next)?", _int("held_turns")),
    _rule(r"policy max_summary_tokens\s*=\s*(\d+)", _int("summary_tokens")),
    _rule(r"policy flag strict_alternation\s*=\s*true", _sets()),
    _rule(r"router model_list maps alias \S+ to an? \S+ deployment with"
          r" model_info\.max_input_tokens\s*=\s*(\d+)", _int("model_window")),
    _rule(r"model_info\.max_input_tokens\s*=\s*(\d+)", _int("model_window")),
    _rule(r"model info: max_output_tokens\s*=\s*(\d+)", _int("output_tokens")),
    _rule(r"no policy override", _sets()),
    _rule(r"(?:override )?max_input_tokens\s*=\s*(\d+)(?: for the model)?", _int("window")),
    _rule(r"thresholds light (\d+) ?% ?/ ?aggressive (\d+) ?%", _levels),
    _rule(r"keep_last\s*=\s*(\d+)(?: messages?)?", _int("keep_last")),
    _rule(r"(\S+) \(window (\d+)\) returns (\d{3})",
          lambda m: {"model_window": int(m[2]), "main_failure": int(m[3])}),
    _rule(r"router fallback to (\S+) \(window (\d+)\)", lambda m: {"fallback": Fallback(m[1], int(m[2]))}),
    _rule(rf"(?:run as a )?{COUNT}-turn sequence(?:, adding one short user/assistant pair each turn)?",
          _int("turns")),
    _rule(rf"send the same shape {COUNT} times", _int("repeats")),
    _rule(rf"{COUNT} requests in a row", _int("repeats")),
    _rule(rf"{COUNT} updates in a row", _int("updates")),
    _rule(r"(\d+) conversations", _int("conversations")),
    _rule(r"gc\.collect\(\) after each call", lambda m: {"probes": ("gc",)}),
    _rule(r"invoke the hook twice on the same data dict", lambda m: {"probes": ("twice",)}),
    _rule(r"the success callback twice with the same call id", lambda m: {"probes": ("again",)}),
    _rule(r"success callback disabled", _sets(no_callback=True)),
    _rule(rf"previous stream was cut[;,]? gateway saw {QUOTED} that the client never received",
          _text("cut_stream")),
    _rule(r"redis accepts tcp but never answers", _sets(redis="hung")),
    _rule(r"redis (?:port (?:is )?closed|is down|down)", _sets(redis="closed")),
    _rule(r"redis (?:SET )?returns OOM(?: error)?", _sets(redis="oom")),
    _rule(r"redis cluster", _sets()),
    _rule(r"assert keys match \S+", _sets()),
    _rule(r"response cache on", _sets(response_cache=True)),
    _rule(r"twin chat starts with (\S+?)(?=[;,.]|$)", _text("twin")),
    _rule(r"second request identical but ending (\S+?),? sent at the same time(?: through another worker)?",
          _text("rival")),
    _rule(r"metadata\.conversation_id\s*=\s*'[^']*'", _sets()),
    _rule(r"key of team (\w+)", lambda m: {"team": m[1].lower()}),
    _rule(r"key has (\d+) tokens? of budget left", _int("budget_tokens")),
    _rule(r"upstream fails once with (\d{3}) then succeeds", _int("fails_once")),
    _rule(r"global policy (\w+)", _sets(global_policy=True)),
    _rule(r"(?:caller's )?team has enabled: false", _sets(enabled=False)),
    _rule(r"window (\d+)", _int("window")),
    # What only describes the messages, or how they travel.
    _rule(r"tools alone are about \d+ tokens", _sets()),
    _rule(r"about \d+k? ?(?:%|tokens) ?(?:full|of messages)?(?: \([^)]*\))?", _sets()),
    _rule(r"measure loop lag during the hook", _sets()),
    _rule(r"through the real http route", _sets()),
)  # fmt: skip
