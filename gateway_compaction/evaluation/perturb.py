"""Asking for a sentence in other words: particles changed, spaces moved, the order turned around.

Deterministic: the same sentence is changed the same way on every machine.
"""

from __future__ import annotations

import random

import regex

from gateway_compaction.core.text.terms import STOP_WORDS

__all__ = ["asked_anew", "script_of"]

HANGUL, KANA, HAN = (regex.compile(rf"\p{{{name}}}") for name in ("Hangul", "Hiragana", "Han"))
PUNCTUATION = regex.compile(r"[\p{P}\p{S}]+")
KOREAN_ENDING = regex.compile(
    r"(?<=\p{Hangul}{2})(?:에서는|에서|에게|으로|까지|부터|이랑|은|는|이|가|을|를|에|의|로|와|과|도|만)$"
)
KOREAN_OTHER = {
    "은": "이",
    "이": "은",
    "는": "가",
    "가": "는",
    "을": "도",
    "를": "은",
    "의": "",
    "에": "에서",
}
JAPANESE_PARTICLE = regex.compile(
    r"(?<=[\p{Han}\p{Katakana}])(?:では|には|から|まで|は|が|を|に|で|と|も|の|へ)"
)
JAPANESE_OTHER = {"は": "が", "が": "は", "を": "は", "に": "へ", "も": "は", "の": ""}
CHINESE_PARTICLE = regex.compile(r"[的了吗呢吧啊呀嘛着]")


def script_of(text: str) -> str:
    """``ko``, ``ja``, ``zh`` or ``other``: what changes to a text keep its meaning."""
    letters = sum(c.isalpha() for c in text) or 1
    if len(HANGUL.findall(text)) / letters > 0.3:
        return "ko"
    kana, han = len(KANA.findall(text)), len(HAN.findall(text))
    if (kana + han) / letters > 0.3:
        return "ja" if kana > 0.1 * letters else "zh"
    return "other"


def asked_anew(text: str) -> str:
    """A question for a sentence, its particles, spaces and order changed; the content words stay."""
    return f"{_changed(text)}?"


def _changed(text: str) -> str:
    dice = random.Random(text)
    script = script_of(text)
    plain = " ".join(PUNCTUATION.sub(" ", text).split())
    if script == "ko":
        return _respaced(_turned([_korean(w) for w in plain.split()], dice), dice)
    if script == "ja":
        changed = JAPANESE_PARTICLE.sub(lambda m: JAPANESE_OTHER.get(m.group(), ""), plain)
        return _respaced(_turned(_runs(changed, dice), dice), dice)
    if script == "zh":
        return _respaced(_turned(_runs(CHINESE_PARTICLE.sub("", plain), dice), dice), dice)
    words = [w for w in plain.lower().split() if w not in STOP_WORDS]
    return " ".join(_turned(words, dice))


def _korean(word: str) -> str:
    return str(KOREAN_ENDING.sub(lambda m: KOREAN_OTHER.get(m.group(), ""), word))


def _turned(words: list[str], dice: random.Random) -> list[str]:
    """The second part before the first."""
    cut = dice.randint(1, max(1, len(words) - 1)) if len(words) > 1 else 0
    return [*words[cut:], *words[:cut]]


def _runs(text: str, dice: random.Random) -> list[str]:
    """Unspaced text in pieces of four to eight characters; words of other scripts stay whole."""
    pieces: list[str] = []
    for word in text.split():
        size = dice.randint(4, 8)
        pieces += [word] if word.isascii() else [word[i : i + size] for i in range(0, len(word), size)]
    return pieces


def _respaced(words: list[str], dice: random.Random) -> str:
    """No spaces at all, or one in the middle of every other word, or as it was."""
    way = dice.choice(("none", "more", "same"))
    if way == "more":
        words = [
            w[: len(w) // 2] + " " + w[len(w) // 2 :] if len(w) > 3 and i % 2 else w
            for i, w in enumerate(words)
        ]
    glue = "" if way == "none" else " "
    return "".join(w + (glue if not w.isascii() else " ") for w in words).strip()
