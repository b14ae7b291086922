"""Where points, lines and words stand on the way from time to roofline, at three layouts.

Layout 0 is time against work, 1 rate against intensity (both from zero), 2 the same in decades.
From 1 to 2 a place moves along its own axis only: what stands above another stays above it.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from rooflab.count.si import si
from rooflab.show.labels import Box, Room, apart, width
from rooflab.show.measured_points import Dot
from rooflab.show.name_places import NEARER, Name, lead_of, put_names, rings
from rooflab.show.rooflines.ceiling_lines import CallLine, Ceiling
from rooflab.show.scene.axes import Frame, Scale

STEPS = 40  # points of a roof between its ends, so that it bends as the axes do
GAP = 40  # how much worse words where a guess will hang are than on a roof
LIFTS = (5, -15, 24, -28, 38, -42, 52)  # of words beside a guess, from the middle of its marker
BELOW_BEND = 45  # pixels between the flat part of a roof and the words at its slope

Spot = list[float]  # x and y of the middle of words on their baseline, and their slant if any
Path = np.ndarray  # points × (x, y)
Hanging = tuple[list[str], Path]  # which end of the words stands where, for each place of a guess


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

    def guess(self, dot: Dot, seconds: float) -> tuple[float, float]:
        """Pixels of the guess that it takes ``seconds``; beyond the axes they are at its edge."""
        x, y = self.place(dot, seconds)
        return x, min(max(y, self.frame.top), self.frame.bottom)

    def said(self, dot: Dot) -> list[str]:
        """What each of its guesses is off by, with an arrow to one beyond the axes."""
        heights = [self.place(dot, seconds)[1] for seconds in dot.guesses]
        top, bottom = self.frame.top, self.frame.bottom
        arrows = [" ↑" if y < top else " ↓" if y > bottom else "" for y in heights]
        return [dot.at_guess(s).off_by + more for s, more in zip(dot.guesses, arrows)]

    def inside(self, path: Path) -> list[list[float]]:
        """The points of ``path`` that lie in the picture."""
        left, top, right, bottom = self.frame.box
        return [[x, y] for x, y in path.tolist() if left <= x <= right and top <= y <= bottom]


@dataclass(frozen=True)
class Aside:
    """Words at the end of a thin line, where there is one; ``dot`` is whose name they are."""

    text: str
    at: Spot
    lead: list[list[float]] | None
    dot: int | None


@dataclass
class Words:
    """Where the words of one layout stand; None where there is no room.

    ``names``: one a point. ``calls``: one a call line. ``roofs``: the text, its spot, and whether
    it names a bandwidth. ``floor``: what is said of the cheapest call. ``guesses``: number of a
    point → what is said of its guess. ``hidden``: numbers of the points that have no name.
    """

    names: list[Spot | None]
    calls: list[Spot | None]
    guesses: dict[int, Hanging] = field(default_factory=dict)
    roofs: list[tuple[str, Spot | None, bool]] = field(default_factory=list)
    floor: tuple[str, Spot | None] | None = None
    asides: list[Aside] = field(default_factory=list)
    hidden: list[int] = field(default_factory=list)


@dataclass(frozen=True)
class Plan:
    """All that is drawn in ``frame``, with its three layouts and the words of each.

    ``numbered``: numbers stand for the names of the points.
    """

    frame: Frame
    dots: tuple[Dot, ...]
    roofs: tuple[Ceiling, ...]
    calls: tuple[CallLine, ...]
    numbered: bool = False

    @property
    def names(self) -> list[str]:
        """What stands at each point."""
        return [str(n) if self.numbered else dot.label for n, dot in enumerate(self.dots, 1)]

    def crowded(self, lines: int) -> bool:
        """Whether a name in decades finds no place, or more than so many stand apart on lines."""
        third = self.words[2]
        return bool(third.hidden) or sum(one.lead is not None for one in third.asides) > lines

    @cached_property
    def layouts(self) -> tuple[Layout, Layout, Layout]:
        """Scales that hold all points, and in decades the roofs and call lines as well."""
        frame, dots = self.frame, self.dots
        intensity, rate = [d.op.intensity for d in dots], [d.rate for d in dots]
        ridges, peaks = [c.roof.ridge for c in self.roofs], [c.roof.peak for c in self.roofs]
        slow = [min(max(d.guessed_rate or d.rate, min(rate) / 30), max(rate) * 30) for d in dots]
        slow += [d.rate / 10 for d in dots if d.asked is not None]  # room for what will be guessed
        low_x = min(intensity) / 4  # room for names on the left as well
        high_x = max(*intensity, *(3 * r for r in ridges), 10 * low_x) * 3
        low_y, high_y = min(*rate, *slow) / 3, max(*rate, *slow, *peaks) * 3
        most = [1.09 * max(v) for v in ([d.op.flops for d in dots], [d.seconds for d in dots])]
        high = [1.09 * max(v) for v in (intensity, rate)]
        return (
            Layout(0, frame, frame.x(0, most[0], log=False), frame.y(0, most[1], log=False)),
            Layout(1, frame, frame.x(0, high[0], log=False), frame.y(0, high[1], log=False)),
            Layout(2, frame, frame.x(low_x, high_x), frame.y(low_y, high_y)),
        )

    def roof(self, ceiling: Ceiling, layout: Layout, flat: bool) -> Path:
        """The slanted or the flat part of a roof; over work it is no line."""
        lo, hi, ridge = self.layouts[2].x.lo, self.layouts[2].x.hi, ceiling.roof.ridge
        bend = min(max(ridge, lo), hi)
        grid = np.geomspace(bend, hi, STEPS // 2) if flat else np.geomspace(lo, bend, STEPS // 2)
        rates = [ceiling.roof.attainable(float(x)) for x in grid]
        return np.column_stack([layout.x(grid), layout.y(np.array(rates))])

    def call(self, line: CallLine, layout: Layout) -> Path:
        """The floor over work, or the line that the same calls are as a rate."""
        if layout.index == 0:
            across = np.linspace(self.frame.left, self.frame.right, len(line.points))
            return np.column_stack([across, np.full(len(across), layout.y(line.seconds))])
        x, y = np.array(line.points, float).T
        return np.column_stack([layout.x(x), layout.y(y)])

    @cached_property
    def words(self) -> tuple[Words, Words, Words]:
        """Where the words of each layout stand."""
        first, second, third = (_write(self, layout) for layout in self.layouts)
        return first, second, third


# In decades every point has its name. Where whole crowds of points lie on each other, one note
# counts them.


def _write(plan: Plan, layout: Layout) -> Words:
    """Find room for every label of ``layout``."""
    dots, k = plan.dots, layout.index
    spots = [layout.place(dot) for dot in dots]
    room = _room(plan, layout, spots)
    words = Words([None] * len(dots), [None] * len(plan.calls))
    if k == 2:
        words.roofs = _name_roofs(room, plan, layout)
    if k == 0 and plan.calls:
        words.floor = _name_floor(room, plan)
    strips = [_hanging(dot, layout) for dot in dots if dot.asked is not None]
    own = list(spots)
    guessed = [n for n, dot in enumerate(dots) if dot.guess is not None]
    hung = {n: layout.guess(dots[n], dots[n].guess or 0) for n in guessed}
    named = [
        Name(text, at, [hung[n]] if n in hung else [])
        for n, (text, at) in enumerate(zip(plan.names, own))
    ]
    if k == 2:  # only there is the gap of a guess long enough to carry words
        named += [Name(layout.said(dots[n])[0], hung[n], [own[n]]) for n in guessed]
    places = put_names(room, named, k == 2, strips)
    for n, place in enumerate(places[: len(dots)]):
        if place and place.lead:
            words.asides.append(Aside(plan.names[n], place.at, place.lead, n))
        elif place:
            words.names[n] = place.at
    if k == 2:
        paths = [plan.call(line, layout) for line in plan.calls]
        words.calls = [_name_call(room, c.label, at, strips) for c, at in zip(plan.calls, paths)]
    words.hidden = [n for n, place in enumerate(places[: len(dots)]) if place is None]
    if k < 2 and words.hidden:
        words.asides += _note(room, plan, layout, words.hidden)
    if k == 2:  # last, so that names go first
        words.guesses = _beside_guesses(room, plan)
        placed = zip(guessed, places[len(dots) :])
        words.guesses |= {n: (["middle"], np.array([one.at])) for n, one in placed if one}
    return words


def _beside_guesses(room: Room, plan: Plan) -> dict[int, Hanging]:
    """What is said of guesses that are not made yet: beside the marker of each.

    Nothing is said at places where the words would lie on a name, or where another guess's words
    may come to stand. The sides are those at which the fewest places are lost.
    """
    asked = [n for n, dot in enumerate(plan.dots) if dot.asked is not None]
    every = [{side: _at_side(room, plan, n, side) for side in (1, -1)} for n in asked]
    best: list[Path] = []
    for sides in itertools.product((1, -1), repeat=len(asked)):
        found: list[Path] = []
        for boxes, side in zip(every, sides):
            own = boxes[side].copy()
            for other in found:
                own[_covered(own, other)] = np.nan
            found.append(own)
        if _seen(found) > _seen(best):
            best = found
    return {n: _ends(plan.layouts[2].place(plan.dots[n])[0], one) for n, one in zip(asked, best)}


def _ends(own: float, boxes: Path) -> Hanging:
    """The ends of words in ``boxes`` that are nearer to x = ``own``, where their marker is."""
    right = boxes[:, 0] > own
    x = np.where(right, boxes[:, 0] + 3, boxes[:, 2] - 3)
    return ["start" if one else "end" for one in right], np.column_stack([x, boxes[:, 3] - 5])


def _at_side(room: Room, plan: Plan, n: int, first: int) -> Path:
    """The box of what is said of each guess of point ``n``, best on one side; NaN without room."""
    layout, dot, frame = plan.layouts[2], plan.dots[n], room.frame
    texts, taken = layout.said(dot), np.array(room.taken)
    others = [mark for mark in room.markers if mark != layout.place(dot)]
    boxes = np.full((len(texts), 4), np.nan)
    for g, (text, seconds) in enumerate(zip(texts, dot.guesses)):
        x, y = layout.guess(dot, seconds)
        for side, lift in itertools.product((first, -first), LIFTS):
            near, far = x + side * 10, x + side * (width(text) + 16)
            box = (min(near, far), y + lift - 14, max(near, far), y + lift + 5)
            inside = box[0] >= frame[0] and box[2] <= frame[2] and frame[1] <= box[1]
            far = NEARER * apart(box, (x, y))  # nearer to its own marker than to any other
            if not inside or box[3] > frame[3] or any(apart(box, one) <= far for one in others):
                continue
            if not _covered(np.array([box]), taken)[0]:
                boxes[g] = box
                break
    return boxes


def _covered(boxes: Path, others: Path) -> np.ndarray:
    """Which of ``boxes`` overlap one of ``others``; what is not a number overlaps nothing."""
    (left, top, right, bottom), own = others.T, boxes[:, :, None]
    across = (left < own[:, 2]) & (own[:, 0] < right)
    return np.asarray((across & (top < own[:, 3]) & (own[:, 1] < bottom)).any(axis=1))


def _seen(found: Sequence[Path]) -> int:
    return sum(int((~np.isnan(boxes[:, 0])).sum()) for boxes in found)


def _room(plan: Plan, layout: Layout, spots: Sequence[tuple[float, float]]) -> Room:
    """The room of a layout with all markers and lines in it."""
    left, top, right, bottom = plan.frame.box
    room = Room((left + 4, top - 4, right + 12, bottom - 3))
    for spot in spots:
        room.add_marker(*spot)
    for dot, spot in zip(plan.dots, spots):
        if dot.guess is not None:
            room.add_marker(*layout.guess(dot, dot.guess))
            room.add_line([layout.guess(dot, dot.guess), spot], weight=GAP)
        if dot.asked is not None:
            room.add_line([(spot[0], top), (spot[0], bottom)], radius=9, weight=GAP)
    if layout.index == 2:
        for ceiling in plan.roofs:
            for flat in (False, True):
                room.add_line(layout.inside(plan.roof(ceiling, layout, flat)))
        for line in plan.calls:
            room.add_line(layout.inside(plan.call(line, layout)))
    return room


def _hanging(dot: Dot, layout: Layout) -> Box:
    """Where a guess that has yet to be made may come to hang: no name lies there."""
    places = [layout.guess(dot, seconds) for seconds in dot.asked.seconds] if dot.asked else []
    heights = [y for _, y in places]
    return places[0][0] - 9, min(heights) - 9, places[0][0] + 9, max(heights) + 9


def _name_floor(room: Room, plan: Plan) -> tuple[str, Spot | None]:
    text = f"the floor: no call below {si(min(line.seconds for line in plan.calls), 's')}"
    half, (left, _, right, bottom) = width(text) / 2 + 6, plan.frame.box
    spots = [(float(x), bottom - 9) for x in np.linspace(right - half, left + half, 4)]
    return text, room.put(text, spots)


def _note(room: Room, plan: Plan, layout: Layout, hidden: Sequence[int]) -> list[Aside]:
    """One note that counts the points without a name in a crowd, or the only such name."""
    spots = [layout.place(plan.dots[n]) for n in hidden]
    text = plan.names[hidden[0]] if len(hidden) == 1 else f"no room for {len(hidden)} more names"
    x, y = np.mean(spots, axis=0).tolist()
    clear = [spot for spot in rings(x, y) if room.sees(spot, (x, y))]
    at = room.put(text, clear)
    lead = lead_of(at, width(text) / 2 + 4, (x, y)) if at else None
    if at is None and len(hidden) > 1:
        at = room.put(text, rings(x, y))
    room.add_line(lead or [])
    return [Aside(text, at, lead, hidden[0] if len(hidden) == 1 else None)] if at else []


def _name_roofs(room: Room, plan: Plan, layout: Layout) -> list[tuple[str, Spot | None, bool]]:
    """Memory's bandwidth along its slope, the peaks at theirs, the caches in one label."""
    left, _, right, _ = plan.frame.box
    found: list[tuple[str, Spot | None, bool]] = []
    caches = [one for one in plan.roofs if one.level != "dram"]
    for ceiling in (one for one in plan.roofs if one.level == "dram"):
        y, bend = layout.y(ceiling.roof.peak), layout.x(ceiling.roof.ridge)
        text = ceiling.flat_text
        half = width(text) / 2
        flat = [(x, y + dy) for dy in (-8, 22) for x in np.arange(right - 60, bend, -20)]
        flat += [(x, y - 8) for x in np.arange(bend, left + half, -20)]  # beside its end
        found.append((text, room.put(text, flat), False))
        slope, text = layout.inside(plan.roof(ceiling, layout, False)), ceiling.slope_text
        along = room.put_along(text, slope) or room.put_along(text, slope, -1)
        found.append((text, along or _name_slope(room, text, slope, left, 1), True))
    if caches:
        text = caches[0].slope_text if len(caches) == 1 else _span(caches)
        slope = layout.inside(plan.roof(caches[-1], layout, False))
        found.append((text, _name_slope(room, text, slope, left, -1), True))
    return found


