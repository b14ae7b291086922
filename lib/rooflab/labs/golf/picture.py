"""Byte golf as a picture: arrays cross the bus step by step, and every byte stays in the ledger.

From top to bottom: the line of code, memory with the arrays' homes, the bus, the cache, the
processor. Below them the ledger, in which every block that crossed the bus stays, as wide as its
bytes an element. A sweep over chunk sizes has two more bars: the time measured, and the time that
the counted bytes promise.
"""

from __future__ import annotations

import math
import textwrap
from bisect import bisect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from rooflab.count.si import plain, si
from rooflab.labs.golf.story import ArrayTrip, ChunkStories, Story, names_of, number, story
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
#: Memory, bus, cache, what is near the processor, processor, ledger, bars: pixels from the foot of
#: the line of code to the top and the foot of each.
LANES = ((8, 60), (60, 140), (140, 210), (210, 266), (266, 296), (350, 380), (430, 476))
#: The share of its strip that the cache takes; pieces that need more reach beyond it.
ROOM = 0.6
MOST_CODE = 6  # lines
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


def chunk(values: Any) -> By:
    """One value a chunk size."""
    return By("chunk", values)


def both(values: Any) -> By:
    """One row a chunk size, one value a place."""
    return By("chunk step", values)


# Where everything lies: in time, along the walk through the program, and on the sheet.


@dataclass(frozen=True)
class Flight:
    """An array's trip at one stop: ``down`` to the processor, or back to its home.

    A number a chunk size: is it ``there``, is it ``free`` because the cache holds the array; its
    bytes an element, and those of them that are ``crossing`` the bus; is the array read and written
    in ``one_place``. Numbers a place: how far it has ``come``, from 0 to 1; is it ``under_way``, or
    rests until the next call.
    """

    stop: int
    name: str
    down: bool
    there: np.ndarray
    free: np.ndarray
    per: np.ndarray
    crossing: np.ndarray
    one_place: np.ndarray
    come: np.ndarray
    under_way: np.ndarray

    @property
    def seen(self) -> By:
        """From the beginning of the flight until the next call."""
        return both(self.there[:, None] & self.under_way)


