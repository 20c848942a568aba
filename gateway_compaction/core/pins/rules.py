"""Telling whether a sentence lays down a standing rule: an order that is meant to last.

A rule orders, forbids or wishes something, and it lasts: because it says so ("always", "in all your
answers"), because it names a case ("when you quote the law"), or because it is about the manner of answering
("in metric units"), which nobody means for one line. What is about one thing at hand ("that file", "a poem")
is none, nor is what stands in a question, in passing or in somebody's tale. The words are those of the
lexicon; of the languages only those are tried that share most words with the sentence.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

import regex

from gateway_compaction.core.text.clauses import blank_asides, compile_borders, find_clause_starts
from gateway_compaction.core.text.lexicon import LEXICONS, Lexicon, pattern_of
from gateway_compaction.core.text.questions import is_question, is_unmarked_question

# A longer sentence is no rule: nobody lays one down in so many words, and it would be slow to read.
LONGEST = 600
LONGEST_HEADING = 80
SHORTEST_STEM = 4
LONGEST_TAG = 30
# A sentence of so few words may hold none that a language is told by: "Llámame Jule."
FEW_WORDS = 4
MOST_WORDS = 120
# The kinds of orders, as subjects of a lexicon's rules; of several that match, the first counts.
KINDS = ("bans", "orders", "wishes", "headless")
CASELESS = regex.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]")
HANGUL = regex.compile(r"\p{Hangul}")
KANA = regex.compile(r"[\p{Hiragana}\p{Katakana}]")
# What ends so goes on in the next line, which alone would say what to do.
INTRODUCES = regex.compile(r"[:：]\s*+\Z")
WORD = regex.compile(r"\p{L}{2,}+")
# Words that stand in patterns as they are.
LITERAL = regex.compile(r"(?<![\\\p{L}\[?])\p{L}{2,}+(?![?{*+])")
LITERAL_SUBJECTS = (
    "leads",
    "orders",
    "bans",
    "wishes",
    "headless",
    "lasting",
    "manner",
    "single",
    "conditions",
    "standing",
)


@dataclass(frozen=True, slots=True)
class _Grammar:
    """The compiled rule words of a language.

    Attributes:
        anywhere: orders may stand anywhere, not only at the beginning of a clause.
        orders: matches an order of any kind; the group that matched is the kind.
    """

    code: str
    anywhere: bool
    borders: regex.Pattern[str]
    leads: regex.Pattern[str]
    orders: regex.Pattern[str]
    headless: regex.Pattern[str]
    lasting: regex.Pattern[str]
    manner: regex.Pattern[str]
    single: regex.Pattern[str]
    deliverables: regex.Pattern[str]
    conditions: regex.Pattern[str]
    standing: regex.Pattern[str]
    asides: regex.Pattern[str]
    tales: regex.Pattern[str]


@cache
def _grammar_of(code: str) -> _Grammar:
    """Compile the grammar of a language when it is first met."""
    lexicon = next(lexicon for lexicon in KNOWN if lexicon.code == code)

    def pattern(subject: str) -> str:
        return pattern_of(f"rules.{subject}", [lexicon])

    def compiled(subject: str) -> regex.Pattern[str]:
        return regex.compile(pattern(subject))

    kinds = "|".join(f"(?P<{kind}>{pattern(kind)})" for kind in KINDS)
    return _Grammar(
        code=code,
        anywhere=lexicon.rules.anywhere,
        borders=compile_borders(pattern_of("conjunctions", [lexicon])),
        leads=regex.compile(rf"(?:{pattern('leads')}\b[,:]?\s++){{0,4}}+"),
        orders=regex.compile(kinds),
        headless=compiled("headless"),
        lasting=compiled("lasting"),
        manner=compiled("manner"),
        single=compiled("single"),
        deliverables=compiled("deliverables"),
        conditions=compiled("conditions"),
        standing=compiled("standing"),
        asides=compiled("asides"),
        tales=compiled("tales"),
    )


def _collect_vocabulary(lexicon: Lexicon) -> frozenset[str]:
    """Return the words by which a sentence is told to be in a language."""
    patterns = (pattern_of(f"rules.{subject}", [lexicon]) for subject in LITERAL_SUBJECTS)
    literals = (word.lower() for pattern in patterns for word in LITERAL.findall(pattern))
    return frozenset([*literals, *lexicon.common_words.split()])


def _languages_by_word(lexicons: Sequence[Lexicon]) -> dict[str, int]:
    """Return of each word who knows it: a number in which every lexicon has a byte, 1 where it does."""
    languages: dict[str, int] = {}
    for number, lexicon in enumerate(lexicons):
        for word in _collect_vocabulary(lexicon):
            languages[word] = languages.get(word, 0) | 1 << 8 * number
    return languages


KNOWN = [lexicon for lexicon in LEXICONS if lexicon.rules.orders]
BY_SCRIPT = {lexicon.script: lexicon for lexicon in KNOWN}
SPACED = [lexicon for lexicon in KNOWN if lexicon.script not in ("Hangul", "Kana", "Han")]
LANGUAGES = _languages_by_word(SPACED)
# Behind a comma, or right behind a word of a script without spaces.
TAGS = regex.compile(
    rf"(?i)(?:[,;，、–—]\s*+|(?<=[\u3040-\u9fff\uac00-\ud7a3]))\s?+{pattern_of('rules.tags')}\s*+[?？]\W*+\Z"
)
HEADINGS = regex.compile(f"(?i){pattern_of('rules.headings')}")
POLITE = regex.compile(rf"(?i)^\W*{pattern_of('rules.polite')}")
IMPOSTURES = regex.compile(f"(?i){pattern_of('rules.impostures')}")


def compile_grammars() -> None:
    """Compile the grammars of all languages, half a second's work, so that no request waits for it."""
    for lexicon in KNOWN:
        _grammar_of(lexicon.code)


