"""Byte golf as a picture: arrays cross the bus step by step, and every byte stays in the ledger.

From top to bottom: the line of code, memory with the arrays' homes, bus, cache and processor; the
ledger, in which every block that crossed the bus stays, as wide as its bytes an element; for a
sweep over chunk sizes the time measured, and the time that the bytes promise.
"""

from __future__ import annotations

import math
import textwrap
from bisect import bisect
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from rooflab.count.si import plain, si
from rooflab.labs.golf.story import ChunkStories, Story, names_of, number, story
from rooflab.show import figures, labels, theme
from rooflab.show.figures import Panel, Picture
from rooflab.show.scene import FONT, By, Dim, Scene
from rooflab.show.scene.axes import Frame

#: The two sheets: a page's column, and a phone.
WIDE, NARROW = 720, 400
#: The walk through a program: milliseconds a place; places before a call, of each flight, and of
#: the first one at which the picture begins.
GLIDE, LEAD, FLIGHT, BEGIN = 200, 1, 4, 2
TURN = 450  # milliseconds of everything to another chunk size
SMALL = 13  # pixels of small letters
#: Memory, bus, cache, what is near the processor, processor, ledger, bars: pixels from the foot of
#: the line of code to the top and the foot of each.
LANES = ((6, 54), (54, 120), (120, 194), (194, 248), (248, 276), (328, 372), (422, 476))
BLOCK = 24  # pixels of a block's height
#: The share of its strip that the cache takes; pieces that need more reach beyond it.
ROOM = 0.56
#: One value a chunk size; one row a chunk size, one value a place.
chunk, both = partial(By, "chunk"), partial(By, "chunk step")


def wide(words: str, letters: float = FONT) -> float:
    """Pixels that they need, with some air."""
    return labels.width(words) * letters / labels.SIZE + 6


def first_fit(room: float, *words: str, letters: float = SMALL) -> str:
    """The first of ``words`` for which there are ``room`` pixels; none is empty."""
    return next((one for one in words if wide(one, letters) <= room), "")


class Flight:
    """An array's trip at one stop: ``down`` to the processor, or back to its home.

    For each chunk size: bytes an element, 0 where it is not made; those of them that cross the bus;
    whether it is free, because the cache holds the array. ``come``: how far it is at every place,
    from 0 to 1; ``front``: its y there, slow at both ends, from ``start`` on. ``seen``: from its
    beginning until the next call.
    """

    def __init__(self, sheet: Sheet, number: int, stop: int, name: str, way: str) -> None:
        self.stop, self.name, self.down = stop, name, way == "read"
        here = [
            [trip for trip in told.trips(name, stop - 1, stop) if trip.way == way]
            for told in sheet.stories
        ]
        crossing = np.array([sum(t.per for t in trips if t.where == "memory") for trips in here])
        every = [sum(trip.per for trip in trips) for trips in here]
        self.crossing, self.free = crossing, crossing == 0
        self.per = np.where(self.free, every, crossing)
        gone = np.arange(len(sheet.at)) - LEAD * (stop - 1) - FLIGHT * number + BEGIN
        self.seen = both((self.per[:, None] > 0) * ((gone > 0) & (sheet.now == stop)))
        self.come = t = np.clip(gone / FLIGHT, 0, 1)
        home = np.where(self.free, sheet.cache[1] - 4, sheet.memory[0] + 42)
        cpu = np.full_like(home, sheet.cpu[0])
        self.start, end = (home, cpu) if self.down else (cpu, home)
        self.front = self.start[:, None] + (end - self.start)[:, None] * t * t * (3 - 2 * t)


