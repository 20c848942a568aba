"""Compute where the parts of a drawing stand.

Positions across are per cent and down are pixels, so that labels keep their size at every width; colours and
lines are the style sheet's.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Self

from gateway_compaction.admin.ui.text import format_compact, format_percent, format_thousands
from gateway_compaction.core.records.call_snapshot import name_messages

HEIGHT, TOP = 200.0, 18.0
"""Pixels of a drawing down to its axis, and of the room above the greatest value."""
ACROSS = 1000.0
"""Width of the box that paths are drawn in; positions of everything else are per cent of it."""
HEADROOM = 1.05
"""A greater value than the axis shows is drawn this far above it, and no further."""
HOUR_TOP, TOKEN_TOP = 1.04, 1.06
"""Top of the axis as a share of the greatest value, so that no bar or line touches the edge."""
COLUMN_SHARE = 0.78
"""Share of an hour's room that its bar takes; the rest is the gap between bars."""
MARGIN = 2.0
"""Per cent left free at both ends of the token chart, so that the outer points are whole."""
FAR_LINE = 4
"""Lines more than this many times above the greatest value are named, not drawn: calls would look flat."""
LEAST_RUN_PERCENT = 0.25
"""Width of an empty message in the strip, so that it can be seen."""
MANY_MESSAGES = 200
"""From so many messages on the least width would crowd out the rest, and falls away."""
MOST_AXIS_LABELS = 4
NAME_HEIGHT, NAME_SHIFT = 13.0, 4.0
"""Pixels of a line's name, and from the line down to the foot of its name."""

MessageFate = tuple[str, int, str]
"""Role, tokens and fate of a message, as ``CallSnapshot`` keeps them."""


class HourTokens(NamedTuple):
    """Tokens of an hour: those that models got (with what observe would have saved), and those saved."""

    name: str
    got: int
    saved: int
    would_save: int


class CallTokens(NamedTuple):
    """Tokens of a call: those the client sent and those the model got, with the words the pointer shows."""

    sent: int
    got: int
    title: str
    rewritten: bool


class LevelTokens(NamedTuple):
    """Tokens of the window or of a level, with its name and its class in the style sheet."""

    tokens: int
    label: str
    kind: str


class FirstUse(NamedTuple):
    """The call (by index) at which a compaction was first sent, with its name and a sentence."""

    call: int
    name: str
    title: str


class VersionCover(NamedTuple):
    """The messages that a version stands for, the end excluded; its name, and whether it is in use."""

    start: int
    end: int
    name: str
    current: bool


class AxisLabel(NamedTuple):
    """A label under a chart, and the end of it that stands at ``x``."""

    x: float
    text: str
    anchor: str


class Mark(NamedTuple):
    """A vertical line with its name and the words that the pointer shows."""

    x: float
    name: str
    title: str


@dataclass(frozen=True, slots=True)
class Tick:
    """A grid line with its label."""

    y: float
    label: str


@dataclass(frozen=True, slots=True)
class Bar:
    """One piece of a stacked bar; ``kind`` is its class in the style sheet."""

    y: float
    height: float
    kind: str


@dataclass(frozen=True, slots=True)
class HourBar:
    """One column of the chart by hour."""

    x: float
    width: float
    pieces: tuple[Bar, ...]
    title: str


@dataclass(frozen=True, slots=True)
class HourChart:
    """Tokens by hour: what models got, and what was (or would have been) saved on top of it."""

    bars: tuple[HourBar, ...]
    ticks: tuple[Tick, ...]
    labels: tuple[AxisLabel, ...]
    has_would_save: bool


@dataclass(frozen=True, slots=True)
class CallPoint:
    """One call: what the client sent and what the model got, with the words that the pointer shows."""

    x: float
    sent_y: float
    got_y: float
    title: str
    rewritten: bool


@dataclass(frozen=True, slots=True)
class LevelLine:
    """A horizontal line with its name, which stands beside it at ``name_y``."""

    y: float
    name_y: float
    label: str
    kind: str
    value: str


@dataclass(frozen=True, slots=True)
class TokenChart:
    """Tokens per call.

    Attributes:
        sent_path, got_path: SVG paths in a box of ``ACROSS`` by ``HEIGHT``.
        got_area: what lies between ``got_path`` and the axis, to be filled.
        far_lines: names of the lines that are too far above to be drawn.
    """

    points: tuple[CallPoint, ...]
    sent_path: str
    got_path: str
    got_area: str
    lines: tuple[LevelLine, ...]
    marks: tuple[Mark, ...]
    ticks: tuple[Tick, ...]
    labels: tuple[AxisLabel, ...]
    far_lines: str


