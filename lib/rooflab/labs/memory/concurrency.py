"""Concurrency: how many cache lines a core keeps in flight, and what that makes of its bandwidth.

A core that waits for one line at a time gets a line every latency. With k lines in flight it gets k
of them in that time, until it has no place left to note what it waits for: its *line-fill buffers*
are full. Little's law (Little 1961) says it for anything that waits: what is under way = rate x
time under way. For a memory: lines in flight = bandwidth x latency / bytes of a line.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from rooflab.count.si import plain, several, si, times
from rooflab.count.validation import size, unknown
from rooflab.labs.memory.walks import Place, chase, huge_page_share, laid, read, rounds, stores_of
from rooflab.measure.backend import cpu_name, host_id, now, power, select
from rooflab.measure.caches import (
    FALLBACK,
    Level,
    beyond_caches,
    cache_levels,
    cache_sizes,
    line_bytes,
    sharers,
)
from rooflab.measure.measure import on_battery
from rooflab.measure.operands import affordable, available_bytes
from rooflab.measure.progress import Progress, progress_bar
from rooflab.measure.roofs import thread_count
from rooflab.measure.settings import briefer
from rooflab.measure.threads import Crew, with_threads
from rooflab.measure.timing import MEASUREMENT_LOCK, iqr, quickest, robust_peak, undisturbed
from rooflab.optional import installed

CHAINS = (1, 2, 4, 8, 16, 24, 32, 48, 64, 96, 128)
MOST_CHAINS = 128
BUDGET = briefer(2.0)  # seconds of rounds for each number of threads, after the first three
GROWS = 1.08  # times: chases that gain less have found the buffers full
FURTHER = 1.15  # times: a rate that is this much higher is called higher
NOISY = 0.1
REGISTERS = 12  # chases that a processor's registers hold; more of them live in its L1


@dataclass(frozen=True)
class Run:
    """What one number of threads reached.

    ``hops[i]``: samples for ``chains[i]`` chases on each thread, seconds from one hop of a chase to
    its next. ``read``: samples of a stream that reads, byte/s of all threads together.
    """

    threads: int
    hops: tuple[tuple[float, ...], ...]
    read: tuple[float, ...]

    def __post_init__(self) -> None:
        for value in itertools.chain(self.read, *self.hops):
            if not 0 < value < math.inf:
                raise ValueError(f"a sample of {value} is no time of a hop and no rate")

    @property
    def hop_s(self) -> tuple[float, ...]:
        """Seconds of a hop for each number of chases: noise only slows, so the fastest count."""
        return tuple(quickest(row) for row in self.hops)

    @property
    def stream(self) -> float:
        """Byte/s of reading in order."""
        return robust_peak(self.read)


@dataclass(frozen=True, repr=False)
class Concurrency:
    """Chases side by side and a stream on one level, as :func:`concurrency` measured them.

    Each of a run's threads follows ``chains`` chases through ``nbytes`` of its own. ``latency`` is
    seconds of a hop while nothing else is in flight, ``bandwidth`` byte/s of one thread's chases,
    whole lines counted, ``most`` the lines in flight that one core's chases reach.

    >>> from rooflab.labs.memory.concurrency import Concurrency, Run
    >>> core = Run(1, hops=((1e-7,), (1e-7,), (2e-7,)), read=(12.8e9,))
    >>> found = Concurrency("dram", 2**28, (1, 8, 16), (core,))
    >>> found.most, found.lines(12.8e9)
    (8.0, 20.0)
    """

    level: str
    nbytes: int
    chains: tuple[int, ...]
    runs: tuple[Run, ...]
    line: int = 64
    machine: str = ""
    name: str = ""
    measured_on: str = ""
    warnings: tuple[str, ...] = ()

    @property
    def core(self) -> Run:
        """The run of one thread."""
        return self.runs[0]

    @property
    def latency(self) -> float:
        """Seconds of a hop while nothing else is in flight."""
        return self.core.hop_s[0]

    @cached_property
    def bandwidth(self) -> np.ndarray:
        """Byte/s of one thread's chases, one for each number of chases."""
        rates: np.ndarray = np.array(self.chains) * self.line / np.array(self.core.hop_s)
        rates.flags.writeable = False
        return rates

    @property
    def most(self) -> float:
        """Lines in flight that one core's chases reach, by Little's law."""
        return self.lines(float(self.bandwidth.max()))

    @property
    def full(self) -> float:
        """Byte/s that the level was seen to give: all threads read in order."""
        return max(run.stream for run in self.runs)

    def lines(self, rate: float) -> float:
        """Lines that have to be in flight for ``rate`` (byte/s) at the latency of a lone hop."""
        return rate * self.latency / self.line

    @property
    def sentences(self) -> tuple[str, ...]:
        """What the figures say, chosen by them."""
        alone = float(self.bandwidth[0])
        first = (
            f"A lone chase waits {si(self.latency, 's')} for each line of {self.line} bytes: "
            f"{si(alone, 'B/s')}."
        )
        return (first, self._chases(), self._stream(), self._together())

    def _chases(self) -> str:
        rates = self.bandwidth
        best = int(np.argmax(rates >= rates.max() / GROWS))  # the fewest chases that are enough
        reached = float(rates[best])
        gain = (
            f"{several(self.chains[best], 'chase')} side by side reach {si(reached, 'B/s')}, "
            f"{times(reached / float(rates[0]), 2)} of that"
        )
        # beside all before it: after a dip the last number would seem to gain
        if len(rates) > 1 and rates[-1] >= GROWS * rates[:-1].max():
            return (
                f"{gain}, and their number still pays: this core keeps more than "
                f"{plain(self.most, 2)} lines in flight."
            )
        return (
            f"{gain}; more of them gain little. So about {plain(self.most, 2)} lines are in flight "
            "when the core has no more places to note what it waits for, or the way to this level "
            "is full."
        )

    def _stream(self) -> str:
        rate = self.core.stream
        said = f"Reading in order, the same core reaches {si(rate, 'B/s')}"
        if rate < FURTHER * self.bandwidth.max():
            return f"{said}: its prefetchers get no further than the chases did."
        return (
            f"{said}, as {plain(self.lines(rate), 2)} lines in flight would give. The core's "
            "prefetchers see what comes next, and ask for it beside."
        )

    def _together(self) -> str:
        if len(self.runs) == 1:
            wanted = plain(self.lines(self.full), 2)
            return (
                f"Little's law: {si(self.full, 'B/s')} x {si(self.latency, 's')} / {self.line} B = "
                f"{wanted} lines."
            )
        together = self.runs[-1]
        alone = max(self.core.stream, float(self.bandwidth.max()))  # chases may get further
        reach = f"{together.threads} cores together reach {si(together.stream, 'B/s')}"
        if together.stream < FURTHER * alone:
            return f"{reach}: one core alone already gets what the level gives."
        return (
            f"{reach}. By Little's law that needs {plain(self.lines(together.stream), 2)} lines in "
            f"flight, {times(together.stream / alone)} of what one core manages. So one core alone "
            "cannot have it."
        )

    def __repr__(self) -> str:
        head = (
            f"concurrency of {self.name or 'a machine'} on {self.level} "
            f"({si(self.nbytes, 'B')} for each thread)"
        )
        rows = [
            f"  {with_threads('', run.threads)[2:]:>10}: {several(k, 'chase'):>9}, a hop "
            f"{si(hop, 's'):>7}, {si(run.threads * k * self.line / hop, 'B/s'):>9}"
            for run in self.runs
            for k, hop in zip(self.chains, run.hop_s)
        ]
        warned = [f"  warning: {' '.join(text.split())}" for text in self.warnings]
        return "\n".join([head, *rows, *(f"  {one}" for one in self.sentences), *warned])


