"""A golf run as a picture tells it: stops, the trips made at each, and what has crossed by then.

Loops are folded, arrays have the names of the learner's own variables where the program shows them,
and a sweep over chunk sizes has the time measured beside the time that the bytes promise.
"""

from __future__ import annotations

import ast
import functools
import inspect
import math
import re
import textwrap
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from rooflab.count.si import percent, plain, si, times
from rooflab.labs.golf.ledger import A_LITTLE, stretches
from rooflab.show import theme

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
    renamed = learners_names(stops, "".join(source))
    stops = _few_arrays(_few_stops(_renamed(stops, renamed), most))
    return Story(
        tuple(stops), golf.bytes / elements, golf.minimum / elements, calls,
        getattr(golf, "cache", 0), tuple(renamed.items()),
    )  # fmt: skip


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
        piece = max(one.piece for one in all_of_it)
        trips.append(replace(trip, where=where, per=per if near else crossing, piece=piece))
    return replace(first, rounds=sum(turn.rounds for turn in turns), trips=tuple(trips))


def _numbered(stops: Sequence[Stop]) -> list[Stop]:
    """Temporaries from tmp1 on, so that every chunk size has the same ones."""
    names = dict.fromkeys(t.name for s in stops for t in s.trips if t.name.startswith("tmp"))
    return _renamed(stops, {name: f"tmp{n}" for n, name in enumerate(names, 1)})


def _renamed(stops: Sequence[Stop], names: Mapping[str, str]) -> list[Stop]:
    return [
        replace(s, trips=tuple(replace(t, name=names.get(t.name, t.name)) for t in s.trips))
        for s in stops
    ]


def _few_stops(stops: Sequence[Stop], most: int) -> list[Stop]:
    if len(stops) <= most:
        return list(stops)
    rest = stops[most - 1 :]
    trips = _merge([trip for stop in rest for trip in stop.trips], max)
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
            trips=_merge([t if t.name in kept else replace(t, name=REST) for t in stop.trips], sum),
        )
        for stop in stops
    ]


