"""Names at marks: each stands so that it can be the name of no other mark.

A name stands beside its mark, or at the end of a thin line to it. It is nearer to its own mark than
to any other. No line passes through another mark, and names of marks above each other have their
order. Where there is no such place, a mark has no name.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from rooflab.show import labels
from rooflab.show.labels import DETOUR, UNNAMED, Box, Point, Room, apart, around, overlap, width

TRIES = 40  # orders in which names are placed, of which the best is kept
NEARER = 1.3  # how many times as far away any other mark is, for a name without a line
AWAY = 24  # pixels between a name with a line and any other mark
CLEAR = 12  # pixels between a thin line and the middle of any other mark
TOUCHING = 16  # pixels between the middles of two marks that touch: no name tells them apart
COLUMN = 30  # pixels across within which marks stand above each other
LEVEL = 4  # pixels up or down within which marks stand side by side
LINE = 14  # how much worse a name with a line is than one beside its mark
FAR = (30, 40, 50, 65, 80, 100, 120, 145, 170, 200, 235)
TURNS = (1, 0.5, 2, 0, -1, 3, 4, -2, -3, -4, 5, 6, 7, 7.5, 8, -5, -6, -7)

Line = list[list[float]]


@dataclass(frozen=True)
class Name:
    """A text, the mark that it belongs to, and what else may be near: ``also``."""

    text: str
    own: Point
    also: Sequence[Point] = ()


@dataclass(frozen=True)
class Place:
    """Where a name may stand: the middle of its baseline, its box, and its line, if it has one."""

    cost: float
    at: list[float]
    box: Box
    lead: Line | None = None


def put_names(
    room: Room, names: Sequence[Name], lines: bool = True, strips: Sequence[Box] = ()
) -> list[Place | None]:
    """Place every name in the order that works best; None where there is no place.

    ``lines``: whether a name may stand at the end of a thin line. ``strips``: where no name stands,
    but a line may pass.
    """
    sight = Room(room.frame, [*room.taken])
    room.taken += strips
    every = [_places(room, sight if lines else None, name) for name in names]
    best: tuple[float, list[Place | None]] = (math.inf, [])
    for order in _orders([name.own for name in names]):
        found: list[Place | None] = [None] * len(names)
        for n in order:
            others = [(names[i].own, one) for i, one in enumerate(found) if one]
            own = names[n].own
            fits = (p for p in every[n] if all(_agree(own, p, *other) for other in others))
            found[n] = next(fits, None)
        cost = sum(one.cost if one else UNNAMED for one in found)
        if cost < best[0]:
            best = cost, found
    for one in (one for one in best[1] if one):
        room.taken.append(one.box)
        room.add_line(one.lead or [])
    return best[1]


def lead_of(at: Point, half: float, own: Point) -> Line:
    """The line from words to their mark, ending 10 pixels before the mark's middle."""
    x = min(max(own[0], at[0] - half), at[0] + half)
    y = at[1] - 5 if x != own[0] else at[1] + (6 if at[1] < own[1] else -16)
    dx, dy = own[0] - x, own[1] - y
    share = max(0.0, 1 - 10 / max(math.hypot(dx, dy), 10))
    return [[x, y], [x + share * dx, y + share * dy]]


def rings(x: float, y: float) -> list[tuple[float, float]]:
    """Places around (x, y), nearer ones first."""
    return [
        (x + 1.6 * far * math.cos(math.pi * turn / 8), y - far * math.sin(math.pi * turn / 8))
        for far in FAR for turn in TURNS
    ]  # fmt: skip


def _places(room: Room, sight: Room | None, name: Name) -> list[Place]:
    """Every place for a name that is free, the best one first; ``sight``: what stops a line."""
    others = [
        mark for mark in room.markers
        if math.dist(mark, name.own) > TOUCHING and mark not in name.also
    ]  # fmt: skip
    found = [*_beside(room, name, others), *(_at_lines(room, sight, name, others) if sight else ())]
    lines = np.array(room.lines).reshape(-1, 4)
    places = [replace(one, cost=one.cost + labels.overlaps(one.box, lines)) for one in found]
    return sorted((one for one in places if one.cost < UNNAMED), key=lambda one: one.cost)


def _beside(room: Room, name: Name, others: Sequence[Point]) -> Iterator[Place]:
    (x, y), half = name.own, width(name.text) / 2 + 13
    spots = [
        (x + half, y + 5), (x - half, y + 5), (x, y - 14), (x, y + 26),
        (x + half - 4, y - 15), (x + half - 4, y + 24),
        (x - half + 4, y - 15), (x - half + 4, y + 24),
    ]  # fmt: skip
    for number, at in enumerate(spots):
        box = box_at(name.text, *at)
        far = NEARER * apart(box, name.own)
        if not room.hindered([box]) and all(apart(box, mark) > far for mark in others):
            yield Place(DETOUR * number, [round(v, 1) for v in at], box)


def _at_lines(room: Room, sight: Room, name: Name, others: Sequence[Point]) -> Iterator[Place]:
    half = width(name.text) / 2 + 4
    for number, at in enumerate(rings(*name.own)):
        box, lead = box_at(name.text, *at), lead_of(at, half, name.own)
        if room.hindered([box]) or any(apart(box, mark) < AWAY for mark in others):
            continue
        far = (math.dist(s, mark[:2]) > CLEAR for s in _along(lead) for mark in others)
        if all(far) and sight.sees(lead[0], name.own):
            yield Place(LINE + 0.2 * DETOUR * number, [round(v, 1) for v in at], box, lead)


def box_at(text: str, x: float, y: float) -> Box:
    """The box of ``text`` with the middle of its baseline there."""
    half = width(text) / 2 + 3
    return x - half, y - 14, x + half, y + 5


def _agree(own: Point, place: Place, other: Point, taken: Place) -> bool:
    """Whether two names keep apart, and stand in the order of their marks."""
    if overlap(place.box, taken.box):
        return False
    column = abs(own[0] - other[0]) < COLUMN and abs(own[1] - other[1]) > LEVEL
    if column and (own[1] - other[1]) * (place.at[1] - taken.at[1]) < 0:
        return False
    for lead, words in ((place.lead, taken), (taken.lead, place)):
        near = _along(lead) if lead and overlap(around(*lead), words.box) else ()
        if any(overlap((x - 2, y - 2, x + 2, y + 2), words.box) for x, y in near):
            return False
    return not (place.lead and taken.lead and _cross(place.lead, taken.lead))


def _along(lead: Line) -> list[tuple[float, float]]:
    (x0, y0), (x1, y1) = lead
    return [(x0 + s * (x1 - x0) / 20, y0 + s * (y1 - y0) / 20) for s in range(21)]


def _cross(a: Line, b: Line) -> bool:
    def turn(p: Point, q: Point, r: Point) -> float:
        return (q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0])

    (p, q), (r, s) = a, b
    return turn(p, q, r) * turn(p, q, s) < 0 and turn(r, s, p) * turn(r, s, q) < 0


def _orders(places: Sequence[Point]) -> list[list[int]]:
    """Orders in which to place names: along each axis, both ways, and some at random."""
    whole = list(range(len(places)))
    sorts = [
        sorted(whole, key=lambda i: side * places[i][axis]) for axis in (0, 1) for side in (-1, 1)
    ]
    dice = random.Random(0)  # the same picture every time
    return sorts + [dice.sample(whole, len(whole)) for _ in range(TRIES)]
