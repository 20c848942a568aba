"""Searching covered messages for what a user message needs.

Most weights are those of a prototype fitted on half of the public LoCoMo and BEAM dialogues, rounded.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import regex

from gateway_compaction.core.conversation.messages import Message, declared_role, name_of, text_of
from gateway_compaction.core.conversation.transcript import compute_user_weight
from gateway_compaction.core.recall.passages import Passage
from gateway_compaction.core.text.lexicon import pattern_of
from gateway_compaction.core.text.terms import extract_terms

K1, B = 0.9, 0.5
NEAR_WORDS, FAR_WORDS = 80.0, 270.0
AFTER = 0.8
REST_WEIGHT = 0.35
SHORT_QUERY_WORDS = 40
# In chats with an assistant, what a user says in a few words tells more than a long answer's paragraphs.
BREVITY, BREVITY_WORDS, USUAL_WORDS, LEAST_WORDS = 0.35, 20, 60, 10
FULL_MATCH, FULL_USER_MATCH, FULL_LENGTH = 0.3, 0.2, 5
OWN_SHARE, OWN_WEIGHT, OWN_TERMS = 0.5, 4.0, 4
RARE_LEAST, RARE_SHARE = 2, 0.05
SPEAKER = regex.compile(r"(?:^|\n)\s*([\p{Lu}][\p{L}]{1,20}):\s")
# Words that refer back without a question mark.
ASKING = regex.compile(f"(?i){pattern_of('references')}")
# Tried only where a sentence begins: from every letter on, a long line without marks would take minutes.
QUESTION = regex.compile(r"(?:^|(?<=[.!?。！？\n]))[^.!?。！？\n]*+[?？]")
Array = np.ndarray


@dataclass(frozen=True, slots=True)
class PassageIndex:
    """Passages of some messages, ready to be searched. Arrays are by passage."""

    passages: tuple[Passage, ...]
    message: Array
    position: Array
    words: Array
    length: Array
    opens: Array
    asked_before: Array
    roles: tuple[str, ...]
    role_user: Array
    speakers: tuple[str, ...]
    postings: Mapping[str, tuple[Array, Array]]
    message_lengths: Array
    user_weight: float
    lines: dict[int, tuple[str, int]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Query:
    """Weighted terms of a message, the names in it, and whether it asks something."""

    terms: Mapping[str, float]
    names: frozenset[str]
    asks: bool = True


def build_query(message: Message, keys: Sequence[str] = ()) -> Query:
    """What a user message asks for; in a long one mostly its questions. ``keys`` always count a little."""
    text = text_of(message)
    kept = dict.fromkeys(extract_terms(" ".join(keys)), REST_WEIGHT)
    everything = extract_terms(text)
    questions = extract_terms(" ".join(QUESTION.findall(text)))
    names = frozenset(w.lower() for w in regex.findall(r"\b\p{Lu}\p{L}+", text))
    if not questions or len(text.split()) <= SHORT_QUERY_WORDS:
        asks = bool(questions) or ASKING.search(text) is not None
        return Query({**kept, **dict.fromkeys(everything, 1.0)}, names, asks)
    return Query({**kept, **dict.fromkeys(everything, REST_WEIGHT), **dict.fromkeys(questions, 1.0)}, names)


def build_index(messages: Sequence[Message], by_message: Sequence[tuple[Passage, ...]]) -> PassageIndex:
    """Index some messages, given the passages of each."""
    found: list[Passage] = []
    owner: list[int] = []
    opens: list[bool] = []
    for number, pieces in enumerate(by_message):
        for place, passage in enumerate(pieces):
            found.append(passage)
            owner.append(number)
            opens.append(place == 0)
    lengths = np.array([max(1, sum(p.terms.values())) for p in found], dtype=float)
    words = np.array([p.words for p in found], dtype=float)
    roles = [declared_role(m) for m in messages]
    asked = [False, *(p.text.rstrip().endswith(("?", "？")) for p in found[:-1])]
    return PassageIndex(
        tuple(found),
        np.array(owner, dtype=int),
        np.cumsum(words) - words / 2 if found else words,
        words,
        lengths,
        np.array(opens, dtype=bool),
        np.array(asked[: len(found)], dtype=bool),
        tuple(roles),
        np.array([roles[o] == "user" for o in owner], dtype=bool),
        tuple(_find_speaker(m) for m in messages),
        _build_postings(found),
        np.array([max(1, sum(sum(p.terms.values()) for p in ps)) for ps in by_message], dtype=float),
        compute_user_weight(messages),
    )


def find_rare_terms(index: PassageIndex, query: Query) -> frozenset[str]:
    """The terms of a query that some of the passages have, but few."""
    few = max(RARE_LEAST, RARE_SHARE * len(index.passages))
    return frozenset(t for t in query.terms if t in index.postings and len(index.postings[t][0]) <= few)


def rank_passages(index: PassageIndex, query: Query) -> list[tuple[float, int]]:
    """Passages that have something to do with the query, best first; the score is about 0 to 2."""
    if not index.passages or not query.terms:
        return []
    size = len(index.passages)
    known = [(t, w, *index.postings[t]) for t, w in query.terms.items() if t in index.postings]
    if not known:
        return []
    score = np.zeros(size)
    by_message = np.zeros(len(index.message_lengths))
    near, far, held = np.zeros(size), np.zeros(size), np.zeros(size)
    norm = K1 * (1 - B + B * index.length / index.length.mean())
    message_norm = K1 * (1 - B + B * index.message_lengths / index.message_lengths.mean())
    total = (
        sum(w * _inverse_frequency(size, 0.5) for t, w in query.terms.items() if t not in index.postings)
        * 0.5
    )
    for _, weight, where, counts in known:
        idf = weight * _inverse_frequency(size, len(where))
        total += idf
        sat = counts * (K1 + 1) / (counts + norm[where])
        score[where] += 0.6 * idf * sat
        held[where] += idf
        owners = index.message[where]
        tf = np.bincount(owners, weights=counts, minlength=len(by_message))
        by_message += 0.6 * idf * tf * (K1 + 1) / (tf + message_norm)
        near += idf * _spread_by_distance(index.position, where, sat / (K1 + 1), NEAR_WORDS)
        far += idf * _spread_by_distance(index.position, where, sat / (K1 + 1), FAR_WORDS)
    own = score / 0.6
    score += by_message[index.message] + 2.0 * near + 1.5 * far
    previous = np.concatenate(([0.0], own[:-1]))
    score += 0.5 * np.where(index.asked_before, previous, 0.0)
    matched = score / (1.9 * total)
    order = np.argsort(-_add_preferences(index, query, matched, held / total), kind="stable")
    return list(zip(matched[order].tolist(), order.tolist(), strict=True))


def _add_preferences(index: PassageIndex, query: Query, matched: Array, held: Array) -> Array:
    """Matches with what else speaks for a passage: who wrote it, where it stands, how short it is.

    None of that counts where little matches or is said, nor against a passage that holds by itself, as a
    share of their rarity, most of the words of a question of several.
    """
    named = np.array([s in query.names for s in index.speakers])[index.message]
    score = matched + (0.3 * index.opens + 0.6 * named) * np.minimum(1.0, matched / FULL_MATCH)
    told = 0.4 * index.user_weight * index.role_user * np.minimum(1.0, index.length / FULL_LENGTH)
    score += told * np.minimum(1.0, matched / FULL_USER_MATCH)
    words = np.maximum(index.words, LEAST_WORDS) + BREVITY_WORDS
    score /= (words / USUAL_WORDS) ** (BREVITY * index.user_weight)
    if len(query.terms) < OWN_TERMS:
        return np.asarray(score)
    return np.asarray(score + OWN_WEIGHT * np.maximum(0.0, held - OWN_SHARE))


def _spread_by_distance(position: Array, where: Array, strength: Array, reach: float) -> Array:
    """For every passage the best occurrence of a term, fading with the distance in words."""
    level = np.full(len(position), -np.inf)
    level[where] = np.log(np.maximum(strength, 1e-9))
    scaled = position / reach
    before = np.maximum.accumulate(level + scaled) - scaled
    after = np.maximum.accumulate((level - scaled)[::-1])[::-1] + scaled
    return np.maximum(np.exp(before), AFTER * np.exp(after))


def _inverse_frequency(passages_: int, containing: float) -> float:
    return float(np.log(1 + (passages_ - containing + 0.5) / (containing + 0.5)))


def _build_postings(found: Sequence[Passage]) -> dict[str, tuple[Array, Array]]:
    where: dict[str, list[int]] = {}
    counts: dict[str, list[int]] = {}
    for number, passage in enumerate(found):
        for term, count in passage.terms.items():
            where.setdefault(term, []).append(number)
            counts.setdefault(term, []).append(count)
    return {t: (np.array(w, dtype=int), np.array(counts[t], dtype=float)) for t, w in where.items()}


def _find_speaker(message: Message) -> str:
    if name := name_of(message):
        return name.lower()
    match = SPEAKER.search(text_of(message)[:120])
    return match.group(1).lower() if match else ""