@dataclass(frozen=True, slots=True)
class Run:
    """Messages side by side with the same fate, as one box of the strip."""

    x: float
    width: float
    fate: str
    title: str


@dataclass(frozen=True, slots=True)
class VersionBar:
    """The cover of one version, under the strip."""

    x: float
    width: float
    label: str
    current: bool
    title: str


@dataclass(frozen=True, slots=True)
class Strip:
    """The conversation as a band: as wide as its tokens."""

    runs: tuple[Run, ...]
    versions: tuple[VersionBar, ...]
    cuts: tuple[float, ...]


def _axis_scale(top: float) -> tuple[float, tuple[Tick, ...]]:
    """Return the value at the top of the drawing and round grid lines below it."""
    if top <= 0:
        return 1.0, ()
    # Whole tokens: with smaller steps two grid lines would have one label.
    raw = max(top / 4, 1.0)
    size = 10 ** math.floor(math.log10(raw))
    factors = (1, 2, 2.5, 5, 10) if size > 1 else (1, 2, 5, 10)
    step = next(size * factor for factor in factors if raw <= size * factor * 1.0001)
    count = int(top / step + 0.0001)
    ticks = tuple(Tick(_y_of(step * n, top), format_compact(step * n)) for n in range(1, count + 1))
    return top, ticks


def _y_of(value: float, top: float) -> float:
    return round(HEIGHT - (HEIGHT - TOP) * min(value / top, HEADROOM), 1)


def choose_labelled(number: int) -> list[int]:
    """Return the indexes of the few among so many columns or points that have a label under the chart."""
    steps = min(MOST_AXIS_LABELS, number)
    return sorted({round((number - 1) * i / max(steps - 1, 1)) for i in range(steps)})


def _axis_labels(names: Sequence[str], xs: Sequence[float]) -> tuple[AxisLabel, ...]:
    """Return a few of ``names`` under a chart, the outer ones turned inwards."""
    chosen = choose_labelled(len(names))
    anchor = {chosen[-1]: "end", chosen[0]: "start"} if len(chosen) > 1 else {}
    return tuple(AxisLabel(xs[i], names[i], anchor.get(i, "middle")) for i in chosen)


def make_hour_chart(rows: Sequence[HourTokens]) -> HourChart:
    """Draw tokens by hour, each a bar of what models got and what was (or would have been) saved."""
    top, ticks = _axis_scale(max((row.got + row.saved for row in rows), default=0) * HOUR_TOP)
    room = 100 / max(len(rows), 1)
    bars = tuple(
        HourBar(
            x=round((number + (1 - COLUMN_SHARE) / 2) * room, 3),
            width=round(room * COLUMN_SHARE, 3),
            pieces=_stack_pieces(row, top),
            title=_describe_hour(row),
        )
        for number, row in enumerate(rows)
    )
    labels = _axis_labels([row.name for row in rows], [bar.x + bar.width / 2 for bar in bars])
    return HourChart(bars, ticks, labels, any(row.would_save for row in rows))


def _stack_pieces(row: HourTokens, top: float) -> tuple[Bar, ...]:
    """Return the pieces of an hour's bar from the axis upwards; what is zero has none."""
    pieces, base = list[Bar](), 0.0
    would_save = min(row.would_save, row.got)
    for value, kind in ((row.got - would_save, "got"), (would_save, "would"), (row.saved, "saved")):
        if value > 0:
            high, low = _y_of(base + value, top), _y_of(base, top)
            pieces.append(Bar(high, round(low - high, 1), kind))
            base += value
    return tuple(pieces)


def _describe_hour(row: HourTokens) -> str:
    sent, saved = format_thousands(row.got), format_thousands(row.saved)
    title = f"{row.name}: {sent} tokens sent to models, {saved} saved"
    would_save = min(row.would_save, row.got)
    return f"{title}, {format_thousands(would_save)} would have been saved" if would_save else title


def make_token_chart(
    calls: Sequence[CallTokens],
    levels: Sequence[LevelTokens],
    first_uses: Sequence[FirstUse],
    names: Sequence[str],
) -> TokenChart | None:
    """Draw tokens per call, oldest first; None without calls.

    Args:
        calls: what each of them sent and got.
        levels: the window and the levels, as lines across.
        first_uses: where a compaction was first sent.
        names: of the calls, for the axis.
    """
    if not calls:
        return None
    most = max(max(call.sent, call.got) for call in calls)
    drawn = [level for level in levels if 0 < level.tokens <= most * FAR_LINE]
    top, ticks = _axis_scale(max([most, *(level.tokens for level in drawn)]) * TOKEN_TOP)
    xs = _spread(len(calls))
    points = tuple(
        CallPoint(round(x, 3), _y_of(call.sent, top), _y_of(call.got, top), call.title, call.rewritten)
        for x, call in zip(xs, calls, strict=True)
    )
    got_path = _svg_path([(point.x, point.got_y) for point in points])
    last, first = (point.x * ACROSS / 100 for point in (points[-1], points[0]))
    return TokenChart(
        points=points,
        sent_path=_svg_path([(point.x, point.sent_y) for point in points]),
        got_path=got_path,
        got_area=f"{got_path}L{last:g} {HEIGHT:g}L{first:g} {HEIGHT:g}Z",
        lines=_place_names(drawn, top),
        marks=tuple(
            Mark(points[use.call].x, use.name, use.title) for use in first_uses if 0 <= use.call < len(points)
        ),
        ticks=ticks,
        labels=_axis_labels(names, xs),
        far_lines=", ".join(level.label for level in levels if level.tokens > most * FAR_LINE),
    )


