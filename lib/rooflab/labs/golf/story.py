"""A golf run as a picture tells it: stops, the trips made at each, and what has crossed by then.

Loops are folded, and temporaries have the learner's names where a line of the program says them.
All bytes are per element of the largest input, the unit in which 24 and 40 are said.
"""

from __future__ import annotations

import inspect
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import zip_longest
from typing import Any

from rooflab.count.si import plain, several, si, times
from rooflab.labs.golf.ledger import A_LITTLE, MOST_ROWS, Step, Trip, calls
from rooflab.show import theme

#: More stops than this do not fit on a slider or a page: the rest becomes one.
MOST_STOPS = 40
#: From this gap on the sentence speaks of it; below it lies what timings scatter anyway.
WORTH_SAYING = 1.25
number = partial(plain, digits=3)  # of bytes an element, as text


@dataclass(frozen=True)
class ArrayTrip:
    """One array at one stop: ``per`` bytes an element, to ("write") or from ("read") its home.

    ``where`` is "memory" (it crosses the bus) or "cache" (it costs nothing). ``piece``: bytes that
    one call touches of it.
    """

    name: str
    per: float
    way: str
    where: str
    piece: int = 0


@dataclass(frozen=True)
class Stop:
    """One NumPy call, or one call of a loop's body with all its ``rounds``."""

    call: str
    code: str
    line: int | None
    rounds: int
    trips: tuple[ArrayTrip, ...]

    @property
    def crossing(self) -> float:
        """Bytes an element that cross the bus here."""
        return sum(trip.per for trip in self.trips if trip.where == "memory")


@dataclass(frozen=True)
class Story:
    """A whole run: its stops, and bytes an element in total and at least.

    ``cache``: bytes that the cache holds, 0 for none.
    """

    stops: tuple[Stop, ...]
    total: float
    minimum: float
    cache: int = 0

    def trips(self, name: str, first: int = 0, last: int | None = None) -> list[ArrayTrip]:
        """The trips of an array between two stops; None: to the end."""
        stops = self.stops[first:last]
        return [trip for stop in stops for trip in stop.trips if trip.name == name]

    def home(self, name: str, at: int) -> ArrayTrip | None:
        """The trip that says where an array is at a stop: its last one, or else its first."""
        trips = self.trips(name, 0, at) or self.trips(name)[:1]
        return trips[-1] if trips else None

    def together(self, at: int) -> dict[str, int]:
        """Bytes of every array that one round of the loop around stop ``at`` touches.

        Calls outside of any loop are one round.
        """
        rounds, pieces = self.stops[max(at, 1) - 1].rounds, dict[str, int]()
        for trip in (trip for stop in self.stops if stop.rounds == rounds for trip in stop.trips):
            pieces[trip.name] = max(pieces.get(trip.name, 0), trip.piece)
        return pieces

    def sentence(self, at: int) -> str:
        """What has happened at stop ``at``; 0 is before anything has crossed."""
        steps = len(self.stops)
        if at == 0:
            return f"{several(steps, 'step')} ahead. Nothing has crossed the bus yet."
        stop = self.stops[at - 1]
        often = f", {theme.count(stop.rounds)} times" if stop.rounds > 1 else ""
        words = f"Step {at} of {steps}, {stop.call}{often}: {_moves(stop)}."
        if stays := [trip.name for trip in stop.trips if trip.where == "cache"]:
            words += f" {_list(stays, 'stays', 'stay')} in cache: free."
        if at == 1 < steps:
            return words
        so_far = f"So far {number(sum(s.crossing for s in self.stops[:at]))} bytes an element."
        return f"{words} {so_far if at < steps else self.verdict}"

    @property
    def verdict(self) -> str:
        """Total against minimum, in one sentence."""
        total, least = number(self.total), number(self.minimum)
        if self.total <= 0:
            return "Nothing crossed the bus: everything fits the cache."
        if total == least:
            return f"In all {total} bytes an element, the least possible."
        if self.minimum <= 0 or self.total < self.minimum:
            return f"In all {total} bytes an element; the minimum was set to {least}."
        ratio = plain(self.total / self.minimum, 3)
        return f"In all {total} bytes an element, {ratio} times the least possible {least}."


