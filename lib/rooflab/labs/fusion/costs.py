"""What a call, an element and a fresh page cost on this machine: calibrated once, then stored.

A new array of NumPy's comes from the C library's malloc. glibc's takes a large one from the system
by mmap and gives it back when it is freed, so that each new one has fresh pages: the first write to
each is a *page fault*, in which the system finds a page and fills it with zeros. A smaller one comes
from a heap that is kept, and its pages are used again. The border rises to the largest array freed
so far, up to 32 MiB (DEFAULT_MMAP_THRESHOLD_MAX in glibc's malloc.c). Seen here, after a few calls
of ``np.negative(x)``: no fault for 31 MiB, and for 33 MiB 784 with pages of 2 MiB (NumPy asks for
them from 4 MiB on; the ends of an array have small ones) or 8449 without.

What a fault costs depends on where its page was. Seen on a virtual machine with Linux's free page
reporting, for 512 MiB: 0.13 s where the pages had just been given back, 0.6 s after a pause of a
second or two, 1.5 s after five, and 2.0 s the first time, because by then the host had to find the
memory. The cost here is the first of these: that of programs which make arrays all the time.
"""

from __future__ import annotations

import functools
import math
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from rooflab.count.validation import flag
from rooflab.labs.fusion.chains import DTYPES, Chain, Step, chains
from rooflab.measure import store
from rooflab.measure.backend import host_id, select
from rooflab.measure.caches import last_level_bytes
from rooflab.measure.operands import affordable, available_bytes
from rooflab.measure.progress import Progress, progress_bar
from rooflab.measure.settings import fewer
from rooflab.measure.threads import thread_limit
from rooflab.measure.timing import MEASUREMENT_LOCK, Call, quickest, settle, time_warm, undisturbed

SCHEMA = 1
TINY, CACHED = (2, 2), (8, 2048)  # rows and columns: a call alone; operands in the L2 cache
LARGEST = 128 << 20  # bytes of the largest array whose pages are counted
MOST = 1 << 29  # bytes of the array on which a fresh page's cost is measured, at most
SECONDS, SAMPLES, TURNS = 2e-3, fewer(12), 3
QUICK: Mapping[str, float] = {"sample_s": 2e-4, "settle_s": 1e-3}
ROUNDS = fewer(12)


@dataclass(frozen=True)
class Cost:
    """Seconds of a call, and of each element in it while the operands are in a cache."""

    call: float
    element: float


@dataclass(frozen=True)
class Costs:
    """What :func:`costs` measured.

    Attributes
    ----------
    numpy : Mapping of str to Mapping
        For each format ("fp32", "fp64") and function ("sin", "row sum") the Cost of NumPy's call.
    loops : Mapping of str to Mapping
        For each format and chain the Cost of the fused loop.
    recycled : int
        Bytes of the largest array that was seen to get used pages again when it was made anew.
    fresh : float
        Seconds that each byte of fresh pages costs, on top of writing it.
    """

    numpy: Mapping[str, Mapping[str, Cost]]
    loops: Mapping[str, Mapping[str, Cost]]
    recycled: int
    fresh: float

    def faults(self, nbytes: int) -> float:
        """Return the seconds that page faults of a new array of ``nbytes`` take."""
        return nbytes * self.fresh if nbytes > self.recycled else 0.0

    def to_dict(self) -> dict[str, Any]:
        """Return the costs as plain data."""
        tables = {
            name: {
                kind: {key: [cost.call, cost.element] for key, cost in table.items()}
                for kind, table in getattr(self, name).items()
            }
            for name in ("numpy", "loops")
        }
        return {"schema": SCHEMA, "recycled": self.recycled, "fresh": self.fresh, **tables}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Costs:
        """Inverse of :meth:`to_dict`."""
        tables = (
            {
                kind: {key: Cost(*cost) for key, cost in table.items()}
                for kind, table in data[name].items()
            }
            for name in ("numpy", "loops")
        )
        return cls(*tables, data["recycled"], data["fresh"])


def costs(*, refresh: bool = False, progress: Progress = True) -> Costs:
    """Return what calls, elements and fresh pages cost here; only the first call takes seconds.

    They are stored in the user's cache directory beside the roofs, for one thread.

    Parameters
    ----------
    refresh : bool, optional
        True measures again what is stored.
    progress : bool or callable, optional
        True (default) draws a progress bar, False nothing. A function is called with the share
        done, 0 to 1.

    Returns
    -------
    Costs
        Of NumPy's functions, of the fused loops, and of fresh pages.

    Examples
    --------
    >>> here = rl.fusion.costs(progress=False)
    >>> here.numpy["fp32"]["sin"].element > 0, here.faults(1 << 40) > 0
    (True, True)
    """
    name = f"fusion-{host_id()}"
    with MEASUREMENT_LOCK:
        document = None if flag("refresh", refresh) else store.load(name, _problem)
        if document is None:
            document = _measured(progress).to_dict()
            store.save(name, document)
    return Costs.from_dict(document)


