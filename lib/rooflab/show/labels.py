"""Labels that keep out of each other's way: the one rule by which every picture places its words.

Everything is a rectangle (left, top, right, bottom) in pixels. A text never lies on another text or
on a marker while there is any other place; of the places left it takes the one that covers the
least of the lines, comes early, and is nearer to its own marker than to any other.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patheffects import AbstractPathEffect, Stroke
from matplotlib.text import Text

from rooflab.show import theme

SIZE = 16  # CSS pixels of the text on a stage; a notebook has 15
DETOUR = 1.2  # boxes of a line that a label may rather cover than take the next spot
ASTRAY = 120  # nearer to another marker than to its own: worse than no label
UNNAMED = 100  # a place that costs more is worse than no label
COVERED, OUT = 1000, 100  # for a text or marker below the label; for a pixel outside the frame

Box = tuple[float, float, float, float]
Point = Sequence[float]


@cache
def width(text: str, size: float = SIZE) -> float:
    """Width of ``text`` in CSS pixels, in DejaVu Sans: wider than what most browsers have."""
    if not text:
        return 0.0
    if size != SIZE:
        return width(text) * size / SIZE
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import TextPath

    outline = TextPath((0, 0), text, size=SIZE, prop=FontProperties("DejaVu Sans"))
    # The curves of a letter lie inside the polygon of their control points, and touch its right
    # edge. Asking the curves themselves, as get_extents() does, takes eight times as long.
    return float(outline.vertices[:, 0].max())


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
            hindered = self.hindered(boxes)
            if hindered and not forced:
                continue
            cost += hindered + sum(overlaps(box, lines) for box in boxes)
            if own:
                far = min(apart(box, marker) for box in boxes for marker in own) - 2
                others = [marker for marker in self.markers if marker not in own]
                cost += ASTRAY * any(apart(box, m) < far for box in boxes for m in others)
            if best is None or cost < best[0]:
                best = (cost, number)
        return best

    def put(self, text: str, spots: Iterable[tuple[float, float]]) -> list[float] | None:
        """Place ``text`` with its middle at the best of ``spots``; None if every one is taken.

        Returns [x, y] of the text's middle on its baseline.
        """
        half, spots = width(text) / 2 + 3, list(spots)
        boxes = [(x - half, y - 14, x + half, y + 5) for x, y in spots]
        best = self.choose([box] for box in boxes)
        if best is None:
            return None
        self.taken.append(boxes[best[1]])
        return [round(v, 1) for v in spots[best[1]]]

    def put_along(self, text: str, path: Sequence[Point]) -> list[float] | None:
        """Write ``text`` along a straight ``path``, below it; None without room.

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
                for x, y in [(x0 + s * dx - 14 * dy, y0 + s * dy + 14 * dx)]
            ]
            for start in starts
        ]
        best = self.choose(places)
        if best is None:
            return None
        self.taken += places[best[1]]
        x, y = x0 + starts[best[1]] * dx, y0 + starts[best[1]] * dy
        foot = 14 + 5  # from the path to the baseline
        slant = round(math.degrees(math.atan2(dy, dx)), 1)
        return [round(float(x - foot * dy), 1), round(float(y + foot * dx), 1), slant]

    def hindered(self, boxes: Sequence[Box]) -> float:
        """0 for boxes inside the frame that lie on nothing; the worse they lie, the more."""
        left, top, right, low = self.frame
        beyond = ((left - b[0], b[2] - right, top - b[1], b[3] - low) for b in boxes)
        out = sum(max(0, *across[:2]) + max(0, *across[2:]) for across in beyond)
        taken = np.array(self.taken).reshape(-1, 4)
        covered = sum(overlaps(box, taken) for box in boxes)
        return OUT * out + COVERED * covered


def overlaps(box: Box, others: np.ndarray) -> int:
    """How many of ``others``, a box in each row, ``box`` overlaps."""
    left, top, right, bottom = others.T
    return int(((left < box[2]) & (box[0] < right) & (top < box[3]) & (box[1] < bottom)).sum())


def apart(box: Box, point: Point) -> float:
    """Distance of ``point`` from ``box``."""
    x = max(box[0] - point[0], 0, point[0] - box[2])
    y = max(box[1] - point[1], 0, point[1] - box[3])
    return math.hypot(x, y)


def spread(
    places: np.ndarray, gap: float, first: Any = -math.inf, last: Any = math.inf
) -> np.ndarray:
    """Move places along the last axis so little that none is nearer to another than ``gap``.

    They lie between ``first`` and ``last`` then, as far as there is room below ``first``.
    """
    order, steps = np.argsort(places, axis=-1), gap * np.arange(places.shape[-1])
    wanted = np.take_along_axis(places, order, -1) - steps  # which must not fall
    down = np.minimum.accumulate(wanted[..., ::-1], axis=-1)[..., ::-1]
    moved = (np.maximum.accumulate(wanted, axis=-1) + down) / 2
    moved = np.maximum(np.minimum(moved, last - steps[-1:]), first) + steps
    return np.take_along_axis(moved, np.argsort(order, axis=-1), -1)


# Labels on a matplotlib axes: each spot for a text becomes boxes, of which a Room takes the best.
#
# Slanted text is a row of small boxes along its line: a bounding box would cover half the picture.


ABOVE = 12  # pixels over the axes where a label may still stand
SLANTED = 0.65  # part of a slanted text's height that its boxes need to keep off a round marker
CROSSED = 3  # spots that a label rather passes over than to cross a line
SHORTER = 8  # what a shorter text has to save to be better than the one before it
STEEP = 60  # degrees from which on a text is no longer read beside a line, but along it