@installed("rooflab.memory.concurrency")
def concurrency(
    level: str = "dram",
    chains: Sequence[int] = CHAINS,
    *,
    threads: int | None = None,
    progress: Progress = True,
) -> Concurrency:
    """Measure chases side by side, and a stream, with one thread and with several.

    Parameters
    ----------
    level : str, optional
        "dram" (default) or a cache that the system tells of: "l1", "l2", "l3".
    chains : sequence of int, optional
        Chases side by side on each thread, increasing from 1 to at most 128.
    threads : int, optional
        CPU threads of the second run; None, the default, for every core that this process may use,
        1 for no second run.
    progress : bool or callable, optional
        True (default) draws a progress bar, False nothing. A function is called with the share
        done, 0 to 1.

    Returns
    -------
    Concurrency
        Seconds of a hop, bandwidths, lines in flight, and sentences that say what they mean.

    Examples
    --------
    >>> found = rl.memory.concurrency("l1", chains=(1, 2), threads=1, progress=False)
    >>> found.chains, found.latency > 0
    ((1, 2), True)
    """
    counts, crew_size = chases(chains), thread_count(threads)
    sets = {n: _working_set(level, n) for n in sorted({1, crew_size})}
    with MEASUREMENT_LOCK, progress_bar(progress, "measuring concurrency") as tell:
        runs, huge = [], []
        for number, (crew, nbytes) in enumerate(sets.items()):

            def part(share: float, number: int = number) -> None:
                tell((number + share) / len(sets))

            run, share = _measured(counts, crew, nbytes, part)
            runs.append(run)
            huge.append(share)
    notes = _doubts(level, counts, runs, huge)
    return Concurrency(
        level, sets[1], counts, tuple(runs), line_bytes(), host_id(), cpu_name(), now(),
        tuple(note for note in notes if note),
    )  # fmt: skip


