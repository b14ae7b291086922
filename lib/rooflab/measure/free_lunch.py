"""The free lunch: how much arithmetic fits into the time that carrying the numbers takes anyway.

k multiply-adds on every element of an array far larger than the caches. Up to some k the time is
that of carrying each number from memory and back, then it grows with k. The flat end is a
bandwidth, the slope of the rising end a peak, and where they meet is the ridge.
"""

from __future__ import annotations

import itertools
import time
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np

from rooflab.count.dtypes import DTypeLike
from rooflab.count.dtypes import dtype as find_dtype
from rooflab.count.si import si
from rooflab.count.validation import size
from rooflab.measure.backend import cpu_name, host_id, now, select
from rooflab.measure.caches import FALLBACK, Level, beyond_caches, levels_here
from rooflab.measure.operands import affordable, aligned, available_bytes, shrunk
from rooflab.measure.roof_kernels import host, lunch_block, lunch_kernel
from rooflab.measure.roofs import thread_count
from rooflab.measure.threads import Crew
from rooflab.measure.timing import MEASUREMENT_LOCK, quickest
from rooflab.optional import installed

K = (1, 2, 3, 5, 9, 17, 33, 65, 129, 257)
BUDGET = 1.5  # seconds of sweeps at most, after the first three
SWEEPS, MOST = 12, 40  # of all points; and counting those that only repeat doubtful points
TOLERANCE = 0.1
PARTS = 4  # one visit of a k works on a quarter of the array, the next one on the next quarter
SLICE = 2e-3  # seconds: short beside a scheduler's turn, or a busy machine spoils every sample
LEAD = 1  # parts walked untimed: their stores are what later ones push out to memory
REALS = {"fp32": np.float32, "fp64": np.float64}


