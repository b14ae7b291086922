"""Where points, lines and words stand on the way from time to roofline, at three layouts.

Layout 0 is time against work, 1 rate against intensity (both from zero), 2 the same in decades.
From 1 to 2 a place moves along its own axis only: what stands above another stays above it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from rooflab.count.si import si
from rooflab.predict.roofline import Roofline
from rooflab.show.labels import UNNAMED, Box, Point, Room, apart, width
from rooflab.show.measured_points import Dot
from rooflab.show.rooflines.ceiling_lines import CallLine, slope_text
from rooflab.show.scene.axes import Frame, Scale

STEPS = 40  # points of a roof between its ends, so that it bends as the axes do
TRIES = 8  # orders in which points are named
TOUCHING = 16  # pixels between the middles of two marks that touch
AWAY = 13  # pixels from the middle of a guess to what is said of it

Spot = list[float]  # x and y of the middle of words on their baseline, and their slant if any
Path = np.ndarray  # points × (x, y)


@dataclass(frozen=True)
class Layout:
    """Both scales at one layout; ``index`` 0, 1 or 2."""

    index: int
    frame: Frame
    x: Scale
    y: Scale

    def place(self, dot: Dot, seconds: float | None = None) -> tuple[float, float]:
        """Pixels of a point, or of its operation if it took ``seconds``."""
        taken, op = seconds or dot.seconds, dot.op
        if self.index == 0:
            return self.x(op.flops), self.y(taken)
        return self.x(op.intensity), self.y(op.flops / taken)

    def guesses(self, dot: Dot) -> list[tuple[float, float, str]]:
        """Pixels of each guess of a point, and what it is off by.

        One beyond the axes is at their edge, with an arrow to where it would be.
        """
        found, top, bottom = [], self.frame.top, self.frame.bottom
        for seconds in dot.guesses:
            x, y = self.place(dot, seconds)
            arrow = " ↑" if y < top else " ↓" if y > bottom else ""
            found.append((x, min(max(y, top), bottom), dot.off_by(seconds) + arrow))
        return found

    def gap(self, dot: Dot) -> Box:
        """The box in which a point and all its guesses hang: left, top, right and bottom."""
        x, y = self.place(dot)
        heights = [y, *(height for _, height, _ in self.guesses(dot))]
        return x - 9, min(heights) - 9, x + 9, max(heights) + 9

    def inside(self, path: Path) -> list[tuple[float, float]]:
        """The points of ``path`` that lie in the picture."""
        left, top, right, bottom = self.frame.box
        return [(x, y) for x, y in path.tolist() if left <= x <= right and top <= y <= bottom]


@dataclass(frozen=True)
class Plan:
    """All that is drawn in ``frame``, with its three layouts and the words on it."""

    frame: Frame
    dots: tuple[Dot, ...]
    roofs: tuple[Roofline, ...]
    calls: tuple[CallLine, ...]

    @cached_property
    def layouts(self) -> tuple[Layout, Layout, Layout]:
        """Scales that hold all points, and in decades the roofs and call lines as well."""
        frame, dots = self.frame, self.dots
        intensity, rate = [d.op.intensity for d in dots], [d.rate for d in dots]
        ridges, peaks = [c.ridge for c in self.roofs], [c.peak for c in self.roofs]
        guessed = [d.op.flops / s for d in dots for s in d.guesses if not d.asked]
        slow = [min(max(one, min(rate) / 30), max(rate) * 30) for one in guessed]
        slow += [d.rate / 10 for d in dots if d.asked]  # room for what will be guessed
        low_x = min(intensity) / 4  # room for names on the left as well
        high_x = max(*intensity, *(3 * r for r in ridges), 10 * low_x) * 3
        low_y, high_y = min(*rate, *slow, math.inf) / 3, max(*rate, *slow, *peaks, 0) * 3
        most = [1.09 * max(v) for v in ([d.op.flops for d in dots], [d.seconds for d in dots])]
        high = [1.09 * max(v) for v in (intensity, rate)]
        return (
            Layout(0, frame, frame.x(0, most[0], log=False), frame.y(0, most[1], log=False)),
            Layout(1, frame, frame.x(0, high[0], log=False), frame.y(0, high[1], log=False)),
            Layout(2, frame, frame.x(low_x, high_x), frame.y(low_y, high_y)),
        )

    def roof(self, ceiling: Roofline, layout: Layout, flat: bool) -> Path:
        """The slanted or the flat part of a roof; over work it is no line."""
        lo, hi, ridge = self.layouts[2].x.lo, self.layouts[2].x.hi, ceiling.ridge
        bend = min(max(ridge, lo), hi)
        grid = np.geomspace(bend, hi, STEPS // 2) if flat else np.geomspace(lo, bend, STEPS // 2)
        rates = [ceiling.attainable(float(x)) for x in grid]
        return np.column_stack([layout.x(grid), layout.y(np.array(rates))])

    def call(self, line: CallLine, layout: Layout) -> Path:
        """The floor over work, or the line that the same calls are as a rate."""
        if layout.index == 0:
            across = np.linspace(self.frame.left, self.frame.right, len(line.points))
            return np.column_stack([across, np.full(len(across), layout.y(line.seconds))])
        x, y = np.array(line.points, float).T
        return np.column_stack([layout.x(x), layout.y(y)])

    def room(self, layout: Layout) -> Room:
        """The room of a layout with all markers and lines in it."""
        left, top, right, bottom = self.frame.box
        room = Room((left + 4, top - 4, right + 12, bottom - 3))
        for dot in self.dots:
            spots = [layout.place(dot), *((x, y) for x, y, _ in layout.guesses(dot))]
            for spot in spots[:1] if dot.asked else spots:
                room.add_marker(*spot)
            room.lines += [layout.gap(dot)] * UNNAMED if dot.guesses else []
        lines = [self.call(line, layout) for line in self.calls]
        lines += [self.roof(one, layout, flat) for one in self.roofs for flat in (False, True)]
        for path in lines if layout.index == 2 else ():
            room.add_line(layout.inside(path))
        return room


def name_points(rooms: Sequence[Room], plan: Plan) -> tuple[list[str], list[list[Spot | None]]]:
    """Return what stands at each point, and its spots at each layout; None where there is no room.

    In decades as many points have their names as there is room for: one without room chooses first
    the next time. A number stands for a name without room, and for all if there is room for few.
    Where axes begin at zero, only points are named that no other touches.
    """
    texts, marks = [dot.label for dot in plan.dots], [*map(plan.layouts[2].place, plan.dots)]
    order = sorted(range(len(marks)), key=lambda n: marks[n])
    tries: list[tuple[list[int], Room, dict[int, Spot | None]]] = []
    for _ in range(TRIES):
        free = replace(rooms[2], taken=[*rooms[2].taken])
        spots = {n: _name(free, texts[n], marks[n]) for n in order}
        crowd = [n for n in order if spots[n] is None]
        tries.append((crowd, free, spots))
        order = crowd + [n for n in order if n not in crowd]
    crowd, free, spots = min(tries, key=lambda one: len(one[0]))
    if 4 * len(crowd) > 3 * len(texts):
        crowd, free = order, rooms[2]
    for n in crowd:
        texts[n] = str(n + 1)
        spots[n] = _name(free, texts[n], marks[n])
    rooms[2].taken = free.taken
    early = [_name_free(*one, plan.dots, texts) for one in zip(rooms, plan.layouts[:2])]
    return texts, [*early, [spots[n] for n in range(len(texts))]]


def _name_free(
    room: Room, layout: Layout, dots: Sequence[Dot], texts: Sequence[str]
) -> list[Spot | None]:
    """Place the names of points that no other touches."""
    marks = [*map(layout.place, dots)]
    near = [sum(math.dist(mark, other) < TOUCHING for other in marks) for mark in marks]
    wanted = zip(texts, marks, near)
    return [_name(room, text, mark) if many == 1 else None for text, mark, many in wanted]


def _name(room: Room, text: str, mark: Point) -> Spot | None:
    """Place a name beside its mark, where nobody takes it for another mark's name."""
    (x, y), half = mark, width(text) / 2 + 3
    far = half + 10
    spots = [
        (x + far, y + 5), (x - far, y + 5), (x, y - 14), (x, y + 26),
        (x + far, y - 15), (x + far, y + 24), (x - far, y - 15), (x - far, y + 24),
    ]  # fmt: skip
    others = [other for other in room.markers if math.dist(other, mark) > TOUCHING]
    boxes = [(x - half, y - 14, x + half, y + 5) for x, y in spots]
    own = [box for box in boxes if all(apart(box, o) > apart(box, mark) for o in others)]
    cost, best = room.choose([box] for box in own) or (UNNAMED, 0)
    if cost >= UNNAMED:
        return None
    room.taken.append(own[best])
    return [round(own[best][0] + half, 1), round(own[best][1] + 14, 1)]