def names_of(stops: Iterable[Stop]) -> list[str]:
    """The arrays of all trips, inputs and temporaries as they come, the result last."""
    names = dict.fromkeys(trip.name for stop in stops for trip in stop.trips)
    return sorted(names, key=lambda name: name == "result")


def _moves(stop: Stop) -> str:
    """``x is read, tmp1 is written, 16 bytes an element``."""
    parts = [
        f"{_list(names, 'is', 'are')} {word}"
        for way, word in (("read", "read"), ("write", "written"))
        if (names := [t.name for t in stop.trips if t.way == way and t.where == "memory"])
    ]
    per = f"{number(stop.crossing)} byte{'' if stop.crossing == 1 else 's'} an element"
    return f"{', '.join(parts)}, {per}" if parts else "no byte crosses the bus"


def _list(names: Sequence[str], does: str, do: str) -> str:
    *first, last = dict.fromkeys(names)
    return f"{', '.join(first)} and {last} {do}" if first else f"{last} {does}"


def story(golf: Any, *, fold: bool = False, elements: int = 0) -> Story:
    """Read a Golf: its steps as stops, loops folded (always with ``fold``).

    A chunk loop makes thousands of NumPy calls, and its rounds repeat the same few: they are added
    up. ``elements``: those of the full run, where only its beginning was traced.

    Raises TypeError for something that is no Golf, ValueError for one without any step.
    """
    if not hasattr(golf, "steps"):
        hint = "; give one of its .golfs" if hasattr(golf, "golfs") else ""
        right = "what rl.golf or rooflab.labs.golf.sweep returned"
        raise TypeError(f"golf={golf!r} has no steps; pass {right}{hint}")
    steps = [step for step in golf.steps if step.operands]  # some handle single numbers alone
    if not steps:
        raise ValueError("golf: the function made no NumPy call, so there is nothing to show")
    turns = calls(steps) if fold or len(steps) > MOST_ROWS else [[step] for step in steps]
    function: Any = getattr(golf, "function", None)
    try:
        source = inspect.getsourcelines(getattr(function, "func", function))[0]
    except (OSError, TypeError):  # Python did not keep them
        source = []
    whole = (elements or golf.elements) / golf.elements
    stops = [_stop(one, golf.elements, source, whole) for one in turns]
    made = [name for name in names_of(stops) if name.startswith("tmp")]
    names = {name: f"tmp{n}" for n, name in enumerate(made, 1)}  # the same at every chunk size
    names |= learners_names(stops)
    stops = [
        replace(stop, trips=tuple(replace(t, name=names.get(t.name, t.name)) for t in stop.trips))
        for stop in stops
    ]
    if len(stops) > MOST_STOPS:
        rest = stops[MOST_STOPS - 1 :]
        trips = tuple(trip for stop in rest for trip in stop.trips)
        stops[MOST_STOPS - 1 :] = [Stop(f"{len(rest)} more calls", "…", None, 1, trips)]
    total, minimum = golf.bytes / golf.elements, golf.minimum / golf.elements
    return Story(tuple(stops), total, minimum, getattr(golf, "cache", 0))


def _stop(turns: Sequence[Step], elements: int, source: Sequence[str], whole: float) -> Stop:
    """All rounds of one call as one stop, under the names of the first round."""
    step = turns[0]
    trips = tuple(_trip(one, elements) for one in zip(*(turn.operands for turn in turns)))
    code = "".join(source[step.line - 1 : step.line]).strip() if step.line else ""
    # A last, smaller piece is a round as well; the last digit of a float is none.
    rounds = math.ceil(len(turns) * whole - 1e-6) if len(turns) > 1 else 1
    return Stop(step.call, code or step.call, step.line, rounds, trips)


