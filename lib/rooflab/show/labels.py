"""Labels on a matplotlib axes: each spot for a text becomes boxes, of which a Room takes the best.

Slanted text is a row of small boxes along its line: a bounding box would cover half the picture.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patheffects import withStroke

from rooflab.show import theme
from rooflab.show.room import Box, Point, Room

ABOVE = 12  # pixels over the axes where a label may still stand
SLANTED = 0.65  # part of a slanted text's height that its boxes need to keep off a round marker
CROSSED = 3  # spots that a label rather passes over than to cross a line


@dataclass(frozen=True)
class Spot:
    """A place for a label: anchor in pixels, alignment, and the text's angle in degrees."""

    x: float
    y: float
    ha: str = "left"
    va: str = "center"
    angle: float = 0.0


class Crowd:
    """What already stands on ``ax``, in pixels (y upwards), and the room that is left."""

    def __init__(self, ax: Axes) -> None:
        frame = ax.get_window_extent()
        self.ax = ax
        self.room = Room((frame.x0, frame.y0, frame.x1, frame.y1 + ABOVE))

    def pixel(self, x: float, y: float) -> tuple[float, float]:
        """Pixels (y upwards) of a data point."""
        px, py = self.ax.transData.transform((x, y))
        return float(px), float(py)

    def add_line(self, corners: Sequence[Point], radius: float = 2.0) -> None:
        """Add a polyline given by its corners in pixels."""
        self.room.add_line(corners, radius, CROSSED)

    def add_disc(self, x: float, y: float, radius: float) -> None:
        """Add a marker at pixels (x, y)."""
        self.room.add_marker(x, y, radius)

    def add_box(self, box: Box) -> None:
        """Add what no label may lie on, in pixels."""
        self.room.taken.append(box)

    def write(
        self,
        text: str,
        spots: Iterable[Spot],
        own: Sequence[Point] = (),
        forced: bool = True,
        **style: object,
    ) -> bool:
        """Write ``text``, which belongs to the markers ``own``, at the best of ``spots``.

        Returns whether there was one: unless it is ``forced``, a text keeps off all others.
        """
        spots, size = list(spots), self._extent(text, style)
        best = self._take([_boxes(spot, *size) for spot in spots], own, forced)
        if best is not None:
            self.room.taken += _boxes(spots[best], *size, whole=True)
            self._annotate(text, spots[best], style)
        return best is not None

    def write_rows(self, rows: Sequence[tuple[str, bool]], corners: Iterable[Spot]) -> None:
        """Write small ``rows`` (text, whether it is bold), one below the other, in one place.

        ``corners``: where the first row may begin, at its left end, "top" or "bottom" of all.
        """
        looks = [{"fontsize": theme.SMALL, "weight": "bold" if bold else None} for _, bold in rows]
        sizes = [self._extent(text, look) for (text, _), look in zip(rows, looks)]
        wide, step = max(w for w, _ in sizes), 1.25 * max(h for _, h in sizes)
        corners = list(corners)
        whole = [_boxes(corner, wide, step * len(rows)) for corner in corners]
        corner = corners[self._take(whole) or 0]
        top = corner.y + (step * len(rows) if corner.va == "bottom" else 0)
        for number, ((text, _), look) in enumerate(zip(rows, looks)):
            self._annotate(text, Spot(corner.x, top - (number + 0.5) * step), look)

    def _take(
        self, places: Sequence[Sequence[Box]], own: Sequence[Point] = (), forced: bool = True
    ) -> int | None:
        """Number of the best of ``places``, which is taken from now on."""
        found = self.room.choose(places, own, forced)
        if found is None:
            return None
        self.room.taken += places[found[1]]
        return found[1]

    def _annotate(self, text: str, spot: Spot, style: dict[str, object]) -> None:
        # Figure points, unlike pixels, stay where they are when the figure is saved at another dpi.
        points = 72 / self.ax.figure.dpi
        self.ax.annotate(
            text, (spot.x * points, spot.y * points), xycoords="figure points",
            ha=spot.ha, va=spot.va, rotation=spot.angle, rotation_mode="anchor",
            annotation_clip=False, **{"color": theme.INK} | style,
            path_effects=[withStroke(linewidth=3, foreground=theme.PAPER)],
        )  # fmt: skip

    def _extent(self, text: str, style: dict[str, object]) -> tuple[float, float]:
        probe = self.ax.text(0, 0, text, **style)
        box = probe.get_window_extent(self.ax.figure.canvas.get_renderer())
        probe.remove()
        return box.width, box.height


def _boxes(spot: Spot, width: float, height: float, whole: bool = False) -> list[Box]:
    """The box of a level text of that size at ``spot``, or a row of boxes along a slanted one.

    ``whole``: so large that no corner of the slanted text is left out.
    """
    left = {"left": 0.0, "center": -width / 2, "right": -width}[spot.ha]
    rise = {"bottom": height / 2, "center": 0.0, "top": -height / 2}[spot.va]
    if not spot.angle:
        x, y = spot.x + left, spot.y + rise
        return [(x, y - height / 2, x + width, y + height / 2)]
    turn, half = math.radians(spot.angle), height / 2
    core = half if whole else SLANTED * half
    cos, sin = math.cos(turn), math.sin(turn)
    middles = np.linspace(left + half, left + max(width - half, half), max(2, int(width / half)))
    return [
        (x - core, y - core, x + core, y + core)
        for s in middles
        for x, y in [(spot.x + s * cos - rise * sin, spot.y + s * sin + rise * cos)]
    ]


def around(x: float, y: float, gap: float) -> list[Spot]:
    """Places around a marker at pixels (x, y), the best one first."""
    near = [
        Spot(x + gap, y - 0.9 * gap, "left"),
        Spot(x + gap, y, "left"),
        Spot(x - gap, y + 0.9 * gap, "right"),
        Spot(x - gap, y, "right"),
        Spot(x, y - 1.1 * gap, "center", "top"),
        Spot(x, y + 1.1 * gap, "center", "bottom"),
        Spot(x + gap, y + 0.9 * gap, "left"),
        Spot(x - gap, y - 0.9 * gap, "right"),
    ]
    sides = ((1.2, "left"), (-1.2, "right"), (0, "center"))
    lifts = (-2.2, 2.2, -3.5, 3.5, -4.8, 4.8, -6.1, 6.1)
    return near + [Spot(x + side * gap, y + lift * gap, ha) for lift in lifts for side, ha in sides]