class Sheet:
    """The stories, one a chunk size, on a sheet of one width: what lies where, and its scene."""

    def __init__(
        self, stories: Sequence[Story], width: float, sweep: ChunkStories | None, start: int
    ) -> None:
        self.stories, self.sweep = stories, sweep
        self.left, self.right = (82.0, width - 12) if width < 560 else (96.0, width - 18)
        self.room = self.right - self.left
        self.names = names_of(stop for told in stories for stop in told.stops)
        self.pitch = self.room / len(self.names)
        self.reach = max(max(s.total, s.minimum, s.crossed(len(s.stops))) for s in stories) or 1.0
        self._walk()
        every = dict.fromkeys(stop.code for told in stories for stop in told.stops)
        letters = int((width - 24) / (0.61 * LETTERS))
        self.code = {"": ["before the first step"]} | {one: wrapped(one, letters) for one in every}
        self.lines = max(map(len, self.code.values()))
        foot = 20.0 * self.lines + 10
        lanes = [(foot + top, foot + low) for top, low in LANES]
        self.memory, self.bus, self.cache, self.near, self.cpu, self.ledger, self.bars = lanes
        high = self.bars[sweep is not None and bool(sweep.measured)] + 2
        self.scene = Scene(width, high, self._dims(start))

    def _walk(self) -> None:
        """The steps of all stories as places of one walk: a call, then its flights one by one."""
        every = dict.fromkeys(
            (n, trip.name, trip.way)
            for told in self.stories
            for n, stop in enumerate(told.stops, 1)
            for trip in stop.trips
        )
        keys = sorted(every, key=lambda key: key[0])
        flown, many = [stop for stop, _, _ in keys], max(len(told.stops) for told in self.stories)
        #: The place of every stop, 0 included; the stop that each place belongs to.
        self.stops = [LEAD * n + FLIGHT * bisect(flown, n) for n in range(many + 1)]
        self.at = np.searchsorted(self.stops, np.arange(self.stops[-1] + 1))
        self.flights = [self._flight(n, *key) for n, key in enumerate(keys)]

    def _flight(self, number: int, stop: int, name: str, way: str) -> Flight:
        here = [told.trips(name, stop - 1, stop) for told in self.stories]
        ways = [{trip.way: trip for trip in trips} for trips in here]
        mine = [one.get(way, ArrayTrip(name, 0, way, "")) for one in ways]
        places = np.arange(len(self.at)) - LEAD * stop - FLIGHT * number
        return Flight(
            stop, name, way == "read",
            there=np.array([way in one for one in ways]),
            free=np.array([trip.where == "cache" for trip in mine]),
            per=np.array([trip.per for trip in mine]),
            crossing=np.array([
                sum(trip.per for trip in trips if (trip.way, trip.where) == (way, "memory"))
                for trips in here
            ]),
            one_place=np.array([
                len(one) == 2 and len({trip.where for trip in one.values()}) == 1 for one in ways
            ]),
            come=np.clip(places / FLIGHT, 0, 1),
            under_way=(places > 0) & (self.at == stop),
        )  # fmt: skip

    def _dims(self, start: int) -> list[Dim]:
        sizes = [0] if self.sweep is None else list(self.sweep.chunks)
        shown = ["all at once"] if self.sweep is None else [theme.count(one) for one in sizes]
        last = len(self.stops) - 1
        steps = [f"{n} of {last}" for n in range(last + 1)]
        return [
            Dim("chunk", shown, sizes, start=len(sizes) - 1, glide=TURN),
            Dim("step", steps, start=start, glide=GLIDE, keys=self.stops, even=True),
        ]

    def middle(self, name: str) -> float:
        """The middle of an array's column."""
        return self.left + (self.names.index(name) + 0.5) * self.pitch

    def long(self, per: Any) -> Any:
        """Pixels of ``per`` bytes an element in the ledger."""
        return per * self.room / self.reach

    def block(self, per: Any) -> Any:
        """The width of a block in its column; a tiny one stays visible."""
        return np.clip(self.long(per), TINY, self.pitch - GAP)

    def label(self, lane: tuple[float, float], words: str, ink: str = "ink") -> None:
        """The name of a lane, left of it."""
        self.scene.text(self.left - 12, sum(lane) / 2 + 5, words, ink, anchor="end", size=14)

    def each(self, value: Callable[[Story, int], Any]) -> By:
        """``value(story, stop)`` at every chunk size and place."""
        many = range(len(self.stops))
        spots = [[value(told, min(n, len(told.stops))) for n in many] for told in self.stories]
        kind = object if isinstance(spots[0][0], str) else float
        return both(np.array(spots, kind)[:, self.at])


def wrapped(code: str, letters: int) -> list[str]:
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
    for flight in sheet.flights:
        _trail(sheet, flight)
    if any(told.cache for told in stories):
        _strip(sheet)
    for name in sheet.names:
        _home(sheet, name)
    for flight in sheet.flights:
        _block(sheet, flight)
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
        said = sheet.each(lambda told, at, line=line: line[told.stops[at - 1].code if at else ""])
        scene.text(8, 20 * n + 20, said, mono=True, name="code")
    for (top, foot), shade in ((sheet.memory, 0.1), (sheet.cache, 0.1), (sheet.cpu, 0.2)):
        scene.rect(0, top, scene.width, foot - top, "soft", opacity=shade, radius=0)
    (top, foot), ends = sheet.bus, (sheet.left, sheet.right)
    wires = [(x, (top + foot) / 2) for x in ends]
    scene.line(wires, "soft", foot - top, dash=(1, 21), opacity=0.35)
    sheet.label(sheet.memory, "memory")
    sheet.label(sheet.bus, "bus", "soft")
    sheet.label((sheet.cache[0], sheet.cache[0] + 34), "cache")
    sheet.label(sheet.cpu, "CPU")

    def call(told: Story, at: int) -> str:
        one = told.stops[at - 1]
        often = f" × {theme.count(one.rounds)}" if one.rounds > 1 else ""
        return one.call + often if at else ""

    look: Look = {"bold": True, "anchor": "middle", "name": "call"}
    scene.text(sum(ends) / 2, sum(sheet.cpu) / 2 + 5, sheet.each(call), **look)


