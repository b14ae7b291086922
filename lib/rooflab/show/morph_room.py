"""Labels that keep out of each other's way in pixels, for pictures whose text the browser draws.

Like :mod:`rooflab.show.labels`, without a matplotlib axes: everything is a rectangle
(left, top, right, bottom) in CSS pixels, and a label that finds no room is left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise

SIZE = 15  # CSS pixels of the text
LINE = 19

Box = tuple[float, float, float, float]


@cache
def width(text: str, size: float = SIZE) -> float:
    """Width of ``text`` in CSS pixels, in DejaVu Sans: wider than what most browsers have."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import TextPath

    return float(TextPath((0, 0), text, size=size, prop=FontProperties("DejaVu Sans")).get_extents().x1)


@dataclass
class Room:
    """Free room inside ``frame``: ``taken`` boxes are forbidden, ``lines`` only unloved."""

    frame: Box
    taken: list[Box] = field(default_factory=list)
    lines: list[Box] = field(default_factory=list)

    def add_line(self, corners: Sequence[Sequence[float]], radius: float = 3.0) -> None:
        """Add a polyline, as a row of small boxes."""
        for (x0, y0), (x1, y1) in pairwise(corners):
            steps = max(1, min(200, int(max(abs(x1 - x0), abs(y1 - y0)) / 6)))
            for step in range(steps + 1):
                x, y = x0 + (x1 - x0) * step / steps, y0 + (y1 - y0) * step / steps
                self.lines.append((x - radius, y - radius, x + radius, y + radius))

    def put(self, text: str, spots: Iterable[tuple[float, float]], most: float = 9e9) -> list[float] | None:
        """Place ``text`` with its middle at the best of ``spots``; None if every one is taken.

        Returns [x, y] of the text's middle on its baseline. Earlier spots win ties; ``most`` is how
        much of a line the label may cover (in boxes of a polyline).
        """
        half = width(text) / 2 + 3
        best: tuple[float, int, Box, list[float]] | None = None
        for order, (x, y) in enumerate(spots):
            box = (x - half, y - 14, x + half, y + 5)
            if not self._inside(box) or any(_overlap(box, other) for other in self.taken):
                continue
            crossed = sum(_overlap(box, other) for other in self.lines)
            if crossed <= most and (best is None or (crossed, order) < best[:2]):
                best = (crossed, order, box, [round(x, 1), round(y, 1)])
        if best is None:
            return None
        self.taken.append(best[2])
        return best[3]

    def _inside(self, box: Box) -> bool:
        left, top, right, bottom = self.frame
        return box[0] >= left and box[1] >= top and box[2] <= right and box[3] <= bottom


def around(x: float, y: float, text: str) -> list[tuple[float, float]]:
    """Places for ``text`` around a marker at (x, y): beside it first, then above, below, farther."""
    half = width(text) / 2 + 13
    near = [
        (x + half, y + 5), (x - half, y + 5), (x, y - 14), (x, y + 26),
        (x + half - 4, y - 11), (x + half - 4, y + 21), (x - half + 4, y - 11), (x - half + 4, y + 21),
    ]  # fmt: skip
    far = [(x + side * half, y + lift) for lift in (-28, 38, -45, 55) for side in (1, 0, -1)]
    return near + far


def _overlap(a: Box, b: Box) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]
