"""A golf round as a picture tells it: stops, the trips made at each, and what has crossed by then.

All bytes here are per element of the largest input, the unit in which 24 and 40 are said.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rooflab.count.si import plain
from rooflab.show import theme

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