def _spread(number: int) -> list[float]:
    """Return as many places across, at equal distances between the margins; one alone in the middle."""
    if number == 1:
        return [50.0]
    return [MARGIN + (100 - 2 * MARGIN) * i / (number - 1) for i in range(number)]


def _place_names(levels: Sequence[LevelTokens], top: float) -> tuple[LevelLine, ...]:
    """Return lines whose names do not stand on one another: those of close lines move down."""
    found = list[LevelLine]()
    for level in sorted(levels, key=lambda level: -level.tokens):
        y = _y_of(level.tokens, top)
        name_y = max(y + NAME_SHIFT, found[-1].name_y + NAME_HEIGHT if found else 0)
        found.append(LevelLine(y, name_y, level.label, level.kind, format_compact(level.tokens)))
    return tuple(found)


def _svg_path(points: Sequence[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{x * ACROSS / 100:g} {y:g}" for x, y in points)


def make_strip(
    messages: Sequence[MessageFate], versions: Sequence[VersionCover], cuts: Sequence[int]
) -> Strip:
    """Draw the band of a conversation.

    Args:
        messages: role, tokens and fate of each.
        versions: what each of them stands for.
        cuts: indexes at which the conversation may be divided.
    """
    band, last = _Band.of(messages), len(messages)
    changes = [i for i in range(1, last) if messages[i][2] != messages[i - 1][2]]
    bounds = itertools.pairwise([0, *changes, last]) if messages else ()
    return Strip(
        runs=tuple(_make_run(band, start, end) for start, end in bounds),
        versions=tuple(_make_version_bar(band, one) for one in versions if one.start < one.end),
        cuts=tuple(round(band.edges[cut], 3) for cut in cuts if 0 < cut < last),
    )


@dataclass(frozen=True, slots=True)
class _Band:
    """Messages side by side across the page.

    Attributes:
        edges: where each message begins, in per cent; one more for the end of the last.
        first: index of the first message after the preamble, from which people count.
    """

    messages: Sequence[MessageFate]
    edges: Sequence[float]
    first: int

    @classmethod
    def of(cls, messages: Sequence[MessageFate]) -> Self:
        """Lay messages out, each as wide as its tokens but none too narrow to be seen."""
        total = sum(tokens for _, tokens, _ in messages) or 1
        least = LEAST_RUN_PERCENT if len(messages) < MANY_MESSAGES else 0.0
        weights = [max(tokens / total * 100, least) for _, tokens, _ in messages]
        factor = 100 / (sum(weights) or 1)
        edges = [0.0]
        for weight in weights:
            edges.append(edges[-1] + weight * factor)
        first = next((i for i, (*_, fate) in enumerate(messages) if fate != "preamble"), len(messages))
        return cls(messages, edges, first)

    def place(self, start: int, end: int) -> tuple[float, float]:
        """Return where some messages begin and how wide they are together."""
        last = len(self.messages)
        x, until = self.edges[min(start, last)], self.edges[min(end, last)]
        return round(x, 3), round(until - x, 3)


def _make_version_bar(band: _Band, version: VersionCover) -> VersionBar:
    x, width = band.place(version.start, version.end)
    covered = name_messages(version.start - band.first, version.end - band.first)
    return VersionBar(x, width, version.name, version.current, f"{version.name} stands for {covered}")


def _make_run(band: _Band, start: int, end: int) -> Run:
    """Return the box of messages with one fate."""
    x, width = band.place(start, end)
    total = sum(tokens for _, tokens, _ in band.messages) or 1
    tokens, fate = sum(t for _, t, _ in band.messages[start:end]), band.messages[start][2]
    which = fate if end <= band.first else f"{name_messages(start - band.first, end - band.first)}: {fate}"
    title = f"{which}, {format_thousands(tokens)} tokens ({format_percent(tokens / total)})"
    return Run(x, width, fate, title)
