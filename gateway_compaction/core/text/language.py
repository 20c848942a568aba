"""The language of a conversation, and the few sentences that the gateway says in it.

A summary in another language than the conversation's turns the model's answers to that language, and a
related one is no better: Ukrainian is not Russian, Galician is not Portuguese. So a language is named only
where py3langid, a naive Bayes classifier of 139 languages that its wheel brings along, is sure of it. In
doubt, and for languages that have no name here, the order is to write in the language of the conversation,
and the notes are English. Counting the commonest words of some languages cannot tell that a text is in none
of them.

Scripts are looked for first, sentence by sentence: a Korean who pastes English logs writes Korean.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any

from gateway_compaction.core.conversation.messages import (
    Message,
    declared_role,
    is_restored,
    role_of,
    text_of,
)
from gateway_compaction.core.text.fences import find_fences
from gateway_compaction.core.text.lexicon import LEXICONS, Phrases

TRADITIONAL = "zh-Hant"
# Languages that are told well and of which the lexicon knows nothing yet.
_FURTHER = (
    "af Afrikaans, az Azerbaijani, be Belarusian, bg Bulgarian, bn Bengali, ca Catalan, cs Czech, "
    "cy Welsh, da Danish, et Estonian, eu Basque, fa Persian, fi Finnish, ga Irish, gl Galician, "
    "gu Gujarati, hr Croatian, hu Hungarian, hy Armenian, id Indonesian, is Icelandic, ka Georgian, "
    "kk Kazakh, km Khmer, kn Kannada, lo Lao, lt Lithuanian, lv Latvian, mk Macedonian, ml Malayalam, "
    "mn Mongolian, mr Marathi, ms Malay, my Burmese, ne Nepali, no Norwegian, pa Punjabi, ps Pashto, "
    "ro Romanian, si Sinhala, sk Slovak, sl Slovenian, so Somali, sq Albanian, sr Serbian, sv Swedish, "
    "sw Swahili, ta Tamil, te Telugu, tl Tagalog, uk Ukrainian, ur Urdu, uz Uzbek, yue Cantonese"
)
NAMES = {
    **dict(entry.split(" ", 1) for entry in _FURTHER.split(", ")),
    TRADITIONAL: "Traditional Chinese",
    **{lexicon.code: lexicon.name for lexicon in LEXICONS},
}
UNNAMED = "the language of the conversation"
# So sure the classifier must be. Of short texts in languages that it confuses it was never surer than 0.9.
SURE = 0.9
# Labels of the classifier for what is written alike: the written language has them all.
WRITTEN_AS = {"ary": "ar", "arz": "ar", "nn": "no", "wuu": "zh"}
# Vowel points and ligatures, which Hebrew is not written with; Yiddish is, and the classifier has none of it.
POINTED = re.compile("[\u05b0-\u05c7\u05f0-\u05f2]")
POINTED_SHARE = 0.02
# A longer sample is classified by so many parts of it, of so many characters: more says no more.
PARTS, PART = 4, 1_000
# Users whose words are rather in one language, and not in another by more than this share, do not speak that.
LIKELY, UNLIKELY = 0.5, 0.05
# The Chinese characters of one of these and not of the other are simplified, or traditional.
SIMPLIFIED_SET, TRADITIONAL_SET = "gb2312", "big5"
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
# Users who say less than so many letters do not tell the language of a conversation in Latin letters.
LEAST_LETTERS = 20
# A script is foreign to a conversation where no more than this share of its characters is in it ...
KNOWN_SHARE = 0.01
# ... and fewer than so many: these are always enough to know it.
KNOWN = 200
_SCRIPTS: tuple[tuple[str, str], ...] = (
    ("Hangul", "[\uac00-\ud7a3\u1100-\u11ff]"),
    ("kana", "[\u3040-\u30ff]"),
    ("Han", "[\u4e00-\u9fff]"),
    ("Cyrillic", "[\u0400-\u04ff]"),
    ("Arabic", "[\u0600-\u06ff]"),
    ("Hebrew", "[\u0590-\u05ff]"),
    ("Thai", "[\u0e00-\u0e7f]"),
    ("Devanagari", "[\u0900-\u097f]"),
    ("Greek", "[\u0370-\u03ff]"),
)
SCRIPTS = {name: re.compile(characters) for name, characters in _SCRIPTS}
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


@cache
def load_classifier() -> Any:
    """Return the classifier; the first call takes half a second, so a gateway makes it when it starts."""
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)


def detect_language(texts: Iterable[str]) -> str | None:
    """Return the ISO code of the language that the prose of some texts is in, None in doubt."""
    return _find_sure(_rank(_take_sample(texts)))


def detect_conversation_language(messages: Sequence[Message]) -> str | None:
    """Return the ISO code of a conversation's language, None in doubt: the users', where they say enough.

    Where they do not, all is looked at; but not even then is it one that they plainly do not speak.
    """
    messages = [message for message in messages if not is_restored(message)]
    users = _rank(_take_sample(text_of(m) for m in messages if role_of(m) == "user"), LEAST_LETTERS)
    if (code := _find_sure(users)) is not None:
        return code
    code = detect_language(text_of(m) for m in messages if declared_role(m) in ("user", "assistant"))
    is_another = code is not None and users.get(code, 0.0) < UNLIKELY
    return None if is_another and max(users.values(), default=0.0) > LIKELY else code


def name_language(code: str | None) -> str:
    """Return the name by which an order says in which language to write."""
    return NAMES.get(code or "", UNNAMED)


def is_foreign_script(text: str, said: Iterable[str]) -> bool:
    """Tell whether a text is in a script that what was ``said`` is not in; Latin is nobody's alone."""
    sample = text[:SAMPLE]
    script = _find_script(sample, sum(map(str.isalpha, sample)), 0.5)
    if script is None:
        return False
    known = length = 0
    for part in said:
        known += len(SCRIPTS[script].findall(part))
        length += len(part)
        if known >= KNOWN:
            return False
    return length > 0 and known <= length * KNOWN_SHARE


