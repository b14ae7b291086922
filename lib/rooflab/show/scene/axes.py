"""Axes of a scene: values to pixels along one of them, ticks, grid and names."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rooflab.show.scene import Number, Scene

LETTERS = 14  # pixels of what stands at a tick
REACH = 9  # lengths of an axis beyond its end at which a place is still a number of pixels


@dataclass(frozen=True)
class Scale:
    """Values to pixels along an axis, from ``lo`` at ``start`` to ``hi`` at ``end``."""

    lo: float
    hi: float
    start: float
    end: float
    log: bool = False

    def __call__(self, value: Any) -> Any:
        """Pixels of a value or an array of them; what is far off stays within reach."""
        found = np.asarray(value, float)
        if self.log:
            floor = self.lo / 1e3
            share = np.log(np.maximum(found, floor) / self.lo) / math.log(self.hi / self.lo)
        else:
            share = (found - self.lo) / (self.hi - self.lo)
        places = self.start + np.clip(share, -REACH, REACH) * (self.end - self.start)
        return float(places) if places.ndim == 0 else places

    def decades(self) -> list[float]:
        """Powers of ten within the limits, about eight of them at most."""
        first, last = math.ceil(math.log10(self.lo)), math.floor(math.log10(self.hi))
        return [10.0**e for e in range(first, last + 1, 1 + (last - first) // 8)]

    def steps(self, multiples: Sequence[float] = (1, 2, 5)) -> list[float]:
        """The ``multiples`` of each power of ten within the limits of a log axis."""
        first, last = math.floor(math.log10(self.lo)), math.ceil(math.log10(self.hi))
        every = [m * 10.0**e for e in range(first, last + 1) for m in multiples]
        return [v for v in every if self.lo <= v <= self.hi]

    def even(self, many: int = 5) -> list[float]:
        """About ``many`` round values within the limits of a linear axis."""
        from matplotlib.ticker import MaxNLocator

        found = MaxNLocator(many, steps=[1, 2, 2.5, 5, 10]).tick_values(self.lo, self.hi)
        return [float(v) for v in found if self.lo <= v <= self.hi]


@dataclass(frozen=True)
class Frame:
    """The plotting area of a scene in pixels, y downwards."""

    left: float
    top: float
    right: float
    bottom: float

    @property
    def box(self) -> tuple[float, float, float, float]:
        """Left, top, right and bottom: what clips a line."""
        return self.left, self.top, self.right, self.bottom

    def x(self, lo: float, hi: float, *, log: bool = True) -> Scale:
        """The scale from ``lo`` at the left to ``hi`` at the right."""
        return Scale(lo, hi, self.left, self.right, log)

    def y(self, lo: float, hi: float, *, log: bool = True) -> Scale:
        """The scale from ``lo`` at the bottom to ``hi`` at the top."""
        return Scale(lo, hi, self.bottom, self.top, log)

    def draw(self, scene: Scene) -> None:
        """The two lines of the axes."""
        points = [(self.left, self.top), (self.left, self.bottom), (self.right, self.bottom)]
        scene.line(points, "soft", 1, name="axis")

    def x_ticks(
        self, scene: Scene, scale: Scale, values: Sequence[float], write: Callable[[float], str],
        *, opacity: Number = 1, below: float = 20, grid: bool = True,
    ) -> None:  # fmt: skip
        """Grid lines and texts at ``values``, ``below`` pixels under the axis; crowded ones go."""
        last = -math.inf
        for value in values:
            x, words = scale(value), write(value)
            if grid:
                scene.line([(x, self.top), (x, self.bottom)], "grid", 1, opacity=opacity)
            half = 0.3 * LETTERS * len(words) + 3
            if x - half > last:
                scene.text(
                    x, self.bottom + below, words, size=LETTERS, anchor="middle", opacity=opacity
                )
                last = x + half

    def y_ticks(
        self, scene: Scene, scale: Scale, values: Sequence[float], write: Callable[[float], str],
        *, opacity: Number = 1,
    ) -> None:  # fmt: skip
        """Grid lines and texts at ``values``, left of the axis."""
        for value in values:
            y = scale(value)
            scene.line([(self.left, y), (self.right, y)], "grid", 1, opacity=opacity)
            scene.text(
                self.left - 7, y + 5, write(value), size=LETTERS, anchor="end", opacity=opacity
            )
