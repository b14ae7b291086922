"""Byte golf as a picture: arrays cross the bus step by step, and every byte stays in the ledger.

From top to bottom: the line of code, memory with the arrays' homes, the bus, the cache, the
processor. Below them the ledger, in which every block that crossed the bus stays, as wide as its
bytes an element. A sweep over chunk sizes has two more bars: the time measured, and the time that
the counted bytes promise.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from rooflab.count.si import plain
from rooflab.labs.golf.story import ArrayTrip, ChunkStories, Stop, Story, number, story
from rooflab.show import figures, labels, theme
from rooflab.show.figures import Panel, Picture
from rooflab.show.scene import By, Dim, Scene

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: The two sheets: a page's column, and a phone.
WIDE, NARROW = 720, 400
#: The walk through a program: milliseconds a place; places before a call, and of each flight.
GLIDE, LEAD, FLIGHT = 200, 1, 4
TURN = 450  # milliseconds of everything to another chunk size
BLOCK, LETTERS, SMALL = 26, 15, 13  # pixels of a block's height, and of letters
GAP, TINY = 10, 3  # pixels between columns; of what would be too small to be seen
#: The share of its strip that the cache takes; pieces that need more reach beyond it.
ROOM = 0.6
MOST_CODE = 6  # lines
Key: TypeAlias = tuple[int, str, str]  # a flight: stop, array, way
Look: TypeAlias = dict[str, Any]  # what several marks have in common


def size(count: float) -> str:
    """Bytes as text, in the units of caches: ``"512 KiB"``."""
    power = sum(count >= 1000 * 1024**n for n in range(3))
    return f"{plain(count / 1024**power, 3)} {('B', 'KiB', 'MiB', 'GiB')[power]}"


def ticks(longest: float) -> list[float]:
    """Powers of two apart, from 0 to ``longest`` bytes an element: four to eight steps."""
    step = 2.0 ** math.ceil(math.log2(longest / 8))
    return [step * n for n in range(math.floor(longest / step + 1e-9) + 1)]


def wide(words: str, letters: float = LETTERS) -> float:
    """Pixels that they need, with some air."""
    return labels.width(words) * letters / labels.SIZE + 6


def first_fit(room: float, *words: str, letters: float = LETTERS) -> str:
    """The first of ``words`` for which there are ``room`` pixels; none is empty."""
    return next((one for one in words if wide(one, letters) <= room), "")


# Where everything lies: in time, along the walk through the program, and on the sheet.


@dataclass(frozen=True)
class Walk:
    """The steps of all stories as places of one walk: a call, then its flights one by one."""

    stories: Sequence[Story]

    @cached_property
    def flights(self) -> list[Key]:
        """Every trip of any story, in the order of the program."""
        every = dict.fromkeys(
            (n, trip.name, trip.way)
            for told in self.stories
            for n, stop in enumerate(told.stops, 1)
            for trip in stop.trips
        )
        return sorted(every, key=lambda key: key[0])

    @cached_property
    def stops(self) -> list[int]:
        """The place of every stop, 0 included."""
        many = max(len(told.stops) for told in self.stories)
        flown = np.bincount([stop for stop, _, _ in self.flights], minlength=many + 1)[1:]
        return [0, *np.cumsum(LEAD + FLIGHT * flown).tolist()]

    @cached_property
    def starts(self) -> list[int]:
        """The place at which each flight begins; it ends ``FLIGHT`` places later."""
        return [LEAD * stop + FLIGHT * n for n, (stop, _, _) in enumerate(self.flights)]

    @cached_property
    def places(self) -> np.ndarray:
        """0, 1, … to the last place."""
        return np.arange(self.stops[-1] + 1)

    @cached_property
    def at(self) -> np.ndarray:
        """The stop that each place belongs to."""
        return np.searchsorted(self.stops, self.places)

    def share(self, flight: int) -> np.ndarray:
        """How far a flight has come at every place, from 0 to 1."""
        return np.clip((self.places - self.starts[flight]) / FLIGHT, 0, 1)

    def under_way(self, flight: int) -> np.ndarray:
        """At which places it has begun, or rests until the next call."""
        begun = self.places > self.starts[flight]
        return begun & (self.at == self.flights[flight][0])


class Sheet:
    """The stories, one a chunk size, on a sheet of one width: what lies where, and its scene."""

    def __init__(
        self, stories: Sequence[Story], width: float, sweep: ChunkStories | None, start: int
    ) -> None:
        self.stories, self.sweep, self.walk = stories, sweep, Walk(stories)
        self.left, self.right = (82.0, width - 12) if width < 560 else (96.0, width - 18)
        self.room = self.right - self.left
        seen = dict.fromkeys(name for told in stories for name in told.names)
        self.names = sorted(seen, key=lambda name: (name == "result") + 2 * (name == "others"))
        self.pitch = self.room / len(self.names)
        self.reach = max(max(s.total, s.minimum, s.crossed(len(s.stops))) for s in stories) or 1.0
        self.code = self._code(width)
        self.lines = max(map(len, self.code.values()))
        timed = sweep is not None and sweep.measured
        tops = 20 * self.lines + 18 + np.cumsum([0, 52, 80, 70, 56, 30, 54, 30, 50])
        highs = (52, 80, 70, 56, 30, 0, 30, 0, 46 if timed else 0)
        lanes = [(float(top), float(top + high)) for top, high in zip(tops, highs, strict=True)]
        self.memory, self.bus, self.cache, self.near, self.cpu, _, self.ledger, _, self.bars = lanes
        self.scene = Scene(width, self.bars[1] + 2, self._dims(start))

    def _dims(self, start: int) -> list[Dim]:
        sizes = [0] if self.sweep is None else list(self.sweep.chunks)
        shown = ["all at once"] if self.sweep is None else [theme.count(one) for one in sizes]
        last, keys = len(self.walk.stops) - 1, self.walk.stops
        steps = [f"{n} of {last}" for n in range(last + 1)]
        return [
            Dim("chunk", shown, sizes, start=len(sizes) - 1, glide=TURN),
            Dim("step", steps, start=start, glide=GLIDE, keys=keys, even=True),
        ]

    def _code(self, width: float) -> dict[str, list[str]]:
        """Every line of code, cut into lines that fit the sheet."""
        letters = int((width - 24) / (0.61 * LETTERS))
        every = dict.fromkeys(stop.code for told in self.stories for stop in told.stops)
        return {"": ["before the first step"]} | {code: _wrapped(code, letters) for code in every}

    def middle(self, name: str) -> float:
        """The middle of an array's column."""
        return self.left + (self.names.index(name) + 0.5) * self.pitch

    def long(self, per: float) -> float:
        """Pixels of ``per`` bytes an element in the ledger."""
        return per * self.room / self.reach

    def block(self, per: float) -> float:
        """The width of a block in its column; a tiny one stays visible."""
        return min(max(self.long(per), TINY), self.pitch - GAP)

    def label(self, lane: tuple[float, float], words: str, ink: str = "ink") -> None:
        """The name of a lane, left of it."""
        self.scene.text(self.left - 12, sum(lane) / 2 + 5, words, ink, anchor="end", size=14)

    def each(self, value: Any) -> By:
        """``value(story, stop)`` at every chunk size and place."""
        many = range(len(self.walk.stops))
        spots = [[value(told, min(n, len(told.stops))) for n in many] for told in self.stories]
        kind = object if isinstance(spots[0][0], str) else float
        return both(np.array(spots, kind)[:, self.walk.at])


