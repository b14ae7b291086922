"""A golf round as a picture tells it: stops, the trips made at each, and what has crossed by then.

A chunk loop makes thousands of NumPy calls; its rounds repeat the same few, so they are folded:
one stop a call, its bytes summed over the rounds. All bytes here are per element of the largest
input, the unit in which 24 and 40 are said.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rooflab.count.si import plain, times

#: Up to so many steps each is its own stop; a longer run is a loop and is folded.
SHORT = 12
#: More stops than this do not fit on a slider or a page: the rest becomes one.
MOST_STOPS = 40
MOST_ARRAYS = 7
REST = "others"


@dataclass(frozen=True)
class Pass:
    """One array's way at one stop: ``per`` bytes an element, to ("write") or from ("read") its home.

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
        often = f", {stop.rounds:,} times, one chunk each" if stop.rounds > 1 else ""
        said = f"Step {at} of {steps}, {stop.call}{often}: {_moves(stop)}."
        stays = [trip.name for trip in stop.trips if trip.where == "cache"]
        if stays:
            said += f" {_list(stays)} stay{'s' if len(set(stays)) == 1 else ''} in cache: free."
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
        ratio = times(self.total / self.minimum)
        return f"In all {total} bytes an element, {ratio} the least possible {least}."


def number(per: float) -> str:
    """Bytes an element as text: ``"8"``, ``"0.0039"``."""
    return plain(per, 3)


def story(golf: Any, *, fold: bool = False, most: int = MOST_STOPS) -> Story:
    """Read a Golf: its steps as at most ``most`` stops, loops folded (always with ``fold``).

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
    stops = [_stop(step, elements) for step in steps]
    if fold or len(stops) > SHORT:
        stops = folded(stops)
    stops = _few_arrays(_few_stops(stops, most))
    return Story(tuple(stops), golf.bytes / elements, golf.minimum / elements, len(steps))


def folded(stops: Sequence[Stop]) -> list[Stop]:
    """Fold every stretch in which the same calls on the same kinds of array repeat."""
    keys = [_key(stop) for stop in stops]
    done, at = [], 0
    while at < len(stops):
        period, rounds = _repeat(keys, at)
        body = stops[at : at + period]
        for offset in range(period):
            turns = [stops[at + offset + period * turn] for turn in range(rounds)]
            done.append(_sum(turns) if rounds > 1 else body[offset])
        at += period * rounds
    return done


def _repeat(keys: Sequence[object], at: int, longest: int = 24) -> tuple[int, int]:
    """The period that covers most from ``at`` on, and how often it comes; (1, 1) if none does."""
    best = (1, 1)
    for period in range(1, min(longest, (len(keys) - at) // 2) + 1):
        end = at + period
        while end < len(keys) and keys[end] == keys[end - period]:
            end += 1
        rounds = (end - at) // period
        if rounds > 1 and period * rounds > best[0] * best[1]:
            best = (period, rounds)
    return best


def _key(stop: Stop) -> object:
    trips = tuple((re.sub(r"^tmp\d+$", "tmp", trip.name), trip.way) for trip in stop.trips)
    return stop.call, stop.line, stop.code, trips


def _sum(turns: Sequence[Stop]) -> Stop:
    """All rounds of one call as one stop, under the names of the first round."""
    first = turns[0]
    trips = []
    for place, trip in enumerate(first.trips):
        all_of_it = [turn.trips[place] for turn in turns]
        inside = [one for one in all_of_it if one.where == "memory"]
        where = "memory" if inside else "cache"  # the last chunk may be smaller than the others
        trips.append(replace(trip, where=where, per=sum(one.per for one in inside or all_of_it)))
    return replace(first, rounds=sum(turn.rounds for turn in turns), trips=tuple(trips))


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
    return max((_count(trip.shape) for step in golf.steps for trip in step.operands), default=1)


def _count(shape: Sequence[int]) -> int:
    return max(1, int(np.prod(shape, dtype=np.int64)))


def _stop(step: Any, elements: float) -> Stop:
    trips = []
    for trip in step.operands:
        moved = trip.bytes or _count(trip.shape) * np.dtype(trip.dtype).itemsize
        trips.append(Pass(trip.name, moved / elements, trip.way, trip.where))
    written = [trip.name for trip in trips if trip.way == "write"]
    read = ", ".join(dict.fromkeys(trip.name for trip in trips if trip.way == "read"))
    code = getattr(step, "code", "") or f"{', '.join(written) or '…'} = {step.call}({read})"
    return Stop(step.call, code.strip(), step.line, 1, tuple(trips))


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
