"""Text of strangers that cannot pass for a tag or a turn of ours."""

from __future__ import annotations

from unicodedata import normalize

import regex

OWN_TAGS = regex.compile(
    r"(?i)<(?=\s*+(?:/\s*+)?"
    r"(?:conversation_summary|summary|transcript|previous_summary|task|rules|anchors|pins|recall)\b)"
)


# Other forms of plain characters, and characters that are shown as nothing: both may stand within a tag.
OTHER_FORM, UNSEEN = (
    regex.compile(r"\p{NFKC_QC=No}"),
    regex.compile(r"[\p{DI}\p{Cf}\x00-\x08\x0e-\x1f\x7f]++"),
)


OPENING = regex.compile("[<\ufe64\uff1c]")


LINE = r"(?im)(?:^|(?<=[\r\v\f\x85\u2028\u2029]))"


ROLE = r"(?:user|assistant|system|developer|human|ai|tool)"


ROLE_LINE = regex.compile(rf"{LINE}(?=[ \t]*+{ROLE}\s*+:)")


# Labels such as those of transcripts, quotes and extracts.
LABEL_LINE = regex.compile(
    rf"{LINE}(?=[ \t]*+(?:[-*][ \t]*+)?\[[ \t]*+(?:\d++[ \t]*+\]|\d*+[ \t]*+{ROLE}\b))"
)


def escape_tags(text: str) -> str:
    """Text that cannot close or open a tag of ours, in whatever characters it is written."""
    plain = str(OWN_TAGS.sub("‹", text))
    if not OPENING.search(plain) or not (OTHER_FORM.search(plain) or UNSEEN.search(plain)):
        return plain
    read = UNSEEN.sub("", OTHER_FORM.sub(lambda form: normalize("NFKC", form[0]), plain))
    # No brackets come or go by that: what is the n-th in one is the n-th in the other.
    tags = {tag.start() for tag in OWN_TAGS.finditer(read)}
    ours = (bracket.start() in tags for bracket in OPENING.finditer(read))
    return str(OPENING.sub(lambda bracket: "‹" if next(ours) else bracket[0], plain))


def escape_markup(text: str, *, labelled: bool = False) -> str:
    """Text in which no line passes for a turn, nor a tag for one of ours; if ``labelled``, labels stay."""
    plain = ROLE_LINE.sub("| ", escape_tags(text))
    return str(plain if labelled else LABEL_LINE.sub("| ", plain))
