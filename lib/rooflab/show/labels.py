"""Text that finds a free place: everything drawn is a crowd of discs, a label must not step on it.

Works for slanted text too, which bounding boxes do not: a label is a row of discs along its line.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patheffects import withStroke

from rooflab.show import theme


@dataclass(frozen=True)
class Spot:
    """A place for a label: anchor in pixels, alignment, and the text's angle in degrees."""

    x: float
    y: float
    ha: str = "left"
    va: str = "center"
    angle: float = 0.0


@dataclass
class Crowd:
    """What already stands on ``ax``, as discs (x, y, radius) in pixels."""

    ax: Axes
    discs: list[tuple[float, float, float]] = field(default_factory=list)

    def pixel(self, x: float, y: float) -> tuple[float, float]:
        """Pixels (y upwards) of a data point."""
        px, py = self.ax.transData.transform((x, y))
        return float(px), float(py)

    def add_line(self, corners: Sequence[tuple[float, float]], radius: float = 2.0) -> None:
        """Add a polyline given by its corners in pixels."""
        for (x0, y0), (x1, y1) in zip(corners, corners[1:]):
            steps = max(2, int(math.hypot(x1 - x0, y1 - y0) / 5))
            for t in np.linspace(0, 1, steps):
                self.discs.append((x0 + t * (x1 - x0), y0 + t * (y1 - y0), radius))

    def add_disc(self, x: float, y: float, radius: float) -> None:
        """Add a marker at pixels (x, y)."""
        self.discs.append((x, y, radius))

    def write(self, text: str, spots: Iterable[Spot], **style: object) -> None:
        """Write ``text`` at the spot where it steps on the least; earlier spots win ties."""
        size = (*self._extent(text, style), text.count("\n") + 1)
        best = min(((self._cost(self._rows(s, *size)), i, s) for i, s in enumerate(spots)))
        spot = best[2]
        self.discs += self._rows(spot, *size)
        # Figure points, unlike pixels, stay where they are when the figure is saved at another dpi.
        points = 72 / self.ax.figure.dpi
        self.ax.annotate(
            text, (spot.x * points, spot.y * points), xycoords="figure points",
            ha=spot.ha, va=spot.va, rotation=spot.angle, rotation_mode="anchor",
            annotation_clip=False, **style,
            path_effects=[withStroke(linewidth=3, foreground=theme.PAPER)],
        )  # fmt: skip

    def _extent(self, text: str, style: dict[str, object]) -> tuple[float, float]:
        probe = self.ax.text(0, 0, text, **style)
        box = probe.get_window_extent(self.ax.figure.canvas.get_renderer())
        probe.remove()
        return box.width, box.height

    def _rows(
        self, spot: Spot, width: float, height: float, lines: int
    ) -> list[tuple[float, float, float]]:
        """Discs along the middle of each of the ``lines`` of a text of that size at ``spot``."""
        high = height / lines
        middles = (height / 2 - (line + 0.5) * high for line in range(lines))
        return [disc for up in middles for disc in self._row(spot, width, height, high, up)]

    def _row(
        self, spot: Spot, width: float, height: float, high: float, up: float
    ) -> list[tuple[float, float, float]]:
        """Discs along a line of the text, ``high`` pixels high and ``up`` above its middle."""
        shift = {"left": 0.0, "center": -width / 2, "right": -width}[spot.ha]
        rise = {"bottom": height / 2, "center": 0.0, "top": -height / 2}[spot.va] + up
        cos, sin = math.cos(math.radians(spot.angle)), math.sin(math.radians(spot.angle))
        radius = high / 2
        count = max(2, int(width / radius) + 1)
        return [
            (
                spot.x + (shift + s) * cos - rise * sin,
                spot.y + (shift + s) * sin + rise * cos,
                radius,
            )
            for s in np.linspace(min(radius, width / 2), max(width - radius, width / 2), count)
        ]

    def _cost(self, row: list[tuple[float, float, float]]) -> float:
        mine = np.array(row)
        frame = self.ax.get_window_extent()
        out = np.maximum(0, frame.x0 + mine[:, 2] - mine[:, 0]) + np.maximum(
            0, mine[:, 0] + mine[:, 2] - frame.x1
        )
        out += np.maximum(0, frame.y0 + mine[:, 2] - mine[:, 1])
        out += np.maximum(0, mine[:, 1] + mine[:, 2] - frame.y1 - 12)
        cost = 10 * float(out.sum())
        if self.discs:
            others = np.array(self.discs)
            apart = np.hypot(
                mine[:, None, 0] - others[None, :, 0], mine[:, None, 1] - others[None, :, 1]
            )
            cost += float(np.maximum(0, mine[:, None, 2] + others[None, :, 2] - apart).sum())
        return cost


def around(x: float, y: float, gap: float) -> list[Spot]:
    """Places around a marker at pixels (x, y), the best one first."""
    return [
        Spot(x + gap, y - 0.9 * gap, "left"),
        Spot(x + gap, y, "left"),
        Spot(x - gap, y + 0.9 * gap, "right"),
        Spot(x - gap, y, "right"),
        Spot(x, y - 1.1 * gap, "center", "top"),
        Spot(x, y + 1.1 * gap, "center", "bottom"),
        Spot(x + gap, y + 0.9 * gap, "left"),
        Spot(x - gap, y - 0.9 * gap, "right"),
        Spot(x + 1.2 * gap, y - 2.2 * gap, "left"),
        Spot(x - 1.2 * gap, y + 2.2 * gap, "right"),
        Spot(x + 1.2 * gap, y - 3.5 * gap, "left"),
        Spot(x - 1.2 * gap, y - 2.6 * gap, "right"),
        Spot(x, y - 3.6 * gap, "center", "top"),
    ]