def _merge(
    trips: Sequence[ArrayTrip], pieces: Callable[[Iterable[int]], int]
) -> tuple[ArrayTrip, ...]:
    """One trip for all of a name, way and place; ``pieces`` says how large a piece they are."""
    alike: dict[tuple[str, str, str], list[ArrayTrip]] = defaultdict(list)
    for trip in trips:
        alike[trip.name, trip.way, trip.where].append(trip)
    return tuple(
        replace(ones[0], per=sum(t.per for t in ones), piece=pieces(t.piece for t in ones))
        for ones in alike.values()
    )


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
        ArrayTrip(
            t.name,
            (t.moved if t.where == "memory" else t.bytes) / elements,
            t.way,
            t.where,
            t.bytes,
        )
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
class ArrayTrip:
    """One array's way at one stop: ``per`` bytes an element, to ("write") or from ("read") its
    home.

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

    ``cache``: bytes that the cache holds, 0 for none. ``renamed``: temporaries of the log, with the
    learner's names for them.
    """

    stops: tuple[Stop, ...]
    total: float
    minimum: float
    calls: int
    cache: int = 0
    renamed: tuple[tuple[str, str], ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Every array's name, inputs and temporaries as they come, the result last."""
        seen = dict.fromkeys(trip.name for stop in self.stops for trip in stop.trips)
        return tuple(sorted(seen, key=lambda name: (name == "result") + 2 * (name == REST)))

    def crossed(self, stops: int) -> float:
        """Bytes an element that have crossed the bus after the first ``stops`` stops."""
        return sum(stop.crossing for stop in self.stops[:stops])

    def together(self, at: int) -> dict[str, int]:
        """Bytes of every array that one round of the loop around stop ``at`` touches.

        Calls outside of any loop are one round.
        """
        rounds = [stop.rounds for stop in self.stops]
        first = last = max(at, 1) - 1
        while first and rounds[first - 1] == rounds[first]:
            first -= 1
        while last + 1 < len(rounds) and rounds[last + 1] == rounds[last]:
            last += 1
        found: dict[str, int] = {}
        for trip in (trip for stop in self.stops[first : last + 1] for trip in stop.trips):
            found[trip.name] = max(found.get(trip.name, 0), trip.piece)
        return found

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


# The learner's own names for temporaries, as far as the program's text tells them for certain.


_OPERATORS = {
    ast.Add: "add", ast.Sub: "subtract", ast.Mult: "multiply", ast.Div: "divide",
    ast.FloorDiv: "floor_divide", ast.Mod: "remainder", ast.Pow: "power", ast.MatMult: "matmul",
    ast.USub: "negative",
}  # fmt: skip


def learners_names(stops: Sequence[Stop], source: str) -> dict[str, str]:
    """tmp1, tmp2, … → the variable that holds it: ``t = a * x`` or ``np.multiply(…, out=t)``.

    A temporary keeps its number where a name is not certain, and where two arrays had the same one.
    """
    said = _assigned(source)
    held: dict[str, set[str]] = defaultdict(set)
    for stop in stops:
        read = {trip.name for trip in stop.trips if trip.way == "read"}
        for trip in stop.trips:
            if trip.way == "write" and trip.name.startswith("tmp"):
                names = said.get((stop.line, stop.call), set())
                if names or trip.name not in read:  # t *= 2 leaves t what it was
                    held[trip.name] |= names or {""}
    found = {tmp: next(iter(names)) for tmp, names in held.items() if len(names) == 1}
    taken = [trip.name for stop in stops for trip in stop.trips] + [REST, "result"]
    return {
        tmp: name
        for tmp, name in found.items()
        if name and name not in taken and [*found.values()].count(name) == 1
    }


def _assigned(source: str) -> dict[tuple[int | None, str], set[str]]:
    """(line, call) → the variables that get what this call makes there."""
    try:
        tree = ast.parse(textwrap.dedent(source))
    except SyntaxError:  # a lambda in the middle of a line
        return {}
    names: dict[tuple[int | None, str], set[str]] = defaultdict(set)
    for node in ast.walk(tree):
        target, value = _target(node)
        call = _call(value)
        if not (value and target and call):
            continue
        if [_call(one) for one in ast.walk(value)].count(call) == 1:
            for line in range(value.lineno, (value.end_lineno or value.lineno) + 1):
                names[line, call].add(target)
    return names


def _target(node: Any) -> tuple[str, ast.expr | None]:
    """The variable that a statement, or a call with ``out=``, gives an array; and from what."""
    if isinstance(node, ast.Assign) and len(node.targets) == 1:
        place = node.targets[0]
        return (place.id if isinstance(place, ast.Name) else ""), node.value
    out = next((one.value for one in getattr(node, "keywords", ()) if one.arg == "out"), None)
    while isinstance(out, ast.Subscript):
        out = out.value
    return (out.id, node) if isinstance(out, ast.Name) else ("", None)


def _call(node: Any) -> str:
    """NumPy's name for what a part of an expression does; empty for what is no call."""
    if isinstance(node, (ast.BinOp, ast.UnaryOp)):
        return _OPERATORS.get(type(node.op), "")
    if isinstance(node, ast.Call):
        return getattr(node.func, "attr", getattr(node.func, "id", ""))
    return ""


# The two bars of a chunk sweep: the time measured, and the time that the counted bytes promise.
#
# The promise starts from one measured time, that of the largest chunk: half the bytes, half the
# time. So both bars agree there, and elsewhere the gap between them is what bytes do not explain.


#: From this gap on the sentence speaks of it; below it lies what timings scatter anyway.
WORTH_SAYING = 1.25
#: How much longer than the largest chunk's bar another may be before it is cut off.
ROOM_TO_GROW = 1.25


@dataclass(frozen=True)
class ChunkStories:
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
        measured, counted = self.measured[at] / self.reach, self.counted[at] / self.reach
        return min(1.0, measured), min(1.0, counted)

    def labels(self, at: int) -> tuple[str, str]:
        """The two times, with an arrow where the bar is cut off."""
        measured, counted = (
            si(s, "s") + (" →" if s > self.reach else "")
            for s in (self.measured[at], self.counted[at])
        )
        return measured, counted

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


def sweep(given: Any) -> ChunkStories:
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
    return ChunkStories(tuple(given.chunks[i] for i in order), stories, tuple(seconds), counted)


def _whole(given: Any, at: int) -> float:
    """How many times as long the timed run is as the traced one: small chunks are traced on
    less."""
    elements, traced = (getattr(one, "elements", 0) for one in (given, given.golfs[at]))
    return elements / traced if elements and traced else 1.0
