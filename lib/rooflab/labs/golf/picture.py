"""The golf picture as a figure: one row a step, one block a trip, as wide as its bytes an element.

Blocks that cross the bus stand one after the other on the axis, so their end is the total; blocks
that stay in cache stand apart on the left, hollow, and take nothing from the axis.
"""

from __future__ import annotations

import functools
import inspect
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from matplotlib import rc_context
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.patches import Rectangle

from rooflab.count.si import percent, plain, si, times
from rooflab.labs.golf.ledger import A_LITTLE, stretches
from rooflab.show import theme
from rooflab.show.canvas import DPI
from rooflab.show.roofline_figure import Picture

# From the steps of a golf run to the stops of its picture: loops folded, long runs cut short.
#
# A chunk loop makes thousands of NumPy calls; its rounds repeat the same few, so they are folded:
# one stop a call, its bytes summed over the rounds.


#: Up to so many steps each is its own stop; a longer run is a loop and is folded.
SHORT = 12
#: More stops than this do not fit on a slider or a page: the rest becomes one.
MOST_STOPS = 40
MOST_ARRAYS = 7


def story(golf: Any, *, fold: bool = False, most: int = MOST_STOPS, whole: float = 1.0) -> Story:
    """Read a Golf: its steps as at most ``most`` stops, loops folded (always with ``fold``).

    ``whole``: how many times as long the full run is, where only its beginning was traced.

    Raises TypeError for something that is no Golf, ValueError for one without any step.
    """
    missing = [name for name in ("bytes", "minimum", "steps") if not hasattr(golf, name)]
    if missing:
        hint = "; give one of its .golfs" if hasattr(golf, "golfs") else ""
        raise TypeError(
            f"golf={golf!r} has no {', '.join(missing)}; pass what rl.golf returned{hint}"
        )
    steps = tuple(golf.steps)
    if not steps:
        raise ValueError("golf: the function made no NumPy call, so there is nothing to show")
    elements = _elements(golf)
    source = _source(golf)
    stops = [_stop(step, elements, source) for step in steps]
    if fold or len(stops) > SHORT:
        stops = _numbered(folded(stops))
    stops = [replace(s, rounds=_up(s.rounds * whole)) if s.rounds > 1 else s for s in stops]
    calls = sum(stop.rounds for stop in stops)
    stops = _few_arrays(_few_stops(stops, most))
    return Story(tuple(stops), golf.bytes / elements, golf.minimum / elements, calls)


def _up(rounds: float) -> int:
    """The last, smaller piece is a round as well: rounded up, but not for a float's last digit."""
    return math.ceil(rounds - 1e-6)


def folded(stops: Sequence[Stop]) -> list[Stop]:
    """Fold every stretch in which the same calls on the same kinds of array repeat."""
    done = []
    for start, period, rounds in stretches([_key(stop) for stop in stops]):
        for offset in range(period):
            turns = stops[start + offset : start + period * rounds : period]
            done.append(_sum(turns) if rounds > 1 else turns[0])
    return done


def _key(stop: Stop) -> object:
    trips = tuple((re.sub(r"^tmp\d+$", "tmp", trip.name), trip.way) for trip in stop.trips)
    return stop.call, stop.line, trips


def _sum(turns: Sequence[Stop]) -> Stop:
    """All rounds of one call as one stop, under the names of the first round."""
    first = turns[0]
    trips = []
    for place, trip in enumerate(first.trips):
        all_of_it = [turn.trips[place] for turn in turns]
        crossing = sum(one.per for one in all_of_it if one.where == "memory")
        per = sum(one.per for one in all_of_it)
        near = crossing * A_LITTLE <= per  # a first or a last piece may cross all the same
        where = "cache" if near else "memory"
        trips.append(replace(trip, where=where, per=per if near else crossing))
    return replace(first, rounds=sum(turn.rounds for turn in turns), trips=tuple(trips))


def _numbered(stops: Sequence[Stop]) -> list[Stop]:
    """Temporaries from tmp1 on, so that every chunk size has the same ones."""
    names = dict.fromkeys(t.name for s in stops for t in s.trips if t.name.startswith("tmp"))
    number = {name: f"tmp{n}" for n, name in enumerate(names, 1)}
    return [
        replace(s, trips=tuple(replace(t, name=number.get(t.name, t.name)) for t in s.trips))
        for s in stops
    ]