class Sheet:
    """The stories, one a chunk size, on a sheet of one width: what lies where, and its scene."""

    def __init__(self, sweep: ChunkStories, width: float, start: int) -> None:
        self.sweep, self.stories = sweep, sweep.stories
        self.left, self.right = 82.0 if width < 560 else 96.0, width - 18
        self.room = self.right - self.left
        stops = [stop for told in self.stories for stop in told.stops]
        self.names = names_of(stops)
        self.pitch = self.room / len(self.names)
        #: The middle of each array's column; the longest ledger, and pixels of a byte an element.
        self.middle = {n: self.left + (i + 0.5) * self.pitch for i, n in enumerate(self.names)}
        self.reach = max(max(s.total, s.minimum) for s in self.stories) or 1.0
        self.unit = self.room / self.reach
        letters = int((width - 24) / (0.61 * FONT))
        look: Any = {"max_lines": 6, "placeholder": " …", "break_on_hyphens": False}
        look |= {"width": letters, "subsequent_indent": "    "}
        self.code = {stop.code: textwrap.wrap(stop.code, **look) for stop in stops}
        self.lines = max(map(len, self.code.values()))
        foot = 20.0 * self.lines + 10
        lanes = [(foot + top, foot + low) for top, low in LANES]
        self.memory, self.bus, self.cache, self.near, self.cpu, self.ledger, self.bars = lanes
        self._walk()
        last, sizes = len(self.stops) - 1, list(sweep.chunks)
        steps = [f"{n} of {last}" for n in range(last + 1)]
        dims = [
            Dim("chunk", list(map(theme.count, sizes)), sizes, len(sizes) - 1, TURN),
            Dim("step", steps, start=start, glide=GLIDE, keys=self.stops, even=True),
        ]
        self.scene = Scene(width, self.bars[bool(sweep.measured)], dims)

    def _walk(self) -> None:
        """The steps of all stories as places of one walk: a call, then its flights one by one.

        It begins half-way of the first flight.
        """
        every = dict.fromkeys(
            (n, trip.name, trip.way)
            for told in self.stories
            for n, stop in enumerate(told.stops, 1)
            for trip in stop.trips
        )
        keys = sorted(every, key=lambda key: key[0])
        calls, many = [key[0] for key in keys], max(len(told.stops) for told in self.stories)
        ends = [LEAD * n + FLIGHT * bisect(calls, n + 1) - BEGIN for n in range(many)]
        #: The place of every stop, 0 included; the stop that was reached at each place, and the
        #: one that is on its way there.
        self.stops = [0, *ends]
        self.at = np.searchsorted(self.stops, np.arange(self.stops[-1] + 1))
        self.now = np.maximum(self.at, 1)
        self.flights = [Flight(self, n, *key) for n, key in enumerate(keys)]

    def block(self, per: Any) -> Any:
        """The width of a block in its column; a tiny one stays visible."""
        return np.clip(per * self.unit, 3, 0.92 * self.pitch)

    def label(self, lane: tuple[float, float], words: str) -> None:
        """The name of a lane, left of it."""
        self.scene.text(self.left - 12, sum(lane) / 2 + 5, words, anchor="end", size=14)

    def each(self, value: Callable[[Story, int], Any]) -> By:
        """``value(story, stop)`` at every chunk size and place."""
        many = range(len(self.stops))
        spots = [[value(told, min(n, len(told.stops))) for n in many] for told in self.stories]
        kind = object if isinstance(spots[0][0], str) else float
        return both(np.array(spots, kind)[:, self.at])


def golf_scene(sweep: ChunkStories, width: float = WIDE, start: int = 0) -> Scene:
    """The scene of a sweep, or of a single run, at the step ``start``."""
    sheet = Sheet(sweep, width, start)
    _lanes(sheet)
    for flight in sheet.flights:
        _trail(sheet, flight)
    if any(told.cache for told in sweep.stories):
        _strip(sheet)
    for name in sheet.names:
        _home(sheet, name)
    for flight in sheet.flights:
        _block(sheet, flight)
    _ledger(sheet)
    if sweep.measured:
        _bars(sheet)
    sheet.scene.play("step")
    sheet.scene.slider("step", "step")
    if len(sweep.chunks) > 1:
        sheet.scene.slider("chunk", "chunk size")
    further = [[f" {sweep.sentence(at)}".rstrip()] for at in range(len(sweep.chunks))]
    sheet.scene.says = both(sheet.each(Story.sentence).values + np.array(further, object))
    return sheet.scene


