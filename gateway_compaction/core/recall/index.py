"""The search index of covered messages, and the ranking of its passages for a query.

BM25 alone finds the passage that has the words of a question; what answers it often stands beside it, in the
same message or behind a question. So a match also counts for what is near, and who speaks and how briefly
decides between passages that match alike. Most weights are those of a prototype fitted on half of the public
LoCoMo and BEAM dialogues, rounded.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import regex

from gateway_compaction.core.conversation.messages import Message, name_of, role_of, text_of
from gateway_compaction.core.conversation.transcript import compute_user_weight
from gateway_compaction.core.recall.passages import Passage
from gateway_compaction.core.text.lexicon import pattern_of
from gateway_compaction.core.text.terms import extract_terms

# Of BM25: how soon further occurrences of a term count no more, and how much long texts are marked down.
K1 = 0.9
B = 0.5
# What an occurrence counts for its passage and, once more, for all passages of its message.
TERM_WEIGHT = 0.6
# What an occurrence counts for the passages around it, by how far it reaches in words: to the same few
# sentences, and to the same subject.
NEAR_WORDS = 80.0
NEAR_WEIGHT = 2.0
FAR_WORDS = 270.0
FAR_WEIGHT = 1.5
# An occurrence counts a little less for what stands before it: answers stand behind what they are about.
BACKWARD = 0.8
# What a question's own match counts for the passage behind it, which may answer it.
ANSWER_WEIGHT = 0.5
# About the most that the above come to for one term, so that a score of a full match is about 1.
FULL_SCORE = 1.9
# What the missing terms of a query count in a full match.
MISSING_WEIGHT = 0.5
# What of a long message is no question, and the policy's keys, count so much.
REST_WEIGHT = 0.35
# In words: a message up to here counts whole, a longer one mostly by its questions.
SHORT_QUERY_WORDS = 40
# The first passage of a message says what it is about.
FIRST_WEIGHT = 0.3
# A passage of somebody whom the query names.
NAMED_WEIGHT = 0.6
# A user's passage, in chats with an assistant: questions are mostly about what the user told.
USER_WEIGHT = 0.4
# Preferences count in full from this score on, so that they do not lift what hardly matches.
FULL_MATCH = 0.3
FULL_USER_MATCH = 0.2
# In terms: from here on a user's passage counts in full; "yes" tells nothing.
FULL_LENGTH = 5
# In chats with an assistant, what a user says in a few words tells more than a long answer's paragraphs: the
# score is divided by the length to this power.
BREVITY = 0.35
# In words: what is added to a length, so that short passages differ little; the length that leaves a score as
# it is; and the least length that is told from a shorter one.
BREVITY_WORDS = 20
USUAL_WORDS = 60
LEAST_WORDS = 10
# A passage that holds more than this share of a query's words, by their rarity, is lifted by the rest.
HELD_SHARE = 0.5
HELD_WEIGHT = 4.0
# Of fewer terms half is one word.
HELD_TERMS = 4
# A term is rare in no more passages than this, or than this share of them.
RARE_PASSAGES = 2
RARE_SHARE = 0.05
# In characters: a name in front of what somebody says stands so near the beginning of a message.
SPEAKER_CHARS = 120
SPEAKER = regex.compile(r"(?:^|\n)\s*([\p{Lu}][\p{L}]{1,20}):\s")
# Words that refer back without a question mark.
ASKING = regex.compile(f"(?i){pattern_of('references')}")
# Tried only where a sentence begins: from every letter on, a long line without marks would take minutes.
QUESTION = regex.compile(r"(?:^|(?<=[.!?。！？\n]))[^.!?。！？\n]*+[?？]")
CAPITALISED = regex.compile(r"\b\p{Lu}\p{L}+")
Array = np.ndarray
Postings = Mapping[str, tuple[Array, Array]]


@dataclass(frozen=True, slots=True)
class PassageIndex:
    """Passages of m messages, n in all, ready to be searched. Arrays of shape (n,) are by passage.

    Attributes:
        passages: the n passages, in time order.
        owners: (n,) integers, the index of the message that each passage is of.
        positions: (n,) floats, how many words stand before the middle of each passage.
        words: (n,) floats, the length of each passage in words.
        term_counts: (n,) floats, the number of search terms in each passage, 1 at least.
        is_first: (n,) booleans, true for the first passage of a message.
        follows_question: (n,) booleans, true where the passage before ends with a question mark.
        is_by_user: (n,) booleans, true for what messages with the role ``user`` say and do not bring in.
        roles: the roles of the m messages.
        speakers: who says each of the m messages, in small letters; empty where nobody is named.
        message_term_counts: (m,) floats, the number of search terms in each message, 1 at least.
        postings: of each term the numbers of the k passages that have it, in order, as (k,) integers, and
            how often each has it, as (k,) floats.
        user_weight: from 0 to 1, how much more users' messages tell than the others'.
        lines: by a passage's number how it is quoted, and its tokens; ``recall`` fills it.
    """

    passages: tuple[Passage, ...]
    owners: Array
    positions: Array
    words: Array
    term_counts: Array
    is_first: Array
    follows_question: Array
    is_by_user: Array
    roles: tuple[str, ...]
    speakers: tuple[str, ...]
    message_term_counts: Array
    postings: Postings
    user_weight: float
    lines: dict[int, tuple[str, int]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Query:
    """A user message as something to search for.

    Attributes:
        terms: search terms with their weights, from 0 to 1.
        names: capitalised words of the message, in small letters.
        asks: whether the message asks something, by a question mark or by a word that refers back.
        text: the text of the message.
        asking: the share of the text that stands in questions, from 0 to 1.
    """

    terms: Mapping[str, float]
    names: frozenset[str]
    asks: bool = True
    text: str = ""
    asking: float = 0.0


def build_query(message: Message, keys: Sequence[str] = ()) -> Query:
    """Return what a user message asks for; in a long one that is mostly its questions.

    Args:
        message: the user message.
        keys: names whose values the policy wants preserved; they always count a little.
    """
    text = text_of(message)
    terms = dict.fromkeys(extract_terms(" ".join(keys)), REST_WEIGHT)
    all_terms = extract_terms(text)
    sentences = QUESTION.findall(text)
    asking = sum(map(len, sentences)) / max(1, len(text))
    questions = extract_terms(" ".join(sentences))
    names = frozenset(w.lower() for w in CAPITALISED.findall(text))
    if not questions or len(text.split()) <= SHORT_QUERY_WORDS:
        asks = bool(questions) or ASKING.search(text) is not None
        return Query({**terms, **dict.fromkeys(all_terms, 1.0)}, names, asks, text, asking)
    terms |= dict.fromkeys(all_terms, REST_WEIGHT)
    return Query({**terms, **dict.fromkeys(questions, 1.0)}, names, text=text, asking=asking)


def build_index(messages: Sequence[Message], passages: Sequence[tuple[Passage, ...]]) -> PassageIndex:
    """Build the index of some messages, given the passages of each."""
    flat = [passage for of_message in passages for passage in of_message]
    owners = [number for number, of_message in enumerate(passages) for _ in of_message]
    first = [place == 0 for of_message in passages for place in range(len(of_message))]
    words = np.array([p.words for p in flat], dtype=float)
    roles = [role_of(m) for m in messages]
    term_counts = [sum(p.terms.values()) for p in flat]
    message_term_counts = [sum(sum(p.terms.values()) for p in of_message) for of_message in passages]
    asks = [p.text.rstrip().endswith(("?", "？")) for p in flat]
    return PassageIndex(
        passages=tuple(flat),
        owners=np.array(owners, dtype=int),
        positions=np.cumsum(words) - words / 2 if flat else words,
        words=words,
        term_counts=np.array([max(1, n) for n in term_counts], dtype=float),
        is_first=np.array(first, dtype=bool),
        follows_question=np.array([False, *asks][: len(flat)], dtype=bool),
        is_by_user=np.array(
            [roles[owner] == "user" and not p.is_brought_in for owner, p in zip(owners, flat, strict=True)],
            dtype=bool,
        ),
        roles=tuple(roles),
        speakers=tuple(_find_speaker(m) for m in messages),
        message_term_counts=np.array([max(1, n) for n in message_term_counts], dtype=float),
        postings=_build_postings(flat),
        user_weight=compute_user_weight(messages),
    )


def find_rare_terms(index: PassageIndex, query: Query) -> frozenset[str]:
    """Return the terms of a query that some of the passages have, but few."""
    most = max(RARE_PASSAGES, RARE_SHARE * len(index.passages))
    return frozenset(t for t in query.terms if t in index.postings and len(index.postings[t][0]) <= most)


def rank_passages(index: PassageIndex, query: Query) -> list[tuple[float, int]]:
    """Return all passages by what they have to do with a query, best first, each as its score and number.

    The score is how well a passage matches, about 0 to 2, and is the share of a full match; the order besides
    prefers some of what matches alike (``_add_preferences``). Nothing where no term of the query occurs.
    """
    if not index.passages or not query.terms:
        return []
    size = len(index.passages)
    occurring = [(w, *index.postings[t]) for t, w in query.terms.items() if t in index.postings]
    if not occurring:
        return []
    missing = [w for t, w in query.terms.items() if t not in index.postings]
    full = sum(w * _inverse_frequency(size, 0.5) for w in missing) * MISSING_WEIGHT
    score, held, near, far = np.zeros(size), np.zeros(size), np.zeros(size), np.zeros(size)
    by_message = np.zeros(len(index.message_term_counts))
    norm = _length_norm(index.term_counts)
    message_norm = _length_norm(index.message_term_counts)
    for weight, where, counts in occurring:
        idf = weight * _inverse_frequency(size, len(where))
        full += idf
        saturated = counts * (K1 + 1) / (counts + norm[where])
        score[where] += TERM_WEIGHT * idf * saturated
        held[where] += idf
        in_message = np.bincount(index.owners[where], weights=counts, minlength=len(by_message))
        by_message += TERM_WEIGHT * idf * in_message * (K1 + 1) / (in_message + message_norm)
        strength = saturated / (K1 + 1)
        near += idf * _spread_by_distance(index.positions, where, strength, NEAR_WORDS)
        far += idf * _spread_by_distance(index.positions, where, strength, FAR_WORDS)
    own = score / TERM_WEIGHT
    score += by_message[index.owners] + NEAR_WEIGHT * near + FAR_WEIGHT * far
    before = np.concatenate(([0.0], own[:-1]))
    score += ANSWER_WEIGHT * np.where(index.follows_question, before, 0.0)
    matched = score / (FULL_SCORE * full)
    order = np.argsort(-_add_preferences(index, query, matched, held / full), kind="stable")
    return list(zip(matched[order].tolist(), order.tolist(), strict=True))


def _length_norm(term_counts: Array) -> Array:
    """Return what BM25 adds to the occurrences of a term: more in texts that are longer than others."""
    return np.asarray(K1 * (1 - B + B * term_counts / term_counts.mean()))


def _add_preferences(index: PassageIndex, query: Query, matched: Array, held: Array) -> Array:
    """Return scores with what else speaks for a passage: who wrote it, where it stands, how short it is.

    None of that counts where little matches or is said, nor against a passage that holds by itself most of
    the words of a question of several.

    Args:
        index: the passages.
        query: what is searched for.
        matched: (n,) floats, how well each passage matches.
        held: (n,) floats from 0 to 1, the share of the query's words that each has itself, by their rarity.
    """
    is_named = np.array([s in query.names for s in index.speakers])[index.owners]
    score = matched + (FIRST_WEIGHT * index.is_first + NAMED_WEIGHT * is_named) * np.minimum(
        1.0, matched / FULL_MATCH
    )
    by_user = USER_WEIGHT * index.user_weight * index.is_by_user
    by_user = by_user * np.minimum(1.0, index.term_counts / FULL_LENGTH)
    score += by_user * np.minimum(1.0, matched / FULL_USER_MATCH)
    words = np.maximum(index.words, LEAST_WORDS) + BREVITY_WORDS
    score /= (words / USUAL_WORDS) ** (BREVITY * index.user_weight)
    if len(query.terms) < HELD_TERMS:
        return np.asarray(score)
    return np.asarray(score + HELD_WEIGHT * np.maximum(0.0, held - HELD_SHARE))


def _spread_by_distance(positions: Array, where: Array, strength: Array, reach: float) -> Array:
    """Return for every passage the best occurrence of a term, fading with the distance.

    Args:
        positions: (n,) floats, in words.
        where: (k,) integers, the passages that have the term.
        strength: (k,) floats, how much it counts in each.
        reach: in words, where 1/e of it is left.
    """
    level = np.full(len(positions), -np.inf)
    level[where] = np.log(np.maximum(strength, 1e-9))
    scaled = positions / reach
    from_before = np.maximum.accumulate(level + scaled) - scaled
    from_behind = np.maximum.accumulate((level - scaled)[::-1])[::-1] + scaled
    return np.maximum(np.exp(from_before), BACKWARD * np.exp(from_behind))


def _inverse_frequency(size: int, containing: float) -> float:
    """Return how rare a term is that so many of ``size`` passages contain (IDF of BM25)."""
    return float(np.log(1 + (size - containing + 0.5) / (containing + 0.5)))


def _build_postings(passages: Sequence[Passage]) -> dict[str, tuple[Array, Array]]:
    where: dict[str, list[int]] = {}
    counts: dict[str, list[int]] = {}
    for number, passage in enumerate(passages):
        for term, count in passage.terms.items():
            where.setdefault(term, []).append(number)
            counts.setdefault(term, []).append(count)
    return {t: (np.array(w, dtype=int), np.array(counts[t], dtype=float)) for t, w in where.items()}


def _find_speaker(message: Message) -> str:
    """Return who says a message, by its name or a name in front of its text ("Caroline: ...")."""
    if name := name_of(message):
        return name.lower()
    match = SPEAKER.search(text_of(message)[:SPEAKER_CHARS])
    return match.group(1).lower() if match else ""
