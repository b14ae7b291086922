"""Chases: random cycles through the cache lines of a working set, and the time of one hop.

Each line holds the address of the next one. The order is random, so no prefetcher can guess it,
and each load has to wait for the one before it. A cache line has room for several addresses, 8 of
64 bytes, so several cycles can share the same memory, each in a *lane* of its own.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from rooflab.measure.operands import HUGE_PAGE
from rooflab.measure.roof_kernels import chase_hops, chase_kernel
from rooflab.measure.threads import Crew, Job

ADDRESS = 8  # bytes
SMAPS = Path("/proc/self/smaps")


def cycle(lines: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """(order, after): the lines in the order of one random cycle, and the line after each line."""
    order = rng.permutation(lines)
    after = np.empty(lines, np.int64)
    after[order] = np.roll(order, -1)
    return order, after


@dataclass(frozen=True)
class Place:
    """Where in the store of a thread a cycle lies: ``lines`` lines from ``offset`` bytes on."""

    lines: int
    lane: int = 0
    offset: int = 0


def places(lines: Sequence[int], line: int) -> tuple[tuple[Place, ...], int]:
    """A place for a cycle of each length, and the bytes of store that they need together.

    The longest is placed first, each one in the first lane that has room for it.
    """
    lanes, length = line // ADDRESS, max(lines)
    while True:
        used = [0] * lanes
        found: dict[int, Place] = {}
        for number in sorted(range(len(lines)), key=lambda i: -lines[i]):
            lane = next((i for i in range(lanes) if used[i] + lines[number] <= length), None)
            if lane is None:
                break
            found[number] = Place(lines[number], lane, used[lane] * line)
            used[lane] += lines[number]
        if len(found) == len(lines):
            return tuple(found[i] for i in range(len(lines))), length * line
        length += -(-length // 4)


def lay(store: np.ndarray, place: Place, line: int, chains: int, seed: int) -> np.ndarray:
    """Write a cycle into ``store`` (uint8); the addresses on which ``chains`` chases begin.

    They stand at equal distances along the same cycle, so that none follows close to another.
    """
    order, after = cycle(place.lines, np.random.default_rng(seed))
    rows = store[place.offset : place.offset + place.lines * line].view(np.int64)
    first = store.ctypes.data + place.offset + ADDRESS * place.lane
    rows.reshape(place.lines, -1)[:, place.lane] = first + after * line
    begin = order[np.arange(chains) * place.lines // chains]
    starts: np.ndarray = first + begin * line
    return starts


class Chases:
    """The same number of chases on every thread of a crew; each call goes on where one ended."""

    def __init__(self, starts: Sequence[np.ndarray]) -> None:
        self._at = [np.ascontiguousarray(start, np.int64) for start in starts]
        self.chains = len(self._at[0])
        self.hops = chase_hops(self.chains)
        self._kernel = chase_kernel(self.chains)

    def jobs(self, turns: int) -> list[Job]:
        """``turns`` times ``hops`` hops of each chase."""
        return [(self._kernel, (at.ctypes.data, turns)) for at in self._at]

    def hop_s(self, crew: Crew, hops: int) -> float:
        """Seconds of a hop, over ``hops`` hops or a few more of each chase."""
        turns = -(-hops // self.hops)
        return crew.time(self.jobs(turns)) / (turns * self.hops)


def huge_page_share(store: np.ndarray, smaps: Path = SMAPS) -> float | None:
    """The share of ``store`` that lies in huge pages; None where the system does not tell.

    Linux lists for each piece of a program's memory how much of it is in huge pages.
    """
    first = store.ctypes.data
    try:
        text = smaps.read_text()
    except OSError:
        return None
    piece = r"^([0-9a-f]+)-([0-9a-f]+) .*?^AnonHugePages:\s+(\d+) kB"
    whole = store.nbytes // HUGE_PAGE * HUGE_PAGE
    if not whole:
        return None
    huge, seen = 0, False
    for low, high, kib in re.findall(piece, text, re.M | re.S):
        if int(low, 16) < first + whole and int(high, 16) > first:
            huge, seen = huge + 1024 * int(kib), True
    return min(1.0, huge / whole) if seen else None
