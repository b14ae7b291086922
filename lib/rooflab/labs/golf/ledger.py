"""The ledger of a traced run: steps, and the trips that each step's arrays make."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rooflab.count.si import plain

# Loops in a list of steps: where the same few come again and again.


LONGEST = 24  # steps in a round


def stretches(keys: Sequence[object]) -> Iterator[tuple[int, int, int]]:
    """Cut ``keys`` into (start, period, rounds): ``rounds`` times the same ``period`` keys.

    What does not repeat is a stretch of period 1 and one round.
    """
    at = 0
    while at < len(keys):
        period, rounds = _repeat(keys, at)
        yield at, period, rounds
        at += period * rounds


def _repeat(keys: Sequence[object], at: int) -> tuple[int, int]:
    """The period that covers most from ``at`` on, and how often it comes; (1, 1) if none does."""
    best = (1, 1)
    for period in range(1, min(LONGEST, (len(keys) - at) // 2) + 1):
        end = at + period
        while end < len(keys) and keys[end] == keys[end - period]:
            end += 1
        rounds = (end - at) // period
        if rounds > 1 and period * rounds > best[0] * best[1]:
            best = (period, rounds)
    return best


A_LITTLE = 20  # a part in so many: the edges of a piece
MOST_ROWS = 12  # of a ledger that a repr prints; a run of more steps is a loop


@dataclass(frozen=True)
class Trip:
    """One array passing by in one step: ``bytes`` that are read or written (``way``).

    ``moved``: those of them that cross the memory bus. What is read crosses it unless the cache
    holds it; what is written crosses it when it leaves the cache, now or later. ``name``: the
    parameter's name, tmp1, tmp2, … for what the function makes, result for what it returns.
    """

    name: str
    bytes: int
    way: str
    moved: int
    shape: tuple[int, ...]
    dtype: str

    @property
    def where(self) -> str:
        """ "memory" where more than a little of it crosses the bus, else "cache"."""
        return "memory" if self.moved * A_LITTLE > self.bytes else "cache"


@dataclass(frozen=True)
class Step:
    """One NumPy call and its trips. ``line`` counts from the function's first line, which is 1."""

    call: str
    operands: tuple[Trip, ...]
    line: int | None

    @property
    def bytes(self) -> int:
        """Bytes of this step that cross the memory bus."""
        return sum(trip.moved for trip in self.operands)


def table(steps: Sequence[Step], elements: int) -> list[str]:
    """Return the steps as lines of text, trips in bytes per element of the largest input.

    The rounds of a loop are added up, a line for each of its calls.
    """
    found = calls(steps) if len(steps) > MOST_ROWS else [[step] for step in steps]
    rows = [_row(number, turns, elements) for number, turns in enumerate(found[:MOST_ROWS], 1)]
    left = [step for turns in found[MOST_ROWS:] for step in turns]
    if left:
        rest = sum(step.bytes for step in left) / elements
        rows.append(f"  … and {len(left):,} more steps, {plain(rest)} B an element")
    return rows


def calls(steps: Sequence[Step]) -> list[Sequence[Step]]:
    """The steps, those of one call in all rounds of a loop together."""
    return [
        steps[start + offset : start + period * rounds : period]
        for start, period, rounds in stretches([_key(step) for step in steps])
        for offset in range(period)
    ]


def _key(step: Step) -> object:
    """What makes two steps rounds of one loop: a temporary may have another number each time."""
    trips = tuple((re.sub(r"^tmp\d+$", "tmp", trip.name), trip.way) for trip in step.operands)
    return step.call, step.line, trips


def _row(number: int, turns: Sequence[Step], elements: int) -> str:
    trips = []
    for place, trip in enumerate(turns[0].operands):
        here = [turn.operands[place] for turn in turns]
        moved = sum(one.moved for one in here)
        near = moved * A_LITTLE <= sum(one.bytes for one in here)
        cost = " (cache)" if near else f" {plain(moved / elements)}"
        trips.append(f"{trip.way} {trip.name}{cost}")
    often = f" ×{len(turns):,}" if len(turns) > 1 else ""
    crossing = plain(sum(turn.bytes for turn in turns) / elements)
    return f"  {number:>3}  {turns[0].call + often:<16} {crossing:>6} B  {', '.join(trips)}"
