"""The summary that needs no model: salient sentences and a ledger of identifiers, instantly.

Deterministic: the same messages and budget give the same text on every replica.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from gateway_compaction.core.identifiers import identifiers
from gateway_compaction.core.messages import RESULT_ROLES, Message, text_of
from gateway_compaction.core.sentences import sentences
from gateway_compaction.core.shorten import shorten
from gateway_compaction.core.terms import search_terms

__all__ = ["extract"]

Count = Callable[[str], int]

DATED = re.compile(
    r"\d|\b(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day\b|\b(?:Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
)
NAMED = re.compile(r"(?<=[\w,;] )[A-Z][a-z]+")
FIRST = re.compile(r"(?i)\b(?:i|my|we|our|i['’]m|i['’]ve)\b|나는|저는|제가|私|我")
LONGEST_SENTENCE = 60
LEDGER_SHARE, LEDGER_SHARE_CHAT = 0.5, 0.15


@dataclass(frozen=True, slots=True)
class _Candidate:
    message: int
    place: int
    role: str
    text: str
    terms: frozenset[str]
    tokens: int
    salience: float


def extract(messages: Sequence[Message], max_tokens: int, count: Count) -> str:
    """At most ``max_tokens`` of what matters most in some messages, in time order."""
    agentic = any(m["role"] in RESULT_ROLES for m in messages)
    ledger = _ledger(messages, int(max_tokens * (LEDGER_SHARE if agentic else LEDGER_SHARE_CHAT)), count)
    excerpt = _excerpt(messages, max_tokens - (count(ledger) + 2 if ledger else 0), count)
    return "\n".join(part for part in (ledger, excerpt) if part)


def _ledger(messages: Sequence[Message], max_tokens: int, count: Count) -> str:
    seen: dict[str, set[int]] = {}
    weight: Counter[str] = Counter()
    for index, message in enumerate(messages):
        for text, bonus in _sources(message):
            for name in identifiers(text):
                if len(name) <= 120:
                    seen.setdefault(name, set()).add(index)
                    weight[name] = max(weight[name], bonus)
    ranked = sorted(
        seen, key=lambda n: (-(len(seen[n]) ** 0.5 + weight[n] + 2 * max(seen[n]) / len(messages)), n)
    )
    chosen: list[str] = []
    room = max_tokens - 4
    for name in ranked[:400]:
        cost = count(name) + 1
        if cost > room:
            break
        chosen.append(name)
        room -= cost
    return "identifiers: " + ", ".join(chosen) if chosen else ""


def _sources(message: Message) -> list[tuple[str, int]]:
    calls = message.get("tool_calls")
    arguments = [
        str(c["function"].get("arguments"))
        for c in (calls if isinstance(calls, list) else ())
        if isinstance(c, dict) and isinstance(c.get("function"), dict)
    ]
    own = 2 if message["role"] == "user" else 0
    return [(text_of(message), own), *((a, 1) for a in arguments)]


def _excerpt(messages: Sequence[Message], max_tokens: int, count: Count) -> str:
    candidates = _candidates(messages, count)
    chosen: list[_Candidate] = []
    covered: set[str] = set()
    room = max_tokens
    # One pass by salience per token, then a second look at novelty: cheap, and near the greedy optimum.
    for candidate in sorted(candidates, key=lambda c: (-c.salience / (c.tokens + 6), c.message, c.place)):
        fresh = len(candidate.terms - covered) / (len(candidate.terms) or 1)
        if fresh < 0.35 or candidate.tokens + 5 > room:
            continue
        chosen.append(candidate)
        covered |= candidate.terms
        room -= candidate.tokens + 5
        if room < 12:
            break
    return _told(sorted(chosen, key=lambda c: (c.message, c.place)))


def _told(chosen: Sequence[_Candidate]) -> str:
    lines: list[str] = []
    last = -1
    for candidate in chosen:
        if candidate.message == last:
            lines[-1] += " " + candidate.text
        else:
            lines.append(f"[{candidate.role}] {candidate.text}")
        last = candidate.message
    return "\n".join(lines)


def _candidates(messages: Sequence[Message], count: Count) -> list[_Candidate]:
    split = [(i, m["role"], sentences(text_of(m))[:200]) for i, m in enumerate(messages)]
    found = [(i, place, role, text) for i, role, texts in split for place, text in enumerate(texts)]
    bags = [frozenset(search_terms(text)) for *_, text in found]
    frequency = Counter(term for bag in bags for term in bag)
    rarity = {t: math.log(1 + len(bags) / f) for t, f in frequency.items()}
    result = []
    for (index, place, role, text), bag in zip(found, bags, strict=True):
        if len(bag) < 3 or role in ("system", "developer"):
            continue
        short = text if len(text) <= LONGEST_SENTENCE * 5 else shorten(text, LONGEST_SENTENCE, count, "…")
        salience = _salience(short, bag, role, place, rarity)
        result.append(_Candidate(index, place, role, short, bag, max(1, len(short) // 4 + 1), salience))
    return [_counted(c, count) for c in sorted(result, key=lambda c: -c.salience / (c.tokens + 6))[:600]]


def _counted(candidate: _Candidate, count: Count) -> _Candidate:
    c = candidate
    return _Candidate(c.message, c.place, c.role, c.text, c.terms, count(c.text), c.salience)


def _salience(text: str, bag: frozenset[str], role: str, place: int, rarity: dict[str, float]) -> float:
    score = sum(sorted((rarity[t] for t in bag), reverse=True)[:12])
    score *= 1.0 + 0.25 * bool(DATED.search(text)) + 0.2 * min(2, len(NAMED.findall(text)))
    score *= 1.2 if FIRST.search(text) else 1.0
    score *= {"user": 1.25, "assistant": 1.0}.get(role, 0.6)
    score *= 1.1 if place == 0 else 1.0
    return score * (0.6 if text.endswith(("?", "？")) else 1.0)