# Homes: where an array is while nobody needs it. A name may come back for another array, after the
# first has gone; then its home moves.


def _home(sheet: Sheet, name: str) -> None:
    """A dashed place until the array is made, then a box; it is green in the cache."""
    scene = sheet.scene
    box = sheet.each(lambda told, at: _box(sheet, name, told.home(name, at))).values
    made = np.array([_made(sheet, row, name) for row in range(len(sheet.stories))])
    x, y, w, h = (both(box[..., n]) for n in range(4))
    ink = both(np.where(box[..., 1] > sheet.cache[0], "carrying", "soft"))
    look: Look = {"dash": (4, 4), "opacity": both(~made), "name": "unborn"}
    scene.rect(x, y, w, h, None, ink="soft", **look)
    scene.rect(x, y, w, h, "paper", ink=ink, width=2, opacity=both(made), name="home")
    room = sheet.pitch - GAP
    short = first_fit(room, name, *(name[:n] + "…" for n in range(len(name) - 1, 0, -1)))
    foot, ink = both(box[..., 1] + box[..., 3] / 2 + 5), both(np.where(made, "ink", "soft"))
    scene.text(sheet.middle(name), foot, short, ink, anchor="middle", name="array")


def _box(sheet: Sheet, name: str, trip: ArrayTrip | None) -> tuple[float, float, float, float]:
    """An array's home: in memory or in the cache, as wide as its bytes or as its name needs."""
    if trip is None:
        return math.nan, math.nan, math.nan, math.nan
    long = min(max(sheet.block(trip.per), wide(name) + 4), sheet.pitch - GAP)
    y, high = (sheet.memory[0] + 8, 36) if trip.where == "memory" else (sheet.cache[1] - 34, 28)
    return sheet.middle(name) - long / 2, y, long, high


def _made(sheet: Sheet, row: int, name: str) -> np.ndarray:
    """At which places an array exists: from the end of the flight that writes it first."""
    first = next((one for one in sheet.flights if one.name == name and one.there[row]), None)
    given = np.ones(len(sheet.at), bool)
    return given if first is None or first.down else first.come == 1


# Flights: from an array's home to the processor, or back. Over the bus goes a full block; from the
# cache a hollow one, which costs nothing.


def _front(sheet: Sheet, flight: Flight) -> tuple[np.ndarray, np.ndarray]:
    """y at which its trail begins, and how far it has come, slow at both ends; chunk × place."""
    homes = np.where(flight.free, sheet.cache[1] - 6, sheet.memory[0] + 44)[:, None]
    start, end = (homes, sheet.cpu[0]) if flight.down else (sheet.cpu[0] + 0 * homes, homes)
    t = flight.come
    return start[:, 0], start + (end - start) * t * t * (3 - 2 * t)


def _aside(flight: Flight) -> np.ndarray:
    """Pixels that its block rests lower, where a call reads and writes one array."""
    return np.where(flight.one_place, -15.5 if flight.down else 15.5, 0)


def _trail(sheet: Sheet, flight: Flight) -> None:
    """A line from where it comes from, with an arrow at its head."""
    start, front = _front(sheet, flight)
    x, tip = chunk(sheet.middle(flight.name) + 0.4 * _aside(flight)), 6 - 12 * flight.down
    look: Look = {"opacity": flight.seen, "name": "trail"}
    sheet.scene.line([(x, chunk(start)), (x, both(front + tip))], "carrying", 4, **look)
    shape = "down" if flight.down else "triangle"
    sheet.scene.dot(x, both(front + tip), shape, 7, fill="carrying", **look)