def is_imposture(sentence: str) -> bool:
    """Tell whether a sentence speaks to the one who summarises, or in somebody else's name."""
    return IMPOSTURES.search(sentence) is not None


def is_rules_heading(line: str) -> bool:
    """Tell whether a line announces a list of rules: "House style for this chat:"."""
    said = line.rstrip(" *_#")
    return len(said) <= LONGEST_HEADING and said.endswith((":", "：")) and HEADINGS.search(said) is not None


def is_rule(sentence: str) -> bool:
    """Tell whether a sentence lays down a standing rule."""
    if len(sentence) > LONGEST:
        return False
    said = _drop_tag(sentence.rstrip())
    if is_question(said):
        found = POLITE.search(said) is not None
    else:
        lower = said.lower()
        found = any(_lays_down(g, lower) for g in _choose_grammars(lower))
    return found and not is_imposture(sentence)


def _drop_tag(said: str) -> str:
    """Return a sentence without a last "okay?", which makes no question of an order."""
    if not said.endswith(("?", "？")):
        return said
    tag = TAGS.search(said, max(0, len(said) - LONGEST_TAG))
    return said if tag is None else said[: tag.start()] + "."


def _choose_grammars(said: str) -> Iterator[_Grammar]:
    """Give the grammars that a sentence may follow, by its script and its words."""
    if CASELESS.search(said):
        script = "Hangul" if HANGUL.search(said) else "Kana" if KANA.search(said) else "Han"
        yield _grammar_of(BY_SCRIPT[script].code)
        return
    words = WORD.findall(said)[:MOST_WORDS]
    hits = sum(map(_languages_of, words)).to_bytes(len(SPACED), "little")
    best = max(hits)
    if best or len(words) <= FEW_WORDS:
        for lexicon, number in zip(SPACED, hits, strict=True):
            # An order that may stand anywhere would be found in foreign words as well.
            if number == best and (best or not lexicon.rules.anywhere):
                yield _grammar_of(lexicon.code)


def _languages_of(word: str) -> int:
    """Return which languages know a word, or what is left of it without an ending."""
    known = LANGUAGES.get(word, 0)
    if len(word) > SHORTEST_STEM:
        known |= LANGUAGES.get(word[:-1], 0) | LANGUAGES.get(word[:-2], 0)
    return known


def _lays_down(grammar: _Grammar, said: str) -> bool:
    """Tell whether a sentence in lower case lays down a rule in a language."""
    if is_unmarked_question(said, grammar.code):
        return False
    text = blank_asides(said, grammar.asides)
    if any(_is_lasting(grammar, kind, text, start, end) for kind, start, end in _find_orders(grammar, text)):
        return grammar.tales.search(said) is None or grammar.standing.search(said) is not None
    return grammar.standing.search(said) is not None


def _find_orders(grammar: _Grammar, text: str) -> Iterator[tuple[str, int, int]]:
    """Give each order of a sentence: its kind, and from where to where its words stand."""
    if grammar.anywhere:
        found = {order.lastgroup: None for order in grammar.orders.finditer(text)}
        yield from ((str(kind), 0, len(text)) for kind in found)
        return
    begun: list[tuple[int, int, str]] = []
    for start in find_clause_starts(text, grammar.borders):
        leads = grammar.leads.match(text, start)
        first = leads.end() if leads is not None else start
        if begun and begun[-1][1] == first:
            continue
        order = grammar.orders.match(text, first)
        if order is not None:
            begun.append((start, first, str(order.lastgroup)))
        # "From now on" leads an order in, or stands for one: "From now on everything in English."
        elif first > start and grammar.headless.match(text, start):
            begun.append((start, first, "headless"))
    for number, (start, _, kind) in enumerate(begun):
        end = begun[number + 1][0] if number + 1 < len(begun) else len(text)
        yield kind, start if number else _find_scope_start(grammar, text, start), end


def _find_scope_start(grammar: _Grammar, text: str, start: int) -> int:
    """Return where the words begin that go with a first order: those before it that say for how long."""
    says_how_long = grammar.lasting.match(text, _first_letter(text)) is not None
    return 0 if says_how_long or text[:start].rstrip().endswith((":", "：")) else start


def _first_letter(text: str) -> int:
    return next((i for i, char in enumerate(text) if char.isalnum()), 0)


def _is_lasting(grammar: _Grammar, kind: str, text: str, start: int, end: int) -> bool:
    """Tell whether an order of a kind is meant for more than what is at hand."""
    if grammar.lasting.search(text, start, end):
        return kind != "headless" or not INTRODUCES.search(text)
    if INTRODUCES.search(text) or grammar.single.search(text, start, end):
        return False
    if kind in ("bans", "headless"):
        return True
    if kind == "orders" and _has_condition(grammar, text):
        return True
    return bool(grammar.manner.search(text, start, end) and not grammar.deliverables.search(text, start, end))


def _has_condition(grammar: _Grammar, text: str) -> bool:
    """Tell whether a sentence begins with a case in which its order holds."""
    if grammar.anywhere:
        return grammar.conditions.search(text) is not None
    return grammar.conditions.match(text, _first_letter(text)) is not None
