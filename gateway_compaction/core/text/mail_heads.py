"""Heads of mails, and the lines above quoted and forwarded ones, in whatever language."""

from __future__ import annotations

from collections.abc import Sequence

import regex

from gateway_compaction.core.text.lexicon import pattern_of
from gateway_compaction.core.text.own_labels import RULES_HEAD
from gateway_compaction.core.text.source_words import BODIES

# Lines that make the head of a mail: with an address among them, or with none but an empty line behind.
HEAD_LINES, HEAD_LINES_APART = 2, 3
# A line that parts a forwarded mail from what is said about it, in whatever language.
PARTED = regex.compile(r"[ \t]*-{5,}[ \t]*\p{L}[^\n]{2,60}?-{3,}[ \t]*$")
ADDRESS = regex.compile(r"[\w.+-]{1,64}@[\w-]{1,64}\.\w")
MAIL_HEAD = regex.compile(rf"[ \t>*]*(?:{pattern_of('mail_headers')})[ \t*]*(?::[ \t*]+|：[ \t*]*)\S")
# The subject of a mail that was forwarded, where it heads the text: the mail follows behind a gap.
FORWARDED = regex.compile(r"[ \t>*]*(?:(?:Fwd?|FWD?|WG|RV|转发|轉寄|転送|전달) ?|TR )[:：][ \t]*\S")
# A header of a mail in any language: a name, and an address in brackets.
ADDRESSED = regex.compile(rf"[ \t>*]*\p{{L}}[\p{{L}} \-]{{0,15}}[*]* ?:[^\n]*<{ADDRESS.pattern}")
# The author of a mail on a line of its own, as web pages show one.
AUTHOR = regex.compile(rf"[ \t]*\p{{Lu}}[^\n<>@:]{{1,60}}<{ADDRESS.pattern}[^\s<>]{{0,40}}>[ \t]*$")
# A line that may be a further header: a name and a value.
FIELD = regex.compile(r"[ \t>*]*\p{L}[\p{L} \-]{0,15}[*]* ?:[ \t]+\S")
# The text of a mail as a program hands it on: "Body: ...".
BODY = regex.compile(rf"(?i)[ \t>*]*(?:{'|'.join(sorted(BODIES))}|message)[*]*:[ \t]+\S")
# The line above a quoted mail in any language: "On Monday Ann Berg <ann@example.com> wrote:".
WROTE = regex.compile(rf"[ \t]*\p{{L}}[^\n]{{5,150}}?{ADDRESS.pattern}[^\n]{{0,40}}:[ \t]*$")


def is_mail_line(lines: Sequence[str], i: int) -> bool:
    """Tell whether a mail begins on a line or below it: at its head, or at the line that introduces it."""
    line = lines[i]
    return (
        (line[:1] in "- \t" and PARTED.match(line) is not None and not RULES_HEAD.search(line))
        or ("@" in line and (WROTE.match(line) is not None or AUTHOR.match(line) is not None))
        or _is_mail_head(lines, i)
        or (FORWARDED.match(line) is not None and i + 1 < len(lines) and not lines[i + 1].strip())
    )


def _is_mail_head(lines: Sequence[str], i: int) -> bool:
    """Tell whether the head of a mail begins on a line: headers with an address, or three and a gap."""
    if ADDRESSED.match(lines[i]) and i + 1 < len(lines) and FIELD.match(lines[i + 1]):
        return True
    if MAIL_HEAD.match(lines[i]) is None or (i and MAIL_HEAD.match(lines[i - 1])):
        return False
    if ADDRESS.search(lines[i]) and i + 1 < len(lines) and BODY.match(lines[i + 1]):
        return True
    end = i
    while end < len(lines) and MAIL_HEAD.match(lines[end]):
        end += 1
    if end - i >= HEAD_LINES and any(ADDRESS.search(line) for line in lines[i:end]):
        return True
    return end - i >= HEAD_LINES_APART and end < len(lines) and not lines[end].strip()
