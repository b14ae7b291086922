"""What schedules do to an iteration space: their order, and the dependences that they break.

A picture offers skews, tiles and two orders. What each does is counted in advance, by the same
check and the same code as for any other schedule.
"""

from __future__ import annotations

import functools
import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rooflab.labs.loops.legality.verdict import broken

if TYPE_CHECKING:
    from rooflab.labs.loops.nest import Nest

Place = tuple[int, ...]
Point = tuple[int, ...]
Pair = tuple[Point, Point]
ORDERS = ("rows first", "columns first")
MOST_SKEW, MOST_TILE = 2, 4
MOST_COLUMNS = 23  # that a phone has room for


@dataclass(frozen=True)
class Fate:
    """What becomes of the iterations under one schedule.

    ``order``: the iterations as they run. ``broken``: the arrows whose head runs before its tail.
    ``why`` says it of one of them, ``pair``; a legal schedule has none. ``code``: its loops.
    """

    order: tuple[Point, ...]
    broken: frozenset[Pair]
    why: str
    pair: Pair | None
    code: str

    @property
    def legal(self) -> bool:
        """Whether no arrow is broken."""
        return self.pair is None


def direct(nest: Nest) -> tuple[Pair, ...]:
    """The dependences of a nest of one statement, without those that follow from two others."""
    every = nest.untouched().arrows(reassociate=False)
    pairs = {(one.first[1], one.second[1]) for one in every}
    after: dict[Point, set[Point]] = {}
    for first, second in pairs:
        after.setdefault(first, set()).add(second)
    return tuple(
        sorted(
            (first, second)
            for first, second in pairs
            if not any(second in after.get(middle, ()) for middle in after[first])
        )
    )


def fate(nest: Nest, drawn: tuple[Pair, ...]) -> Fate:
    """What the schedule of ``nest`` does, with the arrows that are ``drawn``.

    If any dependence is broken, one of those that :func:`direct` keeps is: a chain of kept ones
    would keep it too.
    """
    known = set(drawn)
    lost = [
        one
        for one in nest.arrows(reassociate=False)
        if not one.ok and (one.first[1], one.second[1]) in known
    ]
    red = frozenset((one.first[1], one.second[1]) for one in lost)
    order = tuple(one.iteration for one in nest.instances())
    why, pair = "", None
    if lost:
        one = lost[0]
        why = broken(nest, one.kind, one.first, one.second, one.cell, one.loop).why
        pair = one.first[1], one.second[1]
    return Fate(order, red, why, pair, nest.code().partition("):\n")[2])


@dataclass(frozen=True)
class Choice:
    """A schedule: j counts ``skew`` times i more, then tiles, then rows or columns first."""

    skew: int
    tile: int
    columns: bool

    def of(self, nest: Nest) -> Nest:
        """The nest in this schedule."""
        i, j = nest.dims("S")
        made = nest.untouched()
        if self.skew:
            made = made.skew(j, i, self.skew)
        if self.columns:
            made = made.interchange(i, j)
        if self.tile > 1:
            made = made.tile(dict.fromkeys((j, i) if self.columns else (i, j), self.tile))
        return made

    def words(self, names: tuple[str, ...]) -> str:
        """The schedule in words; ``names`` are those of the loops."""
        i, j = names
        said = ORDERS[self.columns].capitalize()
        if self.skew:
            said += f", {j} skewed by {times_of(self.skew, i)}"
        return said + (f", in tiles of {self.tile}×{self.tile}" if self.tile > 1 else "")

    def text(self, names: tuple[str, ...]) -> str:
        """The calls that make the schedule."""
        i, j = names
        said = f'.skew("{j}", "{i}", {self.skew})' if self.skew else ""
        said += f'.interchange("{i}", "{j}")' if self.columns else ""
        if self.tile > 1:
            first, second = (j, i) if self.columns else (i, j)
            said += f'.tile({{"{first}": {self.tile}, "{second}": {self.tile}}})'
        return f"nest{said}"


@dataclass(frozen=True)
class Space:
    """The choices that a picture offers, with what each does to the iterations of ``nest``."""

    nest: Nest
    skews: tuple[int, ...]
    tiles: tuple[int, ...]
    arrows: tuple[Pair, ...]
    choices: dict[Place, Choice]
    fates: dict[Place, Fate]


@functools.lru_cache(maxsize=4)
def counted(nest: Nest) -> Space:
    """All choices for a nest of two loops. A nest does not change, so it is counted once."""
    rows, columns = (end - first for first, end in (nest.extents[d] for d in nest.dims("S")))
    arrows = direct(nest)
    leans = [math.ceil((m - n) / (k - h)) for (h, m), (k, n) in arrows if k > h]
    most = min(MOST_SKEW, max(1, *leans, 0)) if rows > 1 else 0  # so much repairs all of them
    fits = max(1, (MOST_COLUMNS - columns) // max(1, rows - 1))
    skews = tuple(range(min(most, fits) + 1))
    tiles = tuple(range(1, min(rows, columns, MOST_TILE) + 1))
    choices: dict[Place, Choice] = {}
    fates: dict[Place, Fate] = {}
    for place in itertools.product(range(len(skews)), range(len(tiles)), range(len(ORDERS))):
        one = choices[place] = Choice(skews[place[0]], tiles[place[1]], place[2] == 1)
        fates[place] = fate(one.of(nest), arrows)
    return Space(nest, skews, tiles, arrows, choices, fates)


def times_of(factor: int, name: str) -> str:
    return name if factor == 1 else f"{factor}·{name}"