def _few_stops(stops: Sequence[Stop], most: int) -> list[Stop]:
    if len(stops) <= most:
        return list(stops)
    rest = stops[most - 1 :]
    trips = _merge([trip for stop in rest for trip in stop.trips])
    return [*stops[: most - 1], Stop(f"{len(rest)} more calls", "…", None, 1, trips)]


def _few_arrays(stops: Sequence[Stop]) -> list[Stop]:
    """Arrays beyond the room for them share one place."""
    names = list(dict.fromkeys(trip.name for stop in stops for trip in stop.trips))
    if len(names) <= MOST_ARRAYS:
        return list(stops)
    kept = {*[name for name in names if name != "result"][: MOST_ARRAYS - 2], "result"}
    return [
        replace(
            stop,
            trips=_merge(
                [t if t.name in kept else replace(t, name=REST) for t in stop.trips],
            ),
        )
        for stop in stops
    ]


def _merge(trips: Sequence[Pass]) -> tuple[Pass, ...]:
    per: dict[tuple[str, str, str], float] = {}
    for trip in trips:
        key = (trip.name, trip.way, trip.where)
        per[key] = per.get(key, 0.0) + trip.per
    return tuple(Pass(name, sum_, way, where) for (name, way, where), sum_ in per.items())


def _elements(golf: Any) -> float:
    """Elements of the largest input, from the ratio the Golf itself uses."""
    per = getattr(golf, "per_element", 0)
    if golf.bytes and per:
        return golf.bytes / per
    sizes = [math.prod(trip.shape) for step in golf.steps for trip in step.operands]
    return max([1, *sizes])


def _source(golf: Any) -> list[str]:
    """The lines of the function that ran; none where Python did not keep them."""
    function = getattr(golf, "function", None)
    while isinstance(function, functools.partial):
        function = function.func
    try:
        return inspect.getsourcelines(inspect.unwrap(function))[0]
    except (OSError, TypeError):
        return []


def _stop(step: Any, elements: float, source: Sequence[str]) -> Stop:
    trips = [
        Pass(t.name, (t.moved if t.where == "memory" else t.bytes) / elements, t.way, t.where)
        for t in step.operands
    ]
    written = [trip.name for trip in trips if trip.way == "write"]
    read = ", ".join(dict.fromkeys(trip.name for trip in trips if trip.way == "read"))
    code = f"{', '.join(written) or '…'} = {step.call}({read})"
    if step.line is not None and 0 < step.line <= len(source):
        code = source[step.line - 1].strip()
    return Stop(step.call, code, step.line, 1, tuple(trips))


# A golf round as a picture tells it: stops, the trips made at each, and what has crossed by then.
#
# All bytes here are per element of the largest input, the unit in which 24 and 40 are said.


#: The one place of the arrays for which there is no place of their own.
REST = "others"


@dataclass(frozen=True)
class Pass:
    """One array's way at one stop: ``per`` bytes an element, to ("write") or from ("read") its
    home.

    ``where`` is "memory" (it crosses the bus) or "cache" (it costs nothing).
    """

    name: str
    per: float
    way: str
    where: str


@dataclass(frozen=True)
class Stop:
    """One NumPy call, or one call of a loop's body with all its ``rounds``."""

    call: str
    code: str
    line: int | None
    rounds: int
    trips: tuple[Pass, ...]

    @property
    def crossing(self) -> float:
        """Bytes an element that cross the bus here."""
        return sum(trip.per for trip in self.trips if trip.where == "memory")