@dataclass(frozen=True, eq=False)
class FreeLunch:
    """A measured curve: ``seconds[i]`` for ``k[i]`` multiply-adds on each of ``n`` elements.

    ``seconds`` are from the three fastest samples for each k (:mod:`rooflab.measure.timing`),
    ``iqr`` is the interquartile range of all. Arrays are read-only, so that ``2 * k * n / seconds``
    is what it looks like. ``bandwidth`` is byte/s from the flat end, ``peak`` FLOP/s from the slope
    of the rising end, and ``ridge`` the FLOP/byte at which the two meet.

    >>> curve = rl.FreeLunch(k=[1, 2, 64, 128], seconds=[1e-3, 1e-3, 8e-3, 16e-3], iqr=[0] * 4,
    ...                      n=10**6, itemsize=4, threads=1)
    >>> curve.bandwidth, curve.peak, curve.ridge
    (8000000000.0, 16000000000.0, 2.0)
    """

    k: np.ndarray
    seconds: np.ndarray
    iqr: np.ndarray
    n: int
    itemsize: int
    threads: int
    dtype: str = "fp32"
    machine: str = ""
    name: str = ""
    measured_on: str = ""
    warnings: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name, kind in (("k", np.int64), ("seconds", float), ("iqr", float)):
            column = np.array(getattr(self, name), dtype=kind)
            column.flags.writeable = False
            object.__setattr__(self, name, column)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FreeLunch) and self.to_dict() == other.to_dict()

    def __str__(self) -> str:
        held, taken = si(self.n * self.itemsize, "B"), si(float(self.seconds[0]), "s")
        says = f"{self.n / 1e6:.3g} million numbers, {held}, {self.k[0]} multiply-add each: {taken}"
        return "\n".join([says, *(f"Warning: {warning}" for warning in self.warnings)])

    @property
    def bytes(self) -> int:
        """Bytes moved, whatever k: every element is read once and written once."""
        return 2 * self.n * self.itemsize

    @property
    def flops(self) -> tuple[int, ...]:
        """FLOP for each k: a multiply-add is 2."""
        return tuple(2 * k * self.n for k in self.k.tolist())

    @property
    def intensity(self) -> tuple[float, ...]:
        """FLOP/byte for each k."""
        return tuple(flops / self.bytes for flops in self.flops)

    @property
    def flop_per_s(self) -> tuple[float, ...]:
        """The same points as work per second."""
        return tuple(flops / s for flops, s in zip(self.flops, self.seconds.tolist(), strict=True))

    @cached_property
    def bandwidth(self) -> float:
        """byte/s from the flat end: all points within a tenth of the fastest."""
        flat = self.seconds[self.seconds <= 1.1 * self.seconds.min()]
        return self.bytes / float(np.median(flat))

    @property
    def rising(self) -> tuple[int, ...]:
        """The k that carry the peak: those that take at least twice as long as the fastest."""
        return tuple(self.k[self.seconds >= 2 * self.seconds.min()].tolist())

    @cached_property
    def peak(self) -> float:
        """FLOP/s from the slope of the rising end.

        It is the median of the slopes between any two of its points (Theil-Sen), kept within
        limits: the arithmetic of a point takes at most the time of the point, and at least that
        time less the flat one. With fewer than two points on the rising end it is the highest rate
        seen, a lower bound.
        """
        rising = [(2.0 * k * self.n, self.at(k)) for k in self.rising]
        slopes = [
            (f2 - f1) / (s2 - s1)
            for (f1, s1), (f2, s2) in itertools.combinations(rising, 2)
            if s2 > s1
        ]
        lowest = max(self.flop_per_s)
        if not slopes:
            return lowest
        highest = max(flops / (s - self.carry_s) for flops, s in rising)
        return min(max(float(np.median(slopes)), lowest), highest)

    @property
    def ridge(self) -> float:
        """FLOP/byte at which the two ends meet: peak / bandwidth."""
        return self.peak / self.bandwidth

    @property
    def carry_s(self) -> float:
        """Seconds that carrying all numbers there and back takes."""
        return self.bytes / self.bandwidth

    @property
    def compute_s(self) -> float:
        """Seconds that one multiply-add on every number takes."""
        return 2 * self.n / self.peak

    @property
    def bend(self) -> float:
        """The k at which carrying and computing take equally long."""
        return self.carry_s / self.compute_s

    def at(self, k: int) -> float:
        """Seconds for `k` multiply-adds on each element; ValueError if that k was not measured."""
        if k not in self.k.tolist():
            raise ValueError(f"k={k!r} was not measured; there are {', '.join(map(str, self.k))}")
        return float(self.seconds[self.k == k][0])

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain JSON data."""
        return {
            key: np.asarray(value).tolist() if isinstance(value, (tuple, np.ndarray)) else value
            for key, value in asdict(self).items()
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> FreeLunch:
        """Inverse of :meth:`to_dict`; unknown keys are ignored."""
        known = {field.name for field in fields(cls)}
        values = {key: value for key, value in data.items() if key in known}
        return cls(**{**values, "warnings": tuple(values.get("warnings", ()))})


@installed("rooflab.free_lunch")
def free_lunch(
    k: Iterable[int] = K, n: int | None = None, dtype: DTypeLike = "fp32", threads: int | None = 1
) -> FreeLunch:
    """Measure the curve: ``k`` multiply-adds on each of ``n`` elements, x = a*x + b in registers.

    One compile, k chosen at run time; about two seconds.

    Parameters
    ----------
    k : iterable of int, optional
        Counts of multiply-adds, each larger than the one before; by default ten from 1 to 257.
    n : int, optional
        Elements, rounded up to whole vector blocks. By default as many as take 4 times the
        last-level cache; 128 MiB or more where the system tells of no L3.
    dtype : {"fp32", "fp64"}, optional
        The number format of an element.
    threads : int, optional
        CPU threads, 1 by default; None for every core that this process may use.

    Returns
    -------
    FreeLunch
        The seconds for each k, and the bandwidth, peak and ridge that they show.

    Examples
    --------
    >>> curve = rl.free_lunch(k=(1, 257), n=2**20)
    >>> curve.intensity
    (0.25, 64.25)
    >>> curve.peak > 0
    True
    """
    counts = _counts(k)
    kind = find_dtype(dtype)
    if kind.name not in REALS:
        raise ValueError(
            f"dtype={kind.name!r} has no vector multiply-add on a CPU; use fp32 or fp64"
        )
    crew_size = thread_count(threads)
    itemsize = kind.bits // 8
    levels = levels_here(crew_size)
    wanted = size("n", n) * itemsize if n is not None else _beyond(levels)
    nbytes, notes = affordable(wanted, available_bytes(select("cpu"))), []
    if nbytes < wanted:
        if n is not None:
            raise ValueError(f"n={n}: {wanted} bytes are more than a quarter of the free memory")
        notes.append(shrunk(wanted, nbytes))
        warnings.warn(notes[0], stacklevel=3)
    part = -(-nbytes // (PARTS * crew_size * lunch_block(host()))) * lunch_block(host())
    with MEASUREMENT_LOCK:
        samples = _sweep(kind.name, counts, part, crew_size)
    seconds = [quickest(row) for row in samples]
    quartiles = [np.percentile(row, (25, 75)) for row in samples]
    return FreeLunch(
        np.array(counts), np.array(seconds), np.array([high - low for low, high in quartiles]),
        part * PARTS * crew_size // itemsize, itemsize, crew_size, kind.name, host_id(), cpu_name(),
        now(), tuple(notes),
    )  # fmt: skip


def _beyond(levels: list[Level]) -> int:
    """Bytes of an array that only memory holds, by what the system tells of the caches.

    Apple chips have a system cache behind the L2 that no call tells of (8 MB in an M1, larger in
    others). So where there is no L3 to be told of, the last level counts as FALLBACK at least.
    """
    least = 0 if any(level.name == "l3" for level in levels) else beyond_caches([], FALLBACK)
    return max(beyond_caches(levels, FALLBACK), least)


def _counts(k: Iterable[int]) -> tuple[int, ...]:
    if isinstance(k, (str, int)):
        raise TypeError(f"k={k!r}: give several counts of multiply-adds, such as {K}")
    counts = tuple(size(f"k[{i}]", each) for i, each in enumerate(k))
    if len(counts) < 2 or any(b <= a for a, b in itertools.pairwise(counts)):
        raise ValueError(f"k={counts}: give at least two counts, each larger than the one before")
    return counts


def _sweep(kind: str, counts: tuple[int, ...], part: int, threads: int) -> list[list[float]]:
    """Seconds for the whole array, many times for each k, sweep after sweep through all of them."""
    kernel, block, turn = lunch_kernel(kind), lunch_block(host()), itertools.count()
    samples: list[list[float]] = [[] for _ in counts]
    pieces = [1] * len(counts)  # a part of much arithmetic is timed in pieces of about SLICE
    with Crew(threads) as crew:
        store = [aligned(part * PARTS).view(REALS[kind]) for _ in range(threads)]
        crew.run([(np.ndarray.fill, (mine, 1.0)) for mine in store])

        def walk(k: int, number: int = 1) -> list[float]:
            """Times of one part, piece by piece, each scaled to the whole array."""
            at, step = next(turn) % PARTS * part, -(-part // number // block) * block
            starts = range(at, at + part, step)
            sizes = [min(step, at + part - start) for start in starts]
            return [
                PARTS * part / size
                * crew.time([(kernel, (x.ctypes.data + start, size, k, 0.5, 1.0)) for x in store])
                for start, size in zip(starts, sizes, strict=True)
            ]  # fmt: skip

        began, sweeps, due = time.perf_counter(), 0, list(range(len(counts)))
        while due and sweeps < MOST:
            for _ in range(LEAD):
                walk(counts[0])
            for i in due:
                samples[i] += walk(counts[i], pieces[i])
                pieces[i] = max(1, min(64, int(min(samples[i]) / PARTS / SLICE)))
            sweeps += 1
            if sweeps >= SWEEPS or (sweeps >= 3 and time.perf_counter() - began > BUDGET):
                due = _disturbed([quickest(row) for row in samples])
    return samples


def _disturbed(seconds: list[float]) -> list[int]:
    """Points slower than one with more arithmetic: something else had the core, measure again."""
    return [i for i, s in enumerate(seconds[:-1]) if s > (1 + TOLERANCE) * min(seconds[i + 1 :])]
