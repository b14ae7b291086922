"""The byte ledger of a tiled nest as a formula, the least that any order could move, and caches.

The formula imagines a fast memory that holds exactly what the loops inside the tiles touch. It
loads a tile when the loops over the tiles come to it, and keeps it while they do not move it.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import defaultdict
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np

from rooflab.count.dtypes import DTypeLike
from rooflab.count.dtypes import dtype as as_format
from rooflab.count.si import grouped
from rooflab.count.validation import size
from rooflab.labs.cache.hierarchy import Cache
from rooflab.labs.cache.simulator import simulate
from rooflab.labs.cache.stream import AccessStream, Reference
from rooflab.optional import installed

MOST_ELEMENTS = 10_000_000
"""Elements of a tile up to which those that two indices share are told apart."""


@dataclass(frozen=True)
class Moved:
    """Bytes of one operand that a formula says are fetched and written back."""

    bytes_in: int
    bytes_out: int

    @property
    def bytes(self) -> int:
        """Bytes in both directions."""
        return self.bytes_in + self.bytes_out


def unit(stream: AccessStream, most: int = 64) -> int:
    """Bytes of an element: the largest power of two that every address and length is made of."""
    numbers = [most]
    for reference in stream.references:
        numbers += [reference.offset, reference.bytes, *map(abs, reference.strides)]
    return reduce(math.gcd, numbers)


def tile_ledger(
    stream: AccessStream, depth: int, *, write_allocate: bool = True
) -> dict[str, Moved]:
    """Return the bytes that each operand moves if a memory holds what the inner loops touch.

    An operand is loaded for every iteration of the loops over tiles, except the innermost of them
    that do not move it. For a product C = A·B of m×k by k×n elements in tiles, with the loop over
    tiles along k innermost, A is read n/tn times, B is read m/tm times, C once.

    Parameters
    ----------
    stream : AccessStream
        The nest.
    depth : int
        How many loops run over tiles; the memory holds what those inside them touch. 0 is the
        compulsory traffic: every operand once.
    write_allocate : bool, default True
        Whether an operand that is only written is fetched too, line by line, as caches do.

    Returns
    -------
    dict of str to Moved
        Bytes in and out for each operand.

    Examples
    --------
    >>> stream = rl.cache.gemm_stream(100, 100, 100, tile=10)
    >>> ledger = rl.cache.tile_ledger(stream, depth=3)
    >>> [(name, moved.bytes) for name, moved in ledger.items()]
    [('C', 80000), ('A', 400000), ('B', 400000)]
    """
    depth = _depth(stream, depth)
    arrays = dict.fromkeys(stream.arrays, 0)
    into, out = dict(arrays), dict(arrays)
    for group in groups(stream):
        stored = [reference for reference in group if reference.write]
        loaded = group if write_allocate else [r for r in group if not r.write]
        into[group[0].array] += _loads(stream, loaded, depth)
        out[group[0].array] += _loads(stream, stored, depth)
    return {name: Moved(into[name], out[name]) for name in arrays}


def as_stream(stream: object) -> AccessStream:
    """Return a stream; TypeError for what is none."""
    if not isinstance(stream, AccessStream):
        raise TypeError(f"stream={stream!r} must be an AccessStream, such as rl.cache.gemm_stream")
    return stream


def _depth(stream: AccessStream, depth: object) -> int:
    as_stream(stream)
    number = size("depth", depth, 0)
    if number > len(stream.extents):
        raise ValueError(f"depth={number} must be at most {len(stream.extents)}, one for each loop")
    return number


def groups(stream: AccessStream) -> list[list[Reference]]:
    """References that walk side by side over one array, such as a load and its store."""
    found: dict[Any, list[Reference]] = defaultdict(list)
    for reference in stream.references:
        moving = reference.strides[: reference.depth]
        found[reference.array, moving].append(reference)
    return list(found.values())


def _moving(reference: Reference, loops: range) -> list[int]:
    return [loop for loop in loops if loop < reference.depth and reference.strides[loop]]


def _loads(stream: AccessStream, group: list[Reference], depth: int) -> int:
    """Bytes that a group loads, tile by tile."""
    if not group:
        return 0
    one = group[0]
    outer = list(range(min(depth, one.depth)))
    while outer and not (one.strides[outer[-1]] and stream.extents[outer[-1]] > 1):
        outer.pop()  # the tile stays while this loop runs
    inner = _moving(one, range(depth, len(stream.extents)))
    # Tiles at the edge are smaller, which the iterations say; in the first some bytes are shared.
    tiles = stream.iterations([*outer, *inner]) / stream.iterations(inner)
    return round(tiles * _distinct(stream, group, depth))


def _distinct(stream: AccessStream, group: list[Reference], depth: int) -> int:
    """Bytes that a group touches while the loops from ``depth`` inwards run once, all told."""
    one = group[0]
    inner = _moving(one, range(depth, len(stream.extents)))
    grain = unit(AccessStream(stream.extents, tuple(group)))
    elements = stream.iterations(inner)
    pieces = sum(reference.bytes // grain for reference in group)
    if elements * pieces > MOST_ELEMENTS:
        return elements * max(reference.bytes for reference in group)
    starts = np.zeros(1, np.int64)
    for loops, guards in stream.groups(inner):
        steps = stream.indices(loops, guards) @ [one.strides[loop] for loop in loops]
        starts = np.unique((starts[:, None] + steps).ravel())
    touched = [
        starts + reference.offset + at
        for reference in group
        for at in range(0, reference.bytes, grain)
    ]
    return int(np.unique(np.concatenate(touched)).size) * grain


# The least that any order of the multiply-adds could move.


@dataclass(frozen=True)
class Bound:
    """A proven lower bound: who proved it, what is counted ("read" …), and the bytes."""

    name: str
    counts: str
    bytes: float


def gemm_bounds(
    m: int, n: int, k: int, capacity: int, dtype: DTypeLike = "fp32"
) -> tuple[Bound, ...]:
    """Return proven lower bounds of what a product of matrices moves, the highest last.

    They hold for every order of the m·n·k multiply-adds and any replacement, with a fast memory of
    S words. Hong and Kung proved the order mnk/√S in 1981; the others below proved constants:
    mnk/(2√2·√S) - S words in or out (Irony et al. 2004), 2mnk/√S - 2S words read (Smith et al.
    2017) and 2mnk/√S + mn words read or written (Kwasniewski et al. 2019, for S below each of mn,
    mk and nk). Each operand crosses at least once.

    Parameters
    ----------
    m, n, k : int
        Rows and columns of the result, and the length of the sums.
    capacity : int
        Bytes of the fast memory.
    dtype : str, DType or a dtype of NumPy or PyTorch, default "fp32"
        Format of the elements.

    Returns
    -------
    tuple of Bound
        Name, what is counted, and bytes. One that says nothing at this size is left out.

    References
    ----------
    .. [1] J.-W. Hong, H. T. Kung, "I/O complexity: the red-blue pebble game", STOC 1981.
    .. [2] D. Irony, S. Toledo, A. Tiskin, "Communication lower bounds for distributed-memory matrix
       multiplication", Journal of Parallel and Distributed Computing 64(9), 2004.
    .. [3] T. M. Smith, B. Lowery, J. Langou, R. A. van de Geijn, "A tight I/O lower bound for
       matrix multiplication", 2017 (arXiv 1702.02017).
    .. [4] G. Kwasniewski et al., "Red-blue pebbling revisited", SC 2019 (arXiv 1908.09606),
       theorem 1.

    Examples
    --------
    >>> for bound in rl.cache.gemm_bounds(100, 100, 100, 4 * 520):
    ...     print(bound.name, round(bound.bytes), bound.counts)
    Irony, Toledo, Tiskin 2004 59937 read or written
    every operand once 120000 read or written
    Smith et al. 2017 346663 read
    Kwasniewski et al. 2019 390823 read or written
    """
    m, n, k = size("m", m), size("n", n), size("k", k)
    width = as_format(dtype).bits / 8
    words = size("capacity", capacity) / width
    root, work = math.sqrt(words), m * n * k
    both = "read or written"
    found = [
        ("every operand once", both, m * k + k * n + m * n),
        ("Irony, Toledo, Tiskin 2004", both, work / (2 * math.sqrt(2) * root) - words),
        ("Smith et al. 2017", "read", 2 * work / root - 2 * words),
    ]
    if words < min(m * n, m * k, n * k):
        found.append(("Kwasniewski et al. 2019", both, 2 * work / root + m * n))
    bounds = [Bound(name, counts, width * least) for name, counts, least in found if least > 0]
    return tuple(sorted(bounds, key=lambda bound: bound.bytes))


# The smallest cache that does what the formula says.


@installed("rooflab.cache.smallest_cache")
def smallest_cache(stream: AccessStream, depth: int, line: int | None = None) -> int:
    """Return the smallest LRU cache, in bytes, in which a tiled nest meets its formula.

    The cache is fully associative. It meets the formula if it fetches no more bytes than
    :func:`tile_ledger` says for a memory that holds what the loops inside ``depth`` touch.

    Parameters
    ----------
    stream : AccessStream
        The nest.
    depth : int
        How many loops run over tiles: 3 for a tiled product.
    line : int, optional
        Bytes of a line. By default one element, so that lines cost nothing.

    Returns
    -------
    int
        Bytes, a multiple of the line.

    Raises
    ------
    ValueError
        If no cache is large enough, as with lines of which only a part is used.

    Examples
    --------
    Tiles of 10×10 words. Three of them are 300 words; the cache must be larger, since B's last
    tile and one of A's rows are still there when the next ones come in. With the loop over k
    outermost inside a tile, a column of A and a row of B are enough beside C:

    >>> stream = rl.cache.gemm_stream(100, 100, 100, tile=10)
    >>> rl.cache.smallest_cache(stream, depth=3) // 4
    410
    >>> stream = rl.cache.gemm_stream(100, 100, 100, tile=10, order="kij")
    >>> rl.cache.smallest_cache(stream, depth=3) // 4
    131
    """
    line = unit(as_stream(stream)) if line is None else size("line", line)
    goal = sum(moved.bytes_in for moved in tile_ledger(stream, depth).values())

    def misses(lines: int) -> int:
        cache = Cache("LRU", lines * line, line=line)
        return simulate(stream, cache, flush=False).traffic().misses

    low, high = zip(*map(stream.span, stream.references))
    room = range(1, (max(high) - min(low)) // line + 2)
    least = misses(room[-1])  # of a cache for all of it
    if least * line > goal:
        raise ValueError(
            f"line={line}: the nest touches {grouped(least)} lines, which is more than "
            f"the {grouped(goal)} bytes of the formula; take shorter lines"
        )
    # A larger LRU cache never misses more: R. L. Mattson et al., "Evaluation techniques for storage
    # hierarchies", IBM Systems Journal 9(2), 1970.
    return line * room[bisect_left(room, True, key=lambda lines: misses(lines) * line <= goal)]
