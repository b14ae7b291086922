"""Roofs drawn on axes: slopes and flat parts, their names, overhead lines, and a band.

A slope has the colour of carrying, a flat part that of computing, and the cost of calls that of
overhead. Each line has its name on it.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any, TypeAlias

from rooflab.count.si import si
from rooflab.show import theme
from rooflab.show.labels import STEEP, Crowd, Spot
from rooflab.show.rooflines.ceiling_lines import COLOUR, SHADE, CallLine, Ceiling, labels

Look: TypeAlias = dict[str, Any]
THICK, THIN = 2.6, 1.1  # points of a roof that a point lives under, and of another one
KEY = 170  # pixels of a column of bandwidths
MAKERS = ("NVIDIA", "AMD", "Intel", "Google", "AWS", "Apple")
OFF = 11  # pixels from a line to the middle of the words along it


def draw_ceilings(
    crowd: Crowd, ceilings: Sequence[Ceiling], active: Collection[str], dashes: str = "-"
) -> None:
    """Draw roofs that share one peak; those of the ``active`` levels are thick, with their
    ridge."""
    ax, share = crowd.ax, crowd.share
    x_lo, x_hi = ax.get_xlim()
    for ceiling in ceilings:
        roof, thick = ceiling.roof, ceiling.level in active
        xs = [x_lo, min(roof.ridge, x_hi), x_hi]
        ys = [roof.attainable(x) for x in xs]
        look: Look = {"lw": share * (THICK if thick else THIN), "zorder": 2 if thick else 1.9}
        ax.plot(xs[1:], ys[1:], dashes, color=theme.COMPUTING, **look)
        ax.plot(xs[:2], ys[:2], dashes, color=theme.CARRYING, solid_capstyle="round", **look)
        crowd.add_line([crowd.pixel(x, y) for x, y in zip(xs, ys)])
        if thick and x_lo < roof.ridge < x_hi:
            foot = (roof.ridge, ax.get_ylim()[0])
            ax.plot(
                [roof.ridge] * 2, [foot[1], roof.peak], ":", color=theme.colour("soft"),
                lw=1.2 * share, zorder=1,
            )  # fmt: skip
            crowd.add_line([crowd.pixel(*foot), crowd.pixel(roof.ridge, roof.peak)], 1)


def draw_overhead(crowd: Crowd, lines: Mapping[tuple[str, str], CallLine]) -> None:
    """Draw the ``lines`` of :func:`.ceiling_lines.of_operations`, thin and dashed."""
    for line in lines.values():
        crowd.ax.plot(
            *zip(*line.points), "--", color=theme.OVERHEAD, lw=1.2 * crowd.share, zorder=2
        )
        crowd.add_line(_seen(crowd, line), 2)


def label_overhead(crowd: Crowd, lines: Mapping[tuple[str, str], CallLine]) -> None:
    """Write on each line of calls whose it is and how long a call takes, where there is room."""
    for line in lines.values():
        seen = _seen(crowd, line)
        (x0, y0), (x1, y1) = seen[0], seen[-1]
        level = [
            Spot(x0 + t * (x1 - x0) + side, y0 + t * (y1 - y0), ha)
            for t in (0.02, 0.1, 0.2, 0.3, 0.45, 0.6, 0.75)
            for side, ha in ((6, "left"), (-6, "right"))
        ]
        beside = along(seen[0], seen[-1], [0.05 * step for step in range(4, 19)])
        look: Look = {"color": theme.OVERHEAD, "fontsize": theme.SMALL}
        texts = (line.label, f"{line.name.upper()} call")
        places = [(text, spots) for text in texts for spots in (beside, level)]
        any(crowd.write(text, spots, forced=False, **look) for text, spots in places)


def _seen(crowd: Crowd, line: CallLine) -> list[tuple[float, float]]:
    """The corners of a line of calls that lie inside the axes, in pixels."""
    (x_lo, x_hi), y_lo = crowd.ax.get_xlim(), crowd.ax.get_ylim()[0]
    inside = [(x, y) for x, y in line.points if y >= y_lo and x_lo <= x <= x_hi]
    return [crowd.pixel(x, y) for x, y in inside or line.points[-1:]]


def along(
    start: tuple[float, float], end: tuple[float, float], shares: Sequence[float]
) -> list[Spot]:
    """Spots for words along a straight line in pixels: above it first, then below."""
    (x0, y0), (x1, y1) = start, end
    angle = math.degrees(math.atan2(y1 - y0, x1 - x0))
    up = (-math.sin(math.radians(angle)), math.cos(math.radians(angle)))
    aside = 0 if angle < STEEP else OFF  # a steep line has its words beside it
    return [
        Spot(
            x0 + t * (x1 - x0) + (side * OFF * up[0] if aside else 0),
            y0 + t * (y1 - y0) + (side * OFF * up[1] if aside else side * OFF),
            "center", "center" if aside else va, angle,
        )
        for side, va in ((1, "bottom"), (-1, "top"))
        for t in shares
    ]  # fmt: skip


def draw_band(crowd: Crowd, band: tuple[float, float] | None) -> None:
    """Shade ``band`` and write its labels beside it, at the top if nothing else is there."""
    if band is None:
        return
    ax = crowd.ax
    ax.axvspan(*band, color=COLOUR, alpha=SHADE, lw=0, zorder=0.5)
    foot, top = ax.get_ylim()
    for text, edge, ha, side in zip(labels(band), band, ("right", "left"), (-6, 6)):
        (x, low), (_, high) = crowd.pixel(edge, foot), crowd.pixel(edge, top)
        places = [
            *(high - down for down in (26, 46, 66)),
            *(low + up for up in (24, 44, 64, 6, 84)),
        ]
        spots = [Spot(x + side, y, ha, "bottom") for y in places]
        crowd.write(text, spots, color=COLOUR, fontsize=theme.SMALL)


# The words on the roofs: bandwidths, peaks and ridges, each figure once.


def label_machine(
    crowd: Crowd, groups: Sequence[Sequence[Ceiling]], active: Collection[str], name: str = ""
) -> None:
    """Label the roofs of one machine (a group of ceilings per dtype), each figure once.

    ``name`` stands before the labels when there are several machines.
    """
    if not name:
        label_ceilings(crowd, groups[0], active)
    # The farthest active level: where both sides are shown that is memory, whose ridge counts.
    tops = [next((c for c in reversed(group) if c.level in active), group[-1]) for group in groups]
    for peak in dict.fromkeys(float(top.roof.peak) for top in tops):
        same = [top for top in tops if top.roof.peak == peak]
        kinds = ", ".join(str(top.roof.dtype) for top in same)
        label_peak(crowd, same[0], f"{kinds} {si(peak, 'FLOP/s')}", name)
    if name:  # which stands on the flat part at least
        label_ceilings(crowd, groups[0], active, name)


def label_ceilings(
    crowd: Crowd, ceilings: Sequence[Ceiling], active: Collection[str], name: str = ""
) -> None:
    """Write the bandwidths: one on its slanted line, several in a column, bold where they count."""
    if len(ceilings) == 1:
        label_slope(crowd, ceilings[0], name)
        return
    x0, y0, x1, y1 = crowd.frame
    right = [Spot(x1 - KEY, y1 - down * (y1 - y0), "left", "top") for down in (0.02, 0.3, 0.4)]
    heading = f"{name}, roofs from the top" if name else "roofs from the top"
    rows = [(ceiling.slope_text, ceiling.level in active) for ceiling in ceilings]
    corners = [Spot(x0 + 8, right[0].y, "left", "top"), *right]
    crowd.write_rows([(heading, False), *rows], corners, color=theme.CARRYING)


def label_slope(crowd: Crowd, ceiling: Ceiling, name: str = "") -> None:
    """Write the bandwidth of ``ceiling`` along its slanted line, where there is room."""
    ax, roof = crowd.ax, ceiling.roof
    (x_lo, x_hi), y_lo = ax.get_xlim(), ax.get_ylim()[0]
    left = max(x_lo, y_lo / roof.bandwidth)
    start, end = (crowd.pixel(x, roof.attainable(x)) for x in (left, min(roof.ridge, x_hi)))
    if end[0] - start[0] < 60:
        return
    rate = si(roof.bandwidth, "B/s")
    texts = (
        *(f"{one}: {what}" for what in (ceiling.slope_text, rate) for one in names(name)),
        *((ceiling.slope_text,) if not name else ()),
        rate,
    )
    spots = along(start, end, (0.3, 0.45, 0.6, 0.2, 0.75, 0.1, 0.9))
    crowd.write(texts, spots, color=theme.CARRYING, fontsize=_size(name), weight="bold")


def label_peak(crowd: Crowd, ceiling: Ceiling, text: str, name: str = "") -> None:
    """Write ``text`` on the flat roof of ``ceiling`` and its ridge at the foot."""
    x_hi = crowd.ax.get_xlim()[1]
    roof = ceiling.roof
    right, y = crowd.pixel(x_hi, roof.peak)
    bend = crowd.pixel(min(roof.ridge, x_hi), roof.peak)[0]
    spots = [
        Spot(x, y + side, ha, va)
        for side, va in ((5, "bottom"), (-6, "top"))
        for x, ha in ((right - 4, "right"), ((right + bend) / 2, "center"), (bend + 8, "left"))
    ]
    texts = [f"{one}: {what}" for what in (text, si(roof.peak, "FLOP/s")) for one in names(name)]
    look: Look = {"color": theme.COMPUTING, "fontsize": _size(name), "weight": "bold"}
    crowd.write(texts or text, spots, **look)
    ridge, foot = crowd.pixel(roof.ridge, crowd.ax.get_ylim()[0])
    if roof.ridge < x_hi:
        spots = [Spot(ridge + 5, foot + up, "left", "bottom") for up in (5, 20, 35)]
        spots += [Spot(ridge - 5, foot + up, "right", "bottom") for up in (5, 20, 35)]
        crowd.write(f"ridge {theme.ridge(roof.ridge)}", spots, fontsize=theme.SMALL)


def names(name: str) -> list[str]:
    """A machine's name, then without its maker; none for ""."""
    maker, _, rest = name.partition(" ")
    return [name, rest] if maker in MAKERS and rest else [name] if name else []


def _size(name: str) -> float:
    """Points of a roof's label: smaller where each carries the machine's ``name`` as well."""
    return theme.SMALL - 1.5 if name else theme.SMALL
