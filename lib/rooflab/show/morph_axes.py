"""Axes of the morph at its three layouts, as numbers for a browser: scales, ticks, names.

Layout 0 is time against work, 1 rate against intensity (both from zero), 2 the same in decades.
From 1 to 2 a place moves along its own axis only: what stands above another stays above it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rooflab.count.si import si
from rooflab.show import theme
from rooflab.show.calls import CallLine
from rooflab.show.morph_points import Dot
from rooflab.show.polylines import Ceiling

WIDTH, HEIGHT = 720, 490
PLOT = (76, 34, 704, 436)  # left, top, right, bottom
NAMES = (
    ("work in one call (FLOP)", "time of one call"),
    ("intensity: FLOP per byte moved", "FLOP per second"),
    ("intensity: FLOP per byte moved", "FLOP per second, each step a factor of ten"),
)


@dataclass(frozen=True)
class Scale:
    """Values to pixels along one axis, from ``lo`` at ``start`` to ``hi`` at ``end``."""

    lo: float
    hi: float
    start: float
    end: float
    log: bool = False

    def __call__(self, value: float) -> float:
        """Pixels of ``value``; what is off a log scale stays within reach of a screen."""
        if self.log:
            floor = self.lo / 1e3
            share = math.log(max(value, floor) / self.lo) / math.log(self.hi / self.lo)
        else:
            share = (value - self.lo) / (self.hi - self.lo)
        return round(self.start + min(max(share, -9), 9) * (self.end - self.start), 1)

    def ticks(self) -> list[float]:
        """Round values within the limits: decades, or about five steps."""
        if not self.log:
            from matplotlib.ticker import MaxNLocator

            found = MaxNLocator(5, steps=[1, 2, 2.5, 5, 10]).tick_values(self.lo, self.hi)
            return [float(v) for v in found if self.lo <= v <= self.hi]
        first, last = math.ceil(math.log10(self.lo)), math.floor(math.log10(self.hi))
        skip = 1 + (last - first) // 8
        return [10.0**e for e in range(first, last + 1, skip)]


@dataclass(frozen=True)
class Layout:
    """Both scales at one layout; ``index`` 0, 1 or 2."""

    index: int
    x: Scale
    y: Scale

    def place(self, intensity: float, flops: float, seconds: float) -> list[float]:
        """Pixels [x, y] of something that does ``flops`` in ``seconds``."""
        if self.index == 0:
            return [self.x(flops), self.y(seconds)]
        return [self.x(intensity), self.y(flops / seconds)]


def layouts(
    dots: Sequence[Dot], roofs: Sequence[Ceiling], calls: Sequence[CallLine]
) -> tuple[Layout, Layout, Layout]:
    """The three layouts that hold all ``dots``, and in decades the roofs and call lines as well."""
    left, top, right, bottom = PLOT
    flops, seconds = [d.op.flops for d in dots], [d.seconds for d in dots]
    intensity, rate = [d.op.intensity for d in dots], [d.rate for d in dots]
    peaks = [c.roof.peak for c in roofs]
    ridges = [c.roof.ridge for c in roofs]

    def linear(values: Sequence[float], start: float, end: float) -> Scale:
        return Scale(0, 1.09 * max(values), start, end)

    slow = [min(max(d.guessed_rate or d.rate, min(rate) / 30), max(rate) * 30) for d in dots]
    slow += [d.rate / 10 for d in dots if d.asked is not None]  # room for what will be guessed
    low_x = min(intensity) / 4  # room for names on the left as well
    high_x = max(*intensity, *(3 * r for r in ridges), 10 * low_x) * 3
    low_y, high_y = min(*rate, *slow) / 3, max(*rate, *slow, *peaks) * 3
    return (
        Layout(0, linear(flops, left, right), linear(seconds, bottom, top)),
        Layout(1, linear(intensity, left, right), linear(rate, bottom, top)),
        Layout(2, Scale(low_x, high_x, left, right, True), Scale(low_y, high_y, bottom, top, True)),
    )


def axes(three: Sequence[Layout]) -> list[dict[str, Any]]:
    """Ticks of each layout: [text, pixel here, pixel in the other layout of the same quantity]."""
    partner = {0: 0, 1: 2, 2: 1}
    found = []
    for layout in three:
        other = three[partner[layout.index]]
        unit = "s" if layout.index == 0 else ""
        found.append(
            {
                "names": list(NAMES[layout.index]),
                "x": _ticks(layout.x, other.x, "" if layout.index == 0 else None),
                "y": _ticks(layout.y, other.y, unit),
            }
        )
    return found


def _ticks(scale: Scale, other: Scale, unit: str | None) -> list[list[Any]]:
    """``unit`` None writes an intensity, anything else a value in that unit with its prefix."""
    said = theme.intensity if unit is None else lambda value: short(value, unit)
    return [
        [said(v) if v else "0", scale(v), min(max(other(v), -400.0), 1200.0)] for v in scale.ticks()
    ]


def short(value: float, unit: str) -> str:
    """``5 ms``, ``2.5 G``: an SI number without the zeros that say nothing."""
    number, _, rest = si(value, unit).partition(" ")
    return f"{float(number):g} {rest}".rstrip()
