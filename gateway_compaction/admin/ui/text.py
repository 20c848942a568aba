"""Text by strangers, and figures, as they are shown: nothing invisible, nothing without end."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from datetime import UTC, datetime
from urllib.parse import quote

from markupsafe import Markup, escape

__all__ = [
    "BODY_CHARS",
    "HEAD_CHARS",
    "LABEL_CHARS",
    "Folded",
    "ago",
    "compact",
    "fold",
    "money",
    "percent",
    "plain",
    "plural",
    "quoted",
    "short",
    "span",
    "stamp",
    "thousands",
    "visible",
]

HEAD_CHARS = 400
BODY_CHARS = 20_000
LABEL_CHARS = 80
# What a reader would not see, or what would rearrange what is seen: controls, bidi marks, zero-width
# characters, tags, fillers and lone surrogates. Joiners stay: scripts and emoji need them.
HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u200f"
    "\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e0fff]"
)
# Names rather than the symbols that Unicode has for controls: many fonts lack those.
CONTROLS = tuple(
    "NUL SOH STX ETX EOT ENQ ACK BEL BS HT LF VT FF CR SO SI DLE DC1 DC2 DC3 DC4 NAK SYN ETB CAN EM SUB ESC"
    " FS GS RS US".split()
)
NAMES = {
    "\x7f": "DEL",
    "\u061c": "ALM",
    "\u200e": "LRM",
    "\u200f": "RLM",
    "\u202a": "LRE",
    "\u202b": "RLE",
    "\u202c": "PDF",
    "\u202d": "LRO",
    "\u202e": "RLO",
    "\u2066": "LRI",
    "\u2067": "RLI",
    "\u2068": "FSI",
    "\u2069": "PDI",
}
UNITS = ((86_400, "d"), (3600, "h"), (60, "min"))
SCALES = ((1_000_000_000, "B"), (1_000_000, "M"), (1000, "k"))


@dataclass(frozen=True, slots=True)
class Folded:
    """A text to be shown in two steps: its beginning, then up to ``BODY_CHARS`` of it; ``total`` in all."""

    head: str
    body: str
    total: int

    @property
    def long(self) -> bool:
        """Whether there is more than the beginning."""
        return self.total > len(self.head)

    @property
    def cut(self) -> bool:
        """Whether the rest is only in the export."""
        return self.total > len(self.body)


def fold(text: str, head: int = HEAD_CHARS, body: int = BODY_CHARS) -> Folded:
    """``text`` in two steps; what is short comes whole in the first."""
    return Folded(text[:head], text[:body], len(text))


def _symbol(char: str) -> str:
    code = ord(char)
    return f"⟨{CONTROLS[code] if code < len(CONTROLS) else NAMES.get(char, f'U+{code:04X}')}⟩"


def plain(text: object) -> str:
    """``text`` with a visible symbol for every character that hides or rearranges others."""
    return HIDDEN.sub(lambda found: _symbol(found.group()), str(text).replace("\r\n", "\n"))


def visible(text: object) -> Markup:
    """The same for HTML, escaped, the symbols marked so that they are not taken for the text's own."""
    parts, last = list[str](), 0
    source = str(text).replace("\r\n", "\n")
    for found in HIDDEN.finditer(source):
        parts.append(str(escape(source[last : found.start()])))
        parts.append(f'<span class="ctl" title="{_name(found.group())}">{_symbol(found.group())}</span>')
        last = found.end()
    parts.append(str(escape(source[last:])))
    return Markup("".join(parts))  # every part was escaped above


def _name(char: str) -> str:
    return f"U+{ord(char):04X} {unicodedata.name(char, 'control character').lower()}"


def quoted(text: object) -> str:
    """``text`` as a value in an address."""
    return quote(str(text), safe="", errors="replace")


def short(text: object, chars: int = LABEL_CHARS) -> str:
    """One line of at most ``chars``."""
    line = " ".join(str(text)[: chars * 4].split())
    return line if len(line) <= chars else line[: chars - 1] + "…"


def thousands(number: float) -> str:
    """A whole number with separators."""
    return f"{number:,.0f}"


def compact(number: float) -> str:
    """A number in three digits: 940, 12.3k, 4.56M."""
    size = abs(number)
    for scale, letter in SCALES:
        if size >= scale * 0.9995:
            value = number / scale
            digits = 2 if abs(value) < 9.995 else 1 if abs(value) < 99.95 else 0
            return (
                f"{value:.{digits}f}".rstrip("0").rstrip(".") + letter if digits else f"{value:.0f}{letter}"
            )
    return f"{number:.0f}"


def plural(number: int, word: str) -> str:
    """A number with its word."""
    return f"{thousands(number)} {word}{'' if number == 1 else 's'}" if number else f"no {word}s"


def percent(share: float) -> str:
    """A share as per cent; small ones with a digit more."""
    value = share * 100
    return f"{value:.1f} %" if 0 < abs(value) < 10 and round(value, 1) != round(value) else f"{value:.0f} %"


def money(dollars: float) -> str:
    """Dollars; below a cent with enough digits to be seen."""
    # What would be rounded to a cent is one.
    if dollars and abs(dollars) < 0.00995:
        shown = f"${abs(dollars):.4f}" if abs(dollars) >= 0.00005 else "<$0.0001"
        return f"{'-' if dollars < 0 else ''}{shown}"
    return f"{'-' if dollars < 0 else ''}${abs(dollars):,.2f}"


def span(seconds: float) -> str:
    """A length of time in its largest unit."""
    for unit, name in UNITS:
        if seconds >= unit:
            return f"{seconds / unit:.0f} {name}"
    return f"{max(seconds, 0):.0f} s"


def ago(then: float, now: float) -> str:
    """How long ago, in words."""
    if not then:
        return "never"
    return "just now" if now - then < 60 else f"{span(now - then)} ago"


def stamp(at: float) -> str:
    """A time of day with its date, in UTC."""
    try:
        return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    except (OverflowError, OSError, ValueError):
        return "at no known time"