def chunk(values: Any) -> By:
    """One value a chunk size."""
    return By("chunk", values)


def both(values: Any) -> By:
    """One row a chunk size, one value a place."""
    return By("chunk step", values)


def _wrapped(code: str, letters: int) -> list[str]:
    """A line of code in lines of so many letters; a very long one is cut."""
    lines = textwrap.wrap(code, letters, subsequent_indent="    ", break_on_hyphens=False) or [""]
    return [*lines[: MOST_CODE - 1], lines[MOST_CODE - 1] + " …"] if lines[MOST_CODE:] else lines


def golf_scene(
    stories: Sequence[Story], width: float = WIDE, *, sweep: ChunkStories | None = None,
    start: int = 0, hands: bool = True,
) -> Scene:  # fmt: skip
    """The scene of the stories, one a chunk size of ``sweep``, at the step ``start``.

    ``hands``: whether there is something to take hold of.
    """
    sheet = Sheet(stories, width, sweep, start)
    _lanes(sheet)
    flights = [_flight(sheet, n) for n in range(len(sheet.walk.flights))]
    for flight in flights:
        flight.draw_trail()
    if any(told.cache for told in stories):
        _strip(sheet)
    for name in sheet.names:
        _home(sheet, name)
    for flight in flights:
        flight.draw_block()
    _ledger(sheet, hands)
    if sweep is not None and sweep.measured:
        _bars(sheet, sweep)
    sheet.scene.play("step")
    sheet.scene.slider("step", "step")
    if sweep is not None:
        sheet.scene.slider("chunk", "chunk size")
    _words(sheet)
    return sheet.scene


