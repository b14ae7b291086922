"""Walks through a working set: chases and streams, timed after an untimed lead-in.

A chase follows addresses: each cache line holds the address of the next one. The order is random,
so no prefetcher can guess it, and each load has to wait for the one before it. A cache line has
room for several addresses, 8 in 64 bytes. So several cycles can share the same memory, each in a
*lane* of its own.

A stream runs through its data in order, with the loops that measure the roofs.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from rooflab.count.si import rounded
from rooflab.measure.operands import HUGE_PAGE, aligned
from rooflab.measure.roof_kernels import (
    MIXES,
    chase_hops,
    chase_kernel,
    host,
    stream_block,
    stream_kernel,
)
from rooflab.measure.roofs import SKEW
from rooflab.measure.settings import briefer, fewer
from rooflab.measure.threads import Crew, Job

ADDRESS = 8  # bytes
SMAPS = Path("/proc/self/smaps")
SLICE = 1.5e-3  # seconds of a timed walk: thousands of timer ticks, short beside a scheduler's turn
LEAD_S = briefer(0.06)  # seconds of an untimed walk at most
SETTLED = 0.97  # of the best time so far: a round that saves less than that counts as no faster
PATIENCE = 3  # rounds in turn that are no faster end the untimed walk
FIRST_TURNS = 128  # of the very first walk, whose speed nobody knows yet
ROUNDS, FEWEST = 12, fewer(3)
BLOCK = 1 << 21  # lines that are shuffled together: 128 MiB
KEPT = 4  # digits of a sample
SPARE = 1 << 16  # bytes that a store has beyond what is walked


@dataclass
class Walk:
    """What is walked, how far each time, and the samples so far.

    ``jobs(passes)`` is the work of each thread. One pass does ``amount`` (bytes or hops), ``whole``
    passes go once through the working set. A stream is sampled in byte/s, a chase (``rate`` False)
    in seconds of a hop. ``memory`` is what the addresses of the jobs point into: it must live.
    """

    jobs: Callable[[int], list[Job]]
    amount: float
    whole: int
    rate: bool
    memory: Sequence[np.ndarray]
    passes: int = 1
    pass_s: float = 0.0
    samples: list[float] = field(default_factory=list)

    def start(self, crew: Crew) -> None:
        """Find out how long a pass takes, and how many make a timed walk."""
        passes, seconds = min(self.whole, FIRST_TURNS), 0.0
        while seconds < SLICE / 4:
            seconds = crew.time(self.jobs(passes))
            self.pass_s, passes = max(seconds / passes, 1e-10), 8 * passes
        self.passes = max(1, int(SLICE / self.pass_s))

    def visit(self, crew: Crew) -> None:
        """Walk untimed until the caches have settled, then timed."""
        self._lead_in(crew)
        seconds = max(crew.time(self.jobs(self.passes)), 1e-8)
        value = self.amount * self.passes / seconds
        self.samples.append(rounded(value if self.rate else 1 / value, KEPT))
        self.pass_s = seconds / self.passes
        self.passes = max(1, min(int(SLICE / self.pass_s), 100 * self.passes))

    def _lead_in(self, crew: Crew) -> None:
        """Go round the working set until that gets no faster, for LEAD_S seconds at most.

        Once round is not enough. Some caches keep what is new to them only when it comes back, and
        a last-level cache of that kind needs five rounds and more before it serves all that it can,
        and the first of them need not be faster than the one before.
        And what is written reaches memory later: in the end as much of it is written back as is
        left behind.
        """
        if not self.pass_s:
            self.start(crew)
        best, spent, slow = math.inf, 0.0, 0
        while spent < LEAD_S and slow < PATIENCE:
            lead = max(1, min(self.whole, int((LEAD_S - spent) / max(self.pass_s, 1e-9))))
            seconds = crew.time(self.jobs(lead))
            spent, self.pass_s = spent + seconds, seconds / lead
            slow = 0 if self.pass_s < SETTLED * best else slow + 1
            best = min(best, self.pass_s)


def rounds(walks: Sequence[Walk], crew: Crew, budget: float, tell: Callable[[float], None]) -> None:
    """Visit all walks, round after round, for ``budget`` seconds, or FEWEST to ROUNDS rounds."""
    for walk in walks:
        walk.start(crew)
    began = time.perf_counter()
    for number in range(ROUNDS):
        for walk in walks:
            walk.visit(crew)
        spent = (time.perf_counter() - began) / budget
        tell(max(min(spent, 1.0), (number + 1) / ROUNDS))
        if spent > 1 and number + 1 >= FEWEST:
            return


# Streams.


def stores_of(nbytes: int, crew: Crew) -> list[np.ndarray]:
    """Memory for each worker of ``crew``, filled by that worker, to lie near it."""
    stores = [aligned(nbytes + SPARE) for _ in range(crew.size)]
    crew.run([(store.fill, (1,)) for store in stores])
    return stores


def read(nbytes: int, stores: Sequence[np.ndarray]) -> Walk:
    """Read ``nbytes`` of each store, whatever stands there."""
    return _stream("read", nbytes, stores, stores)


def copy(nbytes: int, stores: Sequence[np.ndarray], others: Sequence[np.ndarray]) -> Walk:
    """Copy half of ``nbytes`` from each store to the other one: both halves are walked."""
    return _stream("copy", nbytes // 2, stores, others)


def _stream(mix: str, nbytes: int, xs: Sequence[np.ndarray], ys: Sequence[np.ndarray]) -> Walk:
    kernel, block = stream_kernel(mix), stream_block(host())
    part = max(block, nbytes // block * block)
    ends = [(x.ctypes.data, y.ctypes.data + SKEW) for x, y in zip(xs, ys)]

    def jobs(passes: int) -> list[Job]:
        return [(kernel, (x, y, part, passes, 1.0, 0.0)) for x, y in ends]

    return Walk(jobs, sum(MIXES[mix]) * part * len(ends), 1, True, (*xs, *ys))


# Chases.


def cycle(lines: int, rng: np.random.Generator) -> np.ndarray:
    """All lines in the order of one random cycle.

    Up to BLOCK lines any order may come. More lines are visited block by block, or shuffling them
    would take longer than measuring. A block's order is that of the first one, its line numbers
    with some bits turned over, so that no two are alike. No prefetcher remembers that many steps.
    """
    first = rng.permutation(np.arange(min(lines, BLOCK), dtype=np.int64))
    whole, rest = divmod(lines, BLOCK)
    if not whole:
        return first
    turned = rng.integers(0, BLOCK, whole)[:, None]
    at = BLOCK * rng.permutation(whole)[:, None]
    order = [(at + (first ^ turned)).ravel(), lines - rest + rng.permutation(rest)]
    return np.concatenate(order)


@dataclass(frozen=True)
class Place:
    """Where in a store a cycle lies: ``lines`` lines from ``offset`` bytes on, in one lane."""

    lines: int
    lane: int = 0
    offset: int = 0


def places(lines: Sequence[int], line: int) -> tuple[tuple[Place, ...], int]:
    """A place for a cycle of each length, and the bytes of store that they need together.

    The longest is placed first, each one in the first lane that has room for it.
    """
    length = max(lines)
    while True:
        used = [0] * (line // ADDRESS)
        found: dict[int, Place] = {}
        for number in sorted(range(len(lines)), key=lambda i: -lines[i]):
            room = (lane for lane, taken in enumerate(used) if taken + lines[number] <= length)
            lane = next(room, None)
            if lane is None:
                break
            found[number] = Place(lines[number], lane, used[lane] * line)
            used[lane] += lines[number]
        if len(found) == len(lines):
            return tuple(found[i] for i in range(len(lines))), length * line
        length += -(-length // 4)


def lay(store: np.ndarray, place: Place, line: int, seed: int) -> np.ndarray:
    """Write a cycle into ``store`` (uint8); the addresses of its lines, in the cycle's order."""
    order = cycle(place.lines, np.random.default_rng(seed))
    rows = store[place.offset : place.offset + place.lines * line].view(np.int64)
    addresses: np.ndarray = store.ctypes.data + place.offset + ADDRESS * place.lane + order * line
    rows.reshape(place.lines, -1)[order, place.lane] = np.roll(addresses, -1)
    return addresses


