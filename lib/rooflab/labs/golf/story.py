"""A golf run as a picture tells it: stops, the trips made at each, and what has crossed by then.

Loops are folded, arrays have the names of the learner's own variables where the program shows them,
and a sweep over chunk sizes has the time measured beside the time that the bytes promise. All bytes
are per element of the largest input, the unit in which 24 and 40 are said.
"""

from __future__ import annotations

import ast
import functools
import inspect
import math
import textwrap
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Any

from rooflab.count.si import plain, several, si, times
from rooflab.labs.golf.ledger import A_LITTLE, MOST_ROWS, Step, Trip, calls
from rooflab.show import theme

#: More stops than this do not fit on a slider or a page: the rest becomes one.
MOST_STOPS = 40
MOST_ARRAYS = 7
#: The one place of the arrays for which there is no place of their own.
REST = "others"


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

    ``cache``: bytes that the cache holds, 0 for none. ``renamed``: temporaries of the log, with the
    learner's names for them.
    """

    stops: tuple[Stop, ...]
    total: float
    minimum: float
    calls: int
    cache: int = 0
    renamed: tuple[tuple[str, str], ...] = ()

    def crossed(self, stops: int) -> float:
        """Bytes an element that have crossed the bus after the first ``stops`` stops."""
        return sum(stop.crossing for stop in self.stops[:stops])

    def trips(self, name: str, first: int = 0, last: int | None = None) -> list[ArrayTrip]:
        """The trips of an array between two stops; None: to the end."""
        stops = self.stops[first:last]
        return [trip for stop in stops for trip in stop.trips if trip.name == name]

    def home(self, name: str, at: int) -> ArrayTrip | None:
        """The trip that says where an array is at a stop: its last one, or else its first."""
        earlier = self.trips(name, 0, at)
        return earlier[-1] if earlier else next(iter(self.trips(name)), None)

    def together(self, at: int) -> dict[str, int]:
        """Bytes of every array that one round of the loop around stop ``at`` touches.

        Calls outside of any loop are one round.
        """
        n = max(at, 1) - 1

        def inside(stop: Stop) -> bool:
            return stop.rounds == self.stops[n].rounds

        loop = (*takewhile(inside, self.stops[:n][::-1]), *takewhile(inside, self.stops[n:]))
        found: dict[str, int] = {}
        for trip in (trip for stop in loop for trip in stop.trips):
            found[trip.name] = max(found.get(trip.name, 0), trip.piece)
        return found

    def sentence(self, at: int) -> str:
        """What has happened at stop ``at``; 0 is before the start."""
        steps = len(self.stops)
        if at == 0:
            return f"{several(steps, 'step')} ahead. Nothing has crossed the bus yet."
        stop = self.stops[at - 1]
        often = f", {theme.count(stop.rounds)} times" if stop.rounds > 1 else ""
        said = f"Step {at} of {steps}, {stop.call}{often}: {_moves(stop)}."
        stays = [trip.name for trip in stop.trips if trip.where == "cache"]
        if stays:
            said += f" {_list(stays, 'stays', 'stay')} in cache: free."
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


def names_of(stops: Iterable[Stop]) -> list[str]:
    """The arrays of all trips, inputs and temporaries as they come, the result last."""
    seen = dict.fromkeys(trip.name for stop in stops for trip in stop.trips)
    return sorted(seen, key=lambda name: (name == "result") + 2 * (name == REST))


def number(per: float) -> str:
    """Bytes an element as text: ``"8"``, ``"0.0039"``."""
    return plain(per, 3)


def _moves(stop: Stop) -> str:
    """``x is read, tmp1 is written: 16 bytes an element cross the bus``."""
    parts = []
    for way, word in (("read", "read"), ("write", "written")):
        names = [t.name for t in stop.trips if t.way == way and t.where == "memory"]
        if names:
            parts.append(f"{_list(names, 'is', 'are')} {word}")
    if not parts:
        return "no byte crosses the bus"
    per = stop.crossing
    return f"{', '.join(parts)}, {number(per)} byte{'' if per == 1 else 's'} an element"


def _list(names: Sequence[str], does: str, do: str) -> str:
    *first, last = dict.fromkeys(names)
    return f"{', '.join(first)} and {last} {do}" if first else f"{last} {does}"


# From the steps of a golf run to the stops of its picture: a chunk loop makes thousands of NumPy
# calls, and its rounds repeat the same few. So there is one stop a call, its rounds added up.


def story(golf: Any, *, fold: bool = False, most: int = MOST_STOPS, elements: int = 0) -> Story:
    """Read a Golf: its steps as at most ``most`` stops, loops folded (always with ``fold``).

    ``elements``: those of the full run, where only its beginning was traced.

    Raises TypeError for something that is no Golf, ValueError for one without any step.
    """
    hint = "; give one of its .golfs" if hasattr(golf, "golfs") else ""
    _has(golf, "bytes", "minimum", "steps", right=f"what rl.golf returned{hint}")
    if not golf.steps:
        raise ValueError("golf: the function made no NumPy call, so there is nothing to show")
    source = _source(golf)
    fold = fold or len(golf.steps) > MOST_ROWS
    turns = calls(golf.steps) if fold else [[step] for step in golf.steps]
    whole = (elements or golf.elements) / golf.elements
    stops = [_stop(one, golf.elements, source, whole) for one in turns]
    if fold:  # every chunk size has the same temporaries, from tmp1 on
        made = [name for name in names_of(stops) if name.startswith("tmp")]
        stops = _renamed(stops, {name: f"tmp{n}" for n, name in enumerate(made, 1)})
    renamed = learners_names(stops, "".join(source))
    return Story(
        stops=tuple(_few_arrays(_few_stops(_renamed(stops, renamed), most))),
        total=golf.bytes / golf.elements,
        minimum=golf.minimum / golf.elements,
        calls=sum(stop.rounds for stop in stops),
        cache=getattr(golf, "cache", 0),
        renamed=tuple(renamed.items()),
    )


def _has(golf: Any, *names: str, right: str) -> None:
    missing = ", ".join(name for name in names if not hasattr(golf, name))
    if missing:
        raise TypeError(f"golf={golf!r} has no {missing}; pass {right}")


def _source(golf: Any) -> list[str]:
    """The lines of the function that ran; none where Python did not keep them."""
    function = getattr(golf, "function", None)
    while isinstance(function, functools.partial):
        function = function.func
    try:
        return inspect.getsourcelines(inspect.unwrap(function))[0]
    except (OSError, TypeError):
        return []


def _stop(turns: Sequence[Step], elements: int, source: Sequence[str], whole: float) -> Stop:
    """All rounds of one call as one stop, under the names of the first round."""
    step = turns[0]
    trips = tuple(_trip(one, elements) for one in zip(*(turn.operands for turn in turns)))
    if step.line is not None and 0 < step.line <= len(source):
        code = source[step.line - 1].strip()
    else:
        written = ", ".join(trip.name for trip in trips if trip.way == "write") or "…"
        read = ", ".join(dict.fromkeys(trip.name for trip in trips if trip.way == "read"))
        code = f"{written} = {step.call}({read})"
    # A last, smaller piece is a round as well; the last digit of a float is none.
    rounds = math.ceil(len(turns) * whole - 1e-6) if len(turns) > 1 else 1
    return Stop(step.call, code, step.line, rounds, trips)


def _trip(rounds: Sequence[Trip], elements: int) -> ArrayTrip:
    """All rounds of one trip: near even if a first or a last piece of it crosses the bus."""
    crossing = sum(one.moved for one in rounds if one.where == "memory")
    passing = crossing + sum(one.bytes for one in rounds if one.where == "cache")
    near = crossing * A_LITTLE <= passing
    where, moved = ("cache", passing) if near else ("memory", crossing)
    piece = max(one.bytes for one in rounds)
    return ArrayTrip(rounds[0].name, moved / elements, rounds[0].way, where, piece)


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
    names = names_of(stops)
    if len(names) <= MOST_ARRAYS:
        return list(stops)
    rest = {name: REST for name in names[MOST_ARRAYS - 2 :] if name != "result"}
    return [replace(stop, trips=_merge(stop.trips, sum)) for stop in _renamed(stops, rest)]


def _merge(
    trips: Iterable[ArrayTrip], pieces: Callable[[Iterable[int]], int]
) -> tuple[ArrayTrip, ...]:
    """One trip for all of a name, way and place; ``pieces`` says how large a piece they are."""
    alike: dict[tuple[str, str, str], list[ArrayTrip]] = defaultdict(list)
    for trip in trips:
        alike[trip.name, trip.way, trip.where].append(trip)
    return tuple(
        replace(ones[0], per=sum(t.per for t in ones), piece=pieces(t.piece for t in ones))
        for ones in alike.values()
    )


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
    many = Counter([*found.values(), *names_of(stops), REST, "result"])
    return {tmp: name for tmp, name in found.items() if name and many[name] == 1}


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


# The two bars of a chunk sweep: the time measured, and the time that the bytes promise.
#
# The promise starts from one measured time, that of the largest chunk: half the bytes, half the
# time. So both bars agree there, and elsewhere the gap between them is what bytes do not explain.


#: From this gap on the sentence speaks of it; below it lies what timings scatter anyway.
WORTH_SAYING = 1.25
#: How much longer than the largest chunk's bar another may be before it is cut off.
ROOM_TO_GROW = 1.25


@dataclass(frozen=True)
class ChunkStories:
    """Chunk sizes in rising order with their stories, and seconds: measured, expected from bytes.

    Both are empty where nothing was timed: then there are no bars.
    """

    chunks: tuple[int, ...]
    stories: tuple[Story, ...]
    measured: tuple[float, ...]
    expected: tuple[float, ...]

    @property
    def reach(self) -> float:
        """Seconds that both bars have room for: longer ones than the largest chunk's run off."""
        return min(max(*self.measured, *self.expected), ROOM_TO_GROW * self.measured[-1])

    def says(self, at: int) -> tuple[str, str]:
        """The two times in words."""
        return si(self.measured[at], "s"), si(self.expected[at], "s")

    def sentence(self, at: int) -> str:
        """What was measured with this chunk, what the bytes promise, and why they may differ."""
        if not self.measured:
            return f"Chunks of {theme.count(self.chunks[at])}."
        measured, expected = self.says(at)
        said = f"Chunks of {theme.count(self.chunks[at])}: measured {measured}."
        if at == len(self.chunks) - 1:
            return f"{said} Chunks that move half the bytes are expected to take half of it."
        said += f" Expected from the bytes: {expected}."
        gap = self.measured[at] / self.expected[at]
        if gap > WORTH_SAYING:
            calls_made = theme.count(self.stories[at].calls)
            return f"{said} It took {times(gap, 2)} as long: {calls_made} calls take time, too."
        if gap < 1 / WORTH_SAYING:
            return f"{said} It took {times(gap, 2)} as long: a larger cache kept some of them."
        return said


def sweep(given: Any) -> ChunkStories:
    """Read a ChunkSweep, smallest chunk first.

    Raises TypeError for something that is none, ValueError for lengths that differ, a chunk
    that comes twice, times that are not positive, or a run that moved nothing.
    """
    right = "what rl.golf or rooflab.labs.golf.sweep returned"
    _has(given, "chunks", "golfs", "seconds", "elements", right=right)
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
    stories = tuple(story(given.golfs[i], fold=True, elements=given.elements) for i in order)
    if not all(one.total > 0 for one in stories):
        raise ValueError("golf: a run of the sweep moved no byte; take a larger array")
    expected = tuple(seconds[-1] * one.total / stories[-1].total for one in stories if seconds)
    return ChunkStories(tuple(given.chunks[i] for i in order), stories, tuple(seconds), expected)
