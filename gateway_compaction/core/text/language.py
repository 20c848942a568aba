"""The language of a conversation, and the few sentences that the gateway says in it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from gateway_compaction.core.conversation.messages import Message, declared_role, role_of, text_of
from gateway_compaction.core.text.fences import find_fences
from gateway_compaction.core.text.lexicon import LEXICONS, Phrases

NAMES = {lexicon.code: lexicon.name for lexicon in LEXICONS}
# Characters: of prose that decides, for each text and in all; and read of a text, and in all, to find it.
SAMPLE, ROOM = 4_000, 16_000
READ, READ_ROOM = 16_000, 128_000
# A sentence is in a script by so much of its letters, a conversation by so much of its sentences.
SENTENCE_SHARE, SHARE, KANA_SHARE = 0.2, 0.1, 0.1
# Common words that must be told among what users say, and their share of all words.
LEAST_WORDS, WORD_SHARE = 3, 0.05
# A script is foreign to a conversation by the share of its characters in it; so many are always enough.
KNOWN_SHARE, KNOWN = 0.01, 200
_SCRIPTS: tuple[tuple[str, str], ...] = (
    ("ko", "[\uac00-\ud7a3\u1100-\u11ff]"),
    ("ja", "[\u3040-\u30ff]"),
    ("zh", "[\u4e00-\u9fff]"),
    ("ru", "[\u0400-\u04ff]"),
    ("ar", "[\u0600-\u06ff]"),
    ("he", "[\u0590-\u05ff]"),
    ("th", "[\u0e00-\u0e7f]"),
    ("hi", "[\u0900-\u097f]"),
    ("el", "[\u0370-\u03ff]"),
)
SCRIPTS = {code: re.compile(characters) for code, characters in _SCRIPTS}
INLINE = re.compile(r"`[^`\n]{1,200}+`|https?://\S++")
# A time, a level or the mark of a shell, then what a program printed; or a statement of a program.
PRINTED = re.compile(
    r"\W{0,8}+(?:\d{4}-\d\d-\d\d|\d{1,2}:\d\d:\d\d|[A-Z][a-z]{2} +\d+ \d\d:|Traceback \(|File \"|at \S+\()"
    r"|\W{0,4}+(?:ERROR|WARN|WARNING|INFO|DEBUG|TRACE|FATAL|CRITICAL|NOTICE|SEVERE)\b"
    r"|\w+(?:Error|Exception): |\s*+(?:[$%] |>>> |#include\b|from \S+ import )"
    r"|\s*+(?:def|class|import|return|const|let|var|func|function|public|private|package) "
    r"|\s*+(?:(?:SELECT|INSERT|UPDATE|DELETE) |(?:if|for|while|with|elif|except)\b.*:$)"
)
CODE_WORD = re.compile(r"\w[(.]\w|[{}\[\]=<>_\\|$&#@/]|;$|\)[:;]")
SENTENCE_END = re.compile(r"\n|(?<=[.!?])\s|[。！？]")
COMMON = tuple(
    (lexicon.code, frozenset(lexicon.common_words.split())) for lexicon in LEXICONS if lexicon.common_words
)


def detect_language(texts: Iterable[str]) -> str:
    """The ISO code of the language that the prose of some texts is in; English when in doubt."""
    return _told(_sample(texts), 1) or "en"


def detect_conversation_language(messages: Sequence[Message]) -> str:
    """The ISO code of a conversation's language: the users', where what they say tells it."""
    users = _sample(text_of(m) for m in messages if role_of(m) == "user")
    said = (text_of(m) for m in messages if declared_role(m) in ("user", "assistant"))
    return _told(users, LEAST_WORDS) or detect_language(said)


def is_foreign_script(text: str, said: Iterable[str]) -> bool:
    """Whether a text is in a script that what was ``said`` is not in; Latin is nobody's alone."""
    sample = text[:SAMPLE]
    code = _script_of(sample, sum(map(str.isalpha, sample)), 0.5)
    if code is None:
        return False
    known = length = 0
    for part in said:
        known += len(SCRIPTS[code].findall(part))
        length += len(part)
        if known >= KNOWN:
            return False
    return length > 0 and known <= length * KNOWN_SHARE


def _told(sample: str, least: int) -> str | None:
    """The language of a sample of prose, by at least so many common words where its script does not tell."""
    if (script := _script(sample)) is not None:
        return script
    words = re.findall(r"[^\W\d_]+", sample.lower())
    hits = {code: sum(w in common for w in words) for code, common in COMMON}
    best = max(hits, key=hits.__getitem__)
    return best if hits[best] >= least and hits[best] > len(words) * WORD_SHARE else None


def _script(sample: str) -> str | None:
    """The script other than Latin that a fair share of the sentences is in."""
    letters = 0
    shares = dict.fromkeys(SCRIPTS, 0)
    for sentence in SENTENCE_END.split(sample):
        own = sum(map(str.isalpha, sentence))
        letters += own
        if not sentence.isascii() and (code := _script_of(sentence, own, SENTENCE_SHARE)) is not None:
            shares[code] += own
    best = max(shares, key=shares.__getitem__)
    return best if shares[best] > letters * SHARE else None


def _script_of(text: str, letters: int, share: float) -> str | None:
    """The script, other than Latin, of more than a share of a text's letters."""
    for code, pattern in SCRIPTS.items():
        found = len(pattern.findall(text))
        # Japanese is told from Chinese by any fair share of kana.
        if code == "ja" and found > letters * KANA_SHARE:
            found += len(SCRIPTS["zh"].findall(text))
        if found > letters * share:
            return code
    return None


def _sample(texts: Iterable[str]) -> str:
    """The prose that the first texts begin with; where there is none, what they begin with."""
    prose: list[str] = []
    whole: list[str] = []
    room, to_read = ROOM, READ_ROOM
    for text in texts:
        whole.append(text[:SAMPLE])
        prose.append(_prose(text, min(READ, to_read))[: min(SAMPLE, room)])
        room -= len(prose[-1]) + 1
        to_read -= min(READ, len(text)) + 1
        if room <= 0 or to_read <= 0:
            break
    joined = "\n".join(prose)
    return joined if any(map(str.isalpha, joined)) else "\n".join(whole)[:ROOM]


def _prose(text: str, length: int) -> str:
    """Return the beginning of a text, of so many characters, without its code and what programs print."""
    read = text[:length]
    pieces, done = [], 0
    for start, end in find_fences(read, is_cut=len(text) > length):
        pieces += [read[done:start], "\n"]
        done = end
    lines = INLINE.sub(" ", "".join([*pieces, read[done:]])).split("\n")
    return "\n".join(line for line in lines if not _is_technical(line))


def _is_technical(line: str) -> bool:
    words = line.split()
    coded = sum(CODE_WORD.search(word) is not None for word in words)
    return 2 * coded >= max(1, len(words)) or PRINTED.match(line) is not None


PHRASES = {lexicon.code: lexicon.phrases for lexicon in LEXICONS if lexicon.phrases is not None}


def get_phrases(code: str) -> Phrases:
    """The phrases of a language; English where there are none."""
    return PHRASES.get(code, PHRASES["en"])