def _find_sure(ranking: Mapping[str, float]) -> str | None:
    """Return the language of a ranking that is sure and has a name here."""
    best = max(ranking, key=ranking.__getitem__, default=None)
    return best if best in NAMES and ranking[best] >= SURE else None


def _rank(sample: str, least: int = 1) -> dict[str, float]:
    """Return how likely languages are for a sample; none where it has fewer than so many Latin letters."""
    script, text = _keep_script(sample)
    if sum(map(str.isalpha, text)) < (least if script is None else 1):
        return {}
    text = _shorten_sample(text)
    if script == "Hebrew" and len(POINTED.findall(text)) > len(text) * POINTED_SHARE:
        return {}
    # Lone surrogates are no text; the classifier would take their bytes for letters.
    ranked = load_classifier().rank(text.encode("utf-8", "ignore").decode("utf-8"))
    ranking: dict[str, float] = {}
    for label, share in ranked:
        code = WRITTEN_AS.get(label, label)
        code = _find_chinese(text) if code == "zh" else code
        ranking[code] = ranking.get(code, 0.0) + share
    return ranking


def _shorten_sample(text: str) -> str:
    """Return some parts of a long text, evenly spread: its beginning alone may be a quote."""
    if len(text) <= PARTS * PART:
        return text
    step = (len(text) - PART) // (PARTS - 1)
    return "\n".join(text[start : start + PART] for start in range(0, PARTS * step, step))


def _find_chinese(text: str) -> str:
    """Tell the two ways to write Chinese by the characters that only one of them has."""
    characters = SCRIPTS["Han"].findall(text)
    simplified, traditional = (
        {c for c in characters if c.encode(charset, "ignore")}
        for charset in (SIMPLIFIED_SET, TRADITIONAL_SET)
    )
    only = [(c in simplified) - (c in traditional) for c in characters]
    return "zh" if sum(only) >= 0 else TRADITIONAL


def _keep_script(sample: str) -> tuple[str | None, str]:
    """Return the script other than Latin of a fair share of the sentences, and what is written in it.

    Where there is none, the whole sample is returned.
    """
    letters = 0
    written: dict[str, list[str]] = {name: [] for name in SCRIPTS}
    shares = dict.fromkeys(SCRIPTS, 0)
    for sentence in SENTENCE_END.split(sample):
        own = sum(map(str.isalpha, sentence))
        letters += own
        if not sentence.isascii() and (name := _find_script(sentence, own, SENTENCE_SHARE)) is not None:
            shares[name] += own
            written[name].append(sentence)
    best = max(shares, key=shares.__getitem__)
    if shares[best] <= letters * SHARE:
        return None, sample
    # Sentences of Japanese may be without kana.
    same = ("kana", "Han") if best in ("kana", "Han") else (best,)
    return best, "\n".join(sentence for name in same for sentence in written[name])


def _find_script(text: str, letters: int, share: float) -> str | None:
    """Return the script, other than Latin, of more than a share of a text's letters."""
    for name, pattern in SCRIPTS.items():
        found = len(pattern.findall(text))
        # Japanese is told from Chinese by any fair share of kana.
        if name == "kana" and found > letters * KANA_SHARE:
            found += len(SCRIPTS["Han"].findall(text))
        if found > letters * share:
            return name
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


def get_phrases(code: str | None) -> Phrases:
    """Return the phrases of a language; the English ones where it has none, or is not known."""
    return PHRASES.get(code or "", PHRASES["en"])