@dataclass(frozen=True)
class Story:
    """A whole run: its stops, and bytes an element in total and at least."""

    stops: tuple[Stop, ...]
    total: float
    minimum: float
    calls: int

    @property
    def names(self) -> tuple[str, ...]:
        """Every array's name, inputs and temporaries as they come, the result last."""
        seen = dict.fromkeys(trip.name for stop in self.stops for trip in stop.trips)
        return tuple(sorted(seen, key=lambda name: (name == "result") + 2 * (name == REST)))

    def crossed(self, stops: int) -> float:
        """Bytes an element that have crossed the bus after the first ``stops`` stops."""
        return sum(stop.crossing for stop in self.stops[:stops])

    def sentence(self, at: int) -> str:
        """What has happened at stop ``at``; 0 is before the start."""
        steps = len(self.stops)
        if at == 0:
            return f"{_steps(steps)} ahead. Nothing has crossed the bus yet."
        stop = self.stops[at - 1]
        often = f", {theme.count(stop.rounds)} times" if stop.rounds > 1 else ""
        said = f"Step {at} of {steps}, {stop.call}{often}: {_moves(stop)}."
        stays = [trip.name for trip in stop.trips if trip.where == "cache"]
        if stays:
            said += f" {_list(stays)} stay{'s' if len(set(stays)) == 1 else ''} in cache: free."
        if at == 1 < steps:
            return said
        if at < steps:
            return f"{said} So far {number(self.crossed(at))} bytes an element."
        return f"{said} {self.verdict}"

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


def number(per: float) -> str:
    """Bytes an element as text: ``"8"``, ``"0.0039"``."""
    return plain(per, 3)


def _moves(stop: Stop) -> str:
    """``x is read, tmp1 is written: 16 bytes an element cross the bus``."""
    parts = []
    for way, word in (("read", "read"), ("write", "written")):
        names = [t.name for t in stop.trips if t.way == way and t.where == "memory"]
        if names:
            parts.append(f"{_list(names)} {'is' if len(set(names)) == 1 else 'are'} {word}")
    if not parts:
        return "no byte crosses the bus"
    per = stop.crossing
    return f"{', '.join(parts)}, {number(per)} byte{'' if per == 1 else 's'} an element"


def _list(names: Sequence[str]) -> str:
    *first, last = dict.fromkeys(names)
    return f"{', '.join(first)} and {last}" if first else last


def _steps(count: int) -> str:
    return f"{count} step{'' if count == 1 else 's'}"


# The two bars of a chunk sweep: the time measured, and the time that the counted bytes promise.
#
# The promise starts from one measured time, that of the largest chunk: half the bytes, half the
# time. So both bars agree there, and elsewhere the gap between them is what bytes do not explain.


#: From this gap on the sentence speaks of it; below it lies what timings scatter anyway.
WORTH_SAYING = 1.25
#: How much longer than the largest chunk's bar another may be before it is cut off.
ROOM_TO_GROW = 1.25


@dataclass(frozen=True)
class Sweep:
    """Chunk sizes in rising order with their stories, measured and counted seconds.

    Both are empty where nothing was timed: then there are no bars.
    """

    chunks: tuple[int, ...]
    stories: tuple[Story, ...]
    measured: tuple[float, ...]
    counted: tuple[float, ...]

    @property
    def reach(self) -> float:
        """Seconds that the bars' bed is long: the largest chunk's bar decides, longer ones run
        off."""
        return min(max(*self.measured, *self.counted), ROOM_TO_GROW * self.measured[-1])

    def shares(self, at: int) -> tuple[float, float]:
        """Both bars' parts of their bed, 0 to 1; what would be longer ends with the bed."""
        return tuple(min(1.0, s / self.reach) for s in (self.measured[at], self.counted[at]))

    def labels(self, at: int) -> tuple[str, str]:
        """The two times, with an arrow where the bar is cut off."""
        both = (self.measured[at], self.counted[at])
        return tuple(si(s, "s") + (" →" if s > self.reach else "") for s in both)

    def says(self, at: int) -> tuple[str, str]:
        """The two times in words."""
        return si(self.measured[at], "s"), si(self.counted[at], "s")

    def sentence(self, at: int) -> str:
        """What was measured with this chunk, what the bytes promise, and why they may differ."""
        if not self.measured:
            return f"Chunks of {theme.count(self.chunks[at])}."
        measured, counted = self.says(at)
        said = f"Chunks of {theme.count(self.chunks[at])}: measured {measured}"
        if at == len(self.chunks) - 1:
            return f"{said}; the counted bars of smaller chunks start from it."
        share = percent(self.stories[at].total / self.stories[-1].total)
        said += f", counted {counted} ({share} of the bytes)."
        gap = self.measured[at] / self.counted[at]
        if gap > WORTH_SAYING:
            why = f"{theme.count(self.stories[at].calls)} calls take time, too"
            return f"{said} {times(gap, 2)} more: {why}."
        if gap < 1 / WORTH_SAYING:
            why = "a larger cache kept some of them"
            return f"{said} {times(1 / gap, 2)} less: {why}."
        return said