def _lanes(sheet: Sheet) -> None:
    """The line of code; memory, bus, cache and processor, and the call that it does."""
    scene = sheet.scene
    scene.rect(0, 0, scene.width, 20 * sheet.lines + 10, "soft", opacity=0.1, radius=4)

    def code(n: int, told: Story, at: int) -> str:
        return "".join(sheet.code[told.stops[max(at, 1) - 1].code][n : n + 1])

    for n in range(sheet.lines):
        scene.text(8, 20 * n + 20, sheet.each(partial(code, n)), mono=True, name="code")
    lanes = (sheet.memory, 0.1), (sheet.bus, 0), (sheet.cache, 0.1), (sheet.cpu, 0.2)
    for ((top, foot), shade), name in zip(lanes, ("memory", "bus", "cache", "CPU")):
        scene.rect(0, top, scene.width, foot - top, "soft", opacity=shade, radius=0)
        sheet.label((top, foot), name)
    (top, foot), ends = sheet.bus, (sheet.left, sheet.right)
    wires = [(x, (top + foot) / 2) for x in ends]
    scene.line(wires, "soft", foot - top, dash=(1, 21), opacity=0.35)

    def call(told: Story, at: int) -> str:
        one = told.stops[max(at, 1) - 1]
        return one.call + (f" × {theme.count(one.rounds)}" if one.rounds > 1 else "")

    middle = sum(ends) / 2, sum(sheet.cpu) / 2 + 5
    scene.text(*middle, sheet.each(call), bold=True, anchor="middle", name="call")


def _home(sheet: Sheet, name: str) -> None:
    """Where an array is while nobody needs it: a dashed place until it is made, then a box.

    A name may come back for another array, after the first has gone; then its home moves.
    """
    scene, room = sheet.scene, 0.92 * sheet.pitch

    def box(told: Story, at: int) -> tuple[float, ...]:
        trip = told.home(name, at)
        if trip is None:
            return (math.nan,) * 4
        long = min(max(sheet.block(trip.per), wide(name) + 4), room)
        near = trip.where == "cache"
        y, high = (sheet.cache[1] - 30, 26) if near else (sheet.memory[0] + 6, 36)
        return sheet.middle[name] - long / 2, y, long, high

    x, y, w, h = (both(one) for one in np.moveaxis(sheet.each(box).values, -1, 0))
    first = next(flight for flight in sheet.flights if flight.name == name)
    made = first.down | (first.come == 1)
    edge = both(np.where(y.values > sheet.cache[0], "carrying", "soft"))
    look: Any = {"dash": (4, 4), "opacity": By("step", ~made), "name": "unborn"}
    scene.rect(x, y, w, h, None, ink="soft", **look)
    scene.rect(x, y, w, h, "paper", ink=edge, width=2, opacity=By("step", made), name="home")
    cuts = (name[:n] + "…" for n in range(len(name) - 1, 0, -1))
    short = first_fit(room, name, *cuts, letters=FONT)
    ink, foot = By("step", np.where(made, "ink", "soft")), both(y.values + h.values / 2 + 5)
    scene.text(sheet.middle[name], foot, short, ink, anchor="middle", name="array")


def _trail(sheet: Sheet, flight: Flight) -> None:
    """A line from the array's home to the processor, or back, with an arrow at its head."""
    shape, side = ("down", -1) if flight.down else ("triangle", 1)
    x, y = sheet.middle[flight.name] + 4 * side, both(flight.front + 6 * side)
    look: Any = {"opacity": flight.seen, "name": "trail"}
    sheet.scene.line([(x, chunk(flight.start)), (x, y)], "carrying", 4, **look)
    sheet.scene.dot(x, y, shape, 7, fill="carrying", **look)


def _block(sheet: Sheet, flight: Flight) -> None:
    """A block that goes with the trail's head, and stays on the bus or near the processor.

    A hollow one comes from the cache and costs nothing. What is written lies below what is read.
    """
    scene, free, long = sheet.scene, flight.free, sheet.block(flight.per)
    middle = sheet.middle[flight.name] + (-4 if flight.down else 4)
    rest = np.where(free, sum(sheet.near), sum(sheet.bus)) / 2 - (26 if flight.down else -2)
    nearer = np.minimum if flight.down else np.maximum
    y = nearer(flight.front - BLOCK * flight.down, rest[:, None])
    fill = chunk(np.where(free, "paper", "carrying"))
    look: Any = {"ink": "carrying", "width": 2, "opacity": flight.seen, "name": "trip"}
    scene.rect(chunk(middle - long / 2), both(y), chunk(long), BLOCK, fill, **look)
    arrow = "↓ " if flight.down else "↑ "
    full = [arrow + ("free" if free else f"{number(per)} B") for per, free in zip(flight.per, free)]
    words = chunk([first_fit(room, one, arrow) for room, one in zip(long, full)])
    ink = chunk(np.where(free, "ink", "paper"))
    look = {"size": SMALL, "anchor": "middle", "opacity": flight.seen, "name": "trip-says"}
    scene.text(middle, both(y + 17), words, ink, **look)


