"""The language of a conversation, and the few sentences that the gateway says in it.

A summary in another language than the conversation's turns the model's answers to that language. Scripts tell
most languages; among those in Latin letters the commonest words do.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from gateway_compaction.core.conversation.messages import Message, declared_role, role_of, text_of
from gateway_compaction.core.text.fences import find_fences
from gateway_compaction.core.text.lexicon import LEXICONS, Phrases

NAMES = {lexicon.code: lexicon.name for lexicon in LEXICONS}
# Characters of prose that decide: of each text, and in all.
SAMPLE = 4_000
ROOM = 16_000
# Characters that are read to find the prose: of each text, and in all.
READ = 16_000
READ_ROOM = 128_000
# A sentence is in a script by more than this share of its letters ...
SENTENCE_SHARE = 0.2
# ... a conversation by more than this share of the letters, in such sentences.
SHARE = 0.1
# So large a share of kana among the letters tells Japanese from Chinese.
KANA_SHARE = 0.1
# So many common words of a language must be among what users say, and more than this share of all words.
LEAST_WORDS = 3
WORD_SHARE = 0.05
# A script is foreign to a conversation where no more than this share of its characters is in it ...
KNOWN_SHARE = 0.01
# ... and fewer than so many: these are always enough to know it.
KNOWN = 200
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
    """Return the ISO code of the language that the prose of some texts is in; English when in doubt."""
    return _detect(_take_sample(texts), 1) or "en"


def detect_conversation_language(messages: Sequence[Message]) -> str:
    """Return the ISO code of a conversation's language: the users', where what they say tells it."""
    users = _take_sample(text_of(m) for m in messages if role_of(m) == "user")
    texts = (text_of(m) for m in messages if declared_role(m) in ("user", "assistant"))
    return _detect(users, LEAST_WORDS) or detect_language(texts)


def is_foreign_script(text: str, said: Iterable[str]) -> bool:
    """Tell whether a text is in a script that what was ``said`` is not in; Latin is nobody's alone."""
    sample = text[:SAMPLE]
    code = _find_script(sample, sum(map(str.isalpha, sample)), 0.5)
    if code is None:
        return False
    known = length = 0
    for part in said:
        known += len(SCRIPTS[code].findall(part))
        length += len(part)
        if known >= KNOWN:
            return False
    return length > 0 and known <= length * KNOWN_SHARE


def _detect(sample: str, least: int) -> str | None:
    """Return the language of a sample, by its script or by at least ``least`` common words; None in doubt."""
    if (script := _detect_script(sample)) is not None:
        return script
    words = re.findall(r"[^\W\d_]+", sample.lower())
    hits = {code: sum(w in common for w in words) for code, common in COMMON}
    best = max(hits, key=hits.__getitem__)
    return best if hits[best] >= least and hits[best] > len(words) * WORD_SHARE else None


def _detect_script(sample: str) -> str | None:
    """Return the script other than Latin that a fair share of the sentences is in."""
    letters = 0
    shares = dict.fromkeys(SCRIPTS, 0)
    for sentence in SENTENCE_END.split(sample):
        own = sum(map(str.isalpha, sentence))
        letters += own
        if not sentence.isascii() and (code := _find_script(sentence, own, SENTENCE_SHARE)) is not None:
            shares[code] += own
    best = max(shares, key=shares.__getitem__)
    return best if shares[best] > letters * SHARE else None


def _find_script(text: str, letters: int, share: float) -> str | None:
    """Return the script, other than Latin, of more than a share of a text's letters."""
    for code, pattern in SCRIPTS.items():
        found = len(pattern.findall(text))
        # Japanese is told from Chinese by any fair share of kana.
        if code == "ja" and found > letters * KANA_SHARE:
            found += len(SCRIPTS["zh"].findall(text))
        if found > letters * share:
            return code
    return None


def _take_sample(texts: Iterable[str]) -> str:
    """Return the prose that the first texts begin with; where there is none, what they begin with."""
    prose: list[str] = []
    whole: list[str] = []
    room, to_read = ROOM, READ_ROOM
    for text in texts:
        whole.append(text[:SAMPLE])
        prose.append(_strip_code(text, min(READ, to_read))[: min(SAMPLE, room)])
        room -= len(prose[-1]) + 1
        to_read -= min(READ, len(text)) + 1
        if room <= 0 or to_read <= 0:
            break
    joined = "\n".join(prose)
    return joined if any(map(str.isalpha, joined)) else "\n".join(whole)[:ROOM]


def _strip_code(text: str, length: int) -> str:
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
    """Return the phrases of a language; the English ones where it has none."""
    return PHRASES.get(code, PHRASES["en"])
