"""Ask for a sentence in other words: particles changed, spaces moved, the order turned around.

It is deterministic: the same sentence is changed the same way on every machine, so that figures can be
compared.
"""

from __future__ import annotations

import random

import regex

from gateway_compaction.core.text.terms import STOP_WORDS

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
    """Return ``ko``, ``ja``, ``zh`` or ``other``: the script decides which changes keep a text's meaning."""
    letters = sum(c.isalpha() for c in text) or 1
    if len(HANGUL.findall(text)) / letters > 0.3:
        return "ko"
    kana, han = len(KANA.findall(text)), len(HAN.findall(text))
    if (kana + han) / letters > 0.3:
        return "ja" if kana > 0.1 * letters else "zh"
    return "other"


def rephrase_as_question(text: str) -> str:
    """Return a question for a sentence: its content words stay, what stands around them changes.

    In Korean, Japanese and Chinese particles and spaces change; elsewhere stop words go and the halves change
    places.
    """
    return f"{_rephrase(text)}?"


def _rephrase(text: str) -> str:
    dice = random.Random(text)
    script = script_of(text)
    plain = " ".join(PUNCTUATION.sub(" ", text).split())
    if script == "ko":
        return _move_spaces(_swap_halves([_change_particle(w) for w in plain.split()], dice), dice)
    if script == "ja":
        changed = JAPANESE_PARTICLE.sub(lambda m: JAPANESE_OTHER.get(m.group(), ""), plain)
        return _move_spaces(_swap_halves(_split_unspaced(changed, dice), dice), dice)
    if script == "zh":
        return _move_spaces(_swap_halves(_split_unspaced(CHINESE_PARTICLE.sub("", plain), dice), dice), dice)
    words = [w for w in plain.lower().split() if w not in STOP_WORDS]
    return " ".join(_swap_halves(words, dice))


def _change_particle(word: str) -> str:
    return str(KOREAN_ENDING.sub(lambda m: KOREAN_OTHER.get(m.group(), ""), word))


def _swap_halves(words: list[str], dice: random.Random) -> list[str]:
    """Put the second part before the first."""
    cut = dice.randint(1, max(1, len(words) - 1)) if len(words) > 1 else 0
    return [*words[cut:], *words[:cut]]


def _split_unspaced(text: str, dice: random.Random) -> list[str]:
    """Divide unspaced text into pieces of four to eight characters; words of other scripts stay whole."""
    pieces: list[str] = []
    for word in text.split():
        size = dice.randint(4, 8)
        pieces += [word] if word.isascii() else [word[i : i + size] for i in range(0, len(word), size)]
    return pieces


def _move_spaces(words: list[str], dice: random.Random) -> str:
    """Join with no spaces at all, or with one in the middle of every other word, or as it was."""
    way = dice.choice(("none", "more", "same"))
    if way == "more":
        words = [
            w[: len(w) // 2] + " " + w[len(w) // 2 :] if len(w) > 3 and i % 2 else w
            for i, w in enumerate(words)
        ]
    glue = "" if way == "none" else " "
    return "".join(w + (glue if not w.isascii() else " ") for w in words).strip()