def _strip(sheet: Sheet) -> None:
    """The room of the cache, and at its size what one round of the program touches."""
    scene, left, right, top = sheet.scene, sheet.left, sheet.right, sheet.cache[0] + 6
    wall, capacity = left + ROOM * sheet.room, max(told.cache for told in sheet.stories)
    first = {flight.name: flight for flight in reversed(sheet.flights)}
    made = {name for name in sheet.names if not first[name].down} - {"result"}
    names = sorted(sheet.names, key=lambda name: name not in made)

    def touched(told: Story, at: int) -> np.ndarray:
        """Where the pieces begin and end."""
        pieces, scale = told.together(at), (wall - left) / capacity
        long = [max(pieces[name] * scale, 3) if name in pieces else 0 for name in names]
        return np.minimum(left + np.cumsum([0, *long]), right + 2)

    def piece(told: Story, at: int, n: int) -> str:
        start, end = touched(told, at)[n : n + 2]
        whole = f"{names[n]}: does not fit" if end > wall and names[n] in made else names[n]
        return first_fit(min(end, wall) - start, whole, names[n])

    scene.rect(left, top, right - left, 36, "paper", radius=0)
    edges = sheet.each(touched).values
    look: Any = {"clip": (left, top - 1, right, top + 37), "radius": 0}
    for n in range(len(names)):
        x, w = both(edges[..., n]), both(np.diff(edges)[..., n])
        middle = both((edges[..., n] + np.minimum(edges[..., n + 1], wall)) / 2)
        scene.rect(x, top, w, 36, "carrying", opacity=0.25, name="touched", **look)
        scene.rect(x, top, w, 36, None, ink="carrying", name="piece", **look)
        words = sheet.each(partial(piece, n=n))
        scene.text(middle, top + 23, words, size=SMALL, anchor="middle", name="piece-says")

    def together(told: Story, at: int) -> str:
        loop = told.stops[max(at, 1) - 1].rounds > 1
        every = ("one piece of each", "pieces") if loop else ("all arrays", "all")
        touched = si(sum(told.together(at).values()), "B")
        return first_fit(right - wall - 8, *(f"{one}: {touched}" for one in every), touched)

    scene.line([(wall, top - 4), (wall, top + 38)], width=3, name="wall")
    size = f"{plain(capacity / 1024, 3)} KiB" if 1024 <= capacity < 1e6 else si(capacity, "B")
    look = {"size": SMALL, "halo": True}
    scene.text(wall + 7, top + 15, f"capacity {size}", name="capacity", **look)
    scene.text(wall + 7, top + 31, sheet.each(together), name="round", **look)


def _ledger(sheet: Sheet) -> None:
    """What has crossed the bus so far, block after block."""
    scene, left, (top, foot) = sheet.scene, sheet.left, sheet.ledger
    scene.rect(left, top, sheet.room, foot - top, "soft", opacity=0.12, radius=0, name="bed")
    sheet.label(sheet.ledger, "crossed")
    long = sheet.unit * np.stack([flight.crossing for flight in sheet.flights], axis=1)
    starts = left + np.cumsum(long, axis=1) - long
    come = np.array([np.clip(2 * flight.come - 1, 0, 1) for flight in sheet.flights])
    for n, flight in enumerate(sheet.flights):
        x, w = chunk(starts[:, n]), long[:, n]
        scene.rect(x, top, chunk(w), foot - top, None, ink="soft", width=1, opacity=0.6)
        edge = By("step", np.where(sheet.now == flight.stop, "ink", "paper"))
        grown = both(w[:, None] * come[n])
        scene.rect(x, top, grown, foot - top, "carrying", ink=edge, name="entry")
        words = chunk([first_fit(one, flight.name, letters=FONT) for one in w])
        look: Any = {"anchor": "middle", "opacity": By("step", come[n] == 1), "name": "entry-says"}
        scene.text(chunk(starts[:, n] + w / 2), top + 27, words, "paper", **look)
    for stop in range(1, len(sheet.stops)):  # over the blocks, the step that they belong to
        mine = [n for n, flight in enumerate(sheet.flights) if flight.stop == stop]
        start, span = starts[:, mine[0]], long[:, mine].sum(1)
        calls = [told.stops[min(stop, len(told.stops)) - 1].call for told in sheet.stories]
        labels = [first_fit(room, f"{stop} {call}", f"{stop}") for room, call in zip(span, calls)]
        look = {"size": SMALL, "anchor": "middle", "name": "step"}
        ink = By("step", np.where(sheet.now >= stop, "ink", "soft"))
        scene.text(chunk(start + span / 2), top - 7, chunk(labels), ink, **look)
    counts = [
        [f"{number(per)} of {number(told.total)} bytes an element" for per in row]
        for told, row in zip(sheet.stories, long @ (come == 1) / sheet.unit)
    ]
    scene.text(left, top - 28, both(counts), bold=True, name="count")
    _axis(sheet)


