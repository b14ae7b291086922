"""What a schedule does to an iteration space: its order, and the dependences that it breaks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rooflab.labs.loops.legality.verdict import broken

if TYPE_CHECKING:
    from rooflab.labs.loops.nest import Nest

Point = tuple[int, ...]
Pair = tuple[Point, Point]


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