def sweep(given: Any) -> Sweep:
    """Read a ChunkSweep, smallest chunk first.

    Raises TypeError for something that is none, ValueError for lengths that differ, a chunk
    that comes twice, times that are not positive, or a run that moved nothing.
    """
    missing = [name for name in ("chunks", "golfs", "seconds") if not hasattr(given, name)]
    if missing:
        raise TypeError(
            f"golf={given!r} has no {', '.join(missing)}; "
            "pass what rl.golf or rooflab.labs.golf.sweep returned"
        )
    lengths = {len(given.chunks), len(given.golfs), len(given.seconds) or len(given.chunks)}
    if len(lengths) != 1 or lengths == {0}:
        raise ValueError(
            f"golf: {len(given.chunks)} chunks, {len(given.golfs)} golfs, "
            f"{len(given.seconds)} seconds; give one of each a chunk size"
        )
    if len(set(given.chunks)) != len(given.chunks):
        raise ValueError(f"golf: chunks={tuple(given.chunks)!r} has one size twice")
    order = sorted(range(len(given.chunks)), key=lambda i: given.chunks[i])
    seconds = [float(given.seconds[i]) for i in order if len(given.seconds)]
    if not all(math.isfinite(s) and s > 0 for s in seconds):
        raise ValueError(f"golf: seconds={tuple(given.seconds)!r} must all be positive")
    stories = tuple(story(given.golfs[i], fold=True, whole=_whole(given, i)) for i in order)
    if not all(one.total > 0 for one in stories):
        raise ValueError("golf: a run of the sweep moved no byte; take a larger array")
    counted = tuple(seconds[-1] * one.total / stories[-1].total for one in stories if seconds)
    return Sweep(tuple(given.chunks[i] for i in order), stories, tuple(seconds), counted)


def _whole(given: Any, at: int) -> float:
    """How many times as long the timed run is as the traced one: small chunks are traced on
    less."""
    elements, traced = (getattr(one, "elements", 0) for one in (given, given.golfs[at]))
    return elements / traced if elements and traced else 1.0


def bars(shown: Sweep, room: float) -> dict[str, Sequence[Any]]:
    """Lengths in pixels and labels of both bars at every chunk, for a bed ``room`` pixels long."""
    timed = range(len(shown.measured))
    return {
        "lengths": [[round(room * share, 1) for share in shown.shares(at)] for at in timed]
        or [[]] * len(shown.chunks),
        "says": [list(shown.labels(at)) for at in timed],
        "sentences": [shown.sentence(at) for at in range(len(shown.chunks))],
    }


# The golf picture in pixels: lanes, blocks, ledger and bars, placed once for every chunk size.
#
# From top to bottom: memory with the arrays' homes, the bus, the cache, the processor; below them
# the ledger, in which every block that crossed the bus stays, as wide as its bytes an element. The
# browser blends between these placings; it computes nothing.


WIDTH, LEFT, RIGHT = 720, 96, 702
#: Top and bottom of each lane, in CSS pixels.
MEMORY, BUS, CACHE, NEAR, CPU = (4, 72), (72, 144), (144, 198), (198, 262), (262, 292)
LEDGER = (332, 364)
HEIGHT, BARS_HEIGHT = 416, 478
BARS = ((426, 446), (452, 472))
SLOT, _BLOCK, _GAP = 42, 27, 10
#: Widths of a letter at 16 px: what a label needs to fit its block.
LETTER = 9.5

_INPUTS = ("#56B4E9", "#F0E442", "#0072B2", "#BBBBBB")
_TEMPORARIES = ("#D55E00", "#CC79A7", "#E69F00", "#8A6FBF")
_RESULT, _OTHERS = theme.FACES["C"], "#BBBBBB"


