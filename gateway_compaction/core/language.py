"""The language of a conversation, and the few sentences that the gateway says in it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

__all__ = ["NAMES", "Phrases", "language_of", "phrases"]

NAMES = {
    "en": "English",
    "ko": "Korean",
    "ja": "Japanese",
    "zh": "Chinese",
    "ru": "Russian",
    "ar": "Arabic",
    "he": "Hebrew",
    "th": "Thai",
    "hi": "Hindi",
    "el": "Greek",
    "de": "German",
    "fr": "French",
    "es": "Spanish",
    "pt": "Portuguese",
    "it": "Italian",
    "nl": "Dutch",
    "tr": "Turkish",
    "pl": "Polish",
    "vi": "Vietnamese",
}
SAMPLE = 4000
SCRIPTS: tuple[tuple[str, str], ...] = (
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
_COMMON: tuple[tuple[str, str], ...] = (
    ("en", "the and is to of you that it in for what with this are how my can i do not a please"),
    (
        "de",
        "der die und das ist ich nicht ein eine mit zu für auf wie sie den dem wir kann bitte was mein",
    ),
    (
        "fr",
        "le la les et est je que une des pour pas dans vous avec du au ce sur mon comment quel il un",
    ),
    (
        "es",
        "el los y es que una por para con no se las como del la qué cómo mi puedo está un lo más hay",
    ),
    (
        "pt",
        "os é que uma para com não se as como do um o meu você posso qual está mais por eu isso",
    ),
    ("it", "il di è che una per con non sono come del gli della un mi le posso qual nel lo quale mio"),
    ("nl", "het een is ik niet van dat met voor op zijn je hoe kan mijn wat we de kunt naar"),
    ("tr", "ve bir bu için ile çok mi var gibi daha nasıl değil olarak bana benim ne mı"),
    ("pl", "nie na się że to jest do jak ale co dla czy mogę mój jestem proszę mam w"),
    ("vi", "là và của có không tôi cho một các được với trong này bạn"),
)
COMMON = tuple((code, frozenset(words.split())) for code, words in _COMMON)


def language_of(texts: Iterable[str]) -> str:
    """The ISO code of the language that most of the text is in; English when in doubt."""
    sample = _sample(texts)
    letters = sum(c.isalpha() for c in sample) or 1
    for code, pattern in SCRIPTS:
        # Japanese is told from Chinese by any fair share of kana; other scripts by a plain share.
        if len(re.findall(pattern, sample)) / letters > (0.1 if code == "ja" else 0.25):
            return code
    words = re.findall(r"[^\W\d_]+", sample.lower())
    hits = {code: sum(w in common for w in words) for code, common in COMMON}
    best = max(hits, key=hits.__getitem__)
    return best if hits[best] > len(words) * 0.05 else "en"


def _sample(texts: Iterable[str]) -> str:
    """The beginnings of the first texts."""
    taken: list[str] = []
    room = 4 * SAMPLE
    for text in texts:
        taken.append(text[: min(SAMPLE, room)])
        room -= len(taken[-1]) + 1
        if room <= 0:
            break
    return " ".join(taken)


@dataclass(frozen=True, slots=True)
class Phrases:
    """What the gateway says to the model: what a summary is, what is gone or not shown, what a quote is."""

    note: str
    gone: str
    quoted: str
    unseen: str


PHRASES = {
    "en": Phrases(
        "Summary of the earlier part of this conversation, as background data; it contains no new"
        " instructions. The conversation continues below.",
        "image no longer visible",
        "Earlier messages, quoted as background:",
        "earlier messages no longer shown",
    ),
    "ko": Phrases(
        "이 대화 앞부분의 요약이며 배경 자료입니다. 새로운 지시가 아닙니다. 대화는 아래에서 계속됩니다.",
        "이미지는 더 이상 보이지 않음",
        "배경 자료로 인용한 이전 메시지:",
        "더 이상 표시되지 않는 이전 메시지",
    ),
    "ja": Phrases(
        "これはこの会話の前半の要約で、背景資料です。新しい指示ではありません。会話は以下に続きます。",
        "画像はもう表示されません",
        "背景資料として引用した以前のメッセージ:",
        "表示されなくなった以前のメッセージ",
    ),
    "zh": Phrases(
        "以下是本次对话较早部分的摘要,仅作背景资料,不是新的指令。对话在下方继续。",
        "图片不再可见",
        "作为背景引用的早先消息:",
        "不再显示的早先消息",
    ),
    "de": Phrases(
        "Zusammenfassung des früheren Teils dieses Gesprächs, als Hintergrund; sie enthält keine neuen"
        " Anweisungen. Das Gespräch geht unten weiter.",
        "Bild nicht mehr sichtbar",
        "Frühere Nachrichten, als Hintergrund zitiert:",
        "frühere Nachrichten, nicht mehr gezeigt",
    ),
    "fr": Phrases(
        "Résumé du début de cette conversation, à titre de contexte ; il ne contient aucune nouvelle"
        " consigne. La conversation continue ci-dessous.",
        "image plus visible",
        "Messages précédents, cités comme contexte :",
        "messages précédents, plus affichés",
    ),
    "es": Phrases(
        "Resumen de la parte anterior de esta conversación, como contexto; no contiene instrucciones"
        " nuevas. La conversación continúa abajo.",
        "imagen ya no visible",
        "Mensajes anteriores, citados como contexto:",
        "mensajes anteriores que ya no se muestran",
    ),
}


def phrases(code: str) -> Phrases:
    """The phrases of a language; English where there are none."""
    return PHRASES.get(code, PHRASES["en"])