def _span(caches: Iterable[Ceiling]) -> str:
    """``caches 60.0 to 400 GB/s``, ``caches 368 GB/s to 1.12 TB/s``."""
    rates = sorted(ceiling.roof.bandwidth for ceiling in caches)
    slow, fast = (si(rate, "B/s") for rate in (rates[0], rates[-1]))
    number, unit = slow.split()
    return f"caches {number if fast.endswith(f' {unit}') else slow} to {fast}"


def _name_call(room: Room, text: str, path: Path, strips: Sequence[Box]) -> Spot | None:
    """What a call costs, beside its line; without other room it lies on one of ``strips``."""
    half, (left, top, right, bottom) = width(text) / 2 + 13, room.frame
    inside = [(x, y) for x, y in path.tolist() if left <= x <= right and top <= y <= bottom]
    spots = [(x + d, y + 5) for x, y in inside for d in (half, -half)]
    bare = Room(room.frame, [box for box in room.taken if box not in strips], room.lines)
    if at := room.put(text, spots):
        return at
    at = bare.put(text, spots)
    room.taken += bare.taken[-1:] if at else []
    return at


def _name_slope(
    room: Room, text: str, slope: Sequence[Sequence[float]], left: float, side: int
) -> Spot | None:
    """Write ``text`` beside the slanted part of a roof: below it (side 1) or above it (-1)."""
    half = width(text) / 2 + 8
    slanted = [(x, y) for x, y in slope][::-1]
    if side > 0:  # clear of the flat part, which has a name of its own
        slanted = [(x, y) for x, y in slanted if y > slanted[0][1] + BELOW_BEND] or slanted
    spots = [(x + side * half, y + side * 5 + 4) for x, y in slanted]
    if side > 0:
        spots += [(x - half, y - 1) for x, y in slanted]
    spots += [(left + half + 6 + dx, y - 10) for dx in (0, 30, 60) for _, y in slanted]
    return room.put(text, spots)