def colours(names: Sequence[str]) -> dict[str, str]:
    """One colour a name, the same all along: inputs, temporaries, the result."""
    found, inputs, temporaries = {}, 0, 0
    for name in names:
        if name == "result":
            found[name] = _RESULT
        elif name == "others":
            found[name] = _OTHERS
        elif name.startswith("tmp"):
            found[name] = _TEMPORARIES[temporaries % len(_TEMPORARIES)]
            temporaries += 1
        else:
            found[name] = _INPUTS[inputs % len(_INPUTS)]
            inputs += 1
    return found


def ink(colour: str) -> str:
    """The colour of letters on a block: dark, but white on the dark blue one."""
    return theme.PAPER if colour == "#0072B2" else theme.INK


def ticks(longest: float) -> list[float]:
    """Powers of two apart, from 0 to ``longest`` bytes an element: four to eight steps."""
    step = 2.0 ** math.ceil(math.log2(longest / 8))
    return [step * n for n in range(math.floor(longest / step + 1e-9) + 1)]


def longest(stories: Sequence[Story]) -> float:
    """The length of the ledger in bytes an element: every total and minimum has room."""
    return max(max(s.total, s.minimum, s.crossed(len(s.stops))) for s in stories) or 1.0


def names(stories: Sequence[Story]) -> tuple[str, ...]:
    """Every array in any story, the result last."""
    seen = dict.fromkeys(name for story in stories for name in story.names)
    return tuple(sorted(seen, key=lambda name: (name == "result") + 2 * (name == "others")))


def geometry(stories: Sequence[Story]) -> dict[str, Any]:
    """Everything the browser draws, for each story (one a chunk size) the same blocks and
    columns."""
    shown, scale = names(stories), (RIGHT - LEFT) / longest(stories)
    colour = colours(shown)
    keys = list(dict.fromkeys(key for story in stories for key in _keys(story)))
    keys.sort(key=lambda key: key[0])
    columns = _Columns(shown, scale)
    return {
        "width": WIDTH,
        "left": LEFT,
        "right": RIGHT,
        "lanes": [["memory", *MEMORY], ["bus", *BUS], ["cache", *CACHE], ["CPU", *CPU]],
        "ledger": list(LEDGER),
        "ticks": [[round(LEFT + t * scale, 1), number(t)] for t in ticks(longest(stories))],
        "columns": [
            {
                "name": n,
                "colour": colour[n],
                "ink": ink(colour[n]),
                "x": round(columns.middle[n], 1),
            }
            for n in shown
        ],
        "pitch": round(columns.pitch, 1),
        "slot": SLOT,
        "keys": [[stop, shown.index(name), way] for stop, name, way in keys],
        "stories": [_place(story, keys, columns, scale) for story in stories],
    }


def _keys(story: Story) -> list[tuple[int, str, str]]:
    return [(n, t.name, t.way) for n, stop in enumerate(story.stops, 1) for t in stop.trips]


class _Columns:
    """Where each array's column stands, and how wide its home and its blocks are."""

    def __init__(self, shown: Sequence[str], scale: float) -> None:
        self.pitch = (RIGHT - LEFT) / len(shown)
        self.middle = {n: LEFT + (i + 0.5) * self.pitch for i, n in enumerate(shown)}
        self.scale = scale

    def block(self, per: float) -> float:
        """The width of a block of ``per`` bytes an element; a tiny one stays visible."""
        return min(max(per * self.scale, 3.0), self.pitch - _GAP)

    def home(self, name: str, per: float) -> float:
        """The width of an array's home: that of its block, or what its name needs."""
        return round(max(self.block(per), min(LETTER * len(name) + 8, self.pitch - _GAP)), 1)


