"""The memory mountain: bandwidth and latency over the working set, measured.

Small working sets stay in the nearest cache, larger ones in the next, the largest come from memory:
the curves fall in steps. Bandwidth is that of a stream, which runs through its data in order and is
helped by prefetchers. Latency is that of a chase, which nothing helps.

All working sets are visited in turn, round after round, so that a busy second of the machine slows
a few samples of each.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np

from rooflab.count.si import percent, rounded, si
from rooflab.count.validation import saved, size
from rooflab.labs.memory.levels import Climb, Curves, Level, hierarchy, table
from rooflab.labs.memory.walks import (
    chase,
    copy,
    huge_page_share,
    laid,
    places,
    read,
    rounds,
    stores_of,
)
from rooflab.measure.backend import cpu_name, environment, host_id, now, power, select
from rooflab.measure.caches import (
    FALLBACK,
    beyond_caches,
    cache_levels,
    cache_sizes,
    line_bytes,
    sharers,
    system_sizes,
)
from rooflab.measure.measure import on_battery
from rooflab.measure.operands import affordable, available_bytes
from rooflab.measure.progress import Progress, progress_bar
from rooflab.measure.roofs import thread_count
from rooflab.measure.settings import briefer
from rooflab.measure.threads import Crew, core_kinds, hybrid_note, processor_now, with_threads
from rooflab.measure.timing import MEASUREMENT_LOCK, iqr, quickest, robust_peak, undisturbed
from rooflab.optional import installed

SCHEMA = 1
SERIES = ("read", "copy", "latency")
SMALLEST, LARGEST = 4 << 10, 256 << 20
STEPS, FAR_STEPS, FARTHEST_STEPS = 4, 3, 2  # working sets an octave: near, beyond, and far beyond
NEAR, FAR = 64 << 20, 256 << 20  # where they lie so close at most: larger ones take long
LEAST = 1 << 10  # bytes that can be asked for
ROUND_TO = 256
BUDGET = briefer(7.0)  # seconds of rounds at most, after the first three
LAYING = 0.2  # of the time: writing the cycles
NOISY = 0.1  # of the median: an interquartile range above it is noise


@dataclass(frozen=True, repr=False)
class Mountain:
    """Bandwidth and latency over the working set, as :func:`mountain` measured them.

    ``sizes`` are bytes that each thread walks. ``samples`` are {"read": byte/s, "copy": byte/s,
    "latency": seconds of a hop}: bandwidths of all threads together that count what is asked for,
    so a copied byte counts twice. ``told`` has bytes of each cache for one thread as the system
    tells. ``huge_pages`` is the share of the chased memory that lay in them. ``read``, ``copy`` and
    ``latency`` are the median of the three fastest samples, as noise only slows. ``climbs`` are
    steps in latency that are not counted as the end of a cache.

    >>> found = rl.memory.mountain(sizes=[4096, 8192, 2**22], progress=False)
    >>> found.sizes
    (4096, 8192, 4194304)
    >>> bool(found.latency[0] < found.latency[-1])
    True
    """

    threads: int
    sizes: tuple[int, ...]
    samples: Mapping[str, tuple[tuple[float, ...], ...]]
    told: Mapping[str, int | None]
    line: int = 64
    huge_pages: float | None = None
    machine: str = ""
    name: str = ""
    measured_on: str = ""
    warnings: tuple[str, ...] = ()
    environment: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        found = {
            key: tuple(tuple(float(one) for one in row) for row in self.samples.get(key, ()))
            for key in SERIES
        }
        object.__setattr__(self, "sizes", tuple(self.sizes))
        object.__setattr__(self, "samples", MappingProxyType(found))
        object.__setattr__(self, "told", MappingProxyType(dict(self.told)))
        object.__setattr__(self, "environment", MappingProxyType(dict(self.environment)))
        for key, rows in found.items():
            values = [value for row in rows for value in row]
            if len(rows) != len(self.sizes) or not all(rows):
                raise ValueError(
                    f"samples: {key!r} holds {sum(map(bool, rows))} rows of samples; there are "
                    f"{len(self.sizes)} sizes"
                )
            if not all(0 < value < math.inf for value in values):
                raise ValueError(f"samples: those of {key!r} must be positive and finite")

    def __hash__(self) -> int:
        return hash((self.threads, self.sizes, self.machine, self.measured_on))

    def __reduce__(self) -> tuple[object, ...]:
        return (Mountain.from_dict, (self.to_dict(),))  # a mapping proxy does not pickle

    @cached_property
    def read(self) -> np.ndarray:
        """Byte/s of reading, a value for each size."""
        return _column(map(robust_peak, self.samples["read"]))

    @cached_property
    def copy(self) -> np.ndarray:
        """Byte/s of copying, both directions counted, a value for each size."""
        return _column(map(robust_peak, self.samples["copy"]))

    @cached_property
    def latency(self) -> np.ndarray:
        """Seconds of a hop, a value for each size."""
        return _column(map(quickest, self.samples["latency"]))

    @cached_property
    def _hierarchy(self) -> tuple[tuple[Level, ...], tuple[Climb, ...]]:
        curves = (tuple(column.tolist()) for column in (self.latency, self.read, self.copy))
        return hierarchy(Curves(self.sizes, *curves), self.told)

    @property
    def levels(self) -> tuple[Level, ...]:
        """The levels found in the data, nearest first, each beside what the system tells."""
        return self._hierarchy[0]

    @property
    def climbs(self) -> tuple[Climb, ...]:
        """Steps in latency that bandwidth does not feel."""
        return self._hierarchy[1]

    def at(self, nbytes: int) -> int:
        """The number of the measured size that is nearest to ``nbytes``, in doublings."""
        wanted = math.log2(size("nbytes", nbytes))
        return int(np.argmin([abs(math.log2(one) - wanted) for one in self.sizes]))

    def iqr(self, series: str) -> np.ndarray:
        """Interquartile range of ``samples[series]`` for each size, as a share of the median."""
        return _column(iqr(row) / float(np.median(row)) for row in self.samples[series])

    def __repr__(self) -> str:
        head = (
            f"memory mountain of {with_threads(self.name or 'a machine', self.threads)}: "
            f"{len(self.sizes)} working sets, {si(self.sizes[0], 'B')} to {si(self.sizes[-1], 'B')}"
        )
        columns = ("level", "found", "told", "latency", "", "read", "copy")
        rows = [columns, *table(self.levels)]
        wide = [max(len(row[i]) for row in rows) for i in range(len(columns))]
        lines = [
            "  " + "  ".join(cell.rjust(width) for cell, width in zip(row, wide)).rstrip()
            for row in rows
        ]
        warned = [f"  warning: {' '.join(text.split())}" for text in self.warnings]
        return "\n".join([head, *lines, *warned])

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain JSON data, with the version of its schema."""
        return {
            "schema": SCHEMA, "threads": self.threads, "sizes": list(self.sizes),
            "samples": {key: [list(row) for row in rows] for key, rows in self.samples.items()},
            "told": dict(self.told), "line": self.line, "huge_pages": self.huge_pages,
            "machine": self.machine, "name": self.name, "measured_on": self.measured_on,
            "warnings": list(self.warnings), "environment": dict(self.environment),
        }  # fmt: skip

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Mountain:
        """Inverse of :meth:`to_dict`; ValueError for another schema or impossible entries."""
        data = saved(data, "mountain", SCHEMA, cls.__dataclass_fields__)
        known = {name: data[name] for name in cls.__dataclass_fields__}
        known["sizes"] = working_sets(data["sizes"])
        return cls(**{**known, "warnings": tuple(data["warnings"])})


