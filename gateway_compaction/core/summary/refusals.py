"""Answers of a model that are no summary: refusals, error texts, and next to nothing.

A summary may begin like one of them ("Rate limiting was added to the gateway …"), so what a text begins with
counts only where the whole of it is short. In the tags that were asked for an answer is believed sooner.
"""

from __future__ import annotations

import regex

__all__ = ["is_no_summary"]

# UTF-8 bytes up to which an answer is short: without tags, and within them. A Chinese character says as much
# as three English ones.
SHORT_REFUSAL, SHORT_FAULT = (1_000, 300), (400, 160)

START = r"(?i)^\W*+(?:(?:summary|answer|response|note)\b\W++)?"
NOTHING = r"""
ok|okay|sure|done|null|none|nil|undefined|unknown|empty|n/?a|nothing|no (?:summary|content|answer)
(?:no |nothing )?(?:available|to summari[sz]e|to report)|no summary (?:is )?(?:available|possible)|errors?
(?:no |the )?summary (?:is |was )?(?:currently )?(?:not |un)available|(?:none|all) of the above|to ?do|tb[dc]
yes|no|understood|acknowledged|noted|got it|i see|roger|right|alright|all right|great|perfect|certainly
of course|absolutely|will do|thanks|thank you|hello|hi|hey|true|false|ready|placeholder|ja|nein|verstanden
alles klar|gut|danke|oui|non|compris|d['’]accord|bien sûr|merci|sí|si|entendido|vale|claro|gracias|sim|não
certo|obrigado|capito|va bene|grazie|begrepen|anladım|tamam|evet|hayır|rozumiem|tak|vâng|да|нет|понял|понятно
хорошо|네|예|아니요|알겠습니다|확인했습니다|はい|いいえ|了解(?:です|しました)?|承知(?:しました|いたしました)
わかりました|好的?|是的?|不是|明白了?|收到|知道了|نعم|لا|حسنا|כן|לא|ναι|όχι
failed|failure|time ?out|timed out|summary|fehler|erreur|erro|errore|fout|hata|błąd|lỗi|ошибка|오류|에러
エラー|错误|錯誤|خطأ|שגיאה|ข้อผิดพลาด|त्रुटि|σφάλμα|없음|なし|无|無|нет|keine?s?|aucune?|ninguno
"""
# What speaks of itself: a summary speaks of others.
REFUSALS = r"""
(?:i|we)(?: (?:am|are|was|were)|['’]m|['’]re) (?:\w+ ){0,2}?(?:sorry|unable|not able|afraid)\b
sorry\b(?=\W*+(?:$|[,.!;:—–-]|but\b|i\b|we\b))|(?:my |our |please accept )?(?:\w+ ){0,2}?apologies\b
(?:i|we) (?:\w+ ){0,3}?apologi[sz]e\b|i (?:\w+ )?regret\b|regrettably,? i\b
unfortunately,? (?:i|we|it is not possible|it['’]s not possible|this request|there (?:is|was) no)\b
(?:i|we) (?:\w+ )?(?:can ?not|can['’]t|couldn['’]t|could not|won['’]t|will not|(?:must )?decline)\b
(?:i|we) (?:(?:must|have to|need to|will) )?(?:\w+ )?(?:decline|refuse)\b
i (?:understand|acknowledge|have (?:read|received|noted|reviewed))\b|i(?:['’]m| am) ready\b
i(?:['’]d| would) be (?:happy|glad|pleased) to\b|i(?:['’]ll| will) (?:help|assist|summari[sz]e|be happy)\b
your (?:request|prompt|message|input|question|content) (?:was|has been|is|could not be|can ?not be) \w
content (?:filter|moderation)(?: (?:was |has been )?(?:triggered|activated))?\W*+$
content (?:was |has been )?(?:blocked|filtered|flagged)\b
i (?:do not|don['’]t) (?:have|see|feel|think|know)\b|i have no (?:access|way|information|conversation)\b
i(?:['’]m| am) (?:just |only )?an? (?:ai|(?:large )?language model)\b
i(?: would|['’]d)? need (?:more|the)\b
as an? (?:ai|artificial intelligence)(?: language)?(?: model| assistant| system)?+(?=\s*+[,;]|\s++i\b)
as an? (?:large )?language model\b
(?:there (?:is|was|are) )?(?:no|nothing) (?:\w+ ){0,3}?to summari[sz]e\b
no (?:\w+ ){0,3}?(?:was|were|is|has been) (?:provided|given|included|found)\b
please provide\b|you (?:have not|haven['’]t|did not|didn['’]t) provide
it (?:seems|looks|appears) (?:that |like )?(?:you|there is no|no)\b
(?:the|your) (?:transcript|conversation|message) (?:is|was|seems|appears to be) (?:empty|missing|blank)\b
(?:es )?tut mir (?:\w+ )?leid\b|entschuldig(?:ung|en sie|e,)\b|leider (?:kann|konnte|darf|bin|habe) ich\b
leider ist (?:es mir|das nicht)\b|(?:das|dies|dies\w+ \w+) (?:kann|konnte|darf) ich (?:\w+ ){0,4}?nicht\b
(?:dabei|damit|hierbei|dazu) (?:kann|konnte|darf) ich (?:\w+ ){0,4}?nicht\b
(?:eine )?zusammenfassung (?:ist )?(?:leider )?nicht (?:möglich|verfügbar)\b
ich kann (?:\w+ ){1,6}?nicht\b|ich bin nicht in der lage\b|als ki(?:-\w+)?\b
als sprachmodell\b
je suis (?:vraiment )?(?:désolée?|navrée?)\b|désolée?\b(?=\W*+(?:$|[,.!;]|mais\b|je\b))|je m['’]excuse\b
(?:cela|ça) (?:m['’]est im|n['’]est pas )possible\b|(?:il m['’]est )?impossible de (?:résumer|fournir)\b
je (?:ne|n['’]) ?(?:\w+ )?(?:peux|puis|suis|pourrai|ai)\b|malheureusement,? je\b
en tant qu['’](?:ia|intelligence|assistant|une? (?:ia|modèle))\b|en tant que modèle\b
lo siento\b|lamento\b|disculp[ae]\b|(?:lamentablemente|desafortunadamente),? no\b
(?:eso|esto) no (?:lo )?puedo\b|no es posible (?:resumir|ayudar)\b
no (?:puedo|me es posible)\b|como (?:un )?(?:modelo de l|ia,|inteligencia artificial)|desculpe
sinto muito\b|infelizmente,? (?:eu )?não (?:posso|consigo)\b|(?:eu )?não (?:posso|consigo)\b
como (?:uma? )?modelo de linguagem\b|mi dispiace\b|mi scuso\b|purtroppo non posso\b|non posso\b
questo non posso\b|(?:non è possibile|impossibile) riassumere\b|não (?:é possível|pude) resumir\b
non sono in grado\b|come (?:modello|intelligenza artificiale|ia,)
(?:dat|dit) kan ik (?:\w+ ){0,3}?niet\b|nie jestem w stanie\b|tego nie mogę\b
это я не могу\b|не могу (?:помочь|обобщить|выполнить)
het spijt me\b|helaas kan ik\b|ik kan (?:\w+ ){1,6}?niet\b|als (?:ai|taalmodel)\b|üzgünüm\b|özür dilerim\b
maalesef\b|bunu yapamam\b|przepraszam\b|przykro mi\b|niestety,? nie (?:mogę|jestem)\b|nie mogę\b
jako (?:model językowy|ai)\b|(?:tôi )?(?:rất )?(?:xin lỗi|tiếc)\b|tôi không thể\b
извините|простите|к сожалению,? я\b|я не могу\b|как (?:языковая модель|ии)\b|λυπάμαι|συγγνώμη
δυστυχώς,? δεν|δεν μπορώ|عذر|آسف|أعتذر|للأسف|لا أستطيع|لا يمكنني|(?:אני )?מצטער|סליחה|לצערי|אני לא יכול
איני יכול|क्षमा|मुझे खेद|माफ़|माफ|मैं यह नहीं|ขออภัย|ขอโทษ|ฉันไม่สามารถ|ผมไม่สามารถ
죄송|미안하지만|유감|(?:저는 |이 대화를 |대화를 )?(?:요약|제공|도와)\S*(?: 드릴)? 수 없(?:습니다|어요)
(?:이 |해당 |귀하의 )?요청\S* (?:\S+ )?(?:처리|응답|도와|수행)\S*(?: 드릴)? 수 없
(?:この|その)?(?:リクエスト|ご要望|ご依頼)\S{0,12}(?:できません|できかねます)
(?:无法|無法)(?:处理|處理|协助|協助|完成|回答|满足|提供)(?:您|你|该|該|此|这|這)
AI 언어 모델|저는 AI|申し訳|すみません|ごめんなさい|恐れ入りますが|要約できません|お手伝いできません
AI(?:言語)?モデルとして|私はAI|很?抱歉|对不起|對不起|很遗憾|很遺憾|我(?:无法|無法|不能)
(?:无法|無法)(?:总结|總結|提供摘要)|作为(?:一个|一名)?(?:AI|人工智能|语言模型)
"""
# What is said of whoever was asked is a refusal only if it is all that is said.
REFUSED = (
    r"(?:(?:the|this|your) )?(?:assistant|model|ai|chatbot) (?:\w+ ){0,2}?"
    r"(?:can ?not|can['’]t|could not|couldn['’]t|will not|won['’]t|unable to|(?:refuse|decline)[sd](?: to)?)"
    r" (?:help|assist|comply|process|summari[sz]e|provide|complete|answer|respond|do|fulfil+)"
    r"(?:(?: \w+){0,4}? (?:requests?|this|that|it|you|conversation|transcript|content|summary|text|chat))?"
    r"(?:,? (?:because|as|since|due to)\b[^.]{0,80}\b(?:polic|guideline|safety|filter)\w*)?\W*+$"
)
BLOCKED = (
    r"(?:(?:the|this) )?(?:request|prompt|message|input|content|response|answer|output|summary)"
    r" (?:(?:was|has been|is) )?(?:\w+ )?"
    r"(?:blocked|filtered|flagged|rejected|refused|withheld|removed|declined)\b"
    r"[^.;]{0,60}?\b(?:(?:content|safety|usage) ?\w* ?(?:filter|polic|system|guideline)|moderation)"
)
# What a failing program prints; "errors were fixed" and "rate limiting was added" are none of it.
FAULTS = r"""
(?:\w*error|\w*exception|fatal|failure|failed)\s*+[:!]
error (?:code|status|\d|occurred)
error (?:while |when |in )?(?:generating|creating|processing|calling|summari[sz]ing|fetching|connecting)
(?:an?|some) (?:\w+ ){0,2}?error (?:has |was )?(?:occurred|encountered|happened)\b
(?:oops|something went wrong)\b
failed to (?:generate|create|summari[sz]e|connect|fetch|parse|process|get|load)\b
(?:http )?(?:50[0234] )?internal server error(?=\s*+(?:$|[^\w\s/]|please|try))
(?:http )?(?:50[0234] )?(?:bad gateway|service (?:\w+ )?unavailable|gateway time-?out)(?=\s*+(?:$|[^\w\s/]))
http (?:error )?[45]\d\d\b|[45]\d\d [a-z ]+error\b
(?:the |your )?(?:request|connection) (?:has |was )?(?:timed out|aborted|refused|reset|cancell?ed|failed)\b
request time-?out\b|connection error\b|you (?:have )?exceeded your\b
(?:your )?quota (?:was |has been )?exceeded\b|too many requests\b
rate[- ]limit(?:ed|s)?(?:\W*+$|\s++(?:was |has been )?(?:exceeded|reached|hit)\b(?! errors| responses))
(?:the |this )?model(?: \S+)? (?:is )?(?:currently |temporarily )?(?:overloaded|unavailable|not found)\b
(?:the |this )?model(?: \S+)? does not exist\b
this model['’]s maximum context\b|context length exceeded\b|(?:invalid|incorrect) api key\b
authentication (?:error|failed)\b|unauthori[sz]ed\b\W*+$|insufficient (?:quota|credits|balance)\b
(?:fehler|erreur|erro|errore|fout|hata|błąd|lỗi|ошибка|오류|에러|エラー|错误|錯誤)\s*+[:：]
(?:خطأ|שגיאה|σφάλμα)\s*+:
(?:es ist )?ein fehler (?:ist )?aufgetreten|fehler bei\w*|une erreur (?:est survenue|s['’]est produite)
(?:se (?:ha producido|produjo)|ha ocurrido|ocurrió) un error|ocorreu um erro|si è verificato un errore
er is een fout opgetreden|bir hata oluştu|wystąpił błąd|đã xảy ra lỗi|произошла ошибка|حدث خطأ|אירעה שגיאה
παρουσιάστηκε σφάλμα|เกิดข้อผิดพลาด|(?:एक )?त्रुटि|(?:요약 중 )?오류가 발생|エラーが発生
(?:发生|發生)(?:了)?(?:错误|錯誤)
"""
# What a program printed, whole; without tags it is never a summary, however long.
PRINTED = r"""
traceback \(most recent call last\)|traceback\W*+$|<!doctype\b|<html\b
[\[{]\s*+(?:[\[{]\s*+)?\"(?:error|errors|detail|message|code|name|tool|function)\"
"""


def _any_of(phrases: str) -> str:
    return "(?:" + "|".join(phrases.strip().splitlines()) + ")"


IS_NOTHING = regex.compile(rf"(?i)^\W*+{_any_of(NOTHING)}?\W*+$")
IS_REFUSAL = regex.compile(START + _any_of(f"{REFUSALS.strip()}\n{REFUSED}\n{BLOCKED}"))
IS_FAULT = regex.compile(START + _any_of(FAULTS))
IS_PRINTED = regex.compile(rf"(?i)^[^\w<\[{{]*+{_any_of(PRINTED)}")


def is_no_summary(text: str, *, tagged: bool) -> bool:
    """Whether a text is a refusal, an error text or next to nothing; ``tagged`` if it stood in its tags."""
    size = len(text.encode("utf-8", "replace"))
    return bool(
        IS_NOTHING.match(text)
        or (size <= SHORT_REFUSAL[tagged] and IS_REFUSAL.match(text))
        or (size <= SHORT_FAULT[tagged] and IS_FAULT.match(text))
        or ((size <= SHORT_REFUSAL[tagged] or not tagged) and IS_PRINTED.match(text))
    )
