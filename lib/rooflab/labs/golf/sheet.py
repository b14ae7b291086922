"""Where everything of a golf picture lies: along the walk through the program, and on the sheet."""

from __future__ import annotations

import textwrap
from bisect import bisect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rooflab.labs.golf.story import ChunkStories, Story, names_of
from rooflab.show import labels, theme
from rooflab.show.scene import By, Dim, Scene

#: The two sheets: a page's column, and a phone.
WIDE, NARROW = 720, 400
#: The walk through a program: milliseconds a place; places before a call, and of each flight.
GLIDE, LEAD, FLIGHT = 200, 1, 4
TURN = 450  # milliseconds of everything to another chunk size
LETTERS = 15  # pixels
GAP, TINY = 10, 3  # pixels between columns; of what would be too small to be seen
#: Memory, bus, cache, what is near the processor, processor, ledger, bars: pixels from the foot of
#: the line of code to the top and the foot of each.
LANES = ((8, 60), (60, 140), (140, 210), (210, 266), (266, 296), (350, 380), (430, 476))
MOST_CODE = 6  # lines


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


@dataclass(frozen=True)
class Flight:
    """An array's trip at one stop: ``down`` to the processor, or back to its home.

    ``there`` to ``aside`` have an entry for each chunk size: whether the trip is made; whether it
    is free, because the cache holds the array; its bytes an element; those of them that cross the
    bus; pixels that its block rests lower, where a call reads and writes one array. ``come``: how
    far it has come at every place, from 0 to 1. ``seen``: from its beginning until the next call.
    """

    stop: int
    name: str
    down: bool
    there: np.ndarray
    free: np.ndarray
    per: np.ndarray
    crossing: np.ndarray
    aside: np.ndarray
    come: np.ndarray
    seen: By


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
        timed = sweep is not None and sweep.measured
        last, sizes = len(self.stops) - 1, [0] if sweep is None else list(sweep.chunks)
        shown = ["all at once"] if sweep is None else [theme.count(one) for one in sizes]
        steps = [f"{n} of {last}" for n in range(last + 1)]
        dims = [
            Dim("chunk", shown, sizes, start=len(sizes) - 1, glide=TURN),
            Dim("step", steps, start=start, glide=GLIDE, keys=self.stops, even=True),
        ]
        self.scene = Scene(width, self.bars[1 if timed else 0] + 2, dims)

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
        rows = []
        for told in self.stories:
            here = told.trips(name, stop - 1, stop)
            mine = [trip for trip in here if trip.way == way]
            homes = {trip.way: trip.where for trip in here}
            crossing = sum(trip.per for trip in mine if trip.where == "memory")
            aside = 15.5 * (len(homes) == 2 and len({*homes.values()}) == 1)
            free, per = homes.get(way) == "cache", mine[-1].per if mine else 0
            rows.append((bool(mine), free, per, crossing, -aside if way == "read" else aside))
        there, free, per, crossing, aside = np.array(rows).T
        gone = np.arange(len(self.at)) - LEAD * stop - FLIGHT * number
        seen = both(there[:, None] * ((gone > 0) & (self.at == stop)))
        come = np.clip(gone / FLIGHT, 0, 1)
        down = way == "read"
        return Flight(stop, name, down, there > 0, free > 0, per, crossing, aside, come, seen)

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

    def torn(self, top: float, on: By) -> None:
        """The torn edge of what goes on beyond the right end of its bed."""
        ys = np.linspace(top, top + 20, 9)
        xs = self.right - 6 + 2.0 * (np.arange(len(ys)) % 2)
        self.scene.line([*zip(xs.tolist(), ys.tolist())], "paper", 3, opacity=on, name="torn")

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
