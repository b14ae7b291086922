"""New pages: up to which size an array of NumPy's has none, and what they cost here.

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
memory. The cost here is the first of these: that of programs which make arrays all the time. It is
that of a byte, because a page of 2 MiB is filled for longer than one of 4 KiB.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from rooflab.measure import store
from rooflab.measure.backend import host_id, select
from rooflab.measure.caches import last_level_bytes
from rooflab.measure.operands import affordable, available_bytes
from rooflab.measure.progress import Progress, progress_bar
from rooflab.measure.settings import fewer
from rooflab.measure.threads import thread_limit
from rooflab.measure.timing import MEASUREMENT_LOCK, page_counts, quickest, settle, undisturbed

SCHEMA = 1
LARGEST, SMALLEST = 128 << 20, 1 << 16  # bytes of arrays whose page faults are counted
MOST = 1 << 29  # bytes of the array on which a fresh page's cost is measured, at most
PAIRS = fewer(12)


@dataclass(frozen=True)
class Pages:
    """What :func:`pages` measured.

    New arrays up to ``recycled`` bytes have pages that were used before; in a larger one a byte
    costs ``fresh`` seconds on top of writing it.
    """

    recycled: int
    fresh: float


def pages(*, refresh: bool = False, progress: Progress = True) -> Pages:
    """Return what fresh pages cost here, stored in the user's cache directory beside the roofs.

    ``refresh``: measure again what is stored. ``progress``: as for ``rl.this_machine``.
    """
    name = f"pages-{host_id()}"
    with MEASUREMENT_LOCK:
        document = None if refresh else store.load(name, _problem)
        if document is None:
            document = {**asdict(measured_pages(progress)), "schema": SCHEMA}
            store.save(name, document)
    return Pages(document["recycled"], document["fresh"])


def _problem(document: Any) -> str:
    """What is wrong with stored pages, as the end of a sentence."""
    try:
        sound = document["schema"] == SCHEMA and document["recycled"] > 0
        sound = sound and 0 <= document["fresh"] < math.inf
    except (KeyError, TypeError):
        sound = False
    return "" if sound else "another version of rooflab wrote it, or it is damaged"


def measured_pages(progress: Progress = False) -> Pages:
    """Measure both, with one thread."""
    with progress_bar(progress, "measuring new pages") as tell, thread_limit(1):
        recycled = _recycled()
        tell(0.5)
        return Pages(recycled, _fresh())


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
    x, counts = np.ones(nbytes // 8), [page_counts()[0]]
    for _ in range(6):  # the first two or three teach malloc
        np.negative(x)
        counts.append(page_counts()[0])
    return min(after - before for before, after in pairwise(counts[3:])) >= max(2, nbytes >> 22)


def _fresh() -> float:
    """Seconds a byte by which writing a new array is slower than writing one that is there.

    Both writes are made in turn, and the fastest of each count.
    """
    nbytes = affordable(max(LARGEST, min(last_level_bytes(), MOST)), available_bytes(select("cpu")))
    x = np.ones(nbytes // 8)
    ways = partial(np.negative, x), partial(np.negative, x, out=np.ones_like(x))
    with undisturbed():
        pairs = [[settle([way], 0.0) for way in ways] for _ in range(PAIRS)]
    fresh, there = map(quickest, zip(*pairs))
    return max(0.0, fresh - there) / nbytes
