"""Compute where the parts of a drawing stand.

Positions across are per cent and down are pixels, so that labels keep their size at every width; colours and
lines are the style sheet's.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from gateway_compaction.admin.ui.text import format_compact, format_percent, format_thousands
from gateway_compaction.core.records.call_snapshot import name_messages

HEIGHT, TOP = 200.0, 18.0
ACROSS = 1000.0
STRIP_LEAST = 0.25
LABELLED = 4
NAME_HEIGHT = 13.0


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
    labels: tuple[tuple[float, str, str], ...]
    would: bool


@dataclass(frozen=True, slots=True)
class CallPoint:
    """One call: what the client sent and what the model got, with the words that the pointer shows."""

    x: float
    sent: float
    got: float
    title: str
    rewritten: bool


@dataclass(frozen=True, slots=True)
class Line:
    """A horizontal line with its name, which stands beside it at ``name_y``."""

    y: float
    name_y: float
    label: str
    kind: str
    value: str


@dataclass(frozen=True, slots=True)
class TokenChart:
    """Tokens per call; ``sent`` and ``got`` are paths in a box of ``ACROSS`` by ``HEIGHT``."""

    points: tuple[CallPoint, ...]
    sent: str
    got: str
    area: str
    lines: tuple[Line, ...]
    marks: tuple[tuple[float, str, str], ...]
    ticks: tuple[Tick, ...]
    labels: tuple[tuple[float, str, str], ...]
    above: str


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
    return round(HEIGHT - (HEIGHT - TOP) * min(value / top, 1.05), 1)


def choose_labelled(number: int) -> list[int]:
    """Return the indexes of the few among so many columns or points that have a label under the chart."""
    steps = min(LABELLED, number)
    return sorted({round((number - 1) * i / max(steps - 1, 1)) for i in range(steps)})


def _axis_labels(names: Sequence[str], xs: Sequence[float]) -> tuple[tuple[float, str, str], ...]:
    """Return a few of ``names`` under a chart, the outer ones turned inwards."""
    chosen = choose_labelled(len(names))
    anchor = {chosen[-1]: "end", chosen[0]: "start"} if len(chosen) > 1 else {}
    return tuple((xs[i], names[i], anchor.get(i, "middle")) for i in chosen)


def make_hour_chart(rows: Sequence[tuple[str, int, int, int]]) -> HourChart:
    """Make a chart of (name, tokens that models got, tokens saved, tokens that would have been saved)."""
    top, ticks = _axis_scale(max((got + saved for _, got, saved, _ in rows), default=0) * 1.04)
    room = 100 / max(len(rows), 1)
    bars = list[HourBar]()
    for number, (name, got, saved, would) in enumerate(rows):
        pieces, base = list[Bar](), 0.0
        would = min(would, got)
        for value, kind in ((got - would, "got"), (would, "would"), (saved, "saved")):
            if value > 0:
                high, low = _y_of(base + value, top), _y_of(base, top)
                pieces.append(Bar(high, round(low - high, 1), kind))
                base += value
        title = f"{name}: {format_thousands(got)} tokens sent to models, {format_thousands(saved)} saved"
        title += f", {format_thousands(would)} would have been saved" if would else ""
        x = round(number * room + room * 0.11, 3)
        bars.append(HourBar(x, round(room * 0.78, 3), tuple(pieces), title))
    middles = [bar.x + bar.width / 2 for bar in bars]
    labels = _axis_labels([name for name, *_ in rows], middles)
    return HourChart(tuple(bars), ticks, labels, any(would for *_, would in rows))


def make_token_chart(
    calls: Sequence[tuple[int, int, str, bool]],
    lines: Sequence[tuple[int, str, str]],
    marks: Sequence[tuple[int, str, str]],
    names: Sequence[str],
) -> TokenChart | None:
    """Draw tokens per call, oldest first; None without calls.

    Args:
        calls: tokens the client sent, tokens the model got, words, whether it was rewritten.
        lines: tokens, name and class of the window and the levels.
        marks: index of a call, name and words of a compaction first used there.
        names: of the calls, for the axis.
    """
    if not calls:
        return None
    most = max(max(sent, got) for sent, got, *_ in calls)
    near = [line for line in lines if 0 < line[0] <= most * 4] if most else []
    top, ticks = _axis_scale(max([most, *(value for value, *_ in near)]) * 1.06)
    xs = [2 + 96 * i / (len(calls) - 1) if len(calls) > 1 else 50.0 for i in range(len(calls))]
    points = tuple(
        CallPoint(round(x, 3), _y_of(sent, top), _y_of(got, top), title, rewritten)
        for x, (sent, got, title, rewritten) in zip(xs, calls, strict=True)
    )
    far = [label for value, label, _ in lines if value > most * 4]
    got = _svg_path([(p.x, p.got) for p in points])
    return TokenChart(
        points,
        _svg_path([(p.x, p.sent) for p in points]),
        got,
        f"{got}L{points[-1].x * 10:g} {HEIGHT:g}L{points[0].x * 10:g} {HEIGHT:g}Z",
        _place_names(near, top),
        tuple((points[i].x, name, words) for i, name, words in marks if 0 <= i < len(points)),
        ticks,
        _axis_labels(names, xs),
        ", ".join(far),
    )


def _place_names(lines: Sequence[tuple[int, str, str]], top: float) -> tuple[Line, ...]:
    """Return lines whose names do not stand on one another: those of close lines move down."""
    found = list[Line]()
    for value, label, kind in sorted(lines, key=lambda line: -line[0]):
        y = _y_of(value, top)
        name_y = max(y + 4, found[-1].name_y + NAME_HEIGHT if found else 0)
        found.append(Line(y, name_y, label, kind, format_compact(value)))
    return tuple(found)


def _svg_path(points: Sequence[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{x * ACROSS / 100:g} {y:g}" for x, y in points)


def make_strip(
    messages: Sequence[tuple[str, int, str]],
    versions: Sequence[tuple[int, int, str, bool]],
    cuts: Sequence[int],
) -> Strip:
    """Draw the band of a conversation.

    Args:
        messages: role, tokens and fate of each.
        versions: first and last covered index (end excluded), name, and whether it is the one in use.
        cuts: indexes at which it may be divided.
    """
    total = sum(tokens for _, tokens, _ in messages) or 1
    # Even an empty message is to be seen.
    weights = [
        max(tokens / total * 100, STRIP_LEAST if len(messages) < 200 else 0) for _, tokens, _ in messages
    ]
    factor = 100 / (sum(weights) or 1)
    edges = [0.0]
    for weight in weights:
        edges.append(edges[-1] + weight * factor)
    first = next((i for i, (*_, fate) in enumerate(messages) if fate != "preamble"), len(messages))
    runs, start = list[Run](), 0
    for end in range(1, len(messages) + 1):
        if end == len(messages) or messages[end][2] != messages[start][2]:
            runs.append(_make_run(messages, start, end, edges, total, first))
            start = end
    bars = tuple(
        VersionBar(
            round(edges[min(a, len(messages))], 3),
            round(edges[min(b, len(messages))] - edges[min(a, len(messages))], 3),
            name,
            current,
            f"{name} stands for {name_messages(a - first, b - first)}",
        )
        for a, b, name, current in versions
        if a < b
    )
    return Strip(tuple(runs), bars, tuple(round(edges[cut], 3) for cut in cuts if 0 < cut < len(messages)))


def _make_run(
    messages: Sequence[tuple[str, int, str]],
    start: int,
    end: int,
    edges: Sequence[float],
    total: int,
    first: int,
) -> Run:
    """Return one box; ``first`` is where the preamble ends."""
    tokens, fate = sum(t for _, t, _ in messages[start:end]), messages[start][2]
    which = fate if end <= first else f"{name_messages(start - first, end - first)}: {fate}"
    title = f"{which}, {format_thousands(tokens)} tokens ({format_percent(tokens / total)})"
    return Run(round(edges[start], 3), round(edges[end] - edges[start], 3), fate, title)
