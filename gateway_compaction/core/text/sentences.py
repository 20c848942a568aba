"""Where sentences begin and end."""

from __future__ import annotations

import re

__all__ = ["sentence_spans", "sentences"]

# A mark before a space ends a sentence, a CJK mark always does, and so does a line break.
END = re.compile(r"[.!?][\"'”’)\]]*(?=\s)|[。！？]|\n")
NEXT = re.compile(r"[^\S\n]{1,4}[\"'“‘„«(]?([^\W_]{1,14})")
# What stands before a full stop is read only so far.
LOOK_BACK = 24
OPENING = "([{\"'“‘„«*_"
# Behind these something follows, whatever it begins with.
ABBREVIATIONS = frozenset(
    "mr mrs ms dr prof messrs mx hon rev gen capt lt sgt col gov sen rep st ste mme mlle mgr e.g i.e vs cf"
    " viz resp ca bzw z.b d.h u.a u.ä s.o s.u o.ä i.d.r vgl evtl ggf inkl exkl zzgl abzgl hr dipl ing mag"
    " p.ex ej p.ej sr sra srta dra d.ª uds ud vd vds av avda bd nr art abs ziff kap fig figs eq tab vol pp"
    " tel str hausnr nº т.е т.к г ул".split()
)
STREET = ("str", "strasse")
# Behind these a sentence may end: it does before what usually begins one.
ENDINGS = frozenset(
    "etc usw inc ltd co corp jr sr bros llc a.m p.m u.s u.k e.u min max sec approx est dept"
    " ave blvd rd apt ext ed eds al jan feb mar apr jun jul aug sep sept oct nov dec okt dez mrz janv févr"
    " avr juil déc ene abr ago dic u.s.a ph.d b.a m.a d.c".split()
)
STARTERS = frozenset(
    "a an the i we you he she it they this that these those there here my our your his her their if when"
    " while in on at for from to with so but and or please always never do don does did make use no not what"
    " how why where who which is are was can could would will should let thanks thank also then now after"
    " before only remember keep note avoid stop answer reply write ask tell and just yes ok"
    " der die das den dem ein eine ich wir sie es er bitte immer nie niemals nicht kein keine und aber oder"
    " wenn wie was wo warum danke auch dann jetzt nur verwende nenne antworte"
    " le la les un une je nous vous il elle on ne toujours jamais si merci et mais ou"
    " el los las una yo no nunca siempre si por gracias y pero".split()
)
MONTHS = frozenset(
    "january february march april may june july august september october november december jan feb mar apr"
    " jun jul aug sep sept oct nov dec januar jänner februar märz mai juni juli oktober dezember"
    " janvier février mars avril juin juillet août septembre octobre novembre décembre"
    " enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre"
    " gennaio febbraio aprile maggio giugno luglio settembre ottobre dicembre januari februari maart".split()
)
# A number with a full stop behind one of these is the third, not three.
BEFORE_ORDINALS = frozenset("am im der die das den dem des vom zum zur beim bis ab seit zwischen".split())
LONGEST_ORDINAL = 2


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """Start and end of every sentence, blank space around it left out."""
    spans = []
    start = 0
    ends = (m.end() for m in END.finditer(text) if m[0][0] != "." or _ends(text, m.start(), m.end()))
    for end in [*ends, len(text)]:
        piece = text[start:end]
        if stripped := piece.strip():
            first = start + piece.index(stripped[0])
            spans.append((first, first + len(stripped)))
        start = end
    return spans


def sentences(text: str) -> list[str]:
    """The sentences of a text, verbatim."""
    return [text[a:b] for a, b in sentence_spans(text)]


def _ends(text: str, stop: int, after: int) -> bool:
    """Whether a full stop ends its sentence, and not an abbreviation, an initial or an ordinal."""
    following = NEXT.match(text, after)
    before = text[max(0, stop - LOOK_BACK) : stop]
    if following is None or after > stop + 1 or not before or not before[-1].isalnum():
        return True
    words = before.rsplit(None, 2)
    word, follows = words[-1].lstrip(OPENING).lower(), following[1]
    if word.isdigit():
        earlier = words[-2].lower() if len(words) > 1 else ""
        return not _is_ordinal(word, earlier, follows)
    if word in ABBREVIATIONS or (word.endswith(STREET) and follows[0].isdigit()):
        return False
    if word in ENDINGS or (len(word) == 1 and word != "i" and word.upper() != word):
        return not (follows[0].islower() or follows[0].isdigit()) and _begins_another(word, follows)
    return word != "no" or not follows[0].isdigit()


def _begins_another(word: str, follows: str) -> bool:
    """Whether a capitalised word behind a possible abbreviation begins a sentence."""
    return follows.lower() in STARTERS or (len(word) > 1 and word not in {"inc", "co", "st"})


def _is_ordinal(number: str, before: str, follows: str) -> bool:
    if len(number) > LONGEST_ORDINAL:
        return False
    return follows.lower() in MONTHS or follows[0].islower() or before in BEFORE_ORDINALS
