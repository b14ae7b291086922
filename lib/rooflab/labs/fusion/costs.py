"""What a call, an element and a fresh page cost on this machine: calibrated once, then stored.

A new array of NumPy's comes from the C library's malloc. glibc's takes a large one from the system
by mmap and gives it back when it is freed. Each new one then has fresh pages, and the first write
to each is a *page fault*, in which the system finds a page and fills it with zeros. A smaller array
comes from a heap that is kept, and its pages are used again. The border rises to the largest array
freed so far, up to 32 MiB (DEFAULT_MMAP_THRESHOLD_MAX in glibc's malloc.c). Seen with glibc 2.36,
after a few calls of ``np.negative(x)``: no fault for 31 MiB, and for 33 MiB 784 with pages of 2 MiB
(NumPy asks for them from 4 MiB on; the ends of an array have small ones) or 8449 without.

What a fault costs depends on where its page was. Seen on a virtual machine with Linux's free page
reporting, for 512 MiB: 0.13 s where the pages had just been given back, 0.6 s after a pause of a
second or two, 1.5 s after five, and 2.0 s the first time, because by then the host had to find the
memory. The cost here is the first of these: that of programs which make arrays all the time.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import partial
from itertools import pairwise
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
LARGEST, SMALLEST = 128 << 20, 1 << 16  # bytes of arrays whose page faults are counted
MOST = 1 << 29  # bytes of the array on which a fresh page's cost is measured, at most
SAMPLES, TURNS, PAIRS = fewer(12), fewer(3), fewer(12)
QUICK: Mapping[str, Any] = {
    "samples": SAMPLES, "seconds": 2e-3, "sample_s": 2e-4, "settle_s": 1e-3,
}  # fmt: skip


@dataclass(frozen=True)
class Costs:
    """What :func:`costs` measured, in seconds.

    ``calls`` and ``elements`` are keyed by format and function ("fp32 sin", "fp64 row sum"), or by
    format and chain for its fused loop ("fp32 softmax"): a call, and an element that is in a cache.
    New arrays up to ``recycled`` bytes have pages that were used before; each byte of a larger one
    costs ``fresh`` on top of writing it.

    >>> rl.fusion.Costs({}, {}, recycled=31 << 20, fresh=2e-10).faults(10**9)
    0.2
    """

    calls: Mapping[str, float]
    elements: Mapping[str, float]
    recycled: int
    fresh: float

    def faults(self, nbytes: int) -> float:
        """Return the seconds that the page faults of a new array of ``nbytes`` take."""
        return nbytes * self.fresh if nbytes > self.recycled else 0.0


def costs(*, refresh: bool = False, progress: Progress = True) -> Costs:
    """Return what calls, elements and fresh pages cost here; only the first call takes seconds.

    They are measured with one thread and stored in the user's cache directory, beside the roofs.

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
    >>> here.calls["fp32 sin"] > 0, here.faults(1000)
    (True, 0.0)
    """
    name = f"fusion-{host_id()}"
    with MEASUREMENT_LOCK:
        document = None if flag("refresh", refresh) else store.load(name, _problem)
        if document is None:
            document = {**asdict(measured_costs(progress)), "schema": SCHEMA}
            store.save(name, document)
    return Costs(**{key: document[key] for key in Costs.__dataclass_fields__})


def _problem(document: Any) -> str:
    """What is wrong with stored costs, as the end of a sentence."""
    keys = {key for key, _ in _calls()}
    try:
        sound = document["schema"] == SCHEMA and all(
            keys <= document[table].keys() and min(document[table].values()) >= 0
            for table in ("calls", "elements")
        )
        sound = sound and 0 <= document["fresh"] < math.inf and document["recycled"] > 0
    except (AttributeError, KeyError, TypeError):
        sound = False
    return "" if sound else "another version of rooflab wrote it, or it is damaged"


def measured_costs(progress: Progress = False) -> Costs:
    """Measure all of it, round after round, so that a busy moment spoils one of them."""
    calls: dict[str, float] = {}
    elements: dict[str, float] = {}
    turns = [task for _ in range(TURNS) for task in _calls()]
    with progress_bar(progress, "measuring calls and pages") as tell, thread_limit(1):
        for number, (key, make) in enumerate(turns, 1):
            (one, few), (other, many) = map(make, (TINY, CACHED))
            tiny, cached = (quickest(time_warm(call, **QUICK).samples) for call in (one, other))
            each = max(0.0, cached - tiny) / (many - few)
            calls[key] = min(tiny, calls.get(key, tiny))
            elements[key] = min(each, elements.get(key, each))
            tell(number / (len(turns) + 1))
        return Costs(calls, elements, _recycled(), _fresh())


def _calls() -> Iterator[tuple[str, Callable[[tuple[int, int]], tuple[Call, int]]]]:
    """Each function in the first step with it, and each fused loop: key → (call, elements)."""
    for kind in DTYPES:
        seen = set[str]()
        for chain in chains().values():
            yield f"{kind} {chain.name}", partial(_loop, chain, kind)
            for step in chain.steps:
                first = chain.kinds.get(chain.reads(step)[0])
                if step.function not in seen and first != "column":
                    seen.add(step.function)
                    yield f"{kind} {step.function}", partial(_step, chain, step, kind)


def _loop(chain: Chain, kind: str, shape: tuple[int, int]) -> tuple[Call, int]:
    return chain.bind("fused", chain.example(*shape, kind)), math.prod(shape)


def _step(chain: Chain, step: Step, kind: str, shape: tuple[int, int]) -> tuple[Call, int]:
    random = np.random.default_rng(10)  # what sin takes depends on its argument
    arrays = {
        name: random.uniform(chain.low, chain.high, chain.shape(name, *shape)).astype(DTYPES[kind])
        for name in (*chain.reads(step), step.target)
    }
    names: dict[str, Any] = {"np": np}
    exec(f"def f({', '.join(arrays)}): {step.statement[:-1]}, out={step.target})", names)
    return partial(names["f"], *arrays.values()), chain.flops(step, *shape)


def page_faults() -> int:
    """Return how many page faults this process has had that needed no disk."""
    if os.name == "nt":
        import psutil

        return int(psutil.Process().memory_info().num_page_faults)
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt


def _recycled() -> int:
    """Bytes up to which a new array gets pages that were used before, to a sixteenth.

    In a program that has freed an array of nearly 32 MiB: until then glibc's border is lower, and
    the end of the heap is given back sooner.
    """
    nbytes = LARGEST
    np.ones((32 << 20) - (1 << 16), np.uint8)
    while nbytes > SMALLEST and _has_faults(nbytes):
        nbytes //= 2
    if nbytes == LARGEST:
        return nbytes
    sizes = (nbytes * n // 16 for n in range(17, 32))  # the double had faults
    return next((n for n in sizes if _has_faults(n)), 2 * nbytes) - nbytes // 16


def _has_faults(nbytes: int) -> bool:
    """Whether a new array has page faults, half as many as it has pages of 2 MiB at least."""
    x, counts = np.ones(nbytes // 8), [page_faults()]
    for _ in range(6):  # the first two or three teach malloc
        np.negative(x)
        counts.append(page_faults())
    return min(after - before for before, after in pairwise(counts[3:])) >= max(2, nbytes >> 22)


def _fresh() -> float:
    """Seconds a byte by which writing a new array is slower than writing one that is there.

    Both writes are made in turn, and the fastest of each count.
    """
    nbytes = affordable(max(LARGEST, min(last_level_bytes(), MOST)), available_bytes(select("cpu")))
    x = np.ones(nbytes // 8)
    ways: tuple[Call, ...] = (partial(np.negative, x), partial(np.negative, x, out=np.ones_like(x)))
    with undisturbed():
        pairs = [[settle([way], 0.0) for way in ways] for _ in range(PAIRS)]
    fresh, there = map(quickest, zip(*pairs))
    return max(0.0, fresh - there) / nbytes