def _problem(document: Any) -> str:
    """What is wrong with stored costs, as the end of a sentence."""
    try:
        there = Costs.from_dict(document)
        known = {step.function for chain in chains().values() for step in chain.steps}
        whole = all(
            known <= there.numpy[kind].keys() and chains().keys() <= there.loops[kind].keys()
            for kind in DTYPES
        )
        sound = whole and document["schema"] == SCHEMA and 0 <= there.fresh < math.inf
    except (AttributeError, KeyError, TypeError):
        sound = False
    return "" if sound else "another version of rooflab wrote it, or it is damaged"


def _measured(progress: Progress) -> Costs:
    functions: dict[str, tuple[Chain, Step]] = {}
    for chain in chains().values():
        for step in chain.steps:
            if "column" not in map(chain.kinds.get, step.reads(chain.arrays)[:1]):
                functions.setdefault(step.function, (chain, step))
    tasks: list[tuple[str, str, str, Callable[[str, tuple[int, int]], tuple[Call, int]]]] = [
        (table, kind, key, make)
        for kind in DTYPES
        for table, makers in (
            ("numpy", {key: functools.partial(_call_of, *one) for key, one in functions.items()}),
            ("loops", {one.name: functools.partial(_loop_of, one) for one in chains().values()}),
        )
        for key, make in makers.items()
    ]
    tables: dict[str, dict[str, dict[str, Cost]]] = {
        table: {kind: {} for kind in DTYPES} for table in ("numpy", "loops")
    }
    with progress_bar(progress, "measuring calls and pages") as tell, thread_limit(1):
        turns = [task for _ in range(TURNS) for task in tasks]  # a busy moment spoils one of them
        for number, (table, kind, key, make) in enumerate(turns, 1):
            new, old = _cost(functools.partial(make, kind)), tables[table][kind].get(key)
            least = (min(new.call, old.call), min(new.element, old.element)) if old else ()
            tables[table][kind][key] = Cost(*least) if least else new
            tell(number / (len(turns) + 1))
        recycled, fresh = _recycled(), _fresh()
        tell(1.0)
    return Costs(tables["numpy"], tables["loops"], recycled, fresh)


def _call_of(chain: Chain, step: Step, kind: str, shape: tuple[int, int]) -> tuple[Call, int]:
    """The call of one step on arrays of its chain, with ``out=``, and its number of elements."""
    arrays = {
        name: np.full(chain.shape(name, *shape), 1.5, DTYPES[kind])
        for name in (*step.reads(chain.arrays), step.target)
    }
    program = f"def call({', '.join(arrays)}): {step.statement[:-1]}, out={step.target})"
    names: dict[str, Any] = {"np": np}
    exec(program, names)
    return functools.partial(names["call"], *arrays.values()), chain.flops(step, *shape)


def _loop_of(chain: Chain, kind: str, shape: tuple[int, int]) -> tuple[Call, int]:
    return chain.bind("fused", chain.example(*shape, kind)), math.prod(shape)


def _cost(make: Callable[[tuple[int, int]], tuple[Call, int]]) -> Cost:
    """Seconds of a call and of an element, from tiny operands and from cached ones."""
    (tiny, few), (cached, many) = (
        (quickest(time_warm(call, samples=SAMPLES, seconds=SECONDS, **QUICK).samples), elements)
        for call, elements in map(make, (TINY, CACHED))
    )
    return Cost(tiny, max(0.0, cached - tiny) / (many - few))


def page_faults() -> int:
    """Return how many page faults this process has had that needed no disk."""
    if os.name == "nt":
        import psutil

        return int(psutil.Process().memory_info().num_page_faults)
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt


def _recycled() -> int:
    """The largest power of two of bytes for which a new array gets pages that were used before."""
    nbytes = LARGEST
    while nbytes >= 1 << 16:
        x = np.ones(nbytes // 8)
        settle([lambda x=x: np.negative(x)], 0.0, least=3)  # type: ignore[misc]
        before = page_faults()
        np.negative(x)
        if page_faults() - before < nbytes >> 22:  # fewer than half of its largest pages
            return nbytes
        nbytes //= 2
    return nbytes


def _fresh() -> float:
    """Seconds a byte by which writing a new array is slower than writing one that is there.

    Both writes are made in turn, so that a slow moment hits both; the median difference counts.
    """
    nbytes = affordable(max(LARGEST, min(last_level_bytes(), MOST)), available_bytes(select("cpu")))
    x = np.ones(nbytes // 8)
    out = np.ones_like(x)
    ways: tuple[Call, ...] = (lambda: np.negative(x), lambda: np.negative(x, out=out))
    with undisturbed():
        pairs = [[settle([way], 0.0) for way in ways] for _ in range(ROUNDS)]
    return max(0.0, float(np.median([fresh - there for fresh, there in pairs]))) / nbytes
