"""Make text by strangers, and figures, fit to be shown: nothing invisible, nothing without end."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from datetime import UTC, datetime
from urllib.parse import quote

from markupsafe import Markup, escape

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
    """Return ``text`` in two steps; what is short comes whole in the first."""
    return Folded(text[:head], text[:body], len(text))


def _visible_symbol(char: str) -> str:
    code = ord(char)
    return f"⟨{CONTROLS[code] if code < len(CONTROLS) else NAMES.get(char, f'U+{code:04X}')}⟩"


def show_hidden(text: object) -> str:
    """Return ``text`` with a visible symbol for every character that hides or rearranges others."""
    return HIDDEN.sub(lambda found: _visible_symbol(found.group()), str(text).replace("\r\n", "\n"))


def show_hidden_html(text: object) -> Markup:
    """Return the same for HTML, escaped, the symbols marked so that they are not taken for the text's own."""
    parts, last = list[str](), 0
    source = str(text).replace("\r\n", "\n")
    for found in HIDDEN.finditer(source):
        parts.append(str(escape(source[last : found.start()])))
        parts.append(
            f'<span class="ctl" title="{_character_name(found.group())}">'
            f"{_visible_symbol(found.group())}</span>"
        )
        last = found.end()
    parts.append(str(escape(source[last:])))
    return Markup("".join(parts))  # every part was escaped above


def _character_name(char: str) -> str:
    return f"U+{ord(char):04X} {unicodedata.name(char, 'control character').lower()}"


def quote_for_url(text: object) -> str:
    """Return ``text`` as a value in an address."""
    return quote(str(text), safe="", errors="replace")


def shorten_line(text: object, chars: int = LABEL_CHARS) -> str:
    """Return one line of at most ``chars``."""
    line = " ".join(str(text)[: chars * 4].split())
    return line if len(line) <= chars else line[: chars - 1] + "…"


def format_thousands(number: float) -> str:
    """Return a whole number with separators."""
    return f"{number:,.0f}"


def format_compact(number: float) -> str:
    """Return a number in three digits: 940, 12.3k, 4.56M."""
    size = abs(number)
    for scale, letter in SCALES:
        if size >= scale * 0.9995:
            value = number / scale
            digits = 2 if abs(value) < 9.995 else 1 if abs(value) < 99.95 else 0
            return (
                f"{value:.{digits}f}".rstrip("0").rstrip(".") + letter if digits else f"{value:.0f}{letter}"
            )
    return f"{number:.0f}"


def pluralize(number: int, word: str) -> str:
    """Return a number with its word."""
    return f"{format_thousands(number)} {word}{'' if number == 1 else 's'}" if number else f"no {word}s"


def format_percent(share: float) -> str:
    """Return a share as per cent; small ones with a digit more."""
    value = share * 100
    return f"{value:.1f} %" if 0 < abs(value) < 10 and round(value, 1) != round(value) else f"{value:.0f} %"


def format_money(dollars: float) -> str:
    """Return dollars; below a cent with enough digits to be seen."""
    # What would be rounded to a cent is one.
    if dollars and abs(dollars) < 0.00995:
        shown = f"${abs(dollars):.4f}" if abs(dollars) >= 0.00005 else "<$0.0001"
        return f"{'-' if dollars < 0 else ''}{shown}"
    return f"{'-' if dollars < 0 else ''}${abs(dollars):,.2f}"


def format_span(seconds: float) -> str:
    """Return a length of time in its largest unit."""
    for unit, name in UNITS:
        if seconds >= unit:
            return f"{seconds / unit:.0f} {name}"
    return f"{max(seconds, 0):.0f} s"


def format_age(then: float, now: float) -> str:
    """Say how long ago, in words."""
    if not then:
        return "never"
    return "just now" if now - then < 60 else f"{format_span(now - then)} ago"


def format_time(at: float) -> str:
    """Return a time of day with its date, in UTC."""
    try:
        return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    except (OverflowError, OSError, ValueError):
        return "at no known time"