def _block(sheet: Sheet, flight: Flight) -> None:
    """A block that goes with the trail's head, and stays on the bus or near the processor."""
    scene, middle, free = sheet.scene, sheet.middle(flight.name), flight.free
    long, front = sheet.block(flight.per), _front(sheet, flight)[1]
    rest = np.where(free, sum(sheet.near), sum(sheet.bus)) / 2 + _aside(flight) - BLOCK / 2
    nearer = np.minimum if flight.down else np.maximum
    y = nearer(front - BLOCK * flight.down, rest[:, None])
    box, fill = (
        (chunk(middle - long / 2), both(y), chunk(long), BLOCK),
        np.where(free, "paper", "carrying"),
    )
    scene.rect(*box, chunk(fill), ink="carrying", width=2, opacity=flight.seen, name="trip")
    arrow = "↓" if flight.down else "↑"
    said = [f"{arrow} free" if at_no_cost else f"{arrow} {number(per)} B"
            for per, at_no_cost in zip(flight.per, free)]  # fmt: skip
    room = sheet.pitch / 2 - long / 2
    beside = np.array([w < wide(one, SMALL) < r for one, w, r in zip(said, long, room)])
    inside = [first_fit(r, one, arrow, letters=SMALL) for r, one in zip(long, said)]
    words = np.where(beside, said, inside).astype(object)
    x = middle + np.where(beside, long / 2 + 5, 0)
    ink, anchor = np.where(free | beside, "ink", "paper"), np.where(beside, "start", "middle")
    look: Look = {"anchor": chunk(anchor), "opacity": flight.seen, "name": "trip-says"}
    scene.text(chunk(x), both(y + 18), chunk(words), chunk(ink), size=SMALL, **look)


# The room of the cache, and the pieces that one round of the program touches, at their size.


def _strip(sheet: Sheet) -> None:
    """Pieces that need more than the room reach beyond its wall; those that stay are hollow."""
    scene, left, right, top = sheet.scene, sheet.left, sheet.right, sheet.cache[0] + 7
    wall, capacity = left + ROOM * sheet.room, max(told.cache for told in sheet.stories)
    scene.rect(left, top, right - left, 20, "paper", radius=0)
    homes = [(name, told.home(name, 0)) for told in sheet.stories for name in sheet.names]
    given = {name for name, trip in homes if trip and trip.way == "read"} | {"result"}
    names = sorted(sheet.names, key=lambda name: name in given)
    scale = (wall - left) / capacity

    def pieces(told: Story, at: int) -> list[float]:
        held = told.together(at)
        return [max(held[name] * scale, TINY) if name in held else 0 for name in names]

    def came(told: Story, at: int) -> list[bool]:
        return [any(t.where == "memory" for t in told.trips(name, 0, at)) for name in names]

    long, filled = sheet.each(pieces).values, 0.25 * sheet.each(came).values
    ends = np.minimum(left + np.cumsum(long, axis=-1), right + 2)
    starts = np.concatenate([np.full_like(ends[..., :1], left), ends[..., :-1]], axis=-1)
    seen = np.minimum(ends, wall) - starts
    look: Look = {"clip": (left, top - 1, right, top + 21), "radius": 0}
    for n, name in enumerate(names):
        x, w = both(starts[..., n]), both(ends[..., n] - starts[..., n])
        scene.rect(x, top, w, 20, "carrying", opacity=both(filled[..., n]), name="touched", **look)
        scene.rect(x, top, w, 20, None, ink="carrying", name="piece", **look)
        words = both(np.where(seen[..., n] > wide(name, SMALL), name, "").astype(object))
        middle = both(starts[..., n] + seen[..., n] / 2)
        scene.text(middle, top + 15, words, size=SMALL, anchor="middle")
    scene.line([(wall, top - 5), (wall, top + 25)], width=3, name="wall")
    scene.text(left - 12, top + 42, size(capacity), "soft", size=SMALL, anchor="end")
    _round(sheet, top, wall, ends[..., -1])


def _round(sheet: Sheet, top: float, wall: float, ends: np.ndarray) -> None:
    """How much one round touches, and the handle that makes its pieces larger or smaller."""
    scene, right = sheet.scene, sheet.right - (14 if sheet.sweep else 4)

    def said(told: Story, at: int) -> str:
        touched = size(sum(told.together(at).values()))
        often = "a round" if told.stops[max(at, 1) - 1].rounds > 1 else "in all"
        return first_fit(right - wall - 14, f"{touched} {often}", touched, letters=SMALL)

    words = both(sheet.each(said).values + np.where(ends > sheet.right, " →", "").astype(object))
    scene.text(right, top + 15, words, size=SMALL, anchor="end", name="round")
    if sheet.sweep is None:
        return
    hand = np.minimum(ends, sheet.right)
    look: Look = {"fill": "paper", "ink": "key", "width": 3, "name": "chunk-now"}
    scene.dot(both(hand), top + 10, size=7, **look)
    # What lies at one place, too small or too large, is pulled to 8 pixels apart.
    shift = 8 * np.arange(len(hand))[:, None]
    spots = np.maximum.accumulate(hand - shift) + shift
    area = (sheet.left - 14, top - 6, sheet.right + 14, top + 26)
    scene.grip("chunk", both(spots), top + 10, area=area)


