"""The telling sentences of a conversation: rare words, names, dates, what a user says; each thing once."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from gateway_compaction.core.greedy import by_gain, rough_tokens
from gateway_compaction.core.ledger import Piece
from gateway_compaction.core.messages import PREAMBLE_ROLES, RESULT_ROLES, Message, part_of, text_of
from gateway_compaction.core.search_index import user_weight
from gateway_compaction.core.sentences import sentence_spans
from gateway_compaction.core.shorten import shorten
from gateway_compaction.core.terms import search_terms

__all__ = ["telling"]

Count = Callable[[str], int]
DATED = re.compile(
    r"\d|\b(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day\b|\b(?:Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
    r"|\b(?:yesterday|tomorrow|tonight|ago|recently|(?:last|next|this|past) (?:\w+ )?(?:night|morning|week"
    r"|weekend|month|year|spring|summer|autumn|fall|winter|\w+day))\b"
    r"|어제|내일|지난|다음 ?주|昨日|明日|先週|来週|昨天|明天|上周|下周"
)
OF_ONESELF = re.compile(r"\b(?:I|I['’]m|I['’]ve|[Mm]y|me|[Ww]e|[Oo]ur)\b")
NAMED = re.compile(r"(?<=[\w,;] )[A-Z][a-z]+")
SYMBOLS = re.compile(r"[{}()\[\]<>=;_/\\|]")
ASKS = ("?", "？")
SAID_AGAIN = 0.6
DATE, NAME, MOST_NAMES, ANSWER, ONESELF, QUESTION, TOOL, CODE = 0.6, 0.4, 2, 0.2, 0.5, 0.6, 0.5, 0.5
PIECE_TOKENS = 3
LONGEST, LEAST_TERMS, MOST_SENTENCES = 100, 3, 200


@dataclass(frozen=True, slots=True)
class _Sentence:
    piece: Piece
    terms: frozenset[str]
    boost: float
    cost: float


def telling(messages: Sequence[Message], known: Iterable[str], max_tokens: int, count: Count) -> list[Piece]:
    """The most telling sentences within ``max_tokens``; ``known`` terms are said already."""
    found, rarity = _sentences(messages)
    said = set(known)
    chosen: list[Piece] = []
    room = max_tokens

    def gain(i: int) -> float:
        # Exact, since a plain sum over a set depends on its order, which differs between processes.
        fresh = math.fsum(rarity[t] for t in found[i].terms if t not in said)
        if not fresh:
            return 0.0
        again = math.fsum(rarity[t] for t in found[i].terms if t in said)
        return found[i].boost * (fresh + SAID_AGAIN * again) / found[i].cost

    def take(i: int) -> bool:
        nonlocal room
        piece = found[i].piece
        text = shorten(piece.text, LONGEST, count, "…") if found[i].cost > LONGEST else piece.text
        cost = count(text) + PIECE_TOKENS
        if cost > room:
            return False
        chosen.append(replace(piece, text=text))
        said.update(found[i].terms)
        room -= cost
        return True

    by_gain(len(found), gain, take)
    return chosen


def _sentences(messages: Sequence[Message]) -> tuple[list[_Sentence], dict[str, float]]:
    """Every sentence that says enough, and how rare each term is among messages."""
    split = [_split(text_of(m)) for m in messages]
    number = Counter(t for bags in split for t in {t for *_, terms in bags for t in terms})
    rarity = {t: math.log(1 + len(messages) / n) for t, n in number.items()}
    lead = user_weight(messages)
    found = []
    asked = False
    for index, (message, bags) in enumerate(zip(messages, split, strict=True)):
        role = part_of(message)
        for start, text, terms in bags:
            if len(terms) >= LEAST_TERMS and role not in PREAMBLE_ROLES:
                piece = Piece(index, start, role, text, prose=True)
                cost = min(rough_tokens(text), LONGEST) + PIECE_TOKENS
                found.append(_Sentence(piece, terms, _boost(text, role, lead, asked), cost))
        asked = bool(bags) and bags[-1][1].endswith(ASKS)
    return found, rarity


def _split(text: str) -> list[tuple[int, str, frozenset[str]]]:
    """Start, text and terms of every sentence."""
    spans = sentence_spans(text)[:MOST_SENTENCES]
    return [(a, text[a:b], frozenset(search_terms(text[a:b]))) for a, b in spans]


def _boost(text: str, role: str, lead: float, answers: bool) -> float:
    """What makes a sentence worth more than its words. ``lead`` is how far users say what matters."""
    boost = 1.0 + DATE * bool(DATED.search(text)) + NAME * min(MOST_NAMES, len(NAMED.findall(text)))
    boost *= 1.0 + ANSWER * answers
    boost *= 1.0 + lead * (role == "user")
    # Between peers both tell of themselves; an assistant's "I" says little.
    if (role == "user" or not lead) and OF_ONESELF.search(text):
        boost *= 1.0 + ONESELF
    if text.endswith(ASKS) and not (role == "user" and lead):
        boost *= QUESTION
    if role in RESULT_ROLES:
        boost *= TOOL
    return boost * (CODE if len(SYMBOLS.findall(text)) > 0.06 * len(text) else 1.0)