def _lanes(sheet: Sheet) -> None:
    """The line of code; memory, bus, cache and processor, and the call that it does."""
    scene = sheet.scene
    scene.rect(0, 0, scene.width, 20 * sheet.lines + 10, "soft", opacity=0.1, radius=4)
    for n in range(sheet.lines):
        line = {code: "".join(cut[n : n + 1]) for code, cut in sheet.code.items()}
        said = sheet.each(lambda told, at, line=line: line[_before(told, at).code])
        scene.text(8, 20 * n + 20, said, mono=True, name="code")
    for lane, shade in ((sheet.memory, 0.1), (sheet.cache, 0.1), (sheet.cpu, 0.2)):
        scene.rect(0, lane[0], scene.width, lane[1] - lane[0], "soft", opacity=shade, radius=0)
    middle, high = sum(sheet.bus) / 2, sheet.bus[1] - sheet.bus[0]
    wires = [(sheet.left, middle), (sheet.right, middle)]
    scene.line(wires, "soft", high, dash=(1, 21), opacity=0.35)
    sheet.label(sheet.memory, "memory")
    sheet.label(sheet.bus, "bus", "soft")
    sheet.label((sheet.cache[0], sheet.cache[0] + 34), "cache")
    sheet.label(sheet.cpu, "CPU")

    def call(told: Story, at: int) -> str:
        one = _before(told, at)
        return one.call + (f" × {theme.count(one.rounds)}" if one.rounds > 1 else "")

    middle = (sheet.left + sheet.right) / 2
    look: Look = {"bold": True, "anchor": "middle", "name": "call"}
    scene.text(middle, sum(sheet.cpu) / 2 + 5, sheet.each(call), **look)


def _before(told: Story, at: int) -> Stop:
    """The call that led to a stop; before the first one there is none."""
    return told.stops[at - 1] if at else Stop("", "", None, 1, ())


# Homes: where an array is while nobody needs it. A name may come back for another array, after the
# first has gone; then its home moves.


def _home(sheet: Sheet, name: str) -> None:
    """A dashed place until the array is made, then a box; it is green in the cache."""
    scene = sheet.scene
    box = sheet.each(lambda told, at: _box(sheet, name, _whereabouts(told, name, at))).values
    made = np.array([_made(sheet.walk, told, name) for told in sheet.stories])
    x, y, w, h = (both(box[..., n]) for n in range(4))
    ink = both(np.where(box[..., 1] > sheet.cache[0], "carrying", "soft"))
    look: Look = {"dash": (4, 4), "opacity": both(~made), "name": "unborn"}
    scene.rect(x, y, w, h, None, ink="soft", **look)
    scene.rect(x, y, w, h, "paper", ink=ink, width=2, opacity=both(made), name="home")
    room = sheet.pitch - GAP
    short = first_fit(room, name, *(name[:n] + "…" for n in range(len(name) - 1, 0, -1)))
    foot, ink = both(box[..., 1] + box[..., 3] / 2 + 5), both(np.where(made, "ink", "soft"))
    scene.text(sheet.middle(name), foot, short, ink, anchor="middle", name="array")


def _whereabouts(told: Story, name: str, at: int) -> ArrayTrip | None:
    """The trip that says where an array is at a stop: its last one, or else its first."""
    trips = [[trip for trip in stop.trips if trip.name == name] for stop in told.stops]
    so_far = [trip for here in trips[:at] for trip in here]
    return so_far[-1] if so_far else next((trip for here in trips for trip in here), None)