# The ledger: what has crossed the bus so far, block after block.


def _ledger(sheet: Sheet, hands: bool) -> None:
    scene, left, (top, foot) = sheet.scene, sheet.left, sheet.ledger
    scene.rect(left, top, sheet.room, foot - top, "soft", opacity=0.12, radius=0)
    sheet.label(sheet.ledger, "crossed")
    long = sheet.long(np.stack([flight.crossing for flight in sheet.flights], axis=1))
    starts = left + np.cumsum(long, axis=1) - long
    come = np.array([np.clip(2 * flight.come - 1, 0, 1) for flight in sheet.flights])
    for n, flight in enumerate(sheet.flights):
        x, w = chunk(starts[:, n]), long[:, n]
        scene.rect(x, top, chunk(w), 30, None, ink="soft", width=1, opacity=0.6)
        edge = By("step", np.where(sheet.at == flight.stop, "ink", "paper"))
        scene.rect(x, top, both(w[:, None] * come[n]), 30, "carrying", ink=edge, name="entry")
        said = chunk([first_fit(one, flight.name) for one in w])
        look: Look = {"anchor": "middle", "opacity": By("step", come[n] == 1), "name": "entry-says"}
        scene.text(chunk(starts[:, n] + w / 2), top + 20, said, "paper", **look)
    _steps(sheet, starts, long)
    _axis(sheet)
    counts = [
        [f"{number(per)} of {number(told.total)} bytes an element" for per in row]
        for told, row in zip(sheet.stories, long @ (come == 1) / sheet.long(1))
    ]
    scene.text(left, top - 26, both(counts), bold=True, name="count")
    if hands:
        end, middle = both(left + long @ come), (top + foot) / 2
        scene.dot(end, middle, fill="paper", ink="key", width=3, name="step-now")
        area = (left - 16, top - 8, sheet.right + 16, foot + 8)
        scene.grip("step", end, middle, area=area)


def _steps(sheet: Sheet, starts: np.ndarray, long: np.ndarray) -> None:
    """Over the ledger: the step that its blocks belong to."""
    stops = np.array([flight.stop for flight in sheet.flights])
    for stop in dict.fromkeys(stops.tolist()):
        start, span = starts[:, stops == stop].min(1), long[:, stops == stop].sum(1)
        calls = [told.stops[min(stop, len(told.stops)) - 1].call for told in sheet.stories]
        said = [
            first_fit(room, f"{stop} {call}", str(stop), letters=SMALL)
            for room, call in zip(span, calls)
        ]
        ink = By("step", np.where(sheet.at >= stop, "ink", "soft"))
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
    scene, left, top = sheet.scene, sheet.left, sheet.bars[0]
    two = ("measured", "ink", sweep.measured), ("counted", "carrying", sweep.counted)
    for name, ink, seconds in two:
        sheet.label((top, top + 20), name)
        scene.rect(left, top, sheet.room, 20, "soft", opacity=0.12, radius=0)
        long = sheet.room * np.minimum(np.array(seconds) / sweep.reach, 1)
        scene.rect(left, top, chunk(long), 20, ink, radius=0, name=name)
        said = [si(one, "s") + (" →" if one > sweep.reach else "") for one in seconds]
        inside = long > sheet.room - 100
        x, ink_on = left + long + np.where(inside, -8, 8), np.where(inside, "paper", "ink")
        look: Look = {"anchor": chunk(np.where(inside, "end", "start")), "name": f"{name}-says"}
        bold = name == "measured"
        scene.text(chunk(x), top + 15, chunk(said), chunk(ink_on), size=14, bold=bold, **look)
        top += 24


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