def _trip(rounds: Sequence[Trip], elements: int) -> ArrayTrip:
    """All rounds of one trip: near even if a first or a last piece of it crosses the bus."""
    crossing = sum(one.moved for one in rounds if one.where == "memory")
    passing = crossing + sum(one.bytes for one in rounds if one.where == "cache")
    near = crossing * A_LITTLE <= passing
    where, moved = ("cache", passing) if near else ("memory", crossing)
    piece = max(one.bytes for one in rounds)
    return ArrayTrip(rounds[0].name, moved / elements, rounds[0].way, where, piece)


def learners_names(stops: Sequence[Stop]) -> dict[str, str]:
    """tmp1 → the variable that holds it: ``t = a * x`` or ``np.multiply(a, x, out=t)``.

    A temporary keeps its number where a name is not certain, and where two would have the same one.
    """
    held: dict[str, set[str]] = defaultdict(set)
    for stop, following in zip_longest(stops, stops[1:]):
        target = re.search(rf"\b{re.escape(stop.call)}\([^()]*\bout=(\w+)", stop.code)
        if target is None and (following is None or following.line != stop.line):
            target = re.match(r"(\w+) = ", stop.code)  # of what a line computes last
        read = {trip.name for trip in stop.trips if trip.way == "read"}
        for name in {trip.name for trip in stop.trips if trip.way == "write"}:
            if target or name not in read:  # t *= 2 leaves t what it was
                held[name].add(target[1] if target else "")
    names = {tmp: min(of) for tmp, of in held.items() if tmp.startswith("tmp") and len(of) == 1}
    many = Counter(["", "", *names.values(), *names_of(stops)])
    return {tmp: name for tmp, name in names.items() if many[name] == 1}


@dataclass(frozen=True)
class ChunkStories:
    """Chunk sizes in rising order with their stories, and seconds: measured, expected from bytes.

    Both are empty where nothing was timed. They agree at the largest chunk; elsewhere the gap
    between them is what bytes do not explain.
    """

    chunks: tuple[int, ...]
    stories: tuple[Story, ...]
    measured: tuple[float, ...] = ()
    expected: tuple[float, ...] = ()

    def sentence(self, at: int) -> str:
        """What was measured with this chunk, what the bytes promise, and why they may differ."""
        if not self.chunks[at]:
            return ""
        if not self.measured:
            return f"Chunks of {theme.count(self.chunks[at])}."
        words = f"Chunks of {theme.count(self.chunks[at])}: measured {si(self.measured[at], 's')}."
        if at == len(self.chunks) - 1:
            return f"{words} Chunks that move half the bytes are expected to take half of it."
        words += f" Expected from the bytes: {si(self.expected[at], 's')}."
        gap = self.measured[at] / self.expected[at]
        if 1 / WORTH_SAYING <= gap <= WORTH_SAYING:
            return words
        many = theme.count(sum(stop.rounds for stop in self.stories[at].stops))
        why = f"{many} calls take time, too" if gap > 1 else "a larger cache kept some of them"
        return f"{words} It took {times(gap, 2)} as long: {why}."


def sweep(given: Any) -> ChunkStories:
    """Read a ChunkSweep, smallest chunk first; or a Golf, a sweep of the one chunk 0.

    Raises TypeError for something else, ValueError for a sweep that moved nothing.
    """
    if not hasattr(given, "chunks"):
        return ChunkStories((0,), (story(given),))
    seconds = given.seconds or (math.nan,) * len(given.chunks)
    rows = zip(given.chunks, given.golfs, seconds, strict=True)
    chunks, golfs, seconds = zip(*sorted(rows, key=lambda row: row[0]))
    stories = tuple(story(one, fold=True, elements=given.elements) for one in golfs)
    if not all(one.total > 0 for one in stories):
        raise ValueError("golf: a run of the sweep moved no byte; take a larger array")
    measured = tuple(map(float, seconds)) if given.seconds else ()
    expected = tuple(measured[-1] * one.total / stories[-1].total for one in stories if measured)
    return ChunkStories(chunks, stories, measured, expected)
