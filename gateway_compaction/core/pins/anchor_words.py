"""The words by which importance is told: marks, requests to remember, decisions, findings."""

from __future__ import annotations

import re
from collections.abc import Mapping

__all__ = ["CODE", "CUES", "DECISION", "FAULT", "FINDING", "MARK", "REMEMBER", "UNDECIDED"]

MARK = re.compile(r"(?i)<!--\s*anchor\s*-->")
REMEMBER = re.compile(
    r"(?i)(?<!i )(?<!you )(?<!we )(?<!n't )(?<!not )\bremember\b"
    r"(?: that\b| to\b| this\b| my\b| our\b| the\b|,|:)"
    r"|\b(?:do not|don['’]t) forget\b|\b(?:keep|bear) in mind\b|\bnote that\b|\btake note\b"
    r"|\bfor the record\b|\bimportant(?:ly)?[:!]"
    r"|기억해|기억하|잊지\s?마|명심|覚えて|忘れないで|記憶して|记住|記住|别忘|別忘|牢记"
    r"|\bmerke? dir\b|\bvergiss nicht\b|\bdenk(?:e)? daran\b"
    r"|\bsouviens-toi\b|\bn['’]oublie|\bretiens\b|\brecuerda\b|\bno olvides\b|\bten en cuenta\b"
)
DECISION = re.compile(
    r"(?i)\b(?:we|i|they|you|team)(?:['’]ve| have| had)?(?: all)? (?:decided|agreed|settled|opted)\b"
    r"|\bwe(?:['’]ve| have)? chosen?\b"
    r"|\b(?:was|is|been|it['’]s) (?:decided|agreed|settled)\b|\b(?:decided|agreed|opted) (?:to|on|that|for)\b"
    r"|\bdecision:|\bfinal decision\b|\bagreed:|\bsettled on\b"
    r"|\blet['’]?s (?:go with|use|stick with|settle on)\b"
    r"|\b(?:we|i)(?:['’]ll| will| are| am|['’]re|['’]m) (?:go|going) with\b"
    r"|결정(?:했|하였|됐|되|함|:|입니다|사항)|하기로\s?(?:했|하|결정|합의)|합의(?:했|됐|함)|확정(?:했|됐|함|되)|채택"
    r"|決定|決めた|決めました|決まりました|ことにし(?:た|ます|ました)|合意し"
    r"|决定|敲定|商定|约定|就用|我们用|採用|采用"
    r"|\b(?:entschieden|beschlossen|festgelegt)\b|\bwir nehmen\b"
    r"|\b(?:avons|ai|a|est|été) (?:décidé|choisi|convenu)|\bon part sur\b"
    r"|\b(?:decidido|decidimos|acordado|acordamos|quedamos en)\b|\bvamos con\b"
)
UNDECIDED = re.compile(
    r"(?i)\b(?:not|never|n['’]t|nothing|yet)\b[^.]{0,20}\b(?:decided|agreed|settled)\b|\bundecided\b"
    r"|\b(?:if|whether|once|until|unless|before) (?:we|i|they|it|you)\b[^.]{0,30}\b(?:decide|agree|settle)"
    r"|아직|미정|결정(?:하지|되지|할지|해야)|未決|未定|決まっていません|还没|還沒|尚未|没有决定"
    r"|noch nicht|pas encore|aún no|todavía no"
)
FINDING = re.compile(
    r"(?i)\b(?:errors?|exception|fail(?:ed|ures?|s)?|fatal|denied|refused|not found|timed? ?out(?!-)"
    r"|created|deleted|updated|completed|succeeded|success|confirmed|cancell?ed)\b"
    r"|(?<![\w.])\d+ passed\b|\b(?:total|result|exit code|status)\b(?:\W?:|=)\s?\S"
    r"|오류|에러|실패|성공|완료|エラー|失敗|成功|完了|错误|失败|完成"
)
FAULT = re.compile(r"(?i)\W*(?:\w*error\b|fatal\b|failed\b|failure\b|denied\b|exception\b)")
# A line of a program that a tool read aloud tells of no outcome.
CODE = re.compile(
    r"^\s*(?:def|class|return|raise|import|from|if|elif|else|for|while|try|except|assert|const|let|var|function"
    r"|throw|catch|public|private|static|async|await|export)\b"
    r"|^\s*(?:#|//|/\*|\*|<\w)|[;{]\s*$|\w\([^)]*\)\s*[:,;]?\s*$"
)
CUES: Mapping[str, tuple[str, ...]] = {
    "said": tuple(
        "<!--|remember|forget|in mind|note that|take note|for the record|important|기억|잊지|명심|覚えて"
        "|忘れないで|記憶して|记住|記住|别忘|別忘|牢记|merk|vergiss|daran|souviens|oublie|retiens|recuerda|olvides"
        "|en cuenta|decided|decision|agreed|settled|chose|opted|let's|let’s|lets |going with|go with|결정"
        "|기로|합의|확정|채택|決定|決め|決まり|ことにし|合意|决定|敲定|商定|约定|就用|我们用|採用|采用|entschieden|beschlossen"
        "|festgelegt|wir nehmen|décidé|choisi|convenu|on part sur|decid|acord|quedamos|vamos con".split("|")
    ),
    "tool": tuple(
        "error|exception|fail|passed|fatal|denied|refused|not found|timeout|time out|timed out|created"
        "|deleted|updated|completed|succe|total|result|exit code|status|confirmed|cancel"
        "|오류|에러|실패|성공|완료|エラー|失敗|成功|完了|错误|失败|完成".split("|")
    ),
}
