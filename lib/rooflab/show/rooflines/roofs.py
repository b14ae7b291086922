"""Roofs drawn on axes: slopes and flat parts, their names, overhead lines, and a band.

A slope has the colour of carrying, a flat part that of computing, and the cost of calls that of
overhead. Each line has its name on it.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import Any, TypeAlias

from rooflab.count.si import si
from rooflab.predict.machine import Machine
from rooflab.predict.roofline import Roofline
from rooflab.show import theme
from rooflab.show.labels import STEEP, Crowd, Spot
from rooflab.show.rooflines.ceiling_lines import COLOUR, SHADE, CallLine, labels, slope_text

Look: TypeAlias = dict[str, Any]
THICK, THIN = 2.6, 1.1  # points of a roof that a point lives under, and of another one
MAKERS = ("NVIDIA", "AMD", "Intel", "Google", "AWS", "Apple")
OFF = 11  # pixels from a line to the middle of the words along it
ALONG = (0.3, 0.45, 0.6, 0.2, 0.75, 0.1, 0.9)  # shares of a line where words along it may stand


def draw_ceilings(
    crowd: Crowd, ceilings: Sequence[Roofline], active: Collection[str], dashes: str
) -> None:
    """Draw roofs that share one peak; those of ``active`` levels are thick, with their ridge."""
    ax, share = crowd.ax, crowd.share
    (x_lo, x_hi), foot = ax.get_xlim(), ax.get_ylim()[0]
    for roof in ceilings:
        thick = roof.level in active
        xs = [x_lo, min(roof.ridge, x_hi), x_hi]
        ys = [roof.attainable(x) for x in xs]
        look: Look = {"lw": share * (THICK if thick else THIN), "zorder": 2 if thick else 1.9}
        ax.plot(xs[1:], ys[1:], dashes, color=theme.COMPUTING, **look)
        ax.plot(xs[:2], ys[:2], dashes, color=theme.CARRYING, solid_capstyle="round", **look)
        crowd.add_line([crowd.pixel(x, y) for x, y in zip(xs, ys)])
        if thick and x_lo < roof.ridge < x_hi:
            ends, soft = (foot, roof.peak), theme.colour("soft")
            ax.plot([roof.ridge] * 2, ends, ":", color=soft, lw=1.2 * share, zorder=1)
            crowd.add_line([crowd.pixel(roof.ridge, end) for end in ends], 1)


def draw_calls(crowd: Crowd, lines: Collection[CallLine]) -> None:
    """Draw the ``lines`` of :func:`.ceiling_lines.of_operations`, thin and dashed."""
    look: Look = {"color": theme.OVERHEAD, "lw": 1.2 * crowd.share, "zorder": 2}
    for line in lines:
        crowd.ax.plot(*zip(*line.points), "--", **look)
        crowd.add_line(_inside(crowd, line))


def label_calls(crowd: Crowd, lines: Collection[CallLine]) -> None:
    """Write on each line of calls whose it is and how long a call takes, where there is room."""
    look: Look = {"color": theme.OVERHEAD, "fontsize": theme.SMALL}
    for line in lines:
        places = _inside(crowd, line)
        (x0, y0), (x1, y1) = places[0], places[-1]
        level = [
            Spot(x0 + t * (x1 - x0) + side, y0 + t * (y1 - y0), ha)
            for t in (0.02, *ALONG) for side, ha in ((6, "left"), (-6, "right"))
        ]  # fmt: skip
        spots, short = [*along((x0, y0), (x1, y1), ALONG), *level], f"{line.name.upper()} call"
        any(crowd.write(text, spots, forced=False, **look) for text in (line.label, short))


def _inside(crowd: Crowd, line: CallLine) -> list[tuple[float, float]]:
    """The corners of a line of calls that lie inside the axes, in pixels."""
    (x_lo, x_hi), y_lo = crowd.ax.get_xlim(), crowd.ax.get_ylim()[0]
    inside = [(x, y) for x, y in line.points if y >= y_lo and x_lo <= x <= x_hi]
    return [crowd.pixel(x, y) for x, y in inside or line.points[-1:]]


def along(
    start: tuple[float, float], end: tuple[float, float], shares: Sequence[float]
) -> list[Spot]:
    """Spots for words along a straight line in pixels: above it first, then below."""
    (x0, y0), (x1, y1) = start, end
    turn = math.atan2(y1 - y0, x1 - x0)
    angle, steep = math.degrees(turn), turn > math.radians(STEEP)
    # Words along a steep line stand beside it, by their middle.
    right, up = (-OFF * math.sin(turn), OFF * math.cos(turn)) if steep else (0, OFF)
    return [
        Spot(x0 + t * (x1 - x0) + side * right, y0 + t * (y1 - y0) + side * up, "center",
             "center" if steep else va, angle)
        for side, va in ((1, "bottom"), (-1, "top"))
        for t in shares
    ]  # fmt: skip


def draw_band(crowd: Crowd, band: tuple[float, float] | None) -> None:
    """Shade ``band`` and write its labels beside it, at the top if nothing else is there."""
    if band is None:
        return
    crowd.ax.axvspan(*band, color=COLOUR, alpha=SHADE, lw=0, zorder=0.5)
    for text, edge, ha, side in zip(labels(band), band, ("right", "left"), (-6, 6)):
        x, (_, foot, _, top) = crowd.pixel(edge, 1)[0] + side, crowd.frame
        heights = (*(top - down for down in (26, 46, 66)), *(foot + up for up in (24, 44, 64)))
        spots = [Spot(x, y, ha, "bottom") for y in heights]
        crowd.write(text, spots, color=COLOUR, fontsize=theme.SMALL)


# The words on the roofs: bandwidths, peaks and ridges, each figure once.


def label_machine(
    crowd: Crowd, groups: Sequence[Sequence[Roofline]], active: Collection[str], name: str
) -> None:
    """Label the roofs of one machine (a group of ceilings per dtype), each figure once.

    ``name`` stands before the labels when there are several machines.
    """
    label_slopes = _label_slope if len(groups[0]) == 1 else _label_levels
    if not name:
        label_slopes(crowd, groups[0], active, name)
    # The farthest active level: where both sides are shown that is memory, whose ridge counts.
    tops = [next((c for c in reversed(group) if c.level in active), group[-1]) for group in groups]
    for peak in dict.fromkeys(float(top.peak) for top in tops):
        same = [top for top in tops if top.peak == peak]
        kinds = ", ".join(str(top.dtype) for top in same)
        _label_peak(crowd, same[0], f"{kinds} {si(peak, 'FLOP/s')}", name)
    if name:  # which stands on the flat part at least
        label_slopes(crowd, groups[0], active, name)


def _label_levels(
    crowd: Crowd, ceilings: Sequence[Roofline], active: Collection[str], name: str
) -> None:
    """Write the bandwidths of several levels below each other, bold where they count."""
    heading = ", ".join(filter(None, (*names(name)[-1:], "roofs from the top")))
    rows = [heading, *map(slope_text, ceilings)]
    (left, foot, right, top), look = crowd.frame, {"fontsize": theme.SMALL}
    wide, tall = crowd.extent("\n".join(rows), weight="bold", **look)
    corners = [
        (x, top - down * (top - foot))
        for down in (0.02, 0.3, 0.4, 0.55)
        for x in (left + 8, right - wide - 8)
    ]
    boxes = [[(x - 6, y - tall, x + wide, y)] for x, y in corners]
    _, number = crowd.room.choose(boxes, forced=True) or (0, 0)
    crowd.room.taken += boxes[number]
    (x, y), step = corners[number], tall / len(rows)
    for row, (text, level) in enumerate(zip(rows, ["", *(one.level for one in ceilings)])):
        bold = {"weight": "bold"} if level in active else {}
        crowd.annotate(text, Spot(x, y - (row + 0.5) * step), color=theme.CARRYING, **look, **bold)


def _label_slope(
    crowd: Crowd, ceilings: Sequence[Roofline], active: Collection[str], name: str
) -> None:
    """Write the bandwidth of one roof along its slanted line, where there is room."""
    (roof,), (x_lo, x_hi), y_lo = ceilings, crowd.ax.get_xlim(), crowd.ax.get_ylim()[0]
    left = max(x_lo, y_lo / roof.bandwidth)
    start, end = (crowd.pixel(x, roof.attainable(x)) for x in (left, min(roof.ridge, x_hi)))
    if end[0] - start[0] < 60:
        return
    whole, rate = slope_text(roof), si(roof.bandwidth, "B/s")
    texts = [f"{one}: {text}" for text in (whole, rate) for one in names(name)] or [whole]
    _write(crowd, [*texts, rate], along(start, end, ALONG), theme.CARRYING, name)


def _label_peak(crowd: Crowd, roof: Roofline, text: str, name: str) -> None:
    """Write ``text`` on the flat part of ``roof`` and its ridge at the foot."""
    x_hi = crowd.ax.get_xlim()[1]
    (right, y), (ridge, _) = crowd.pixel(x_hi, roof.peak), crowd.pixel(roof.ridge, roof.peak)
    bend = min(ridge, right)
    spots = [
        Spot(x, y + side, ha, va)
        for side, va in ((5, "bottom"), (-6, "top"))
        for x, ha in ((right - 4, "right"), ((right + bend) / 2, "center"), (bend + 8, "left"))
    ]
    rate = si(roof.peak, "FLOP/s")
    texts = [f"{one}: {what}" for what in (text, rate) for one in names(name)] or [text]
    _write(crowd, texts, spots, theme.COMPUTING, name)
    label_ridge(crowd, roof, fontsize=theme.SMALL)


def label_ridge(crowd: Crowd, roof: Roofline, **look: Any) -> None:
    """Write the ridge of ``roof`` at its foot, on one side or the other, if it is in the axes."""
    (_, foot, right, _), (ridge, _) = crowd.frame, crowd.pixel(roof.ridge, roof.peak)
    if ridge < right:
        spots = [
            Spot(ridge + side, foot + up, ha, "bottom")
            for side, ha in ((5, "left"), (-5, "right"))
            for up in (5, 20, 35)
        ]
        crowd.write(f"ridge {theme.ridge(roof.ridge)}", spots, **look)


def _write(crowd: Crowd, texts: Sequence[str], spots: Sequence[Spot], ink: str, name: str) -> None:
    """Write the label of a roof: smaller where each carries the machine's ``name`` as well."""
    size = theme.SMALL - 1.5 if name else theme.SMALL
    crowd.write(texts, spots, color=ink, fontsize=size, weight="bold")


def short(machine: Machine) -> str:
    """Return a machine's name without what stands in brackets."""
    return machine.name.split("(")[0].strip()


def names(name: str) -> list[str]:
    """Return a machine's name, then without its maker; none for ""."""
    maker, _, rest = name.partition(" ")
    return [name, rest] if maker in MAKERS and rest else [name] if name else []