def laid(
    stores: Sequence[np.ndarray], place: Place, line: int, seed: int, crew: Crew
) -> list[np.ndarray]:
    """:func:`lay` by every worker in its own store, so that the memory lies near its user."""
    found = [np.empty(0, np.int64)] * len(stores)

    def work(number: int) -> None:
        found[number] = lay(stores[number], place, line, seed)

    crew.run([(work, (number,)) for number in range(len(stores))])
    return found


def chase(stores: Sequence[np.ndarray], cycles: Sequence[np.ndarray], chains: int = 1) -> Walk:
    """``chains`` chases side by side in every store; ``cycles``: what :func:`lay` gave for each.

    They begin at equal distances along the same cycle, so that none follows close to another. Each
    walk goes on where the last one ended.
    """
    lines, hops, kernel = len(cycles[0]), chase_hops(chains), chase_kernel(chains)
    at = [one[np.arange(chains) * lines // chains] for one in cycles]

    def jobs(turns: int) -> list[Job]:
        return [(kernel, (each.ctypes.data, turns)) for each in at]

    return Walk(jobs, hops, max(1, lines // (hops * chains)), False, stores)


def huge_page_share(store: np.ndarray, smaps: Path = SMAPS) -> float | None:
    """The share of ``store`` that lies in huge pages; None where the system does not tell.

    Linux lists for each piece of a program's memory how much of it is in huge pages.
    """
    first, whole = store.ctypes.data, store.nbytes // HUGE_PAGE * HUGE_PAGE
    try:
        text = smaps.read_text()
    except OSError:
        return None
    huge, seen = 0, False
    piece = r"^([0-9a-f]+)-([0-9a-f]+) .*?^AnonHugePages:\s+(\d+) kB"
    for low, high, kib in re.findall(piece, text, re.M | re.S):
        if int(low, 16) < first + whole and int(high, 16) > first:
            huge, seen = huge + 1024 * int(kib), True
    return min(1.0, huge / whole) if seen and whole else None
