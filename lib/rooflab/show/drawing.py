"""The parts of a roofline drawing: ceilings with their labels, points with theirs.

Used by the static figure and by the still picture that a live roofline leaves in a notebook.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from matplotlib.figure import Figure

from rooflab.count.operation import Operation
from rooflab.count.si import si, times
from rooflab.show import theme, words
from rooflab.show.labels import Crowd, Spot, around
from rooflab.show.polylines import Ceiling
from rooflab.show.sides import SIDES

KINDS = ("bound", "predicted", "measured", "guess")
_NAMED_AT = ("guess", "measured", "bound", "predicted")  # where an operation's name stands first
SIZES = {"bound": theme.MARKER, "predicted": 0.55 * theme.MARKER}


class Picture(Figure):
    """A matplotlib figure that a notebook shows by itself, with ``words`` as its text twin.

    IPython draws figures only after pyplot was imported, which this package never does.
    """

    words: str = ""

    def _repr_mimebundle_(self, **kwargs: object) -> tuple[dict, dict]:
        from rooflab.show import overlay

        return overlay.mimebundle({}, overlay.png(self, transparent=False), self.words)

    def __repr__(self) -> str:
        return self.words or super().__repr__()


@dataclass(frozen=True)
class Point:
    """A marker on a roofline: ``op`` at ``rate`` FLOP/s.

    ``kind``: "bound" or "predicted" (hollow), "measured" (filled), "guess" (hollow, dashed, with
    "off by ×k" when the same operation was measured). ``label``: default, the operation's sizes.
    ``side``: "cold" or "warm" draws a ring around it; ``note`` stands below the label.
    """

    op: Operation
    rate: float
    kind: str = "measured"
    label: str | None = None
    allowed: float | None = None
    side: str | None = None
    note: str = ""

    @property
    def text(self) -> str:
        """What stands beside the marker."""
        return words.short(self.op) if self.label is None else self.label


def draw_ceilings(
    crowd: Crowd, ceilings: Sequence[Ceiling], active: Collection[str], dashes: str = "-"
) -> None:
    """Draw roofs that share one peak; those of the ``active`` levels are thick, with their ridge."""
    ax = crowd.ax
    x_lo, x_hi = ax.get_xlim()
    for ceiling in ceilings:
        roof, thick = ceiling.roof, ceiling.level in active
        xs = [x_lo, min(roof.ridge, x_hi), x_hi]
        ys = [roof.attainable(x) for x in xs]
        ax.plot(
            xs, ys, dashes, color="#444444" if thick else theme.CEILING,
            lw=2.6 if thick else 1.1, solid_joinstyle="miter", zorder=2,
        )  # fmt: skip
        crowd.add_line([crowd.pixel(x, y) for x, y in zip(xs, ys)])
        if thick and x_lo < roof.ridge < x_hi:
            foot = (roof.ridge, ax.get_ylim()[0])
            ax.plot(
                [roof.ridge] * 2, [foot[1], roof.peak], ":", color=theme.CEILING, lw=1.2, zorder=1
            )
            crowd.add_line([crowd.pixel(*foot), crowd.pixel(roof.ridge, roof.peak)], 1)


def label_ceilings(
    crowd: Crowd, ceilings: Sequence[Ceiling], active: Collection[str], name: str = ""
) -> None:
    """Write the bandwidths: on the active slanted lines, and in a key when caches crowd them."""
    if len(ceilings) > 1:
        key = "\n".join(["roofs from the top", *(ceiling.slope_text for ceiling in ceilings)])
        box = crowd.ax.get_window_extent()
        up = [Spot(box.x1 - 170, box.y1 - 10, "left", "top")]
        up += [
            Spot(box.x1 - 170, box.y0 + part * box.height, "left", "center") for part in (0.6, 0.5)
        ]
        crowd.write(key, [Spot(box.x0 + 8, box.y1 - 10, "left", "top"), *up], linespacing=1.35,
                    fontsize=theme.SMALL, color="#333333")  # fmt: skip
    for ceiling in ceilings:
        if ceiling.level in active or len(ceilings) == 1:
            label_slope(crowd, ceiling, name)


def label_slope(crowd: Crowd, ceiling: Ceiling, name: str = "") -> None:
    """Write the bandwidth of ``ceiling`` along its slanted line, where there is room."""
    ax, roof = crowd.ax, ceiling.roof
    (x_lo, x_hi), y_lo = ax.get_xlim(), ax.get_ylim()[0]
    left = max(x_lo, y_lo / roof.bandwidth)
    ends = [crowd.pixel(x, roof.attainable(x)) for x in (left, min(roof.ridge, x_hi))]
    (x0, y0), (x1, y1) = ends
    if x1 - x0 < 60:
        return
    angle = math.degrees(math.atan2(y1 - y0, x1 - x0))
    spots = [
        Spot(x0 + t * (x1 - x0), y0 + t * (y1 - y0) + side, "center", va, angle)
        for side, va in ((7, "bottom"), (-7, "top"))
        for t in (0.3, 0.45, 0.6, 0.2, 0.75, 0.1, 0.9)
    ]
    label = f"{name}: {ceiling.slope_text}" if name else ceiling.slope_text
    crowd.write(label, spots, color="#333333", fontsize=_size(name), weight="bold")


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
    crowd.write(
        f"{name}: {text}" if name else text,
        spots,
        color="#333333",
        fontsize=_size(name),
        weight="bold",
    )
    ridge, foot = crowd.pixel(roof.ridge, crowd.ax.get_ylim()[0])
    if roof.ridge < x_hi:
        spots = [Spot(ridge + 5, foot + up, "left", "bottom") for up in (5, 20, 35)]
        spots += [Spot(ridge - 5, foot + up, "right", "bottom") for up in (5, 20, 35)]
        crowd.write(
            f"ridge {theme.ridge(roof.ridge)}", spots, color="#333333", fontsize=theme.SMALL
        )


def _size(name: str) -> float:
    """Points of a roof's label: smaller where each carries the machine's ``name`` as well."""
    return theme.SMALL - 1.5 if name else theme.SMALL


def label_machine(
    crowd: Crowd, groups: Sequence[Sequence[Ceiling]], active: Collection[str], name: str = ""
) -> None:
    """Label the roofs of one machine (a group of ceilings per dtype), each figure once.

    ``name`` stands before the labels when there are several machines.
    """
    label_ceilings(crowd, groups[0], active, name)
    # The farthest active level: where both sides are shown that is memory, whose ridge counts.
    tops = [next((c for c in reversed(group) if c.level in active), group[-1]) for group in groups]
    for peak in dict.fromkeys(float(top.roof.peak) for top in tops):
        same = [top for top in tops if top.roof.peak == peak]
        kinds = ", ".join(str(top.roof.dtype) for top in same)
        label_peak(crowd, same[0], f"{kinds} {si(peak, 'FLOP/s')}", name)


def draw_points(crowd: Crowd, points: Sequence[Point]) -> None:
    """Draw ``points``: a dotted gap up to the roof for measured ones, a band from guess to truth."""
    ax = crowd.ax
    truth = {p.op.label: p.rate for p in points if p.kind == "measured"}
    for p in points:
        x, rate, colour = p.op.intensity, _inside(ax, p.rate), theme.style(p.op.name).colour
        _mark(ax, p, rate)
        crowd.add_disc(*crowd.pixel(x, rate), SIDES[p.side].radius if p.side else 9)
        if p.kind == "measured" and p.allowed and p.allowed / p.rate > 1.15:
            ax.plot([x, x], [rate, p.allowed], ":", lw=1.6, color=colour, zorder=3)
        if p.kind == "guess" and p.op.label in truth:
            right = _inside(ax, truth[p.op.label])
            ax.plot([x, x], [rate, right], "-", lw=5, alpha=0.25, color=colour, zorder=2)
            crowd.add_line([crowd.pixel(x, rate), crowd.pixel(x, right)], 3)


def draw_splits(crowd: Crowd, points: Sequence[Point]) -> None:
    """Join the cold and the warm marker of an operation by a broad band."""
    cold = {p.op.label: p for p in points if p.side == "cold"}
    for p in points:
        other = cold.get(p.op.label)
        if p.side == "warm" and other:
            ends = [_inside(crowd.ax, one.rate) for one in (other, p)]
            colour = theme.style(p.op.name).colour
            crowd.ax.plot([p.op.intensity] * 2, ends, "-", lw=6, alpha=0.25, color=colour, zorder=2)
            crowd.add_line([crowd.pixel(p.op.intensity, end) for end in ends], 3)


def label_points(crowd: Crowd, points: Sequence[Point]) -> None:
    """Name every operation once, at its measured point if it has one; guesses get their ×k."""
    truth = {p.op.label: p.rate for p in points if p.kind == "measured"}
    named: set[str] = set()
    for p in sorted(points, key=lambda p: _NAMED_AT.index(p.kind)):
        text = _label(p, truth, named)
        if text:
            x, y = crowd.pixel(p.op.intensity, _inside(crowd.ax, p.rate))
            gap = SIDES[p.side].radius + 4 if p.side else 11
            crowd.write(text, around(x, y, gap), color=theme.style(p.op.name).colour,
                        fontsize=theme.SMALL + 0.5, zorder=6)  # fmt: skip


def _inside(ax, rate: float) -> float:
    lo, hi = ax.get_ylim()
    return min(max(rate, lo), hi)


def _label(p: Point, truth: dict[str, float], named: set[str]) -> str:
    if p.kind == "guess":
        right = truth.get(p.op.label)
        if right is None:
            return "your guess"
        return f"your guess, off by {times(max(right / p.rate, p.rate / right))}"
    if p.op.label in named:
        return p.note  # one name for a measured point and its bound
    named.add(p.op.label)
    return "\n".join(filter(None, (p.text, p.note)))


def _mark(ax, p: Point, rate: float) -> None:
    look = theme.style(p.op.name)
    filled = p.kind == "measured"
    ax.plot(
        [p.op.intensity], [rate], look.marker, ms=SIZES.get(p.kind, theme.MARKER),
        mfc=look.colour if filled else theme.PAPER, mec=theme.PAPER if filled else look.colour,
        mew=1.0 if filled else 2.2, zorder=5 if filled else 4, clip_on=False,
    )  # fmt: skip
    if p.side:
        ring = SIDES[p.side]
        ax.plot(
            [p.op.intensity], [rate], "o", ms=1.44 * ring.radius, mfc="none", mec=ring.colour,
            mew=3, zorder=4, clip_on=False,
        )  # fmt: skip
    if p.kind == "guess":  # a dashed look that survives any marker size
        ax.plot([p.op.intensity], [rate], look.marker, ms=4, mfc=look.colour, mec="none", zorder=6)