def _box(sheet: Sheet, name: str, trip: ArrayTrip | None) -> tuple[float, float, float, float]:
    """An array's home: in memory or in the cache, as wide as its bytes or as its name needs."""
    if trip is None:
        return math.nan, math.nan, math.nan, math.nan
    long = min(max(sheet.block(trip.per), wide(name) + 4), sheet.pitch - GAP)
    y, high = (sheet.memory[0] + 8, 36) if trip.where == "memory" else (sheet.cache[1] - 34, 28)
    return sheet.middle(name) - long / 2, y, long, high


def _made(walk: Walk, told: Story, name: str) -> np.ndarray:
    """At which places an array exists: from the end of the flight that writes it first."""
    first = next(
        ((n, name, t.way) for n, s in enumerate(told.stops, 1) for t in s.trips if t.name == name),
        (0, name, "read"),
    )
    if first[2] == "read":
        return np.ones(len(walk.places), bool)
    return walk.share(walk.flights.index(first)) == 1


# Flights: from an array's home to the processor, or back. Over the bus goes a full block; from the
# cache a hollow one, which costs nothing.


@dataclass(frozen=True)
class _Flight:
    """One trip in every story, None where there is no such trip: its block and its trail.

    ``aside``: pixels that the resting block lies lower, where a call reads and writes one array.
    """

    sheet: Sheet
    number: int
    trips: list[ArrayTrip | None]
    aside: list[float]

    @property
    def down(self) -> bool:
        """From the home to the processor."""
        return self.sheet.walk.flights[self.number][2] == "read"

    @property
    def middle(self) -> float:
        """The middle of its column."""
        return self.sheet.middle(self.sheet.walk.flights[self.number][1])

    @cached_property
    def free(self) -> np.ndarray:
        """Whether it costs nothing, for each chunk size."""
        return np.array([trip is not None and trip.where == "cache" for trip in self.trips])

    @cached_property
    def ends(self) -> np.ndarray:
        """Where the trail begins and ends, for each chunk size."""
        homes = np.where(self.free, self.sheet.cache[1] - 6, self.sheet.memory[0] + 44)
        ends = np.stack([homes, np.full(len(homes), self.sheet.cpu[0])], axis=1)
        return ends if self.down else ends[:, ::-1]

    def front(self) -> np.ndarray:
        """How far the trail has come, slow at both ends; a row a chunk size."""
        t = self.sheet.walk.share(self.number)
        return self.ends[:, :1] + np.diff(self.ends) * t * t * (3 - 2 * t)

    def shown(self) -> By:
        """From the beginning of the flight until the next call."""
        there = np.array([[trip is not None] for trip in self.trips])
        return both(there & self.sheet.walk.under_way(self.number))

    def draw_trail(self) -> None:
        """A line from where it comes from, with an arrow at its head."""
        scene, x = self.sheet.scene, chunk(self.middle + 0.4 * np.array(self.aside))
        tip = both(self.front() + (-6 if self.down else 6))
        look: Look = {"opacity": self.shown(), "name": "trail"}
        scene.line([(x, chunk(self.ends[:, 0])), (x, tip)], "carrying", 4, **look)
        scene.dot(x, tip, "down" if self.down else "triangle", 7, fill="carrying", **look)

    def draw_block(self) -> None:
        """A block that goes with the trail's head, and stays on the bus or near the processor."""
        sheet, scene, free = self.sheet, self.sheet.scene, self.free
        long = np.array([sheet.block(trip.per if trip else 0) for trip in self.trips])
        rest = np.where(free, sum(sheet.near) / 2, sum(sheet.bus) / 2) + self.aside - BLOCK / 2
        nearer = np.minimum if self.down else np.maximum
        y = nearer(self.front() - BLOCK * self.down, rest[:, None])
        look: Look = {"opacity": self.shown()}
        x, fill = chunk(self.middle - long / 2), chunk(np.where(free, "paper", "carrying"))
        box = x, both(y), chunk(long), BLOCK
        scene.rect(*box, fill, ink="carrying", width=2, name="trip", **look)
        arrow = "↓" if self.down else "↑"
        said = [
            f"{arrow} free" if at_no_cost else f"{arrow} {number(trip.per if trip else 0)} B"
            for trip, at_no_cost in zip(self.trips, free, strict=True)
        ]
        room = sheet.pitch / 2 - long / 2
        beside = [w < wide(one, SMALL) < r for one, w, r in zip(said, long, room, strict=True)]
        inside = [first_fit(r, one, arrow, letters=SMALL) for r, one in zip(long, said)]
        look |= {"anchor": chunk(np.where(beside, "start", "middle")), "name": "trip-says"}
        ink = np.where(np.logical_or(free, beside), "ink", "paper")
        x = chunk(self.middle + np.where(beside, long / 2 + 5, 0))
        words = chunk(np.where(beside, said, inside).astype(object))
        scene.text(x, both(y + 18), words, chunk(ink), size=SMALL, **look)


