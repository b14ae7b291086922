"""A search as it went: what was the fastest after each measurement, and what is said of it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rooflab.count.si import plain, si
from rooflab.labs.loops.language import tree as trees
from rooflab.labs.search.schedules.result import Candidate, Search
from rooflab.predict.roofline import Roofline
from rooflab.show.rooflines.ceiling_lines import LEVELS

MOST = 150  # candidates in a row; of more, every second one is shown, or every third


@dataclass(frozen=True)
class Replay:
    """A search, measurement by measurement.

    ``tried`` are the candidates that were measured. ``fastest`` and ``favourite`` are places in it,
    one for each measurement: what was the fastest then, and what was predicted to be.
    """

    found: Search
    tried: tuple[Candidate, ...]
    fastest: tuple[int, ...]
    favourite: tuple[int, ...]

    @classmethod
    def of(cls, found: Search) -> Replay:
        """The replay of a search. After the last measurement, whole runs have decided."""
        tried = found.measured
        fastest = _least([one.measured for one in tried])
        fastest[-1] = tried.index(found.winner)
        return cls(found, tried, tuple(fastest), tuple(_least([one.predicted for one in tried])))

    @cached_property
    def records(self) -> tuple[tuple[int, int], ...]:
        """After which measurement another candidate became the fastest, and which one."""
        return changes(self.fastest)

    @cached_property
    def names(self) -> dict[int, str]:
        """What was ever the fastest, or predicted to be, in few words."""
        return {
            place: self.found.short(self.tried[place]) if self.tried[place].log else "as written"
            for place in {*self.fastest, *self.favourite}
        }

    @cached_property
    def listings(self) -> dict[int, list[str]]:
        """The loops of what was ever the fastest, a line each, with what runs in them."""
        return {place: _loops(self.found, self.tried[place]) for place in {*self.fastest}}

    @cached_property
    def steps(self) -> list[tuple[int, float]]:
        """Where a candidate was measured faster than all before it, and its FLOP/s."""
        found: list[tuple[int, float]] = []
        for place, rate in enumerate(self.rates):
            if not found or rate > found[-1][1]:
                found.append((place, rate))
        return found

    @cached_property
    def rates(self) -> list[float]:
        """FLOP/s of each candidate as it was measured in its turn."""
        return [self.found.flops / (one.measured or math.nan) for one in self.tried]

    @cached_property
    def promised(self) -> list[float]:
        """FLOP/s of each candidate as predicted, nan for one without a prediction."""
        return [self.found.flops / (one.predicted or math.nan) for one in self.tried]

    def intensity(self, place: int, level: str) -> float:
        """Predicted FLOP per byte of a level, nan where no bytes were predicted."""
        one = self.tried[place]
        return self.found.intensity(one, level) if one.bytes.get(level) else math.nan

    @cached_property
    def final(self) -> str:
        """FLOP/s of the winner in whole runs, "" if there were none."""
        final = self.found.winner.final
        return si(self.found.flops / final, "FLOP/s") if final else ""

    def at(self, number: int) -> int:
        """The place in ``tried`` of the candidate of that number, 1 for the first; or the last."""
        return min(number, len(self.tried)) - 1

    def best(self, number: int) -> int:
        """The place of the fastest of that many candidates."""
        return self.fastest[self.at(number)]

    def hope(self, number: int) -> int:
        """The place of the one that was predicted fastest, of that many candidates."""
        return self.favourite[self.at(number)]

    def over(self, number: int) -> bool:
        """Whether the search is over then, and whole runs have decided."""
        return number >= len(self.tried) and bool(self.final)

    # Words.

    def headline(self, number: int) -> str:
        """How fast the fastest is."""
        if self.over(number):
            return f"fastest in whole runs: {self.final}"
        return f"fastest so far: {si(self.rates[self.best(number)], 'FLOP/s')}"

    def hope_line(self, number: int) -> str:
        """How fast the one is that was predicted to be the fastest."""
        hope = self.hope(number)
        if hope == self.best(number):
            return "predicted fastest so far: the same"
        return f"predicted fastest so far: {si(self.rates[hope], 'FLOP/s')} measured"

    def said(self, number: int) -> str:
        """What was measured last, and what is the fastest."""
        place, best = self.at(number), self.best(number)
        one, promised = self.tried[place], self.promised[place]
        which = f"round {one.round}" if one.log else "as written"
        hoped = "" if math.isnan(promised) else f", predicted {si(promised, 'FLOP/s')}"
        told = (
            f"Candidate {place + 1} of {len(self.tried)}, {which}: "
            f"{si(self.rates[place], 'FLOP/s')}{hoped}."
        )
        if self.over(number):
            return f"{told} Whole runs decide: the fastest is {self.names[best]}, {self.final}."
        if best == place:
            return f"{told} It is the fastest so far."
        rate = si(self.rates[best], "FLOP/s")
        return f"{told} The fastest so far is {self.names[best]}: {rate}."

    def said_of_bytes(self, number: int, level: str, roof: Roofline | None) -> str:
        """What the fastest takes from a level of memory, and what its roof allows there."""
        best = self.best(number)
        intensity = self.intensity(best, level)
        if math.isnan(intensity):
            return "Nothing says how many bytes it takes."
        told = (
            f"It takes {si(self.tried[best].bytes[level], 'B')} from {LEVELS[level]}: "
            f"{plain(intensity, 3)} FLOP/byte"
        )
        if roof is None:
            return f"{told}."
        return f"{told}, where the roof is at {si(roof.attainable(intensity), 'FLOP/s')}."

    def said_of_hope(self, number: int) -> str:
        """What became of the one that was predicted to be the fastest."""
        hope = self.hope(number)
        if hope == self.best(number):
            return "It was predicted to be the fastest, too."
        rate = si(self.rates[hope], "FLOP/s")
        return f"The one predicted fastest is {self.names[hope]}: it reaches {rate}."


def _loops(found: Search, one: Candidate) -> list[str]:
    nest, lines, deep = found.start.replay(one.log), list[str](), 0
    for loop, around in trees.loops(nest.tree):
        deep = len(around)
        lines.append(f"{' ' * deep}{loop.kind} {loop.name} in range({loop.extent}):")
    lines.append(f"{' ' * (deep + 1)}{found.text}")
    return [*lines, *(f"# {name} packed" for name in nest.packed)]


def _least(values: Sequence[float | None]) -> list[int]:
    """The place of the least of the values so far, after each; None is no value."""
    known = np.array([math.inf if one is None else one for one in values])
    lower = known < np.minimum.accumulate([math.inf, *known])[:-1]
    places = np.where(lower, np.arange(len(known)), 0)
    return [int(one) for one in np.maximum.accumulate(places)]


def changes(places: Sequence[int]) -> tuple[tuple[int, int], ...]:
    """Where a row of places changes, and to what; its start is the first change."""
    return tuple((n, one) for n, one in enumerate(places) if n == 0 or one != places[n - 1])


def numbers(replays: Sequence[Replay]) -> tuple[list[int], int]:
    """Which candidates are shown, by number, 1 for the first; and the step between them.

    All that were the fastest so far stay, all that were predicted to be, and the last.
    """
    most = max(len(one.tried) for one in replays)
    step = -(-most // MOST)
    found = {1, *range(step, most + 1, step), *(len(one.tried) for one in replays)}
    for one in replays:
        for places in (one.fastest, one.favourite):
            found |= {place + 1 for place in places}
            found |= {n + 1 for n, _ in changes(places)}
    return sorted(found), step