def chases(chains: object) -> tuple[int, ...]:
    """``chains`` checked: increasing from 1 to at most MOST_CHAINS."""
    if isinstance(chains, (str, int)) or not isinstance(chains, Sequence):
        raise TypeError(f"chains={chains!r}: give several numbers of chases, such as {CHAINS}")
    found = tuple(size(f"chains[{i}]", one) for i, one in enumerate(chains))
    if not found or found[0] != 1 or any(b <= a for a, b in zip(found, found[1:])):
        raise ValueError(
            f"chains={found}: begin with 1, whose time is the latency, and let them increase"
        )
    if found[-1] > MOST_CHAINS:
        raise ValueError(f"chains={found}: {MOST_CHAINS} chases side by side are the most")
    return found


def _working_set(level: str, threads: int) -> int:
    """Bytes that each of ``threads`` threads walks on ``level``."""
    levels = cache_levels(cache_sizes(), threads, sharers())
    wanted = beyond_caches(levels, FALLBACK, threads) // threads
    sets = {one.name: one.per_thread for one in [*levels, Level("dram", wanted, wanted)]}
    if level not in sets:
        raise unknown("level", level, sets)
    room = affordable(sets[level], available_bytes(select("cpu")) // (2 * threads))
    held = max((one.capacity for one in levels), default=FALLBACK) // threads
    if room < sets[level] and (level != "dram" or room < 2 * held):
        raise ValueError(
            f"level={level!r}: a working set of {si(sets[level], 'B')} for each of {threads} "
            f"threads does not fit into the free memory"
        )
    return room


def _measured(
    counts: Sequence[int], threads: int, nbytes: int, tell: Any
) -> tuple[Run, float | None]:
    line = line_bytes()
    with Crew(threads) as crew:
        place = Place(max(2 * max(counts), nbytes // line))
        stores = stores_of(place.lines * line, crew)
        cycles = laid(stores, place, line, 0, crew)
        walks = [chase(stores, cycles, k) for k in counts]
        walks.append(read(nbytes, stores))
        with undisturbed():
            rounds(walks, crew, BUDGET, tell)
        huge = huge_page_share(stores[0])
    samples = [tuple(walk.samples) for walk in walks]
    return Run(threads, tuple(samples[:-1]), samples[-1]), huge


def _doubts(
    level: str, counts: Sequence[int], runs: Sequence[Run], huge: Sequence[float | None]
) -> list[str]:
    rows = [row for run in runs for row in (*run.hops, run.read)]
    noisy = sum(iqr(row) > NOISY * float(np.median(row)) for row in rows)
    doubts = [on_battery(power()) or ""]
    if noisy > len(rows) / 4:
        doubts.append(
            f"noisy: {noisy} of {len(rows)} figures spread by more than 10 %; other work?"
        )
    if min((share for share in huge if share is not None), default=1.0) < 0.9:
        doubts.append("not all memory is in huge pages: translating addresses takes part of a hop")
    if level == "l1" and counts[-1] > REGISTERS:
        doubts.append(f"more than {REGISTERS} chases do not fit into registers and wait for the L1")
    return doubts
