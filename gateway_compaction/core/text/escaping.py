"""Texts of strangers made harmless: no line of theirs passes for a turn, nor a tag for one of ours.

Whatever is summarised or quoted was written by users and tools. A line "system: ..." or a closing
tag in it would give its author the gateway's voice.
"""

from __future__ import annotations

from unicodedata import normalize

import regex

OWN_TAGS = regex.compile(
    r"(?i)<(?=\s*+(?:/\s*+)?"
    r"(?:conversation_summary|summary|transcript|previous_summary|task|rules|anchors|pins|recall"
    r"|restored_conversation|recent_dialog)\b)"
)
# Other forms of plain characters, and characters that are shown as nothing: both may stand within a tag.
OTHER_FORM = regex.compile(r"\p{NFKC_QC=No}")
UNSEEN = regex.compile(r"[\p{DI}\p{Cf}\x00-\x08\x0e-\x1f\x7f]++")
# The three forms of an opening bracket.
OPENING = regex.compile("[<\ufe64\uff1c]")
# The beginning of a line, whatever breaks lines.
LINE = r"(?im)(?:^|(?<=[\r\v\f\x85\u2028\u2029]))"
ROLE = r"(?:user|assistant|system|developer|human|ai|tool)"
ROLE_LINE = regex.compile(rf"{LINE}(?=[ \t]*+{ROLE}\s*+:)")
# Labels such as those of transcripts, quotes and extracts.
LABEL_LINE = regex.compile(
    rf"{LINE}(?=[ \t]*+(?:[-*][ \t]*+)?\[[ \t]*+(?:\d++[ \t]*+\]|\d*+[ \t]*+{ROLE}\b))"
)


def escape_tags(text: str) -> str:
    """Return a text that cannot close or open a tag of ours, in whatever characters it is written."""
    plain = str(OWN_TAGS.sub("‹", text))
    if not OPENING.search(plain) or not (OTHER_FORM.search(plain) or UNSEEN.search(plain)):
        return plain
    read = UNSEEN.sub("", OTHER_FORM.sub(lambda form: normalize("NFKC", form[0]), plain))
    # No brackets come or go by that: what is the n-th in one is the n-th in the other.
    tags = {tag.start() for tag in OWN_TAGS.finditer(read)}
    ours = (bracket.start() in tags for bracket in OPENING.finditer(read))
    return str(OPENING.sub(lambda bracket: "‹" if next(ours) else bracket[0], plain))


def escape_markup(text: str, *, labelled: bool = False) -> str:
    """Return a text in which no line passes for a turn, nor a tag for one of ours.

    With ``labelled`` the labels of our own extracts and quotes stay: the text is one that we wrote.
    """
    plain = ROLE_LINE.sub("| ", escape_tags(text))
    return str(plain if labelled else LABEL_LINE.sub("| ", plain))