def _flight(sheet: Sheet, flight: int) -> _Flight:
    stop, name, way = sheet.walk.flights[flight]
    trips, aside = [], []
    for told in sheet.stories:
        here = told.stops[stop - 1].trips if stop <= len(told.stops) else ()
        mine = {trip.way: trip for trip in here if trip.name == name}
        trips.append(mine.get(way))
        both_ways = len(mine) == 2 and len({trip.where for trip in mine.values()}) == 1
        aside.append((-15.5 if way == "read" else 15.5) * both_ways)
    return _Flight(sheet, flight, trips, aside)


# The room of the cache, and the pieces that one round of the program touches, at their size.


def _strip(sheet: Sheet) -> None:
    """Pieces that need more than the room reach beyond its wall; those that stay are hollow."""
    scene, left, right, top = sheet.scene, sheet.left, sheet.right, sheet.cache[0] + 7
    wall, capacity = left + ROOM * sheet.room, max(told.cache for told in sheet.stories)
    scene.rect(left, top, right - left, 20, "paper", radius=0)
    first = [name for name in sheet.names if name != "result" and not _is_given(sheet, name)]
    names = sorted(sheet.names, key=lambda name: name not in first)
    scale = (wall - left) / capacity

    def pieces(told: Story, at: int) -> list[float]:
        held = told.together(at)
        return [max(held[name] * scale, TINY) if name in held else 0 for name in names]

    long = sheet.each(pieces).values
    ends = np.minimum(left + np.cumsum(long, axis=-1), right + 2)
    starts = np.concatenate([np.full_like(ends[..., :1], left), ends[..., :-1]], axis=-1)
    look: Look = {"clip": (left, top - 1, right, top + 21), "radius": 0}
    for n, name in enumerate(names):
        filled = sheet.each(lambda told, at, name=name: 0.25 * _came(told, at, name))
        x, w = both(starts[..., n]), both(ends[..., n] - starts[..., n])
        scene.rect(x, top, w, 20, "carrying", opacity=filled, name="touched", **look)
        scene.rect(x, top, w, 20, None, ink="carrying", name="piece", **look)
        seen = np.minimum(ends[..., n], wall) - starts[..., n]
        words = both(np.where(seen > wide(name, SMALL), name, "").astype(object))
        scene.text(both(starts[..., n] + seen / 2), top + 15, words, size=SMALL, anchor="middle")
    scene.line([(wall, top - 5), (wall, top + 25)], width=3, name="wall")
    scene.text(left - 12, top + 42, size(capacity), "soft", size=SMALL, anchor="end")
    _round(sheet, top, wall, ends[..., -1])


def _is_given(sheet: Sheet, name: str) -> bool:
    """Whether an array is there before the program begins."""
    first = (_whereabouts(told, name, 0) for told in sheet.stories)
    return any(trip is not None and trip.way == "read" for trip in first)


def _came(told: Story, at: int, name: str) -> bool:
    """Whether pieces of an array have crossed the bus by a stop."""
    trips = (trip for stop in told.stops[:at] for trip in stop.trips)
    return any(trip.name == name and trip.where == "memory" for trip in trips)


def _round(sheet: Sheet, top: float, wall: float, ends: np.ndarray) -> None:
    """How much one round touches, and the handle that makes its pieces larger or smaller."""
    scene, right = sheet.scene, sheet.right - (14 if sheet.sweep else 4)

    def said(told: Story, at: int) -> str:
        touched = size(sum(told.together(at).values()))
        often = "a round" if told.stops[max(at, 1) - 1].rounds > 1 else "in all"
        return first_fit(right - wall - 14, f"{touched} {often}", touched, letters=SMALL)

    beyond = np.where(ends > sheet.right, " →", "").astype(object)
    words = both(sheet.each(said).values + beyond)
    scene.text(right, top + 15, words, size=SMALL, anchor="end", name="round")
    if sheet.sweep is None:
        return
    hand = np.minimum(ends, sheet.right)
    look: Look = {"fill": "paper", "ink": "key", "width": 3, "name": "chunk-now"}
    scene.dot(both(hand), top + 10, size=7, **look)
    spots = hand.copy()  # what lies at one place, too small or too large, is pulled to 8 px apart
    for n in range(1, len(spots)):
        spots[n] = np.maximum(spots[n], spots[n - 1] + 8)
    area = (sheet.left - 14, top - 6, sheet.right + 14, top + 26)
    scene.grip("chunk", both(spots), top + 10, area=area)


