"""By which words a sentence takes an earlier rule back, and which words two sentences have in common."""

from __future__ import annotations

import regex

from gateway_compaction.core.text.terms import search_terms

__all__ = ["changes", "content_words"]

LONGEST_CHANGE = 300
# Marks that nothing else is needed beside.
PLAIN = regex.compile(
    r"(?i)\bfrom (?:now|here|today|this point) on\b|\bno longer\b|\bcorrection\b|\bi was wrong\b"
    r"|\bchanged my mind\b"
    r"|\bon second thoughts?\b|\bscrap (?:that|the)\b|\bi take (?:that|it) back\b|\b(?:forget|ignore"
    r"|drop) (?:the|my|what)\b"
    r"|\b(?:is|are) (?:fine|ok|okay|allowed|all right|good) (?:again|now)\b|\bnot (?:\w+ ){0,4}any ?more\b"
    r"|\bab (?:jetzt|sofort|heute)\b|\bvon nun an\b|\bdoch (?:wieder|lieber)\b|\bnicht mehr\b"
    r"|\bstattdessen\b|\bkorrektur\b"
    r"|\bwieder (?:erlaubt|in ordnung|okay|ok)\b|\bdésormais\b|\bdorénavant\b|à partir de maintenant"
    r"|\bde nouveau\b"
    r"|\bà nouveau\b|\bfinalement\b|\bon peut de nouveau\b|a partir de ahora|de ahora en adelante"
    r"|desde ahora|\bya no\b"
    r"|\bde nuevo\b|\botra vez\b|\bcorrección\b"
    r"|이제부터|이제는|지금부터|앞으로는|이젠|정정|취소|더 이상|다시 .{0,30}(?:괜찮|돼|됩니다|주세요|줘|해도)"
    r"|これからは|今後は|これから|やっぱり|やはり|訂正|取り消|もう.{0,20}(?:いい|構い|大丈夫)|また.{0,20}(?:いい|構い|大丈夫)"
    r"|今后|今後|从现在(?:起|开始)|從現在|改为|改成|更正|不再|不用再|取消|又可以|现在可以|还是.{0,12}(?:吧|好)"
)
# Marks that may stand in any tale: only beside a wish or a leave.
VAGUE = regex.compile(
    r"(?i)\b(?:actually|again|instead|now|after all|any ?more|rather|wieder|jetzt|doch|plutôt|en fait"
    r"|maintenant"
    r"|ahora|mejor|en realidad)\b|다시|대신|이제|그냥|現在|现在|其实|今は"
)
REQUEST_NOTICE = regex.compile(
    r"(?i)^\W*(?:(?:actually|ok|okay|now|well|sorry|hm+|no)[, ]+)*(?:please|use|answer|reply|respond|write"
    r"|speak|switch"
    r"|go back|send|ship|call|quote|show|include|add|stop|keep|make it|change|let['’]s|bitte|antworte"
    r"|schreib|nimm|nenne"
    r"|réponds|écris|utilise|responde|escribe|usa)\b"
    r"|\b(?:fine|ok|okay|allowed|alright|all right|acceptable|permitted|welcome|erlaubt|in ordnung|permis"
    r"|permitido)\b"
    r"|\byou (?:can|may|should|do not have|don['’]t have|need not|don['’]t need)\b|\bdu (?:kannst"
    r"|darfst)\b|\btu peux\b"
    r"|\bpuedes\b|괜찮|주세요|줘|해도|세요|いいです|ください|可以|请"
)
TELLS = regex.compile(
    r"(?i)^\W*(?:i(?:['’]m| am|['’]ve| have| just| started| was(?! wrong))|he|she|they|we)\b"
)
# No change without one of these: most sentences are told by looking for them alone.
CUES = tuple(
    "from |no longer|correction|wrong|my mind|thought|scrap|back|forget|ignore|drop|fine|ok|allowed"
    "|all right|good"
    "|more|ab jetzt|ab sofort|ab heute|von nun|wieder|lieber|mehr|stattdessen|korrektur|désormais"
    "|dorénavant|partir"
    "|nouveau|finalement|ahora|ya no|de nuevo|otra vez|corrección|actually|again|instead|now|after all"
    "|rather|jetzt"
    "|doch|plutôt|en fait|maintenant|mejor|en realidad"
    "|이제|지금부터|앞으로|이젠|정정|취소|더 이상|다시|대신|그냥"
    "|これから|今後|やっぱり|やはり|訂正|取り消|もう|また|今は|今后|从现在|從現在|改为|改成|更正|不再|不用再|取消"
    "|可以|还是|現在|现在|其实".split("|")
)
HANGUL = regex.compile(r"\p{Hangul}{2,}")
HAN = regex.compile(r"[\p{Han}\p{Katakana}ー]{2,}")
SPACELESS = regex.compile(r"[\p{Han}\p{Hangul}\p{Katakana}\p{Hiragana}]++")
# Said in rules and changes of every kind.
IDLE = frozenset(
    [
        *search_terms(
            "always never please actually again instead longer correction fine allowed good still want"
            " need make sure"
            " every time remember now anymore here today point wrong mind back forget ignore first must"
            " also rather"
            " bitte immer nie niemals nicht mehr kein keine keinen jetzt wieder doch und oder der die das"
            " den dem ein"
            " eine einen ich du sie wir es ist sind mit auf für von zu im in am ab nun an mir mich nur"
            " je tu vous nous le la les un une des de du en et ou est sont que qui ne pas plus jamais"
            " toujours pour"
            " avec sur dans à partir maintenant désormais mon ma mes moi"
            " yo tú el los las una y o es son que no ya siempre nunca por para con en de del a partir"
            " ahora me mi mis"
        ),
        *"이제 앞으 항상 절대 주세 마세 말아 해주 하지 다시 지금 반드 그냥 대신"
        " 모든 않았 좋겠 정정 취소 괜찮 해도".split(),
        *"今后 以后 从现 现在 在开 开始 今後 必须 绝对 絶対 不要 可以 現在"
        " 请用 取消 更正 改为 改成 所有 一律 以後".split(),
    ]
)


def changes(said: str) -> bool:
    """Whether a sentence may take an earlier rule back, or change it."""
    if len(said) > LONGEST_CHANGE or said.rstrip().endswith(("?", "？")):
        return False
    lower = said.lower()
    if not any(cue in lower for cue in CUES) or TELLS.match(said):
        return False
    return bool(PLAIN.search(said) or (VAGUE.search(said) and REQUEST_NOTICE.search(said)))


def content_words(said: str) -> frozenset[str]:
    """What a sentence is about: terms, beginnings of Korean words, pairs of Han and kana."""
    words = {w[:2] for w in HANGUL.findall(said)}
    words |= {run[i : i + 2] for run in HAN.findall(said) for i in range(len(run) - 1)}
    return frozenset(words.union(search_terms(SPACELESS.sub(" ", said))) - IDLE)