#: Around a marker, the best first: gaps to the right and upwards, and how a label is aligned there.
AROUND: tuple[tuple[Any, ...], ...] = (
    (1, -0.9, "left"), (1, 0, "left"), (-1, 0.9, "right"), (-1, 0, "right"),
    (0, -1.1, "center", "top"), (0, 1.1, "center", "bottom"), (1, 0.9, "left"), (-1, -0.9, "right"),
)  # fmt: skip


@dataclass(frozen=True)
class Spot:
    """A place for a label: anchor in pixels, alignment, and the text's angle in degrees."""

    x: float
    y: float
    ha: str = "left"
    va: str = "center"
    angle: float = 0.0


class Haloed(Text):
    """Words with an outline of paper. In a PDF or an SVG their letters stay letters."""

    def __init__(self, *args: Any, outline: float = 3.0, **style: Any) -> None:
        self.outline = outline  # points
        super().__init__(*args, **style)

    def draw(self, renderer: Any) -> None:
        """Draw the outline, then the words: Matplotlib turns what has an outline into shapes."""
        effects: list[AbstractPathEffect] = [Stroke(linewidth=self.outline, foreground=theme.PAPER)]
        for drawn in (effects, []):
            self.set_path_effects(drawn)
            super().draw(renderer)


class Crowd:
    """What already stands on ``ax``, in pixels (y upwards), and the room that is left.

    ``share``: how large letters are there, of those in a notebook. Pixels are those of a figure
    with full letters: where letters are small, there is room for more.
    """

    def __init__(self, ax: Axes, share: float = 1.0) -> None:
        self.ax, self.share = ax, share
        self.unit = share * ax.figure.dpi / 100
        left, foot, right, top = (edge / self.unit for edge in ax.get_window_extent().extents)
        self.frame = (left, foot, right, top)
        self.room = Room((left, foot, right, top + ABOVE))

    def pixel(self, x: float, y: float) -> tuple[float, float]:
        """Pixels (y upwards) of a data point."""
        px, py = self.ax.transData.transform((x, y))
        return float(px) / self.unit, float(py) / self.unit

    def add_line(self, corners: Sequence[Point], radius: float = 2.0) -> None:
        """Add a polyline given by its corners in pixels."""
        self.room.add_line(corners, radius, CROSSED)

    def add_disc(self, x: float, y: float, radius: float) -> None:
        """Add a marker at pixels (x, y)."""
        self.room.add_marker(x, y, radius)

    def write(
        self,
        text: str | Sequence[str],
        spots: Iterable[Spot],
        own: Sequence[Point] = (),
        forced: bool = True,
        **style: Any,
    ) -> bool:
        """Write ``text``, which belongs to the markers ``own``, at the best of ``spots``.

        Of several texts, each shorter than the last, it is the one whose best spot costs least.
        Returns whether there was one: unless it is ``forced``, a text keeps off all others, and
        stays away rather than be taken for the name of another marker.
        """
        spots = list(spots)
        # Slanted words may come nearer to a marker, whose corners are empty, than to other words.
        slanted = [spot for spot in spots if 0 < abs(spot.angle) < STEEP]
        tries = [(spot, True) for spot in spots] + [(spot, False) for spot in slanted]
        texts = (text,) if isinstance(text, str) else tuple(text)
        options: list[tuple[float, int, Spot, tuple[float, float]]] = []
        for number, one in enumerate(texts):
            size = self.extent(one, **style)
            places = [_boxes(spot, *size, whole) for spot, whole in tries]
            last = number == len(texts) - 1 and not options
            found = self.room.choose(places, own, forced and last)
            if found and (forced or found[0] < UNNAMED):
                options.append((found[0] + SHORTER * number, number, tries[found[1]][0], size))
        if options:
            _, number, spot, size = min(options, key=lambda option: option[:2])
            self.room.taken += _boxes(spot, *size, whole=True)
            self.annotate(texts[number], spot, **style)
        return bool(options)

    def annotate(self, text: str, spot: Spot, **style: Any) -> None:
        """Write ``text`` there, whatever is there."""
        # As a share of the axes, words stay in their place at any resolution and in any layout.
        left, foot, right, top = self.frame
        place = ((spot.x - left) / (right - left), (spot.y - foot) / (top - foot))
        look = {"color": theme.INK, "fontsize": theme.FONT, **style}
        look["fontsize"] *= self.share
        self.ax.add_artist(
            Haloed(
                *place, text, transform=self.ax.transAxes, ha=spot.ha, va=spot.va,
                rotation=spot.angle, rotation_mode="anchor", clip_on=False,
                outline=3 * self.share, **look,
            )
        )  # fmt: skip

    def extent(self, text: str, fontsize: float = theme.FONT, **style: Any) -> tuple[float, float]:
        """Width and height of ``text`` in pixels."""
        probe = self.ax.text(0, 0, text, fontsize=self.share * fontsize, **style)
        box = probe.get_window_extent()
        probe.remove()
        return box.width / self.unit, box.height / self.unit


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


def spots_around(x: float, y: float, gap: float) -> list[Spot]:
    """Places around a marker at pixels (x, y), the best one first."""
    sides = ((1.2, "left"), (-1.2, "right"), (0, "center"))
    lifts = (-2.2, 2.2, -3.5, 3.5, -4.8, 4.8, -6.1, 6.1)
    far = [(side, lift, ha) for lift in lifts for side, ha in sides]
    return [Spot(x + dx * gap, y + dy * gap, *how) for dx, dy, *how in (*AROUND, *far)]
