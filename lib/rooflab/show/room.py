"""Labels that keep out of each other's way: the one rule by which every picture places its words.

Everything is a rectangle (left, top, right, bottom) in pixels. A text never lies on another text or
on a marker while there is any other place; of the places left it takes the one that covers the
least of the lines, comes early, and is nearer to its own marker than to any other.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise

import numpy as np

SIZE = 16  # CSS pixels of the text on a stage; a notebook has 15
DETOUR = 1.2  # boxes of a line that a label may rather cover than take the next spot
ASTRAY = 120  # nearer to another marker than to its own: worse than no label
UNNAMED = 100  # a place that costs more is worse than no label
COVERED, OUT = 1000, 100  # for a text or marker below the label; for a pixel outside the frame
TRIES = 30

Box = tuple[float, float, float, float]
Point = Sequence[float]


@cache
def width(text: str, size: float = SIZE) -> float:
    """Width of ``text`` in CSS pixels, in DejaVu Sans: wider than what most browsers have."""
    if not text:
        return 0.0
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import TextPath

    return float(
        TextPath((0, 0), text, size=size, prop=FontProperties("DejaVu Sans")).get_extents().x1
    )


@dataclass
class Room:
    """Free room inside ``frame``: ``taken`` boxes are forbidden, ``lines`` only unloved."""

    frame: Box
    taken: list[Box] = field(default_factory=list)
    lines: list[Box] = field(default_factory=list)
    markers: list[tuple[float, float]] = field(default_factory=list)

    def add_marker(self, x: float, y: float, radius: float = 9) -> None:
        """Add a marker with its middle at (x, y): no label may lie on it."""
        self.markers.append((x, y))
        self.taken.append((x - radius, y - radius, x + radius, y + radius))

    def add_line(self, corners: Sequence[Point], radius: float = 3.0, weight: int = 1) -> None:
        """Add a polyline, as a row of small boxes; each counts ``weight`` times."""
        last: tuple[float, float] | None = None
        for (x0, y0), (x1, y1) in pairwise(corners):
            steps = max(1, min(200, int(max(abs(x1 - x0), abs(y1 - y0)) / 6)))
            for step in range(steps + 1):
                x, y = x0 + (x1 - x0) * step / steps, y0 + (y1 - y0) * step / steps
                if last is None or max(abs(x - last[0]), abs(y - last[1])) > 5:
                    self.lines += [(x - radius, y - radius, x + radius, y + radius)] * weight
                    last = (x, y)

    def choose(
        self, places: Iterable[Sequence[Box]], own: Sequence[Point] = (), forced: bool = False
    ) -> tuple[float, int] | None:
        """Cost and number of the best of ``places``, each the boxes of one text.

        ``own``: the markers that the text belongs to. None if every place is taken, unless
        ``forced``: then the one that covers the least.
        """
        lines, best = np.array(self.lines).reshape(-1, 4), None
        for number, boxes in enumerate(places):
            cost = DETOUR * number
            if best is not None and cost >= best[0]:
                break
            hindered = self._hindered(boxes)
            if hindered and not forced:
                continue
            cost += hindered + sum(_overlaps(box, lines) for box in boxes)
            if own:
                far = min(_apart(box, marker) for box in boxes for marker in own) - 2
                others = [marker for marker in self.markers if marker not in own]
                cost += ASTRAY * any(_apart(box, m) < far for box in boxes for m in others)
            if best is None or cost < best[0]:
                best = (cost, number)
        return best

    def put(
        self, text: str, spots: Iterable[tuple[float, float]], own: Point | None = None
    ) -> list[float] | None:
        """Place ``text`` with its middle at the best of ``spots``; None if every one is taken.

        Returns [x, y] of the text's middle on its baseline.
        """
        best = self._best(text, spots, own)
        if best is None:
            return None
        self.taken.append(best[1])
        return best[2]

    def put_along(self, text: str, path: Sequence[Point], side: int = 1) -> list[float] | None:
        """Write ``text`` along a straight ``path``, below it (side -1: above); None without room.

        Returns [x, y] of the text's middle on its baseline and its slant in degrees.
        """
        (x0, y0), (x1, y1) = (path[0], path[-1]) if path else ((0, 0), (0, 0))
        far, half = math.hypot(x1 - x0, y1 - y0), width(text) / 2 + 4
        if far < 2 * half:
            return None
        dx, dy = (x1 - x0) / far, (y1 - y0) / far
        starts = np.arange(far - half, half, -8.0)
        steps = np.arange(-half, half + 1, 8.0)
        places = [
            [
                (x - 7, y - 7, x + 7, y + 7)
                for s in steps + start
                for x, y in [(x0 + s * dx - side * 14 * dy, y0 + s * dy + side * 14 * dx)]
            ]
            for start in starts
        ]
        best = self.choose(places)
        if best is None:
            return None
        self.taken += places[best[1]]
        x, y = x0 + starts[best[1]] * dx, y0 + starts[best[1]] * dy
        foot = 14 * side + 5  # from the path to the baseline
        slant = round(math.degrees(math.atan2(dy, dx)), 1)
        return [round(float(x - foot * dy), 1), round(float(y + foot * dx), 1), slant]

    def try_put(self, text: str, spots: Iterable[tuple[float, float]]) -> list[float] | None:
        """Like :meth:`put`, but the place stays free."""
        best = self._best(text, spots, None)
        return None if best is None else best[2]

    def put_all(self, named: Sequence[tuple[str, Point]]) -> list[list[float] | None]:
        """Place every (text, its marker) around its marker, in the order that works best."""
        spots = [around(*own, text) for text, own in named]
        before, best = list(self.taken), None
        for order in _orders([own for _, own in named]):
            self.taken, cost = list(before), 0.0
            found: list[list[float] | None] = [None] * len(named)
            for i in order:
                place = self._best(named[i][0], spots[i], named[i][1])
                if place is None or place[0] >= UNNAMED:
                    cost += UNNAMED
                    continue
                cost += place[0]
                self.taken.append(place[1])
                found[i] = place[2]
            if best is None or cost < best[0]:
                best = (cost, self.taken, found)
        self.taken = best[1] if best else before
        return best[2] if best else []

    def _best(
        self, text: str, spots: Iterable[tuple[float, float]], own: Point | None
    ) -> tuple[float, Box, list[float]] | None:
        half, spots = width(text) / 2 + 3, list(spots)
        boxes = [(x - half, y - 14, x + half, y + 5) for x, y in spots]
        best = self.choose(([box] for box in boxes), () if own is None else (tuple(own),))
        if best is None:
            return None
        return best[0], boxes[best[1]], [round(v, 1) for v in spots[best[1]]]

    def sees(self, spot: Point, own: Point, near: float) -> bool:
        """Whether a thin line from ``spot`` to ``own`` keeps off labels and markers.

        What lies within ``near`` pixels of ``own`` does not count.
        """
        steps = [0.1 * step for step in range(11)]
        line = [(spot[0] + t * (own[0] - spot[0]), spot[1] + t * (own[1] - spot[1])) for t in steps]
        dots = [
            (x - 2, y - 2, x + 2, y + 2)
            for x, y in line
            if max(abs(x - own[0]), abs(y - own[1])) > near
        ]
        return not any(_overlap(dot, box) for dot in dots for box in self.taken)

    def _hindered(self, boxes: Sequence[Box]) -> float:
        """0 for boxes inside the frame that lie on nothing; the worse they lie, the more."""
        left, top, right, bottom = self.frame
        out = sum(
            max(0, left - b[0], b[2] - right) + max(0, top - b[1], b[3] - bottom) for b in boxes
        )
        return OUT * out + COVERED * sum(
            _overlap(box, other) for box in boxes for other in self.taken
        )


def around(x: float, y: float, text: str) -> list[tuple[float, float]]:
    """Places for ``text`` around a marker at (x, y): beside it first, then above, below,
    farther."""
    half = width(text) / 2 + 13
    near = [
        (x + half, y + 5), (x - half, y + 5), (x, y - 14), (x, y + 26),
        (x + half - 4, y - 15), (x + half - 4, y + 24),
        (x - half + 4, y - 15), (x - half + 4, y + 24),
    ]  # fmt: skip
    far = [(x + side * half, y + lift) for lift in (-28, 38, -45, 55) for side in (1, 0, -1)]
    return near + far


def _overlap(a: Box, b: Box) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def _overlaps(box: Box, others: np.ndarray) -> int:
    """How many of ``others``, a box in each row, ``box`` overlaps."""
    left, top, right, bottom = others.T
    return int(((left < box[2]) & (box[0] < right) & (top < box[3]) & (box[1] < bottom)).sum())


def _apart(box: Box, point: Point) -> float:
    """Distance of ``point`` from ``box``."""
    x = max(box[0] - point[0], 0, point[0] - box[2])
    y = max(box[1] - point[1], 0, point[1] - box[3])
    return (x * x + y * y) ** 0.5


def _orders(places: Sequence[Point]) -> list[list[int]]:
    """Orders in which to place labels: along each axis, both ways, and some at random."""
    whole = list(range(len(places)))
    sorts = [
        sorted(whole, key=lambda i: side * places[i][axis]) for axis in (0, 1) for side in (-1, 1)
    ]
    dice = random.Random(0)  # the same picture every time
    return sorts + [dice.sample(whole, len(whole)) for _ in range(TRIES)]
