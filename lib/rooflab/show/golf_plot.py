"""The golf picture in pixels: lanes, blocks, ledger and bars, placed once for every chunk size.

From top to bottom: memory with the arrays' homes, the bus, the cache, the processor; below them
the ledger, in which every block that crossed the bus stays, as wide as its bytes an element. The
browser blends between these placings; it computes nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from rooflab.show import theme
from rooflab.show.golf_story import Pass, Story, number

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
