"""The ledger of a traced run: steps, and the trips that each step's arrays make."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from rooflab.count.si import plain

CACHE = 32 * 1024
"""Bytes up to which an array counts as cache: what a core's first-level cache holds."""
MOST_ROWS = 12  # of a ledger that a repr prints


@dataclass(frozen=True)
class Trip:
    """One array passing by in one step: ``bytes`` that are read or written (``way``).

    ``where`` is "memory" when they cross the memory bus, "cache" when the array that holds them
    is small enough to stay in the cache. ``name``: the parameter's name, tmp1, tmp2, … for what
    the function makes, result for what it returns.
    """

    name: str
    bytes: int
    way: str
    where: str
    shape: tuple[int, ...]
    dtype: str


@dataclass(frozen=True)
class Step:
    """One NumPy call and its trips. ``line`` counts from the function's first line, which is 1."""

    call: str
    operands: tuple[Trip, ...]
    line: int | None

    @property
    def bytes(self) -> int:
        """Bytes of this step that cross the memory bus."""
        return sum(trip.bytes for trip in self.operands if trip.where == "memory")


def table(steps: Iterable[Step], elements: int) -> list[str]:
    """Return the steps as lines of text, trips in bytes per element of the largest input."""
    steps = tuple(steps)
    rows = [_row(number, step, elements) for number, step in enumerate(steps[:MOST_ROWS], 1)]
    left = steps[MOST_ROWS:]
    if left:
        rest = sum(step.bytes for step in left) / elements
        rows.append(f"  … and {len(left):,} more steps, {plain(rest)} B an element")
    return rows


def _row(number: int, step: Step, elements: int) -> str:
    trips = ", ".join(
        f"{trip.way} {trip.name}"
        + (f" {plain(trip.bytes / elements)}" if trip.where == "memory" else " (cache)")
        for trip in step.operands
    )
    return f"  {number:>3}  {step.call:<14} {plain(step.bytes / elements):>6} B  {trips}"
