"""Where everything of a golf picture lies: along the walk through the program, and on the sheet."""

from __future__ import annotations

import textwrap
from bisect import bisect
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from rooflab.labs.golf.story import ChunkStories, Story, names_of
from rooflab.show import labels, theme
from rooflab.show.scene import FONT, By, Dim, Scene

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
