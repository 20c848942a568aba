"""Draw rows as one SVG: a panel for each measure, bars by budget and strategy with their intervals."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

from gateway_compaction.evaluation.report import MEASURES, Row

WIDTH, MARGIN = 860, 24
PANEL, GAP, HEADING, AXIS = 170, 34, 30, 30
LEFT, TICKS = 48, (0.0, 0.25, 0.5, 0.75, 1.0)
BAR_SHARE = 0.86
LEGEND_ROW, LEGEND_COLUMN = 20, 270
FONT = "system-ui, -apple-system, 'Segoe UI', 'Noto Sans', sans-serif"
INK, MUTED, GRID, PAPER = "#1c1c1c", "#5c5c5c", "#dedede", "#ffffff"
# Okabe and Ito's colours: told apart with every kind of colour blindness, and in grey by their order.
COLOURS = ("#0072b2", "#e69f00", "#999999", "#56b4e9", "#d55e00", "#cc79a7", "#009e73", "#f0e442")


@dataclass(frozen=True, slots=True)
class _Panel:
    """One measure of one set: its place in the drawing, and the rows that have it."""

    title: str
    measure: str
    rows: Sequence[Row]
    top: float


def draw_chart(sets: Sequence[tuple[str, Sequence[Row]]]) -> str:
    """Draw several named sets of rows; measures that a set does not have are left out."""
    names = list(dict.fromkeys(row.strategy for _, rows in sets for row in rows))
    colours = {name: COLOURS[i % len(COLOURS)] for i, name in enumerate(names)}
    legend = -(-(len(names) + 1) // (WIDTH // LEGEND_COLUMN)) * LEGEND_ROW
    panels = list(_place_panels(sets, MARGIN + legend + 14))
    height = (panels[-1].top + HEADING + PANEL + AXIS if panels else MARGIN + legend) + MARGIN
    crowded = any(row.over for _, rows in sets for row in rows)
    body = [
        *_draw_legend(colours, crowded),
        *(line for panel in panels for line in _draw_panel(panel, colours)),
    ]
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:g}" width="{WIDTH}"'
            f' height="{height:g}" font-family="{FONT}" font-size="12" fill="{INK}">',
            "<title>What survives compaction, by strategy and budget</title>",
            f'<rect width="100%" height="100%" fill="{PAPER}"/>',
            *body,
            "</svg>",
            "",
        ]
    )


def _place_panels(sets: Sequence[tuple[str, Sequence[Row]]], top: float) -> Iterator[_Panel]:
    for title, rows in sets:
        for measure, heading in MEASURES.items():
            having = [row for row in rows if measure in row.figures]
            if having:
                # A set may be named by many files.
                named = title if len(title) <= 60 else title[:57] + "…"
                yield _Panel(f"{_draw_heading(heading)} · {named}", measure, having, top)
                top += HEADING + PANEL + AXIS + GAP


def _draw_heading(text: str) -> str:
    return text.replace("… ", "identifiers in a summary of this length, ")


def _draw_legend(colours: dict[str, str], crowded: bool) -> Iterator[str]:
    columns = WIDTH // LEGEND_COLUMN
    looks = [(name, f'fill="{colour}"') for name, colour in colours.items()]
    looks += [("outlined: more than the budget was sent", _hollow_style(MUTED))] if crowded else []
    for number, (name, look) in enumerate(looks):
        x = MARGIN + number % columns * LEGEND_COLUMN
        y = MARGIN + number // columns * LEGEND_ROW
        yield f'<rect x="{x}" y="{y}" width="12" height="12" {look}/>'
        yield f'<text x="{x + 18}" y="{y + 10.5}">{escape(name)}</text>'


def _hollow_style(colour: str) -> str:
    return f'fill="{colour}" fill-opacity="0.12" stroke="{colour}" stroke-dasharray="3 2"'


def _draw_panel(panel: _Panel, colours: dict[str, str]) -> Iterator[str]:
    base = panel.top + HEADING + PANEL
    yield f'<text x="{MARGIN}" y="{panel.top + 12:g}" font-weight="600">{escape(panel.title)}</text>'
    for tick in TICKS:
        y = base - tick * PANEL
        yield f'<line x1="{LEFT + MARGIN}" x2="{WIDTH - MARGIN}" y1="{y:g}" y2="{y:g}" stroke="{GRID}"/>'
        yield (
            f'<text x="{LEFT + MARGIN - 8}" y="{y + 4:g}" text-anchor="end" fill="{MUTED}">{tick:g}</text>'
        )
    budgets = sorted({row.budget for row in panel.rows})
    room = (WIDTH - LEFT - 2 * MARGIN) / len(budgets)
    for number, budget in enumerate(budgets):
        left = LEFT + MARGIN + number * room
        rows = [row for row in panel.rows if row.budget == budget]
        yield (
            f'<text x="{left + room / 2:g}" y="{base + 18:g}" text-anchor="middle" fill="{MUTED}">'
            f"{budget:,} tokens</text>"
        )
        yield from _draw_bars(panel.measure, rows, left + room * 0.04, room * 0.92, base, colours)


def _draw_bars(
    measure: str, rows: Sequence[Row], left: float, room: float, base: float, colours: dict[str, str]
) -> Iterator[str]:
    step = min(room / len(rows), 90.0)
    left += (room - step * len(rows)) / 2
    for number, row in enumerate(rows):
        found = row.figures[measure]
        x, width = left + number * step, step * BAR_SHARE
        top = base - found.value * PANEL
        middle = x + width / 2
        high, low = base - found.high * PANEL, base - found.low * PANEL
        colour = colours[row.strategy]
        look = _hollow_style(colour) if row.over else f'fill="{colour}"'
        yield (
            f'<rect x="{x:.1f}" y="{top:.1f}" width="{width:.1f}" height="{base - top:.1f}" {look}>'
            f"<title>{escape(row.strategy)}, {row.budget:,} tokens:"
            f" {found.value:.3f} ({found.low:.3f}–{found.high:.3f})</title></rect>"
        )
        yield (
            f'<path d="M{middle:.1f} {high:.1f}V{low:.1f}M{middle - 4:.1f} {high:.1f}h8'
            f'M{middle - 4:.1f} {low:.1f}h8" stroke="{INK}" fill="none"/>'
        )
        yield (
            f'<text x="{middle:.1f}" y="{min(top, high) - 4:.1f}" text-anchor="middle" font-size="10">'
            f"{_format_share(found.value)}</text>"
        )


def _format_share(value: float) -> str:
    """Write a share with two digits and no leading zero, so that it fits over a narrow bar."""
    return f"{value:.2f}".removeprefix("0") if value < 0.995 else "1"