def off_by(room: Room, plan: Plan, asked: bool) -> dict[int, list[tuple[float, float]]]:
    """Return where it stands what guesses are off by: number of a point → an end for each guess.

    Right of its marker, or left of it; NaN where there is no room. ``asked``: of guesses that have
    yet to be made.
    """
    found: dict[int, list[tuple[float, float]]] = {}
    layout = plan.layouts[2]
    gaps = [layout.gap(dot) for dot in plan.dots if dot.guesses]
    for n, dot in enumerate(plan.dots):
        free, shown = Room(room.frame, room.taken + gaps), []
        for x, y, text in layout.guesses(dot) if bool(dot.asked) is asked else ():
            wide, y = width(text) + 3, min(max(y, room.frame[1] + 9), room.frame[3] - 10)
            boxes = [(left, y - 9, left + wide, y + 10) for left in (x + AWAY, x - AWAY - wide)]
            _, side = free.choose([box] for box in boxes) or (0, 2)
            found.setdefault(n, []).append(((x + AWAY, x - AWAY, math.nan)[side], y + 5))
            shown += boxes[side : side + 1]
        room.taken += shown
    return found


def name_roofs(room: Room, plan: Plan) -> list[tuple[str, Spot | None, str]]:
    """Return the names of roofs, their spots and inks.

    A peak stands above its line or before it, memory's bandwidth along its slope or right of it,
    and one name for all caches above the upper end of the lowest, or on their lines.
    """
    layout, (left, _, right, _) = plan.layouts[2], plan.frame.box
    found: list[tuple[str, Spot | None, str]] = []
    main = [one for one in plan.roofs if one.level == "dram"]
    for one in main:
        bend, y = plan.roof(one, layout, True)[0].tolist()
        text = f"{one.dtype} {si(one.peak, 'FLOP/s')}"
        above = [(x, y - 8) for x in np.arange(right - width(text) / 2, bend, -20).tolist()]
        before = [(x, y - 8) for x in np.arange(bend, left, -20).tolist()]
        found.append((text, room.put(text, above) or room.put(text, before), "computing"))
    for one in main[:1]:
        text, slope = slope_text(one), layout.inside(plan.roof(one, layout, False))
        beside = [(x + width(text) / 2 + 8, y + 9) for x, y in slope[::-1]]
        found.append((text, room.put_along(text, slope) or room.put(text, beside), "carrying"))
    if caches := plan.roofs[len(main) :]:
        text = slope_text(caches[0]) if len(caches) == 1 else _span(caches)
        half, (x, y) = width(text) / 2, plan.roof(caches[-1], layout, False)[-1].tolist()
        spots = [(max(x - half - 8, left + half + 8), y + down) for down in (-1, -27, 22, 45)]
        found.append((text, room.put(text, spots), "carrying"))
    return found


def _span(caches: Sequence[Roofline]) -> str:
    """``caches 60.0 to 400 GB/s``, ``caches 368 GB/s to 1.12 TB/s``."""
    rates = sorted(one.bandwidth for one in caches)
    slow, fast = (si(rate, "B/s") for rate in (rates[0], rates[-1]))
    number, unit = slow.split()
    return f"caches {number if fast.endswith(f' {unit}') else slow} to {fast}"