# The ledger: what has crossed the bus so far, block after block.


def _ledger(sheet: Sheet, hands: bool) -> None:
    scene, walk, (top, foot) = sheet.scene, sheet.walk, sheet.ledger
    scene.rect(sheet.left, top, sheet.room, foot - top, "soft", opacity=0.12, radius=0)
    sheet.label(sheet.ledger, "crossed")
    starts, long = _entries(sheet)
    come = np.array([np.clip(2 * walk.share(n) - 1, 0, 1) for n in range(len(walk.flights))])
    for n, (stop, name, _) in enumerate(walk.flights):
        x, here = chunk(starts[:, n]), both(long[:, n, None] * come[n])
        scene.rect(x, top, chunk(long[:, n]), 30, None, ink="soft", width=1, opacity=0.6)
        edge = By("step", np.where(walk.at == stop, "ink", "paper"))
        scene.rect(x, top, here, 30, "carrying", ink=edge, name="entry")
        said = chunk([first_fit(one, name) for one in long[:, n]])
        look: Look = {"anchor": "middle", "opacity": By("step", come[n] == 1), "name": "entry-says"}
        scene.text(chunk(starts[:, n] + long[:, n] / 2), top + 20, said, "paper", **look)
    _steps(sheet, starts, long)
    _axis(sheet)
    counts = [
        [f"{number(per)} of {number(told.total)} bytes an element" for per in row]
        for told, row in zip(sheet.stories, long @ (come == 1) / sheet.long(1), strict=True)
    ]
    scene.text(sheet.left, top - 26, both(counts), bold=True, name="count")
    if hands:
        end, middle = both(sheet.left + long @ come), (top + foot) / 2
        scene.dot(end, middle, fill="paper", ink="key", width=3, name="step-now")
        area = (sheet.left - 16, top - 8, sheet.right + 16, foot + 8)
        scene.grip("step", end, middle, area=area)


def _entries(sheet: Sheet) -> tuple[np.ndarray, np.ndarray]:
    """Where each flight's block begins in the ledger, and its length: rows are chunk sizes."""
    long = np.zeros((len(sheet.stories), len(sheet.walk.flights)))
    place = {key: n for n, key in enumerate(sheet.walk.flights)}
    for row, told in zip(long, sheet.stories, strict=True):
        for n, stop in enumerate(told.stops, 1):
            for trip in stop.trips:
                row[place[n, trip.name, trip.way]] += trip.per * (trip.where == "memory")
    long = sheet.long(1) * long
    return sheet.left + np.cumsum(long, axis=1) - long, long


def _steps(sheet: Sheet, starts: np.ndarray, long: np.ndarray) -> None:
    """Over the ledger: the step that its blocks belong to."""
    walk, stops = sheet.walk, np.array([key[0] for key in sheet.walk.flights])
    for stop in range(1, len(walk.stops)):
        own = stops == stop
        if not own.any():
            continue
        start, span = starts[:, own].min(1), long[:, own].sum(1)
        calls = [told.stops[min(stop, len(told.stops)) - 1].call for told in sheet.stories]
        said = [
            first_fit(room, f"{stop} {call}", str(stop), letters=SMALL)
            for room, call in zip(span, calls, strict=True)
        ]
        ink = By("step", np.where(walk.at >= stop, "ink", "soft"))
        look: Look = {"size": SMALL, "anchor": "middle", "name": "step"}
        sheet.scene.text(chunk(start + span / 2), sheet.ledger[0] - 6, chunk(said), ink, **look)


