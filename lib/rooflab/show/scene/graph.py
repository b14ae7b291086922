"""Values of a scene that lie on a graph: along a line, on axes that fit, read as a number.

They are worked out of other values where they are shown, so that a picture of many states needs no
table of all of them. All are decades, the log10 of what they stand for: there a roof is a straight
line, a factor is a length, and axes only shift and stretch.

>>> import numpy as np
>>> from rooflab.show.scene.graph import Along, Less, Reading, rates
>>> roof = np.array([-2.0, 9.0, 1.0, 12.0, 4.0, 12.0])  # two lines that meet at 10 FLOP/byte
>>> float(Along(np.array([0.0]), roof).work(np.array([0.0]), roof)[0])
11.0
>>> Reading(rates(), np.array([11.0])).work(np.array([11.0]))
'100 GFLOP/s'
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from rooflab.count.si import percent, si, times
from rooflab.show import theme
from rooflab.show.scene import Made, Value

NUMBER = np.ndarray


@dataclass(frozen=True)
class Along(Made):
    """The height at ``x`` of a ``line`` of corners x0, y0, x1, y1, … that rise in x."""

    x: Value
    line: Value
    kind = "along"

    def work(self, x: NUMBER, line: NUMBER) -> NUMBER:  # type: ignore[override]
        corners = line.reshape(-1, 2)
        n = int(np.clip(np.searchsorted(corners[1:-1, 0], x[0], "right"), 0, len(corners) - 2))
        (x0, y0), (x1, y1) = corners[n : n + 2]
        return np.array([y0 + (x[0] - x0) / (x1 - x0) * (y1 - y0)])


@dataclass(frozen=True)
class OnAxes(Made):
    """Pixels x, y, x, y, … of the points with these decades, one after the other.

    ``axes``: the six numbers of :func:`axes`.
    """

    points: tuple[Value, ...]
    axes: Value
    kind = "axes"

    @property
    def parts(self) -> tuple[Value, ...]:
        return (self.axes, *self.points)

    def work(self, axes: NUMBER, *points: NUMBER) -> NUMBER:  # type: ignore[override]
        left, low, across, foot, floor, up = axes
        places = np.concatenate([np.ravel(one) for one in points]).astype(float)
        places[0::2] = left + (places[0::2] - low) * across
        places[1::2] = foot - (places[1::2] - floor) * up
        return places


@dataclass(frozen=True)
class Less(Made):
    """``a`` less ``b``, number by number: a factor, in decades."""

    a: Value
    b: Value
    kind = "less"

    def work(self, a: NUMBER, b: NUMBER) -> NUMBER:  # type: ignore[override]
        return np.asarray(a - b)


@dataclass(frozen=True)
class Above(Made):
    """The place 1 where ``value`` is above 0, else 0: what a dimension can follow from."""

    value: Value
    kind = "above"

    def work(self, value: NUMBER) -> NUMBER:  # type: ignore[override]
        return np.array([float(np.ravel(value)[0] > 0)])


@dataclass(frozen=True)
class Either(Made):
    """The one of ``options`` whose number ``which`` is: numbers, or words such as a colour."""

    which: Value
    options: tuple[Value | str, ...]
    kind = "either"

    def work(self, which: NUMBER, *options: NUMBER) -> NUMBER | str:  # type: ignore[override]
        found = options[int(np.ravel(which)[0])]
        return str(found[0]) if found.dtype.kind == "U" else found


@dataclass(frozen=True)
class Ruler:
    """Reads decades as a rounded number: nothing is counted or formatted in a browser.

    ``marks`` are the places within a decade at which the number changes, ``labels`` what stands
    beside them over some decades, the first of which is ``low``; then the labels repeat, each time
    with the next of ``suffixes``.
    """

    name: str
    marks: tuple[float, ...]
    labels: tuple[str, ...]
    low: int
    suffixes: tuple[str, ...] = ("",)

    def read(self, decades: float) -> str:
        """What the number at that place is written as."""
        decade, many = math.floor(decades), len(self.marks)
        at = int(np.searchsorted(self.marks, decades - decade, "right"))
        if at == many:
            decade, at = decade + 1, 0
        period, row = len(self.labels) // many, decade - self.low
        turn = row // period
        if row < 0:
            return self.ends[0]
        if turn >= len(self.suffixes):
            return self.ends[1]
        return self.labels[row % period * many + at] + self.suffixes[turn]

    @property
    def ends(self) -> tuple[str, str]:
        """What it says of a number that is below its first label, and above its last one."""
        first, last = self.labels[0] + self.suffixes[0], self.labels[-1] + self.suffixes[-1]
        return f"less than {first}", f"more than {last}"

    def packed(self) -> dict[str, Any]:
        """Itself as a browser takes it."""
        scale = {"marks": [round(m, 7) for m in self.marks], "labels": "|".join(self.labels)}
        suffixes, ends = [*self.suffixes], [*self.ends]
        return {"scale": scale, "low": self.low, "suffixes": suffixes, "ends": ends}


@dataclass(frozen=True)
class Reading(Made):
    """Words: what a ``ruler`` reads at ``value``."""

    ruler: Ruler
    value: Value
    kind = "reading"

    @property
    def parts(self) -> tuple[Value, ...]:
        return (self.value,)

    def work(self, value: NUMBER) -> str:  # type: ignore[override]
        decades = float(np.ravel(value)[0])
        return "" if math.isnan(decades) else self.ruler.read(decades)

    @property
    def longest(self) -> str:
        return max(self.ruler.labels, key=len) + max(self.ruler.suffixes, key=len)


def _ruler(
    name: str, digits: int, decades: range, label: Callable[[float], str],
    suffixes: tuple[str, ...] = ("",),
) -> Ruler:  # fmt: skip
    lo, hi = 10 ** (digits - 1), 10**digits
    # A number half-way between two is read as the upper one: 32 bits would leave that to chance.
    marks = tuple(math.log10((mantissa + 0.5) / lo) - 2e-6 for mantissa in range(lo, hi))
    labels = tuple(label(n / lo * 10.0**e) for e in decades for n in range(lo, hi))
    return Ruler(name, marks, labels, decades.start, suffixes)


@cache
def rates(unit: str = "FLOP/s") -> Ruler:
    """From 1 to 10¹⁸ in ``unit``, three digits."""
    suffixes = tuple(f" {si(10.0**e, unit).partition(' ')[2]}" for e in range(0, 18, 3))
    return _ruler(unit, 3, range(3), si, suffixes)


@cache
def shares() -> Ruler:
    """A share of the peak, from one millionth to ten times it, two digits."""
    return _ruler("share", 2, range(-6, 1), percent)


@cache
def gaps() -> Ruler:
    """A ratio from 1 to 9,990, three digits, without the × of :func:`rooflab.count.si.times`."""
    return _ruler("gap", 3, range(4), lambda ratio: times(ratio).removeprefix("×"))


@cache
def ridges() -> Ruler:
    """An intensity from 0.01 to 9990 FLOP/byte, three digits."""
    return _ruler("ridge", 3, range(-2, 4), theme.ridge)