def _axis(sheet: Sheet) -> None:
    """Bytes an element under the ledger, and the least that any program needs."""
    scene, (top, foot) = sheet.scene, sheet.ledger
    axis = Frame(sheet.left, foot, sheet.right, foot + 5)
    step = 2.0 ** math.ceil(math.log2(sheet.reach / 6))
    values = np.arange(0, 1.001 * sheet.reach, step).tolist()
    axis.x_ticks(scene, axis.x(0, sheet.reach, log=False), values, number, below=15)
    least = np.array([sheet.left + sheet.unit * told.minimum for told in sheet.stories])
    ends = [(chunk(least), top - 3), (chunk(least), foot + 8)]
    scene.line(ends, width=2.5, dash=(5, 3), name="least")
    words = [f"minimum {number(told.minimum)}" for told in sheet.stories]
    half = 0.55 * max(map(wide, words))
    middle = chunk(np.clip(least, sheet.left + half, scene.width - half))
    scene.text(middle, foot + 38, chunk(words), bold=True, anchor="middle", name="least-says")


def _bars(sheet: Sheet) -> None:
    """The time measured with each chunk size, and the time that its bytes promise.

    Bars longer than the largest chunk's and a quarter are cut off.
    """
    scene, sweep, top = sheet.scene, sheet.sweep, sheet.bars[0]
    reach = min(max(*sweep.measured, *sweep.expected), 1.25 * sweep.measured[-1])
    bars = ("measured", "ink", sweep.measured), ("expected", "carrying", sweep.expected)
    for name, ink, seconds in bars:
        sheet.label((top, top + 20), name)
        long = (sheet.room - 96) * np.minimum(np.array(seconds) / reach, 1)
        scene.rect(sheet.left, top, chunk(long), 20, ink, radius=0, name=name)
        words = [("→ " if one > reach else "") + si(one, "s") for one in seconds]
        look: Any = {"size": 14, "bold": name == "measured", "name": f"{name}-says"}
        scene.text(chunk(sheet.left + long + 8), top + 15, chunk(words), **look)
        top += 24


def golf(
    golf: Any, *, title: str | None = None, ax: Axes | None = None, width: float | None = None
) -> Picture | Panel:
    """Draw every trip of an ``rl.golf`` run as a block of the ledger, and its last step.

    ``ax`` draws into axes of yours, ``width`` is in inches: 3.3 for a paper's column, 7 for a post.
    The ``words`` of what comes back say what it shows, ``save(path)`` writes a pdf, svg or png.

    >>> import numpy as np
    >>> run = rl.golf(lambda x, y: 2 * x + y, np.ones(1_000_000), np.ones(1_000_000))
    >>> print(rl.show.golf(run).words.splitlines()[0])
    Step 1 of 2, multiply: x is read, tmp1 is written, 16 bytes an element.
    """
    told = story(golf)
    build = partial(golf_scene, ChunkStories((0,), (told,)), start=len(told.stops))
    words = "\n".join(told.sentence(n) for n in range(1, len(told.stops) + 1))
    return figures.painted(build, words, ax, width, title, told.verdict)