def _axis(sheet: Sheet) -> None:
    """Bytes an element under the ledger, and the least that any program needs."""
    scene, (top, foot), edge = sheet.scene, sheet.ledger, sheet.scene.width - 2
    scene.line([(sheet.left, foot), (sheet.right, foot)], "soft", 1)
    last = -math.inf
    for tick in ticks(sheet.reach):
        x, half = sheet.left + sheet.long(tick), wide(number(tick), 14) / 2
        scene.line([(x, foot), (x, foot + 5)], "soft", 1)
        x = min(x, edge - half)
        if x - half > last:
            scene.text(x, foot + 21, number(tick), anchor="middle", size=14, name="tick")
            last = x + half
    least = np.array([sheet.left + sheet.long(told.minimum) for told in sheet.stories])
    ends = [(chunk(least), top - 3), (chunk(least), foot + 8)]
    scene.line(ends, width=2.5, dash=(5, 3), name="least")
    said = [f"minimum {number(told.minimum)}" for told in sheet.stories]
    half = 0.55 * max(map(wide, said))
    middle = chunk(np.clip(least, sheet.left + half, edge - half))
    scene.text(middle, foot + 40, chunk(said), bold=True, anchor="middle", name="least-says")


def _bars(sheet: Sheet, sweep: ChunkStories) -> None:
    """The time measured with each chunk size, and the time that its bytes promise."""
    scene, left, many = sheet.scene, sheet.left, range(len(sweep.chunks))
    for n, (name, ink) in enumerate((("measured", "ink"), ("counted", "carrying"))):
        top = sheet.bars[0] + 24 * n
        sheet.label((top, top + 20), name)
        scene.rect(left, top, sheet.room, 20, "soft", opacity=0.12, radius=0)
        long = np.array([sheet.room * sweep.shares(at)[n] for at in many])
        scene.rect(left, top, chunk(long), 20, ink, radius=0, name=name)
        said = [sweep.labels(at)[n] for at in many]
        inside = long > sheet.room - 100
        x, ink_on = left + long + np.where(inside, -8, 8), np.where(inside, "paper", "ink")
        look: Look = {"anchor": chunk(np.where(inside, "end", "start")), "name": f"{name}-says"}
        scene.text(chunk(x), top + 15, chunk(said), chunk(ink_on), size=14, bold=n == 0, **look)


def _words(sheet: Sheet) -> None:
    """The sentence of every state, and what the log calls an array with the learner's name."""
    sweep = sheet.sweep
    further = [f" {sweep.sentence(at)}" if sweep else "" for at in range(len(sheet.stories))]
    said = sheet.each(lambda told, at: told.sentence(at)).values
    sheet.scene.says = both(said + np.array(further, object)[:, None])
    renamed = dict(pair for told in sheet.stories for pair in told.renamed)
    if renamed:
        also = ", ".join(f"{name} is {tmp}" for tmp, name in renamed.items())
        sheet.scene.note(f"In the log of rl.golf {also}.")


#: Steps of the figure; the rest of a long run becomes one more.
ROWS = 12


def golf(
    golf: Any, *, title: str | None = None, ax: Axes | None = None, width: float | None = None
) -> Picture | Panel:
    """Draw every trip of an ``rl.golf`` run as a block of the ledger, and its last step.

    Parameters
    ----------
    golf : Golf
        What ``rl.golf`` returned.
    title : str, optional
        None: the total against the minimum, or nothing in axes of yours. "": none.
    ax : matplotlib.axes.Axes, optional
        Axes to draw into, where they are. None: a figure of its own.
    width : float, optional
        Inches: 3.3 for a paper's column, 7 for a post, 7.6 by default.

    Returns
    -------
    Picture or Panel
        A figure, or what was drawn into ``ax``. Its ``words`` say what it shows, and ``save(path)``
        writes a pdf, svg or png.

    Raises
    ------
    TypeError
        For something that is no Golf.
    ValueError
        For a run without steps, and for a width or axes too small for its text.

    Examples
    --------
    >>> import numpy as np
    >>> run = rl.golf(lambda x, y: 2 * x + y, np.ones(1_000_000), np.ones(1_000_000))
    >>> print(rl.show.golf(run).words.splitlines()[0])
    Step 1 of 2, multiply: x is read, tmp1 is written, 16 bytes an element.
    """
    told = story(golf, most=ROWS)
    build = partial(golf_scene, [told], start=len(told.stops), hands=False)
    words = "\n".join(told.sentence(n) for n in range(1, len(told.stops) + 1))
    return figures.painted(build, words, ax, width, title, told.verdict)