def _place(
    story: Story, keys: Sequence[tuple[int, str, str]], columns: _Columns, scale: float
) -> dict[str, Any]:
    homes, alive = _homes(story, columns)
    trips = {(n, t.name, t.way): t for n, stop in enumerate(story.stops, 1) for t in stop.trips}
    at, blocks, counters = 0.0, [], []
    for key in keys:
        trip = trips.get(key)
        crossing = trip.per if trip is not None and trip.where == "memory" else 0.0
        blocks.append([*_rest(trip, key, trips, columns), *_entry(at, crossing, scale)])
        at += crossing
        counters.append(f"{number(at)} of {number(story.total)} bytes an element")
    per = [trips[key].per if key in trips else 0.0 for key in keys]
    return {
        "homes": homes,
        "alive": alive,
        "blocks": blocks,
        "free": [key in trips and trips[key].where == "cache" for key in keys],
        "there": [key in trips for key in keys],
        "per": [f"{number(p)} B" for p in per],
        "counters": [f"0 of {number(story.total)} bytes an element", *counters],
        "least": [round(LEFT + story.minimum * scale, 1), f"minimum {number(story.minimum)}"],
        "calls": ["", *(stop.call for stop in story.stops)],
        "codes": ["", *(stop.code for stop in story.stops)],
        "rounds": [
            "",
            *(f"× {theme.count(s.rounds)}" if s.rounds > 1 else "" for s in story.stops),
        ],
        "says": [story.sentence(n) for n in range(len(story.stops) + 1)],
    }


def _homes(story: Story, columns: _Columns) -> tuple[list[list[list[float]]], list[list[int]]]:
    """For each stop, 0 included, [top, width] of each array's home, and whether it is there yet.

    A name may come back for another array, after the first has gone: then its home moves.
    """
    now: dict[str, Pass] = {}
    for trip in (t for stop in reversed(story.stops) for t in reversed(stop.trips)):
        now[trip.name] = trip  # in the end: each array's first trip
    there = {name for name, trip in now.items() if trip.way == "read"}
    homes, alive = [], []
    for trips in ((), *(stop.trips for stop in story.stops)):
        now |= {trip.name: trip for trip in trips}
        there |= {trip.name for trip in trips}
        homes.append([_home(now.get(name), name, columns) for name in columns.middle])
        alive.append([int(n in there) if n in now else -1 for n in columns.middle])
    return homes, alive


def _home(trip: Pass | None, name: str, columns: _Columns) -> list[float]:
    top, bottom = CACHE if trip is not None and trip.where == "cache" else MEMORY
    return [(top + bottom - SLOT) / 2, columns.home(name, trip.per if trip is not None else 0)]


def _rest(
    trip: Pass | None, key: tuple[int, str, str], trips: dict[Any, Pass], columns: _Columns
) -> list[float]:
    """[x, y, width, height] of a block where it stays for this stop: in the bus or above the
    CPU."""
    stop, name, way = key
    middle = columns.middle[name]
    if trip is None:
        return [round(middle, 1), sum(NEAR) / 2, 0.0, 0.0]
    top, bottom = BUS if trip.where == "memory" else NEAR
    other = trips.get((stop, name, "write" if way == "read" else "read"))
    shares = other is not None and other.where == trip.where  # read and written in one call
    shift = (-1 if way == "read" else 1) * (_BLOCK / 2 + 3) if shares else 0
    width = columns.block(trip.per)
    y = (top + bottom - _BLOCK) / 2 + shift
    return [round(middle - width / 2, 1), round(y, 1), round(width, 1), _BLOCK]


def _entry(at: float, crossing: float, scale: float) -> list[float]:
    return [round(LEFT + at * scale, 1), round(crossing * scale, 1)]


#: Rows of the figure; the rest of a long run becomes one more row.
ROWS = 12
_TEXT, _PAD, _ROW, _FIGURE_BLOCK = 236, 14, 46, 30
_TOP, _BOTTOM, _BARS = 66, 62, 84
_MOST_CODE = 23


def golf(golf: Any, *, title: str | None = None, width: int = 760) -> Picture:
    """Draw every trip of an ``rl.golf`` run as a block, step by step.

    Parameters
    ----------
    golf : Golf
        What ``rl.golf`` returned.
    title : str, optional
        None: the total against the minimum.
    width : int
        Pixels at 100 dpi, 560 or more.

    Returns
    -------
    Picture
        A figure whose ``words`` say what it shows.

    Raises
    ------
    TypeError
        For something that is no Golf.
    ValueError
        For a run without steps and for a width too small for its text.

    Examples
    --------
    >>> import numpy as np
    >>> run = rl.golf(lambda x, y: 2 * x + y, np.ones(1_000_000), np.ones(1_000_000))
    >>> print(rl.show.golf(run).words.splitlines()[0])
    Step 1 of 2, multiply: x is read, tmp1 is written, 16 bytes an element.
    """
    if not isinstance(width, int) or isinstance(width, bool) or width < 560:
        raise ValueError(f"width={width!r} must be a whole number of pixels, 560 or more")
    return picture(story(golf, most=ROWS), title=title, width=width)


