"""The words of error texts in other languages than English, as pieces of regular expressions.

These are words of servers, not of the people who talk to a model, so they are no part of the lexicon. They
only add to what the numbers themselves tell. A language is one row; each field holds the beginnings of words
with one meaning, so that their endings need no list.
"""

from __future__ import annotations

from typing import NamedTuple


class _Words(NamedTuple):
    """One language.

    Attributes:
        context: the context of a model.
        limit: the most that is allowed.
        excess: that something is longer than something: the limit follows, or nothing.
        long: that something is too long.
        given: what was sent.
        output: the answer that was asked for.
        units: what else is counted: characters.
        account: what is of a time or an account, not of a request: daily, quota.
    """

    context: str
    limit: str
    excess: str
    long: str
    given: str
    output: str
    units: str
    account: str


_LANGUAGES = (
    _Words(  # German
        "kontext",
        "höchst|maximal|erlaub|zuläss|obergrenze",
        "überschreite[nt]|übersteig",
        "zu lang|zu groß|zu viele",
        "eingabe",
        "ausgabe|antwort",
        "zeichen",
        "täglich|monatlich|pro (?:tag|monat|stunde|minute)|heute|kontingent|guthaben",
    ),
    _Words(  # French
        "contexte|fenêtre",
        "maxim|autoris|limite",
        "dépass|excèd",
        "trop long|trop grand|trop de",
        "entrée",
        "sortie|réponse",
        "caractères?",
        "quotidien|mensuel|par (?:jour|mois|heure|minute)|quota|solde",
    ),
    _Words(  # Spanish, Portuguese, Italian
        "contexto|contesto|ventana|janela",
        "máxim|massim|límite|permitid|consentit",
        "excede|supera",
        "demasiad[oa]s?|muito long|troppo lung|longa demais|longo demais",
        "entrada|ingresso",
        "salida|saída|respuesta|resposta|risposta",
        "caracteres|caratteri",
        "diari[oa]|diári[oa]|giornalier|mensual|mensal|mensil"
        "|(?:por|al) (?:día|dia|giorno|mes|mese|minuto)|cuota|cota|saldo",
    ),
    _Words(  # Russian
        "контекст",
        "максим|лимит|допустим",
        "превыша|превыси",
        "слишком (?:длин|больш|мног)",
        "ввод|вход",
        "вывод|ответ",
        "символ",
        "дневн|суточн|месячн|в (?:день|сутки|месяц|час|минуту)|квот|баланс",
    ),
    _Words(  # Chinese
        "上下文",
        "最大|最长|最多|上限|限制|不能超过|不得超过",
        "超过|超出|大于|超過",
        "过长|超长|过大|太长|太多|過長|超长",
        "输入|輸入",
        "输出|輸出|回答|回复",
        "字符|个字|字节",
        "每日|每天|每月|每小时|每分钟|当日|今日|配额|额度|余额|并发",
    ),
    _Words(  # Japanese
        "コンテキスト|コンテクスト",
        "最大|上限|制限",
        "を超え|超過",
        "長すぎ|大きすぎ|多すぎ",
        "入力",
        "出力|応答",
        "文字|バイト",
        "日あたり|毎日|一日|月間|時間あたり|分あたり|割り当て|クォータ|残高",
    ),
    _Words(  # Korean
        "컨텍스트|문맥",
        "최대|한도|제한",
        "초과|넘었|넘습",
        "너무 (?:길|깁|많|큽|크)",
        "입력",
        "출력|응답",
        "글자|바이트",
        "일일|하루|월간|시간당|분당|할당량|쿼터|잔액",
    ),
)


def _join(*pieces: str) -> str:
    return "|".join(pieces)


CONTEXT = _join(*(words.context for words in _LANGUAGES))
LIMIT = _join(*(words.limit for words in _LANGUAGES))
EXCESS = _join(*(words.excess for words in _LANGUAGES))
TOO_LONG = _join(EXCESS, *(words.long for words in _LANGUAGES))
INPUT = _join(*(words.given for words in _LANGUAGES))
OUTPUT = _join(
    r"\b(?:completion|output|answer|response|new tokens)\b", *(words.output for words in _LANGUAGES)
)
CHARACTERS = _join(*(words.units for words in _LANGUAGES))
ACCOUNT = _join(*(words.account for words in _LANGUAGES))
WHAT_IS_LONG = _join(CONTEXT, INPUT, r"(?<![a-z])(?:prompt|context|sequence|inputs?)(?![a-z])")
SUBJECT = _join(WHAT_IS_LONG, r"(?<![a-z])(?:tokens?|jetons?)(?![a-z])|токен|令牌|トークン|토큰")
