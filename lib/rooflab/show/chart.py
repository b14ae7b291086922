"""Charts: panels over one axis, with lines, bands, named points, a key and a slider, on a scene.

A picture of this kind says what it shows in values. Pixels, ticks, and the places of names are the
chart's, so that all of them look alike and names keep clear of lines, points and each other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from rooflab.show.labels import Room, spots_around, width
from rooflab.show.scene import By, Number, Scene
from rooflab.show.scene.axes import LETTERS, Frame, Scale

FEET = 84  # pixels below the plot: ticks, the name of the axis, the slider
EDGE, GAP = 16, 40  # pixels at the right, and from panel to panel
HEAD, OVER = 14, 17  # pixels from the plot to the words above it, and from words to words
SAMPLE = 26  # pixels of a line in the key
BAND = 0.09  # opacity of every other band
CAPITAL = 11  # pixels of a capital letter
CROSSED = 3  # places that a name rather passes over than to lie on a line
NEAR = 8  # places beside a mark, where nobody takes a name for another mark's
BOLD = 1.1  # bold letters are so much wider
RING: dict[str, Any] = {"size": 6, "fill": None, "ink": "key", "width": 2.5}
MARKS: dict[str, dict[str, Any]] = {
    "circle": {"size": 4.5, "fill": "ink", "ink": "paper", "width": 1},
    "diamond": {"size": 7, "fill": "paper", "ink": "ink", "width": 2},
}
ANCHORS = {"left": "start", "center": "middle", "right": "end"}
BEGIN = {"start": 0.0, "middle": -0.5, "end": -1.0}  # where words begin, in their widths
FEET_OF = {"bottom": -3.0, "center": 5.0, "top": 12.0}  # from a spot to the baseline of words
Named: TypeAlias = tuple[str, tuple[float, float]]
Spot: TypeAlias = tuple[float, float, str]


@dataclass(frozen=True)
class Line:
    """A line of ``y`` over ``x``, both in values, with its ``name`` in the key.

    ``y`` has a value for each of ``x``, or a row of them by the states of ``by``. ``shown`` is its
    opacity. ``lift``: its name stands at its right end instead, so many pixels below it.
    """

    name: str
    ink: str
    x: Any
    y: Any
    width: float = 2.4
    dash: tuple[float, ...] = ()
    by: str = ""
    shown: Number = 1
    lift: Any = None


@dataclass(frozen=True)
class Panel:
    """Lines over a log axis that holds them, from ``room`` times below to ``room`` times above.

    ``write`` formats a value at a tick; ``share`` is the panel's part of the height.
    """

    name: str
    write: Callable[[float], str]
    lines: Sequence[Line]
    room: tuple[float, float] = (1.6, 1.6)
    share: float = 1.0

    @property
    def limits(self) -> tuple[float, float]:
        """The ends of its axis, in values."""
        every = [np.ravel(np.asarray(line.y, float)) for line in self.lines]
        lowest, highest = np.nanmin(np.concatenate(every)), np.nanmax(np.concatenate(every))
        return float(lowest) / self.room[0], float(highest) * self.room[1]


@dataclass(frozen=True)
class Point:
    """A mark at (``x``, ``y``), both in values, with its name beside it.

    A "circle" is an example on a line; a "diamond", hollow, is where two lines meet.
    """

    name: str
    x: float
    y: float
    shape: str = "circle"


class Chart:
    """``panels`` below each other over an axis from ``x[0]`` to ``x[1]``, on ``scene``.

    ``top`` and ``bottom``: pixels of the sheet between which the plots lie. ``write`` formats a
    value at a tick of the axis, a ``log`` one, whose ``ticks`` are powers of ten if None.

    Examples
    --------
    >>> from rooflab.show.scene import Dim, Scene
    >>> sizes = [1e3, 1e4, 1e5]
    >>> line = Line("read", "carrying", sizes, [9e10, 5e10, 1e10])
    >>> scene = Scene(720, 400, [Dim("i", ["small", "middle", "large"])])
    >>> chart = Chart(scene, [Panel("bandwidth", "{:.0e}".format, [line])], (1e3, 1e5), "bytes")
    >>> chart.draw()
    >>> chart.slider("i", "working set", sizes)
    """

    def __init__(
        self, scene: Scene, panels: Sequence[Panel], x: tuple[float, float], name: str,
        write: Callable[[float], str] = "{:g}".format, *, ticks: Sequence[float] | None = None,
        log: bool = True, top: float = 62, bottom: float | None = None,
    ) -> None:  # fmt: skip
        self.scene, self.panels, self.name, self.write = scene, panels, name, write
        scales = [Scale(*panel.limits, 0, 1, log=True) for panel in panels]
        values = [_ticks(scale) for scale in scales]
        words = [p.write(v) for p, several in zip(panels, values) for v in several]
        left = 16 + max(width(one, LETTERS) for one in words)
        bottom = scene.height - FEET if bottom is None else bottom
        free = (bottom - top - GAP * (len(panels) - 1)) / sum(p.share for p in panels)
        self.frames: list[Frame] = []
        for panel in panels:
            self.frames.append(Frame(left, top, scene.width - EDGE, top + free * panel.share))
            top = self.frames[-1].bottom + GAP
        self.x = self.frames[0].x(*x, log=log)
        self.ticks = self.x.decades() if ticks is None else ticks
        self.y = [f.y(*panel.limits) for f, panel in zip(self.frames, panels)]
        self.rooms = [Room((f.left, f.top, f.right + EDGE, f.bottom)) for f in self.frames]
        self.values = values

    # From back to front.

    def bands(self, ends: Iterable[tuple[str, float]]) -> None:
        """Shade every other one of the bands that end at these values; their names stand on top."""
        start, top = self.x.start, self.frames[0].top
        for number, (name, value) in enumerate(ends):
            end = min(self.x(value), self.x.end)
            for f in self.frames if number % 2 else ():
                self.scene.rect(start, f.top, end - start, f.bottom - f.top, "soft", radius=0,
                                opacity=BAND, name="band")  # fmt: skip
            if BOLD * width(name, LETTERS) < end - start:
                self.scene.text((start + end) / 2, top - 8, name, "soft", size=LETTERS, bold=True,
                                anchor="middle", name="band name")  # fmt: skip
            start = end

    def draw(self) -> None:
        """Axes, and the lines on them."""
        self.axes()
        self.lines()

    def axes(self, *, raised: bool = False) -> None:
        """Grid, ticks, names, and the key of several lines; ``raised``: above names of bands."""
        scene, last, high = self.scene, self.frames[-1], HEAD + OVER * raised
        for f, panel, y, values in zip(self.frames, self.panels, self.y, self.values):
            f.y_ticks(scene, y, values, panel.write)
            f.x_ticks(scene, self.x, self.ticks, self.write if f is last else lambda _: "")
            up = high if f is self.frames[0] else HEAD
            scene.text(8, f.top - up, panel.name, size=LETTERS, name="axis")
            f.draw(scene)
        short = width(self.name, LETTERS) < last.left - 24  # and has room before the first tick
        at = (last.left - 15, last.bottom + 20) if short else (last.right, last.bottom + 38)
        scene.text(*at, self.name, "soft", size=LETTERS, anchor="end", name="axis")
        self._key(high)

    def lines(self) -> None:
        """The lines of all panels."""
        for panel, y, room in zip(self.panels, self.y, self.rooms):
            for line in panel.lines:
                self._line(line, y, room)

    def dotted(self, values: Iterable[float]) -> None:
        """An upright dotted line through all panels at each of these values."""
        for value in values:
            if self.x.lo < value < self.x.hi:
                self.upright(self.x(value), "ink", 1.6, dash=(2, 4), name="dotted")

    def upright(self, x: Number, ink: str, wide: float, **look: Any) -> None:
        """A line from top to bottom of each panel, at a place in pixels."""
        for f in self.frames:
            self.scene.line([(x, f.top), (x, f.bottom)], ink, wide, **look)

    def points(self, points: Iterable[Point], panel: int = 0) -> None:
        """Marks at places in values, each with its name where there is most room."""
        room, named = self.rooms[panel], list[Named]()
        for point in points:
            x, y = self.x(point.x), self.y[panel](point.y)
            self.scene.dot(x, y, point.shape, **MARKS[point.shape], name=point.name)
            room.add_marker(x, y, MARKS[point.shape]["size"] + 2)
            named.append((point.name, (x, y)))
        turns = [named[n:] + named[:n] for n in range(len(named))]  # who comes first has its way
        orders = [self._placement(order, room) for turn in turns for order in (turn, turn[::-1])]
        for name, (x, y, anchor) in min(orders, key=lambda one: one[0])[1]:
            self.scene.text(x, y, name, size=LETTERS, anchor=anchor, halo=True,
                            name="named")  # fmt: skip

    def _placement(
        self, named: Sequence[Named], room: Room
    ) -> tuple[float, list[tuple[str, Spot]]]:
        """Where names stand beside their marks if they choose in this order, and what it costs."""
        free, total, chosen = replace(room, taken=[*room.taken]), 0.0, []
        for name, at in named:
            wide, spots = width(name, LETTERS) + 4, spots_around(at[0], -at[1], 11)[:NEAR]
            places = [(s.x, FEET_OF[s.va] - s.y, ANCHORS[s.ha]) for s in spots]
            boxes = [
                (x + BEGIN[a] * wide, y - CAPITAL, x + (1 + BEGIN[a]) * wide, y + 4)
                for x, y, a in places
            ]
            best = free.choose(([box] for box in boxes), [at], forced=True)
            cost, number = best or (0.0, 0)
            free.taken.append(boxes[number])
            total += cost
            chosen.append((name, places[number]))
        return total, chosen

    def slider(
        self, dim: str, label: str, at: Any, rings: Sequence[tuple[int, Any]] = (),
        says: Sequence[str] = (), *, y: float | None = None,
    ) -> None:  # fmt: skip
        """What moves along the axis: a line through all panels, and ``rings`` on lines.

        ``at``: the axis' value at each stop. ``rings``: numbers of panels, and their values at the
        stops. ``says``: words at the line's upper end. ``y``: where the slider lies, in pixels.
        """
        scene, along = self.scene, np.asarray(self.x(at))
        x, last, top = By(dim, along), self.frames[-1], self.frames[0].top
        self.upright(x, "key", 1.5, dash=(3, 3), name="here")
        if says:
            flip = along > last.right - 90
            anchors = By(dim, np.where(flip, "end", "start").astype(object))
            scene.text(By(dim, along + np.where(flip, -5, 5)), top + 14, By(dim, list(says)), "key",
                       anchor=anchors, bold=True, halo=True, name="at")  # fmt: skip
        for panel, values in rings:
            scene.dot(x, By(dim, self.y[panel](values)), **RING, name="now")
        for f in self.frames:
            scene.grip(dim, x, 0, area=f.box)
        scene.slider(dim, label, at=along.tolist(), y=last.bottom + 60 if y is None else y)

    def _line(self, line: Line, y: Scale, room: Room) -> None:
        heights, across = y(np.asarray(line.y, float)), self.x(line.x)
        rows = [By(line.by, row) for row in heights] if line.by else heights.tolist()
        self.scene.line([*zip(across.tolist(), rows)], line.ink, line.width, dash=line.dash,
                        opacity=line.shown, name=line.name)  # fmt: skip
        if line.lift is not None:
            foot = By(line.by, heights[-1] + line.lift) if line.by else heights[-1] + line.lift
            self.scene.text(across[-1], foot, line.name, line.ink, size=LETTERS, anchor="end",
                            bold=True, halo=True, opacity=line.shown, name="end")  # fmt: skip
        every = heights.reshape(len(across), -1)
        for column in every.T:
            room.add_line([*zip(across.tolist(), column.tolist())], 2, CROSSED)

    def _key(self, up: float) -> None:
        """Which line is which, above the first panel; a row higher where its name is long."""
        lines = [line for line in self.panels[0].lines if line.lift is None]
        names = {line.name: line for line in lines if len(self.panels[0].lines) > 1}
        long = sum(width(name, LETTERS) + SAMPLE + 24 for name in names)
        end, foot = self.frames[0].right, self.frames[0].top - up
        foot -= OVER * (end - long < 16 + width(self.panels[0].name, LETTERS))
        for name, line in reversed(names.items()):
            inks = {one.ink for one in lines if one.name == name}
            ink = line.ink if len(inks) == 1 else "ink"
            self.scene.text(end, foot, name, ink, size=LETTERS, anchor="end", name="key")
            end -= width(name, LETTERS) + 8 + SAMPLE
            ends = [(end, foot - 5), (end + SAMPLE, foot - 5)]
            self.scene.line(ends, ink, line.width, dash=line.dash, name="key")
            end -= 16


def _ticks(scale: Scale) -> list[float]:
    """Round values of an axis: finer where it is short."""
    if scale.hi < 15 * scale.lo:
        return scale.steps()
    return scale.steps((1, 3)) if scale.hi < 300 * scale.lo else scale.decades()