def picture(
    told: Story,
    *,
    title: str | None = None,
    width: int = 760,
    sweep: Sweep | None = None,
    at: int = 0,
) -> Picture:
    """The figure of a story; with ``sweep`` the two bars of its chunk size ``at`` stand below
    it."""
    extra = _BARS if sweep is not None and sweep.measured else 0
    height = _TOP + _ROW * len(told.stops) + _BOTTOM + extra
    with rc_context(theme.RC):
        figure = Picture((width / DPI, height / DPI), dpi=DPI)
        FigureCanvasAgg(figure)
        axes = figure.add_axes((0, 0, 1, 1))
        axes.set(xlim=(0, width), ylim=(height, 0))  # pixels, origin at the top left
        axes.axis("off")
        _Page(axes, told, width, height - extra).draw(title or told.verdict)
        if extra:
            _bars(axes, sweep, at, width, height - extra)
    said = [told.sentence(n) for n in range(1, len(told.stops) + 1)]
    figure.words = "\n".join([*said, *([sweep.sentence(at)] if sweep is not None else [])])
    return figure


class _Page:
    """A story on axes in pixels: text on the left, the cache beside it, then the bus."""

    def __init__(self, axes: Any, told: Story, width: int, height: int) -> None:
        self.axes, self.told = axes, told
        self.colours = colours(told.names)
        self.end = width - 24
        free = max(sum(t.per for t in s.trips if t.where == "cache") for s in told.stops)
        reach = longest([told])
        room = self.end - _TEXT - 3 * _PAD
        lane = max(free * room / (free + reach), 90.0)  # its title fits at least
        self.scale = min(room / (free + reach), (room - lane) / reach)
        self.cache = (_TEXT, _TEXT + lane + _PAD)
        self.bus = self.cache[1] + _PAD
        self.foot = height - _BOTTOM + 4
        self.foot_of_last, self.legend_end = 0.0, self.bus
        self.unnamed = dict.fromkeys(told.names)

    def x(self, per: float) -> float:
        return self.bus + per * self.scale

    def draw(self, title: str) -> None:
        self.axes.text(_PAD, 12, title, va="top", weight="bold", fontsize=theme.FONT + 1)
        self._lanes()
        crossed = 0.0
        for row, stop in enumerate(self.told.stops):
            y = _TOP + _ROW * row
            self._label(row, y)
            crossed = self._blocks(stop.trips, y, crossed)
        self._axis()
        self._legend()

    def _lanes(self) -> None:
        left, right = self.cache
        grey = {"color": theme.CEILING, "fontsize": theme.SMALL, "va": "bottom"}
        self.axes.add_patch(
            Rectangle((left, _TOP - 6), right - left, self.foot - _TOP + 6,
                      color=theme.GRID, lw=0, alpha=0.55)
        )  # fmt: skip
        self.axes.text((left + right) / 2, _TOP - 10, "cache: free", ha="center", **grey)
        self.axes.text(self.bus, _TOP - 10, "over the bus: → read, ← written", **grey)

    def _label(self, row: int, y: float) -> None:
        stop = self.told.stops[row]
        often = f"  ×{theme.count(stop.rounds)}" if stop.rounds > 1 else ""
        middle = y + _FIGURE_BLOCK / 2
        self.axes.text(
            _PAD, middle - 9, f"{row + 1}  {stop.call}{often}", va="center", weight="bold"
        )
        code = stop.code.removeprefix("return ")
        code = code if len(code) <= _MOST_CODE else code[: _MOST_CODE - 1] + "…"
        look = {"family": "DejaVu Sans Mono", "fontsize": 10.8, "color": theme.CEILING}
        self.axes.text(_PAD, middle + 10, code, va="center", **look)

    def _blocks(self, trips: tuple[Pass, ...], y: float, crossed: float) -> float:
        """Draw a row's blocks; return the bytes an element that have crossed after it."""
        free = self.cache[0] + _PAD / 2
        if any(trip.where == "memory" for trip in trips):
            if self.foot_of_last:  # a thin line carries the sum on from the block before
                line = {"color": theme.CEILING, "lw": 0.8}
                self.axes.plot([self.x(crossed)] * 2, [self.foot_of_last, y], **line)
            self.foot_of_last = y + _FIGURE_BLOCK
        for trip in trips:
            colour = self.colours[trip.name]
            size = trip.per * self.scale
            if trip.where == "cache":
                look = {"fc": "none", "ec": colour, "lw": 2.0}
                self._block(free, y, size, trip, theme.INK, look)
                free += size
            else:
                look = {"fc": colour, "ec": theme.PAPER, "lw": 1.5}
                self._block(self.x(crossed), y, size, trip, ink(colour), look)
                crossed += trip.per
        return crossed

    def _block(self, x: float, y: float, size: float, trip: Pass, letters: str, look: Any) -> None:
        size = max(size, 1.5)
        self.axes.add_patch(Rectangle((x, y), size, _FIGURE_BLOCK, **look))
        arrow = "→" if trip.way == "read" else "←"
        spot = (x + size / 2, y + _FIGURE_BLOCK / 2)
        look = {"ha": "center", "va": "center_baseline", "color": letters}
        for label in (f"{trip.name} {arrow}", trip.name, arrow):
            text = self.axes.text(*spot, label, **look)
            if text.get_window_extent().width + 5 <= size:
                if label != arrow:
                    self.unnamed.pop(trip.name, None)
                break
            text.remove()

    def _legend(self) -> None:
        """Names that fitted none of their blocks, left of the minimum as far as there is room."""
        x, y = _PAD, self.foot + 29
        for name in self.unnamed:
            text = self.axes.text(x + 20, y, name, va="top")
            end = x + 34 + text.get_window_extent().width
            if end > self.legend_end:
                text.remove()
                break
            self.axes.add_patch(Rectangle((x, y + 2), 14, 14, color=self.colours[name], lw=0))
            x = end

    def _axis(self) -> None:
        axes, foot, reach = self.axes, self.foot, longest([self.told])
        axes.plot([self.x(0), self.x(reach)], [foot, foot], color=theme.CEILING, lw=0.9)
        for tick in ticks(reach):
            axes.plot([self.x(tick)] * 2, [foot, foot + 4], color=theme.CEILING, lw=0.9)
            axes.text(self.x(tick), foot + 8, number(tick), ha="center", va="top")
        axes.text(_PAD, foot + 8, "bytes an element, sum", va="top", color=theme.CEILING)
        least, text = self.x(self.told.minimum), f"minimum {number(self.told.minimum)}"
        axes.plot([least] * 2, [_TOP - 6, foot + 5], color=theme.WARN, lw=1.8, ls=(0, (4, 3)))
        look = {"ha": "center", "va": "top", "color": theme.WARN, "weight": "bold"}
        said = axes.text(min(least, self.end - 42), foot + 28, text, **look)
        self.legend_end = said.get_window_extent().x0


def _bars(axes: Any, sweep: Sweep, at: int, width: int, top: int) -> None:
    """Measured and counted time at a chunk size, on one scale for the whole sweep."""
    room = width - _TEXT - _PAD - 110  # the rest is for the time behind the bar
    rows = (
        (f"chunk {theme.count(sweep.chunks[at])}: measured", theme.INK),
        ("counted from the bytes", theme.CEILING),
    )
    told = zip(rows, sweep.shares(at), sweep.labels(at), strict=True)
    for row, ((what, colour), share, says) in enumerate(told):
        y, size = top + 10 + 34 * row, share * room
        axes.text(_TEXT, y + 11, what, va="center", ha="right")
        axes.add_patch(Rectangle((_TEXT + _PAD, y), size, 22, color=colour, lw=0))
        axes.text(
            _TEXT + _PAD + size + 8, y + 11, says, va="center", weight="bold" if not row else None
        )
