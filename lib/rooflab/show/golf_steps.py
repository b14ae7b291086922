"""From the steps of a golf run to the stops of its picture: loops folded, long runs cut short.

A chunk loop makes thousands of NumPy calls; its rounds repeat the same few, so they are folded:
one stop a call, its bytes summed over the rounds.
"""

from __future__ import annotations

import functools
import inspect
import math
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from rooflab.golf.ledger import A_LITTLE
from rooflab.golf.rounds import stretches
from rooflab.show.golf_story import REST, Pass, Stop, Story

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