@installed("rooflab.memory.mountain")
def mountain(
    threads: int | None = 1, *, sizes: Sequence[int] | None = None, progress: Progress = True
) -> Mountain:
    """Measure the memory mountain, in about ten seconds with one thread.

    A server whose last cache holds hundreds of megabytes takes up to twice as long.

    Parameters
    ----------
    threads : int, optional
        CPU threads, 1 by default; None for every core that this process may use. Each walks
        working sets of its own.
    sizes : sequence of int, optional
        Bytes that each thread walks, increasing, 1 KiB or more. By default four an octave from
        4 KiB to twice the last-level cache or 64 MiB, and three from there to 256 MiB or 4 times
        that cache; less where memory is short.
    progress : bool or callable, optional
        True (default) draws a progress bar, False nothing. A function is called with the share
        done, 0 to 1.

    Returns
    -------
    Mountain
        Bandwidth and latency for every size, and the levels found in them.

    Examples
    --------
    >>> found = rl.memory.mountain(sizes=[4096, 2**20], progress=False)
    >>> bool(found.read[0] > found.read[1])
    True
    """
    crew_size = thread_count(threads)
    free = available_bytes(select("cpu"))
    levels = cache_levels(cache_sizes(), crew_size, sharers())
    wanted = max(LARGEST, beyond_caches(levels, FALLBACK, crew_size)) // crew_size
    largest = affordable(wanted, free // (2 * crew_size))  # one store, half of another, and orders
    notes = []
    if sizes is None:
        last = max((level.capacity for level in levels), default=FALLBACK) // crew_size
        chosen = usual_sizes(last, largest)
        if largest < wanted:
            notes.append(f"memory is short: working sets end at {si(largest, 'B')}")
    else:
        chosen = working_sets(sizes)
        most = affordable(chosen[-1], free // (2 * crew_size))
        if most < chosen[-1]:
            raise ValueError(f"sizes: {chosen[-1]} bytes are too many for the free memory; "
                             f"end at {most}")  # fmt: skip
    seen = [processor_now()]
    with MEASUREMENT_LOCK, progress_bar(progress, "measuring the memory mountain") as tell:
        samples, huge = _measured(chosen, crew_size, tell)
    told = cache_levels(dict(system_sizes()), crew_size, sharers())
    found = Mountain(
        crew_size, chosen, samples,
        {name: None for name, _ in system_sizes()}
        | {level.name: level.capacity // crew_size for level in told},
        line_bytes(), huge, host_id(), cpu_name(), now(), (), environment(),
    )  # fmt: skip
    notes += [hybrid_note(core_kinds(), crew_size, (*seen, processor_now())) or "", *_doubts(found)]
    return replace(found, warnings=tuple(note for note in notes if note))


def usual_sizes(last: int, largest: int) -> tuple[int, ...]:
    """Bytes from 4 KiB to ``largest``: working sets closer together up to the ``last`` cache."""
    near = min(2 * last, NEAR, largest)
    count = round(STEPS * math.log2(max(near / SMALLEST, 2)))
    exact = [SMALLEST * 2 ** (i / STEPS) for i in range(count + 1)]
    for steps, end in ((FAR_STEPS, min(FAR, largest)), (FARTHEST_STEPS, largest)):
        begin = exact[-1]
        beyond = math.log2(end / begin) if end > begin else 0
        exact += [begin * 2 ** (i / steps) for i in range(1, int(steps * beyond + 0.01) + 1)]
    return tuple(sorted({max(1, round(one / ROUND_TO)) * ROUND_TO for one in exact}))


def working_sets(sizes: object) -> tuple[int, ...]:
    """``sizes`` checked: at least two, each 1 KiB or more and larger than the one before."""
    if isinstance(sizes, (str, int)) or not isinstance(sizes, Sequence | np.ndarray):
        raise TypeError(f"sizes={sizes!r}: give several working sets in bytes, as [4096, 2**20]")
    found = tuple(size(f"sizes[{i}]", one, LEAST) for i, one in enumerate(sizes))
    if len(found) < 2 or any(b <= a for a, b in itertools.pairwise(found)):
        raise ValueError(f"sizes={found}: give at least two, each larger than the one before")
    return found


def _column(values: Any) -> np.ndarray:
    column = np.array([*values], float)
    column.flags.writeable = False
    return column


def _doubts(found: Mountain) -> list[str]:
    """What to distrust in a mountain, in words."""
    doubts = []
    if max(b / a for a, b in itertools.pairwise(found.sizes)) > 2:
        doubts.append("working sets lie more than an octave apart: levels between them stay unseen")
    noisy = [int((found.iqr(key) > NOISY).sum()) for key in SERIES]
    if max(noisy) > len(found.sizes) / 4:
        worst = SERIES[noisy.index(max(noisy))]
        doubts.append(
            f"noisy: at {max(noisy)} of {len(found.sizes)} working sets the middle half of the "
            f"samples of {worst} spreads by more than {percent(NOISY)}; other work?"
        )
    if found.huge_pages is not None and found.huge_pages < 0.9:
        doubts.append(
            f"only {percent(found.huge_pages)} of the memory is in large pages: part of the "
            "latency of large working sets may be the time to look up where the data lie"
        )
    return [*doubts, on_battery(power()) or ""]


# How it is measured.


def _measured(
    sizes: Sequence[int], threads: int, tell: Callable[[float], None]
) -> tuple[dict[str, tuple[tuple[float, ...], ...]], float | None]:
    """Samples of every series at every size, and the share of the memory in huge pages."""
    line = line_bytes()
    found, room = places([max(2, nbytes // line) for nbytes in sizes], line)
    with Crew(threads) as crew:
        chased = stores_of(room, crew)
        others = stores_of(sizes[-1] // 2, crew)
        walks = []
        for number, (nbytes, place) in enumerate(zip(sizes, found)):
            cycles = laid(chased, place, line, number, crew)
            walks.append({
                "copy": copy(nbytes, chased, others),
                "read": read(nbytes, chased),
                "latency": chase(chased, cycles),
            })  # fmt: skip
            tell(LAYING * (number + 1) / len(sizes))
        # Chases come one after the other, from small to large, so that each finds most of its data
        # in the caches that have room for it.
        order = [walk[key] for walk in walks for key in ("copy", "read")]
        order += [walk["latency"] for walk in walks]
        with undisturbed():
            rounds(order, crew, BUDGET, lambda share: tell(LAYING + (1 - LAYING) * share))
        huge = [huge_page_share(store) for store in chased]
    samples = {key: tuple(tuple(walk[key].samples) for walk in walks) for key in SERIES}
    known = [share for share in huge if share is not None]
    return samples, rounded(min(known), 3) if known else None
